"""Files and folders -> a file of documents."""

import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.corpus.duplicates import Duplicate
from ragstone.kernel.corpus.file import IngestOptions, Skipped
from ragstone.kernel.corpus.ingest import read_files, unique_ids
from ragstone.kernel.corpus.sources import Found, files_of
from ragstone.kernel.engine.digests import made_from
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.mapping import on_cluster
from ragstone.kernel.engine.output import write_stream
from ragstone.kernel.engine.progress import Progress, State, silent
from ragstone.kernel.engine.session import Session, open_session
from ragstone.kernel.errors import DataError
from ragstone.kernel.files.file import File
from ragstone.kernel.records import Document
from ragstone.kernel.stages.ingest import read_documents_of, rows_of_files
from ragstone.kernel.tables import check_output, write_rows
from ragstone.kernel.tables.resuming import finished_rows
from ragstone.kernel.tables.storage import Place, url_of


class IngestOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone ingest --json` prints.

    documents: how many were written to output, None where there are none. formats, languages, skipped,
    duplicates: see IngestSummary. reasons: why files were skipped -> how many. dropped: duplicates left out.
    """

    documents: int
    formats: dict[str, int]
    languages: dict[str, int]
    skipped: list[Skipped]
    reasons: dict[str, int]
    duplicates: list[Duplicate]
    dropped: int
    output: str | None


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
    counted = _CountedFiles()

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


class _CountedFiles:
    """What was read so far."""

    def __init__(self) -> None:
        self._formats: Counter[str] = Counter()
        self._languages: Counter[str] = Counter()
        self._skipped: list[Skipped] = []

    def count(self, advance: Callable[[], None]) -> Callable[[Document | Skipped], None]:
        def look(row: Document | Skipped) -> None:
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
    each: Callable[[Document | Skipped], None],
    *,
    force: bool,
) -> None:
    """Write documents as they are read. Raises DataError where there is none."""
    made = made_from(session.settings, "ingest", sources, msgspec.to_builtins(options))
    files = files_of(sources, options)
    last, before = (
        (None, None) if force else finished_rows(output, Document, made, lambda row: row.source or "")
    )
    places = [_place(file) for file in files]
    start = places.index(last) if last in places else 0  # else a column of the user's says the source

    async def documents() -> AsyncIterator[Document]:
        check, has_documents = unique_ids(), start > 0
        for document in before() if before and start else ():
            check(document.source or "", document)
            each(document)
            yield document
        async for source, row in _rows(files[start:], options, session):
            check(source, row)
            each(row)
            if isinstance(row, Document):
                has_documents = True
                yield row
        if not has_documents:
            raise DataError(f"the sources have no documents. {output} was not written.")

    await write_stream(documents(), output, Document, force=force, made_from=made)


async def _rows(
    files: Sequence[Found], options: IngestOptions, session: Session
) -> AsyncIterator[tuple[str, Document | Skipped]]:
    if on_cluster(session):
        async for row in rows_of_files(files, options, session):
            yield row
        return
    with contextlib.closing(read_files(list(files), options)) as rows:
        for row in rows:
            yield row


def _place(file: Found) -> str:
    """Return what the documents of a file name as their source."""
    path = file.path if isinstance(file, File | Skipped) else file.file.path
    return url_of(path) or Path(path).as_posix()
