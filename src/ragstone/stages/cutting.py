"""Documents -> chunks, as a table like `[chunk]` declares."""

from collections.abc import Callable, Iterable, Iterator

from ragstone.config import ChunkSection, Settings
from ragstone.corpus.chunking import chunk_documents
from ragstone.embedding.model import Embed
from ragstone.embedding.opening import open_embedder
from ragstone.records import Chunk, Document


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
