"""Files, folders and archives -> documents, and the files that gave none with the reason."""

import contextlib
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import Path

import msgspec

from ragstone.kernel.corpus.duplicates import Duplicate, drop_duplicates, find_duplicates
from ragstone.kernel.corpus.file import IngestOptions, Skipped
from ragstone.kernel.corpus.parallel import n_processes, read_in_processes
from ragstone.kernel.corpus.reading import read_file
from ragstone.kernel.corpus.sources import Found, files_of, loaded
from ragstone.kernel.errors import DataError, checks_arguments
from ragstone.kernel.files.file import File
from ragstone.kernel.records import Document

DEFAULTS = IngestOptions()


class Corpus(msgspec.Struct, frozen=True):
    """What was read, what was not, and which documents repeat an earlier one."""

    documents: list[Document]
    skipped: list[Skipped]
    duplicates: list[Duplicate] = []


@checks_arguments
def read_corpus(
    sources: Iterable[Path | str],
    options: IngestOptions = DEFAULTS,
    advance: Callable[[], None] = lambda: None,
) -> Corpus:
    """Return everything that `ingest` yields, the documents apart from the skipped; and the duplicates.

    Documents that repeat an earlier one are dropped if the options say so; the one that is kept names them
    in `metadata["duplicates"]`. advance: called for each document and each skipped file.
    """
    return corpus_of_rows(ingest(sources, options), options, advance)


def corpus_of_rows(
    rows: Iterable[Document | Skipped], options: IngestOptions, advance: Callable[[], None] = lambda: None
) -> Corpus:
    """Return what was read, the documents apart from the skipped; and the duplicates, see read_corpus."""
    documents: list[Document] = []
    skipped: list[Skipped] = []
    for row in rows:
        if isinstance(row, Document):
            documents.append(row)
        else:
            skipped.append(row)
        advance()
    duplicates = [] if options.duplicates == "ignore" else find_duplicates(documents)
    if options.duplicates == "drop":
        documents = drop_duplicates(documents, duplicates)
    return Corpus(documents, skipped, duplicates)


@checks_arguments
def ingest(sources: Iterable[Path | str], options: IngestOptions = DEFAULTS) -> Iterator[Document | Skipped]:
    """Yield the documents of files, folders and archives, and in their place the files that gave none.

    Order: the sources as given; in a folder its files by name, then its folders by name, and so on down; a
    .zip archive is read as a folder. Hidden files and folders (.git) are passed over. A source with * ? [ or
    { is a pattern, and names files of any ending; the address of a git repository names a clone of it. A file
    gives all of its documents or, if any of it is broken, none. The id of a document is the path of its file
    from the folder that holds the source, with slashes (`docs/guide/a.md` for the source `docs`); rows may
    have ids of their own. `lang` is detected where a file does not say it.

    Raises DataError for a source that does not exist, has an ending that no reader knows or matches nothing,
    and for an id that appears twice; MissingExtra where a file needs a package that is not installed.
    """
    files = files_of(sources, options)
    check = unique_ids()
    with contextlib.closing(read_files(files, options)) as results:
        for location, row in results:
            check(location, row)
            yield row


def read_files(
    files: list[Found], options: IngestOptions
) -> Generator[tuple[str, Document | Skipped], None, None]:
    """Yield what the files give, each with the path of its file."""
    ready = loaded(files, options)
    processes = n_processes(files, options)
    results = read_in_processes(ready, options, processes) if processes else read_here(ready, options)
    with contextlib.closing(ready), contextlib.closing(results):
        for location, rows in results:
            yield from ((location, row) for row in rows)


def read_here(
    files: Iterable[File | Skipped], options: IngestOptions
) -> Generator[tuple[str, list[Document | Skipped]], None, None]:
    """Yield each file's path and what it gives, read in this process."""
    for file in files:
        yield (file.path, [file]) if isinstance(file, Skipped) else (str(file.path), read_file(file, options))


def unique_ids() -> Callable[[str, Document | Skipped], None]:
    """Return a function that takes each row with the path of its file; an id twice is a DataError."""
    places: dict[str, str] = {}

    def check(location: str, row: Document | Skipped) -> None:
        if isinstance(row, Document):
            _check_id(row.id, location, places)

    return check


def _check_id(name: str, location: str, places: dict[str, str]) -> None:
    if name in places and places[name] == location:
        raise DataError(
            f"{location}: document id {name!r} appears twice. Rename one of the two, or give the column that "
            "tells them apart with --column id=COLUMN (columns in [documents])."
        )
    if name in places:
        raise DataError(
            f"document id {name!r} appears in {places[name]} and in {location}. Rename one of the two, "
            "or give the folder that holds both files."
        )
    places[name] = location
