"""The store -> the exchanges that got no answer, or one that its contexts do not support."""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import sqlite3
from collections.abc import Sequence
from datetime import date

import msgspec

from ragstone.dataset.logs import why_left_out
from ragstone.monitor.gaps import Missed

ANSWERED, FAITHFUL = "answered", "faithfulness"
"""The metrics that say so; `answered` is no answer below its middle."""

MIDDLE = 0.5
ASKED_BACK = "asked_back"
"""The label of an answer that asks for details: its conversation goes on."""

KIND, REFUSAL = "kind", "refusal"
"""The tag by which an application itself says what its reply was, and its value where nothing was found."""

NO_GAP = ("question", "declined", "greeting", "unavailable")
"""Kinds of replies to what no document would have answered, see assistant/conversation.py."""

NOTHING_TO_WRITE = ("small_talk", "nothing_asked")
"""Texts that no document would have answered, whatever the reply was. A follow-up is a question still."""

AT_ONCE = 500


def missed_in(
    db: sqlite3.Connection,
    *,
    since: date | None = None,
    unfaithful_below: float = MIDDLE,
) -> list[Missed]:
    """Return the exchanges since a day (and those without a time) that were missed, by their numbers.

    What the application itself calls a refusal stands for itself, whether it was judged or not; what a judge
    found, for 1 / its chance. Where the application failed, asked back or declined, no document is missing,
    nor where people only greeted, thanked, or said yes or no.
    """
    kinds = _kinds(db)
    refused = {n for n, kind in kinds.items() if kind == REFUSAL}
    answered = _below(db, ANSWERED, MIDDLE, since)
    unfaithful = _below(db, FAITHFUL, unfaithful_below, since)
    left_out = {n for n, kind in kinds.items() if kind in NO_GAP}
    found = sorted((refused | ((answered | unfaithful) - _asked_back(db, since))) - left_out)
    return [
        row
        for at in range(0, len(found), AT_ONCE)
        for row in _rows(db, found[at : at + AT_ONCE], since, refused, answered)
    ]


def _kinds(db: sqlite3.Connection) -> dict[int, str]:
    """Return the kind of the exchanges whose log tells one that matters here."""
    wanted = ",".join("?" * (1 + len(NO_GAP)))
    return dict(
        db.execute(
            "SELECT g.exchange, v.value FROM tags g JOIN tag_values v ON v.n = g.value WHERE g.value IN"
            f" (SELECT n FROM tag_values WHERE tag = ? AND value IN ({wanted}))",
            (KIND, REFUSAL, *NO_GAP),
        )
    )


def _asked_back(db: sqlite3.Connection, since: date | None) -> set[int]:
    """Return the exchanges in which a judge saw the application ask for details: no context supports that."""
    rows = db.execute(
        "SELECT s.exchange FROM measures m JOIN labels l ON l.measure = m.n AND l.label = ?"
        " CROSS JOIN exchanges e CROSS JOIN scores s ON s.exchange = e.n AND s.measure = m.n"
        " WHERE m.metric = ? AND (e.day >= ? OR e.day IS NULL) AND s.label = l.n",
        (ASKED_BACK, ANSWERED, since.toordinal() if since else 0),
    )
    return {n for (n,) in rows}


def _below(db: sqlite3.Connection, metric: str, bound: float, since: date | None) -> set[int]:
    """Return the exchanges since a day with a score of a metric below a bound."""
    rows = db.execute(
        "SELECT s.exchange FROM measures m CROSS JOIN exchanges e CROSS JOIN scores s"
        " ON s.exchange = e.n AND s.measure = m.n"
        " WHERE m.metric = ? AND (e.day >= ? OR e.day IS NULL) AND s.score < ?",
        (metric, since.toordinal() if since else 0, bound),
    )
    return {n for (n,) in rows}


def _rows(
    db: sqlite3.Connection,
    numbers: Sequence[int],
    since: date | None,
    refused: set[int],
    answered: set[int],
) -> list[Missed]:
    among = f"({','.join(str(int(n)) for n in numbers)})"
    langs = dict(
        db.execute(
            "SELECT g.exchange, v.value FROM tags g JOIN tag_values v ON v.n = g.value"
            f" WHERE v.tag = 'lang' AND g.exchange IN {among}"
        )
    )
    found = db.execute(
        "SELECT e.n, e.name, e.day, e.chance, t.question, t.who, t.contexts FROM exchanges e"
        f" JOIN texts t ON t.n = e.n WHERE e.n IN {among} AND t.error IS NULL"
        " AND (e.day >= ? OR e.day IS NULL) ORDER BY e.n",
        (since.toordinal() if since else 0,),
    )
    return [
        Missed(
            id=name,
            question=question,
            why="unanswered" if n in refused or n in answered else "unfaithful",
            who=who or f"exchange {n}",
            day=None if day is None else date.fromordinal(day),
            lang=langs.get(n),
            weight=1.0 if n in refused else 1.0 / chance,
            nearest=_documents(contexts),
        )
        for n, name, day, chance, question, who, contexts in found
        if why_left_out(question) not in NOTHING_TO_WRITE
    ]


def _documents(contexts: str | None) -> tuple[str, ...]:
    """Return the documents of contexts, each once, in their order."""
    listed = [] if contexts is None else msgspec.json.decode(contexts)
    return tuple(dict.fromkeys(document for _, _, document, _ in listed if document))
