"""A bench of answerers: what bench.json holds, and its report."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.bench.answerers.standing_words import (
    CONDITIONS,
    HEADS,
    bests,
    by_condition,
    columns,
    contrast_told,
    contrasts_by_kind,
    cost_each,
    failures,
    kinds_told,
    measure_told,
    missing_told,
    ordered_by,
    percent,
    percent_interval,
    race_blocks,
    roles_told,
    short_of_best,
    tag_measures,
    tag_name,
    time_told,
    tokens_each,
    usd_for_1000,
    without_score,
)
from ragstone.features.bench.answerers.values import (
    AnswerBoard,
    AnswerPlace,
    AnswerStanding,
    Quantiles,
    RaceReport,
    TagGroup,
    TagTable,
)
from ragstone.features.bench.judges.words import BENCH, NOT_EQUAL
from ragstone.features.bench.retrievers.words import not_measured, verdict
from ragstone.kernel.config import Condition
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Dots,
    Drawing,
    Fold,
    Heading,
    Listing,
    Made,
    Notes,
    Pairs,
    Paragraph,
    ReportDocument,
    SurfacePart,
    Table,
    dot,
    estimated,
    table_of,
)
from ragstone.kernel.document.numbers import count, counted, interval, number, seconds, usd
from ragstone.kernel.document.scatter import (
    Point,
    ScatterChart,
    decade_s,
    decade_usd,
    draw_scatter,
    draw_shares,
    point,
)
from ragstone.kernel.llm.budget import sum_usd
from ragstone.kernel.runs.summary import Calls, read_numbers
from ragstone.kernel.runs.wording import asked_line, listed, plural
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.shown import Displayed

BRIEF = {"answered": "answered", "answered × faithful": "× faithful", "refused": "refused"}
SHORT = {"correctness": "correct", "answered × faithful": "a × f"}
MOST_CONTRASTS = 4  # of one kind where there is little room
SHARES = (
    "Answered and unanswered: shares of the answerable questions. Faithful and relevant: shares of those "
    "that were answered. Answered × faithful, answered × relevant: shares of all answerable questions. "
    "Refused: share of the unanswerable questions."
)


class AnswerBenchSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """A bench of answerers in numbers.

    models: name -> model, as the ledger knows it. retriever, k, n_distractors: what the conditions are made
    with. race: how it went, where questions were given out as one. list_prices: as in Calls. notes: what a
    reader must know before trusting the numbers. calls: of the run that returned this, None as bench.json
    has it, which is the same whoever answered the calls.
    """

    name: str
    version: str
    counts: dict[str, int]
    models: dict[str, str]
    retriever: str
    k: int
    n_distractors: int
    board: AnswerBoard
    race: RaceReport | None = None
    list_prices: dict[str, str]
    notes: list[str]
    calls: Calls | None = None


def read_answer_bench(folder: Path) -> AnswerBenchSummary:
    """Return what bench.json of a folder holds. Raises DataError, saying what to do."""
    return read_numbers(folder / BENCH, AnswerBenchSummary, "bench of answerers", "ragstone bench answerers")


def answer_bench_document(summary: AnswerBenchSummary) -> ReportDocument:
    """Return the report of a bench: the result, cells by condition, what conditions tell, and prices."""
    board = summary.board
    return ReportDocument(
        title=summary.name,
        kind="bench of answerers",
        about=f"{measure_told(board)} · {counted(summary.counts)} · {plural(len(board.standings), 'cell')}",
        version=summary.version,
        blocks=[
            *(
                Paragraph(said, tone="outcome" if at == 0 else "strong")
                for at, said in enumerate(bests(board))
            ),
            *(Paragraph(said, where="page") for said in kinds_told(board)),
            Paragraph(ordered_by(board), tone="muted"),
            *(race_blocks(summary.race) if summary.race else []),
            Notes(summary.notes),
            Heading("Leaderboard", anchor="board"),
            *_standings(board),
            *_legend(summary),
            *_conditions(board),
            SurfacePart([*_shares(board), *_prices(board)], where="page"),
            *(SurfacePart(_by_tag(board, table), where="page") for table in board.by_tag),
            _dots(board),
        ],
        skip=("board", "leaderboard"),
        made=[*summary.models.items(), ("asked", totals(summary))],
        source=BENCH,
        last=asked_line(summary.calls) if summary.calls else "",
    )


PLACES: tuple[Made[AnswerStanding], ...] = (
    ("#", lambda row: str(row.place)),
    (
        Column("Cell", text=True, short=""),
        lambda row: Cell(row.cell.label, "system" if row.cell.is_system else ""),
    ),
)


def _table(
    board: AnswerBoard, label: str, columns: Sequence[Made[AnswerStanding]], caption: str = ""
) -> Table:
    """Return a row for each cell, headed by its condition where the cell's name does not say it."""
    groups = by_condition(board)
    headed = {name for name, rows in groups if any(row.cell.label != name for row in rows)}

    def group(row: AnswerStanding) -> str:
        return row.cell.condition if row.cell.condition in headed else ""

    rows = [row for _, rows in groups for row in rows]
    return table_of(label, rows, [*PLACES, *columns], caption=caption, kind="wide cells", group=group)


