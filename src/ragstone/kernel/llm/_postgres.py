"""A ledger in PostgreSQL, for processes on several machines: what one of them paid for, all of them have.

Two threads with a connection each: one looks up and claims, one stores. What callers ask for at once goes
out together, as one query or one commit; a response is used only after its commit. A connection that is lost
is made anew, for AWAY_S; responses that still cannot be stored are written to a file that
`ragstone ledger import` reads.

Who is about to make a call claims it, so that nobody makes it twice. A claim ends with its block, or when its
process has not been heard of for CLAIM_S; time is the server's alone.
"""

import asyncio
import contextlib
import logging
import math
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.llm._postgres_database import Database, Reconnecting, import_psycopg, opened
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.response_store import (
    BAD_ROWS,
    DAY_S,
    HITS_S,
    Hits,
    LedgerTurn,
    export_lines,
    superseded_key,
)
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.persistence.writer_thread import WriterThread

if TYPE_CHECKING:
    from ragstone.kernel.llm._postgres_database import Connection

CLAIM_S = 45  # longer than a server may be away: while it is, nobody can say that they are alive
ALIVE_S = 5.0  # how often that is said
RESCUED = "unstored.jsonl"

ROWS = "SELECT key, model, response, created FROM ragstone_responses WHERE key = ANY(%s)"
STORE = (
    # The first response wins. In the order of keys, so that no two processes wait for each other.
    "INSERT INTO ragstone_responses (key, model, response, created)"
    " SELECT key, model, response, created"
    " FROM unnest(%s::bytea[], %s::text[], %s::bytea[], %s::float8[])"
    " WITH ORDINALITY AS t (key, model, response, created, n) ORDER BY key, n ON CONFLICT DO NOTHING"
)
# A response that gives way is kept under a longer key; done again after a lost answer, both change nothing.
SET_ASIDE = (
    "INSERT INTO ragstone_responses (key, model, response, created)"
    " SELECT %s, model, response, created FROM ragstone_responses WHERE key = %s AND created < %s"
    " ON CONFLICT DO NOTHING"
)
RENEW = (
    "INSERT INTO ragstone_responses (key, model, response, created) VALUES (%s, %s, %s, %s)"
    " ON CONFLICT (key) DO UPDATE SET model = excluded.model, response = excluded.response,"
    " created = excluded.created"
)
COUNT = (
    "INSERT INTO ragstone_hits AS h VALUES (%s, %s, %s, %s, %s, %s, %s)"
    " ON CONFLICT (day, model) DO UPDATE SET"
    " calls = h.calls + excluded.calls, input = h.input + excluded.input,"
    " output = h.output + excluded.output, cached = h.cached + excluded.cached,"
    " uncounted = h.uncounted + excluded.uncounted"
)
# Statements about claims set synchronous_commit for themselves: they wait for no disk, and what a crash of
# the server loses of them is a claim, never a response. So each is one statement, not a transaction of four.
BEAT = (
    "INSERT INTO ragstone_claimants SELECT %s, now() + %s * interval '1 s'"
    " FROM (SELECT set_config('synchronous_commit', 'off', true)) AS leisure"
    " ON CONFLICT (id) DO UPDATE SET until = excluded.until"
)
# A key that is claimed already is granted if it is one's own (the answer was lost) or its claimant is dead.
# One that is not seen has begun since this statement did, and lives.
CLAIM = (
    "INSERT INTO ragstone_claims AS c (key, claimant)"
    " SELECT key, %(me)s FROM (SELECT set_config('synchronous_commit', 'off', true)) AS leisure,"
    " unnest(%(keys)s::bytea[], %(since)s::float8[]) AS t (key, since)"
    " WHERE NOT EXISTS (SELECT FROM ragstone_responses r WHERE r.key = t.key AND r.created >= t.since)"
    " ORDER BY key"
    " ON CONFLICT (key) DO UPDATE SET claimant = excluded.claimant"
    " WHERE c.claimant = excluded.claimant OR EXISTS"
    " (SELECT FROM ragstone_claimants a WHERE a.id = c.claimant AND a.until <= now()) RETURNING key"
)
RELEASE = (
    "DELETE FROM ragstone_claims WHERE key IN (SELECT key"
    " FROM (SELECT set_config('synchronous_commit', 'off', true)) AS leisure, ragstone_claims"
    " WHERE key = ANY(%s) AND claimant = %s ORDER BY key FOR UPDATE OF ragstone_claims)"
)
FORGET = (
    "DELETE FROM ragstone_claimants WHERE until < now() - interval '1 day'",
    "DELETE FROM ragstone_claims c WHERE NOT EXISTS"
    " (SELECT FROM ragstone_claimants a WHERE a.id = c.claimant)",
)
LEAVE = (
    "DELETE FROM ragstone_claims WHERE claimant = %s",
    "DELETE FROM ragstone_claimants WHERE id = %s",
)


LOG = logging.getLogger(__name__)


class _Wish(NamedTuple):
    """since: responses stored earlier do not count."""

    kind: Literal["find", "claim", "release"]
    key: bytes
    since: float = 0.0


