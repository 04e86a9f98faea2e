"""Means of one judge, each with the settings it was measured under -> tables of one setting by another.

Prompts by models, retrievers by k: whatever differs. Means that were measured on other questions, or by
another wording or model of the judge, never share a table; what changes along with a row or a column is
named, for then nobody can say which of the two a difference comes from.
"""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.kernel.document.blocks import Block, Cell, Column, Link, Paragraph, Row, Table
from ragstone.kernel.document.numbers import count, interval, number, one_line
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.runs.settings import JudgeVersion, RunSetting
from ragstone.kernel.runs.wording import n_scored
from ragstone.kernel.statistics import Estimate

SYSTEM, JUDGE, JUDGED_WITH = "system", "judge", "judge's model"
APART = ("questions", "[questions] limit", JUDGE, JUDGED_WITH)  # of what is measured, and with which ruler
ASIDE = ("judges", "[judge] model", "[judge] one_call", "[run] seed")  # JUDGE and JUDGED_WITH say it better
PREFERRED = ("[answer] prompt", "[answer] model", SYSTEM, "[answer] system", "[retrieve] retriever")
LONGEST = 40
MOST_TABLES = 12
SHADES = 6


class MatrixPoint(msgspec.Struct, frozen=True, kw_only=True):
    """A mean and what it was measured under. name: of its run. of: name of a setting -> its words.

    n_scored, n_rows: the rows it rests on, and all. cost: in words, empty where it is not known of this mean
    alone. target: the page of its rows, where there is one.
    """

    name: str
    of: dict[str, str]
    estimate: Estimate | None
    n_scored: int
    n_rows: int
    scale: tuple[float, float] | None = None
    cost: str = ""
    target: str = ""


class MatrixTable(msgspec.Struct, frozen=True, kw_only=True):
    """One table. of: what all its means have in common and those of other tables have not.

    rows, columns: values of the two settings. cells: the means of row and column, several where runs have
    the same settings; a list a row.
    """

    of: dict[str, str]
    rows: list[str]
    columns: list[str]
    cells: list[list[list[MatrixPoint]]]


class Matrix(msgspec.Struct, frozen=True, kw_only=True):
    """Tables of one setting by another. down, across: their names; across: None where only one differs.

    along: further settings that change with a row or a column, so that a difference may be theirs.
    n_more: tables beyond the largest.
    """

    down: str
    across: str | None
    tables: list[MatrixTable]
    along: list[str]
    n_more: int = 0


def point_of(
    name: str,
    metric: MetricSummary,
    settings: Mapping[str, RunSetting],
    judges: Mapping[str, JudgeVersion],
    *,
    cost: str = "",
    target: str = "",
) -> MatrixPoint:
    """Return a mean with the settings of its run, and the judges of its manifest. See MatrixPoint."""
    texts = {setting: _words(settings[setting]) for setting in settings if setting not in ASIDE}
    version = judges.get(metric.judge)
    wording = {JUDGE: f"{metric.judge} ({version.digest[:8]})"} if version else {}
    return MatrixPoint(
        name=name,
        of={**texts, SYSTEM: metric.system, **wording, JUDGED_WITH: metric.model},
        estimate=metric.estimate,
        n_scored=n_scored(metric),
        n_rows=metric.n_rows,
        scale=metric.scale,
        cost=cost,
        target=target,
    )


def _words(setting: RunSetting) -> str:
    """Return a setting so that other content has other words."""
    known = not setting.identity or setting.identity[:8] in setting.words
    return setting.words if known else f"{setting.words} ({setting.identity[:8]})"


def axes_of(points: Sequence[MatrixPoint]) -> dict[str, str]:
    """Return the settings by which these means can be laid out, those that have two values or more: name ->
    what a table calls it.
    """
    names = dict.fromkeys(name for point in points for name in point.of if name not in APART)
    several = [name for name in names if len({point.of[name] for point in points if name in point.of}) > 1]
    axes = sorted(several, key=lambda name: PREFERRED.index(name) if name in PREFERRED else len(PREFERRED))
    return {axis: axis_words(axis) for axis in axes}