def _standings(board: AnswerBoard) -> list[Block]:
    def share(name: str) -> Made[AnswerStanding]:
        column = Column(BRIEF[name], where="terminal")
        return column, lambda row: percent(row.measures[name].value) if name in row.measures else ""

    def scored(row: AnswerStanding) -> str:
        return f"{count(row.score.n) if row.score else 0} of {count(row.n_questions)}"

    short = SHORT.get(board.measure, board.measure)
    lead = Column(measure_told(board), short=short, beside="interval", ends=board.scale)
    columns_: list[Made[AnswerStanding]] = [
        (Column("Verdict", text=True, short=""), lambda row: _verdict(row.verdict)),
        (lead, lambda row: estimated(row.score.mean, "strong") if row.score else "none"),
        (Column("Below the best by", where="page"), short_of_best),
        (Column("Scored", where="page"), scored),
        (Column("Without a score", text=True, where="page"), lambda row: without_score(row) or "none"),
        *(share(name) for name in BRIEF if name in columns(board)),
        (Column("USD/1000", where="terminal"), lambda row: usd_for_1000(row.spent)),
        (Column("time", where="terminal"), lambda row: time_told(row.seconds)),
    ]
    lost = [f"{row.cell.name}: without a score: {told}" for row in board.standings if (told := failures(row))]
    return [
        _table(board, "Cells by place", columns_),
        *(Paragraph(told, tone="warn", where="terminal") for told in lost),
        Paragraph(roles_told(board), tone="muted"),
    ]


def _verdict(place: AnswerPlace) -> Cell:
    if place == "alone":
        return Cell("")
    return Cell(place, tone="muted") if place == "too few scores" or place == "stopped" else verdict(place)


def _legend(summary: AnswerBenchSummary) -> list[Block]:
    """Return what each condition gives, and what was not measured."""
    board, rows = summary.board, []
    for condition, _ in by_condition(board):
        missing = missing_told(condition, board)
        rows.append((condition, condition_told(condition, summary) + (f"; {missing}" if missing else "")))
    failed = {one.name: one.reason for one in board.failed}
    return [Heading("What the model is given", level=3), Pairs(rows), *not_measured(failed)]


def _conditions(board: AnswerBoard) -> list[Block]:
    if not board.contrasts:
        return []
    blocks: list[Block] = [Heading("What the conditions tell", anchor="conditions", where="page")]
    for question, rows in contrasts_by_kind(board).items():
        told = [f"{contrast_told(one)} ({plural(one.test.n, 'question')})" for one in rows]
        blocks += [Heading(question, level=3), Listing(told, most=MOST_CONTRASTS)]
    return [*blocks, Paragraph(NOT_EQUAL, tone="muted", where="page")]


def _shares(board: AnswerBoard) -> list[Block]:
    names = columns(board)
    table = _table(board, "Shares of answers", [_share(name, lambda row: row.measures) for name in names])
    if not names:
        return []
    return [Heading("Answers and refusals", anchor="answers"), Paragraph(SHARES, tone="lead"), table]


