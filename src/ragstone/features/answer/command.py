"""`ragstone answer`: questions -> an answer sheet, by the built-in RAG or an application of [systems]."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import (
    AnsweredBy,
    DocumentPaths,
    Limit,
    Model,
    OutputPlace,
    QuestionsFile,
    Retriever,
)
from ragstone.kernel.console.printing import UNSCORED, WRONG_USE, say, show_documents, show_json
from ragstone.kernel.console.repeating import repeatable
from ragstone.kernel.errors import plural

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ragstone.features.answer.answering import AnswerSummary

Users = Annotated[
    Path | None, typer.Option("--users", help="Personas (.toml) who talk to it, instead of questions.")
]
UserModel = Annotated[
    str | None, typer.Option("--user-model", help="Model that speaks for personas without a script.")
]
Samples = Annotated[int, typer.Option("--samples", min=1, help="Conversations of each persona.")]
Like = Annotated[
    Path | None,
    typer.Option("--like", help="A log: measure how similar the simulated users are to its users."),
]


@repeatable("chunk", "retrieve", "retrievers", "answer", "systems", grows=["questions", "limit", "repeats"])
@reads_rows
@asks_models("batch", "keep_failures", "mask", "engine", "whole", without=["strict"])
def answer(
    *,
    questions: QuestionsFile = None,
    documents: DocumentPaths = None,
    model: Model = None,
    system: AnsweredBy = None,
    retriever: Retriever = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="Number of chunks to retrieve.")] = None,
    users: Users = None,
    user_model: UserModel = None,
    samples: Samples = 1,
    like: Like = None,
    repeats: Annotated[
        int | None, typer.Option("--repeats", min=1, help="How often each question is answered.")
    ] = None,
    output: OutputPlace = "answers.jsonl",
    limit: Limit = None,
    asking: Asking,
) -> None:
    """Answer every question, with your application or the built-in RAG. Options override ragstone.toml.

    Examples:

    - `ragstone answer --questions questions.jsonl --documents handbook/ --model openai/gpt-4o-mini`
    - `ragstone answer --questions questions.jsonl --system my_app:reply`
    - `ragstone answer --users personas.toml --system my_app:chat`
    """
    from ragstone.features.answer.answering import answer_to_file, forecast_answering, summarise_answers
    from ragstone.features.simulate import (
        conversations_document,
        converse_to_file,
        forecast_users,
        plan_users,
    )
    from ragstone.kernel.systems.chosen import answered_by
    from ragstone.kernel.tables.storage import absolute

    settings = asking.settings(
        questions={"path": questions and absolute(questions), "limit": limit},
        documents={"paths": documents and [absolute(path) for path in documents]},
        retrieve={"retriever": retriever, "k": k},
        answer={"model": model, "repeats": repeats},
    )
    if system:
        settings = answered_by(settings, system)
    if users is not None:
        _refuse({"--questions": questions, "--repeats": (repeats or 1) > 1})
        plan = plan_users(users, settings, model=user_model, samples=samples, limit=limit)
        asking.tell_forecast(lambda: forecast_users(plan, settings), output)
        held = converse_to_file(settings, plan, output, like=like, how=asking.session, force=asking.force)
        if not asking.json:
            show_documents(conversations_document(held.goals, held.likeness), whole=asking.whole)
        summary = summarise_answers(
            held.rows, held.calls, output, held.notes, goals=held.goals, likeness=held.likeness
        )
    else:
        _refuse({"--user-model": user_model, "--like": like, "--samples": samples > 1}, "--users")
        asking.tell_forecast(lambda: forecast_answering(settings), output)
        summary = answer_to_file(settings, output, how=asking.session, force=asking.force)
    if asking.json:
        show_json(summary)
    _say(summary)
    leave(summary.failed, summary.calls, strict=False)
    if summary.n_answers and summary.n_failed == summary.n_answers:
        raise typer.Exit(UNSCORED)


def _refuse(options: "Mapping[str, object]", needed: str = "") -> None:
    """Exit where an option is given that has no meaning here. needed: the option that it goes with."""
    for name, value in options.items():
        if value:
            say(f"{name} needs {needed}." if needed else f"{name} has no meaning with --users.")
            raise typer.Exit(WRONG_USE)


def _say(summary: "AnswerSummary") -> None:
    from ragstone.kernel.runs.wording import asked_line

    calls = asked_line(summary.calls)
    noun = "answer" if summary.goals is None else "conversation"
    told = f"{plural(summary.n_answers, noun)} in {summary.output}; {summary.n_failed} failed. {calls}"
    for line in [*summary.notes, told] if summary.n_failed else [told, *summary.notes]:
        say(line)
