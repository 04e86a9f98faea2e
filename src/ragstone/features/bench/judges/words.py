"""A bench of judges: what bench.json holds, and its report."""

from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path

import msgspec

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench._detection import AT_THRESHOLD, DETECTION
from ragstone.features.bench._plots import board_plot, price_plots
from ragstone.features.bench._words import (
    NOT_EQUAL,
    PLACE,
    asked_text,
    bench_report,
    family_text,
    means,
    measures_in,
    named,
    not_measured,
    size,
    verdict,
)
from ragstone.features.bench.judges._order_words import order_blocks
from ragstone.features.bench.judges.values import (
    Aside,
    CellComparison,
    CheaperWithExamples,
    JudgeBoard,
    JudgeChoice,
    JudgeContrast,
    JudgeStanding,
    Price,
    SpreadOfRuns,
    WorthAsking,
)
from ragstone.features.bench.suite.cards import SuiteCard
from ragstone.kernel.agreement.card import BEYOND_CHANCE, chance_corrected
from ragstone.kernel.decimals import decimal
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Heading,
    Listing,
    Made,
    Notes,
    Paragraph,
    ReportDocument,
    SurfacePart,
    estimated,
    table_of,
)
from ragstone.kernel.document.charts import dot
from ragstone.kernel.document.numbers import (
    count,
    counted,
    number,
    seconds,
    signed_with_ends,
    usd,
    value_range,
    with_ends,
)
from ragstone.kernel.document.plots.values import Frontier
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.tuned import made_with
from ragstone.kernel.llm.budget import sum_usd
from ragstone.kernel.records import NO_MODEL
from ragstone.kernel.runs.summary import Calls, read_numbers
from ragstone.kernel.runs.wording import listed, statuses, with_left_out
from ragstone.kernel.statistics import Estimate, is_same_mean
from ragstone.kernel.tables.shown import Displayed

BENCH = "bench.json"
# The columns of the leaderboard after its own measure, those that any cell has.
COLUMNS = (
    "exact agreement",
    "difference",
    "within one",
    "quadratic kappa",
    "kappa",
    "ROC AUC",
    *DETECTION,
    "Spearman",
    "signed error",
    "calibration error",
    "Brier score",
)
SHOWN_COLUMNS = ("quadratic kappa", "kappa", "Spearman", "signed error")  # where there is little room, two
SHORT = {
    DETECTION[0]: "F1",
    "quadratic kappa": "q. kappa",
    "signed error": "signed",
    "exact agreement": "exact",
}
MOST_ANSWERS = 15  # to one question; a page has all
NOTHING = "none"  # the price of a judge that calls no model


class JudgeBenchSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """A bench of judges in numbers.

    counts: rows of each kind. models: name -> model, as the ledger knows it. choice: the recommendation;
    None if no cell has a place. repeats: how often each cell that asks a model was judged. list_prices: as
    in Calls. notes: what a reader must know before trusting the numbers. calls: of the run that returned
    this, None as bench.json has it, which is the same whoever answered the calls.
    """

    name: str
    version: str
    counts: dict[str, int]
    models: dict[str, str]
    board: JudgeBoard
    choice: JudgeChoice | None
    repeats: int
    list_prices: dict[str, str]
    notes: list[str]
    calls: Calls | None = None


def read_judge_bench(folder: Path) -> JudgeBenchSummary:
    """Return what bench.json of a folder holds. Raises DataError, saying what to do."""
    return read_numbers(folder / BENCH, JudgeBenchSummary, "bench of judges", "ragstone bench judges")


