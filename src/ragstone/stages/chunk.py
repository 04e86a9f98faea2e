"""Stage: documents -> chunks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

from ragstone.config import ChunkSection
from ragstone.engine.mapping import RowWork, map_rows, on_cluster
from ragstone.engine.session import Session
from ragstone.records import Chunk, Document
from ragstone.stages.cutting import cut_documents


async def _chunking(
    session: Session, *, chunker: ChunkSection
) -> Callable[[Document], Awaitable[list[Chunk]]]:
    def cut(document: Document) -> list[Chunk]:
        return list(cut_documents([document], chunker, session.settings, session.embedder))

    async def work(document: Document) -> list[Chunk]:
        return await asyncio.to_thread(cut, document) if chunker.method == "semantic" else cut(document)

    return work


CHUNKING: RowWork[Document, list[Chunk]] = RowWork(
    f"{__name__}:CHUNKING", Document, list[Chunk], {"chunker": ChunkSection}, _chunking
)


async def chunks_of(
    documents: Callable[[], Iterable[Document]],
    session: Session,
    chunker: ChunkSection,
    n_documents: int | None = None,
) -> AsyncIterator[Chunk]:
    """Yield the chunks of documents, in order, by the engine of the session."""
    if not on_cluster(session):
        for chunk in cut_documents(documents(), chunker, session.settings, session.embedder):
            yield chunk
        return
    async for chunks, _heard in map_rows(CHUNKING, documents, session, n_rows=n_documents, chunker=chunker):
        for chunk in chunks:
            yield chunk
