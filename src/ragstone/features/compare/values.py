"""What a comparison of two runs holds: every number that the terminal and the pages show of it."""

from typing import Literal

import msgspec

from ragstone.features.compare.matrix import Matrix
from ragstone.features.compare.overlap import ErrorOverlap, GivenDocument
from ragstone.kernel.agreement.corrected_difference import CorrectedDifference
from ragstone.kernel.judging.noise import MetricComponents
from ragstone.kernel.judging.summary import BOUNDS_FROM, MetricSummary
from ragstone.kernel.records import Status
from ragstone.kernel.runs.settings import SettingDifference
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.paired import Test, Verdict
from ragstone.kernel.statistics.ranks import RankShares
from ragstone.kernel.tables.shown import Displayed

Outcome = Literal["passed", "failed", "cannot tell"]
Unit = Literal["seconds", "tokens", "usd"]


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two. mean: of the questions that both have scored. statuses: of the judgements of all.

    bounds: the mean of all questions that it has scored, had every failed one the lowest, or the highest
    score; None where none failed, or the scale is unknown.
    """

    system: str
    mean: Estimate
    statuses: dict[Status, int]
    bounds: tuple[float, float] | None = None


class Flip(msgspec.Struct, frozen=True, kw_only=True):
    """A question that A, B or both answer below the middle of the scale; texts where the runs hold them.

    documents_a, documents_b: what each answer was made from, best first: its contexts, else what the run's
    only retriever ranked. None where the run does not tell.
    """

    question_id: str
    score_a: float
    score_b: float
    question: str | None = None
    answer_a: str | None = None
    answer_b: str | None = None
    documents_a: list[GivenDocument] | None = None
    documents_b: list[GivenDocument] | None = None


class ScoreMove(msgspec.Struct, frozen=True, kw_only=True):
    """A question whose score differs; its text where the runs hold one."""

    question_id: str
    score_a: float
    score_b: float
    question: str | None = None


class ScoreMoves(msgspec.Struct, frozen=True, kw_only=True):
    """Where the scores of the questions went. n_up, n_down, n_same: higher in B, lower, the same in both.

    largest: the questions that moved furthest, 30 at most, as many down as up where there are; from the one
    that fell most to the one that rose most.
    """

    n_up: int
    n_down: int
    n_same: int
    largest: list[ScoreMove]


class Outlook(msgspec.Struct, frozen=True, kw_only=True):
    """What could have been told with these questions, and how many it would take to tell more.

    All with the chance `power` and a p-value of at most `alpha`, which is what is left to each metric after
    Holm's correction. smallest: the smallest true difference that would be found, None if that is beyond the
    scale. for_observed, for_effect: how many questions it would take to find the difference that was seen,
    and one of `effect`; None if that cannot be said, or is more than ten million.
    """

    power: float
    alpha: float
    smallest: float | None
    effect: float
    for_effect: int | None
    for_observed: int | None
    design_effect: float


class LengthSlope(msgspec.Struct, frozen=True, kw_only=True):
    """How a judge's errors, its score minus people's, go with the length of labelled answers.

    slope: what it gives more to an answer that is twice as long, beyond what people give. ratio: the median
    length of B's answers over that of A's.
    """

    slope: Estimate
    ratio: float


class LabelCost(msgspec.Struct, frozen=True, kw_only=True):
    """How many questions people would have to label both answers to, without any help of the judge.

    for_half: so that the interval is ± half, in the unit of the scale; for_observed: so that a difference
    as large as the judge's is found 4 times out of 5, None where that is 0. Both if people's scores differ
    as often as the judge's.
    """

    half: float
    for_half: int
    for_observed: int | None


class MetricComparison(msgspec.Struct, frozen=True, kw_only=True):
    """One metric of two runs, paired by question: what B is against A.

    difference: mean of B minus mean of A over the n questions that both have scored, in the units of
    `scale`, with its paired interval; without one where every question differs by as much. within: how
    far the difference may be from 0 where no score differs, None elsewhere. p_holm: after Holm's
    correction over `family` comparisons. verdict: on B. n_changed: questions whose scores differ. lost,
    gained: questions that A alone or B alone has scored; n_failed: questions of which a judgement failed
    or is missing, in A, in B or in both; loses_more, by_application: whether B has clearly more questions
    without a score than A, and more answers that failed. same_answers: whether every answer, with its
    contexts, is the same in both; None where a run holds no answers. wrong_to_right, right_to_wrong,
    wrong_in_both: by the middle of the scale, as `overlap` counts them; None, and empty, without a scale.
    outlook: None where too little is known of how scores vary. corrected: what people would say, where they
    have labelled answers of both; then verdict follows its p_holm, while p and p_holm here stay those of the
    judge's scores. length: None where too few errors are known. label_cost: of judges that ask a
    model, where there are no labels and scores differ. moves: absent where no score differs. best: absent
    where the highest score is the good one; else verdict, flips and gate take the lowest for it.
    """

    judge: str
    metric: str
    model: str
    prompt_version: int
    scale: tuple[float, float] | None
    a: Side
    b: Side
    n: int
    n_clusters: int
    difference: Estimate
    within: float | None
    test: Test
    p: float
    p_holm: float
    family: int
    verdict: Verdict
    n_changed: int
    lost: int
    gained: int
    n_failed: int = 0
    loses_more: bool
    by_application: bool
    same_answers: bool | None
    wrong_to_right: list[Flip]
    right_to_wrong: list[Flip]
    wrong_in_both: list[Flip]
    overlap: ErrorOverlap | None
    outlook: Outlook | None
    corrected: CorrectedDifference | None = None
    length: LengthSlope | None = None
    label_cost: LabelCost | None = None
    moves: ScoreMoves | msgspec.UnsetType = msgspec.UNSET
    best: Literal["lowest"] | msgspec.UnsetType = msgspec.UNSET


class RankComparison(msgspec.Struct, frozen=True, kw_only=True):
    """A rank measure of two runs, paired by question: what B's retriever is against A's.

    measure: `hit@1`, `recall@5`, ...; with other places in A and B, `recall@3 → recall@8`: of all that each
    retrieved. n: questions that both ranked and that name their documents. difference, test, p, verdict:
    as of MetricComparison; p_holm: after Holm's correction over the `family` of rank measures. n_changed:
    questions whose values differ; None in files of older versions.
    """

    measure: str
    retriever_a: str
    retriever_b: str
    n: int
    a: Estimate
    b: Estimate
    difference: Estimate
    test: Test
    p: float
    p_holm: float
    family: int
    verdict: Verdict
    n_changed: int | None = None


class SpentFigures(msgspec.Struct, frozen=True, kw_only=True):
    """A mean or a median of two runs, and B's minus A's, paired by question.

    n_changed: questions that differ; None in files of older versions.
    """

    a: Estimate
    b: Estimate
    difference: Estimate
    n_changed: int | None = None


class SpentComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Time or cost of an answer: `seconds`, `tokens` or `usd`, over the n questions where both say so.

    unknown_a, unknown_b: answers that do not say so, which count nowhere and not as 0. mean: None where no
    question has both. median: of seconds.
    """

    what: Unit
    system_a: str
    system_b: str
    n: int
    unknown_a: int
    unknown_b: int
    mean: SpentFigures | None
    median: SpentFigures | None = None


