"""Exchanges of a log -> its conversations, in memory that does not grow with the log."""

import sqlite3
import tempfile
from collections.abc import Iterable, Iterator
from itertools import chain, groupby, islice
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Turn
from ragstone.kernel.tables import check_output, read_rows, write_rows
from ragstone.kernel.tables.interchange.values import seconds_at

CONVERSATIONS = "conversations.jsonl"
_NAMES = ("conversation_id", "session_id", "thread_id", "group_id")


class GatheredOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone import --conversations --json` prints: how many there are, and the file."""

    conversations: int
    output: str


def import_conversations(
    sources: Iterable[Path], folder: Path, *, limit: int | None = None, force: bool = False
) -> tuple[int, Path]:
    """Write the conversations of logs into a folder, and return how many they are, and the file.

    limit: the most conversations. Raises DataError as read_rows and conversations_of do.
    """
    target = folder / CONVERSATIONS
    check_output(target, force)
    rows = chain.from_iterable(read_rows(source, Answer) for source in sources)
    folder.mkdir(parents=True, exist_ok=True)
    n_written = write_rows(target, islice(conversations_of(rows), limit), Answer, force=force)
    return n_written, target


def conversations_of(rows: Iterable[Answer]) -> Iterator[Answer]:
    """Yield a row for each conversation, in the order of their first exchanges.

    The exchanges of a conversation share a system and, in the metadata, `conversation_id` or what else tools
    call it. They are put in order by `time`, else as they come; they wait in a file on disk. An exchange
    of no conversation stays as it is. Raises DataError where none names one.
    """
    with tempfile.TemporaryDirectory() as scratch:
        con = sqlite3.connect(str(Path(scratch) / "exchanges.sqlite"), isolation_level=None)
        try:
            con.execute("PRAGMA journal_mode = OFF")
            con.execute(
                "CREATE TABLE row (place INTEGER PRIMARY KEY, name TEXT, system TEXT, at REAL, row BLOB)"
            )
            con.execute("BEGIN")
            con.executemany(
                "INSERT INTO row (name, system, at, row) VALUES (?, ?, ?, ?)", map(_stored_row, rows)
            )
            if con.execute("SELECT count(*), count(name) FROM row").fetchone()[1] == 0:
                raise DataError(
                    "no exchange says which conversation it belongs to. Its metadata must have one "
                    f"of {', '.join(_NAMES)}: give the field one of these names."
                )
            stored = con.execute(
                "SELECT min(place) OVER (PARTITION BY coalesce(name, place), system) AS first, name, row "
                "FROM row ORDER BY first, at, place"
            )
            decoder = msgspec.msgpack.Decoder(Answer)
            for (_, name), group in groupby(stored, key=lambda row: (row[0], row[1])):
                exchanges = [decoder.decode(blob) for _, _, blob in group]
                yield exchanges[0] if name is None else _conversation(name, exchanges)
        finally:
            con.close()


def _stored_row(row: Answer) -> tuple[str | None, str, float, bytes]:
    notes = row.metadata or {}
    name = next((str(notes[name]) for name in _NAMES if notes.get(name) not in (None, "")), None)
    return name, row.system, seconds_at(notes.get("time")) or 0.0, msgspec.msgpack.encode(row, enc_hook=str)


def _conversation(name: str, exchanges: list[Answer]) -> Answer:
    """Return the exchanges as one row; where one failed in the midst, the user has no reply to it."""
    last = exchanges[-1]
    turns: list[Turn] = []
    for exchange in exchanges:
        if exchange.question:
            turns.append(Turn("user", exchange.question))
        if exchange.error is None:
            turns.append(Turn("assistant", exchange.answer, exchange.contexts, exchange.steps))
    steps = [step for exchange in exchanges for step in exchange.steps or ()]
    shared = exchanges[0].metadata or {}
    for exchange in exchanges[1:]:
        shared = {key: value for key, value in shared.items() if (exchange.metadata or {}).get(key) == value}
    return Answer(
        question_id=name,
        system=last.system,
        question=last.question,
        answer=last.answer,
        contexts=last.contexts,
        turns=turns,
        steps=steps or None,
        error=last.error,
        tags=exchanges[0].tags,
        metadata=shared | {"exchanges": [exchange.question_id for exchange in exchanges]},
    )
