"""What was judged in a cell of a bench: its runs, what they took, and how far they differ."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.agreement.bench.grid import JudgeCell
from ragstone.agreement.pairing import Key
from ragstone.records import Judgement, Status, count_statuses
from ragstone.statistics import Estimate


class Spent(msgspec.Struct, frozen=True, kw_only=True):
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


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """A cell and its judgements in the bench's metric, run by run. file: that holds the first run."""

    cell: JudgeCell
    runs: list[list[Judgement]]
    spent: Spent
    file: str


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How far runs of one cell differ. values: the measure of each run on the same n answers.

    sd: standard deviation of `values`. changed: share of the answers whose score is not the same in all runs.
    """

    values: list[float]
    sd: float
    changed: Estimate
    n: int


def scores_of(rows: Sequence[Judgement]) -> dict[Key, float]:
    """Return the score of each answer that has one."""
    return {(row.question_id, row.system): row.score for row in rows if row.score is not None}


def tuned_keys(judged: Sequence[Judged]) -> set[Key]:
    """Return the answers that any of the judges was tuned on."""
    return {
        (row.question_id, row.system)
        for one in judged
        for row in one.runs[0]
        if (row.metadata or {}).get("tuned")
    }


def statuses_of(one: Judged, keys: set[Key]) -> dict[Status, int]:
    """Return how many of these answers ended in each status, in the first run."""
    return count_statuses([row for row in one.runs[0] if (row.question_id, row.system) in keys])


def spread_of(values: Sequence[float], changed: Estimate | None, n: int) -> Spread | None:
    """Return the spread of a measure over runs; None for fewer than two of them."""
    if len(values) < 2 or changed is None:
        return None
    return Spread(values=list(values), sd=float(np.std(values, ddof=1)), changed=changed, n=n)


def no_scores(statuses: Mapping[Status, int], rows: Sequence[Judgement]) -> str:
    """Return what kept a cell from being compared: its statuses, and the first error."""
    told = ", ".join(f"{n} {status.replace('_', ' ')}" for status, n in statuses.items())
    reasons = (row.error or row.rationale for row in rows if row.score is None)
    error = next((reason for reason in reasons if reason), None)
    return told + (f"; the first: {error}" if error else "")
