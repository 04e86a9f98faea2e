"""Which answers are wrong and have no watched failure mode: a score of its own, beside those of judges."""

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

import msgspec

from ragstone.features.watch._judged import PLACES, SCORED
from ragstone.kernel.records import JOINT_SUFFIX

MODES_NOTE = "modes"  # under which a store keeps the sets of modes that were watched
UNCOVERED = "wrong without a mode"
"""The metric: the share of wrong answers that no watched mode holds, of all answers that were judged."""

BY_MODES = "modes"  # who judges it, as cells name it
MIDDLE = 0.5
NOT_APPLICABLE = PLACES["not_applicable"]


class ModeSet(msgspec.Struct, frozen=True, kw_only=True):
    """The modes that were watched together. since: the first day whose answers can raise an alarm.

    The days before it were in the store when the set was declared: a mode may have been found in them, and
    what chose a mode is no evidence for it. wrong_by: judges that say what is wrong; modes: name -> digest of
    the mode's judge; model: that the judges ask, none where they ask none.
    """

    since: date
    wrong_by: list[str]
    modes: dict[str, str]
    model: str


def mode_sets(db: sqlite3.Connection) -> list[ModeSet]:
    """Return the sets of modes that were ever watched, the first one first."""
    row = db.execute("SELECT value FROM notes WHERE name = ?", (MODES_NOTE,)).fetchone()
    return msgspec.json.decode(row[0], type=list[ModeSet]) if row else []


def declare_modes(
    db: sqlite3.Connection, *, wrong_by: Sequence[str], modes: Mapping[str, str], model: str
) -> None:
    """Keep the modes that are watched from now on, within the transaction of the caller."""
    sets = mode_sets(db)
    last = sets[-1] if sets else None
    if (last is None and not modes) or (last and (last.wrong_by, last.modes) == ([*wrong_by], {**modes})):
        return
    (latest,) = db.execute("SELECT max(day) FROM exchanges").fetchone()
    since = date.min if latest is None else date.fromordinal(latest) + timedelta(days=1)
    # One that no day has seen is as if it had never been.
    known = [entry for entry in sets if entry.since < since]
    known.append(ModeSet(since=since, wrong_by=list(wrong_by), modes=dict(modes), model=model))
    db.execute("INSERT OR REPLACE INTO notes VALUES (?, ?)", (MODES_NOTE, msgspec.json.encode(known)))


def keep_uncovered(db: sqlite3.Connection, day: int, sets: Sequence[ModeSet]) -> None:
    """Keep, for the exchanges of a day, whether each is wrong without a mode; for the caller's transaction.

    An answer is wrong if one of `wrong_by` scores it beyond the middle of its scale. It counts once all modes
    of that day's set have been asked. Where no judge scored it, it is not applicable; where it is wrong and a
    mode could not be scored and no other holds it, it has the status of that mode.
    """
    if not sets:
        return
    number = max((at for at, entry in enumerate(sets, 1) if entry.since.toordinal() <= day), default=1)
    chosen = sets[number - 1]
    db.execute(
        "DELETE FROM scores WHERE measure IN (SELECT n FROM measures WHERE judge = ? AND metric = ?)"
        " AND exchange IN (SELECT n FROM exchanges WHERE day = ?)",
        (BY_MODES, UNCOVERED, day),
    )
    if not chosen.modes:
        return
    key = (BY_MODES, number, chosen.model, UNCOVERED)
    db.execute(
        "INSERT OR IGNORE INTO measures (judge, version, model, metric, best) VALUES (?, ?, ?, ?, 'lowest')",
        key,
    )
    (measure,) = db.execute(
        "SELECT n FROM measures WHERE judge = ? AND version = ? AND model = ? AND metric = ?", key
    ).fetchone()
    rows = db.execute(
        "SELECT s.exchange, m.judge, m.metric, m.best, s.status, s.score FROM exchanges e JOIN scores s"
        " ON s.exchange = e.n JOIN measures m ON m.n = s.measure WHERE e.day = ? ORDER BY s.measure",
        (day,),
    )
    exchanges: dict[int, list[tuple[str, str, str, int, float | None]]] = {}
    for exchange, *score in rows:
        exchanges.setdefault(exchange, []).append((*score,))
    db.executemany(
        "INSERT INTO scores VALUES (?, ?, ?, ?, NULL, 1)",
        [
            (exchange, measure, status, float(score) if status == SCORED else None)
            for exchange, scores in exchanges.items()
            for status, score in _uncovered(scores, chosen)
        ],
    )


def _uncovered(
    scores: Iterable[tuple[str, str, str, int, float | None]], chosen: ModeSet
) -> list[tuple[int, bool]]:
    """Return the status and whether an exchange is wrong without a mode; empty before all were asked."""
    modes: dict[str, tuple[int, float | None]] = {}
    wrong: list[bool] = []
    is_judged = False
    for judge, metric, best, status, score in scores:
        if metric in chosen.modes:
            modes[metric] = (status, score)
        elif judge.removesuffix(JOINT_SUFFIX) in chosen.wrong_by and best != "none":
            is_judged = True
            if score is not None:
                wrong.append(score > MIDDLE if best == "lowest" else score < MIDDLE)
    if not is_judged or modes.keys() != chosen.modes.keys():
        return []
    if not wrong:
        return [(NOT_APPLICABLE, False)]
    is_held = any(score is not None and score >= MIDDLE for _, score in modes.values())
    if not any(wrong) or is_held:
        return [(SCORED, False)]
    unscored = [status for status, score in modes.values() if score is None and status != NOT_APPLICABLE]
    return [(unscored[0], False)] if unscored else [(SCORED, True)]
