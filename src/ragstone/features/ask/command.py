"""`ragstone ask`: one question, its answer, and the passages behind it."""

from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.kernel.console.asking import Asking, asks_models, leave
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import AnsweredBy, DocumentPaths, Model, Retriever
from ragstone.kernel.console.printing import UNSCORED, say, show, show_json

if TYPE_CHECKING:
    from ragstone.features.ask.asking import AskedQuestion

MOST_SHOWN = 240  # characters of a passage


@reads_rows
@asks_models(without=["force", "strict"])
def ask(
    question: Annotated[str, typer.Argument(help="What to ask, in quotes.")],
    *,
    documents: DocumentPaths = None,
    model: Model = None,
    system: AnsweredBy = None,
    retriever: Retriever = None,
    k: Annotated[int | None, typer.Option("-k", min=1, help="Number of chunks to retrieve.")] = None,
    asking: Asking,
) -> None:
    """Ask one question; show the answer, the passages behind it, and how long it took.

    Examples:

    - `ragstone ask "When is maize sown?" --documents handbook/ --model openai/gpt-4o-mini`
    - `ragstone ask "When is maize sown?" --system my_app:reply`
    """
    from ragstone.features.ask.asking import ask as ask_once
    from ragstone.features.ask.asking import choose_ask, forecast_ask

    settings = choose_ask(
        asking.settings(), documents=documents, system=system, model=model, retriever=retriever, k=k
    )
    if asking.forecast:  # unasked, it would be longer than the answer
        asking.tell_forecast(lambda: forecast_ask(question, settings))
    answered = ask_once(question, settings=settings, **asking.limits)
    if asking.json:
        show_json(answered)
    else:
        _show(answered)
    leave(answered.calls.failed, answered.calls, strict=False)
    if answered.answer.error is not None:
        raise typer.Exit(UNSCORED)


def _show(answered: "AskedQuestion") -> None:
    from ragstone.kernel.runs.wording import asked_line

    answer = answered.answer
    if answer.error is not None:
        say(f"{answer.system} gave no answer: {answer.error}")
    else:
        show(answer.answer or f"{answer.system} gave an empty answer.")
    for number, context in enumerate(answer.contexts or (), 1):
        name = context.document_id or context.id or "passage"
        score = "" if context.score is None else f" (score {context.score:.2f})"
        line = " ".join(context.text.split())
        show(
            f"\n[{number}] {name}{score}", f"    {line[:MOST_SHOWN]}{' …' if len(line) > MOST_SHOWN else ''}"
        )
    if not answer.contexts and answered.n_chunks:
        say("No passage fits the question.")
    elif not answer.contexts:
        say("No passages: name the documents with --documents, or in [documents] of ragstone.toml.")
    searched = (
        f"{answered.read_s + answered.search_s:.1f} s to read and search {answered.n_chunks:,} chunks, "
    )
    say(
        f"{answer.system}: {searched if answered.n_chunks else ''}{answered.answer_s:.1f} s to answer. "
        f"{asked_line(answered.calls)}"
    )
