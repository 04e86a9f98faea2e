"""Simulated users -> a file of their conversations with an application, and what became of them."""

from collections import Counter
from pathlib import Path

import msgspec

from ragstone.features.simulate.conversations import UserPlan, conversation_notes, conversation_rows
from ragstone.features.simulate.goals import GoalSummary, summarise_goals
from ragstone.features.simulate.log_likeness import Likeness, likeness
from ragstone.kernel.config import Settings
from ragstone.kernel.engine.digests import made_from
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.output import write_stream
from ragstone.kernel.engine.session import SessionOptions, open_session
from ragstone.kernel.records import Answer
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.stages.corpus import corpus_on
from ragstone.kernel.systems.chosen import with_system
from ragstone.kernel.tables import check_output
from ragstone.kernel.tables.logs.reading import log_files
from ragstone.kernel.tables.storage import Place


class Conversations(msgspec.Struct, frozen=True, kw_only=True):
    """Conversations that were held, a row each, and what became of them.

    notes: what a reader must know of them, in plain sentences. likeness: None where the users were compared
    with no log.
    """

    rows: list[Answer]
    calls: Calls
    notes: list[str]
    goals: GoalSummary
    likeness: Likeness | None


def converse_to_file(
    settings: Settings,
    plan: UserPlan,
    output: Place,
    *,
    like: Path | None,
    how: SessionOptions,
    force: bool,
) -> Conversations:
    """Let simulated users talk to the application that the settings declare; write a row a conversation.

    like: a log that the users are compared with. Raises ConfigError, DataError, ModelError.
    """
    check_output(output, force)
    if like is not None:
        log_files([like])
    settings = with_system(settings)
    rows: list[Answer] = []
    from_ledger: Counter[str] = Counter()

    async def work() -> Calls:
        async with open_session(settings, how) as session:
            corpus = await corpus_on(session)
            made = conversation_rows(
                plan, session, chunks=corpus.chunks, documents=corpus.documents, from_ledger=from_ledger
            )
            await write_stream(
                made,
                output,
                Answer,
                each=rows.append,
                n_planned=len(plan.personas) * plan.samples,
                force=force,
                made_from=made_from(settings, "converse", [], plan),
            )
            return session.calls()

    calls = run_sync(work())
    return Conversations(
        rows=rows,
        calls=calls,
        notes=conversation_notes(rows, from_ledger, settings),
        goals=summarise_goals(rows),
        likeness=likeness(rows, [like]) if like is not None else None,
    )
