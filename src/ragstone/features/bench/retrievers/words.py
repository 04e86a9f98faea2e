"""A bench of retrievers: what leaderboard.json holds, and its report."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.features.bench._board import LeftOutCell
from ragstone.features.bench._plots import board_plot, price_plots
from ragstone.features.bench._words import (
    PLACE,
    all_of,
    bench_report,
    family_text,
    means,
    measures_in,
    named,
    not_measured,
    verdict,
)
from ragstone.features.bench.retrievers._values import (
    Differing,
    FoundByConfiguration,
    Leaderboard,
    Standing,
    Timing,
)
from ragstone.features.retrieve import score_findings
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
    Table,
    estimated,
    table_of,
)
from ragstone.kernel.document.charts import Chart, dot
from ragstone.kernel.document.numbers import (
    count,
    counted,
    interval,
    number,
    one_line,
    seconds,
    signed_with_ends,
)
from ragstone.kernel.document.plots.values import Frontier
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.charts import SHOWN_SYSTEMS, Spec, axis_ends, band_layers
from ragstone.kernel.runs.order_plots import rank_plot
from ragstone.kernel.runs.summary import Calls, read_numbers
from ragstone.kernel.runs.wording import with_left_out
from ragstone.kernel.statistics import Estimate, is_same_mean, negated
from ragstone.kernel.tables.shown import Displayed

LEADERBOARD = "leaderboard.json"
# Measures without their k, in the order of the columns; those that no configuration has are left out.
COLUMNS = ("span_recall", "span_precision", "recall", "hit", "mrr", "ndcg", "rank_score", "precision", "map")
SHORT = {"span_recall": "span rec", "span_precision": "span prec", "rank_score": "rank score"}
OPEN_MARK = '"= best?": not distinguishable from the best.'
SHOWN_COLUMNS = 3  # measures beside the leading one, where there is little room
LEFT_TO_PAGES = ("precision", "map")
SHOWN_QUESTIONS = 3
QUESTION_LENGTH = 90
PAGE = "report.html and --json"
HEIGHT = 240  # pixels of a chart of batches
SHOWN_BATCHES, SHOWN_PLACES = 20, 8  # in a terminal
PLACES: tuple[Made[Standing], ...] = (
    PLACE,
    named("Configuration", lambda row: row.configuration.name),
)


class BenchSummary(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """A bench of retrievers in numbers.

    counts: rows of each kind; chunks of each chunker. texts: document id -> its title or how it begins, of
    the documents that `leaderboard.differing` names. models: role -> name. notes: what a reader must know
    before trusting the numbers.
    """

    name: str
    version: str
    counts: dict[str, int]
    models: dict[str, str]
    leaderboard: Leaderboard
    texts: dict[str, str]
    calls: Calls
    notes: list[str]


def read_leaderboard(folder: Path) -> BenchSummary:
    """Return what leaderboard.json of a folder holds. Raises DataError, saying what to do."""
    return read_numbers(folder / LEADERBOARD, BenchSummary, "leaderboard", "ragstone bench retrievers")


def bench_document(summary: BenchSummary) -> ReportDocument:
    """Return the report of a bench: the leaderboard, its prices, its groups, and where it differs most."""
    board = summary.leaderboard
    basis = f"Ordered by {board.measure}: {board.why}. Measured on {based_on(board)}. {family(board)}"
    failed = [LeftOutCell(name=each.configuration.name, reason=each.reason) for each in board.failed]
    dots = [dot(row.configuration.name, lead_of(row, board), row.verdict) for row in board.standings]
    return bench_report(
        summary,
        "bench of retrievers",
        f"{counted(summary.counts)} · {plural(len(board.standings), 'configuration')}",
        [
            Paragraph(outcome(board), tone="outcome"),
            Paragraph(basis.strip(), tone="muted"),
            *([Paragraph(OPEN_MARK, tone="muted", where="terminal")] if board.family else []),
            Notes(summary.notes),
            Heading("Leaderboard", anchor="board"),
            *(_standings(board, k) for k in board.ks),
            *not_measured(failed),
            SurfacePart([*_speed(board), *_groups(board)], where="page"),
            *_batches(board),
            *_scores(board),
            *_differing(summary),
            *board_plot(board.measure, dots, f"{board.measure}, with the 95 % interval"),
            *(
                []
                if board.ranks is msgspec.UNSET
                else [rank_plot(board.ranks, "ranks", "Configuration", "the rankings")]
            ),
        ],
        source=LEADERBOARD,
    )


def _standings(board: Leaderboard, k: int) -> Table:
    """Return the measures at k; at the first k with the verdicts, and this table alone without a page."""
    first = k == board.ks[0]
    names = columns(board, k)
    others = names[1:] if first else names
    brief = [name for name in others if bare(name) not in LEFT_TO_PAGES][:SHOWN_COLUMNS]

    def n(row: Standing) -> str:
        estimate = row.measures[str(k)].get(names[0])
        return count(estimate.n) if estimate else ""

    def measure(name: str) -> Made[Standing]:
        column = Column(name, short=short(name), where="everywhere" if name in brief else "page")
        return column, lambda row: estimated(row.measures[str(k)].get(name))

    lead = Column(board.measure, short=short(names[0]), beside="interval", ends=(0, 1))
    verdicts: list[Made[Standing]] = [
        named("Verdict", lambda row: verdict(row.verdict, ())),
        (lead, lambda row: estimated(lead_of(row, board), "strong")),
        (
            Column("Against the best", where="page"),
            lambda row: signed_with_ends(negated(row.comparison.difference)) if row.comparison else "",
        ),
    ]
    times: list[Made[Standing]] = [
        (Column("median", where="terminal", rare=True), lambda row: seconds(row.timing.p50_s)),
        (Column("index", where="terminal", rare=True), lambda row: seconds(row.timing.index_s)),
    ]
    results = "The first result" if k == 1 else f"The first {k} results"
    return table_of(
        f"Measures at {k}",
        board.standings,
        [
            *PLACES,
            *(verdicts if first else []),
            *map(measure, others),
            (Column("n", where="page"), n),
            *(times if first else []),
        ],
        caption="" if first else f"{results} of each question, in the same order",
        where="everywhere" if first else "page",
    )


def _speed(board: Leaderboard) -> list[Block]:
    lead = (
        f"Numbers are ranks on the leaderboard. Vertical: {board.measure} with its interval. Horizontal: "
        "the median time per question, on a logarithmic scale. The table below has the same numbers."
    )
    columns: list[Made[Standing]] = [
        *PLACES,
        (board.measure, lambda row: number(lead_of(row, board).value)),
        ("Median time", lambda row: seconds(row.timing.p50_s)),
        ("95th percentile", lambda row: seconds(row.timing.p95_s)),
        ("Questions/s, all at once", lambda row: throughput(row.timing)),
        (Column("Index", text=True), lambda row: indexed(row.timing)),
    ]
    charts = price_plots(
        (
            (row.place, row.configuration.name, max(row.timing.p50_s, 1e-6), lead_of(row, board))
            for row in board.standings
        ),
        "price-time",
        f"{board.measure} against the median time per question",
        Frontier(
            points=[],
            unit="seconds",
            across="median time per question",
            upwards=board.measure,
            nothing="0 s",
        ),
    )
    about = "Times depend on this machine and its load; they are not part of the comparison."
    return [
        Heading("Quality and time", anchor="speed"),
        Paragraph(lead, tone="lead"),
        *charts,
        table_of("Times", board.standings, columns),
        Paragraph(about, tone="muted"),
    ]


def _groups(board: Leaderboard) -> list[Block]:
    """Return the leading measure by language and by each tag of the questions, of those with several."""

    def by(label: str, of: Callable[[Standing], Mapping[str, Estimate]]) -> list[Block]:
        values = of(board.standings[0])
        if len(values) < 2:
            return []
        heads = {value: f"{value}, n = {count(estimate.n)}" for value, estimate in values.items()}
        table = table_of(f"By {label}", board.standings, [PLACES[1], *means(values, of, heads)])
        return [Heading(f"By {label}: {board.measure}"), table]

    blocks = by("language", lambda row: row.by_lang)
    for tag in board.standings[0].by_tag:
        blocks += by(tag, lambda row, tag=tag: row.by_tag.get(tag, {}))  # type: ignore[misc]
    return blocks


def _batches(board: Leaderboard) -> list[Block]:
    """Return the leading measure of each batch, and the rank score if it is another; none of one batch.

    A chart has a line with a band for each configuration, SHOWN_SYSTEMS in one chart. A terminal has the
    batches below each other and the places of the leaderboard beside each other.
    """
    first, lead = board.standings[0], board.measure
    names = list(first.batches)
    if not names:
        return []

    def value(row: Standing, batch: str) -> float | None:
        group = row.batches.get(batch)
        estimate = group.measures.get(lead) if group else None
        return estimate.value if estimate else None

    n_highest = 0
    for name in names:
        best = value(first, name)
        values = [each for row in board.standings if (each := value(row, name)) is not None]
        n_highest += best is not None and best >= max(values)
    rank_score = f"rank_score@{board.ks[0]}"
    charts = [
        _batch_chart(measure, board.standings[start : start + SHOWN_SYSTEMS], names, f"batches-{at}-{start}")
        for at, measure in enumerate(dict.fromkeys((lead, rank_score)))
        if any(measure in group.measures for group in first.batches.values())
        for start in range(0, len(board.standings), SHOWN_SYSTEMS)
    ]

    def column(row: Standing) -> Made[str]:
        def cell(name: str) -> str:
            mean = value(row, name)
            return "" if mean is None else number(mean)

        return f"#{row.place}", cell

    columns: list[Made[str]] = [
        (Column("Batch", text=True), lambda name: name),
        ("n", lambda name: count(first.batches[name].n_questions)),
        *map(column, board.standings[:SHOWN_PLACES]),
    ]
    elsewhere = (
        f"#1 is the first place of the leaderboard. Intervals, and what is not shown here, are in {PAGE}."
    )
    return [
        Heading("By batches of questions", anchor="batches"),
        Paragraph(
            f"{lead} of {count(len(names))} batches, in the order of the file; a name is "
            f"OFFSET_COUNT. {first.configuration.name} is highest, or as high as any, in "
            f"{count(n_highest)} of {count(len(names))}."
        ),
        table_of("Batches", names[:SHOWN_BATCHES], columns, where="terminal"),
        Paragraph(elsewhere, tone="muted", where="terminal"),
        *charts,
    ]


def _batch_chart(measure: str, rows: Sequence[Standing], names: Sequence[str], name: str) -> Chart:
    values: list[Spec] = []
    cells: list[list[str]] = []
    for at, batch in enumerate(names, 1):
        for row in rows:
            group = row.batches.get(batch)
            estimate = group.measures.get(measure) if group else None
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
    heights = [point[end] for point in values for end in ("m", "l", "h") if point[end] is not None]
    domain = {"domain": axis_ends(heights or (0.0, 1.0))}
    up: Spec = {"type": "quantitative", "scale": domain, "title": measure}
    tooltip: list[Spec] = [{"field": field, "type": "nominal"} for field in ("batch", "j")]
    for field, title in (("m", "mean"), ("l", "low"), ("h", "high")):
        tooltip.append({"field": field, "type": "quantitative", "format": ".3~f", "title": title})
    tooltip.append({"field": "n", "type": "quantitative", "title": "questions"})
    several = len(rows) > 1
    spec: Spec = {
        "data": {"values": values},
        "height": HEIGHT,
        "encoding": {"x": across, **({"color": by_line} if several else {})},
        "layer": band_layers(up, tooltip, size=40, shape={"shape": by_line} if several else {}),
    }
    return Chart(
        name=name,
        title=f"{measure} by batches of questions, places {rows[0].place} to {rows[-1].place}",
        said=f"{measure} of {plural(len(rows), 'configuration')} in {len(names)} batches, with intervals.",
        spec=spec,
        head=["Batch", "Configuration", "Mean", "Interval", "n"],
        rows=cells,
    )


def _scores(board: Leaderboard) -> list[Block]:
    """Return whether each configuration's scores are informative, with calibration curves on a page."""
    scores = [(row.configuration.name, row.scores) for row in board.standings if row.scores]
    if not scores:
        return []
    findings = [(name, *score_findings(name, quality)) for name, quality in scores]
    return [
        Heading("Are the scores informative?", anchor="scores"),
        Listing([f"{name}: {sentence}" for name, sentence, _ in findings]),
        SurfacePart([block for _, _, curve in findings for block in curve], where="page"),
    ]


