"""A bench of retrievers: what leaderboard.json holds, and its report."""

from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from ragstone.features.bench.retrievers.batch_words import batch_blocks
from ragstone.features.bench.retrievers.values import (
    Differing,
    FoundByConfiguration,
    Leaderboard,
    Standing,
    Timing,
)
from ragstone.features.retrieve.words import score_blocks, scores_told
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Dot,
    Dots,
    Drawing,
    Heading,
    Listing,
    Made,
    Notes,
    Paragraph,
    ReportDocument,
    SurfacePart,
    Table,
    Tone,
    dot,
    estimated,
    means,
    table_of,
)
from ragstone.kernel.document.numbers import count, counted, number, one_line, seconds, with_ends
from ragstone.kernel.document.scatter import ScatterChart, decade_s, draw_scatter, point
from ragstone.kernel.runs.summary import Calls, read_numbers
from ragstone.kernel.runs.wording import asked_line, made_of, plural, with_left_out
from ragstone.kernel.statistics import Estimate, negated
from ragstone.kernel.statistics.paired import BoardPlace
from ragstone.kernel.tables.shown import Displayed

LEADERBOARD = "leaderboard.json"
# Measures without their k, in the order of the columns; those that no configuration has are left out.
COLUMNS = ("span_recall", "span_precision", "recall", "hit", "mrr", "ndcg", "rank_score", "precision", "map")
SHORT = {"span_recall": "span rec", "span_precision": "span prec", "rank_score": "rank score"}
MARKS: dict[BoardPlace, str] = {"best": "best", "not distinguishable": "= best?", "worse": "worse"}
TONES: dict[BoardPlace, Tone] = {"best": "best", "not distinguishable": "open", "worse": "muted"}
OPEN_MARK = '"= best?": not distinguishable from the best.'
SHOWN_COLUMNS = 3  # measures beside the leading one, where there is little room
LEFT_TO_PAGES = ("precision", "map")
SHOWN_QUESTIONS = 3
PLACE = "(place of the relevant document)"
PLACES: tuple[Made[Standing], ...] = (
    ("#", lambda row: str(row.place)),
    (Column("Configuration", text=True, short=""), lambda row: row.configuration.name),
)
QUESTION_LENGTH = 90


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
    return ReportDocument(
        title=summary.name,
        kind="bench of retrievers",
        about=f"{counted(summary.counts)} · {plural(len(board.standings), 'configuration')}",
        version=summary.version,
        blocks=[
            Paragraph(outcome(board), tone="outcome"),
            Paragraph(basis.strip(), tone="muted"),
            *([Paragraph(OPEN_MARK, tone="muted", where="terminal")] if board.family else []),
            Notes(summary.notes),
            Heading("Leaderboard", anchor="board"),
            *(_standings(board, k) for k in board.ks),
            *not_measured({one.configuration.name: one.reason for one in board.failed}),
            SurfacePart([*_speed(board), *_groups(board)], where="page"),
            *batch_blocks(board),
            *_scores(board),
            *_differing(summary),
            Dots(title=board.measure, dots=[_dot(row, board) for row in board.standings]),
        ],
        skip=("board", "leaderboard"),
        made=made_of(summary.models, summary.calls),
        source=LEADERBOARD,
        last=asked_line(summary.calls),
    )


