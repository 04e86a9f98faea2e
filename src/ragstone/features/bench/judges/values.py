"""What a bench of judges found, as values: cells, standings, comparisons, and what to take."""

from typing import Literal

import msgspec

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench.judges._orders import OrdersElsewhere, SystemOrders
from ragstone.kernel.config import AgreementMeasure
from ragstone.kernel.records import Status
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.paired import BoardPlace, Test, Verdict

OWN = "own"  # as the judge's file says


class JudgeCell(msgspec.Struct, frozen=True, kw_only=True):
    """One way to judge.

    name: what tells it from the others of its grid: the judge's variant, and its model where there are
    several. base: the judge's file. model: `none` for a judge that asks none. scale, shots, prompt,
    temperature: how it is asked; `own` is the file's prompt. others: what else its name asks for. threshold:
    the score from which on it says 1. added: a baseline that nobody named, put beside the judges.
    """

    name: str
    judge: str
    base: str
    model: str
    scale: tuple[float, float]
    shots: int = 0
    prompt: str = OWN
    temperature: float = 0.0
    others: str = ""
    threshold: float | None = None
    added: bool = False


class JudgingSpent(msgspec.Struct, frozen=True, kw_only=True):
    """What judging took, as the ledger recorded it: the same however often it is run.

    n_judged: judgements that were asked for, of all runs. seconds: of the calls, one after the other; None
    where one was not timed. cost_usd: None where a price is unknown. Calls that failed have their tokens in
    here, and neither time nor cost.
    """

    n_judged: int
    n_calls: int
    input: int
    output: int
    seconds: float | None
    cost_usd: float | None

    @property
    def seconds_each(self) -> float | None:
        """Seconds of calls for a judgement."""
        return self.seconds / self.n_judged if self.seconds is not None and self.n_judged else None

    @property
    def usd_each(self) -> float | None:
        """US dollars for a judgement."""
        return self.cost_usd / self.n_judged if self.cost_usd is not None and self.n_judged else None


class SpreadOfRuns(msgspec.Struct, frozen=True, kw_only=True):
    """How far runs of one cell differ. values: the measure of each run on the same n answers.

    sd: standard deviation of `values`. changed: share of the answers whose score is not the same in all runs.
    """

    values: list[float]
    sd: float
    changed: Estimate
    n: int


class CellComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two cells on the same answers.

    difference: how much better `first` agrees with people, by the bench's measure; of the measure
    `difference` it is how much nearer it is. The interval is paired and knows of no other comparison. p,
    p_holm, family, verdict: see statistics.paired. n_changed: answers that one of them is nearer to people
    on than the other; None in files of older versions.
    """

    first: str
    second: str
    difference: Estimate
    test: Test
    p: float
    p_holm: float
    family: int
    verdict: Verdict
    n_changed: int | None = None


class JudgeStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A cell's place.

    verdict: `worse` only where the difference from the best is shown; `comparison` is that of the best with
    this one, None for the best itself. value: the bench's measure. agreement: all measures that mean
    something here, each with its interval. statuses: of the first run. spread: None where a cell was judged
    once. file: its judgements; None for the constant baseline.
    """

    place: int
    cell: JudgeCell
    verdict: BoardPlace
    comparison: CellComparison | None
    value: Estimate
    agreement: dict[str, Estimate]
    statuses: dict[Status, int]
    spent: JudgingSpent
    spread: SpreadOfRuns | None
    file: str | None


class Aside(msgspec.Struct, frozen=True, kw_only=True):
    """A cell that has scores and yet no place, why, and what can be said of it."""

    cell: JudgeCell
    reason: str
    agreement: dict[str, Estimate]
    file: str | None


class JudgeBoard(msgspec.Struct, frozen=True, kw_only=True):
    """The grid in order of one measure, on the same answers for all.

    measure, why: what cells are ordered by, and what decided for it. mapped: labels and scores are compared
    from 0 to 1, as a mapping says. n: answers that all were compared on,
    of n_questions questions; left out and counted are n_tuned (a judge of the grid was made with them),
    n_tied (annotators tied) and n_unscored (some cell has no score). comparisons: every pair of standings,
    the better one first; Holm's correction is over all of them. left_out: combinations that no judge can do.
    failed: cells without numbers. notes: on how labels and scores are compared. orders: what the cells say of
    the systems, None where fewer than two answered the same questions. elsewhere: beside other benches.
    """

    metric: str
    measure: AgreementMeasure
    why: str
    mapped: bool
    n: int
    n_questions: int
    n_tuned: int
    n_tied: int
    n_unscored: int
    standings: list[JudgeStanding]
    comparisons: list[CellComparison]
    aside: list[Aside]
    failed: list[LeftOutCell]
    left_out: list[LeftOutCell]
    notes: list[str]
    orders: SystemOrders | None = None
    elsewhere: list[OrdersElsewhere] = []


Price = Literal["cost", "seconds", "tokens"]
Axis = Literal["model", "prompt", "shots", "scale", "temperature"]
AXES: tuple[Axis, ...] = ("model", "prompt", "shots", "scale", "temperature")


class WorthAsking(msgspec.Struct, frozen=True, kw_only=True):
    """Whether a judge, asked so, is worth asking this model.

    rival: the best baseline without a model. verdict: on the judge against it. n_failed: of n answers, those
    that ended neither with a score nor as not applicable.
    """

    cell: str
    rival: str
    verdict: Verdict
    comparison: CellComparison
    n_failed: int
    n: int


class JudgeContrast(msgspec.Struct, frozen=True, kw_only=True):
    """Two cells that differ in one way alone, and which is better.

    axis: in which way. values: the first's and the second's. verdict: on the first.
    """

    axis: Axis
    first: str
    second: str
    values: tuple[str, str]
    verdict: Verdict
    comparison: CellComparison


class CheaperWithExamples(msgspec.Struct, frozen=True, kw_only=True):
    """A cheaper model that is shown examples against a dearer one that is shown none.

    price: what makes it cheaper, `ratio` times: the dearer's price of a judgement over the cheaper's; None
    where the cheaper costs nothing. verdict: on the cheaper one.
    """

    cheaper: str
    dearer: str
    price: Price
    ratio: float | None
    verdict: Verdict
    comparison: CellComparison


class JudgeChoice(msgspec.Struct, frozen=True, kw_only=True):
    """What a bench of judges recommends.

    best: the highest place. alike: those not distinguishable from it. cheapest: the cheapest of these all,
    by `price`; None where prices are not known. judge: the best cell that asks a model, baseline: the best
    that asks none; beats_baseline: the judge's verdict against it; all None where one of them is missing.
    fits, contrasts, examples: the questions that the grid allows to be answered.
    """

    best: str
    alike: list[str]
    cheapest: str | None
    price: Price | None
    judge: str | None
    baseline: str | None
    beats_baseline: Verdict | None
    fits: list[WorthAsking]
    contrasts: list[JudgeContrast]
    examples: list[CheaperWithExamples]
