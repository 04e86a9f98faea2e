"""A comparison says no more than its rows bear: random runs and labels, recomputed from the rows."""

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import binomtest
from tests.features.compare.test_people import MODEL
from tests.support.judged_runs import Score, answers, judged, questions
from tests.support.sentences import every, forbidden, pattern, said

from ragstone.features.compare._people import PeopleLabels
from ragstone.features.compare._people_sentence_table import FAVOURING, Favour
from ragstone.features.compare._people_sentence_table import SENTENCES as PEOPLE_SENTENCES
from ragstone.features.compare._sentence_table import SENTENCES, SETTINGS, ComparedSettings
from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.paired import compare_judged
from ragstone.features.compare.values import Comparison, LengthSlope, MetricComparison
from ragstone.features.compare.words import gate_told, metric_told, outcome
from ragstone.kernel.records import Label
from ragstone.kernel.runs.settings import SettingDifference
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Estimate

Pair = tuple[Score, Score]
Scale = tuple[float, float] | None
BY_MODEL, BY_NONE = ("correct", MODEL), ("containment", "none")
OTHER_NOTES = ("No manifest", "1 of 2 metrics")


class Runs(NamedTuple):
    """Rows of two runs. metrics: of each judge its pairs, question by question, and the scale.

    human: people's pairs of the first questions. a_document: questions of each document.
    """

    metrics: dict[tuple[str, str], tuple[list[Pair], Scale]]
    human: list[tuple[float, float]]
    margin: float | None = None
    same_answers: bool = False
    a_document: int = 1

    def compared(self) -> Comparison:
        """Return what a comparison makes of them."""
        n = len(next(iter(self.metrics.values()))[0])
        texts = ["yes"] * n if self.same_answers else None
        runs = [
            JudgedRun(
                name=name,
                judgements=[
                    row
                    for (judge, model), (pairs, scale) in self.metrics.items()
                    for row in judged(
                        [pair[at] for pair in pairs], judge, system=name, model=model, scale=scale
                    )
                ],
                judges={},
                questions=questions(n, a_document=self.a_document),
                answers=answers(texts, name) if texts else [],
            )
            for at, name in enumerate("ab")
        ]
        labels = [
            Label(question_id=f"q{at}", system=name, score=score)
            for at, pair in enumerate(self.human)
            for name, score in zip("ab", pair, strict=True)
        ]
        people = PeopleLabels(name="labels", labels=labels) if labels else None
        return compare_judged(*runs, margin=self.margin, labels=people)


