"""What a bench of answerers found, as values: cells, standings, contrasts, groups of questions, a race."""

from typing import Literal

import msgspec

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench.answerers._conditions import Missing
from ragstone.kernel.config import Condition
from ragstone.kernel.records import Judgement, Status
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.paired import Test, Verdict
from ragstone.kernel.statistics.ranks import RankShares


class AnswerCell(msgspec.Struct, frozen=True, kw_only=True):
    """One way to answer: a model with a prompt under a condition, or a system as it is.

    name: what tells it from the others of its grid: model, prompt, temperature and condition, without those
    that all have in common; of a system its name. It is the `system` of its answers and judgements. prompt:
    as ragstone.toml names it. model, prompt: None for a system; temperature: None for that of `[answer]`.
    condition: of a system `retrieved`, for it
    brings its passages itself.
    """

    name: str
    model: str | None
    prompt: str | None
    condition: Condition
    told: str = ""
    temperature: float | None = None

    @property
    def label(self) -> str:
        """Its name among the cells of its condition."""
        return self.name.removesuffix(f" · {self.condition}")

    @property
    def is_system(self) -> bool:
        """Whether it is one of `[systems]`, asked as it is."""
        return self.model is None


def short_model(model: str) -> str:
    """Return the last part of a model's name."""
    return model.rpartition("/")[2].removesuffix(".gguf")


RoleName = Literal["correct", "answered", "faithful", "relevant"]


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """The judge that says one thing of all answers.

    measured: whether people's labels measured it; better_than_baseline: what they say, None where that
    cannot be told or nobody measured it. instead_of: judges that ask a model and were passed over, because
    they are measured to be no better than their baseline.
    """

    role: RoleName
    judge: str
    metric: str
    model: str
    prompt_version: int
    scale: tuple[float, float]
    measured: bool = False
    better_than_baseline: bool | None = None
    instead_of: list[str] = []

    @property
    def name(self) -> str:
        """The judge, with its metric where that has another name."""
        return self.judge if self.judge == self.metric else f"{self.judge} ({self.metric})"

    def is_of(self, row: Judgement) -> bool:
        """Whether a judgement is this judge's."""
        return (row.judge, row.metric, row.model) == (self.judge, self.metric, self.model)

    def share(self, score: float) -> float:
        """Return a score as its place on the scale, 0 to 1."""
        low, high = self.scale
        return (score - low) / (high - low)


class Quantiles(msgspec.Struct, frozen=True, kw_only=True):
    """How n values are distributed. p50, p90, p95: quantiles, between values interpolated."""

    n: int
    least: float
    mean: Estimate
    p50: float
    p90: float
    p95: float
    most: float