def lay_out(points: Sequence[MatrixPoint], axes: Sequence[str] = ()) -> Matrix | None:
    """Return the means by two settings, or by one where only one differs; None where none does.

    axes: down and across, in place of those that tell most; the last word of a name is enough (`model`).
    Raises DataError for a setting in which these means do not differ.
    """
    offered = [*axes_of(points)]
    if not offered and axes:
        raise DataError("These means differ in no known setting, so there is nothing to arrange them by.")
    if not offered:
        return None
    chosen = [_axis(axis, offered) for axis in axes]
    if len(set(chosen)) != len(chosen) or len(chosen) > 2:
        raise DataError("Name at most two different settings: one for the rows, one for the columns.")
    if not chosen:
        pairs = [(down, across) for down in offered for across in offered if down != across]
        chosen = list(next((pair for pair in pairs if _crosses(points, *pair)), offered[:1]))
    elif len(chosen) == 1:
        chosen += [name for name in offered if name != chosen[0] and _crosses(points, chosen[0], name)][:1]
    down, across = chosen[0], chosen[1] if len(chosen) > 1 else None
    groups = _groups(points, offered, (down, across))
    tables = [_table(of, own, down, across) for of, own in groups]
    return Matrix(
        down=down,
        across=across,
        tables=tables[:MOST_TABLES],
        along=[
            name
            for name in offered
            if name not in (down, across) and not _varies_within(points, name, (down, across))
        ],
        n_more=max(0, len(tables) - MOST_TABLES),
    )


