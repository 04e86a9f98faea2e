"""Labelled answers to learn from: people's grades, groups that stay together, what a judge says of them."""

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np

from ragstone.features.improve._labelled_sets import LabelledSet
from ragstone.features.improve._parts import Node
from ragstone.features.improve._thresholds import Flags
from ragstone.features.improve.learned import (
    FEWEST,
    CandidateState,
    LearnedCandidate,
    LearningMethod,
    gain_of,
    nearer_of,
    worths_of,
)
from ragstone.features.improve.values import Scale, humans_of
from ragstone.kernel.agreement.pairing import Human, Key, partners_of
from ragstone.kernel.config import AgreementMeasure
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.finding import CallCost, add_costs
from ragstone.kernel.judging.stack import StackJudge
from ragstone.kernel.judging.thresholds import fits, off_scale
from ragstone.kernel.judging.tuned import left_out_text
from ragstone.kernel.records import YES_NO, Answer, Judgement, Usage
from ragstone.kernel.statistics import MAX_GRADES, Codes, Floats, is_yes_no


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """How scores meet people's grades. yes_no: labels are 0 and 1; yes_from: a judge says yes from there on.

    measure: what agreement is; span: of the scale on which both are.
    """

    yes_no: bool
    yes_from: float | None
    measure: AgreementMeasure
    span: float

    def grades(self, scores: Floats, yes_from: float | None) -> Floats:
        """Return scores as they are compared, (n,); NaN stays NaN. yes_from: of the judge that gave them."""
        if not self.yes_no or yes_from is None:
            return scores
        return np.where(np.isnan(scores), np.nan, (scores >= yes_from).astype(np.float64))


