"""What a bench of judges found, as values: standings, comparisons, and what could not be compared."""

from typing import Literal

import msgspec

from ragstone.agreement.bench.cells import Spent, Spread
from ragstone.agreement.bench.grid import JudgeCell, LeftOut
from ragstone.config import AgreementMeasure
from ragstone.records import Status
from ragstone.statistics import Estimate
from ragstone.statistics.paired import Test, Verdict

Place = Literal["best", "not distinguishable", "worse"]


class CellComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two cells on the same answers.

    difference: how much better `first` agrees with people, by the bench's measure; of the measure
    `difference` it is how much nearer it is. The interval is paired and knows of no other comparison. p,
    p_holm, family, verdict: see statistics.paired.
    """

    first: str
    second: str
    difference: Estimate
    test: Test
    p: float
    p_holm: float
    family: int
    verdict: Verdict


class JudgeStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A cell's place.

    verdict: `worse` only where the difference from the best is shown; `comparison` is that of the best with
    this one, None for the best itself. value: the bench's measure. agreement: all measures that mean
    something here, each with its interval. statuses: of the first run. spread: None where a cell was judged
    once. file: its judgements; None for the constant baseline.
    """

    place: int
    cell: JudgeCell
    verdict: Place
    comparison: CellComparison | None
    value: Estimate
    agreement: dict[str, Estimate]
    statuses: dict[Status, int]
    spent: Spent
    spread: Spread | None
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
    failed: cells without numbers. notes: on how labels and scores are compared.
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
    failed: list[LeftOut]
    left_out: list[LeftOut]
    notes: list[str]
