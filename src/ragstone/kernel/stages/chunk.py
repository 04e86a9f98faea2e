"""Stage: documents -> chunks."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator

from ragstone.kernel.config import ChunkSection, Settings
from ragstone.kernel.corpus.chunking import chunk_documents
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.embedding.opening import open_embedder
from ragstone.kernel.engine.mapping import map_rows, on_cluster
from ragstone.kernel.engine.row_work import RowWork
from ragstone.kernel.engine.session import Session
from ragstone.kernel.records import Chunk, Document


def cut_documents(
    documents: Iterable[Document],
    chunker: ChunkSection,
    settings: Settings,
    embedder: Callable[[str], Embed] | None = None,
) -> Iterator[Chunk]:
    """Yield the chunks of documents, in order.

    embedder: gives a session's embedder by name, so that its calls count to the session's budget; without
    one it is opened here, where the method needs it, and closed at the end.

    Raises ConfigError; where the method needs an embedder, ModelError and MissingExtra.
    """
    if chunker.method != "semantic":
        yield from chunk_documents(documents, chunker.method, chunker.size, chunker.overlap)
        return
    opened = None if embedder else open_embedder(chunker.embedder, settings.path(".ragstone"), settings)
    try:
        yield from chunk_documents(
            documents,
            chunker.method,
            chunker.size,
            chunker.overlap,
            embed=opened or (embedder and embedder(chunker.embedder)),
            percentile=chunker.percentile,
        )
    finally:
        if opened:
            opened.close()


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