class AnswerSpent(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell's answers took, as the ledger recorded it. n_failed: answers with an error.

    cost_usd: None where the price of an answer is unknown. Those that failed have their tokens in here, and
    no cost. What the judges took is not in here.
    """

    n_answers: int
    n_failed: int
    n_calls: int
    input: int
    output: int
    cost_usd: float | None

    @property
    def usd_each(self) -> float | None:
        """US dollars for an answer that did not fail."""
        n = self.n_answers - self.n_failed
        return self.cost_usd / n if self.cost_usd is not None and n else None


AnswerPlace = Literal[
    "best", "not distinguishable", "worse", "alone", "too few scores", "stopped", "no labels"
]
ContrastKind = Literal["retrieval", "distractors", "passages", "order", "misled"]


class CellTest(msgspec.Struct, frozen=True, kw_only=True):
    """Two cells on the same questions, by the score of the bench.

    n: questions that both have a score of; n_left_out: those that one alone has. means: of both on these n.
    difference: first minus second; the rest: see statistics.paired. p_holm: over the `family` of tests that
    answer the same question: every pair of cells of one condition, or all contrasts of one kind.

    With labels of a condition `test` is `prediction-powered` and the difference is what people would see, in
    their unit (see agreement.corrected_difference); judged: the judge's own. n_labelled: questions with
    labels of both answers; with 0 the verdict is `cannot tell` and the difference the judge's. flattery: how
    much more the judge gives the first than people do, None in another unit. All three None without labels.
    n_changed: questions whose two scores differ; None in files of older versions.
    """

    first: str
    second: str
    n: int
    n_left_out: int
    means: tuple[float, float]
    difference: Estimate
    test: Test | Literal["prediction-powered"]
    p: float
    p_holm: float
    family: int
    verdict: Verdict
    judged: Estimate | None = None
    n_labelled: int | None = None
    flattery: Estimate | None = None
    n_changed: int | None = None


class AnswerStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A cell's place within its condition.

    place: counted over the whole board, conditions in the order declared. verdict: `worse` only where the
    difference from the best of the condition is shown; `alone` where the condition has no other cell; `too
    few scores`: the share of its answers that have one is less than half of the largest of the condition;
    `stopped`: a race gave it no more questions; `no labels`: people's labels decide the places of the
    condition, and none is of its answers. people: the mean that people would give, where they decide.
    comparison: of the best with this one; None for the best,
    where no question has a score of both, and by a race.
    n_questions: that it was asked. score, seconds: None where no answer has one. measures: see CellValues.
    file: its judgements.
    """

    place: int
    cell: AnswerCell
    verdict: AnswerPlace
    comparison: CellTest | None
    n_questions: int
    score: Quantiles | None
    seconds: Quantiles | None
    measures: dict[str, Estimate]
    statuses: dict[RoleName, dict[Status, int]]
    spent: AnswerSpent
    file: str
    people: Estimate | None = None


class LabelBasis(msgspec.Struct, frozen=True, kw_only=True):
    """People's labels that decide places. file: its name. n: labels of cells of this bench;
    n_elsewhere: of what is none. conditions: whose places they decide; under the others the judge does."""

    file: str
    n: int
    n_elsewhere: int
    conditions: list[Condition]


class Contrast(msgspec.Struct, frozen=True, kw_only=True):
    """One model and prompt under two conditions. retrieval: gold against retrieved. distractors: gold alone
    against gold with distractors. passages: the best of retrieved, gold+distractors and gold that is there
    against none. order: retrieved against shuffled. misled: none against distractors.
    """

    kind: ContrastKind
    model: str
    prompt: str
    conditions: tuple[Condition, Condition]
    test: CellTest


class TagGroup(msgspec.Struct, frozen=True, kw_only=True):
    """Questions with one value of a tag. value: None for the small groups together, n_values of them.

    cells: cell -> `score` and the measures -> mean.
    """

    value: str | None
    n_values: int
    n_questions: int
    cells: dict[str, dict[str, Estimate]]


class TagTable(msgspec.Struct, frozen=True, kw_only=True):
    """The groups of one tag, the largest first, the small ones together last. n_without: without the tag."""

    tag: str
    groups: list[TagGroup]
    n_without: int


class AnswerBoard(msgspec.Struct, frozen=True, kw_only=True):
    """The grid, best first within each condition.

    measure, scale: what cells are ordered by: the metric of the judge of `correct`, else `answered ×
    faithful`. comparisons: every pair of cells of one condition, the better first. missing: condition -> how
    many questions it does not exist for, by reason. failed: cells without numbers. labels: None where all
    places are according to the judge. ranks: condition -> how often each of its cells has each rank by the
    judge's scores, on the questions that all of them have a score of; absent where no order can change.
    """

    measure: str
    scale: tuple[float, float]
    roles: list[Role]
    conditions: list[Condition]
    n_questions: int
    n_unanswerable: int
    missing: dict[Condition, dict[Missing, int]]
    standings: list[AnswerStanding]
    comparisons: list[CellTest]
    contrasts: list[Contrast]
    by_tag: list[TagTable]
    failed: list[LeftOutCell]
    labels: LabelBasis | None = None
    ranks: dict[Condition, RankShares] | msgspec.UnsetType = msgspec.UNSET


class StoppedConfiguration(msgspec.Struct, frozen=True, kw_only=True):
    """A configuration that is worse than another beyond doubt.

    after: questions that it was given. against: the configuration with the most evidence against it. doubt:
    the chance, at most, of as much evidence against the best of all; at most 1 - confidence. difference: mean
    of this one minus mean of the other over n_pairs questions with a score of both, and its interval, which
    holds whenever one looks (95 %, of this pair alone); n_left_out: questions without a score of one of them.
    """

    configuration: str
    after: int
    round: int
    against: str
    doubt: float
    difference: float
    low: float
    high: float
    n_pairs: int
    n_left_out: int


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """What a cell took, and about what it was spared: as much for each question as for those it was given.

    n_given: of n_questions. calls: of models, for answers and judgements. usd: None where a price is unknown.
    """

    cell: str
    n_given: int
    n_questions: int
    calls: int
    calls_spared: float
    usd: float | None
    usd_spared: float | None


class RaceReport(msgspec.Struct, frozen=True, kw_only=True):
    """How a race went. standing: those that cannot be told apart; one alone is the best with `confidence`.

    measure: what it was about, brought to 0 to 1. n_given: questions given out, of n_questions. failed:
    configurations that could not be asked.
    """

    condition: Condition
    measure: str
    confidence: float
    n_questions: int
    n_given: int
    rounds: list[int]
    standing: list[str]
    stopped: list[StoppedConfiguration]
    failed: list[str]
    saved: list[Saved]
