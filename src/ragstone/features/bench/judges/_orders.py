"""Judges of the same answers -> in what order each puts the answering systems, and whether the orders agree.

A conclusion is that one system is better than another. A judge comes to it where its paired test shows the
difference; an order holds where what one of two judges concludes the other concludes too.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Literal

import msgspec
import numpy as np

from ragstone.kernel.agreement.pairing import Human, Key, is_tuned
from ragstone.kernel.records import Judgement
from ragstone.kernel.statistics import (
    RESAMPLES,
    Estimate,
    Floats,
    difference_estimates,
    is_yes_no,
    mean_estimates,
    resampled_totals,
)
from ragstone.kernel.statistics.orders import tau_estimate
from ragstone.kernel.statistics.paired import PairedTest, Verdict, paired_tests

PEOPLE = "people"
LEAST_SHARE = 0.5  # of the questions that a system was asked, or a judge scored of every system

OrderVerdict = Literal["holds", "does not hold", "cannot tell"]
Better = tuple[str, str]
"""Two systems (or judges), of which the first is the better one."""


class SystemOrder(msgspec.Struct, frozen=True, kw_only=True):
    """The systems as one judge sees them.

    by: the cell of a bench, or `people`. means: system -> mean in the judge's unit, best first. tests: of
    each pair of SystemOrders.pairs, with Holm's correction over them. n_unscored: questions on which it lacks
    the score of some system.
    """

    by: str
    means: dict[str, Estimate]
    tests: list[PairedTest]
    n_unscored: int


class OrderComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two orders of the same things. Whose: first and second.

    tau: Kendall's tau-b of the two orders, with an interval from the same resamples for both; None where one
    of them is all ties. same: pairs on which both come to the same conclusion. reversed: to opposite ones,
    the better by `first` named first. alone: pairs on which one of the two comes to a conclusion. Of all
    other pairs, of n_pairs, neither says anything.

    verdict: `does not hold` if a pair is reversed. `holds` if there are conclusions, both share every one,
    and (of three things or more) the interval of tau lies above 0. Else `cannot tell`.
    """

    first: str
    second: str
    tau: Estimate | None
    same: list[Better]
    reversed: list[Better]
    alone: list[Better]
    n_pairs: int
    verdict: OrderVerdict


class OrdersElsewhere(msgspec.Struct, frozen=True, kw_only=True):
    """The orders of this bench beside those of another one, on another use case.

    name: of the other bench. systems: those that both have. n_questions: here and there. comparisons: each
    judge that both have, here (first) and there (second). judges: the same of the order of the judges by
    agreement with people, without an interval; None where fewer than two are ranked in both. why_not: what
    keeps the orders of the systems from being compared, empty where nothing does.
    """

    name: str
    systems: list[str]
    n_questions: tuple[int, int]
    comparisons: list[OrderComparison]
    judges: OrderComparison | None
    why_not: str = ""


class SystemOrders(msgspec.Struct, frozen=True, kw_only=True):
    """What all judges of a bench say of the systems, on the same questions.

    pairs: of the systems, as the tests have them. n_questions: on which every judge scored every system;
    n_left_out: the other ones. left_out: judges and systems without half of the questions, and why.
    comparisons: every pair of orders, people first. elsewhere: other benches.
    """

    systems: list[str]
    pairs: list[tuple[str, str]]
    n_questions: int
    n_left_out: int
    left_out: dict[str, str]
    orders: list[SystemOrder]
    comparisons: list[OrderComparison]
    elsewhere: list[OrdersElsewhere] = []


class JudgedSheet(msgspec.Struct, frozen=True, kw_only=True):
    """Answers as judges and people see them. judged: judge -> its judgements of one metric."""

    judged: dict[str, list[Judgement]]
    humans: dict[Key, Human]

    def systems(self) -> list[str]:
        """Return the systems that people have labelled, in order of appearance."""
        return list(dict.fromkeys(system for _, system in self.humans))


