"""The standings of a bench -> what to take, and what it says on prompts, models and examples."""

from collections.abc import Callable, Iterable, Sequence
from itertools import combinations

import msgspec

from ragstone.features.bench.judges.values import (
    AXES,
    Axis,
    CellComparison,
    CheaperWithExamples,
    JudgeBoard,
    JudgeCell,
    JudgeChoice,
    JudgeContrast,
    JudgeStanding,
    Price,
    WorthAsking,
)
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.statistics.families import exchanged


def choose(board: JudgeBoard) -> JudgeChoice:
    """Return the recommendation of a board that has standings."""
    rows = board.standings
    alike = [row for row in rows if row.verdict == "not distinguishable"]
    price = price_of([rows[0], *alike])
    judge = next((row for row in rows if row.cell.model != NO_MODEL), None)
    baseline = next((row for row in rows if row.cell.model == NO_MODEL), None)
    against = _against(board.comparisons)
    return JudgeChoice(
        best=rows[0].cell.name,
        alike=[row.cell.name for row in alike],
        cheapest=min([rows[0], *alike], key=PRICES[price]).cell.name if price else None,
        price=price,
        judge=judge.cell.name if judge else None,
        baseline=baseline.cell.name if baseline else None,
        beats_baseline=against(judge, baseline).verdict if judge and baseline else None,
        fits=[_fit(row, baseline, against(row, baseline)) for row in _asking(rows)] if baseline else [],
        contrasts=list(_contrasts(_asking(rows), against)),
        examples=list(_examples(_asking(rows), against)),
    )


PRICES: dict[Price, Callable[[JudgeStanding], float]] = {
    "cost": lambda row: row.spent.usd_each or 0.0,
    "seconds": lambda row: row.spent.seconds_each or 0.0,
    "tokens": lambda row: (row.spent.input + row.spent.output) / row.spent.n_judged,
}


def price_of(rows: Sequence[JudgeStanding]) -> Price | None:
    """Return by what some of these are cheaper: cost, else seconds, else tokens, the first that tells.

    A price that is unknown for one of them does not tell, nor one that is the same for all, as the cost of
    models in this process is. Where none tells it is the first that is known; None if there is none.
    """
    known: list[Price] = []
    if all(row.spent.usd_each is not None for row in rows):
        known.append("cost")
    if all(row.spent.seconds_each is not None for row in rows):
        known.append("seconds")
    if all(row.spent.input + row.spent.output or not row.spent.n_calls for row in rows):
        known.append("tokens")
    telling = (price for price in known if len({PRICES[price](row) for row in rows}) > 1)
    return next(telling, known[0] if known else None)


Against = Callable[[JudgeStanding, JudgeStanding], CellComparison]


def _against(comparisons: Iterable[CellComparison]) -> Against:
    """Return a function that gives the comparison of one cell with another, whichever stands first."""
    known = {(one.first, one.second): one for one in comparisons}

    def find(first: JudgeStanding, second: JudgeStanding) -> CellComparison:
        names = first.cell.name, second.cell.name
        return known[names] if names in known else _turned(known[names[::-1]])

    return find


def _turned(one: CellComparison) -> CellComparison:
    return msgspec.structs.replace(exchanged(one), first=one.second, second=one.first)


def _asking(rows: Sequence[JudgeStanding]) -> list[JudgeStanding]:
    return [row for row in rows if row.cell.model != NO_MODEL]


def _fit(row: JudgeStanding, rival: JudgeStanding, comparison: CellComparison) -> WorthAsking:
    failed = sum(n for status, n in row.statuses.items() if status not in ("scored", "not_applicable"))
    return WorthAsking(
        cell=row.cell.name,
        rival=rival.cell.name,
        verdict=comparison.verdict,
        comparison=comparison,
        n_failed=failed,
        n=sum(row.statuses.values()),
    )


def _contrasts(rows: Sequence[JudgeStanding], against: Against) -> Iterable[JudgeContrast]:
    """Yield the pairs that differ in one way alone, way by way."""
    for axis in AXES:
        for first, second in combinations(rows, 2):
            if _differ_in(first.cell, second.cell) == {axis}:
                comparison = against(first, second)
                yield JudgeContrast(
                    axis=axis,
                    first=first.cell.name,
                    second=second.cell.name,
                    values=(_shown(first.cell, axis), _shown(second.cell, axis)),
                    verdict=comparison.verdict,
                    comparison=comparison,
                )


def _differ_in(first: JudgeCell, second: JudgeCell) -> set[str]:
    return {name for name in ("base", "others", *AXES) if getattr(first, name) != getattr(second, name)}


def _shown(cell: JudgeCell, axis: Axis) -> str:
    value = getattr(cell, axis)
    return f"{value[0]:g}-{value[1]:g}" if axis == "scale" else str(value)


def _examples(rows: Sequence[JudgeStanding], against: Against) -> Iterable[CheaperWithExamples]:
    """Yield each cheaper model with examples against each dearer one without, of one judge asked alike."""
    for first in rows:
        for second in rows:
            if not first.cell.shots or second.cell.shots:
                continue
            if _differ_in(first.cell, second.cell) != {"model", "shots"}:
                continue
            price = price_of([first, second])
            if price is None or PRICES[price](first) >= PRICES[price](second):
                continue
            comparison, lower = against(first, second), PRICES[price](first)
            yield CheaperWithExamples(
                cheaper=first.cell.name,
                dearer=second.cell.name,
                price=price,
                ratio=PRICES[price](second) / lower if lower else None,
                verdict=comparison.verdict,
                comparison=comparison,
            )