def judge_bench_document(summary: JudgeBenchSummary) -> ReportDocument:
    """Return the report of a bench: what to take, the cells in order, what the grid answers, and prices."""
    board = summary.board
    first, *others = recommendation(summary)
    dots = [dot(row.cell.name, row.value, row.verdict) for row in board.standings]
    return bench_report(
        summary,
        "bench of judges",
        f"{board.metric} · {counted(summary.counts)} · {plural(len(board.standings), 'cell')}",
        [
            Paragraph(first, tone="outcome"),
            *(Paragraph(sentence, tone="strong", part="answer") for sentence in others),
            Paragraph(ordered_by(board), tone="muted"),
            Notes([*summary.notes, *board.notes]),
            Heading("Leaderboard", anchor="board"),
            *_standings(board),
            *_apart(board),
            *(_answers(summary.choice) if summary.choice else []),
            *order_blocks(board, summary.choice),
            SurfacePart(_prices(board), where="page"),
            *_repeats(summary),
            *board_plot(
                board.measure,
                dots,
                f"{measure_name(board)}, with the 95 % interval",
                is_low_best=bool(direction(board)),
            ),
        ],
        source=BENCH,
        made=[("asked", totals(summary))],
    )


PLACES: tuple[Made[JudgeStanding], ...] = (
    PLACE,
    named(
        "Judge and model", lambda row: Cell(row.cell.name, "no model" if row.cell.model == NO_MODEL else "")
    ),
)


def _standings(board: JudgeBoard) -> list[Block]:
    """Return the leaderboard, and all measures of agreement."""
    names = columns(board)
    beyond = [name for name in BEYOND_CHANCE if name in names][: board.measure == "exact agreement"]
    brief = [] if beyond else [name for name in SHOWN_COLUMNS if name in names][:2]
    if DETECTION[0] in names:  # what others print of judges of support
        brief = [*brief[:1], *(name for name in ("ROC AUC", DETECTION[0]) if name in names)]
    short = SHORT.get(board.measure, board.measure)
    values = [end for row in board.standings for end in (row.value.value, row.value.low, row.value.high)]
    known = [end for end in values if end is not None]
    ends = min(0.0, *known, 0.0), max(1.0, *known, 1.0)
    verdicts = [row.verdict for row in board.standings]
    lead = Column(measure_name(board), short=short, beside="interval", ends=ends)
    failing = any(n_failed(row) for row in board.standings)
    lost: Made[JudgeStanding] = (
        Column("no score", where="terminal"),
        lambda row: Cell(n_failed(row), tone="warn"),
    )

    def measured(name: str) -> Callable[[JudgeStanding], Cell]:
        return lambda row: estimated(row.agreement.get(name))

    heads: list[Made[JudgeStanding]] = [
        *PLACES,
        named("Verdict", lambda row: verdict(row.verdict, verdicts)),
        *((Column(name, short=SHORT.get(name, name), beside="interval"), measured(name)) for name in beyond),
        (lead, lambda row: estimated(row.value, "strong")),
        *((Column(SHORT.get(name, name), where="terminal"), measured(name)) for name in brief),
        (
            Column("Below the best by", where="page"),
            lambda row: size(row.comparison.difference) if row.comparison else "",
        ),
        *([lost] if failing else []),
        (Column("Without a score", text=True, where="page"), lambda row: statuses(row.statuses) or "none"),
        (Column("USD/1000", where="terminal", rare=True), usd_for_1000),
        (Column("time", where="terminal", rare=True), seconds_each),
    ]
    board_table = table_of("Leaderboard", board.standings, heads)
    others = [name for name in names if name not in beyond]
    every: list[Made[JudgeStanding]] = [*PLACES, *means(others, attrgetter("agreement"))]
    if not others:
        return [board_table]
    standings = [row for row in board.standings if row.file]
    caption = "Other measures, in the same order"
    return [
        board_table,
        table_of(caption, standings, every, caption=caption, where="page"),
        *([Paragraph(AT_THRESHOLD, tone="muted", where="page")] if DETECTION[0] in names else []),
    ]


def _apart(board: JudgeBoard) -> list[Block]:
    """Return what was measured and has no place, and what was not measured."""
    columns: list[Made[Aside]] = [
        named("Judge and model", lambda aside: aside.cell.name),
        named("Why", lambda aside: aside.reason),
        (
            Column("What can be said", text=True, where="page"),
            lambda aside: "; ".join(f"{name} {with_ends(value)}" for name, value in aside.agreement.items()),
        ),
    ]
    return [
        *([Heading("Measured, but not ranked", level=3)] if board.aside else []),
        *([table_of("Not ranked", board.aside, columns, kind="")] if board.aside else []),
        *not_measured(in_one_line([*board.failed, *board.left_out])),
    ]