class QuestionScores(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Scores question by question. values: judge (or `people`) -> (questions, systems).

    n_asked: questions that the systems were asked. unscored, left_out: see SystemOrder and SystemOrders.
    """

    systems: list[str]
    questions: list[str]
    values: dict[str, Floats]
    n_asked: int
    unscored: dict[str, int]
    left_out: dict[str, str]


def question_scores(sheet: JudgedSheet, systems: Sequence[str] | None = None) -> QuestionScores | None:
    """Return the scores on the questions that every judge has scored for every system.

    A question is what Human.cluster says, for a row may have an id of its own. Answers that any judge was
    made with are left out. systems: these alone, in this order, instead of those that were asked enough.
    None with fewer than two systems, or without a common question.
    """
    tuned = {(row.question_id, row.system) for own in sheet.judged.values() for row in own if is_tuned(row)}
    humans = {
        key: human
        for key, human in sheet.humans.items()
        if key not in tuned and (systems is None or key[1] in systems)
    }
    scores_by = {PEOPLE: {key: human.score for key, human in humans.items()}} | {
        name: {(row.question_id, row.system): row.score for row in own} for name, own in sheet.judged.items()
    }
    scores = {name: _by_question(own, humans) for name, own in scores_by.items()}
    kept_systems, left_out = _asked_enough(humans) if systems is None else (list(systems), {})
    questions = list(dict.fromkeys(human.cluster for key, human in humans.items() if key[1] in kept_systems))
    whole = {
        name: [
            question for question in questions if all((question, system) in own for system in kept_systems)
        ]
        for name, own in scores.items()
    }
    few = [name for name, own in whole.items() if not own or len(own) < LEAST_SHARE * len(questions)]
    common = set(questions).intersection(*(own for name, own in whole.items() if name not in few))
    common_questions = [question for question in questions if question in common]
    if len(kept_systems) < 2 or not common_questions or len(few) == len(scores):
        return None
    return QuestionScores(
        systems=kept_systems,
        questions=common_questions,
        values={
            name: np.array(
                [[own[question, system] for system in kept_systems] for question in common_questions]
            )
            for name, own in scores.items()
            if name not in few
        },
        n_asked=len(questions),
        unscored={name: len(questions) - len(own) for name, own in whole.items()},
        left_out=left_out
        | {name: f"scored every system on {len(whole[name])} of {len(questions)} questions" for name in few},
    )


def _by_question(scores: Mapping[Key, float | None], humans: Mapping[Key, Human]) -> dict[Key, float]:
    """Return the mean score of each (question, system): a question may be asked twice."""
    scores_of: dict[Key, list[float]] = {}
    for key, score in scores.items():
        if score is not None and key in humans:
            scores_of.setdefault((humans[key].cluster, key[1]), []).append(score)
    return {key: sum(each) / len(each) for key, each in scores_of.items()}


def _asked_enough(humans: Mapping[Key, Human]) -> tuple[list[str], dict[str, str]]:
    """Return the systems that were asked at least half as much as the one asked most, and the others."""
    questions_of: dict[str, set[str]] = {}
    for (_, system), human in humans.items():
        questions_of.setdefault(system, set()).add(human.cluster)
    most = max(map(len, questions_of.values()), default=0)
    few = [system for system, own in questions_of.items() if len(own) < LEAST_SHARE * most]
    reasons = {system: f"answered {len(questions_of[system])} of {most} questions" for system in few}
    return [system for system in questions_of if system not in few], reasons


def order_systems(sheet: JudgedSheet, *, seed: int = 0, resamples: int = RESAMPLES) -> SystemOrders | None:
    """Return the orders of the systems, and every two of them compared; None where nothing can be ordered.

    Tests and intervals are paired, by question: see statistics.paired.
    """
    table = question_scores(sheet)
    if table is None:
        return None
    orders = [*_orders(table, seed, resamples).values()]
    [means] = _drawn_means([table], seed, resamples)
    pairs = list(combinations(table.systems, 2))
    return SystemOrders(
        systems=table.systems,
        pairs=pairs,
        n_questions=len(table.questions),
        n_left_out=table.n_asked - len(table.questions),
        left_out=table.left_out,
        orders=orders,
        comparisons=[
            compare_orders(
                (first.by, other.by),
                pairs,
                (_verdicts(first), _verdicts(other)),
                _tau(means[first.by], means[other.by], [table]),
            )
            for first, other in combinations(orders, 2)
        ],
    )


def orders_elsewhere(
    name: str,
    sheets: tuple[JudgedSheet, JudgedSheet],
    judges: OrderComparison | None = None,
    *,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> OrdersElsewhere:
    """Return the orders of the systems that two benches share, by the judges that they share.

    name: of the other bench. sheets: here and there; a question of both is drawn for both. judges: the
    comparison of their own order, passed on.
    """
    asked_systems = [_asked_enough(sheet.humans)[0] for sheet in sheets]
    systems = [system for system in asked_systems[0] if system in asked_systems[1]]
    tables = [scores for sheet in _shared(sheets) if (scores := question_scores(sheet, systems))]
    if len(tables) < 2:
        common = ", ".join(systems) or "none"
        why = (
            "No question was scored for every system by enough judges."
            if len(systems) > 1
            else f"An order needs two systems that both benches have; they have in common: {common}."
        )
        return OrdersElsewhere(
            name=name, systems=systems, n_questions=(0, 0), comparisons=[], judges=judges, why_not=why
        )
    means = _drawn_means(tables, seed, resamples)
    orders = [_orders(table, seed, resamples) for table in tables]
    pairs = list(combinations(tables[0].systems, 2))
    shared = [by for by in tables[0].values if by in tables[1].values]
    return OrdersElsewhere(
        name=name,
        systems=tables[0].systems,
        n_questions=(len(tables[0].questions), len(tables[1].questions)),
        comparisons=[
            compare_orders(
                (by, by),
                pairs,
                (_verdicts(orders[0][by]), _verdicts(orders[1][by])),
                _tau(means[0][by], means[1][by], tables),
            )
            for by in shared
        ],
        judges=judges,
    )


def _shared(sheets: tuple[JudgedSheet, JudgedSheet]) -> list[JudgedSheet]:
    """Return both sheets with the judges of both alone: others would take questions from them."""
    names = sheets[0].judged.keys() & sheets[1].judged.keys()
    return [
        msgspec.structs.replace(sheet, judged={by: rows for by, rows in sheet.judged.items() if by in names})
        for sheet in sheets
    ]


def compare_orders(
    names: tuple[str, str],
    pairs: Sequence[Better],
    verdicts: tuple[Sequence[Verdict], Sequence[Verdict]],
    tau: Estimate | None,
) -> OrderComparison:
    """Return what becomes of the conclusions of one order in another.

    pairs: of things. verdicts: of each order, on the first of each pair. tau: of three things or more.
    """
    same: list[Better] = []
    turned: list[Better] = []
    alone: list[Better] = []
    for (left, other), first, second in zip(pairs, *verdicts, strict=True):
        conclusions = [verdict for verdict in (first, second) if verdict != "cannot tell"]
        if conclusions:
            kind = alone if len(conclusions) == 1 else same if first == second else turned
            kind.append((left, other) if conclusions[0] == "better" else (other, left))
    alike = tau is None or (tau.value if tau.low is None else tau.low) > 0
    holds = bool(same) and not alone and alike
    return OrderComparison(
        first=names[0],
        second=names[1],
        tau=tau,
        same=same,
        reversed=turned,
        alone=alone,
        n_pairs=len(pairs),
        verdict="does not hold" if turned else "holds" if holds else "cannot tell",
    )


def _orders(table: QuestionScores, seed: int, resamples: int) -> dict[str, SystemOrder]:
    """Return the order of each judge. All intervals are from one draw of the questions, or two."""
    k = len(table.systems)
    pairs = list(combinations(range(k), 2))
    places = [(at * k + a, at * k + b) for at in range(len(table.values)) for a, b in pairs]
    differences = difference_estimates(
        np.hstack([*table.values.values()]), places, seed=seed, resamples=resamples
    )
    means = _means(table, seed, resamples)
    orders = {}
    for at, (by, values) in enumerate(table.values.items()):
        own = {system: means[by, system] for system in table.systems}
        drawn = differences[at * len(pairs) : (at + 1) * len(pairs)]
        orders[by] = SystemOrder(
            by=by,
            means=dict(sorted(own.items(), key=lambda item: -item[1].value)),
            tests=paired_tests(values, pairs, table.questions, differences=drawn, seed=seed),
            n_unscored=table.unscored[by],
        )
    return orders


def _means(table: QuestionScores, seed: int, resamples: int) -> dict[tuple[str, str], Estimate]:
    """Return the mean of each (judge, system): a proportion of a judge that says yes or no alone."""
    estimates: dict[tuple[str, str], Estimate] = {}
    yes_no = {by: is_yes_no(values) for by, values in table.values.items()}
    for proportion in (True, False):
        columns = {
            (by, system): values[:, at]
            for by, values in table.values.items()
            if yes_no[by] is proportion
            for at, system in enumerate(table.systems)
        }
        means = mean_estimates(
            {str(at): column for at, column in enumerate(columns.values())},
            seed=seed,
            resamples=resamples,
            proportion=proportion,
        )
        estimates |= dict(zip(columns, means.values(), strict=True))
    return estimates


def _verdicts(order: SystemOrder) -> list[Verdict]:
    return [test.verdict for test in order.tests]


def _tau(first: Floats, second: Floats, tables: Sequence[QuestionScores]) -> Estimate | None:
    """Return tau of three systems or more: of two it only says whether they are reversed."""
    if first.shape[1] < 3:
        return None
    n = [len(table.questions) for table in tables]
    return tau_estimate(first, second, n=sum(n), n_clusters=min(n))


def _drawn_means(tables: Sequence[QuestionScores], seed: int, resamples: int) -> list[dict[str, Floats]]:
    """Return for each table, judge by judge, the means of the data and of each resample, (1 + resamples, k).

    One draw of questions is for all tables: a question of several is drawn for all of them.
    """
    index = {
        question: at for at, question in enumerate(dict.fromkeys(q for t in tables for q in t.questions))
    }
    parts = []
    for table in tables:
        part = np.zeros((len(index), len(table.values) * len(table.systems) + 1))
        at = [index[question] for question in table.questions]
        part[at] = np.column_stack([*table.values.values(), np.ones(len(at))])
        parts.append(part)
    totals = np.concatenate(parts, axis=1)
    drawn = np.concatenate(
        [totals.sum(axis=0)[None, :], resampled_totals(totals, seed=seed, resamples=resamples)]
    )
    drawn_means = []
    for table, own in zip(
        tables, np.split(drawn, np.cumsum([part.shape[1] for part in parts])[:-1], axis=1), strict=True
    ):
        with np.errstate(invalid="ignore", divide="ignore"):
            means = np.where(own[:, -1:] > 0, own[:, :-1] / own[:, -1:], np.nan)
        drawn_means.append(dict(zip(table.values, np.split(means, len(table.values), axis=1), strict=True)))
    return drawn_means
