"""Every value that a notebook shows, as the documents that a terminal shows of it; and lists of rows.

Imported only when a notebook shows something (see tables/shown.py). A new summary needs a line in DOCUMENTS.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import msgspec

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.corrected_mean import CorrectedMean
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Made,
    Paragraph,
    ReportDocument,
    Table,
    table_of,
)
from ragstone.kernel.document.notebook import render_bundles, render_html, render_svgs
from ragstone.kernel.document.numbers import count, interval, number, one_line
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.summary import MetricSummary, summarise
from ragstone.kernel.records import NO_MODEL, Context, Judgement, RankingItem
from ragstone.kernel.runs.wording import failures, judge_name, mean_text, n_scored, scale
from ragstone.kernel.tables import Rows
from ragstone.kernel.tables.shown import Bundle
from ragstone.kernel.version import __version__

SHOWN_ROWS = 10
SHOWN_COLUMNS = 8
SHOWN_TEXT = 120  # characters of a cell
NOUNS = {Context: "context", RankingItem: "place"}
# What a reader looks for first; the other fields are in the data frame.
HIDDEN = ("metadata", "usage")
FIRST = ("question_id", "id", "question", "system", "answer", "judge", "status", "score", "rationale")


def bundles(value: object) -> list[Bundle]:
    """Return the outputs of a cell: words and tables, then each chart, every one with a plain text beside."""
    return render_bundles(_documents(value))


def html(value: object) -> str:
    """Return the words, the tables and the drawn charts as one piece of HTML."""
    return render_html(_documents(value))


def svgs(value: object) -> dict[str, str]:
    """Return the plots of a value's report by name, also those that only its page draws."""
    return render_svgs(_documents(value))


def _documents(value: object) -> list[ReportDocument]:
    if not isinstance(value, Rows):
        name = type(value).__name__
        return [SHOWN[name](value) if name in SHOWN else _of_feature(DOCUMENTS[name], value)]
    kinds = {type(row) for row in value}
    show = OF_ROWS.get(kinds.pop()) if len(kinds) == 1 else None
    if show:
        return show(value)
    sources = value.of if isinstance(value.of, Mapping) else {}
    names = list(sources) or list(
        dict.fromkeys(name for row in value for name in tuple(getattr(row, "__struct_fields__", ())))
    )
    return [_document(row_blocks(value, names))]


