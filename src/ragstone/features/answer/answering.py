"""Questions -> an answer sheet."""

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.simulate import GoalSummary, Likeness
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.engine.digests import hexdigest, made_from
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.output import write_stream
from ragstone.kernel.engine.progress import Progress, silent
from ragstone.kernel.engine.session import (
    PLAIN,
    Session,
    SessionOptions,
    forecast_of,
    open_session,
    run_in_session,
)
from ragstone.kernel.errors import checks_arguments
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.records import Answer, Chunk, Document, Question, Ranking, Status
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.stages.answer import answer_rows, hear_answering
from ragstone.kernel.stages.answer_notes import kept_notes, same_answer_notes, system_notes
from ragstone.kernel.stages.chunk import cut_documents
from ragstone.kernel.stages.corpus import corpus_on
from ragstone.kernel.stages.given import asked_questions, check_lists, parse_questions
from ragstone.kernel.stages.retrieve import rank_questions, too_few_chunks
from ragstone.kernel.systems.chosen import check_repeats, chosen_system, with_system
from ragstone.kernel.tables import Rows, check_output
from ragstone.kernel.tables.storage import Place

LOG = logging.getLogger(__name__)


class AnswerSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How many answers there are, how many of them failed, and what was asked.

    failed: calls by status. notes: what a reader must know of the answers, in plain sentences. goals,
    likeness: of simulated users.
    """

    n_answers: int
    n_failed: int
    notes: list[str]
    failed: dict[Status, int]
    calls: Calls
    output: str
    goals: GoalSummary | None = None
    likeness: Likeness | None = None


def answer_to_file(
    settings: Settings,
    output: Place,
    *,
    how: SessionOptions = PLAIN,
    force: bool = False,
) -> AnswerSummary:
    """Answer the questions that the settings name, by the application that they declare, into a file.

    Raises ConfigError, DataError, ModelError.
    """
    check_output(output, force)
    check_repeats(settings)
    settings = with_system(settings)
    questions, repeats = asked_questions(settings), settings.answer.repeats or 1
    answers: list[Answer] = []

    def look(answer: Answer) -> None:  # the texts stand in the file
        digest = hexdigest(answer.answer.encode()) if answer.answer else ""
        answers.append(msgspec.structs.replace(answer, answer=digest, contexts=None))

    async def work() -> AnswerSummary:
        async with open_session(settings, how) as session:
            corpus = await corpus_on(session)
            rankings = (
                await rank_questions(questions, corpus.chunks, session, documents=corpus.documents)
                if corpus.chunks
                else []
            )
            from_ledger: Counter[str] = Counter()
            chunks, documents = corpus.chunks, corpus.documents
            made = answer_rows(
                questions,
                rankings,
                chunks,
                session,
                documents=documents,
                from_ledger=from_ledger,
                repeats=repeats,
            )
            named = (settings.questions.path, *settings.documents.paths)
            digest = made_from(settings, "answer", [settings.path(path) for path in named if path])
            await write_stream(
                made,
                output,
                Answer,
                each=look,
                n_planned=len(questions) * repeats,
                force=force,
                made_from=digest,
            )
            calls = session.calls()
        few = too_few_chunks(len(corpus.chunks), settings.retrieve.k) if rankings else []
        notes = [*system_notes(answers, from_ledger, settings), *few]
        return summarise_answers(answers, calls, output, notes)

    return run_sync(work())


def summarise_answers(
    rows: Sequence[Answer],
    calls: Calls,
    output: Place,
    notes: list[str],
    *,
    goals: GoalSummary | None = None,
    likeness: Likeness | None = None,
) -> AnswerSummary:
    """Return the summary of answers, or of conversations, that were written to `output`."""
    return AnswerSummary(
        n_answers=len(rows),
        n_failed=sum(row.error is not None for row in rows),
        notes=notes,
        failed=calls.failed,
        calls=calls,
        output=str(output),
        goals=goals,
        likeness=likeness,
    )


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
    repeats: int | None = None,
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
    built-in application answers from; documents are those that rankings name without a chunk, and alone they
    are cut as `[chunk]` says and searched. model, prompt: in place of those in `settings` (default:
    ragstone.toml). repeats: how often each question is answered, in place of that in `settings`; the further
    answers follow the first, with the system `NAME@repeat=2` and so on. budget: e.g. `100calls` or `2usd`;
    deadline: e.g. `30m`; what they cut off has an `error`, as has a question at which the application failed.
    batch: by the provider's batch API, cheaper, in hours. Answers of other applications that come from the
    ledger are warned about (logging). Raises ConfigError for an unknown system, ModelError when no call can
    succeed (no key, unknown model, nobody there).
    """
    check_lists({Ranking: rankings, Chunk: chunks, Document: documents})
    rows_asked = parse_questions(questions, columns)
    if prompt and prompt.endswith(".toml"):  # the caller's path, not one of ragstone.toml
        prompt = str(Path(prompt).absolute())
    chosen = choose(settings or load_settings(), "answer", model=model, prompt=prompt, repeats=repeats)
    chosen, callables = chosen_system(chosen, system, built_in=prompt is not None)
    check_repeats(chosen)
    how = SessionOptions(parse_caps(budget, deadline), offline, batch, progress)

    async def work(session: Session) -> Rows[Answer]:
        session.callables |= callables
        from_ledger: Counter[str] = Counter()
        to_search = chunks
        if documents and not rankings and not chunks:
            to_search = list(cut_documents(documents, chosen.chunk, chosen, session.embedder))
        made = answer_rows(
            rows_asked,
            rankings,
            to_search,
            session,
            documents=documents,
            from_ledger=from_ledger,
            repeats=chosen.answer.repeats or 1,
        )
        rows = Rows([row async for row in made], Answer)
        for note in [*kept_notes(rows, from_ledger, chosen), *same_answer_notes(rows, chosen)]:
            LOG.warning(note)
        return rows

    return run_in_session(chosen, how, work)


def forecast_answering(settings: Settings) -> Forecast:
    """Return what answering the questions would ask. Raises what answer_to_file raises before a call."""

    check_repeats(settings)
    settings = with_system(settings)

    async def work(session: Session) -> None:
        await hear_answering(settings, session)

    return forecast_of(settings, work)
