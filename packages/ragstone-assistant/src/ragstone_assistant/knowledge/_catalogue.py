"""The catalogue: which files, documents and chunks there are; an SQLite file, whole after every kill."""

import sqlite3
import threading
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from ragstone.kernel.embedding.model import Vectors
from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.sqlite import connect, prepare
from ragstone.kernel.records import Chunk, Document

BUSY_S = 60
SCHEMA = 1

_TABLES = """
CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS files (
    path TEXT PRIMARY KEY, root TEXT NOT NULL, name TEXT NOT NULL, upload INTEGER NOT NULL,
    digest TEXT NOT NULL, way TEXT NOT NULL, identity TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS documents (
    id TEXT PRIMARY KEY, path TEXT NOT NULL REFERENCES files ON DELETE CASCADE, row BLOB NOT NULL,
    vector BLOB NOT NULL, topic TEXT) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS chunks (
    document_id TEXT NOT NULL REFERENCES documents ON DELETE CASCADE, number INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE, first INTEGER NOT NULL, last INTEGER NOT NULL, metadata BLOB NOT NULL,
    point TEXT NOT NULL, PRIMARY KEY (document_id, number)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS excluded (document_id TEXT PRIMARY KEY, path TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sources (root TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS of_file ON documents (path);
"""


class FileRow(msgspec.Struct, frozen=True, kw_only=True):
    """A file: its path, the source that it was found under, the name that its documents have.

    digest: of its content. way: of all that decides what is made of it; identity: of the embedder.
    """

    path: str
    root: str
    name: str
    upload: bool
    digest: str
    way: str
    identity: str


class Stored(msgspec.Struct, frozen=True, kw_only=True):
    """A document with its chunks, the point that each is in Qdrant, and the mean of their vectors."""

    document: Document
    chunks: list[Chunk]
    points: list[str]
    vector: Vectors
    topic: str | None = None


class Grouped(msgspec.Struct, frozen=True, kw_only=True):
    """When documents were grouped last: how many there were, and how many have come or changed since.

    namer: its identity, None where words named the topics.
    """

    n_documents: int
    n_since: int = 0
    namer: str | None = None


