"""`ragstone ingest` and `ragstone chunk`: files -> a file of documents; a file of documents -> chunks."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from itertools import dropwhile
from pathlib import Path

import msgspec

from ragstone.config import ChunkSection, Settings
from ragstone.corpus import Duplicate, IngestOptions, Skipped
from ragstone.corpus.file import File
from ragstone.corpus.ingest import read_files, unique_ids
from ragstone.corpus.sources import Found, files_of
from ragstone.engine.ingesting import Row, chunks_of, read_documents_of, rows_of_files
from ragstone.engine.local import run_sync
from ragstone.engine.manifest import made_from
from ragstone.engine.mapping import on_cluster
from ragstone.engine.output import write_stream
from ragstone.engine.progress import Progress, State, silent
from ragstone.engine.session import Session, open_session
from ragstone.errors import DataError
from ragstone.records import Chunk, Document
from ragstone.tables import check_output, keep_sources, read_rows, write_rows
from ragstone.tables.resuming import finished_rows
from ragstone.tables.storage import Place, url_of


class IngestSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What was read. formats, languages: how many documents are of each, the most frequent first."""

    n_documents: int
    formats: dict[str, int]
    languages: dict[str, int]
    skipped: list[Skipped]
    duplicates: list[Duplicate]


def ingest_to_file(
    sources: Sequence[Place],
    output: Place,
    options: IngestOptions,
    settings: Settings,
    *,
    force: bool = False,
    progress: Progress = silent,
) -> IngestSummary:
    """Read files, folders and archives into a file of documents; it is not written where there is none.

    With `duplicates` "ignore" documents are written as they come; into a folder of shards, a run that died
    goes on with the file of the last document that stands there. Raises DataError, MissingExtra, ConfigError.
    """
    check_output(output, force)
    counted = _Counted()

    async def work() -> list[Duplicate]:
        async with open_session(settings) as session:
            with progress("ingest", None, State) as advance:
                if options.duplicates == "ignore":
                    await _stream(sources, output, options, session, counted.count(advance), force=force)
                    return []
                corpus = await read_documents_of(sources, options, session, advance)
        look = counted.count(lambda: None)
        for document in corpus.documents:
            look(document)
        for skipped in corpus.skipped:
            look(skipped)
        if corpus.documents:
            write_rows(output, corpus.documents, Document, force=force)
        return corpus.duplicates

    duplicates = run_sync(work())
    return counted.summary(duplicates)


class _Counted:
    """What was read so far."""

    def __init__(self) -> None:
        self._formats: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()
        self._skipped: list[Skipped] = []

    def count(self, advance: Callable[[], None]) -> Callable[[Row], None]:
        def look(row: Row) -> None:
            advance()
            if isinstance(row, Skipped):
                self._skipped.append(row)
                return
            self._formats[Path(row.source or "").suffix.lower() or "no ending"] += 1
            self._languages[row.lang or (row.metadata or {}).get("code") or "unknown"] += 1

        return look

    def summary(self, duplicates: list[Duplicate]) -> IngestSummary:
        return IngestSummary(
            n_documents=self._formats.total(),
            formats=dict(self._formats.most_common()),
            languages=dict(self._languages.most_common()),
            skipped=self._skipped,
            duplicates=duplicates,
        )


async def _stream(
    sources: Sequence[Place],
    output: Place,
    options: IngestOptions,
    session: Session,
    each: Callable[[Row], None],
    *,
    force: bool,
) -> None:
    """Write documents as they are read. Raises DataError where there is none."""
    made = made_from(session.settings, "ingest", sources, msgspec.to_builtins(options))
    files = files_of(sources, options)
    last, before = (
        (None, None) if force else finished_rows(output, Document, made, lambda row: row.source or "")
    )
    places = [_place(one) for one in files]
    start = places.index(last) if last in places else 0  # else a column of the user's says the source

    async def documents() -> AsyncIterator[Document]:
        check, found = unique_ids(), start > 0
        for document in before() if before and start else ():
            check(document.source or "", document)
            each(document)
            yield document
        async for place, row in _rows(files[start:], options, session):
            check(place, row)
            each(row)
            if isinstance(row, Document):
                found = True
                yield row
        if not found:
            raise DataError(f"no documents: the sources hold none. {output} was not written.")

    await write_stream(documents(), output, Document, force=force, made_from=made)


async def _rows(
    files: Sequence[Found], options: IngestOptions, session: Session
) -> AsyncIterator[tuple[str, Row]]:
    if on_cluster(session):
        async for found in rows_of_files(files, options, session):
            yield found
        return
    with contextlib.closing(read_files(list(files), options)) as read:
        for found in read:
            yield found


def _place(found: Found) -> str:
    """Return what the documents of a file name as their source."""
    path = found.path if isinstance(found, File | Skipped) else found.file.path
    return url_of(path) or str(path)


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
