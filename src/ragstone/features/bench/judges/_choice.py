"""The standings of a bench -> what to take, and what it says on prompts, models and examples."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations, product

from ragstone.features.bench._board import both_ways
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


def choose(board: JudgeBoard) -> JudgeChoice:
    """Return the recommendation of a board that has standings."""
    rows = board.standings
    alike = [row for row in rows if row.verdict == "not distinguishable"]
    price = price_of([rows[0], *alike])
    judge = next((row for row in rows if row.cell.model != NO_MODEL), None)
    baseline = next((row for row in rows if row.cell.model == NO_MODEL), None)
    tests, asking = both_ways(board.comparisons), [row for row in rows if row.cell.model != NO_MODEL]
    return JudgeChoice(
        best=rows[0].cell.name,
        alike=[row.cell.name for row in alike],
        cheapest=min([rows[0], *alike], key=PRICES[price]).cell.name if price else None,
        price=price,
        judge=judge.cell.name if judge else None,
        baseline=baseline.cell.name if baseline else None,
        beats_baseline=tests[judge.cell.name, baseline.cell.name].verdict if judge and baseline else None,
        fits=[_fit(row, baseline, tests) for row in asking] if baseline else [],
        contrasts=list(_contrasts(asking, tests)),
        examples=list(_examples(asking, tests)),
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


Tests = Mapping[tuple[str, str], CellComparison]
"""Two cells -> the comparison of the first with the second."""


def _fit(row: JudgeStanding, rival: JudgeStanding, tests: Tests) -> WorthAsking:
    comparison = tests[row.cell.name, rival.cell.name]
    failed = sum(n for status, n in row.statuses.items() if status not in ("scored", "not_applicable"))
    return WorthAsking(
        cell=row.cell.name,
        rival=rival.cell.name,
        verdict=comparison.verdict,
        comparison=comparison,
        n_failed=failed,
        n=sum(row.statuses.values()),
    )


def _contrasts(rows: Sequence[JudgeStanding], tests: Tests) -> Iterable[JudgeContrast]:
    """Yield the pairs that differ in one way alone, way by way."""

    def value(cell: JudgeCell, axis: Axis) -> str:
        return "{:g}-{:g}".format(*cell.scale) if axis == "scale" else str(getattr(cell, axis))

    for axis in AXES:
        for first, second in combinations([row.cell for row in rows], 2):
            if _differ_in(first, second) == {axis}:
                comparison = tests[first.name, second.name]
                yield JudgeContrast(
                    axis=axis,
                    first=first.name,
                    second=second.name,
                    values=(value(first, axis), value(second, axis)),
                    verdict=comparison.verdict,
                    comparison=comparison,
                )


def _differ_in(first: JudgeCell, second: JudgeCell) -> set[str]:
    return {name for name in ("base", "others", *AXES) if getattr(first, name) != getattr(second, name)}


def _examples(rows: Sequence[JudgeStanding], tests: Tests) -> Iterable[CheaperWithExamples]:
    """Yield each cheaper model with examples against each dearer one without, of one judge asked alike."""
    for first, second in product(rows, rows):
        if not first.cell.shots or second.cell.shots:
            continue
        if _differ_in(first.cell, second.cell) != {"model", "shots"}:
            continue
        price = price_of([first, second])
        if price is None or PRICES[price](first) >= PRICES[price](second):
            continue
        comparison, lower = tests[first.cell.name, second.cell.name], PRICES[price](first)
        yield CheaperWithExamples(
            cheaper=first.cell.name,
            dearer=second.cell.name,
            price=price,
            ratio=PRICES[price](second) / lower if lower else None,
            verdict=comparison.verdict,
            comparison=comparison,
        )
