"""A bench of answerers: what bench.json holds, and its report."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.bench._plots import board_plot, price_plots
from ragstone.features.bench._words import (
    NOT_EQUAL,
    PLACE,
    asked_text,
    bench_report,
    measures_in,
    named,
    not_measured,
    verdict,
)
from ragstone.features.bench.answerers._basis import basis_text
from ragstone.features.bench.answerers._sentences import (
    CONDITIONS,
    HEADS,
    MEASURES,
    bests,
    by_condition,
    columns,
    contrast_text,
    contrasts_by_kind,
    kinds_text,
    measure_text,
    ordered_by,
    race_blocks,
    role_text,
    without_score,
)
from ragstone.features.bench.answerers._values import (
    AnswerBoard,
    AnswerStanding,
    Quantiles,
    RaceReport,
    TagGroup,
    TagTable,
)
from ragstone.features.bench.judges.words import BENCH
from ragstone.kernel.config import Condition
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
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
    estimated,
    table_of,
)
from ragstone.kernel.document.charts import dot
from ragstone.kernel.document.numbers import (
    count,
    counted,
    interval,
    number,
    percent,
    percent_ends,
    seconds,
    size_with_ends,
    usd,
)
from ragstone.kernel.document.plots.values import Frontier
from ragstone.kernel.errors import plural
from ragstone.kernel.llm.budget import sum_usd
from ragstone.kernel.runs.order_plots import rank_plot
from ragstone.kernel.runs.summary import Calls, read_numbers
from ragstone.kernel.runs.wording import listed
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
    # The score of each cell, coloured by the condition that it answered under.
    dots = [
        dot(f"{row.cell.model}, {row.cell.prompt}", row.score.mean, row.cell.condition)
        for row in board.standings
        if row.score
    ]
    return bench_report(
        summary,
        "bench of answerers",
        f"{measure_text(board)} · {counted(summary.counts)} · {plural(len(board.standings), 'cell')}",
        [
            *(
                Paragraph(sentence, tone="outcome" if at == 0 else "strong", part="answer")
                for at, sentence in enumerate(bests(board))
            ),
            *(Paragraph(sentence, where="page") for sentence in kinds_text(board)),
            Paragraph(ordered_by(board), tone="muted"),
            *([Paragraph(basis, part="caution")] if (basis := basis_text(board)) else []),
            *(race_blocks(summary.race) if summary.race else []),
            Notes(summary.notes),
            Heading("Leaderboard", anchor="board"),
            *_standings(board),
            *_legend(summary),
            *_conditions(board),
            SurfacePart([*_shares(board), *_prices(board)], where="page"),
            *(SurfacePart(_by_tag(board, table), where="page") for table in board.by_tag),
            *board_plot(board.measure, dots, f"{measure_text(board)}, with the 95 % interval", board.scale),
            *_ranks(board),
        ],
        source=BENCH,
        made=[("asked", totals(summary))],
    )


PLACES: tuple[Made[AnswerStanding], ...] = (
    PLACE,
    named("Cell", lambda row: Cell(row.cell.label, "system" if row.cell.is_system else "")),
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
    verdicts = {condition: [row.verdict for row in rows] for condition, rows in by_condition(board)}

    def verdict_of(row: AnswerStanding) -> Cell:
        if row.verdict == "alone":
            return Cell("")
        if row.verdict == "too few scores" or row.verdict == "stopped" or row.verdict == "no labels":
            return Cell(row.verdict, tone="muted")
        return verdict(row.verdict, verdicts[row.cell.condition])

    def share(name: str) -> Made[AnswerStanding]:
        column = Column(BRIEF[name], where="terminal")
        return column, lambda row: percent(row.measures[name].value) if name in row.measures else ""

    def scored(row: AnswerStanding) -> str:
        return f"{count(row.score.n) if row.score else 0} of {count(row.n_questions)}"

    def price(row: AnswerStanding) -> str:
        return "?" if row.spent.usd_each is None else f"{1000 * row.spent.usd_each:.2f}"

    short = SHORT.get(board.measure, board.measure)
    lead = Column(measure_text(board), short=short, beside="interval", ends=board.scale)
    columns_: list[Made[AnswerStanding]] = [
        named("Verdict", verdict_of),
        (lead, lambda row: estimated(row.score.mean, "strong") if row.score else "none"),
        *_differences(by_labels=bool(board.labels and board.labels.conditions)),
        (Column("Scored", where="page"), scored),
        (Column("Without a score", text=True, where="page"), lambda row: without_score(row) or "none"),
        *(share(name) for name in BRIEF if name in columns(board)),
        (Column("USD/1000", where="terminal", rare=True), price),
        (Column("time", where="terminal", rare=True), median_time),
    ]
    lost = [
        f"{row.cell.name}: without a score: {failures}"
        for row in board.standings
        if (failures := without_score(row, besides="not_applicable"))
    ]
    roles = [f"{role.role.capitalize()}: {role_text(role)}" for role in board.roles]
    return [
        _table(board, "Cells by place", columns_),
        *(Paragraph(line, tone="warn", where="terminal") for line in lost),
        Paragraph(". ".join(roles) + ".", tone="muted"),
    ]


def _differences(*, by_labels: bool) -> list[Made[AnswerStanding]]:
    """Return how far each cell is below the best; by labels also what people would give, and the judge."""

    def of_test(row: AnswerStanding, name: str) -> str:
        gap = getattr(row.comparison, name) if row.comparison else None
        return size_with_ends(gap.value, gap.low, gap.high) if gap else ""

    def below(row: AnswerStanding) -> str:
        unlabelled = row.comparison and row.comparison.n_labelled == 0
        return "no labels of both" if unlabelled else of_test(row, "difference")

    def labelled(row: AnswerStanding) -> str:
        return count(row.comparison.n_labelled or 0) if row.comparison else ""

    columns: list[Made[AnswerStanding]] = [(Column("Below the best by", where="page"), below)]
    if not by_labels:
        return columns
    gives = Column("People would give", short="people", beside="interval")
    return [
        (gives, lambda row: estimated(row.people, "strong")),
        *columns,
        (Column("According to the judge", where="page"), lambda row: of_test(row, "judged")),
        (Column("Labelled pairs", where="page"), labelled),
    ]


def _legend(summary: AnswerBenchSummary) -> list[Block]:
    """Return what each condition gives, and what was not measured."""
    board, rows = summary.board, []
    for condition, _ in by_condition(board):
        text = condition_text(condition, summary)
        if missing := board.missing.get(condition):
            n_asked = board.n_questions - sum(missing.values())
            reasons = ", ".join(f"{count(n)} {reason}" for reason, n in missing.items())
            text += f"; asked {plural(n_asked, 'question')}; left out: {reasons}"
        rows.append((condition, text))
    return [Heading("What the model is given", level=3), Pairs(rows), *not_measured(board.failed)]


def _conditions(board: AnswerBoard) -> list[Block]:
    if not board.contrasts:
        return []
    blocks: list[Block] = [Heading("What the conditions tell", anchor="conditions", where="page")]
    for question, rows in contrasts_by_kind(board).items():
        lines = [f"{contrast_text(contrast)} ({plural(contrast.test.n, 'question')})" for contrast in rows]
        blocks += [Heading(question, level=3), Listing(lines, most=MOST_CONTRASTS)]
    return [*blocks, Paragraph(NOT_EQUAL, tone="muted", where="page")]


def _shares(board: AnswerBoard) -> list[Block]:
    names = columns(board)
    if not names:
        return []
    table = _table(board, "Shares of answers", [_share(name, lambda row: row.measures) for name in names])
    return [Heading("Answers and refusals", anchor="answers"), Paragraph(SHARES, tone="lead"), table]


def _share(
    name: str, of: Callable[[AnswerStanding], Mapping[str, Estimate]], head: str = ""
) -> Made[AnswerStanding]:
    """Return the column of a share, with its denominator and interval; of scores in their own unit."""

    def cell(row: AnswerStanding) -> Cell:
        estimate = of(row).get(name)
        if estimate is None:
            return Cell("")
        if name == "score":
            value, ends = number(estimate.value), interval(estimate)
        else:
            value, ends = percent(estimate.value), percent_ends(estimate)
        return Cell(value, f"of {count(estimate.n)}, {ends}", "strong")

    return head or HEADS.get(name, name), cell


def _ranks(board: AnswerBoard) -> list[Block]:
    """Return how the order within each condition depends on the questions; nothing of a race.

    A race gives no more questions to those that fall behind, and of a condition that people's labels order
    the judge's scores are not the order.
    """
    if board.ranks is msgspec.UNSET or any(row.verdict == "stopped" for row in board.standings):
        return []
    by_labels = board.labels.conditions if board.labels else []
    blocks: list[Block] = []
    for at, (condition, ranks) in enumerate(board.ranks.items()):
        if condition not in by_labels:
            plot = rank_plot(ranks, f"ranks-{at}", "Cell", "the answers and the judge")
            title = f"{plot.title}: {condition}" if len(board.ranks) > 1 else plot.title
            blocks.append(msgspec.structs.replace(plot, title=title))
    return blocks


def _trade_offs(board: AnswerBoard) -> list[Block]:
    """Return what is faithful against what is left unanswered, and the score against cost and time."""
    measure, priced = board.measure.capitalize(), priced_condition(board)
    under = [(row, row.score.mean) for row in board.standings if row.cell.condition == priced and row.score]
    costs = Frontier(
        points=[], unit="usd", across="cost of 1,000 answers", upwards=board.measure, nothing="0 USD"
    )
    times = msgspec.structs.replace(costs, unit="seconds", across="median time of an answer", nothing="0 s")
    return [
        *price_plots(
            (
                (row.place, row.cell.name, row.measures["unanswered"].value, row.measures["faithful"])
                for row in board.standings
                if {"unanswered", "faithful"} <= row.measures.keys()
            ),
            "trade-unanswered",
            "Faithful, against unanswered: all conditions with passages",
            Frontier(
                points=[],
                unit="share",
                across="questions left unanswered",
                upwards="share of answers that is faithful",
                has_frontier=False,  # conditions are no alternatives of each other
            ),
        ),
        *price_plots(
            ((row.place, row.cell.name, row.spent.usd_each, mean) for row, mean in under),
            "trade-cost",
            f"{measure} under {priced}, against cost",
            costs,
        ),
        *price_plots(
            (
                (row.place, row.cell.name, row.seconds.p50 if row.seconds else None, mean)
                for row, mean in under
            ),
            "trade-time",
            f"{measure} under {priced}, against time",
            times,
        ),
    ]


def _prices(board: AnswerBoard) -> list[Block]:
    lead = (
        "Numbers are rows of the leaderboard. Vertical: the mean with its interval. The tables have the "
        "same numbers."
    )
    basis = (
        "As recorded in the ledger, for the answers only. For failed answers, tokens are included, but "
        "neither time nor cost."
    )
    caption = "Time and cost of the answers"

    def cost(row: AnswerStanding) -> str:
        each = row.spent.usd_each
        return "unknown" if each is None else f"{usd(1000 * each)} for 1,000"

    def tokens(row: AnswerStanding) -> str:
        n = row.spent.n_answers
        return f"{count(round(row.spent.input / n))} in, {count(round(row.spent.output / n))} out"

    columns: list[Made[AnswerStanding]] = [
        (board.measure, lambda row: number(row.score.mean.value) if row.score else "none"),
        ("Cost", cost),
        ("Median time", median_time),
        ("Tokens of an answer", tokens),
        ("Calls", lambda row: count(row.spent.n_calls)),
        ("Failed", lambda row: count(row.spent.n_failed)),
    ]
    scores, times = _spread(lambda row: row.score, number), _spread(lambda row: row.seconds, seconds)
    return [
        Heading("Trade-offs", anchor="trade"),
        Paragraph(lead, tone="lead"),
        SurfacePart(_trade_offs(board), kind="charts"),
        _table(board, caption, columns, caption=caption),
        Paragraph(basis, tone="muted"),
        Heading("How scores and times are distributed", anchor="spread"),
        _table(board, measure_text(board), scores, caption=measure_text(board).capitalize()),
        _table(board, "time of an answer", times, caption="Time of an answer"),
    ]


def median_time(row: AnswerStanding) -> str:
    """Return the median time of an answer; empty where none was timed."""
    return seconds(row.seconds.p50) if row.seconds else ""


def _spread(
    of: Callable[[AnswerStanding], Quantiles | None], text: Callable[[float], str]
) -> list[Made[AnswerStanding]]:
    def value(quantile: Callable[[Quantiles], float]) -> Callable[[AnswerStanding], str]:
        return lambda row: text(quantile(quantiles)) if (quantiles := of(row)) else ""

    def mean(row: AnswerStanding) -> Cell:
        quantiles = of(row)
        if quantiles is None:
            return Cell("")
        low, high = quantiles.mean.low, quantiles.mean.high
        ends = "" if low is None or high is None else f"{text(low)} to {text(high)}"
        return Cell(text(quantiles.mean.value), ends)

    return [
        ("Count", lambda row: count(quantiles.n) if (quantiles := of(row)) else "0"),
        ("Min", value(lambda quantiles: quantiles.least)),
        ("Mean", mean),
        ("p50", value(lambda quantiles: quantiles.p50)),
        ("p90", value(lambda quantiles: quantiles.p90)),
        ("p95", value(lambda quantiles: quantiles.p95)),
        ("Max", value(lambda quantiles: quantiles.most)),
    ]


def _by_tag(board: AnswerBoard, table: TagTable) -> list[Block]:
    """Return the scores by the values of a tag, and in a fold the other measures."""
    name = "language" if table.tag == "lang" else table.tag
    without = f"{plural(table.n_without, 'question')} without it." if table.n_without else ""

    def table_by(measure: str, caption: str) -> Table:
        def column(group: TagGroup) -> Made[AnswerStanding]:
            value = group.value
            if value is None:
                value = f"{plural(group.n_values, 'small group')} together"
            head = f"{value}, {plural(group.n_questions, 'question')}"
            return _share(measure, lambda row: group.cells[row.cell.name], head)

        return _table(board, f"{caption} by {name}", [*map(column, table.groups)], caption=caption)

    means = (means for group in table.groups for means in group.cells.values())
    measures = measures_in([name for name in MEASURES if name != "unanswered"], means)
    others = [table_by(measure, HEADS.get(measure, measure)) for measure in measures]
    return [
        Heading(f"By {name}", anchor=f"by-{board.by_tag.index(table)}"),
        *([Paragraph(without, tone="muted")] if without else []),
        table_by("score", measure_text(board)),
        *([Fold("Answered, faithful, relevant", others)] if others else []),
    ]


def priced_condition(board: AnswerBoard) -> Condition:
    """Return the condition whose scores are drawn against prices: that of an application, if it is there.

    Points of all conditions would stand on each other.
    """
    there = [row.cell.condition for row in board.standings]
    return "retrieved" if "retrieved" in there else there[0]


def condition_text(condition: Condition, summary: AnswerBenchSummary) -> str:
    """Return what a model is given under a condition."""
    text = CONDITIONS[condition]
    if condition in ("retrieved", "shuffled"):
        text = text.replace("the retriever brings", f"{summary.retriever} brings ({summary.k})")
    if condition in ("distractors", "gold+distractors"):
        text = text.replace("passages", plural(summary.n_distractors, "passage"))
    if any(row.cell.is_system for row in summary.board.standings) and condition == "retrieved":
        text += "; systems as they are"
    return text


def totals(summary: AnswerBenchSummary) -> str:
    """Return the calls and tokens of all answers, and what they cost."""
    spent = [row.spent for row in summary.board.standings]
    total = sum_usd(each.cost_usd for each in spent)
    cost = "cost unknown: one model has no price" if total is None else usd(total)
    calls = asked_text(spent, " for answers")
    return f"{calls}, {cost}{listed(summary.list_prices)}; judges not included"