def _answers(choice: JudgeChoice) -> list[Block]:
    """Return what the grid answers, question by question."""
    fits, contrasts, examples = choice.fits, choice.contrasts, choice.examples
    if not (fits or contrasts or examples):
        return []
    clear_first = sorted(contrasts, key=lambda contrast: contrast.verdict == "cannot tell")
    answers = {
        "Does the judge fit the model?": [f"{fit.cell}: {fit_text(fit)}" for fit in fits],
        "Which is better for the same judge?": [
            f"{contrast_text(contrast)} ({contrast_where(contrast)})" for contrast in clear_first
        ],
        "Is the cheaper one with examples as good as the expensive one without?": [
            examples_text(pair) for pair in examples
        ],
    }
    blocks: list[Block] = [Heading("What the grid answers", anchor="answers", where="page")]
    for question, lines in answers.items():
        blocks += [Heading(question, level=3), Listing(lines, most=MOST_ANSWERS)] if lines else []
    return [*blocks, Paragraph(NOT_EQUAL, tone="muted", where="page")]


def _prices(board: JudgeBoard) -> list[Block]:
    name = measure_name(board)
    better = f" ({direction(board)})" if direction(board) else ""
    costs = Frontier(
        points=[],
        unit="usd",
        across="cost of 1,000 judgements",
        upwards=f"{name}{better}",
        nothing="0 USD",
        is_low_best=bool(better),
    )
    times = msgspec.structs.replace(
        costs, unit="seconds", across="time of the calls of one judgement", nothing="no model"
    )
    charts = [
        *price_plots(
            ((row.place, row.cell.name, row.spent.usd_each, row.value) for row in board.standings),
            "price-cost",
            f"{name} against the cost of 1,000 judgements",
            costs,
        ),
        *price_plots(
            ((row.place, row.cell.name, row.spent.seconds_each, row.value) for row in board.standings),
            "price-time",
            f"{name} against the time of a judgement",
            times,
        ),
    ]
    columns: list[Made[JudgeStanding]] = [
        *PLACES,
        (name, lambda row: number(row.value.value)),
        ("Cost", cost_each),
        ("Time of a judgement", seconds_each),
        ("Tokens of a judgement", tokens_each),
        ("Calls", lambda row: count(row.spent.n_calls)),
    ]
    about_time = (
        "Time is the total recorded time of a judgement's calls, though many run in parallel. For failed "
        "calls, tokens are included, but neither time nor cost."
    )
    lead = Paragraph(
        f"Numbers are rows of the leaderboard. Vertical: {name} with its interval{better}. Horizontal: the "
        "price, on a logarithmic scale. The table below has the same numbers.",
        tone="lead",
    )
    return [
        Heading("Agreement and price", anchor="price"),
        *([lead, SurfacePart(charts, kind="charts")] if charts else []),
        table_of("Prices", board.standings, columns),
        Paragraph(about_time, tone="muted"),
    ]


def _repeats(summary: JudgeBenchSummary) -> list[Block]:
    repeated = [(row.cell.name, row.spread) for row in summary.board.standings if row.spread]
    if not repeated:
        return []

    def changed(row: tuple[str, SpreadOfRuns]) -> str:
        """Return the share of answers whose score changed, in percent, with its interval."""
        share = row[1].changed
        if share.low is None or share.high is None:
            return f"{100 * share.value:.1f} %"
        return f"{100 * share.value:.1f} % ({100 * share.low:.1f} to {100 * share.high:.1f})"

    times = f"Each judge asked {summary.repeats} times for every answer."
    runs = Column(f"{measure_name(summary.board)} of each run", text=True, short="runs")
    columns: list[Made[tuple[str, SpreadOfRuns]]] = [
        named("Judge and model", lambda row: row[0]),
        (runs, lambda row: ", ".join(map(number3, row[1].values))),
        (Column("Standard deviation", short="sd"), lambda row: number3(row[1].sd)),
        (Column("Scores that changed", short="scores changed"), changed),
    ]
    return [
        Heading("Unchanged", anchor="again"),
        Paragraph(f"{times} A judge that calls no model gives the same result each time.", tone="lead"),
        table_of("Repeated runs", repeated, columns, kind=""),
    ]


