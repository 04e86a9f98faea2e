"""The looks for new modes: which are due, what they found, and the alarms of that."""

import sqlite3
from datetime import date, timedelta

import msgspec

from ragstone.features.modes import signs_file
from ragstone.features.watch._alarms import ON_NEW_MODES, ON_USE, Alarm
from ragstone.features.watch._judged import cannot_drift, judge_of
from ragstone.features.watch._new_modes import (
    JudgedExchange,
    NewMode,
    alpha_of,
    find_new_modes,
    look_days,
    recent_share,
)
from ragstone.features.watch._uncovered import BY_MODES, UNCOVERED, ModeSet
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.document.numbers import one_line
from ragstone.kernel.persistence.journal import replace_whole

NEW_MODES_NOTE = "new_modes"
FOLDER = "new_modes"  # beside the store
LONGEST_TEXT = 300  # characters of an example
MOST_LOOKS = 12  # of a log that is read late: the last ones


class ModeExample(msgspec.Struct, frozen=True, kw_only=True):
    """An exchange with a new mode: its id in the log and the beginnings of its texts."""

    id: str
    question: str
    answer: str


class FoundMode(msgspec.Struct, frozen=True, kw_only=True):
    """A new mode with the file that was written for it. judge: as cells name who says what is wrong.

    over: the day since which it no longer holds, or is watched as a mode.
    """

    name: str
    title: str
    file: str
    judge: str
    mode: NewMode
    examples: list[ModeExample]
    over: date | None = None


class ModeLookResult(msgspec.Struct, frozen=True, kw_only=True):
    """The new modes so far, and how many looks each set of modes has had."""

    modes: list[FoundMode] = []
    looks: dict[int, int] = {}


def load_found(store: MonitorStore) -> ModeLookResult:
    """Return what the looks have found so far."""
    note = store.note(NEW_MODES_NOTE)
    return ModeLookResult() if note is None else msgspec.json.decode(note, type=ModeLookResult)


def look_for_new_modes(store: MonitorStore, section: MonitorSection, today: date) -> ModeLookResult:
    """Take the looks that are due, keep what they find, write its files, and return all that was found.

    Nothing is due where no modes are watched. The day that it is may still fill, and is not looked at.
    """
    sets, found = store.mode_sets, load_found(store)
    if not sets or not sets[-1].modes:
        return found
    number, watched = len(sets), sets[-1]
    store.cells(metric=UNCOVERED, tag="")  # what is wrong is found anew on days that have changed
    first = _first_day(store.connection, number, watched.since)
    if first is None:
        return found
    last = min(today, (store.last_day(today) or today) + timedelta(days=1))
    days = look_days(first, section.baseline_days, last)
    due = list(enumerate(days))[found.looks.get(number, 0) :][-MOST_LOOKS:]
    later = _adopted(found, watched)
    if due:
        rows = _rows(store.connection, number, first, last)
        for look, day in due:
            later = _look(store, section, later, rows, (number, watched), (look, day))
        later = msgspec.structs.replace(later, looks={**later.looks, number: len(days)})
    if later != found:
        store.keep_note(NEW_MODES_NOTE, msgspec.json.encode(later))
    return later


def _look(
    store: MonitorStore,
    section: MonitorSection,
    found: ModeLookResult,
    rows: list[JudgedExchange],
    watched: tuple[int, ModeSet],
    look: tuple[int, date],
) -> ModeLookResult:
    (number, of_set), (at, day) = watched, look
    spent = section.alpha * (1 - ON_USE) * ON_NEW_MODES / (number * (number + 1))
    before = [row for row in rows if row.day < day.toordinal()]
    modes = [_still(mode, before, store, day) for mode in found.modes]
    new = find_new_modes(
        before,
        store.answers,
        day,
        alpha_of(at, spent),
        known=[mode.mode.signs for mode in modes if mode.over is None],
    )
    taken = {*of_set.modes, *(mode.name for mode in modes)}
    for mode in new:
        title = mode.signs.sign.title
        name, text = signs_file(
            mode.signs.sign,
            mode.signs.unless,
            mode.signs.inputs,
            f"ragstone watch, found on {mode.looked} among wrong answers that no watched mode had",
            taken,
        )
        taken.add(name)
        path = store.path.parent / FOLDER / f"{name}.toml"
        path.parent.mkdir(exist_ok=True)
        replace_whole(path, text.encode())
        origins = store.origins(mode.examples)
        modes.append(
            FoundMode(
                name=name,
                title=title,
                file=str(path),
                judge=judge_of(BY_MODES, number, of_set.model),
                mode=mode,
                examples=[
                    ModeExample(
                        id=origins[n][0],
                        question=one_line(answer.question or "", LONGEST_TEXT),
                        answer=one_line(answer.answer, LONGEST_TEXT),
                    )
                    for n, answer in store.answers(mode.examples).items()
                ],
            )
        )
    return msgspec.structs.replace(found, modes=modes)


