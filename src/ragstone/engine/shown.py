"""Every value that a notebook shows: its words and tables, which are those of the terminal, and its charts.

Imported only when a notebook shows something (see tables/shown.py). A new summary needs a line in PARTS.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from ragstone.agreement.card import ReportCard
from ragstone.agreement.corrected import CorrectedMean
from ragstone.dataset.certifying.certificate import Certificate
from ragstone.experiments.compared import Comparison
from ragstone.judging.summary import MetricSummary, summarise
from ragstone.records import Judgement
from ragstone.report.attack import AttackSummary, attack_document
from ragstone.report.benches.answerers import AnswerBenchSummary, answer_bench_document
from ragstone.report.benches.judges import JudgeBenchSummary, judge_bench_document
from ragstone.report.benches.languages import StudySummary, study_document
from ragstone.report.benches.retrievers import BenchSummary, bench_document
from ragstone.report.blame import BlameSummary, blame_document
from ragstone.report.card import card_document, card_dots
from ragstone.report.certificate_terminal import terminal_certificate
from ragstone.report.compare import comparison_document
from ragstone.report.corrected import corrected_document
from ragstone.report.document import Document
from ragstone.report.dots import Dots, svg, vega_lite
from ragstone.report.dotted import (
    certificate_dots,
    metric_dots,
    retrieval_dots,
    run_dots,
)
from ragstone.report.evaluation_set import EvaluationSet
from ragstone.report.fragment import fragment, plain
from ragstone.report.joined import FinishedRun
from ragstone.report.render.terminal import render_terminal
from ragstone.report.row_table import judgement_columns, table_of_means, table_of_rows
from ragstone.report.summary import RunSummary
from ragstone.report.terminal import terminal_retrieval, terminal_summary
from ragstone.retrieval.summary import RetrievalSummary
from ragstone.tables import Rows
from ragstone.tables.shown import Bundle

if TYPE_CHECKING:
    from rich.console import RenderableType

VEGA_LITE = "application/vnd.vegalite.v5+json"

ShownT = TypeVar("ShownT")
Parts = "tuple[list[RenderableType], list[Dots]]"
Show = Callable[[Any], "tuple[list[RenderableType], list[Dots]]"]


def _both(words: "Callable[[ShownT], RenderableType]", charts: Callable[[ShownT], list[Dots]]) -> Show:
    """Return a function that gives a value's words, as the terminal has them, and its charts."""
    return lambda value: ([words(value)], charts(value))


def _document(made: Callable[[ShownT], Document]) -> Show:
    """Return a function that gives what a value's report says in a terminal, and its charts."""

    def parts(value: ShownT) -> "tuple[list[RenderableType], list[Dots]]":
        document = made(value)
        return [render_terminal(document)], [block for block in document.blocks if isinstance(block, Dots)]

    return parts


def _judgements(rows: Sequence[Judgement]) -> "tuple[list[RenderableType], list[Dots]]":
    found = summarise(rows)
    words: list[RenderableType] = [table_of_means(found)] if found else []
    return words + list(table_of_rows(rows, judgement_columns(rows))), metric_dots(found)


def _corrected(mean: CorrectedMean) -> Document:
    return corrected_document([mean])


def _cards(cards: Sequence[ReportCard]) -> "tuple[list[RenderableType], list[Dots]]":
    return [render_terminal(card_document(card)) for card in cards], card_dots(cards)


def _evaluation_set(made: EvaluationSet) -> "tuple[list[RenderableType], list[Dots]]":
    words: list[RenderableType] = [terminal_certificate(made.certificate)]
    questions = table_of_rows(made.questions, ("id", "question", "reference", "tags"))
    return words + list(questions), certificate_dots(made.certificate)


PARTS: dict[type, Show] = {
    AnswerBenchSummary: _document(answer_bench_document),
    AttackSummary: _document(attack_document),
    BenchSummary: _document(bench_document),
    BlameSummary: _document(blame_document),
    Certificate: _both(terminal_certificate, certificate_dots),
    Comparison: _document(comparison_document),
    CorrectedMean: _document(_corrected),
    EvaluationSet: _evaluation_set,
    FinishedRun: lambda run: ([terminal_summary(run.summary)], run_dots(run.summary)),
    JudgeBenchSummary: _document(judge_bench_document),
    MetricSummary: lambda metric: ([table_of_means([metric])], metric_dots([metric])),
    ReportCard: lambda card: _cards([card]),
    RetrievalSummary: lambda row: ([terminal_retrieval(row)], retrieval_dots([row])),
    RunSummary: _both(terminal_summary, run_dots),
    StudySummary: _document(study_document),
}
OF_ROWS: dict[type, Show] = {
    CorrectedMean: _document(corrected_document),
    Judgement: _judgements,
    MetricSummary: _both(table_of_means, metric_dots),
    ReportCard: _cards,
}
"""Lists of these have more to show than a table of their fields."""


def bundles(value: object) -> list[Bundle]:
    """Return the outputs of a cell: words and tables, then each chart, every one with a plain text beside."""
    words, charts = _parts(value)
    drawn = [
        {VEGA_LITE: vega_lite(chart), "image/svg+xml": svg(chart), "text/plain": f"Chart: {chart.title}"}
        for chart in charts
    ]
    return [{"text/html": fragment(words), "text/plain": plain(words)}, *drawn]


def html(value: object) -> str:
    """Return the words, the tables and the drawn charts as one piece of HTML."""
    words, charts = _parts(value)
    return fragment(words) + "".join(f"<div>{svg(chart)}</div>\n" for chart in charts)


def _parts(value: object) -> "tuple[list[RenderableType], list[Dots]]":
    if isinstance(value, Rows):
        kinds = {type(row) for row in value}
        show = OF_ROWS.get(kinds.pop()) if len(kinds) == 1 else None
        if show:
            return show(value)
        given = value.of if isinstance(value.of, Mapping) else {}
        names = list(given) or list(dict.fromkeys(name for row in value for name in _names(row)))
        return list(table_of_rows(value, names)), []
    return PARTS[type(value)](value)


def _names(row: object) -> Sequence[str]:
    return tuple(getattr(row, "__struct_fields__", ()))