class LearningRows(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Answers on which people's grade is settled, in one order throughout.

    human: (n,). group: (n,), numbers of the groups that questions and documents tie together; fold: (n,).
    clusters: what answers share for a test. n_tied: answers that are left out, because annotators tie;
    n_tuned: because a judge was fitted on their questions.
    """

    answers: list[Answer]
    humans: list[Human]
    human: Floats
    group: Codes
    fold: Codes
    clusters: list[str]
    unit: Unit
    seed: int
    n_tied: int = 0
    n_tuned: int = 0

    def worths(self, scores: Floats, yes_from: float | None) -> Floats:
        """Return what the scores of a judge are worth, (n,)."""
        return worths_of(self.unit.grades(scores, yes_from), self.human, self.unit.measure, self.unit.span)


class JudgeScores(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """What a judge says of the rows to learn from. judgements: in their order; scores: NaN for none."""

    judge: Judge
    judgements: list[Judgement]
    yes_from: float | None = None

    @property
    def scores(self) -> Floats:
        """Its scores, (n,)."""
        return np.array(
            [math.nan if judgement.score is None else judgement.score for judgement in self.judgements]
        )

    @property
    def are_probabilities(self) -> bool:
        """Whether its scores are probabilities of a yes: read from a model's, or those of a stack."""
        if tuple(self.judge.scale) != YES_NO:
            return False
        scored = [judgement for judgement in self.judgements if judgement.score is not None]
        given = all("probabilities" in (judgement.metadata or {}) for judgement in scored)
        return bool(scored) and (given or isinstance(self.judge, StackJudge))

    @property
    def calls(self) -> Floats:
        """The calls that each took, (n,)."""
        return np.array(
            [judgement.usage.calls if judgement.usage else 0 for judgement in self.judgements],
            dtype=np.float64,
        )

    @property
    def cut_off(self) -> int:
        """How many the budget has cut off."""
        return sum(judgement.status == "over_budget" for judgement in self.judgements)


class CandidateResult(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A candidate and what it says of rows that it was not fitted on.

    judge: fitted on all rows, as it would be written; None for one that was refused. scores: (n,), of judges
    that were fitted without the row; asked: (n,), on which rows it was asked so. yes_from: (n,), of these
    judges. calls: for a judgement, on average. cost: of trying it. brier: see LearnedCandidate.
    """

    name: str
    method: LearningMethod
    made: str
    judge: Judge | None
    scores: Floats
    asked: Flags
    yes_from: Floats
    calls: float
    cost: CallCost = CallCost(usage=Usage(calls=0), cost_usd=0.0)
    state: CandidateState = "measured"
    why: str | None = None
    brier: float | None = None


def untried(
    method: LearningMethod, rows: LearningRows, *, name: str = "", made: str = "", judge: Judge | None = None
) -> CandidateResult:
    """Return a candidate that was asked about no row. name: by default that of the method."""
    n = len(rows.answers)
    return CandidateResult(
        name=name or method,
        method=method,
        made=made,
        judge=judge,
        scores=np.full(n, np.nan),
        asked=np.zeros(n, dtype=np.bool_),
        yes_from=np.full(n, np.nan),
        calls=0.0,
    )


def refused(method: LearningMethod, why: str, rows: LearningRows) -> CandidateResult:
    """Return a candidate that cannot be made, with the reason."""
    return msgspec.structs.replace(untried(method, rows), state="refused", why=why)


def measured_candidate(
    result: CandidateResult, before: JudgeScores, rows: LearningRows, text: Callable[[Judge], str]
) -> LearnedCandidate:
    """Return what is told of a candidate: its agreement beside that of the judge as it is."""
    candidate = LearnedCandidate(
        name=result.name,
        method=result.method,
        made=result.made,
        state=result.state,
        why=result.why,
        calls=result.calls,
        before_calls=float(before.calls.mean()),
        spent=result.cost.usage.calls,
        spent_usd=result.cost.cost_usd,
        brier=result.brier,
        text=text(result.judge) if result.judge else "",
    )
    mine, old = worths_of_result(result, rows), rows.worths(before.scores, before.yes_from)
    # Where neither says anything, nothing is compared.
    both = result.asked & ~(np.isnan(result.scores) & np.isnan(before.scores))
    if result.state in ("refused", "over_budget") or not both.any():
        return candidate
    clusters = [rows.clusters[n] for n in np.flatnonzero(both)]
    exact = rows.unit.measure == "exact agreement"
    gained = gain_of(old[both], mine[both], clusters, yes_no=exact, seed=rows.seed)
    nearer = None
    if before.are_probabilities and result.brier is not None:
        nearer = nearer_of(before.scores, result.scores, rows.human, rows.clusters, seed=rows.seed)
    return msgspec.structs.replace(
        candidate,
        n=int(both.sum()),
        before=gained.before,
        value=gained.value,
        test=gained.test,
        nearer=nearer,
    )


def worths_of_result(result: CandidateResult, rows: LearningRows) -> Floats:
    """Return what a candidate's scores are worth, (n,)."""
    if not rows.unit.yes_no:
        return rows.worths(result.scores, None)
    verdicts = np.where(
        np.isnan(result.scores), np.nan, (result.scores >= result.yes_from).astype(np.float64)
    )
    return worths_of(verdicts, rows.human, rows.unit.measure, rows.unit.span)


def untouched(rows: LearningRows, judges: Sequence[Judge]) -> LearningRows:
    """Return the rows on whose questions none of these judges, nor a judge within them, was fitted."""
    made = [each for judge in judges for each in (judge, *_within(judge))]
    free = [n for n, row in enumerate(rows.answers) if not any(judge.is_tuned_on(row) for judge in made)]
    return msgspec.structs.replace(
        rows,
        answers=[rows.answers[n] for n in free],
        humans=[rows.humans[n] for n in free],
        clusters=[rows.clusters[n] for n in free],
        human=rows.human[free],
        group=rows.group[free],
        fold=rows.fold[free],
        n_tuned=rows.n_tuned + len(rows.answers) - len(free),
    )


def _within(judge: Judge) -> list[Judge]:
    return [nested for member in judge.members for nested in (member.inner, *_within(member.inner))]


def reasons_of(rows: LearningRows, n: int) -> list[str]:
    """Return the reasons that people gave for the grade that counts."""
    human = rows.humans[n]
    return [
        label.rationale.strip()
        for grade, label in zip(human.grades, human.labels, strict=True)
        if grade == human.score and label.rationale and label.rationale.strip()
    ]


def cost_of(judgements: Sequence[Judgement]) -> CallCost:
    """Return what judgements took together."""
    return add_costs([judgement for judgement in judgements if judgement.usage is not None])


def learning_rows(
    labelled: LabelledSet, judge: Judge, scale: Scale, *, seed: int, n_folds: int, unit: Unit | None = None
) -> LearningRows:
    """Return the labelled answers of a part as rows to learn from, or to be tested on.

    unit: of the other part; by default it follows from these labels. Raises DataError for labels of another
    metric, and for those that the judge's scale and the labels' do not bring together.
    """
    humans = humans_of(labelled.labels, judge.measures, scale)
    answers = {(row.question_id, row.system): row for row in labelled.answers}
    partners = partners_of(answers, humans)
    settled = [key for key in answers if key in partners and humans[partners[key]].score is not None]
    human = np.array([humans[partners[key]].score for key in settled], dtype=np.float64)
    settled_humans = [humans[partners[key]] for key in settled]
    group = groups_of(labelled.nodes, settled)
    n_groups = int(group.max(initial=-1)) + 1
    order = np.random.default_rng(seed).permutation(n_groups)  # a group is in one fold
    return LearningRows(
        answers=[answers[key] for key in settled],
        humans=settled_humans,
        human=human,
        group=group,
        fold=np.asarray(order[group] % max(1, min(n_folds, n_groups)), dtype=np.int64),
        clusters=[settled_human.cluster for settled_human in settled_humans],
        unit=unit or unit_of(human, judge, scale),
        seed=seed,
        n_tied=sum(humans[partner].score is None for partner in partners.values()),
    )


def unit_of(human: Floats, judge: Judge, scale: Scale) -> Unit:
    """Return how a judge's scores meet labels. Raises DataError where they do not, with what to say."""
    low, high = judge.scale
    if is_yes_no(human) and scale.mapping is None:
        usual = judge.threshold if isinstance(judge, StackJudge) else (low + high) / 2
        cut = usual if scale.threshold is None else scale.threshold
        if not fits(cut, judge.scale):
            raise DataError(off_scale(judge.name, cut, judge.scale))
        return Unit(yes_no=True, yes_from=cut, measure="exact agreement", span=1.0)
    if human.size and (human.min() < low or human.max() > high):
        raise DataError(
            f"the labels go from {human.min():g} to {human.max():g}, and {judge.name} scores from {low:g} to "
            f"{high:g}. Say which label is a yes, --yes-from {human.max():g}, or which score each stands "
            f"for, "
            "--map LABEL=SCORE."
        )
    whole = bool((human == np.round(human)).all()) and high - low < MAX_GRADES
    return Unit(
        yes_no=False,
        yes_from=None,
        measure="exact agreement" if whole else "difference",
        span=high - low,
    )


def yes_from_of(judge: Judge, unit: Unit) -> float | None:
    """Return the score from which on a candidate says yes: its own threshold, or the judge's as it is."""
    if not unit.yes_no:
        return None
    if isinstance(judge, StackJudge):
        return judge.threshold
    return 0.5 if judge.kind == "cascade" else unit.yes_from


def check_rows(rows: LearningRows, closed: LearningRows, name: str) -> None:
    """Raise DataError for labels that nothing can be learned from. closed: of the test part."""
    n, n_all = len(rows.answers), len(rows.answers) + len(closed.answers)
    if n_all < FEWEST:
        n_tied, n_tuned = rows.n_tied + closed.n_tied, rows.n_tuned + closed.n_tuned
        tuned = f" {left_out_text(n_tuned)}" if n_tuned else ""
        tied = f" Annotators tie on {n_tied} more: have someone settle them." if n_tied else ""
        raise DataError(
            f"{name}: too few labelled answers ({n_all}): fewer than {FEWEST} teach nothing that "
            "would last. Label more: with 200, half to learn from and half to test, a gain of "
            f"about ten points shows.{tied}{tuned}"
        )
    values = np.unique(rows.human)
    if len(values) < 2:
        raise DataError(
            f"{name}: people gave all {n} answers to learn from the grade {values[0]:g}, so there "
            "is nothing to tell apart. Label answers that are better or worse: to find bad ones, "
            "sort by a judge's score."
        )
    if len(np.unique(rows.group)) < 2:
        raise DataError(
            f"{name}: all {n} answers to learn from are to one question, or about one document. Label "
            f"answers "
            "to other questions: nothing can be measured on a question that it was learned from."
        )


def groups_of(nodes: dict[str, list[Node]], keys: Sequence[Key]) -> Codes:
    """Return the number of each answer's group: questions tied by a document, or a chain of them."""
    parents: dict[str, str] = {}

    def root(node: str) -> str:
        while parents.setdefault(node, node) != node:
            node = parents[node]
        return node

    for own in nodes.values():
        for node in own[1:]:
            parents[root(node)] = root(own[0])
    roots = [root(nodes[question_id][0]) for question_id, _system in keys]
    numbers = {top: n for n, top in enumerate(sorted(set(roots)))}
    return np.array([numbers[top] for top in roots], dtype=np.int64)
