"""Files and folders -> documents, and the files that gave none with the reason."""

import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import msgspec

from ragstone.corpus.file import File, Unreadable
from ragstone.corpus.html import read_html
from ragstone.corpus.pdf import read_pdf
from ragstone.corpus.prose import read_markdown, read_text
from ragstone.corpus.rows import read_csv, read_jsonl
from ragstone.errors import DataError
from ragstone.records import Document

READERS: dict[str, Callable[[File], Iterable[Document]]] = {
    ".txt": read_text,
    ".text": read_text,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": read_html,
    ".htm": read_html,
    ".xhtml": read_html,
    ".pdf": read_pdf,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
}


class Skipped(msgspec.Struct, frozen=True):
    """A file, or a row of one, that gave no document, and why."""

    path: str
    reason: str


class Corpus(msgspec.Struct, frozen=True):
    """What was read, and what was not."""

    documents: list[Document]
    skipped: list[Skipped]


def read_corpus(sources: Iterable[Path | str]) -> Corpus:
    """Return everything that `ingest` yields, the documents apart from the skipped."""
    corpus = Corpus([], [])
    for found in ingest(sources):
        if isinstance(found, Document):
            corpus.documents.append(found)
        else:
            corpus.skipped.append(found)
    return corpus


def ingest(sources: Iterable[Path | str]) -> Iterator[Document | Skipped]:
    """Yield the documents of files and folders, and in their place the files that gave none.

    Order: the sources as given; in a folder its files by name, then its folders by name, and so on down.
    Hidden files and folders (.git) are passed over. A file gives all of its documents or, if any of it is
    broken, none. The id of a document is the path of its file from the folder that holds the source, with
    slashes (`docs/guide/a.md` for the source `docs`); rows may have ids of their own.

    Raises DataError for a source that does not exist or has an ending that no reader knows, and for an id
    that appears twice; MissingExtra where a file needs a package that is not installed.
    """
    places: dict[str, str] = {}
    read: set[Path] = set()
    for file in _files(sources):
        resolved = file.path.resolve()
        if resolved in read:
            yield Skipped(str(file.path), "it was read before, through another of the sources")
            continue
        read.add(resolved)
        try:
            documents = list(_reader(file.path)(file))
        except (Unreadable, OSError) as mistake:
            yield Skipped(str(file.path), str(mistake))
            continue
        if not documents:
            yield Skipped(str(file.path), "it holds no rows")
        for document in documents:
            if document.text.strip():
                _check_id(document.id, str(file.path), places)
                yield document
            else:
                yield Skipped(str(file.path) if document.id == file.id else document.id, "it holds no text")


def _files(sources: Iterable[Path | str]) -> Iterator[File]:
    for source in map(Path, sources):
        if source.is_dir():
            for path in _files_below(source):
                yield File(path, (source.name / path.relative_to(source)).as_posix())
        elif not source.exists():
            raise DataError(f"{source}: no such file or folder. Check the spelling and where you are.")
        elif source.suffix.lower() not in READERS:
            raise DataError(f"{source}: {_unknown(source)}. Convert it to one of: {' '.join(READERS)}.")
        else:
            yield File(source, source.name)


def _files_below(folder: Path) -> Iterator[Path]:
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        yield from (Path(place, name) for name in sorted(names) if not name.startswith("."))


def _reader(path: Path) -> Callable[[File], Iterable[Document]]:
    try:
        return READERS[path.suffix.lower()]
    except KeyError:
        raise Unreadable(_unknown(path)) from None


def _unknown(path: Path) -> str:
    return f"files that end in {path.suffix!r} cannot be read" if path.suffix else "its name has no ending"


def _check_id(name: str, place: str, places: dict[str, str]) -> None:
    if name in places:
        raise DataError(
            f"document id {name!r} appears in {places[name]} and in {place}. Rename one of the two, "
            "or give the folder that holds both files."
        )
    places[name] = place
