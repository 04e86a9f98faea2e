"""`ragstone answer`: questions -> an answer sheet, by the built-in RAG or an application of [systems]."""

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.console.asking import Asking, asks_models, leave
from ragstone.console.columns import reads_rows
from ragstone.console.options import (
    AnsweredBy,
    DocumentPaths,
    Limit,
    Model,
    OutputPlace,
    QuestionsFile,
    Retriever,
)
from ragstone.console.printing import UNSCORED, plural, say, show_json
from ragstone.console.repeating import repeatable

if TYPE_CHECKING:
    from ragstone.flows.answer.answering import AnswerSummary


@repeatable("chunk", "retrieve", "retrievers", "answer", "systems", grows=["questions", "limit"])
@reads_rows
@asks_models("batch", "keep_failures", "mask", "engine", without=["strict"])
def answer(
    *,
    questions: QuestionsFile = None,
    documents: DocumentPaths = None,
    model: Model = None,
    system: AnsweredBy = None,
    retriever: Retriever = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="Number of chunks to retrieve.")] = None,
    output: OutputPlace = "answers.jsonl",
    limit: Limit = None,
    asking: Asking,
) -> None:
    """Answer every question, with your application or the built-in RAG. Options override ragstone.toml.

    Examples:

    - `ragstone answer --questions questions.jsonl --documents handbook/ --model openai/gpt-4o-mini`
    - `ragstone answer --questions questions.jsonl --system my_app:reply`
    """
    from ragstone.config import choose
    from ragstone.flows.answer.answering import answer_to_file
    from ragstone.stages.answer import forecast_answering
    from ragstone.systems.chosen import answered_by
    from ragstone.tables.storage import absolute

    settings = choose(asking.settings(), "questions", path=questions and absolute(questions), limit=limit)
    settings = choose(settings, "documents", paths=documents and [absolute(path) for path in documents])
    settings = choose(settings, "retrieve", retriever=retriever, k=k)
    settings = choose(settings, "answer", model=model)
    if system:
        settings = answered_by(settings, system)
    asking.tell_forecast(lambda: forecast_answering(settings), output)
    summary = answer_to_file(settings, output, how=asking.session, force=asking.force)
    if asking.json:
        show_json(summary)
    _say(summary)
    leave(summary.failed, summary.calls, strict=False)
    if summary.n_answers and summary.n_failed == summary.n_answers:
        raise typer.Exit(UNSCORED)


def _say(summary: "AnswerSummary") -> None:
    from ragstone.report.wording import asked_line

    asked = asked_line(summary.calls)
    told = f"{plural(summary.n_answers, 'answer')} in {summary.output}; {summary.n_failed} failed. {asked}"
    for line in [*summary.notes, told] if summary.n_failed else [told, *summary.notes]:
        say(line)