def _standings(board: Leaderboard, k: int) -> Table:
    """Return the measures at k; at the first k with the verdicts, and this table alone without a page."""
    first = k == board.ks[0]
    names = columns(board, k)
    others = names[1:] if first else names
    brief = [name for name in others if bare(name) not in LEFT_TO_PAGES][:SHOWN_COLUMNS]

    def n(row: Standing) -> str:
        found = row.measures[str(k)].get(names[0])
        return count(found.n) if found else ""

    def measure(name: str) -> Made[Standing]:
        column = Column(name, short=short(name), where="everywhere" if name in brief else "page")
        return column, lambda row: estimated(row.measures[str(k)].get(name))

    lead = Column(board.measure, short=short(names[0]), beside="interval", ends=(0, 1))
    verdicts: list[Made[Standing]] = [
        (Column("Verdict", text=True, short=""), lambda row: verdict(row.verdict)),
        (lead, lambda row: estimated(lead_of(row, board), "strong")),
        (Column("Against the best", where="page"), difference),
    ]
    times: list[Made[Standing]] = [
        (Column("median", where="terminal"), lambda row: seconds(row.timing.p50_s)),
        (Column("index", where="terminal"), lambda row: seconds(row.timing.index_s)),
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


def verdict(place: BoardPlace) -> Cell:
    """Return the cell of a verdict."""
    return Cell(place, tone=TONES[place], short=MARKS[place])


def not_measured(failed: Mapping[str, str]) -> list[Block]:
    """Return what could not be measured, and why. failed: name -> reason."""
    told = [f"{name} was not measured: {reason}" for name, reason in failed.items()]
    return [Listing(told, tone="warn", prose=True)] if told else []


def _dot(row: Standing, board: Leaderboard) -> Dot:
    return dot(row.configuration.name, lead_of(row, board), row.verdict)


def _speed(board: Leaderboard) -> list[Block]:
    lead = (
        f"Numbers are ranks on the leaderboard. Upwards: {board.measure} with its interval. To the right: "
        "the median time per question, on a logarithmic scale. The table below has the same numbers."
    )
    against = f"{board.measure} against the median time of a question; the table below has the same numbers"
    columns: list[Made[Standing]] = [
        *PLACES,
        (board.measure, lambda row: number(lead_of(row, board).value)),
        ("Median time", lambda row: seconds(row.timing.p50_s)),
        ("95 % within", lambda row: seconds(row.timing.p95_s)),
        ("Questions/s, all at once", lambda row: throughput(row.timing)),
        (Column("Index", text=True), lambda row: indexed(row.timing)),
    ]
    said = "Times depend on this machine and its load; they are not part of the comparison."
    return [
        Heading("Quality and time", anchor="speed"),
        Paragraph(lead, tone="lead"),
        Drawing(chart=draw(board), label=against, below="median time of a question"),
        table_of("Times", board.standings, columns),
        Paragraph(said, tone="muted"),
    ]


def draw(board: Leaderboard) -> ScatterChart:
    """Return the chart: the median seconds of a question on a logarithmic scale, the measure upwards."""
    points = [
        point(
            row.place, row.configuration.name, row.verdict, max(row.timing.p50_s, 1e-6), lead_of(row, board)
        )
        for row in board.standings
    ]
    return draw_scatter(points, decade_s)


def _scores(board: Leaderboard) -> list[Block]:
    """Return whether each configuration's scores are informative, with calibration curves on a page."""
    told = [(row.configuration.name, row.scores) for row in board.standings if row.scores]
    if not told:
        return []
    said = [f"{name}: {scores_told(scores)}" for name, scores in told]
    curves = [block for name, scores in told for block in score_blocks(name, scores)[1:]]
    return [
        Heading("Are the scores informative?", anchor="scores"),
        Listing(said),
        SurfacePart(curves, where="page"),
    ]


def _groups(board: Leaderboard) -> list[Block]:
    """Return the leading measure by language and by each tag of the questions, of those with several."""
    first = board.standings[0]
    by_tag = [block for tag in first.by_tag for block in _by(board, tag, _means_by(tag))]
    return [*_by(board, "language", lambda row: row.by_lang), *by_tag]


def _means_by(tag: str) -> Callable[[Standing], Mapping[str, Estimate]]:
    return lambda row: row.by_tag.get(tag, {})


def _by(board: Leaderboard, by: str, of: Callable[[Standing], Mapping[str, Estimate]]) -> list[Block]:
    values = of(board.standings[0])
    if len(values) < 2:
        return []
    heads = {value: f"{value}, n = {count(estimate.n)}" for value, estimate in values.items()}
    table = table_of(f"By {by}", board.standings, [PLACES[1], *means(values, of, heads)])
    return [Heading(f"By {by}: {board.measure}"), table]


def _differing(summary: BenchSummary) -> list[Block]:
    board = summary.leaderboard
    if not board.differing:
        return []
    brief: list[Block] = [
        block
        for one in board.differing[:SHOWN_QUESTIONS]
        for block in (
            Paragraph(f"  {one_line(one.question, QUESTION_LENGTH)}"),
            Paragraph(f"    {differing_told(one)}", tone="muted"),
        )
    ]
    return [
        Heading(
            words=f"Where they differ most: {board.measure} (place of the relevant document)",
            anchor="differing",
        ),
        SurfacePart(brief, where="terminal"),
        *(SurfacePart(_question(one, summary), kind="differing", where="page") for one in board.differing),
    ]


def _question(one: Differing, summary: BenchSummary) -> list[Block]:
    texts = {name: f"{name} ({text})" for name, text in summary.texts.items()}
    relevant = "; ".join(texts.get(name, name) for name in one.relevant)
    where = " · ".join(part for part in (one.question_id, one.lang, f"relevant: {relevant}") if part)

    def first(found: FoundByConfiguration) -> Cell:
        if found.rank == 1:
            return Cell("the relevant document", tone="muted")
        return Cell(found.first or "nothing found", summary.texts.get(found.first or "", ""))

    columns: list[Made[FoundByConfiguration]] = [
        (Column("Configuration", text=True), lambda found: found.name),
        (summary.leaderboard.measure, lambda found: number(found.value)),
        ("Rank of the first relevant", lambda found: rank(found.rank)),
        (Column("In first place", text=True), first),
    ]
    return [
        Heading(one.question, level=3),
        Paragraph(where, tone="muted"),
        table_of(one.question_id, one.found, columns, kind=""),
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
    known = {name for row in board.standings for name in row.measures[str(k)]}
    named = {bare(name): name for name in known}
    lead = bare(board.measure)
    return [named[name] for name in (lead, *(each for each in COLUMNS if each != lead)) if name in named]


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
    told = [
        f"{count(timing.n_embedded)} texts embedded" if timing.n_embedded else "",
        f"{count(timing.n_cached)} vectors from the store" if timing.n_cached else "",
    ]
    beside = ", ".join(part for part in told if part)
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
    """Return the result in one or two sentences."""
    best = board.standings[0].configuration.name
    alike = [row.configuration.name for row in board.standings if row.verdict == "not distinguishable"]
    n_worse = sum(row.verdict == "worse" for row in board.standings)
    if len(board.standings) == 1:
        return f"{best} is the only configuration that was measured."
    said = f"{best} has the highest {board.measure}"
    if not alike:
        return f"{said}, and every other configuration is worse."
    others = plural(len(alike), "configuration")
    worse = (
        f" {plural(n_worse, 'configuration')} {'is' if n_worse == 1 else 'are'} clearly worse."
        if n_worse
        else ""
    )
    return f"{said}, with no clear difference from {others}: {', '.join(alike)}.{worse}"


def family(board: Leaderboard) -> str:
    """Return what the verdicts rest on."""
    if not board.family:
        return ""
    rows = [row.comparison for row in board.standings if row.comparison]
    return (
        f"Compared on the same questions ({rows[0].test} test); Holm's correction over "
        f"{plural(board.family, 'comparison')}, every pair of configurations."
    )


def rank(value: int | None) -> str:
    """Return a place, or that there is none."""
    return "absent" if value is None else str(value)


def difference(row: Standing) -> str:
    """Return how far below the best a configuration is, with the interval; empty for the best."""
    return with_ends(negated(row.comparison.difference)) if row.comparison else ""


def differing_told(one: Differing) -> str:
    """Return value and place of the first relevant by configuration: `bm25 1.00 (1), dense 0.00 (absent)`."""
    return ", ".join(f"{found.name} {number(found.value)} ({rank(found.rank)})" for found in one.found)
