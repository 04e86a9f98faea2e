"""Vectors on disk, stored once by content: what was embedded is never embedded again."""

import os
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np

from ragstone.kernel.embedding.model import Vectors, widened
from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.sqlite import open_database

BUSY_S = 60
WHOLE, HALF = "<f4", "<f2"
KEYS_A_QUERY = 500  # SQLite takes 999 parameters in its oldest builds

_SCHEMA = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


def load_vectors(path: Path, keys: Sequence[bytes], *, half: bool = False) -> dict[bytes, Vectors]:
    """Return key -> (d,) vector for those of the keys that the file holds; the file is made if need be.

    half: they were stored in 16 bits a number. Which it is belongs to the model, and so to its keys.
    """
    vectors: dict[bytes, Vectors] = {}
    with _opened(path) as database:
        for start in range(0, len(keys), KEYS_A_QUERY):
            some = keys[start : start + KEYS_A_QUERY]
            # Only question marks are put into the statement, never a value.
            query = f"SELECT key, vector FROM vectors WHERE key IN ({','.join('?' * len(some))})"  # noqa: S608
            rows = database.execute(query, some)
            vectors |= {key: np.frombuffer(vector, dtype=HALF if half else WHOLE) for key, vector in rows}
    if half:
        vectors = {key: widened(vector[np.newaxis].astype(np.float16))[0] for key, vector in vectors.items()}
    return vectors


def store_vectors(path: Path, vectors: Mapping[bytes, Vectors], *, half: bool = False) -> None:
    """Store the vectors in one transaction. A key that another process stored meanwhile keeps its vector."""
    kind = HALF if half else WHOLE
    rows = [(key, vector.astype(kind).tobytes()) for key, vector in vectors.items()]
    with _opened(path) as database:
        database.executemany("INSERT OR IGNORE INTO vectors VALUES (?, ?)", rows)


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open for one batch: threads and forked processes then share nothing, and opening takes 0.2 ms."""
    try:
        opened = open_database(path, (_SCHEMA,), format_=1, busy_s=BUSY_S)
        with closing(opened) as database, database:
            yield database
    except (OSError, sqlite3.DatabaseError) as mistake:
        if not os.path.isfile(path):  # noqa: PTH113 - where it cannot be looked up, Path.is_file raises
            raise DataError(
                f"{path}: the embeddings store cannot be created ({mistake}). Check that its folder is "
                "writable."
            ) from None
        outside = isinstance(mistake, OSError | sqlite3.OperationalError)  # locked, read-only, no room
        advice = "Check the disk and who else uses it." if outside else "Delete it: it is only a cache."
        raise DataError(f"{path}: the embeddings store cannot be used ({mistake}). {advice}") from None