class Catalogue:
    """An open catalogue; its methods may be called from any thread. Each change is one transaction."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.RLock()
        try:
            self._database = connect(path, busy_s=BUSY_S)
        except (OSError, sqlite3.Error) as mistake:
            raise DataError(
                f"{path.parent}: the knowledge base cannot be opened ({mistake}). Set store in "
                "[assistant] to a folder that can be written to."
            ) from None
        try:
            self._prepare()
        except DataError:
            self._database.close()
            raise

    def _prepare(self) -> None:
        with self._errors():
            prepare(self._database, _TABLES.split(";"), format_=1, busy_s=BUSY_S)
            self._database.execute("PRAGMA foreign_keys = ON")
            known = {"schema": str(SCHEMA), "name": uuid.uuid4().hex[:12], "revision": "0"}
            self._database.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", known.items())
            self._database.commit()
            if self._meta("schema") != str(SCHEMA):
                raise DataError(
                    f"{self.path}: this knowledge base is from another version of Ragstone. Delete "
                    "its folder and run: ragstone assistant build. Embeddings are kept."
                )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        with self._lock:
            try:
                yield
            except sqlite3.DatabaseError as mistake:
                self._database.rollback()
                outside = isinstance(mistake, sqlite3.OperationalError)  # locked, read-only, no room
                advice = (
                    "Check the disk, whether it can be written to, and who else uses it."
                    if outside
                    else "Delete its folder and run: ragstone assistant build. Embeddings are kept."
                )
                raise DataError(
                    f"{self.path}: the knowledge base cannot be used ({mistake}). {advice}"
                ) from None

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What is read in the block is of one moment, whatever another process writes meanwhile."""
        with self._errors():
            self._database.execute("BEGIN")
            try:
                yield
            finally:
                self._database.rollback()

    def _meta(self, key: str) -> str:
        row = self._database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0])

    def close(self) -> None:
        """End it. A second time: nothing."""
        with self._lock:
            self._database.close()

    @property
    def name(self) -> str:
        """What its collections on a server are called by: drawn once."""
        with self._errors():
            return self._meta("name")

    @property
    def revision(self) -> int:
        """A number that grows when a build, an upload or a removal has ended."""
        with self._errors():
            return int(self._meta("revision"))

    def revise(self) -> None:
        """Let everybody see what has changed."""
        with self._errors(), self._database:
            self._database.execute("UPDATE meta SET value = value + 1 WHERE key = 'revision'")

    def files(self) -> list[FileRow]:
        """Return the files, by path."""
        with self._errors():
            rows = self._database.execute(
                "SELECT path, root, name, upload, digest, way, identity FROM files ORDER BY path"
            ).fetchall()
        return [
            FileRow(
                path=path,
                root=root,
                name=name,
                upload=bool(upload),
                digest=digest,
                way=method,
                identity=identity,
            )
            for path, root, name, upload, digest, method, identity in rows
        ]

    def put(self, file: FileRow, stored: Sequence[Stored]) -> None:
        """Hold a file and its documents, in place of what it held of that file."""
        with self._errors(), self._database:
            self._database.execute("DELETE FROM files WHERE path = ?", (file.path,))
            self._database.execute(
                "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?)", msgspec.structs.astuple(file)
            )
            for document in stored:
                vector = document.vector.astype("<f4").tobytes()
                row = (
                    document.document.id,
                    file.path,
                    msgspec.json.encode(document.document),
                    vector,
                    document.topic,
                )
                self._database.execute("INSERT INTO documents VALUES (?, ?, ?, ?, ?)", row)
                self._database.executemany(
                    "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?)",
                    [
                        (
                            chunk.document_id,
                            number,
                            chunk.id,
                            chunk.start,
                            chunk.end,
                            msgspec.json.encode(chunk.metadata),
                            point,
                        )
                        for number, (chunk, point) in enumerate(
                            zip(document.chunks, document.points, strict=True)
                        )
                    ],
                )

    def found_again(self, file: FileRow) -> None:
        """Hold that an unchanged file was found under this source."""
        with self._errors(), self._database:
            self._database.execute(
                "UPDATE files SET root = ? WHERE path = ? AND root != ?", (file.root, file.path, file.root)
            )

    def drop_file(self, path: str) -> None:
        """Hold a file and its documents no longer."""
        with self._errors(), self._database:
            self._database.execute("DELETE FROM files WHERE path = ?", (path,))
            self._database.execute("DELETE FROM excluded WHERE path = ?", (path,))

    def exclude(self, document_id: str) -> None:
        """Hold a document no longer, and not again when its file is read the next time."""
        with self._errors(), self._database:
            self._database.execute(
                "INSERT OR REPLACE INTO excluded SELECT id, path FROM documents WHERE id = ?", (document_id,)
            )
            self._database.execute("DELETE FROM documents WHERE id = ?", (document_id,))

    def excluded(self) -> dict[str, str]:
        """Return the documents that are left out: id -> path of the file."""
        with self._errors():
            return dict(self._database.execute("SELECT document_id, path FROM excluded").fetchall())

    def readmit(self, path: str) -> bool:
        """Leave no document of this file out any more; return whether one was."""
        with self._errors(), self._database:
            return self._database.execute("DELETE FROM excluded WHERE path = ?", (path,)).rowcount > 0

    def owners(self) -> dict[str, str]:
        """Return whose each document is: id -> path of its file."""
        with self._errors():
            return dict(self._database.execute("SELECT id, path FROM documents").fetchall())

    def sources(self) -> list[str]:
        """Return the sources that were ever built from."""
        with self._errors():
            return [root for (root,) in self._database.execute("SELECT root FROM sources ORDER BY root")]

    def remember(self, roots: Sequence[str]) -> None:
        """Hold that these sources are built from."""
        with self._errors(), self._database:
            self._database.executemany(
                "INSERT OR IGNORE INTO sources VALUES (?)", [(root,) for root in roots]
            )

    def content(self) -> str:
        """Return a digest of what is held: the same files, made the same way, have the same."""
        with self._errors():
            files = self._database.execute("SELECT name, digest, way FROM files ORDER BY name, path")
            excluded = self._database.execute("SELECT document_id FROM excluded ORDER BY document_id")
            held = msgspec.json.encode((files.fetchall(), excluded.fetchall()))
        return blake2b(held, digest_size=8).hexdigest()

    def grouped(self) -> Grouped | None:
        """Return when documents were grouped last; None where they have no topics, or nobody can tell."""
        with self._errors():
            row = self._database.execute("SELECT value FROM meta WHERE key = 'grouped'").fetchone()
        try:
            return None if row is None else msgspec.json.decode(row[0], type=Grouped)
        except msgspec.DecodeError:  # of another version: they are grouped anew
            return None

    def set_topics(self, topics: dict[str, str | None], after: Grouped | None) -> None:
        """Give documents their topics, and remember when; None: they have none."""
        with self._errors(), self._database:
            rows = [(topic, document_id) for document_id, topic in topics.items()]
            self._database.executemany("UPDATE documents SET topic = ? WHERE id = ?", rows)
            if after is None:
                self._database.execute("DELETE FROM meta WHERE key = 'grouped'")
            else:
                value = msgspec.json.encode(after).decode()
                self._database.execute("INSERT OR REPLACE INTO meta VALUES ('grouped', ?)", (value,))

    def stored(self, identity: str | None) -> list[tuple[FileRow, Stored]]:
        """Return all documents whose vectors are this embedder's, by id, each with its file; None: any's."""
        with self._errors():
            files = {file.path: file for file in self.files() if identity in (None, file.identity)}
            chunks: dict[str, list[tuple[str, int, int, bytes, str]]] = {}
            for document_id, *rest in self._database.execute(
                "SELECT document_id, id, first, last, metadata, point FROM chunks "
                "ORDER BY document_id, number"
            ):
                chunks.setdefault(document_id, []).append(tuple(rest))
            rows = self._database.execute(
                "SELECT id, path, row, vector, topic FROM documents ORDER BY id"
            ).fetchall()
        return [
            (files[path], _stored(row, vector, topic, chunks.get(document_id, [])))
            for document_id, path, row, vector, topic in rows
            if path in files
        ]


def _stored(
    row: bytes, vector: bytes, topic: str | None, chunks: Sequence[tuple[str, int, int, bytes, str]]
) -> Stored:
    document = msgspec.json.decode(row, type=Document)
    return Stored(
        document=document,
        chunks=[
            Chunk(
                id=name,
                document_id=document.id,
                text=document.text[start:end],
                start=start,
                end=end,
                metadata={**(msgspec.json.decode(metadata) or {}), **({"topic": topic} if topic else {})}
                or None,
            )
            for name, start, end, metadata, _ in chunks
        ],
        points=[point for *_, point in chunks],
        vector=np.frombuffer(vector, dtype="<f4"),
        topic=topic,
    )
