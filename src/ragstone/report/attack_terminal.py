"""An attack on judges as the terminal shows it, in 100 columns."""

from typing import TYPE_CHECKING

from ragstone.report import wording
from ragstone.report.attack import AttackSummary, JudgeAttacked
from ragstone.report.attack_words import (
    gate_line,
    judge_line,
    percent,
    plain_line,
    probe_line,
    probe_name,
    range_of,
    verdict,
)
from ragstone.report.bench_terminal import new_table, text
from ragstone.report.wording import count, number, statuses

if TYPE_CHECKING:
    from rich.console import Group, RenderableType
    from rich.table import Table

WORST_SHOWN = 5


def terminal_attack(summary: AttackSummary) -> "Group":
    """Return, for each judge, the flips of every family beside their controls, and the probes of bias."""
    from rich.console import Group

    parts: list[RenderableType] = []
    for one in summary.judges:
        parts += _judge(one, summary.most_flips)
    parts += [
        *([text("Before you trust these numbers", "bold", before=1)] if summary.notes else []),
        *(text(f"- {note}") for note in summary.notes),
        text(wording.asked_line(summary.calls), "dim", before=1),
    ]
    return Group(*parts)


def _judge(one: JudgeAttacked, most_flips: float | None) -> "list[RenderableType]":
    parts: list[RenderableType] = [text(judge_line(one), "bold", before=1)]
    if one.n_rows:
        parts.append(text(plain_line(one), "dim"))
    if one.families:
        parts += [_families(one), text(verdict(one), "bold"), *_worst(one)]
    if one.gate and most_flips is not None:
        parts.append(text(gate_line(one, most_flips), "" if one.gate == "kept" else "yellow"))
    if one.probes:
        parts += [text("What else moves it", "bold", before=1), _probes(one)]
    return parts


def _families(one: JudgeAttacked) -> "Table":
    table = new_table(
        ("", False), ("flips", True), ("of", True), ("rate", True), ("interval", True), ("control", True),
        ("shift", True), ("without a score", False),
    )  # fmt: skip
    for rate in [*one.families, *([one.overall] if one.overall else [])]:
        style = "bold" if rate.n_flips else ""
        table.add_row(
            text(rate.name, style),
            text(count(rate.n_flips), style),
            text(count(rate.flips.n) if rate.flips else "0", "dim"),
            text(percent(rate.flips), style),
            text(range_of(rate.flips)),
            text(percent(rate.control), "dim"),
            text(number(rate.shift.value) if rate.shift else "", "dim"),
            text(statuses(rate.statuses), "dim"),
        )
    return table


def _worst(one: JudgeAttacked) -> "list[RenderableType]":
    """Return the attacks that worked most often, in a line."""
    worked = sorted((rate for rate in one.attacks if rate.n_flips), key=lambda rate: -rate.n_flips)
    if not worked:
        return []
    told = ", ".join(f"{rate.name} ({rate.n_flips} of {rate.n})" for rate in worked[:WORST_SHOWN])
    return [text(f"Most often: {told}.")]


def _probes(one: JudgeAttacked) -> "Table":
    table = new_table(("", False), ("", False))
    for probe in one.probes:
        table.add_row(text(probe_name(probe), "bold" if probe.found else ""), text(probe_line(probe)))
    return table