def _share(
    name: str, of: Callable[[AnswerStanding], Mapping[str, Estimate]], head: str = ""
) -> Made[AnswerStanding]:
    """Return the column of a share, with its denominator and interval; of scores in their own unit."""

    def cell(row: AnswerStanding) -> Cell:
        found = of(row).get(name)
        if found is None:
            return Cell("")
        value, ends = (number(found.value), interval(found)) if name == "score" else _percents(found)
        return Cell(value, f"of {count(found.n)}, {ends}", "strong")

    return head or HEADS.get(name, name), cell


def _percents(found: Estimate) -> tuple[str, str]:
    return percent(found.value), percent_interval(found)


def _prices(board: AnswerBoard) -> list[Block]:
    measure, table = board.measure.capitalize(), "the table below has the same numbers"
    priced = priced_condition(board)
    cost = draw_price(board, lambda row: row.spent.usd_each, decade_usd, "0 USD")
    time = draw_price(board, lambda row: row.seconds.p50 if row.seconds else None, decade_s, "0 s")
    drawn = [
        (
            "Faithful, against unanswered: all conditions with passages",
            draw_trade(board),
            "Share of answers that is faithful against the share of questions left unanswered",
            "questions left unanswered",
        ),
        (
            f"{measure} under {priced}, against cost",
            cost,
            f"{measure} against the cost of a thousand answers",
            "cost of 1,000 answers",
        ),
        (
            f"{measure} under {priced}, against time",
            time,
            f"{measure} against the median time of an answer",
            "median time of an answer",
        ),
    ]
    charts: list[Block] = [
        Drawing(caption=caption, chart=chart, label=f"{label}; {table}", below=below)
        for caption, chart, label, below in drawn
        if chart
    ]
    lead = (
        "Numbers are ranks on the leaderboard. Upwards: the mean with its interval. The tables have the "
        "same numbers."
    )
    said = (
        "As recorded in the ledger, for the answers only. For failed answers, tokens are included, but "
        "neither time nor cost."
    )
    return [
        Heading("Trade-offs", anchor="trade"),
        Paragraph(lead, tone="lead"),
        SurfacePart(charts, kind="charts"),
        _took(board),
        Paragraph(said, tone="muted"),
        *_quantiles(board),
    ]


def _took(board: AnswerBoard) -> Table:
    columns: list[Made[AnswerStanding]] = [
        (board.measure, lambda row: number(row.score.mean.value) if row.score else "none"),
        ("Cost", lambda row: cost_each(row.spent)),
        ("Median time", lambda row: time_told(row.seconds)),
        ("Tokens of an answer", lambda row: tokens_each(row.spent)),
        ("Calls", lambda row: count(row.spent.n_calls)),
        ("Failed", lambda row: count(row.spent.n_failed)),
    ]
    return _table(board, "Time and cost of the answers", columns, caption="Time and cost of the answers")


def _quantiles(board: AnswerBoard) -> list[Block]:
    scores = _spread(lambda row: row.score, number)
    times = _spread(lambda row: row.seconds, seconds)
    measure = measure_told(board)
    return [
        Heading("How scores and times are distributed", anchor="spread"),
        _table(board, measure, scores, caption=measure.capitalize()),
        _table(board, "time of an answer", times, caption="Time of an answer"),
    ]


def _spread(
    of: Callable[[AnswerStanding], Quantiles | None], told: Callable[[float], str]
) -> list[Made[AnswerStanding]]:
    def value(place: Callable[[Quantiles], float]) -> Callable[[AnswerStanding], str]:
        return lambda row: told(place(found)) if (found := of(row)) else ""

    def mean(row: AnswerStanding) -> Cell:
        found = of(row)
        if found is None:
            return Cell("")
        low, high = found.mean.low, found.mean.high
        ends = "" if low is None or high is None else f"{told(low)} to {told(high)}"
        return Cell(told(found.mean.value), ends)

    return [
        ("Count", lambda row: count(found.n) if (found := of(row)) else "0"),
        ("Min", value(lambda found: found.least)),
        ("Mean", mean),
        ("p50", value(lambda found: found.p50)),
        ("p90", value(lambda found: found.p90)),
        ("p95", value(lambda found: found.p95)),
        ("Max", value(lambda found: found.most)),
    ]


