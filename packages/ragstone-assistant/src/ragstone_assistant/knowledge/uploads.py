"""Files that come over HTTP: what they may be called, what they must be, where they are kept."""

import asyncio
import threading
import unicodedata
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import msgspec

from ragstone.kernel.corpus.file import IngestOptions, ReadingLimits, Skipped
from ragstone.kernel.corpus.parallel import Given, ReadingProcess
from ragstone.kernel.corpus.reading import CONVERTED, PACKED, READERS
from ragstone.kernel.corpus.sources import ARCHIVE
from ragstone.kernel.errors import explaining
from ragstone.kernel.files.file import File
from ragstone.kernel.persistence.journal import replace_whole
from ragstone.kernel.records import Document
from ragstone_assistant.knowledge._cutting import Halted
from ragstone_assistant.knowledge.entry import BadUpload

FOLDER = "uploads"
MOST_BYTES_OF_NAME = 150  # file systems take 255, and a name gets an ending while it is written
HEAD = 1024  # bytes in which a file says what it is
NICE = 10  # how far what reads for a server stands back for its answers
IDLE_S = 60.0  # after so long without an upload the process that reads them ends
LIMITS = ReadingLimits()

_SAYS = {
    b"%PDF-": "a PDF file",
    b"PK\x03\x04": "a ZIP archive or an Office file",
    b"\xd0\xcf\x11\xe0": "an old or encrypted Office file",
    b"\x89PNG": "a PNG image",
    b"\xff\xd8\xff": "a JPEG image",
    b"GIF8": "a GIF image",
    b"\x7fELF": "a program",
    b"MZ\x90": "a program",
    b"\x1f\x8b": "a gzip archive",
}


def safe_name(name: str) -> str:
    """Return the name that a file is kept under: the last part of a path, without what acts on a terminal.

    Raises BadUpload for a name that nothing is left of, that is hidden or too long.
    """
    last = unicodedata.normalize("NFC", name).replace("\\", "/").rpartition("/")[2]
    plain = "".join(sign for sign in last if unicodedata.category(sign)[0] != "C" and sign not in '<>:"|?*#')
    plain = " ".join(plain.split())
    if not plain.strip(". ") or plain.startswith("."):
        raise BadUpload("name", f"a file cannot be called {name[:80]!r}. Give it a name such as maize.pdf")
    if len(plain.encode()) > MOST_BYTES_OF_NAME:
        raise BadUpload("name", f"the name {plain[:40]!r}... is too long. Give at most 40 letters.")
    return plain


class Upload(msgspec.Struct, frozen=True, kw_only=True):
    """A file that may be taken in: the name that it is kept under, its bytes, and what it gives."""

    name: str
    content: bytes
    given: Given


class UploadReader:
    """Reads uploads, one at a time, in a process that may take so much for each and ends when there is none.

    Only there: no byte of an upload is parsed in the server.
    """

    def __init__(self, options: IngestOptions, most_passages: int) -> None:
        self._options = options
        self._limits = msgspec.structs.replace(LIMITS, passages=most_passages)
        self._process = ReadingProcess(options, nice=NICE)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ragstone-upload")
        self._idle: asyncio.TimerHandle | None = None

    async def __call__(self, name: str, content: bytes) -> Upload:
        """Return what a file of this name gives. Raises BadUpload. Cancelled, the reading ends."""
        name = safe_name(name)
        _check_kind(name, content, self._options)
        file, stop = File(Path(name), f"{FOLDER}/{name}", content), threading.Event()
        loop = asyncio.get_running_loop()
        if self._idle is not None:
            self._idle.cancel()
        try:
            results = await loop.run_in_executor(self._thread, self._process.read, file, self._limits, stop)
        finally:
            stop.set()
            self._idle = loop.call_later(IDLE_S, self._thread.submit, self._process.rest)
        documents = [result for result in results if isinstance(result, Document)]
        if not documents:
            reason = next(result.reason for result in results if isinstance(result, Skipped))
            raise BadUpload("unreadable", f"{name}: {reason}.")
        return Upload(name=name, content=content, given=results)

    def close(self) -> None:
        """End the process."""
        if self._idle is not None:
            self._idle.cancel()
        self._process.end()
        self._thread.shutdown()
        self._process.close()


def _check_kind(name: str, content: bytes, options: IngestOptions) -> None:
    """Raise BadUpload for a file that is empty, too long, or not what its ending says."""
    if len(content) > options.max_file_mb * 1_000_000:
        raise BadUpload(
            "too_large",
            f"{name}: {len(content) / 1e6:,.0f} MB, more than {options.max_file_mb} MB. Split it.",
        )
    _check_ending(name)
    if not content.strip():
        raise BadUpload("unreadable", f"{name}: the file is empty.")
    ending = Path(name).suffix
    other = _disguised(ending.lower(), content[:HEAD])
    if other:
        raise BadUpload(
            "unsupported", f"{name}: its name says {ending}, but it is {other}. Rename or convert it."
        )


def _check_ending(name: str) -> None:
    ending = Path(name).suffix.lower()
    if ending in READERS:
        return
    kind = f"a file that ends in {ending!r}" if ending else "a file without an ending"
    if ending in CONVERTED:
        advice = f"Convert it to {CONVERTED[ending]}"
    elif ending == ARCHIVE:
        advice = "Unpack it, and upload its files"
    else:
        advice = f"Convert it to one of: {' '.join(READERS)}"
    raise BadUpload("unsupported", f"{name}: {kind} cannot be added. {advice}.")


def _disguised(ending: str, head: bytes) -> str | None:
    """Return what a file is that is not what its ending says; None where nothing speaks against it."""
    if ending == ".pdf":
        return None if b"%PDF-" in head else _said(head) or "not a PDF file"
    if ending in PACKED:
        return None if head.startswith(b"PK\x03\x04") else _said(head) or "not an Office file"
    return _said(head)


def _said(head: bytes) -> str | None:
    return next((sentence for magic, sentence in _SAYS.items() if head.startswith(magic)), None)


@contextmanager
def keeping(folder: Path, name: str, content: bytes) -> Iterator[None]:
    """Keep a file, whole or not at all; where the block fails, what was there before stands there again."""
    path = folder / name
    with explaining(f"{folder}: the upload cannot be saved", "Check the disk and its permissions."):
        before = path.read_bytes() if path.exists() else None
        replace_whole(path, content)
    try:
        yield
    except (BadUpload, Halted):
        if before is None:
            path.unlink(missing_ok=True)
        else:
            replace_whole(path, before)
        raise
