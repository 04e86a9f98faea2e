"""`ragstone answer`: questions -> an answer sheet, by the built-in RAG or an application of [systems]."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.console.asking import Asking, asks_models, leave
from ragstone.console.bars import bars
from ragstone.console.options import Limit, Model, OutputPlace
from ragstone.console.printing import say, show_json

if TYPE_CHECKING:
    from ragstone.config import Settings
    from ragstone.flows.answer.answering import AnswerSummary

SYSTEM = "One of [systems], module:function, or a prompt of the built-in RAG: strict, bare, a .toml file."


@asks_models("batch", "keep_failures", "engine", without=["strict"])
def answer(
    *,
    questions: Annotated[Path | None, typer.Option("--questions", help="The evaluation set.")] = None,
    documents: Annotated[
        list[Path] | None, typer.Option("--documents", help="Files or folders; may be repeated.")
    ] = None,
    model: Model = None,
    system: Annotated[str | None, typer.Option("--system", help=SYSTEM)] = None,
    retriever: Annotated[str | None, typer.Option("--retriever", help="bm25, dense or hybrid.")] = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="How many chunks are retrieved.")] = None,
    output: OutputPlace = "answers.jsonl",
    limit: Limit = None,
    asking: Asking,
) -> None:
    """Answer every question, by an application or from what is retrieved; options go before ragstone.toml."""
    from ragstone.config import choose
    from ragstone.flows.answer.answering import answer_to_file
    from ragstone.stages.answer import forecast_answering
    from ragstone.tables.storage import absolute

    settings = choose(asking.settings(), "questions", path=questions and absolute(questions), limit=limit)
    settings = choose(settings, "documents", paths=documents and [absolute(path) for path in documents])
    settings = choose(settings, "retrieve", retriever=retriever, k=k)
    settings = choose(settings, "answer", model=model)
    if system:
        settings = _answered_by(system, settings)
    asking.tell_forecast(lambda: forecast_answering(settings), output)
    summary = answer_to_file(
        settings,
        output,
        caps=asking.caps,
        offline=asking.offline,
        batch=asking.batch,
        force=asking.force,
        progress=bars,
    )
    if asking.json:
        show_json(summary)
    _say(summary)
    leave(summary.failed, summary.calls, strict=False)


def _say(summary: "AnswerSummary") -> None:
    from ragstone.report.wording import asked_line

    asked = asked_line(summary.calls)
    say(f"{summary.n_answers} answers in {summary.output}; {summary.n_failed} failed. {asked}")
    for note in summary.notes:
        say(note)


def _answered_by(system: str, settings: "Settings") -> "Settings":
    """Return the settings in which this answers: a system, or the built-in application with this prompt."""
    from ragstone.config import choose
    from ragstone.systems.chosen import check_prompt, chosen_system, is_system

    if is_system(system, settings):
        return chosen_system(settings, system)[0]
    check_prompt(system, settings)
    prompt = str(Path(system).absolute()) if system.endswith(".toml") else system
    return chosen_system(choose(settings, "answer", prompt=prompt), None, built_in=True)[0]
