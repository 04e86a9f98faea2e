"""The conversations that are kept, in an SQLite file: their turns, and who had which exchange."""

import asyncio
import functools
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.persistence.sqlite import open_database
from ragstone.kernel.records import Turn

T = TypeVar("T")

FILE = "conversations.sqlite"
MOST_LISTED = 200
BUSY_S = 5.0

SCHEMA = """
CREATE TABLE IF NOT EXISTS conversations (id TEXT PRIMARY KEY, owner TEXT, created TEXT, changed TEXT);
CREATE INDEX IF NOT EXISTS conversations_of ON conversations (owner, changed);
CREATE TABLE IF NOT EXISTS turns (
    conversation TEXT, number INTEGER, role TEXT, text TEXT, exchange TEXT, reply BLOB,
    PRIMARY KEY (conversation, number)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS exchanges (id TEXT PRIMARY KEY, owner TEXT, at TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS exchanges_at ON exchanges (at);
CREATE INDEX IF NOT EXISTS conversations_changed ON conversations (changed);
"""


class KeptTurn(msgspec.Struct, frozen=True, kw_only=True):
    """A turn as it is kept. reply: of the assistant's, what the reply carried besides its text, as JSON."""

    role: Literal["user", "assistant"]
    text: str
    exchange_id: str
    reply: bytes | None = None


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation in a list. title: the first question; changed: ISO 8601, UTC."""

    id: str
    title: str
    turns: int
    created: str
    changed: str


def new_id(prefix: str) -> str:
    """Return an id that nobody can guess: 128 random bits."""
    return f"{prefix}-{secrets.token_hex(16)}"


class Conversations:
    """The file, worked on by one thread of its own, so that no other exchange waits for the disk.

    Owners are names of keys, or None where there are no keys: then who knows an id may use it. What has not
    changed for `days` is deleted, text and all. problem: why the file could not be read or written just now.
    Whatever asks for it then raises DataError.
    """

    def __init__(self, folder: Path, days: int) -> None:
        """Open the file, or make it. Raises DataError for one that cannot be used."""
        self.problem: str | None = None
        make_folder(folder)
        path = folder / FILE
        path.touch(mode=0o600)
        self._days = days
        self._thread = ThreadPoolExecutor(1, "conversations")
        try:
            self._db = open_database(path, SCHEMA.split(";"), format_=1, busy_s=BUSY_S)
            self._db.isolation_level = None  # transactions begin and end where this module says so
            self._db.execute("PRAGMA secure_delete = ON")
        except sqlite3.Error as mistake:
            raise DataError(
                f"{path}: the conversations cannot be read ({mistake}). If another program holds "
                "the file, end it; otherwise move the file away to start with no conversations."
            ) from None

    async def create(self, owner: str | None, now: datetime) -> str:
        """Return the id of a new conversation, after what is too old has been deleted."""
        return await self._run(self._create, owner, now)

    async def turns(self, conversation_id: str, owner: str | None) -> list[KeptTurn] | None:
        """Return the turns in order; None where there is no such conversation of that owner."""
        return await self._run(self._turns, conversation_id, owner)

    async def listed(self, owner: str | None) -> list[Summary]:
        """Return the last 200 conversations of an owner, newest first; none for None, who is anybody."""
        return await self._run(self._listed, owner)

    async def delete(self, conversation_id: str, owner: str | None) -> bool:
        """Delete a conversation; return whether there was one of that owner."""
        return await self._run(self._delete, conversation_id, owner)

    async def keep(
        self,
        exchange_id: str,
        owner: str | None,
        now: datetime,
        *,
        conversation_id: str | None = None,
        turns: tuple[Turn, ...] = (),
        reply: bytes = b"null",
        begins: bool = False,
    ) -> None:
        """Keep whose exchange it was, and its turns where it belongs to a conversation, or begins one."""

        def work() -> None:
            with self._transaction():
                if begins and conversation_id is not None:
                    self._begin(conversation_id, owner, now)
                self._keep(exchange_id, owner, now, conversation_id=conversation_id, turns=turns, reply=reply)

        await self._run(work)

    async def owns(self, exchange_id: str, owner: str | None) -> bool:
        """Return whether there was such an exchange of that owner."""
        return await self._run(self._owns, exchange_id, owner)

    def close(self) -> None:
        """Finish what is under way and close the file."""
        self._thread.shutdown()
        self._db.close()

    async def _run(self, work: Callable[..., T], *arguments: object) -> T:
        call = functools.partial(work, *arguments)
        try:
            done = await asyncio.get_running_loop().run_in_executor(self._thread, call)
        except sqlite3.Error as mistake:
            self.problem = (
                f"conversations can neither be read nor kept ({mistake}): check the disk and {FILE}"
            )
            raise DataError("conversations can neither be read nor kept now: try again") from mistake
        self.problem = None
        return done

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        self._db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")

    def _create(self, owner: str | None, now: datetime) -> str:
        made = new_id("c")
        with self._transaction():
            self._begin(made, owner, now)
        return made

    def _begin(self, conversation_id: str, owner: str | None, now: datetime) -> None:
        """Note a new conversation, and delete what is too old."""
        at, oldest = now.isoformat(), (now - timedelta(days=self._days)).isoformat()
        self._db.execute(
            "DELETE FROM turns WHERE conversation IN (SELECT id FROM conversations WHERE changed < ?)",
            (oldest,),
        )
        self._db.execute("DELETE FROM conversations WHERE changed < ?", (oldest,))
        self._db.execute("DELETE FROM exchanges WHERE at < ?", (oldest,))
        self._db.execute("INSERT INTO conversations VALUES (?, ?, ?, ?)", (conversation_id, owner, at, at))

    def _exists(self, conversation_id: str, owner: str | None) -> bool:
        query = "SELECT 1 FROM conversations WHERE id = ? AND owner IS ?"
        return self._db.execute(query, (conversation_id, owner)).fetchone() is not None

    def _turns(self, conversation_id: str, owner: str | None) -> list[KeptTurn] | None:
        if not self._exists(conversation_id, owner):
            return None
        rows = self._db.execute(
            "SELECT role, text, exchange, reply FROM turns WHERE conversation = ? ORDER BY number",
            (conversation_id,),
        )
        return [
            KeptTurn(role=role, text=text, exchange_id=exchange, reply=reply)
            for role, text, exchange, reply in rows
        ]

    def _listed(self, owner: str | None) -> list[Summary]:
        if owner is None:
            return []
        rows = self._db.execute(
            "SELECT id, coalesce((SELECT substr(text, 1, 100) FROM turns WHERE conversation = id"
            " AND number = 0), ''), (SELECT count(*) FROM turns WHERE conversation = id), created, changed"
            " FROM conversations WHERE owner = ? ORDER BY changed DESC LIMIT ?",
            (owner, MOST_LISTED),
        )
        return [
            Summary(id=name, title=title, turns=n, created=created, changed=changed)
            for name, title, n, created, changed in rows
        ]

    def _delete(self, conversation_id: str, owner: str | None) -> bool:
        if not self._exists(conversation_id, owner):
            return False
        with self._transaction():
            self._db.execute("DELETE FROM turns WHERE conversation = ?", (conversation_id,))
            self._db.execute("DELETE FROM conversations WHERE id = ?", (conversation_id,))
        return True

    def _keep(
        self,
        exchange_id: str,
        owner: str | None,
        now: datetime,
        *,
        conversation_id: str | None,
        turns: tuple[Turn, ...],
        reply: bytes,
    ) -> None:
        at = now.isoformat()
        self._db.execute("INSERT INTO exchanges VALUES (?, ?, ?)", (exchange_id, owner, at))
        # Deleted while the reply was written: nothing of it is kept.
        if conversation_id is None or not self._exists(conversation_id, owner):
            return
        self._db.execute("UPDATE conversations SET changed = ? WHERE id = ?", (at, conversation_id))
        counted = "SELECT count(*) FROM turns WHERE conversation = ?"
        [first] = self._db.execute(counted, (conversation_id,)).fetchone()
        self._db.executemany(
            "INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?)",
            [
                (conversation_id, number, turn.role, turn.content, exchange_id, body)
                for number, turn in enumerate(turns, first)
                for body in [reply if turn.role == "assistant" else None]
            ],
        )

    def _owns(self, exchange_id: str, owner: str | None) -> bool:
        query = "SELECT 1 FROM exchanges WHERE id = ? AND owner IS ?"
        return self._db.execute(query, (exchange_id, owner)).fetchone() is not None