def columns(board: JudgeBoard) -> list[str]:
    """Return the measures beside the leading one that any cell has, in order."""
    order = [name for name in COLUMNS if name != board.measure]
    return measures_in(order, (row.agreement for row in board.standings))


def measure_name(board: JudgeBoard) -> str:
    """Return the leading measure in words; a difference of percentages is called so."""
    if board.measure != "difference":
        return board.measure
    percent = not board.mapped and all(row.cell.scale == (0, 100) for row in board.standings)
    return "percentage difference from people" if percent else "mean difference from people"


def direction(board: JudgeBoard) -> str:
    """Return which way is better, where a reader could doubt it."""
    return "the lower the better" if board.measure == "difference" else ""


def ordered_by(board: JudgeBoard) -> str:
    """Return what decided for the measure, and what the bench rests on."""
    lower = f" ({direction(board)})" if direction(board) else ""
    mapped = ", compared from 0 to 1 as the mapping says" if board.mapped else ""
    why = f"Ordered by {measure_name(board)}{lower}: {board.why}{mapped}."
    return f"{why} Measured on {based_on(board)}. {family(board)}"


def based_on(board: JudgeBoard) -> str:
    """Return how many answers the bench rests on, and how many were left out and why."""
    left_out = {
        made_with("a judge"): board.n_tuned,
        "on which annotators tied": board.n_tied,
        "without a score of every cell": board.n_unscored,
    }
    answers = f"{plural(board.n, 'answer')} to {plural(board.n_questions, 'question')}"
    return with_left_out(answers, left_out)


def family(board: JudgeBoard) -> str:
    """Return what the verdicts rest on."""
    if not board.comparisons:
        return ""
    return family_text("answers", board.comparisons[0].test, len(board.comparisons), "cells")


def recommendation(summary: JudgeBenchSummary) -> list[str]:
    """Return the result, a few plain sentences."""
    board, choice = summary.board, summary.choice
    if choice is None:
        return ["No cell could be ranked: see “Measured, but not ranked”."]
    sentences = [_first(choice, board), *_alike(choice, board)]
    if choice.judge is None:
        none = "could be measured" if board.failed else "is in the grid"
        return [*sentences, f"No judge that asks a model {none}."]
    return sentences + _against_baseline(choice)


def _first(choice: JudgeChoice, board: JudgeBoard) -> str:
    """Return the highest agreement; of whom, and that it is the best, only where all others are worse."""
    first, apart = board.standings[0], board.measure == "difference"
    value = f"{measure_name(board)} {with_ends(first.value)}"
    same = _as_high(board)
    # Exact agreement decides the order, for its test is paired; it is not said without one beyond chance.
    beyond = chance_corrected(first.agreement) if board.measure == "exact agreement" else None
    if beyond:
        value = f"{value}, {_beyond_chance(beyond, board, n_same=len(same))}"
    flattered = beyond and any(
        row.agreement[beyond[0]].value > beyond[1].value
        for row in board.standings
        if beyond[0] in row.agreement
    )
    if len(board.standings) > 1 and not choice.alike and not flattered:
        if beyond:
            value = f"{beyond[0]} {with_ends(beyond[1])}, {measure_name(board)} {with_ends(first.value)}"
        return f"{first.cell.name} {'is nearest to people' if apart else 'agrees best with people'}: {value}."
    have = f"{', '.join(same)} {'has' if len(same) == 1 else 'have'}"
    if len(board.standings) == len(same):
        return f"{have} {'the same ' if len(same) > 1 else ''}{value}."
    return f"{have} the {'lowest' if apart else 'highest'} {value}."