def _differing(summary: BenchSummary) -> list[Block]:
    board = summary.leaderboard
    if not board.differing:
        return []
    brief: list[Block] = []
    for question in board.differing[:SHOWN_QUESTIONS]:
        results = ", ".join(
            f"{result.name} {number(result.value)} ({rank(result.rank)})" for result in question.found
        )
        brief.append(Paragraph(f"  {one_line(question.question, QUESTION_LENGTH)}"))
        brief.append(Paragraph(f"    {results}", tone="muted"))
    return [
        Heading(
            words=f"Where they differ most: {board.measure} (place of the relevant document)",
            anchor="differing",
        ),
        SurfacePart(brief, where="terminal"),
        *(
            SurfacePart(_question(question, summary), kind="differing", where="page")
            for question in board.differing
        ),
    ]


def _question(question: Differing, summary: BenchSummary) -> list[Block]:
    texts = {name: f"{name} ({text})" for name, text in summary.texts.items()}
    relevant = "; ".join(texts.get(name, name) for name in question.relevant)
    parts = (question.question_id, question.lang, f"relevant: {relevant}")

    def first(result: FoundByConfiguration) -> Cell:
        if result.rank == 1:
            return Cell("the relevant document", tone="muted")
        return Cell(result.first or "nothing found", summary.texts.get(result.first or "", ""))

    columns: list[Made[FoundByConfiguration]] = [
        (Column("Configuration", text=True), lambda result: result.name),
        (summary.leaderboard.measure, lambda result: number(result.value)),
        ("Rank of the first relevant", lambda result: rank(result.rank)),
        (Column("In first place", text=True), first),
    ]
    return [
        Heading(question.question, level=3),
        Paragraph(" · ".join(part for part in parts if part), tone="muted"),
        table_of(question.question_id, question.found, columns, kind=""),
    ]