def _axis(name: str, offered: Sequence[str]) -> str:
    matches = [axis for axis in offered if name == axis] or [
        axis for axis in offered if axis.rpartition(" ")[2] == name
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise DataError(f"{name!r} may be {' or '.join(map(repr, matches))}. Write one of them.")
    raise DataError(f"These means do not differ in {name!r}, or it is not known. {nearest(name, offered)}")


def _crosses(points: Sequence[MatrixPoint], down: str, across: str) -> bool:
    of = {(point.of.get(down), point.of.get(across)) for point in points}
    return len(of) > max(len({row for row, _ in of}), len({column for _, column in of}))


def _groups(
    points: Sequence[MatrixPoint], offered: Sequence[str], axes: tuple[str, str | None]
) -> list[tuple[dict[str, str], list[MatrixPoint]]]:
    """Return the means that may stand in one table, the largest group first."""
    apart = [name for name in APART if len({point.of.get(name, "") for point in points}) > 1]
    rest = [name for name in offered if name not in axes]
    names = [*apart, *(name for name in rest if _varies_within(points, name, axes))]
    groups: dict[tuple[str, ...], list[MatrixPoint]] = {}
    for point in points:
        groups.setdefault(tuple(point.of.get(name, "not set") for name in names), []).append(point)
    return [
        (dict(zip(names, key, strict=True)), own)
        for key, own in sorted(groups.items(), key=lambda group: -len(group[1]))
    ]


def _varies_within(points: Sequence[MatrixPoint], name: str, axes: tuple[str, str | None]) -> bool:
    """Return whether means of one cell differ in a setting."""
    cells: dict[tuple[str | None, ...], set[str | None]] = {}
    for point in points:
        cells.setdefault(tuple(point.of.get(axis or "") for axis in axes), set()).add(point.of.get(name))
    return any(len(values) > 1 for values in cells.values())


def _table(of: dict[str, str], points: Sequence[MatrixPoint], down: str, across: str | None) -> MatrixTable:
    rows = _values(points, down)
    columns = _values(points, across) if across else [""]
    return MatrixTable(
        of=of,
        rows=rows,
        columns=columns,
        cells=[
            [
                [
                    point
                    for point in points
                    if _value(point, down) == row and (not across or _value(point, across) == column)
                ]
                for column in columns
            ]
            for row in rows
        ],
    )


def _values(points: Sequence[MatrixPoint], name: str) -> list[str]:
    values = dict.fromkeys(_value(point, name) for point in points)
    numeric = all(_is_number(value) for value in values)
    return sorted(values, key=float) if numeric else sorted(values, key=str.casefold)


def _value(point: MatrixPoint, name: str) -> str:
    return point.of.get(name, "not set")


def _is_number(text: str) -> bool:
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def matrix_blocks(matrix: Matrix, judge: str) -> list[Block]:
    """Return the tables, and what has to be known of them. judge: its name in words."""
    title = f"{judge}: {axis_words(matrix.down)}" + (
        f" by {axis_words(matrix.across)}" if matrix.across else ""
    )
    blocks: list[Block] = []
    for table in matrix.tables:
        caption = "; ".join(
            f"{axis_words(name)}: {one_line(value, LONGEST)}" for name, value in table.of.items()
        )
        blocks.append(_drawn(matrix, table, title, caption))
    if matrix.n_more:
        blocks.append(Paragraph(f"{count(matrix.n_more)} smaller tables are not shown.", tone="muted"))
    if len(matrix.tables) > 1:
        blocks.append(
            Paragraph("Means of different tables were not measured alike: do not compare them.", tone="muted")
        )
    if matrix.along:
        names = ", ".join(axis_words(name) for name in matrix.along)
        axes = axis_words(matrix.down) + (f" or {axis_words(matrix.across)}" if matrix.across else "")
        blocks.append(
            Paragraph(
                f"These change along with {axes}, so a difference may be due to them: {names}.", tone="warn"
            )
        )
    return blocks


def axis_words(name: str) -> str:
    """Return a setting without its table: `k` of `[retrieve] k`."""
    return name.rpartition("] ")[2]


def _drawn(matrix: Matrix, table: MatrixTable, title: str, caption: str) -> Table:
    first = Column(axis_words(matrix.down), text=True)
    columns = [first, *(Column(_head(matrix.across, column), beside="interval") for column in table.columns)]
    rows: list[Row] = [
        [one_line(name, LONGEST), *(_cell(points) for points in cells)]
        for name, cells in zip(table.rows, table.cells, strict=True)
    ]
    return Table(columns, rows, title, caption, kind="heat matrix")


def _head(across: str | None, value: str) -> str:
    """Return the head of a column; a number alone would not say of what."""
    if across is None:
        return "mean"
    return f"{axis_words(across)} {value}" if _is_number(value) else one_line(value, LONGEST)


def _cell(points: Sequence[MatrixPoint]) -> Cell | str:
    """Return the means of a cell, each the link to its rows where there is a page of them."""
    if not points:
        return ""
    means = [number(point.estimate.value) if point.estimate else "no score" for point in points]
    links = tuple(
        Link(mean, point.target, point.name)
        for mean, point in zip(means, points, strict=True)
        if point.target
    )
    beside = " / ".join(map(_beside, points))
    return Cell("" if links else " / ".join(means), beside, heat=_heat(points), links=links)


def _beside(point: MatrixPoint) -> str:
    ends = interval(point.estimate) if point.estimate else ""
    scored = (
        "" if point.n_scored == point.n_rows else f"{count(point.n_scored)} of {count(point.n_rows)} scored"
    )
    return ", ".join(part for part in (ends, scored, point.cost) if part)


def _heat(points: Sequence[MatrixPoint]) -> int | None:
    """Return the shade of a mean on its scale, 0 to 5; None where several means or no scale is known."""
    (point, *others) = points
    if others or point.scale is None or point.estimate is None:
        return None
    low, high = point.scale
    return min(SHADES - 1, max(0, int((point.estimate.value - low) / (high - low) * SHADES)))


def is_crossed(matrix: Matrix) -> bool:
    """Return whether some row has two columns, and some column two rows: a grid, not a list."""
    return any(
        any(sum(bool(cell) for cell in row) > 1 for row in table.cells)
        and any(sum(bool(cell) for cell in column) > 1 for column in zip(*table.cells, strict=True))
        for table in matrix.tables
    )
