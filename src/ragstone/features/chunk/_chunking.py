"""A file of documents -> a file of chunks."""

from collections.abc import AsyncIterator, Iterator
from itertools import dropwhile

import msgspec

from ragstone.kernel.config import ChunkSection, Settings
from ragstone.kernel.engine.digests import made_from
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.output import write_stream
from ragstone.kernel.engine.progress import Progress, State, silent
from ragstone.kernel.engine.session import Session, open_session
from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.stages.chunk import chunks_of
from ragstone.kernel.tables import check_output, keep_sources, read_rows
from ragstone.kernel.tables.resuming import finished_rows
from ragstone.kernel.tables.storage import Place


class ChunkOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone chunk --json` prints: how many chunks there are, and where."""

    chunks: int
    output: str


def chunk_to_file(
    documents: Place,
    output: Place,
    chunker: ChunkSection,
    settings: Settings,
    *,
    force: bool = False,
    progress: Progress = silent,
) -> int:
    """Cut the documents of a file into a file of chunks, and return how many there are.

    Into a folder of shards, a run that died goes on with the document of the last chunk that stands there.
    Raises DataError, ConfigError; where the method needs an embedder, ModelError and MissingExtra.
    """
    check_output(output, force)
    keep_sources([output], [documents])

    async def work() -> int:
        made = made_from(settings, "chunk", [documents], chunker)
        last, before = (
            (None, None) if force else finished_rows(output, Chunk, made, lambda chunk: chunk.document_id)
        )

        def left() -> Iterator[Document]:
            rows = read_rows(documents, Document)
            return rows if last is None else dropwhile(lambda document: document.id != last, rows)

        async def chunks(session: Session) -> AsyncIterator[Chunk]:
            for chunk in before() if before else ():
                yield chunk
            with progress("chunk", None, State) as advance:
                async for chunk in chunks_of(left, session, chunker):
                    advance()
                    yield chunk

        async with open_session(settings) as session:
            return await write_stream(chunks(session), output, Chunk, force=force, made_from=made)

    return run_sync(work())
