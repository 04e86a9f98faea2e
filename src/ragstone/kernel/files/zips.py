"""A ZIP archive that may mean harm -> its entries, in bounded memory; nothing is written to disk.

DOCX, PPTX and XLSX files are such archives too.
"""

import contextlib
import zipfile
import zlib
from collections.abc import Iterator
from io import BytesIO

from ragstone.kernel.files.file import File, Unreadable

MOST_ENTRIES = 100_000
MOST_BYTES = 4_000_000_000  # unpacked, of all entries
# Text shrinks to a tenth, a repetitive table to a hundredth; deflate ends at a thousandth.
BOMB_RATIO = 250
BOMB_BYTES = 50_000_000  # below, the ratio says nothing: a small file of zeros is harmless

DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError)


@contextlib.contextmanager
def opened(file: File) -> Iterator[zipfile.ZipFile]:
    """Give the archive. Raises Unreadable for what is none, and for a zip bomb."""
    source = file.path if file.content is None else BytesIO(file.content)
    try:
        archive = zipfile.ZipFile(source)
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as mistake:
        raise Unreadable(f"it is not a ZIP archive, or is a damaged one ({mistake})") from None
    with archive:
        _check(archive)
        yield archive


def _check(archive: zipfile.ZipFile) -> None:
    entries = archive.infolist()
    if len(entries) > MOST_ENTRIES:
        raise Unreadable(f"it holds {len(entries):,} entries, more than {MOST_ENTRIES:,}: unpack it first")
    # An entry gives no more bytes than the directory says, so what the directory says is what to fear.
    unpacked = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    if unpacked > MOST_BYTES or unpacked > max(BOMB_BYTES, BOMB_RATIO * packed):
        raise Unreadable(
            f"it would unpack to {unpacked / 1e6:,.0f} MB from {packed / 1e6:,.1f} MB, as zip bombs do: "
            "unpack it first, if you trust it"
        )


def read_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, most_bytes: int) -> bytes:
    """Return an entry's bytes. Raises Unreadable where it is damaged, encrypted or too large."""
    check_entry(entry)
    if entry.file_size > most_bytes:
        raise Unreadable(f"it is {too_large(entry.file_size, most_bytes)}")
    try:
        with archive.open(entry) as packed:
            return packed.read(most_bytes)
    except DAMAGED as mistake:
        raise Unreadable(f"it is damaged ({mistake})") from None


def check_entry(entry: zipfile.ZipInfo) -> None:
    """Raise Unreadable for an entry that cannot be read in bounded memory."""
    if entry.flag_bits & 0x1:
        raise Unreadable("it is encrypted: unpack the archive first")
    # The others unpack a block at once, whatever comes out of it.
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Unreadable("its compression is not deflate: unpack the archive first")


def too_large(n_bytes: int, most_bytes: int) -> str:
    """Return the words for a file that is too large, and what to do."""
    return (
        f"{n_bytes / 1e6:,.0f} MB, more than {most_bytes / 1e6:,.0f} MB: split it, or raise max_file_mb if "
        "there is memory for about ten times its size"
    )