class GatedMetric(msgspec.Struct, frozen=True, kw_only=True):
    """What the gate says of one metric, and why, as the end of a sentence."""

    judge: str
    metric: str
    system: str
    outcome: Outcome
    because: str


class Gate(msgspec.Struct, frozen=True, kw_only=True):
    """Whether B may replace A: the least favourable outcome of its metrics decides.

    margin: how much worse is let pass, as a share of the scale's width; None if B has to be shown better.
    """

    outcome: Outcome
    margin: float | None
    metrics: list[GatedMetric]


class ChosenQuestions(msgspec.Struct, frozen=True, kw_only=True):
    """The questions that a filter chose. n: of those that it leaves in either run; of: all of both.

    by_results: the columns of the filter that hold results of the systems, such as scores; then the
    comparison has no verdict.
    """

    where: str
    n: int
    of: int
    by_results: list[str]


class ModeDifference(msgspec.Struct, frozen=True, kw_only=True):
    """A failure mode of two runs: the share of answers that have it, and B's minus A's.

    n: questions with a verdict of the mode's judge on both answers. n_labelled: labels of people in A and B
    for the mode's question. by: `people` where both runs have such labels: then a, b are what they say of all
    answers (`ragstone modes`), and the difference follows from these two; else `judge`: then it is paired by
    question. n_changed: questions whose answers the judge calls otherwise in B. p: of no difference; p_holm:
    after Holm's correction over `family` modes. verdict: on B, at 0.05.
    """

    name: str
    title: str
    system_a: str
    system_b: str
    by: Literal["people", "judge"]
    n: int
    n_labelled: tuple[int, int]
    n_changed: int
    a: Estimate
    b: Estimate
    difference: Estimate
    p: float
    p_holm: float
    family: int
    verdict: Literal["fewer", "more", "cannot tell"]


