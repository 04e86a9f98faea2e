"""One file -> its documents, by the reader that its ending calls for."""

import mimetypes
import traceback
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path

import msgspec

from ragstone.kernel.corpus.file import IngestOptions, Skipped
from ragstone.kernel.corpus.readers.table import documents_of, read_csv, read_jsonl
from ragstone.kernel.corpus.readers.text import code_of, read_markdown, read_source, read_text
from ragstone.kernel.errors import DataError, RagstoneError
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.files.language import detect_languages
from ragstone.kernel.files.sheet import FileTable
from ragstone.kernel.files.zips import too_large
from ragstone.kernel.records import Document
from ragstone.kernel.tables.storage import open_bytes, url_of

Reader = Callable[[File], Iterable[Document | FileTable]]


def _imported(location: str) -> Reader:
    """Return the reader at `module:function`, imported when it reads: every command imports this module."""
    module, _, name = location.partition(":")

    def read(file: File) -> Iterable[Document | FileTable]:
        reader: Reader = getattr(import_module(f"ragstone.{module}"), name)
        return reader(file)

    return read


READERS: Mapping[str, Reader] = {
    ".txt": read_text,
    ".text": read_text,
    ".rst": _imported("kernel.corpus.readers.rst:read_rst"),
    ".rest": _imported("kernel.corpus.readers.rst:read_rst"),
    ".adoc": _imported("kernel.corpus.readers.asciidoc:read_asciidoc"),
    ".asciidoc": _imported("kernel.corpus.readers.asciidoc:read_asciidoc"),
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".html": _imported("kernel.corpus.readers.html:read_html"),
    ".htm": _imported("kernel.corpus.readers.html:read_html"),
    ".xhtml": _imported("kernel.corpus.readers.html:read_html"),
    ".pdf": _imported("kernel.corpus.readers.pdf.reader:read_pdf"),
    ".docx": _imported("kernel.corpus.readers.docx:read_docx"),
    ".docm": _imported("kernel.corpus.readers.docx:read_docx"),
    ".pptx": _imported("kernel.corpus.readers.pptx:read_pptx"),
    ".pptm": _imported("kernel.corpus.readers.pptx:read_pptx"),
    ".xlsx": _imported("kernel.files.xlsx:read_xlsx"),
    ".xlsm": _imported("kernel.files.xlsx:read_xlsx"),
    ".csv": read_csv,
    ".tsv": read_csv,
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
}

PACKED = (".pdf", ".docx", ".docm", ".pptx", ".pptm", ".xlsx", ".xlsm")
"""Kinds that libraries in C read, and of which a short file may unpack to a long one."""

CONVERTED = {
    **dict.fromkeys((".doc", ".rtf", ".odt"), ".docx"),
    **dict.fromkeys((".xls", ".xlsb", ".ods"), ".xlsx"),
    **dict.fromkeys((".ppt", ".odp"), ".pptx"),
    ".epub": ".html",
}
_NO_TEXT = ("image/", "audio/", "video/", "font/")


def read_file(file: File, options: IngestOptions) -> list[Document | Skipped]:
    """Return the documents of a file, and what of it gave none; never nothing.

    A file gives all of its documents or, if any of it is broken, none. Raises MissingExtra.
    """
    if file.content is None and url_of(file.path):
        return _read_at_url(file, options)
    try:
        if file.content is None:
            n_bytes = file.path.stat().st_size
            if n_bytes > options.max_file_mb * 1e6:
                raise Unreadable(f"it is {too_large(n_bytes, options.max_file_mb * 1_000_000)}")
        documents = [
            document
            for part in reader_of(file)(file)
            for document in ([part] if isinstance(part, Document) else documents_of(part, file, options))
        ]
    except (Unreadable, OSError) as mistake:
        return [Skipped(str(file.path), str(mistake))]
    except RecursionError:
        return [Skipped(str(file.path), "it is nested too deeply to be read: make it flatter")]
    except MemoryError:
        return [Skipped(str(file.path), "there is not enough memory for it: split it")]
    except (RagstoneError, ImportError):  # no fault of this file: the others would end so too
        raise
    except Exception as mistake:  # noqa: BLE001 - of this file alone: the others are read
        frame = traceback.extract_tb(mistake.__traceback__)[-1]
        what = f"{type(mistake).__name__}: {str(mistake)[:200]}"
        where = f"{Path(frame.filename).name}, line {frame.lineno}"
        reason = f"its reader failed with {what} ({where}). That is a bug in Ragstone: please report it"
        return [Skipped(str(file.path), reason)]
    if not documents:
        return [Skipped(str(file.path), "it holds no rows")]
    return [
        document
        if document.text.strip()
        else Skipped(str(file.path) if document.id == file.id else document.id, "it holds no text")
        for document in _with_languages(documents)
    ]


def _read_at_url(file: File, options: IngestOptions) -> list[Document | Skipped]:
    """Return what a file at a URL gives; its place is told as a URL, not as pathlib writes it."""
    folded, url = str(file.path), url_of(file.path) or ""
    most = options.max_file_mb * 1_000_000
    try:
        with open_bytes(url) as opened:
            content = opened.read(most + 1)
    except (DataError, OSError) as mistake:
        return [Skipped(url, str(mistake))]
    if len(content) > most:
        return [Skipped(url, f"it is {too_large(len(content), most)}")]
    return [
        msgspec.structs.replace(row, source=(row.source or "").replace(file.source, url) or None)
        if isinstance(row, Document)
        else Skipped(row.path.replace(folded, url), row.reason)
        for row in read_file(msgspec.structs.replace(file, content=content), options)
    ]


def _with_languages(documents: list[Document]) -> list[Document]:
    """Return the documents, those in a human language that do not name it with what is detected."""
    unknown = [
        n
        for n, document in enumerate(documents)
        if document.lang is None and "code" not in (document.metadata or {})
    ]
    langs = detect_languages([documents[n].text for n in unknown])
    for number, lang in zip(unknown, langs, strict=True):
        documents[number] = msgspec.structs.replace(documents[number], lang=lang)
    return documents


def reader_of(file: File) -> Callable[[File], Iterable[Document | FileTable]]:
    """Return the reader of a file. Raises Unreadable where there is none, with what to do."""
    ending = file.path.suffix.lower()
    if ending in READERS:
        return READERS[ending]
    if ending in CONVERTED:
        raise Unreadable(f"files that end in {ending!r} cannot be read: convert it to {CONVERTED[ending]}")
    kind = mimetypes.MimeTypes().guess_type(f"a{ending}")[0] or ""
    if code_of(file) is None and kind.startswith(_NO_TEXT):
        raise Unreadable(f"files that end in {ending!r} cannot be read")
    if not file.as_text:
        if not ending:
            raise Unreadable("its name has no ending")
        raise Unreadable(f"files that end in {ending!r} are read only if a pattern names them: *{ending}")
    return read_source
