"""Rows -> a compact table of the first of them, and judgements -> the table of their means."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from ragstone.judging.summary import MetricSummary
from ragstone.records import NO_MODEL, Context, Judgement, RankingItem
from ragstone.report.render.terminal import new_table, text
from ragstone.report.wording import count, interval, judge_name, n_scored, number, plural, statuses

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

SHOWN_ROWS = 10
SHOWN_COLUMNS = 8
SHOWN_TEXT = 120  # characters of a cell
NOUNS = {Context: "context", RankingItem: "place"}
# What a reader looks for first; the other fields are in the data frame.
HIDDEN = ("metadata", "usage")
FIRST = ("question_id", "id", "question", "system", "answer", "judge", "status", "score", "rationale")


def table_of_rows(rows: Sequence[object], columns: Sequence[str]) -> "list[Table | Text]":
    """Return the first rows with the columns that hold something, texts cut, and how many more there are."""
    shown = [_cells(row, columns) for row in rows[:SHOWN_ROWS]]
    held = [name for name in columns if any(cells[name] for cells in shown)]
    chosen = [name for name in FIRST if name in held]
    chosen += [name for name in held if name not in FIRST and name not in HIDDEN]
    kept = chosen[:SHOWN_COLUMNS]
    table = new_table(*((name, _is_number(rows, name)) for name in kept))
    for cells in shown:
        table.add_row(*(text(cells[name]) for name in kept))
    more = len(rows) - len(shown)
    beside = len(held) - len(kept)
    told = [
        plural(len(rows), "row"),
        *([f"the first {len(shown)} shown"] if more else []),
        *([f"{plural(beside, 'field')} not shown: .to_polars() has all"] if beside else []),
    ]
    return [*([table] if kept else []), text(", ".join(told), "dim")]


def _is_number(rows: Sequence[object], name: str) -> bool:
    found = next((value for row in rows[:SHOWN_ROWS] if (value := _value(row, name)) is not None), None)
    return isinstance(found, int | float) and not isinstance(found, bool)


def _value(row: object, name: str) -> Any:  # noqa: ANN401 - a field of any row
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)


def _cells(row: object, columns: Sequence[str]) -> dict[str, str]:
    return {name: _told(_value(row, name)) for name in columns}


def _told(value: object) -> str:
    """Return a value in few words, empty where there is none."""
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, float):
        return number(value) if abs(value) >= 0.01 or value == 0 else f"{value:.2g}"
    if isinstance(value, list) and isinstance(value[0], msgspec.Struct):
        return plural(len(value), NOUNS.get(type(value[0]), type(value[0]).__name__.lower()))
    told = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    line = " ".join(told.split())
    return line if len(line) <= SHOWN_TEXT else line[: SHOWN_TEXT - 1].rstrip() + "…"


def judgement_columns(rows: Sequence[Judgement]) -> list[str]:
    """Return what is shown of judgements: the system and the judge only where there are several.

    The error comes last, where there is one; rows without any show no empty column for it.
    """
    several = {name: len({getattr(row, name) for row in rows}) > 1 for name in ("system", "judge")}
    names = ("question_id", "system", "judge", "status", "score", "label", "rationale", "error")
    return [name for name in names if several.get(name, True)]


def table_of_means(metrics: Sequence[MetricSummary]) -> "Table":
    """Return each judge's mean with its interval, beside its denominator and the count of other statuses."""
    several = len({metric.system for metric in metrics}) > 1
    table = new_table(
        ("judge", False),
        *([("system", False)] if several else []),
        ("model", False),
        ("scale", False),
        ("mean", True),
        ("interval", True),
        ("scored", True),
        ("", False),
    )
    for metric in metrics:
        scale = f"{metric.scale[0]:g} to {metric.scale[1]:g}" if metric.scale else ""
        table.add_row(
            text(judge_name(metric)),
            *([text(metric.system)] if several else []),
            text("" if metric.model == NO_MODEL else metric.model),
            text(scale, "dim"),
            text(number(metric.estimate.value) if metric.estimate else "none", "bold"),
            text(interval(metric.estimate) if metric.estimate else ""),
            text(f"{count(n_scored(metric))} of {count(metric.n_rows)}"),
            text(statuses(metric.statuses), "dim"),
        )
    return table