def _by_tag(board: AnswerBoard, table: TagTable) -> list[Block]:
    """Return the scores by the values of a tag, and in a fold the other measures."""
    name = tag_name(table)
    without = f"{plural(table.n_without, 'question')} without it." if table.n_without else ""
    others = [_tag_table(board, table, each, HEADS.get(each, each)) for each in tag_measures(table)]
    return [
        Heading(f"By {name}", anchor=f"by-{board.by_tag.index(table)}"),
        *([Paragraph(without, tone="muted")] if without else []),
        _tag_table(board, table, "score", measure_told(board)),
        *([Fold("Answered, faithful, relevant", others)] if others else []),
    ]


def _tag_table(board: AnswerBoard, table: TagTable, measure: str, told: str) -> Table:
    def column(group: TagGroup) -> Made[AnswerStanding]:
        return _share(measure, lambda row: group.cells[row.cell.name], _group_head(group))

    return _table(board, f"{told} by {tag_name(table)}", [*map(column, table.groups)], caption=told)


def _group_head(group: TagGroup) -> str:
    name = group.value if group.value is not None else f"{plural(group.n_values, 'small group')} together"
    return f"{name}, {plural(group.n_questions, 'question')}"


def _dots(board: AnswerBoard) -> Dots:
    """Return the score of each cell, coloured by the condition that it answered under."""
    dots = [
        dot(f"{row.cell.model}, {row.cell.prompt}", row.score.mean, row.cell.condition)
        for row in board.standings
        if row.score
    ]
    return Dots(title=board.measure, dots=dots, ends=board.scale)


def draw_trade(board: AnswerBoard) -> ScatterChart | None:
    """Return how faithful answers are against how many questions are left unanswered; None without both."""
    points = [
        _point(row, row.measures["unanswered"].value, row.measures["faithful"])
        for row in board.standings
        if {"unanswered", "faithful"} <= row.measures.keys()
    ]
    return draw_shares(points) if points else None


def priced_condition(board: AnswerBoard) -> Condition:
    """Return the condition whose scores are drawn against prices: that of an application, if it is there."""
    there = [row.cell.condition for row in board.standings]
    return "retrieved" if "retrieved" in there else there[0]


def draw_price(
    board: AnswerBoard,
    price: Callable[[AnswerStanding], float | None],
    decade: Callable[[int], str],
    nothing: str,
) -> ScatterChart | None:
    """Return the score against the price of an answer under one condition (see priced_condition).

    Points of all conditions would stand on each other. None unless a price above 0 is known.
    """
    points = [
        _point(row, x, row.score.mean)
        for row in board.standings
        if row.cell.condition == priced_condition(board)
        and row.score is not None
        and (x := price(row)) is not None
    ]
    return draw_scatter(points, decade, nothing) if any(point.x for point in points) else None


def _point(row: AnswerStanding, x: float, estimate: Estimate) -> Point:
    return point(row.place, row.cell.name, row.verdict, x, estimate)


def condition_told(condition: Condition, summary: AnswerBenchSummary) -> str:
    """Return what a model is given under a condition."""
    told = CONDITIONS[condition]
    if condition in ("retrieved", "shuffled"):
        told = told.replace("the retriever brings", f"{summary.retriever} brings ({summary.k})")
    if condition in ("distractors", "gold+distractors"):
        told = told.replace("passages", plural(summary.n_distractors, "passage"))
    if any(row.cell.is_system for row in summary.board.standings) and condition == "retrieved":
        told += "; systems as they are"
    return told


def totals(summary: AnswerBenchSummary) -> str:
    """Return the calls and tokens of all answers, and what they cost."""
    spent = [row.spent for row in summary.board.standings]
    total = sum_usd(one.cost_usd for one in spent)
    cost = "cost unknown: one model has no price" if total is None else usd(total)
    return (
        f"{plural(sum(one.n_calls for one in spent), 'call')} for answers, "
        f"{count(sum(one.input for one in spent))} tokens in, {count(sum(one.output for one in spent))} out, "
        f"{cost}{listed(summary.list_prices)}; judges not included"
    )
