"""What attack.json holds: everything that the page and the terminal show of an attack on judges."""

from pathlib import Path
from typing import Literal

import msgspec

from ragstone.agreement.attacks import AttackRate, Flip
from ragstone.agreement.probes import ProbeEffect
from ragstone.records import Status
from ragstone.report.numbers import read_numbers
from ragstone.report.summary import Calls
from ragstone.tables.shown import Displayed

ATTACK = "attack.json"
Verdict = Literal["kept", "exceeded", "cannot tell"]


class JudgeAttacked(msgspec.Struct, frozen=True, kw_only=True):
    """One judge under attack.

    n_rows: plain rows; plain: what became of them; n_attacked: those with a verdict that leaves something to
    win, None where no attack was asked for. overall: all attempts; families, attacks: theirs, in order.
    flips: the verdicts that were set, at most SHOWN_FLIPS; the rows beside this file hold them all. gate: of
    `--most-flips`.
    """

    judge: str
    metric: str
    model: str
    prompt_version: int
    scale: tuple[float, float]
    n_rows: int
    plain: dict[Status, int]
    n_attacked: int | None
    overall: AttackRate | None
    families: list[AttackRate]
    attacks: list[AttackRate]
    flips: list[Flip]
    probes: list[ProbeEffect]
    gate: Verdict | None = None

    @property
    def measured(self) -> bool:
        """Whether there is any number: attacks that were answered, or a probe's effect."""
        attacked = self.overall is not None and self.overall.flips is not None
        return attacked or any(probe.effect is not None for probe in self.probes)


class AttackSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """An attack in numbers. most_flips: the gate, None if none was set. models: role -> name."""

    name: str
    version: str
    models: dict[str, str]
    judges: list[JudgeAttacked]
    calls: Calls
    notes: list[str]
    most_flips: float | None = None


def read_attack(folder: Path) -> AttackSummary:
    """Return what attack.json of a folder holds. Raises DataError, saying what to do."""
    return read_numbers(folder / ATTACK, AttackSummary, "summary of an attack", "ragstone attack")