def short(measure: str) -> str:
    """Return the name of a measure for the head of a narrow column: `span rec@5`."""
    name, at, k = measure.partition("@")
    return f"{SHORT.get(name, name)}{at}{k}"


def bare(measure: str) -> str:
    """Return the name of a measure without its k."""
    return measure.partition("@")[0]


def columns(board: Leaderboard, k: int) -> list[str]:
    """Return the measures (with their k) that any configuration has at this k, the leading one first."""
    at_k = [row.measures[str(k)] for row in board.standings]
    full = {bare(name): name for row in at_k for name in row}
    lead = bare(board.measure)
    order = (lead, *(name for name in COLUMNS if name != lead))
    return [full[name] for name in measures_in(order, [full])]


def lead_of(row: Standing, board: Leaderboard) -> Estimate:
    """Return the mean that a configuration is ordered by."""
    return row.measures[str(board.ks[0])][board.measure]


def throughput(timing: Timing) -> str:
    """Return the questions a second, or that a model sets the pace."""
    if timing.questions_per_s is None:
        return "as the model allows"
    return (
        f"{timing.questions_per_s:.1f}"
        if timing.questions_per_s < 10
        else count(round(timing.questions_per_s))
    )


def indexed(timing: Timing) -> str:
    """Return the time of indexing, and how many vectors were made or at hand."""
    counts = [
        f"{count(timing.n_embedded)} texts embedded" if timing.n_embedded else "",
        f"{count(timing.n_cached)} vectors from the store" if timing.n_cached else "",
    ]
    beside = ", ".join(part for part in counts if part)
    return seconds(timing.index_s) + (f" ({beside})" if beside else "")