def _beyond_chance(beyond: tuple[str, Estimate], board: JudgeBoard, *, n_same: int) -> str:
    """Return the chance-corrected agreement of the cells that have the highest exact one."""
    measure, estimate = beyond
    others = [row.agreement[measure].value for row in board.standings[:n_same] if measure in row.agreement]
    where = " where it is defined" if len(others) < n_same else ""
    if is_same_mean(min(others), max(others)):
        return f"{measure} {with_ends(estimate)}{where}"
    return f"{measure} from {value_range(min(others), max(others))}{where}"


def _as_high(board: JudgeBoard) -> list[str]:
    first = board.standings[0].value.value
    return [row.cell.name for row in board.standings if is_same_mean(row.value.value, first)]


def _alike(choice: JudgeChoice, board: JudgeBoard) -> list[str]:
    if len(board.standings) == 1:
        return ["It is the only cell that was measured."]
    if not choice.alike:
        return ["Every other cell is worse."]
    others = [name for name in choice.alike if name not in _as_high(board)]
    alike = [f"No clear difference from {', '.join(others)}."] if others else []
    named = {choice.best, *choice.alike}
    if all(row.cell.model == NO_MODEL for row in board.standings if row.cell.name in named):
        return [*alike, "None of these calls a model."]
    if choice.cheapest is None or choice.price is None:
        return [*alike, "The cheapest of these is unknown: prices and times are missing."]
    cheapest = next(row for row in board.standings if row.cell.name == choice.cheapest)
    price = price_text(cheapest, choice.price)
    if choice.cheapest == choice.best:
        return [*alike, f"{choice.best} is also the cheapest of these ({price})."]
    return [*alike, f"The cheapest of these: {choice.cheapest} ({price})."]


def _against_baseline(choice: JudgeChoice) -> list[str]:
    if choice.baseline is None:
        return []
    better = [fit for fit in choice.fits if fit.verdict == "better"]
    if better:
        fit = next((each for each in better if each.cell == choice.judge), better[0])
        by = size(fit.comparison.difference)
        return [f"{fit.cell} is better than {fit.rival}, the best without a model, by {by}."]
    best = next(fit for fit in choice.fits if fit.cell == choice.judge)
    reach = best.comparison.difference
    if choice.beats_baseline == "worse" or reach.high is None:
        return [f"No judge that asks a model is better than {choice.baseline}, which asks none."]
    more = " More labels may tell." if reach.high >= 0 else ""  # else they would hardly show it better
    return [
        f"No judge that asks a model is shown to be better than {choice.baseline}, which asks none: the "
        f"difference of the best of them, {choice.judge}, is {signed_with_ends(reach)}.{more}"
    ]


def price_text(row: JudgeStanding, price: Price) -> str:
    """Return what a judgement costs, by this price."""
    if not row.spent.n_calls:
        return "it calls no model"
    if price == "cost":
        return cost_each(row)
    return (
        f"{seconds_each(row)} a judgement"
        if price == "seconds"
        else f"{tokens_each(row)} tokens per judgement"
    )


def cost_each(row: JudgeStanding) -> str:
    """Return US dollars for a thousand judgements."""
    if not row.spent.n_calls:
        return NOTHING
    each = row.spent.usd_each
    if each is None:
        return "unknown"
    return f"{usd(1000 * each)} for 1,000" if each else "0 USD"


def usd_for_1000(row: JudgeStanding | SuiteCard) -> str:
    """Return US dollars for a thousand judgements with two digits, for a narrow column."""
    if not row.spent.n_calls:
        return NOTHING
    each = row.spent.usd_each
    return "unknown" if each is None else f"{float(f'{1000 * each:.2g}'):,g}"


def seconds_each(row: JudgeStanding) -> str:
    """Return the time of a judgement's calls."""
    if not row.spent.n_calls:
        return NOTHING
    each = row.spent.seconds_each
    return "unknown" if each is None else seconds(each)


