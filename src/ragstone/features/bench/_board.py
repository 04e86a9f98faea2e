"""What the boards of all benches share: cells without numbers, and pairs of cells tested both ways round."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

import msgspec

from ragstone.kernel.statistics import negated
from ragstone.kernel.statistics.families import Tested, exchanged


class LeftOutCell(msgspec.Struct, frozen=True, kw_only=True):
    """A combination of the grid that is not measured, and why."""

    name: str
    reason: str


def reasons_text(failed: Iterable[LeftOutCell]) -> str:
    """Return each cell with its reason, for a bench that has no cell left: `a: gone; b: refused`."""
    return "; ".join(f"{cell.name}: {cell.reason}" for cell in failed)


class CellPair(Tested, Protocol):
    """A test of two cells, which it names."""

    @property
    def first(self) -> str:
        """The cell that the verdict is on."""

    @property
    def second(self) -> str:
        """The other one."""


PairT = TypeVar("PairT", bound=CellPair)


def turned(test: PairT) -> PairT:
    """Return the same test with the second cell first, and so all that has a side, where it has it."""
    sides: dict[str, object] = {"first": test.second, "second": test.first}
    if means := getattr(test, "means", None):
        sides["means"] = means[::-1]
    for name in ("judged", "flattery"):
        if estimate := getattr(test, name, None):
            sides[name] = negated(estimate)
    return msgspec.structs.replace(exchanged(test), **sides)  # type: ignore[type-var] # it is a struct


def both_ways(tests: Iterable[PairT]) -> dict[tuple[str, str], PairT]:
    """Return (a cell, another one) -> their test with the first of these first, whoever is first there."""
    straight = {(test.first, test.second): test for test in tests}
    return {(test.second, test.first): turned(test) for test in straight.values()} | straight