class _Answer(NamedTuple):
    """model, response: None where there is none. granted: of a claim, whether the call may be made."""

    model: str | None
    response: bytes
    created: float
    granted: bool


class _Row(NamedTuple):
    """A response on its way into the database."""

    key: bytes
    model: str
    response: bytes
    created: float
    renewed: bool = False
    replaces_bad: bool = False


class PostgresLedger:
    """An open ledger. Its methods may be called from any event loop; `close` flushes."""

    def __init__(self, database: Database, folder: Path, *, counting: bool = True) -> None:
        """Connect; tables are made at the first use. Raises DataError, ConfigError and MissingExtra.

        folder: for responses that could not be stored. counting: whether a response that is found saved a
        call; a forecast saves none.
        """
        import_psycopg()
        self.database = database
        self._rescued = folder / RESCUED
        self._counting = counting
        self._hits = Hits()
        self._hits_due = time.monotonic() + HITS_S
        self._decode = msgspec.json.Decoder(Completion).decode
        self._encode = msgspec.json.Encoder().encode
        self._claims = _Claims()
        self._bad: dict[bytes, float] = {}  # responses that cannot be read -> when they were stored
        self._closing = False
        looking_up = Reconnecting(database, self._answer)
        try:
            writing = Reconnecting(database, self._store, self._rescue)
        except BaseException:
            looking_up.close()
            raise
        self._connections = writing, looking_up
        closed = f"{database}: the ledger is closed. Open it again to ask more."
        self._asking: WriterThread[_Wish, _Answer] = WriterThread(
            "ragstone-postgres-lookups", looking_up, if_closed=closed, idle_s=HITS_S
        )
        self._storing: WriterThread[_Row, None] = WriterThread(
            "ragstone-postgres-writes", writing, if_closed=closed, idle_s=HITS_S
        )

    async def find(self, key: bytes, *, saved: bool = True, since: float = 0.0) -> Completion | None:
        """Return the response stored under the key, or None; one that cannot be read is none.

        saved: whether one that is found saved a call, and is counted so. since: see AnyLedger. Raises
        DataError when the server is away for long.
        """
        return self._read(key, await self._asking.post(_Wish("find", key, since)), saved)

    def earlier(self, model: str, most: int = 200) -> list[Completion]:
        """Return some responses of a model, as good as drawn at random: they come in the order of digests.

        Raises DataError.
        """
        with opened(self.database) as connection:
            rows = connection.execute(
                "SELECT response FROM ragstone_responses WHERE model = %s ORDER BY key LIMIT %s",
                (model, most),
                binary=True,
            )
            return [completion for row in rows if (completion := self._decoded(row[0])) is not None]

    async def put(self, key: bytes, model: str, completion: Completion, *, renewed: bool = False) -> None:
        """Store a response; returns when it is committed. Raises DataError when it cannot be.

        renewed: see AnyLedger. Cancelling the caller does not take the response back: it was paid for.
        """
        row = _Row(key, model, self._encode(completion), time.time(), renewed, key in self._bad)
        await self._storing.post(row)

    async def turn(self, key: bytes, since: float = 0.0) -> LedgerTurn:
        """See AnyLedger. Raises DataError."""
        if key in self._bad:  # what is stored after it counts
            since = max(since, math.nextafter(self._bad[key], math.inf))
        answering = self._asking.post(_Wish("claim", key, since))
        try:
            answer = await asyncio.shield(answering)
        except asyncio.CancelledError:  # what is granted all the same must not stay with us

            def give_back(done: "asyncio.Future[_Answer]") -> None:
                if not done.cancelled() and done.exception() is None and done.result().granted:
                    self.release(key)

            answering.add_done_callback(give_back)
            raise
        return LedgerTurn(self._read(key, answer, saved=True), answer.granted)

    def release(self, key: bytes) -> None:
        """See AnyLedger."""
        with contextlib.suppress(DataError):  # closed: its claims are given back together
            self._asking.post(_Wish("release", key))

    def close(self) -> None:
        """Commit what is waiting, give claims back and disconnect. A second time it does nothing."""
        if self._bad and not self._closing:
            LOG.warning(BAD_ROWS, self.database, len(self._bad))
        self._closing = True
        self._storing.close()
        self._asking.close()
        for connection in self._connections:
            connection.close()

    def _read(self, key: bytes, answer: _Answer, saved: bool) -> Completion | None:
        """Return a response, None where it cannot be read; whose turn it is the next look tells."""
        if answer.model is None:
            return None
        completion = self._decoded(answer.response)
        if completion is None:
            self._bad[key] = answer.created
        elif self._counting and saved:
            self._hits.add(answer.model, completion.usage)
        return completion

    def _decoded(self, response: bytes) -> Completion | None:
        try:
            return self._decode(response)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None

    def _answer(self, connection: "Connection", wishes: list[_Wish]) -> list[_Answer]:
        """Return what is known of each key; in the first thread."""
        if self._closing and not wishes:
            self._claims.leave(connection)
            return []
        keys: dict[str, dict[bytes, float]] = {"find": {}, "claim": {}, "release": {}}
        for wish in wishes:
            of_kind = keys[wish.kind]
            of_kind[wish.key] = max(wish.since, of_kind.get(wish.key, 0.0))
        granted = self._claims.claim(connection, keys["claim"]) if keys["claim"] else set()
        try:
            # After the claims, so that what others stored before they gave theirs up is seen.
            rows = _rows(connection, keys["find"].keys() | keys["claim"].keys())
            answered = {key for key in granted if key in rows and rows[key][2] >= keys["claim"][key]}
            self._claims.release(connection, keys["release"].keys() | answered)
            granted -= answered
            self._claims.beat(connection)
        except BaseException:  # else nobody would ever be given them
            self._claims.take_back(granted)
            raise
        answers = []
        for kind, key, since in wishes:
            model, response, created = rows.get(key, (None, b"", 0.0))
            if created < since:
                model = None
            mine = kind == "claim" and model is None and key in granted
            if mine:
                granted.discard(key)  # to the first who asked for it
            answers.append(_Answer(model, response, created, mine))
        return answers

    def _store(self, connection: "Connection", rows: list[_Row]) -> list[None]:
        """Commit responses and, now and then, hits; in the second thread."""
        for row in rows:
            if row.renewed and not row.replaces_bad:
                older = superseded_key(row.key, row.created)
                connection.execute(SET_ASIDE, (older, row.key, row.created), binary=True)
            if row.renewed or row.replaces_bad:
                connection.execute(RENEW, (row.key, row.model, row.response, row.created), binary=True)
        if rows:
            plain = [row[:4] for row in rows]
            connection.execute(STORE, tuple(map(list, zip(*plain, strict=True))), binary=True)
        if self._closing or time.monotonic() >= self._hits_due:
            self._write_hits(connection)
        return [None] * len(rows)

    def _write_hits(self, connection: "Connection") -> None:
        import psycopg

        self._hits_due = time.monotonic() + HITS_S
        hits, day = self._hits.take(), int(time.time() // DAY_S)
        if not hits:
            return
        try:
            with connection.transaction(), connection.cursor() as cursor:
                cursor.executemany(COUNT, [(day, model, *hits[model]) for model in sorted(hits)])
        except psycopg.Error:
            self._hits.give_back(hits)
            raise

    def _rescue(self, rows: list[_Row]) -> str:
        """Write responses to a file, as an export has them, and return what to do with it."""
        try:
            make_folder(self._rescued.parent)
            with self._rescued.open("ab") as file:
                file.write(b"".join(export_lines(row[:4] for row in rows)))
        except OSError as mistake:
            return f"{len(rows)} responses are lost: {self._rescued} cannot be written ({mistake.strerror})."
        return (
            f"Responses that were paid for but not stored are in {self._rescued}: when the server is back, "
            f"run `ragstone ledger import {self._rescued}` and delete that file."
        )


def _rows(connection: "Connection", keys: set[bytes]) -> dict[bytes, tuple[str | None, bytes, float]]:
    """Return key -> model, response and moment of those that are there."""
    if not keys:
        return {}
    rows = connection.execute(ROWS, (list(keys),), binary=True)
    return {key: (model, response, created) for key, model, response, created in rows}


class _Claims:
    """The claims of this process, as its thread for lookups sees them."""

    def __init__(self) -> None:
        self._me = uuid.uuid4()
        self._held: set[bytes] = set()
        self._began = False
        self._beat_due = 0.0

    def claim(self, connection: "Connection", keys: dict[bytes, float]) -> set[bytes]:
        """Return those of the keys that nobody alive claims, which now are ours.

        keys: each with the moment since which there must be no response.
        """
        if not self._began:
            for statement in FORGET:
                connection.execute(statement)
            self._began = True
        self._say_alive(connection)
        free = [key for key in keys if key not in self._held]
        since = [keys[key] for key in free]
        parameters = {"me": self._me, "keys": free, "since": since}
        rows = connection.execute(CLAIM, parameters, binary=True).fetchall()
        granted = {row[0] for row in rows}
        self._held |= granted
        return granted

    def take_back(self, granted: set[bytes]) -> None:
        """Nobody was told that these are granted: they are, to this process, when it asks again."""
        self._held -= granted

    def release(self, connection: "Connection", keys: set[bytes]) -> None:
        """Let others claim these."""
        if keys:
            connection.execute(RELEASE, (list(keys), self._me))
            self._held -= keys

    def beat(self, connection: "Connection") -> None:
        """Say, when it is time, that this process is alive."""
        if self._held:
            self._say_alive(connection)

    def leave(self, connection: "Connection") -> None:
        """Give back every claim."""
        if self._began:
            for statement in LEAVE:
                connection.execute(statement, (self._me,))
            self._began = False

    def _say_alive(self, connection: "Connection") -> None:
        now = time.monotonic()
        if now >= self._beat_due:
            connection.execute(BEAT, (self._me, CLAIM_S))
            self._beat_due = now + ALIVE_S