def tokens_each(row: JudgeStanding) -> str:
    """Return the tokens of a judgement, in and out together."""
    if not row.spent.n_calls:
        return NOTHING
    return count(round((row.spent.input + row.spent.output) / max(1, row.spent.n_judged)))


def n_failed(row: JudgeStanding) -> str:
    """Return how many judgements have no score, of how many; empty where there are none."""
    n = sum(row.statuses.values())
    lost = n - row.statuses.get("scored", 0)
    return f"{count(lost)} of {count(n)}" if lost else ""


def number3(value: float) -> str:
    """Return a value with three decimals, for what is smaller than the second one."""
    return decimal(value, 3)


def fit_text(fit: WorthAsking) -> str:
    """Return whether a judge is worth its model: yes, no or cannot tell, and by how much."""
    failed = f"; {count(fit.n_failed)} of {count(fit.n)} judgements failed" if fit.n_failed else ""
    difference = fit.comparison.difference
    match fit.verdict:
        case "better":
            return f"yes: better than {fit.rival} by {size(difference)}{failed}"
        case "worse":
            return f"no: worse than {fit.rival} by {size(difference)}{failed}"
        case _:
            return (
                f"cannot tell it from {fit.rival}: the difference is {signed_with_ends(difference)}{failed}"
            )


def contrast_text(contrast: JudgeContrast) -> str:
    """Return which of two cells is better that differ in one way alone."""
    first, second = contrast.values
    if contrast.verdict == "cannot tell":
        return f"{contrast.axis} {first} or {second}: cannot tell ({difference(contrast.comparison)})"
    better, worse = (first, second) if contrast.verdict == "better" else (second, first)
    return f"{contrast.axis} {better} is better than {worse} by {size(contrast.comparison.difference)}"


def difference(comparison: CellComparison) -> str:
    """Return how large a difference is, or that there is none on any answer, whatever the two scores are."""
    if comparison.n_changed == 0:
        return "equally near to people on every answer"
    return f"difference {signed_with_ends(comparison.difference)}"


def contrast_where(contrast: JudgeContrast) -> str:
    """Return what is the same in both cells of a contrast: the judge, and the model unless that differs."""
    judge, _, model = contrast.first.partition(" · ")
    base, _, options = judge.partition("@")
    in_both = [part for part in options.split(",") if part and not part.startswith(f"{contrast.axis}=")]
    judge = f"{base}@{','.join(in_both)}" if in_both else base
    return judge if contrast.axis == "model" or not model else f"{judge} by {model}"


def in_one_line(apart: Sequence[LeftOutCell]) -> list[LeftOutCell]:
    """Return what was not measured, those with the same reason as one."""
    names: dict[str, list[str]] = {}
    for cell in apart:
        names.setdefault(cell.reason, []).append(cell.name)
    return [LeftOutCell(name="; ".join(alike), reason=reason) for reason, alike in names.items()]


def examples_text(pair: CheaperWithExamples) -> str:
    """Return whether a cheaper model with examples does as well as a dearer one without."""
    less = "at no price" if pair.ratio is None else f"{pair.ratio:,.1f} times cheaper ({pair.price})"
    if pair.verdict == "cannot tell":
        outcome = f"cannot be told apart ({difference(pair.comparison)})"
    else:
        outcome = f"{pair.verdict} by {size(pair.comparison.difference)}"
    return f"{pair.cheaper}, {less}, against {pair.dearer}: {outcome}"


def totals(summary: JudgeBenchSummary) -> str:
    """Return what all cells took together: calls, tokens and cost."""
    spent = [row.spent for row in summary.board.standings]
    if not any(each.n_calls for each in spent):
        return "no model was asked"
    total = sum_usd(each.cost_usd for each in spent)
    cost = "cost unknown" if total is None else f"{usd(total)}{listed(summary.list_prices)}"
    return f"{asked_text(spent)}, {cost}"