def _still(mode: FoundMode, rows: list[JudgedExchange], store: MonitorStore, day: date) -> FoundMode:
    """Return a mode, over where most of it has gone in the weeks before a day."""
    if mode.over is not None:
        return mode
    share, begin = recent_share(rows, store.answers, mode.mode.signs, day)
    middle = (mode.mode.before.mean + mode.mode.after.mean) / 2
    return mode if share is None or share >= middle else msgspec.structs.replace(mode, over=begin)


def _adopted(found: ModeLookResult, watched: ModeSet) -> ModeLookResult:
    """Return what was found, those modes over that are watched now."""
    modes = [
        msgspec.structs.replace(mode, over=max(watched.since, mode.mode.looked))
        if mode.over is None and mode.name in watched.modes
        else mode
        for mode in found.modes
    ]
    return msgspec.structs.replace(found, modes=modes)


def _first_day(db: sqlite3.Connection, number: int, since: date) -> date | None:
    (first,) = db.execute(
        "SELECT min(e.day) FROM measures m JOIN scores s ON s.measure = m.n JOIN exchanges e"
        " ON e.n = s.exchange WHERE m.judge = ? AND m.metric = ? AND m.version = ? AND e.day >= ?",
        (BY_MODES, UNCOVERED, number, since.toordinal()),
    ).fetchone()
    return None if first is None else date.fromordinal(first)


def _rows(db: sqlite3.Connection, number: int, first: date, last: date) -> list[JudgedExchange]:
    rows = db.execute(
        "SELECT e.n, e.day, s.score, e.chance, coalesce(t.who, ''), t.question FROM measures m"
        " JOIN scores s ON s.measure = m.n JOIN exchanges e ON e.n = s.exchange JOIN texts t ON t.n = e.n"
        " WHERE m.judge = ? AND m.metric = ? AND m.version = ? AND s.score IS NOT NULL"
        " AND e.day >= ? AND e.day < ? ORDER BY e.day, e.n",
        (BY_MODES, UNCOVERED, number, first.toordinal(), last.toordinal()),
    )
    return [
        JudgedExchange(n=n, day=day, wrong=score > 0, chance=chance, who=who, question=question)
        for n, day, score, chance, who, question in rows
    ]


def new_mode_alarms(found: ModeLookResult) -> list[Alarm]:
    """Return an alarm for each new mode, open or over."""
    return [_alarm(mode) for mode in found.modes]


def _alarm(found: FoundMode) -> Alarm:
    mode = found.mode
    # Signs ask no model, but judges that do may say what is wrong.
    judges = (
        "not the judges, which call no model: answers or questions changed"
        if cannot_drift(found.judge)
        else "unknown whether the judges changed that say what is wrong"
    )
    return Alarm(
        metric=f"new mode: {found.title}",
        tag="",
        value="",
        judge=found.judge,
        how="new mode",
        compared=mode.compared,
        since=mode.since,
        raised=mode.looked,
        before=mode.before,
        after=mode.after,
        worse=True,
        e_value=None,
        alpha=mode.alpha,
        cause="unknown",
        says=f"{judges}. To watch it, move {found.file} to the folder of your modes",
        over=found.over,
    )