def based_on(board: Leaderboard) -> str:
    """Return how many questions the leaderboard rests on, and how many were left out and why."""
    left_out = {
        "without a relevant document named": board.n_unlabelled,
        "unanswerable": board.n_unanswerable,
        f"without {bare(board.measure)} of every configuration": board.n_left_out,
    }
    return with_left_out(plural(board.n_questions, "question"), left_out)


def outcome(board: Leaderboard) -> str:
    """Return the result in one or two sentences. Configurations with the same mean are named together."""
    first, *rest = board.standings
    if not rest:
        return f"{first.configuration.name} is the only configuration that was measured."
    highest_mean = lead_of(first, board).value
    tied = [row for row in rest if is_same_mean(lead_of(row, board).value, highest_mean)]
    best = all_of([row.configuration.name for row in (first, *tied)])
    alike = [
        row.configuration.name for row in rest if row.verdict == "not distinguishable" and row not in tied
    ]
    n_worse = sum(row.verdict == "worse" for row in rest)
    if len(tied) == len(rest):
        return f"{best} have the same {board.measure}."
    highest = f"{best} {'have' if tied else 'has'} the highest {board.measure}"
    if not alike:
        return f"{highest}, and every other configuration is worse."
    others = plural(len(alike), "configuration")
    worse = (
        f" {plural(n_worse, 'configuration')} {'is' if n_worse == 1 else 'are'} clearly worse."
        if n_worse
        else ""
    )
    return f"{highest}, with no clear difference from {others}: {', '.join(alike)}.{worse}"


def family(board: Leaderboard) -> str:
    """Return what the verdicts rest on."""
    if not board.family:
        return ""
    test = next(row.comparison.test for row in board.standings if row.comparison)
    return family_text("questions", test, board.family, "configurations")


def rank(value: int | None) -> str:
    """Return a place, or that there is none."""
    return "absent" if value is None else str(value)
