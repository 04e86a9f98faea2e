"""What can still be read of a ledger file that is damaged, without SQLite's way to it.

SQLite finds a row through the pages above it and the head of its own: one flipped bit there hides many good
rows, and in the first page all of them. Here the rows are looked for in the bytes, those of the write-ahead
log too, and each that is whole is taken, the newest of a key. See https://www.sqlite.org/fileformat2.html
"""

import contextlib
import mmap
import re
import sqlite3
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ragstone.kernel.errors import DataError
from ragstone.kernel.llm.ledger import readable
from ragstone.kernel.llm.response_store import Row

PAGE = 4096  # of every file that Ragstone makes
WAL_HEAD, FRAME_HEAD = 32, 24
# A row begins with the length of its head and the type of its key, a BLOB of 16 bytes or 24: 12 + 2 * length.
# No JSON has these bytes.
BEGINNING = re.compile(b"[\x05-\x0b][\x2c\x3c]")
TEXT, BLOB, FLOAT, ZERO = 13, 12, 7, 8  # types; ZERO and the next one are numbers without a byte
N_BYTES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)  # of a number, by its type
HIGHEST_LOCAL, LOWEST_LOCAL = (PAGE - 12) * 64 // 255 - 23, (PAGE - 12) * 32 // 255 - 23


class Salvage:
    """What could be read, in a temporary file. n_bad: rows that could not, as far as they are seen."""

    def __init__(self, table: sqlite3.Connection, n_bad: int) -> None:
        self._table = table
        self.n_bad = n_bad

    def rows(self) -> Iterable[Row]:
        """Return every response, ordered by key."""
        return self._table.execute("SELECT key, model, response, created FROM found ORDER BY key")


@contextlib.contextmanager
def salvaged(path: Path) -> Iterator[Salvage]:
    """Give what can be read of a damaged file. Raises DataError where it cannot be opened."""
    with contextlib.ExitStack() as stack:
        file, log = (_bytes_of(path.with_name(path.name + end), stack) for end in ("", "-wal"))
        table = stack.enter_context(contextlib.closing(sqlite3.connect("")))
        table.execute("CREATE TABLE found (key PRIMARY KEY, model, response, created) WITHOUT ROWID")
        bad: set[bytes] = set()
        for row in _rows(file, log):
            key, model, response, created, _ = row
            if readable(*row) is None:
                bad.add(key)
                continue
            table.execute(
                "INSERT INTO found VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE SET"
                " model = excluded.model, response = excluded.response, created = excluded.created"
                " WHERE created < excluded.created",
                (key, model.decode(), response, created),
            )
        good = {key for key in bad if table.execute("SELECT 1 FROM found WHERE key = ?", (key,)).fetchone()}
        yield Salvage(table, len(bad - good))


def _bytes_of(path: Path, stack: contextlib.ExitStack) -> "mmap.mmap | bytes":
    try:
        file = stack.enter_context(path.open("rb"))
        return stack.enter_context(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (FileNotFoundError, ValueError):  # the log is not there, or empty
        return b""
    except OSError as mistake:
        raise DataError(f"{path}: cannot be read ({mistake.strerror}).") from None


Found = tuple[bytes, bytes, bytes, float, int | None]
"""Key, model, response, created, checksum: as they stand there, right or wrong."""


def _rows(file: "mmap.mmap | bytes", log: "mmap.mmap | bytes") -> Iterator[Found]:
    """Yield what looks like a row in any page of the file or its log."""
    frames = range(WAL_HEAD, len(log) - FRAME_HEAD, FRAME_HEAD + PAGE)
    newest = {int.from_bytes(log[start : start + 4], "big"): start + FRAME_HEAD for start in frames}

    def page_of(number: int) -> bytes:
        start = newest.get(number)
        if start is not None:
            return log[start : start + PAGE]
        return file[(number - 1) * PAGE : number * PAGE] if number else b""

    for source, starts in ((file, range(0, len(file), PAGE)), (log, [at + FRAME_HEAD for at in frames])):
        for start in starts:
            page = source[start : start + PAGE]
            for beginning in BEGINNING.finditer(page):
                row = _row_at(page, beginning.start(), page_of, len(file) + len(log))
                if row is not None:
                    yield row


def _row_at(page: bytes, start: int, page_of: Callable[[int], bytes], most: int) -> Found | None:
    """Return the row that begins there, None if none does. most: bytes that it can have."""
    types: list[int] = []
    at, head = start + 1, page[start]
    while at < min(start + head, len(page)) and len(types) < 5:
        number, at = _varint(page, at)
        types.append(number)
    if at != start + head or len(types) not in (4, 5):
        return None
    key, model, response, created, *checksum = types
    numbers = [created, *checksum]
    if model < TEXT or model % 2 == 0 or response < BLOB or response % 2 or max(numbers) >= len(N_BYTES):
        return None
    lengths = [(key - BLOB) // 2, (model - TEXT) // 2, (response - BLOB) // 2, *(N_BYTES[n] for n in numbers)]
    if sum(lengths) > most:
        return None
    body = _payload(page, start, head + sum(lengths), page_of)[head:]
    if len(body) < sum(lengths):
        return None
    cells, at = [], 0
    for length in lengths:
        cells.append(body[at : at + length])
        at += length
    stored_checksum = int(_number(checksum[0], cells[4])) if checksum and checksum[0] else None
    return cells[0], cells[1], cells[2], _number(created, cells[3]), stored_checksum


def _number(kind: int, cell: bytes) -> float:
    if kind == FLOAT:
        return float(struct.unpack(">d", cell)[0])
    return kind - ZERO if kind >= ZERO else int.from_bytes(cell, "big", signed=True)


def _payload(page: bytes, start: int, length: int, page_of: Callable[[int], bytes]) -> bytes:
    """Return the bytes of a row: of its page, and of those in which a long one goes on."""
    if length <= HIGHEST_LOCAL:
        return page[start : start + length]
    local = LOWEST_LOCAL + (length - LOWEST_LOCAL) % (PAGE - 4)
    local = local if local <= HIGHEST_LOCAL else LOWEST_LOCAL
    parts, n = [page[start : start + local]], local
    following = page[start + local : start + local + 4]
    while n < length and (further := page_of(int.from_bytes(following, "big"))):
        parts.append(further[4 : 4 + length - n])
        n += len(parts[-1])
        following = further[:4]
        if len(further) <= 4:
            break
    return b"".join(parts)


def _varint(page: bytes, at: int) -> tuple[int, int]:
    """Return a number of 7 bits a byte, of four bytes at most, and where the next one begins."""
    number = 0
    for byte in page[at : at + 4]:
        number, at = number << 7 | byte & 127, at + 1
        if byte < 128:
            break
    return number, at