def _of_feature(place: str, *values: object) -> Any:  # noqa: ANN401 - a document, or blocks
    """Return what a function of a feature, `module:name`, makes of values; it is imported only now."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"ragstone.{module}"), name)(*values)


def _document(blocks: Sequence[Block]) -> ReportDocument:
    return ReportDocument(
        title="",
        kind="rows",
        about="",
        version=__version__,
        blocks=list(blocks),
    )


def _judgements(rows: Sequence[Judgement]) -> list[ReportDocument]:
    metrics = summarise(rows)
    means = [means_table(metrics)] if metrics else []
    return [
        _document([*means, *row_blocks(rows, judgement_columns(rows)), *_of_feature(METRIC_DOTS, metrics)])
    ]


def _card(card: ReportCard) -> ReportDocument:
    document: ReportDocument = _of_feature(CARD, card)
    return msgspec.structs.replace(document, blocks=[*document.blocks, *_of_feature(CARD_DOTS, [card])])


def _cards(cards: Sequence[ReportCard]) -> list[ReportDocument]:
    return [*(_of_feature(CARD, card) for card in cards), _document(_of_feature(CARD_DOTS, cards))]


def _evaluation_set(made: Any) -> ReportDocument:  # noqa: ANN401 - an EvaluationSet of the feature build
    document: ReportDocument = _of_feature(DOCUMENTS["Certificate"], made.certificate)
    questions = row_blocks(made.questions, ("id", "question", "reference", "tags"))
    return msgspec.structs.replace(document, blocks=[*document.blocks, *questions])


def _metrics(metrics: Sequence[MetricSummary]) -> list[ReportDocument]:
    return [_document([means_table(metrics), *_of_feature(METRIC_DOTS, metrics)])]


def row_blocks(rows: Sequence[object], columns: Sequence[str]) -> list[Block]:
    """Return the first rows with the columns that hold something, texts cut, and how many more there are."""
    first_rows = rows[:SHOWN_ROWS]
    held = [name for name in columns if any(_told(_value(row, name)) for row in first_rows)]
    chosen = [name for name in FIRST if name in held]
    chosen += [name for name in held if name not in FIRST and name not in HIDDEN]
    columns_shown = chosen[:SHOWN_COLUMNS]
    beside = len(held) - len(columns_shown)
    notes = [
        plural(len(rows), "row"),
        *([f"the first {len(first_rows)} shown"] if len(rows) > len(first_rows) else []),
        *([f"{plural(beside, 'field')} not shown: .to_polars() has all"] if beside else []),
    ]
    return [
        *(
            [table_of("Rows", first_rows, [_column(first_rows, name) for name in columns_shown])]
            if columns_shown
            else []
        ),
        Paragraph(", ".join(notes), tone="muted"),
    ]


def _column(values: Sequence[object], name: str) -> Made[object]:
    first = next((value for row in values if (value := _value(row, name)) is not None), None)
    is_number = isinstance(first, int | float) and not isinstance(first, bool)
    return Column(name, text=not is_number), lambda row: _told(_value(row, name))


def _value(row: object, name: str) -> Any:  # noqa: ANN401 - a field of any row
    return row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)


def _told(value: object) -> str:
    """Return a value in few words, empty where there is none."""
    if value is None or value == [] or value == {}:
        return ""
    if isinstance(value, float):
        return number(value) if abs(value) >= 0.01 or value == 0 else f"{value:.2g}"
    if isinstance(value, list) and isinstance(value[0], msgspec.Struct):
        return plural(len(value), NOUNS.get(type(value[0]), type(value[0]).__name__.lower()))
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return one_line(text, SHOWN_TEXT)


def judgement_columns(rows: Sequence[Judgement]) -> list[str]:
    """Return what is shown of judgements: the system and the judge only where there are several.

    The error comes last, where there is one; rows without any show no empty column for it.
    """
    several = {name: len({getattr(row, name) for row in rows}) > 1 for name in ("system", "judge")}
    names = ("question_id", "system", "judge", "status", "score", "label", "rationale", "error")
    return [name for name in names if several.get(name, True)]


def means_table(metrics: Sequence[MetricSummary]) -> Table:
    """Return each judge's mean with its interval, beside its denominator and the count of other statuses."""
    several = len({metric.system for metric in metrics}) > 1
    system: Made[MetricSummary] = (Column("system", text=True), lambda row: row.system)
    columns: list[Made[MetricSummary]] = [
        (Column("judge", text=True), judge_name),
        *([system] if several else []),
        (Column("model", text=True), lambda row: "" if row.model == NO_MODEL else row.model),
        (Column("scale", text=True), lambda row: Cell(scale(row), tone="muted")),
        ("mean", lambda row: Cell(mean_text(row), tone="strong")),
        ("interval", lambda row: interval(row.estimate) if row.estimate else ""),
        ("scored", lambda row: f"{count(n_scored(row))} of {count(row.n_rows)}"),
        (Column("", text=True), lambda row: Cell(failures(row), tone="muted")),
    ]
    return table_of("Means", metrics, columns)


METRIC_DOTS = "features.report.words:metric_dots"
CARD = "features.agree.words:card_document"
CARD_DOTS = "features.agree.words:card_dots"
CORRECTED = "features.agree.corrected_words:corrected_document"
DOCUMENTS = {
    "AnswerBenchSummary": "features.bench.answerers.words:answer_bench_document",
    "AttackSummary": "features.attack.words:attack_document",
    "BenchSummary": "features.bench.retrievers.words:bench_document",
    "BlameSummary": "features.blame.words:blame_document",
    "ModesSummary": "features.modes.words:modes_document",
    "Certificate": "features.build.certificate.page:certificate_document",
    "Comparison": "features.compare.words:comparison_document",
    "JudgeBenchSummary": "features.bench.judges.words:judge_bench_document",
    "RetrievalSummary": "features.retrieve.words:retrieval_document",
    "RunSummary": "features.report.words:run_document",
    "StudySummary": "features.bench.languages.words:study_document",
    "SuiteSummary": "features.bench.suite.words:suite_document",
}
"""Name of a summary's type -> the document that a terminal shows of it. No feature is imported before."""

SHOWN: dict[str, Callable[[Any], ReportDocument]] = {
    "CorrectedMean": lambda mean: _of_feature(CORRECTED, [mean]),
    "EvaluationSet": _evaluation_set,
    "FinishedRun": lambda run: _of_feature(DOCUMENTS["RunSummary"], run.summary),
    "MetricSummary": lambda metric: _metrics([metric])[0],
    "ReportCard": _card,
}
OF_ROWS: dict[type, Callable[[Any], list[ReportDocument]]] = {
    CorrectedMean: lambda means: [_of_feature(CORRECTED, means)],
    Judgement: _judgements,
    MetricSummary: _metrics,
    ReportCard: _cards,
}
"""Lists of these have more to show than a table of their fields."""