class ComparedModes(msgspec.Struct, frozen=True, kw_only=True):
    """The failure modes of two runs. not_compared: names of modes that one run lacks, or counts by another
    file."""

    modes: list[ModeDifference]
    not_compared: list[str] = []


class Comparison(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """Run B against run A, on the same questions.

    n_shared: questions compared; n_left_out: those that only one has, or that differ, left out on request.
    settings: what differs between the runs, None where a manifest does not tell; prompt_diff: the lines of a
    unified diff of their answering prompts. retrieval: empty where a run holds no rankings. only_a, only_b:
    metrics, and systems, that have no counterpart. notes: what to know before relying on it.
    bounds_from: the share of failed rows above which the bounds of means are shown; 0 shows all. components:
    B minus A over all judges, wordings and repeats of a metric; absent where each was measured once. chosen:
    what chose the questions, absent where all are compared; where results of the systems chose them, every
    verdict is `cannot tell`, p is 1 and no interval is given. modes: failure modes, absent where no run has
    some, and where results chose the questions.
    """

    a: str
    b: str
    n_shared: int
    n_left_out: int
    settings: list[SettingDifference] | None
    prompt_diff: list[str]
    metrics: list[MetricComparison]
    retrieval: list[RankComparison]
    spent: list[SpentComparison]
    only_a: list[str]
    only_b: list[str]
    notes: list[str]
    seed: int
    gate: Gate
    bounds_from: float = BOUNDS_FROM
    components: list[MetricComponents] | msgspec.UnsetType = msgspec.UNSET
    chosen: ChosenQuestions | msgspec.UnsetType = msgspec.UNSET
    modes: ComparedModes | msgspec.UnsetType = msgspec.UNSET


class SeveralMeans(msgspec.Struct, frozen=True, kw_only=True):
    """One judge over several runs. means: column -> mean.

    n_flips: questions that pass in one of the columns, with at least the middle of the scale, and fail in
    another; None where a scale is unknown. ranks: how often each column has each rank over resamples of the
    questions that all have a score of; absent of one column, of labels, of fewer than 10 independent
    questions, of judges with different models, and of a judge whose lowest score is the best. best: absent
    where that is the highest. n_questions: that any of the columns has; n_shared: that all of them have, with
    one text and reference.
    """

    judge: str
    metric: str
    means: dict[str, MetricSummary]
    n_flips: int | None
    ranks: RankShares | msgspec.UnsetType = msgspec.UNSET
    best: Literal["lowest"] | msgspec.UnsetType = msgspec.UNSET
    n_questions: int = 0
    n_shared: int = 0


class SeveralRuns(msgspec.Struct, frozen=True, kw_only=True):
    """Runs side by side. columns: a run each, or a system of a run with several.

    settings: name -> column of a run -> words, of those settings that differ; empty where no manifest tells.
    usd: column -> mean cost of an answer in US dollars; of a column of which an answer does not say it, none.
    matrices: `judge|metric` -> its means by two settings; absent where no two settings cross.
    chosen: the filter that chose the answers of all runs; absent where none did.
    """

    columns: list[str]
    metrics: list[SeveralMeans]
    settings: dict[str, dict[str, str]]
    matrices: dict[str, Matrix] | msgspec.UnsetType = msgspec.UNSET
    usd: dict[str, Estimate] | msgspec.UnsetType = msgspec.UNSET
    chosen: str | msgspec.UnsetType = msgspec.UNSET
