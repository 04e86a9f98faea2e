"""What cascades have saved: calls, tokens and money beside what the last member alone would have taken."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ragstone.kernel.errors import takes_rows
from ragstone.kernel.records import Judgement, Usage


class MemberWork(msgspec.Struct, frozen=True, kw_only=True):
    """One member of a cascade: how many rows it was asked about and decided, and what that took.

    usage and cost_usd are sums over the rows that it was asked about; cost_usd is None where a price is
    unknown, and where no model was asked.
    """

    name: str
    n_asked: int
    n_decided: int
    usage: Usage
    cost_usd: float | None


class CascadeSavings(msgspec.Struct, frozen=True, kw_only=True):
    """The work of one cascade.

    n_rows: rows that it judged, `n_undecided` of them without a score. spent and spent_usd: of all members.
    last_alone, last_alone_usd: what asking the last member about every row would have taken, estimated by its
    mean over the rows that it was asked about; None if it was asked about none, or a price is unknown.
    """

    judge: str
    n_rows: int
    n_undecided: int
    members: list[MemberWork]
    spent: Usage
    spent_usd: float | None
    last_alone: Usage | None
    last_alone_usd: float | None


class _Work:
    """What one member did so far."""

    def __init__(self) -> None:
        self.n_asked = self.n_decided = self.n_paid = self.n_priced = 0
        self.usage = Usage(calls=0)
        self.usd = 0.0

    def add(self, member: Mapping[str, Any]) -> None:
        self.n_asked += 1
        if "usage" in member:
            self.n_paid += 1
            self.usage += msgspec.convert(member["usage"], Usage)
        if "cost_usd" in member:
            self.n_priced += 1
            self.usd += member["cost_usd"]

    @property
    def cost_usd(self) -> float | None:
        return self.usd if self.n_paid and self.n_priced == self.n_paid else None


class _Rows:
    """One cascade's rows so far: only sums are kept, for there may be millions."""

    def __init__(self) -> None:
        self.n_rows = self.n_undecided = 0
        self.works: dict[str, _Work] = {}


class CascadeTally:
    """Judgements on their way past; those of cascades are counted."""

    def __init__(self) -> None:
        self._cascades: dict[str, _Rows] = {}

    def add(self, row: Judgement) -> None:
        """Count one judgement, if it is of a cascade and a member was asked."""
        metadata = row.metadata or {}
        if "decided_by" not in metadata:
            return
        rows = self._cascades.setdefault(row.judge, _Rows())
        rows.n_rows += 1
        for member in metadata["members"]:
            rows.works.setdefault(member["judge"], _Work()).add(member)
        for name in metadata["not_asked"]:  # so that the order of the members is known
            rows.works.setdefault(name, _Work())
        if metadata["decided_by"] is None:
            rows.n_undecided += 1
        else:
            rows.works[metadata["decided_by"]].n_decided += 1

    def savings(self) -> list[CascadeSavings]:
        """Return the savings of each cascade, in order of first appearance."""
        return [_savings(judge, rows) for judge, rows in self._cascades.items()]


@takes_rows(judgements=Judgement)
def cascade_savings(judgements: Iterable[Judgement]) -> list[CascadeSavings]:
    """Return what each cascade among the judgements has saved; empty where there is none."""
    tally = CascadeTally()
    for row in judgements:
        tally.add(row)
    return tally.savings()


def _savings(judge: str, rows: _Rows) -> CascadeSavings:
    works = list(rows.works.values())
    last = works[-1]
    paid = [work for work in works if work.n_paid]
    costs = [work.cost_usd for work in paid if work.cost_usd is not None]
    share = rows.n_rows / last.n_paid if last.n_paid else None
    usage = last.usage
    return CascadeSavings(
        judge=judge,
        n_rows=rows.n_rows,
        n_undecided=rows.n_undecided,
        members=[
            MemberWork(
                name=name,
                n_asked=work.n_asked,
                n_decided=work.n_decided,
                usage=work.usage,
                cost_usd=work.cost_usd,
            )
            for name, work in rows.works.items()
        ],
        spent=sum((work.usage for work in works), Usage(calls=0)),
        spent_usd=sum(costs) if len(costs) == len(paid) else None,
        last_alone=None
        if share is None
        else Usage(
            input=round(usage.input * share),
            output=round(usage.output * share),
            cached=round(usage.cached * share),
            cache_written=round(usage.cache_written * share),
            reasoning=round(usage.reasoning * share),
            calls=round(usage.calls * share),
        ),
        last_alone_usd=None if share is None or last.cost_usd is None else last.cost_usd * share,
    )
