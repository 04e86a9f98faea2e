"""Exchanges -> the store: each once, with its draw and its chance, its passages and tags kept once.

Poisson sampling: an exchange is judged if its draw, a number from 0 to 1 that a keyed digest of it gives, is
below its chance. The draw is the same in every run, so a higher rate takes what a lower one took, and nobody
who writes to the log can choose it. The chance is known before the draw is looked at, so weights of
1 / chance make means unbiased (Horvitz and Thompson 1952).
"""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import hashlib
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

import msgspec

from ragstone.features.watch._evaluations import keep_evaluations
from ragstone.features.watch._logged import Feedback, Logged
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.records import Context

DRAWS = 2**53


def draw_of(digest: bytes, key: bytes) -> float:
    """Return the draw of an exchange, at least 0 and below 1."""
    drawn = hashlib.blake2b(digest, digest_size=8, key=key, person=b"draw").digest()
    return (int.from_bytes(drawn, "big") >> 11) / DRAWS


def chances(
    strata: Sequence[Iterable[int]], counts: Mapping[int, int], *, rate: float, at_least: int
) -> list[float]:
    """Return the chance of each exchange of one day.

    strata: of each, its values of the tags by which the sample is spread. counts: how many exchanges of the
    day had each value before; these come to them first. An exchange has the rate, or, of a value that only N
    exchanges have so far, at_least / N if that is more: so at least that many are expected of each value.
    The chance rests on counts and never on draws.
    """
    seen = Counter(counts)
    for values in strata:
        seen.update(values)
    return [
        max([rate, *(min(1.0, at_least / seen[value]) for value in values)]) if at_least else rate
        for values in strata
    ]


KNOWN = 200_000  # passages whose numbers are remembered
MOST_ASKED_FOR = 500  # values in one question to the database


class Adder:
    """Adds rows within the transaction of the caller. After a rollback, make a new one."""

    def __init__(self, db: sqlite3.Connection, key: bytes, section: MonitorSection) -> None:
        self._db, self._key, self._section = db, key, section
        self._passage = lru_cache(KNOWN)(self._passage_number)
        self._value = lru_cache(KNOWN)(self._value_number)
        self._next = 1 + (db.execute("SELECT max(n) FROM exchanges").fetchone()[0] or 0)

    def add(self, rows: Iterable[Logged]) -> int:
        """Add the exchanges that are not there yet; return how many these are. Raises sqlite3.Error.

        Of the others the evaluations are kept, which may have come since.
        """
        every = {row.digest: row for row in rows}
        told = ((row.name, said) for row in every.values() for said in row.evaluations)
        keep_evaluations(self._db, told, placed=True)
        fresh = self._fresh(every)
        by_day: dict[int | None, list[Logged]] = defaultdict(list)
        for row in fresh:
            by_day[row.day.toordinal() if row.day else None].append(row)
        for day, some in by_day.items():
            self._add_day(day, some)
        days = [(day,) for day in by_day if day is not None]
        self._db.executemany("INSERT OR IGNORE INTO stale VALUES (?)", days)
        return len(fresh)

    def say(self, rows: Sequence[Feedback]) -> None:
        """Keep what people said; the last word counts. Raises sqlite3.Error."""
        self._db.executemany(
            "INSERT OR REPLACE INTO said VALUES (?, ?, ?)",
            [(row.name, row.feedback, row.correction) for row in rows],
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO stale SELECT day FROM exchanges WHERE name = ? AND day IS NOT NULL",
            [(row.name,) for row in rows],
        )

    def _fresh(self, rows: dict[bytes, Logged]) -> list[Logged]:
        known: set[bytes] = set()
        digests = list(rows)
        for at in range(0, len(digests), MOST_ASKED_FOR):
            some = digests[at : at + MOST_ASKED_FOR]
            marks = ",".join("?" * len(some))
            rows_there = self._db.execute(f"SELECT digest FROM exchanges WHERE digest IN ({marks})", some)
            known.update(digest for (digest,) in rows_there)
        return [row for digest, row in rows.items() if digest not in known]

    def _add_day(self, day: int | None, rows: Sequence[Logged]) -> None:
        values = [{name: self._value(name, value) for name, value in row.tags.items()} for row in rows]
        taken = self._chances(
            day, [[entry[name] for name in self._section.strata if name in entry] for entry in values]
        )
        first = self._next
        self._next += len(rows)
        self._db.executemany(
            "INSERT INTO exchanges (n, digest, name, time, day, draw, chance, feedback)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (n, row.digest, row.name, row.time, day, draw_of(row.digest, self._key), chance, row.feedback)
                for n, (row, chance) in enumerate(zip(rows, taken, strict=True), first)
            ],
        )
        self._db.executemany(
            "INSERT INTO texts VALUES (?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    n,
                    row.question,
                    row.answer,
                    self._contexts(row.contexts),
                    row.system,
                    row.usage.who,
                    row.error,
                )
                for n, row in enumerate(rows, first)
            ],
        )
        self._db.executemany(
            "INSERT INTO spans VALUES (?, ?)",
            [(n, row.span) for n, row in enumerate(rows, first) if row.span],
        )
        usages = [(n, *msgspec.structs.astuple(row.usage)) for n, row in enumerate(rows, first)]
        self._db.executemany(
            "INSERT INTO usage VALUES (?, ?, ?, ?, ?, ?)",
            [entry[:6] for entry in usages if any(value is not None for value in entry[1:6])],
        )
        self._db.executemany(
            "INSERT INTO tools VALUES (?, ?, ?)", [(entry[0], *entry[6:]) for entry in usages if entry[6]]
        )
        self._db.executemany(
            "INSERT OR IGNORE INTO tags VALUES (?, ?)",
            [(n, value) for n, entry in enumerate(values, first) for value in entry.values()],
        )

    def _chances(self, day: int | None, strata: Sequence[Sequence[int]]) -> list[float]:
        """Return the chances of exchanges of one day, and count them to their values."""
        day_key = -1 if day is None else day
        seen = Counter(value for values in strata for value in values)
        before: dict[int, int] = {}
        if seen:
            before = dict(
                self._db.execute("SELECT value, n FROM counts WHERE day = ?", (day_key,)).fetchall()
            )
            self._db.executemany(
                "INSERT INTO counts VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
                [(day_key, value, n) for value, n in seen.items()],
            )
        return chances(strata, before, rate=self._section.rate, at_least=self._section.at_least)

    def _contexts(self, contexts: Sequence[Context] | None) -> str | None:
        if contexts is None:
            return None
        listed = [
            (self._passage(context.text), context.id, context.document_id, context.score)
            for context in contexts
        ]
        return msgspec.json.encode(listed).decode()

    def _passage_number(self, text: str) -> int:
        digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        return self._number("SELECT n FROM passages WHERE digest = ?", (digest,)) or self._inserted(
            "INSERT INTO passages (digest, text) VALUES (?, ?)", (digest, text)
        )

    def _value_number(self, tag: str, value: str) -> int:
        return self._number("SELECT n FROM tag_values WHERE tag = ? AND value = ?", (tag, value)) or (
            self._inserted("INSERT INTO tag_values (tag, value) VALUES (?, ?)", (tag, value))
        )

    def _number(self, question: str, values: tuple[object, ...]) -> int:
        row = self._db.execute(question, values).fetchone()
        return int(row[0]) if row else 0

    def _inserted(self, statement: str, values: tuple[object, ...]) -> int:
        return int(self._db.execute(statement, values).lastrowid or 0)
