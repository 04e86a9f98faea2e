"""One question -> one answer, with the passages that it was made from and the time that it took."""

from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import msgspec

from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, run_in_session
from ragstone.kernel.errors import ConfigError, checks_arguments
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Answer, Question
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.stages.answer import answer_rows
from ragstone.kernel.stages.corpus import corpus_on
from ragstone.kernel.stages.retrieve import rank_questions
from ragstone.kernel.systems.chosen import answered_by, with_system
from ragstone.kernel.tables.storage import absolute

ID = "asked"


class AskedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """An answer, and what went into it.

    n_chunks: pieces that were searched, 0 where another application answers. read_s: seconds to read and cut
    the documents; search_s: to search them; answer_s: until the answer came.
    """

    answer: Answer
    n_chunks: int
    read_s: float
    search_s: float
    answer_s: float
    calls: Calls


@checks_arguments
def ask(
    question: str,
    *,
    documents: Sequence[Path | str] | None = None,
    system: str | None = None,
    model: str | None = None,
    retriever: str | None = None,
    k: int | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> AskedQuestion:
    """Return the answer to one question, its passages among `answer.contexts`, best first.

    documents, system, model, retriever, k: in place of those of `settings` (default: ragstone.toml); system:
    one of `[systems]`, `module:function`, or a prompt of the built-in application. A call that fails is the
    `error` of the answer. budget: e.g. `1calls`; deadline: e.g. `30s`. Raises ConfigError for an empty
    question and unknown names, DataError for documents that cannot be read, ModelError when no call can
    succeed.
    """
    chosen = choose_ask(
        settings or load_settings(),
        documents=documents,
        system=system,
        model=model,
        retriever=retriever,
        k=k,
    )
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return run_in_session(chosen, how, lambda session: _answered(question, session))


def choose_ask(
    settings: Settings,
    *,
    documents: Sequence[Path | str] | None = None,
    system: str | None = None,
    model: str | None = None,
    **retrieve: object,
) -> Settings:
    """Return the settings with what a caller gave in their place. Raises ConfigError for unknown names."""
    documents = [documents] if isinstance(documents, Path | str) else documents  # no list of letters
    paths = documents and [str(absolute(path)) for path in documents]
    settings = choose(choose(settings, "documents", paths=paths), "retrieve", **retrieve)
    settings = choose(settings, "answer", model=model)
    return with_system(answered_by(settings, system) if system else settings)


def forecast_ask(question: str, settings: Settings) -> Forecast:
    """Return what the question would ask. Raises what `ask` raises before it makes a call."""
    return forecast_of(settings, lambda session: _answered(question, session))


async def _answered(text: str, session: Session) -> AskedQuestion:
    if not text.strip():
        raise ConfigError('the question is empty. Ask e.g. ragstone ask "When is maize sown?"')
    question = Question(id=ID, question=text)
    started = perf_counter()
    corpus = await corpus_on(session)
    read = perf_counter()
    rankings = []
    if corpus.chunks:
        rankings = await rank_questions([question], corpus.chunks, session, documents=corpus.documents)
    searched = perf_counter()
    made = answer_rows([question], rankings, corpus.chunks, session, documents=corpus.documents)
    [answer] = [row async for row in made]
    return AskedQuestion(
        answer=answer,
        n_chunks=len(corpus.chunks),
        read_s=read - started,
        search_s=searched - read,
        answer_s=perf_counter() - searched,
        calls=session.calls(),
    )
