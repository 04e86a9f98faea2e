"""The stages as plain functions on rows, for scripts and notebooks: what `import ragstone` offers."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import Session, SessionOptions, run_in_session
from ragstone.kernel.errors import DataError, checks_arguments
from ragstone.kernel.judging.conversation import every_reply
from ragstone.kernel.judging.leaves import read_no_answer
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.records import Answer, Chunk, Document, Judgement, Question, Ranking
from ragstone.kernel.stages.answer import answer_rows
from ragstone.kernel.stages.given import answers_or_questions
from ragstone.kernel.stages.judge import AnyJudge, judge_rows, load_judges
from ragstone.kernel.stages.notes import kept_notes
from ragstone.kernel.stages.retrieve import rank_questions
from ragstone.kernel.systems.chosen import chosen_system
from ragstone.kernel.tables import Rows, parse_rows

LOG = logging.getLogger(__name__)


@checks_arguments
def retrieve(
    questions: Iterable[Question | dict[str, Any] | str],
    chunks: Sequence[Chunk],
    *,
    columns: Mapping[str, str] | None = None,
    documents: Sequence[Document] = (),
    retriever: str | None = None,
    k: int | None = None,
    embedder: str | None = None,
    where: Mapping[str, str] | None = None,
    match: Sequence[str] | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    progress: Progress = silent,
) -> Rows[Ranking]:
    """Return a ranking of at most k chunks for each question, best first.

    questions: rows, texts, or dicts or a data frame in anybody's columns; columns: field -> column of these.
    documents: those of the chunks; the results of a retriever behind HTTP are placed in them. retriever, k,
    embedder, where, match: in place of those in `settings` (default: ragstone.toml, else `bm25`, 5,
    `packaged` and no filter). budget, deadline, offline: of a reranker that asks a model; a question whose
    call they cut off keeps its first order, and its `metadata` says so. Raises ConfigError for an unknown
    retriever or tag, DataError for rows that are no list, MissingExtra without the package of an embedder or
    an index, ModelError where a model or a retriever behind HTTP cannot be had.
    """
    _check_lists({Chunk: chunks, Document: documents})
    asked = _questions(questions, columns)
    chosen = choose(
        settings or load_settings(),
        "retrieve",
        retriever=retriever,
        k=k,
        embedder=embedder,
        where=where and dict(where),
        match=match and list(match),
    )
    how = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)

    async def work(session: Session) -> Rows[Ranking]:
        return Rows(await rank_questions(asked, chunks, session, documents=documents), Ranking)

    return run_in_session(chosen, how, work)


@checks_arguments
def answer(
    questions: Iterable[Question | dict[str, Any] | str],
    rankings: Sequence[Ranking] = (),
    chunks: Sequence[Chunk] = (),
    *,
    columns: Mapping[str, str] | None = None,
    system: str | Callable[..., object] | None = None,
    documents: Sequence[Document] = (),
    model: str | None = None,
    prompt: str | None = None,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    batch: bool = False,
    progress: Progress = silent,
) -> Rows[Answer]:
    """Return an application's answer to every question, in order.

    questions: rows, texts, or dicts or a data frame in anybody's columns; columns: field -> column of these.
    system: one of `[systems]`, `module:function`, or a Python callable, that of `[answer]` if absent; where
    neither names one, or a prompt is given, the built-in application. rankings, chunks, documents: what the
    built-in application answers from; documents are those that rankings name without a chunk. model, prompt:
    in place of those in `settings` (default: ragstone.toml). budget: e.g. `100calls` or `2usd`; deadline:
    e.g. `30m`; what they cut off has an `error`, as has a question at which the application failed. batch: by
    the provider's batch API, cheaper, in hours. Answers of other applications that come from the ledger are
    warned about (logging). Raises ConfigError for an unknown system, ModelError when no call can succeed (no
    key, unknown model, nobody there).
    """
    _check_lists({Ranking: rankings, Chunk: chunks, Document: documents})
    asked = _questions(questions, columns)
    if prompt and prompt.endswith(".toml"):  # the caller's path, not one of ragstone.toml
        prompt = str(Path(prompt).absolute())
    chosen = choose(settings or load_settings(), "answer", model=model, prompt=prompt)
    chosen, callables = chosen_system(chosen, system, built_in=prompt is not None)
    how = SessionOptions(parse_caps(budget, deadline), offline, batch, progress)

    async def work(session: Session) -> Rows[Answer]:
        session.callables |= callables
        from_ledger: Counter[str] = Counter()
        made = answer_rows(asked, rankings, chunks, session, documents=documents, from_ledger=from_ledger)
        rows = Rows([row async for row in made], Answer)
        for note in kept_notes(rows, from_ledger, chosen):
            LOG.warning(note)
        return rows

    return run_in_session(chosen, how, work)


@checks_arguments
def judge(
    answers: Iterable[Answer | dict[str, Any]],
    *,
    judges: Iterable[AnyJudge],
    columns: Mapping[str, str] | None = None,
    model: str | None = None,
    one_call: bool | None = None,
    each_turn: bool = False,
    settings: Settings | None = None,
    budget: str | None = None,
    deadline: str | None = None,
    offline: bool = False,
    batch: bool = False,
    progress: Progress = silent,
) -> Rows[Judgement]:
    """Return every judge's judgements of every answer: all answers by the first judge, then by the next.

    answers: rows, or dicts or a data frame with the column names of any tool that `read_rows` understands;
    questions will do where no judge reads an answer. columns: field -> column, where they are others. judges:
    names, paths of judge files, Judge values, or Python functions (see judge_function). model: asked by those
    judges that ask one, in place of the one in `settings` (default: ragstone.toml). one_call: judges whose
    replies fit into one are asked together; their judgements then carry `NAME@together`. each_turn: every
    reply of a conversation (`turns`) is judged, as `ID#PLACE` with its place among the turns, from 1. budget:
    e.g. `100calls` or `2usd`; deadline: e.g. `30m`; what they cut off has the status `over_budget` or
    `timeout`. batch: by the provider's batch API, cheaper, in hours. Raises DataError for a row that cannot
    be read or a second one with its question_id and system, ConfigError for an unknown judge, ModelError when
    no call can succeed.
    """
    chosen = choose(settings or load_settings(), "judge", model=model, one_call=one_call)
    found = load_judges(judges)
    if read_no_answer(found):
        held = list(answers) if isinstance(answers, Iterator) else answers  # it may be read twice
        rows = list(answers_or_questions(lambda kind: parse_rows(held, kind, columns=columns)))
    else:
        rows = parse_rows(answers, Answer, columns=columns)

    def unfolded() -> Iterable[Answer]:
        return every_reply(rows) if each_turn else rows

    n_rows = sum(1 for _ in unfolded())
    how = SessionOptions(parse_caps(budget, deadline), offline, batch, progress)

    async def work(session: Session) -> Rows[Judgement]:
        judged = judge_rows(unfolded, found, session, n_rows)
        return Rows([row async for row in judged], Judgement)

    return run_in_session(chosen, how, work)


def _questions(
    given: Iterable[Question | dict[str, Any] | str], columns: Mapping[str, str] | None
) -> Sequence[Question]:
    """Return questions as rows; texts are questions too. Raises DataError."""
    if isinstance(given, list | tuple):
        given = [{"question": one} if isinstance(one, str) else one for one in given]
    if isinstance(given, Sequence) and not any(isinstance(row, dict) for row in given):
        _check_lists({Question: given})
        return [row for row in given if isinstance(row, Question)]
    if isinstance(given, Iterator):
        _check_lists({Question: given})  # type: ignore[dict-item]  # it says why
    rows = cast("Iterable[Question | dict[str, Any]]", given)
    return parse_rows(rows, Question, columns=columns)


def _check_lists(given: Mapping[type, Sequence[object]]) -> None:
    """Refuse rows of another kind, and what can be read only once: the next call would be given nothing."""
    for kind, rows in given.items():
        name = f"{kind.__name__.lower()}s"
        if not isinstance(rows, Sequence):
            raise DataError(
                f"{name}: expected a list of rows, got {type(rows).__name__}, which can be read only once. "
                f"Give list({name})."
            )
        other = next((type(row).__name__ for row in rows if not isinstance(row, kind)), None)
        if other:
            raise DataError(
                f"{name}: expected rows of type {kind.__name__}, got {other}. "
                f"ragstone.read_rows(path, ragstone.{kind.__name__}) reads a file of them."
            )
