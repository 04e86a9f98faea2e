"""The measures of batches of questions, of every configuration of a bench -> charts of lines, and a table."""

from collections.abc import Sequence

from ragstone.features.bench.retrievers.values import Leaderboard, Standing
from ragstone.kernel.document.blocks import Block, Chart, Column, Heading, Made, Paragraph, table_of
from ragstone.kernel.document.numbers import count, interval, number
from ragstone.kernel.runs.charts import SHOWN_SYSTEMS, Spec, axis_ends, band_layers
from ragstone.kernel.runs.wording import plural

PAGE = "report.html and --json"
HEIGHT = 240  # pixels
SHOWN_BATCHES, SHOWN_PLACES = 20, 8  # in a terminal


def batch_blocks(board: Leaderboard) -> list[Block]:
    """Return the leading measure of each batch, and the rank score if it is another; none of one batch.

    A chart has a line with a band for each configuration, SHOWN_SYSTEMS in one chart. A terminal has the
    batches below each other and the places of the leaderboard beside each other.
    """
    names = list(board.standings[0].batches)
    if not names:
        return []
    lead = board.measure
    best = [name for name in names if _is_highest(board, name)]
    said = (
        f"{lead} of {count(len(names))} batches, in the order of the file; a name is "
        f"OFFSET_COUNT. {board.standings[0].configuration.name} is highest, or as high as any, in "
        f"{count(len(best))} of {count(len(names))}."
    )
    rank_score = f"rank_score@{board.ks[0]}"
    charts = [
        _chart(measure, board.standings[start : start + SHOWN_SYSTEMS], names, f"batches-{at}-{start}")
        for at, measure in enumerate(dict.fromkeys((lead, rank_score)))
        if any(measure in one.measures for one in board.standings[0].batches.values())
        for start in range(0, len(board.standings), SHOWN_SYSTEMS)
    ]
    return [
        Heading("By batches of questions", anchor="batches"),
        Paragraph(said),
        *_table(board, names),
        *charts,
    ]


def _is_highest(board: Leaderboard, batch: str) -> bool:
    values = [
        found.measures[board.measure].value
        for row in board.standings
        if (found := row.batches.get(batch)) and board.measure in found.measures
    ]
    first = board.standings[0].batches[batch].measures.get(board.measure)
    return first is not None and first.value >= max(values)


def _table(board: Leaderboard, names: Sequence[str]) -> list[Block]:
    """Return what a terminal shows: batches x places of the leaderboard, the first of both."""
    first = board.standings[0]

    def value_of(row: Standing) -> Made[str]:
        def cell(name: str) -> str:
            found = row.batches.get(name)
            estimate = found.measures.get(board.measure) if found else None
            return number(estimate.value) if estimate else ""

        return f"#{row.place}", cell

    columns: list[Made[str]] = [
        (Column("Batch", text=True), lambda name: name),
        ("n", lambda name: count(first.batches[name].n_questions)),
        *map(value_of, board.standings[:SHOWN_PLACES]),
    ]
    told = (
        f"#1 is the first place of the leaderboard. Intervals, and what is not shown here, stand in {PAGE}."
    )
    table = table_of("Batches", names[:SHOWN_BATCHES], columns, where="terminal")
    return [table, Paragraph(told, tone="muted", where="terminal")]


def _chart(measure: str, rows: Sequence[Standing], names: Sequence[str], name: str) -> Chart:
    values: list[Spec] = []
    cells: list[list[str]] = []
    for at, batch in enumerate(names, 1):
        for row in rows:
            found = row.batches.get(batch)
            estimate = found.measures.get(measure) if found else None
            if estimate is None:
                continue
            line = f"{row.place} {row.configuration.name}"
            ends = {"l": estimate.low, "h": estimate.high}
            values.append({"at": at, "batch": batch, "j": line, "m": estimate.value, **ends, "n": estimate.n})
            cells.append([batch, line, number(estimate.value), interval(estimate), count(estimate.n)])
    by_line: Spec = {"field": "j", "type": "nominal", "sort": None, "legend": {"title": None}}
    across: Spec = {
        "field": "at",
        "type": "quantitative",
        "scale": {"domain": [1, len(names)], "nice": False},
        "axis": {"title": "batch, in the order of the file", "grid": False, "tickMinStep": 1, "format": "d"},
    }
    shown = [one[end] for one in values for end in ("m", "l", "h") if one[end] is not None]
    up: Spec = {"type": "quantitative", "scale": {"domain": axis_ends(shown or (0.0, 1.0))}, "title": measure}
    several = len(rows) > 1
    spec: Spec = {
        "data": {"values": values},
        "height": HEIGHT,
        "encoding": {"x": across, **({"color": by_line} if several else {})},
        "layer": band_layers(up, _tooltip(), size=40, shape={"shape": by_line} if several else {}),
    }
    return Chart(
        name=name,
        title=f"{measure} by batches of questions, places {rows[0].place} to {rows[-1].place}",
        said=f"{measure} of {plural(len(rows), 'configuration')} in {len(names)} batches, with intervals.",
        spec=spec,
        head=["Batch", "Configuration", "Mean", "Interval", "n"],
        rows=cells,
    )


def _tooltip() -> list[Spec]:
    told: list[Spec] = [{"field": one, "type": "nominal"} for one in ("batch", "j")]
    ends = (("m", "mean"), ("l", "low"), ("h", "high"))
    told += [{"field": one, "type": "quantitative", "format": ".3~f", "title": title} for one, title in ends]
    return [*told, {"field": "n", "type": "quantitative", "title": "questions"}]