def random_runs(seed: int) -> Runs:
    """Return runs of 4 to 60 questions by one or two judges, some of whose rows failed."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 60))
    is_labelled = bool(rng.random() < 0.5)
    judges = [BY_MODEL, BY_NONE][int(rng.random() < 0.3) :][: 1 + int(rng.random() < 0.4)]
    metrics: dict[tuple[str, str], tuple[list[Pair], Scale]] = {}
    for judge in judges:
        top = 1 if is_labelled else int(rng.choice([1, 1, 3, 7]))
        scale: Scale = {1: (0.0, 1.0), 3: (0.0, 3.0)}.get(top)
        first = rng.integers(0, top + 1, n).astype(float)
        moved = rng.random(n) < rng.choice([0.0, 0.1, 0.5, 0.7])
        up = rng.random(n) < rng.choice([0.05, 0.5, 0.95])
        second = np.where(moved, np.clip(first + np.where(up, 1.0, -1.0), 0, top), first)
        pairs: list[Pair] = list(zip(first.tolist(), second.tolist(), strict=True))
        failing = rng.random((n, 2)) < rng.choice([0.0, 0.0, 0.3], 2)
        status: Score = "app_error" if rng.random() < 0.5 else "timeout"
        pairs = [
            (status if fails[0] else a, status if fails[1] else b)
            for (a, b), fails in zip(pairs[1:], failing[1:], strict=True)
        ]
        metrics[judge] = ([(float(first[0]), float(second[0])), *pairs], scale)
    human = []
    if is_labelled:
        base = next(iter(metrics.values()))[0]
        errs = rng.random(n) < rng.choice([0.0, 0.3])
        seen = [tuple(0.0 if isinstance(score, str) else score for score in pair) for pair in base]
        human = [(a, a if err else b) for (a, b), err in zip(seen, errs, strict=True)]
        human = human[: int(rng.choice([1, 4, n, n]))]
    return Runs(
        metrics,
        human,
        margin=float(rng.choice([0.05, 0.3]))
        if rng.random() < 0.5 and all(s for _, s in metrics.values())
        else None,
        same_answers=bool(rng.random() < 0.15),
        a_document=int(rng.choice([1, 1, 4])),
    )


class Bare(NamedTuple):
    """What the rows of one metric say, by another calculation.

    lost, failed: questions that B alone has no score of, or fails on, and those of A. n_unscored: those that
    either or both lack. people: their pairs of scored questions.
    """

    scored: list[tuple[int, float, float]]
    lost: tuple[int, int]
    failed: tuple[int, int]
    n_unscored: int
    people: list[tuple[int, float, float]]
    p: float
    is_known: bool

    @property
    def is_unchanged(self) -> bool:
        return all(a == b for _, a, b in [*self.scored, *self.people])


def one_sided(lacking: list[tuple[bool, bool]]) -> tuple[int, int]:
    """Return how many lack something in B alone, and in A alone."""
    return sum(b and not a for a, b in lacking), sum(a and not b for a, b in lacking)


def clearly_more(counts: tuple[int, int], n_metrics: int) -> bool:
    more, less = counts
    return more > less and binomtest(less, more + less).pvalue <= 0.05 / n_metrics


def bare_of(runs: Runs, pairs: list[Pair], row: MetricComparison) -> Bare:
    """Return the counts of a metric. p: by scipy of yes and no without documents, else the row's."""
    scored = [
        (at, float(a), float(b))
        for at, (a, b) in enumerate(pairs)
        if not isinstance(a, str) and not isinstance(b, str)
    ]
    up, down = sum(b > a for _, a, b in scored), sum(b < a for _, a, b in scored)
    p = row.p
    if row.scale == (0, 1) and runs.a_document == 1:
        p = binomtest(up, up + down).pvalue if up + down else 1.0
        assert row.p == pytest.approx(p)
    ids = {at for at, _, _ in scored}
    people = [(at, *pair) for at, pair in enumerate(runs.human) if at in ids]
    groups = len({at // runs.a_document for at, _, _ in people})
    known = groups > 1  # one gives no variance
    if people:
        assert row.corrected is not None
        p = row.corrected.p if row.corrected.p is not None else 1.0
    return Bare(
        scored,
        one_sided([(isinstance(a, str), isinstance(b, str)) for a, b in pairs]),
        one_sided([(a == "app_error", b == "app_error") for a, b in pairs]),
        sum(any(isinstance(score, str) and score != "not_applicable" for score in pair) for pair in pairs),
        people,
        p,
        known,
    )


def holm_of(ps: list[float]) -> list[float]:
    """Return p-values after Holm's correction, written out."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    adjusted, highest = [0.0] * len(ps), 0.0
    for rank, at in enumerate(order):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[at]))
        adjusted[at] = highest
    return adjusted


def verdict_of(bare: Bare, p: float, row: MetricComparison) -> str:
    if p > 0.05:
        return "cannot tell"
    rows = bare.people if len(bare.people) == len(bare.scored) else bare.scored
    mean = sum(b - a for _, a, b in rows)
    if bare.people and len(bare.people) < len(bare.scored):
        mean = row.corrected.corrected.value  # type: ignore[union-attr]
    return "better" if mean > 0 else "worse"


def people_due(bare: Bare, verdict: str, row: MetricComparison) -> set[str]:
    """Return the codes that a paragraph has to hold where people have labelled both answers."""
    people, corrected = bare.people, row.corrected
    assert corrected is not None
    due = {"people-labelled-both", "people-would-see" + ("" if bare.is_known else "-no-interval")}
    errors = [
        (b - a) - (second - first)
        for at, a, b in bare.scored
        for other, first, second in people
        if at == other
    ]
    flattery = corrected.flattery
    if flattery is not None and flattery.low is not None:
        shown = not flattery.low <= 0 <= flattery.high
        due.add("judge-favours-a-side" if shown else "judge-favour-not-shown")
        assert not shown or abs(sum(errors)) >= 0.05 * len(errors)
    rough = len(people) < 20
    if bare.is_known and not rough and len(people) < len(bare.scored):
        more = round(corrected.worth) > len(people)
        due.add("people-pairs-worth" if more else "people-judge-no-surer")
    if verdict == "cannot tell" and bare.is_known and corrected.corrected.value:
        lacking = corrected.to_decide is None
        if not lacking:
            due.add("people-labels-would-find")
        elif not rough or len(people) == len(bare.scored):
            due.add("people-all-labels-would-not-find")
    return due


def due_of(bare: Bare, verdict: str, row: MetricComparison, n_metrics: int, scale: Scale) -> set[str]:
    """Return the codes that the paragraph of a metric has to hold."""
    due = set()
    people, dashed = bare.people, verdict.replace(" ", "-")
    if not bare.is_unchanged:
        due.add(f"compare-{dashed}" if not people else f"compare-{dashed}-by-people")
        if people and not bare.is_known:
            due = {"compare-too-few-labelled"}
    if people:
        due |= people_due(bare, verdict, row)
    middle = None if scale is None else sum(scale) / 2
    crossed = middle is not None and any((a >= middle) != (b >= middle) for _, a, b in bare.scored)
    if all(a == b for _, a, b in bare.scored):
        due.add("compare-same-scores")
        if middle is not None and not people:
            due.add("compare-true-difference-" + ("of-scored" if bare.n_unscored else "at-most"))
    else:
        due.add("compare-scores-crossed" if crossed else "compare-scores-differ")
    if clearly_more(bare.lost, n_metrics):
        due.add("compare-loses-more")
    if verdict == "cannot tell" and not people and row.outlook is not None:
        due.add("compare-would-find" if row.outlook.smallest is not None else "compare-would-find-none")
        many = row.n_clusters >= 10
        due.add("compare-questions-needed" if many else "compare-questions-needed-unknown")
        if row.outlook.design_effect >= 1.2:
            due.add("compare-documents-vary-together")
    return due


def gate_of(runs: Runs, bare: Bare, verdict: str, row: MetricComparison, n_metrics: int) -> str:
    """Return what the gate has to say of a metric, decided in turn."""
    if clearly_more(bare.failed, n_metrics):
        return "gate-fails-more"
    if runs.same_answers:
        return "gate-same-answers"
    low = (row.corrected.corrected if row.corrected else row.difference).low
    width = row.scale[1] - row.scale[0] if row.scale else 0.0
    within = runs.margin is not None and low is not None and low > -runs.margin * width
    if verdict == "worse" and not within:
        return "gate-worse" if runs.margin is None else "gate-worse-than-margin"
    if clearly_more(bare.lost, n_metrics):
        return "gate-loses-more"
    if bare.n_unscored / (len(bare.scored) + bare.n_unscored) > 0.05:
        return "gate-unscored"
    if within:
        return "gate-within-margin"
    if verdict == "better":
        return "gate-better"
    if bare.is_unchanged and len(bare.people) in (0, len(bare.scored)):
        return "gate-no-score-changed"
    return "gate-neither-shown" if runs.margin is None else "gate-may-be-worse"


def codes_of(row: MetricComparison) -> list[str]:
    """Return the codes of a metric's paragraph, without its counts and the notes on labels."""
    text = metric_told(row)
    for note in row.corrected.notes if row.corrected else []:
        text = text.replace(note, "")
    text = re.sub(r"Both scored .*? in all\.|Both scored .*?\.(?= [A-Z]|$)", "", text)
    return [code for part in re.split(r"(?<=\.)\s+(?=[\d,]+ of )", text) for code in said(part)]


PASSES = {"gate-same-answers", "gate-within-margin", "gate-better", "gate-no-score-changed"}
FAILS = {"gate-fails-more", "gate-worse", "gate-worse-than-margin"}


def whole(text: str) -> str:
    """Return the code of a text that is one sentence, or a part of one, from beginning to end."""
    fits = [code for code in every() if pattern(code).fullmatch(text)]
    assert fits, f"the table has no sentence for: {text}"
    return max(fits, key=lambda code: len(re.sub("{.*?}", "", every()[code].text)))


SEEN_ELSEWHERE = {  # below, where runs have manifests, and in test_people.py, with 20 labelled pairs or more
    "gate-none-scored",  # in test_paired.py
    "people-pairs-worth",
    "people-judge-no-surer",
    "compare-lowest-is-best",
    "judge-favours-length",
    "judge-favours-brevity",
    "judge-nor-length",
    "judge-length-not-shown",
    "judge-of-one-sides-family",
    "judge-favours-its-family",
    "judge-varies-of-a-system",
    "several-settings-differ",
    "one-setting-differs",
    "one-setting-that-decides-differs",
    "no-setting-differs",
    "no-setting-that-decides-differs",
}


def check(runs: Runs) -> Counter[str]:
    """Check every sentence of a comparison against the rows; return how often each was said."""
    comparison = runs.compared()
    rows = {(row.judge, row.model): row for row in comparison.metrics}
    bares = {key: bare_of(runs, runs.metrics[key][0], row) for key, row in rows.items()}
    adjusted = dict(zip(rows, holm_of([bare.p for bare in bares.values()]), strict=True))
    verdicts = {key: verdict_of(bares[key], adjusted[key], row) for key, row in rows.items()}
    codes: list[str] = []
    gates = {}
    for key, row in rows.items():
        told = codes_of(row)
        due = due_of(bares[key], verdicts[key], row, len(rows), runs.metrics[key][1])
        assert set(told) == due, metric_told(row)
        assert not forbidden(told)
        gates[key] = gate_of(runs, bares[key], verdicts[key], row, len(rows))
        codes += told
    because = {row.judge: whole(row.because) for row in comparison.gate.metrics}
    assert because == {judge: code for (judge, _), code in gates.items()}
    one = "gate-failed" if FAILS & {*gates.values()} else "gate-cannot-tell"
    line = whole(gate_told(comparison.gate))
    assert line == ("gate-passed" if {*gates.values()} <= PASSES else one)
    clauses = check_outcome(comparison, bares, verdicts)
    notes = check_notes(runs, comparison, bares, verdicts)
    for text in (clauses, notes):
        assert not forbidden(text)
    return Counter([*codes, *gates.values(), line, *clauses, *notes])


def check_outcome(comparison: Comparison, bares: dict, verdicts: dict) -> list[str]:
    """Check that each metric is named in the clause of its verdict, and nowhere else."""
    clauses = outcome(comparison).removesuffix(".").split("; ")
    clauses[0] = re.sub("^(Cannot|No) ", lambda match: match.group().lower(), clauses[0])
    begins = {
        "worse": "B is worse in",
        "better": "B is better in",
        "cannot tell": "cannot tell whether B differs in",
        "same": "no score differs in",
    }
    for (judge, model), bare in bares.items():
        of = begins["same" if bare.is_unchanged else verdicts[judge, model]]
        assert [clause.startswith(of) for clause in clauses if f"{judge}: " in clause] == [True]
    codes = [whole(clause) for clause in clauses]
    same = [row for row in comparison.metrics if bares[row.judge, row.model].is_unchanged]
    if "compare-no-score-differs-hidden" in codes:
        assert all(row.scale and not row.corrected for row in same)
        # At most z² / (n + z²) of n independent groups, Wilson's upper end of 0 of n; of few, the share of
        # which n of them show nothing with 5 %.
        few = min(row.n_clusters for row in same)
        hidden = max(3.8415 / (few + 3.8415), 1 - 0.05 ** (1 / few))
        shown = re.search(r"up to ([\d.]+) (?:(points?)|of ([\d.]+))", outcome(comparison))
        assert shown is not None
        share = float(shown[1]) / (100 if shown[2] else float(shown[3]))
        assert share == pytest.approx(hidden, abs=0.006)
    return codes


def check_notes(runs: Runs, comparison: Comparison, bares: dict, verdicts: dict) -> list[str]:
    """Check that a taste is not excluded exactly where no labels, and no equal answers, exclude it."""
    codes = [whole(note) for note in comparison.notes if not note.startswith(OTHER_NOTES)]
    open_to_taste = {
        key
        for key, bare in bares.items()
        if not bare.people and not runs.same_answers and any(a != b for _, a, b in bare.scored)
    }
    changed = any(a != b for bare in bares.values() for _, a, b in bare.scored)
    assert ("judge-varies" in codes) is (runs.same_answers and changed)
    assert ("taste-not-excluded" in codes) is (BY_MODEL in open_to_taste)
    decided = BY_NONE in open_to_taste and verdicts[BY_NONE] != "cannot tell"
    assert ("baseline-may-err" in codes) is decided
    costs = BY_MODEL in open_to_taste and (runs.metrics[BY_MODEL][1] is not None)
    differ = costs and sum(b - a for _, a, b in bares[BY_MODEL].scored) != 0
    assert ("labels-would-cost-and-find" in codes) is bool(differ)
    assert ("labels-would-cost" in codes) is bool(costs and not differ)
    return codes


@pytest.mark.long
def test_no_comparison_says_what_its_rows_do_not_bear():
    counts: Counter[str] = Counter()
    for seed in range(120):
        counts += check(random_runs(seed))
    ours = {sentence.code for sentence in (*SENTENCES, *PEOPLE_SENTENCES)}
    assert ours - counts.keys() == SEEN_ELSEWHERE


UP, DOWN, RIGHT, WRONG = (0.0, 1.0), (1.0, 0.0), (1.0, 1.0), (0.0, 0.0)
SCALE = (0.0, 1.0)
WORKED = {
    "worse": Runs({BY_MODEL: ([DOWN] * 12 + [RIGHT] * 20, SCALE)}, []),
    "worse, by more than the margin": Runs({BY_MODEL: ([DOWN] * 12 + [RIGHT] * 20, SCALE)}, [], 0.05),
    "worse by the judge and by people": Runs(
        {BY_MODEL: ([DOWN] * 20 + [RIGHT] * 20, SCALE)}, [DOWN] * 20 + [RIGHT] * 20
    ),
    "within the margin": Runs({BY_MODEL: ([UP, DOWN] + [RIGHT] * 58, SCALE)}, [], 0.2),
    "perhaps beyond the margin": Runs({BY_MODEL: ([UP, DOWN, DOWN] + [RIGHT] * 9, SCALE)}, [], 0.05),
    "no score differs, by two judges": Runs(
        {
            BY_MODEL: ([RIGHT] * 30, SCALE),
            BY_NONE: ([RIGHT] * 10 + [("not_applicable", "not_applicable")] * 20, SCALE),
        },
        [],
    ),
    "no score differs, and others are lost": Runs(
        {BY_MODEL: ([RIGHT] * 10 + [(1.0, "timeout"), ("timeout", 1.0)] * 10, SCALE)}, []
    ),
    "no score differs, and some are of neither": Runs(
        {BY_MODEL: ([RIGHT] * 10 + [("timeout", "timeout")], SCALE)}, []
    ),
    "no score differs, no scale": Runs({BY_MODEL: ([(7.0, 7.0)] * 20, None)}, []),
    "no score differs, to people either": Runs({BY_MODEL: ([RIGHT] * 60, SCALE)}, [RIGHT] * 5),
    "the same answers": Runs({BY_MODEL: ([UP] + [RIGHT] * 20, SCALE)}, [], same_answers=True),
    "scores that differ and cross no middle": Runs(
        {BY_MODEL: ([(2.0, 3.0), (3.0, 2.0)] * 9, (0.0, 3.0))}, []
    ),
    "one labelled pair": Runs({BY_MODEL: ([UP] * 9 + [RIGHT] * 20, SCALE)}, [UP]),
    "few differ": Runs({BY_MODEL: ([UP, DOWN, DOWN] + [RIGHT] * 57, SCALE)}, [UP, DOWN, DOWN] + [RIGHT] * 57),
    "more labels would find it": Runs(
        {BY_MODEL: ([UP, WRONG, RIGHT, UP, RIGHT] * 20, SCALE)}, [UP, WRONG, RIGHT, WRONG, RIGHT] * 2
    ),
    "worse by one and open by another": Runs(
        {BY_MODEL: ([DOWN] * 12 + [RIGHT] * 20, SCALE), BY_NONE: ([UP, DOWN] + [RIGHT] * 30, SCALE)}, []
    ),
    "worse by one and the same by another": Runs(
        {BY_MODEL: ([DOWN] * 12 + [RIGHT] * 20, SCALE), BY_NONE: ([WRONG, RIGHT] * 16, SCALE)}, []
    ),
    "worse by one and the same by another without a scale": Runs(
        {BY_MODEL: ([DOWN] * 12 + [RIGHT] * 20, SCALE), BY_NONE: ([(7.0, 7.0)] * 32, None)}, []
    ),
    "fewer are scored": Runs({BY_MODEL: ([(0.0, "timeout")] * 10 + [UP, DOWN] * 10, SCALE)}, []),
    "the application fails": Runs({BY_MODEL: ([(0.0, "app_error")] * 10 + [UP, DOWN] * 10, SCALE)}, []),
    "four questions": Runs({BY_MODEL: ([UP, DOWN, UP, RIGHT], SCALE)}, []),
    "documents": Runs({BY_MODEL: (([UP] * 4 + [DOWN] * 4 + [RIGHT] * 8) * 3, SCALE)}, [], a_document=4),
    "a baseline": Runs({BY_NONE: ([UP] * 12 + [WRONG] * 20, SCALE)}, []),
}


@pytest.mark.long
@pytest.mark.parametrize("name", WORKED)
def test_comparisons_in_words(name: str, says):
    check(WORKED[name])
    comparison = WORKED[name].compared()
    says(outcome(comparison))
    for row in comparison.metrics:
        says(metric_told(row))
    says(gate_told(comparison.gate))


def test_what_hides_most_is_told_of_several_metrics_without_a_difference(says):
    # Of 30 questions Wilson's upper end of 0 is 3.84 / 33.84 = 11.4 %; of 10 it is 27.8 %.
    told = outcome(WORKED["no score differs, by two judges"].compared())
    says(told)


def test_judges_certainty_is_not_peoples_where_no_score_differs():
    # Five labels leave people's difference open by 66 points: the judge's 60 equal scores do not bound it.
    [row] = WORKED["no score differs, to people either"].compared().metrics
    assert row.within == pytest.approx(3.8415 / 63.8415, abs=1e-4)
    assert not {"compare-true-difference-at-most", "compare-no-score-differs-hidden"} & {*codes_of(row)}


def test_too_few_labels_have_no_p_value(says):
    [row] = WORKED["one labelled pair"].compared().metrics
    assert row.corrected is not None
    assert row.corrected.p is None
    says(metric_told(row))


def test_what_a_judge_adds_is_said_of_twenty_labelled_pairs_and_not_of_nineteen():
    def codes(n):
        people = ([UP, WRONG, RIGHT, WRONG, RIGHT] * 4)[:n]
        [row] = Runs({BY_MODEL: ([UP, WRONG, RIGHT, UP, RIGHT] * 20, SCALE)}, people).compared().metrics
        return {"people-pairs-worth", "people-judge-no-surer"} & {*codes_of(row)}

    assert (len(codes(19)), len(codes(20))) == (0, 1)


def estimate(low: float, high: float) -> Estimate:
    return Estimate(value=(low + high) / 2, low=low, high=high, n=40, method="student", level=0.95)


@pytest.mark.parametrize("favour", [None, (0.1, 0.3), (-0.3, -0.1), (-0.1, 0.2)])
@pytest.mark.parametrize("slope", [None, (0.02, 0.08), (-0.08, -0.02), (-0.02, 0.04)])
def test_favours_in_words(favour: tuple[float, float] | None, slope: tuple[float, float] | None, says):
    length = LengthSlope(slope=estimate(*slope), ratio=1.5) if slope else None
    facts = Favour(estimate(*favour) if favour else None, SCALE, length)
    text = " ".join(filter(None, (say(facts, *sentences) for sentences in FAVOURING)))
    says(text)
    codes = said(text)
    shown = favour is not None and favour[0] * favour[1] > 0
    assert ("judge-favours-a-side" in codes) is shown
    assert ("judge-favour-not-shown" in codes) is (favour is not None and not shown)
    flat = slope is not None and slope[0] * slope[1] < 0
    assert ("judge-nor-length" in codes) is (flat and favour is not None and not shown)
    assert ("judge-length-not-shown" in codes) is (flat and (favour is None or shown))
    assert ("judge-favours-length" in codes) is (slope == (0.02, 0.08))
    assert ("judge-favours-brevity" in codes) is (slope == (-0.08, -0.02))
    assert not forbidden(codes)


@pytest.mark.parametrize("deciding", [0, 1, 2])
@pytest.mark.parametrize("others", [0, 1])
def test_settings_in_words(deciding: int, others: int, says):
    decides = [True] * deciding + [False] * others
    rows = [SettingDifference(name=f"[x] {at}", a="1", b="2", decides=one) for at, one in enumerate(decides)]
    text = say(ComparedSettings(tuple(rows)), *SETTINGS)
    says(text)
    [code] = said(text)
    among = "-that-decides" if others else ""
    some = {0: f"no-setting{among}-differs", 1: f"one-setting{among}-differs"}
    assert code == some.get(deciding, "several-settings-differ")


def test_answers_of_one_system_of_two_are_the_same(says):
    # Of "x" both runs have one text, of "y" another one each; the judge scores each anew.
    def run(name: str, score: float, text: str) -> JudgedRun:
        return JudgedRun(
            name=name,
            judgements=[
                row for system in "xy" for row in judged([score, 1.0], "j", system=system, model=MODEL)
            ],
            judges={},
            answers=[*answers(["same", "same"], "x"), *answers([text, text], "y")],
        )

    notes = compare_judged(run("a", 0.0, "before"), run("b", 1.0, "after")).notes
    [note] = [note for note in notes if note.startswith("Both runs have")]
    says(note)
    assert whole(note) == "judge-varies-of-a-system"
    [note] = [
        note
        for note in compare_judged(run("a", 0.0, "t"), run("b", 1.0, "t")).notes
        if "answers and contexts, so" in note
    ]
    assert whole(note) == "judge-varies"
