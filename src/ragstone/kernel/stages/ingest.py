"""Files -> documents -> chunks, by this process and its helpers, or by the workers of a cluster."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.corpus.file import IngestOptions, Skipped
from ragstone.kernel.corpus.ingest import Corpus, corpus_of_rows, read_corpus, unique_ids
from ragstone.kernel.corpus.parallel import ReadingProcess
from ragstone.kernel.corpus.sources import Found, files_of, loaded
from ragstone.kernel.engine.mapping import map_rows, on_cluster
from ragstone.kernel.engine.row_work import RowWork
from ragstone.kernel.engine.session import Session
from ragstone.kernel.files.file import File
from ragstone.kernel.records import Document
from ragstone.kernel.tables.storage import Place

Row = Document | Skipped
Read = list[tuple[Document | None, Skipped | None]]


class ToRead(msgspec.Struct, frozen=True, array_like=True):
    """A File as JSON has it; without a path it is none, and gives nothing."""

    path: str = ""
    id: str = ""
    content: bytes | None = None
    as_text: bool = False


@contextlib.asynccontextmanager
async def _process(options: IngestOptions, folder: str) -> AsyncIterator[ReadingProcess]:
    process = ReadingProcess(options, folder=folder)
    try:
        yield process
    finally:
        process.end()
        process.close()


async def _reading(
    session: Session, *, options: IngestOptions, folder: str
) -> Callable[[ToRead], Awaitable[Read]]:
    """Read files in a process beside this one: a file that crashes its reader is skipped, and no more.

    folder: that paths are seen from, on every worker.
    """
    process = await session.enter(_process(options, folder))
    turn = asyncio.Lock()

    async def work(file: ToRead) -> Read:
        if not file.path:
            return []
        source = File(Path(file.path), file.id, file.content, file.as_text)
        async with turn:
            results = await asyncio.to_thread(process.read, source)
        return [(result, None) if isinstance(result, Document) else (None, result) for result in results]

    return work


READING: RowWork[ToRead, Read] = RowWork(
    f"{__name__}:READING", ToRead, Read, {"options": IngestOptions, "folder": str}, _reading
)


async def rows_of_files(
    files: Sequence[Found], options: IngestOptions, session: Session
) -> AsyncIterator[tuple[str, Row]]:
    """Yield the documents of files and what gave none, each with the path of its file, read by workers."""
    paths: dict[int, str | Skipped] = {}

    def to_read() -> Iterator[ToRead]:
        for number, file in enumerate(loaded(files, options)):
            if isinstance(file, Skipped):
                paths[number] = file
                yield ToRead()
            else:
                paths[number] = str(file.path)
                yield ToRead(str(file.path), file.id, file.content, file.as_text)

    number = 0
    folder = str(Path.cwd())
    made = map_rows(READING, to_read, session, n_rows=len(files), options=options, folder=folder)
    async for read, _heard in made:
        path = paths.pop(number)
        number += 1
        if isinstance(path, Skipped):
            yield path.path, path
            continue
        for document, left_out in read:
            row = document or left_out
            assert row is not None
            yield path, row


async def read_documents_of(
    sources: Iterable[Place],
    options: IngestOptions,
    session: Session,
    advance: Callable[[], None] = lambda: None,
) -> Corpus:
    """Return what `read_corpus` returns, by the engine of the session."""
    if not on_cluster(session):
        return read_corpus(sources, options, advance)
    rows, check = [], unique_ids()
    async for path, row in rows_of_files(files_of(sources, options), options, session):
        check(path, row)
        advance()
        rows.append(row)
    return corpus_of_rows(rows, options)
