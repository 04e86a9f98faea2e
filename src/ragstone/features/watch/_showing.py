"""The store -> exchanges with their scores, page by page: the newest first, or the worst in a metric."""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any

import msgspec

from ragstone.features.watch._evaluations import Evaluation, evaluations_of
from ragstone.features.watch._judged import StoredScore
from ragstone.kernel.records import STATUSES, Answer, Context

AT_ONCE = 500  # exchanges whose texts and scores are read together


class ExchangeFilter(msgspec.Struct, frozen=True, kw_only=True):
    """Which exchanges are wanted; what is absent lets all through.

    text: a part of question or answer, in any case. tags: with these values. since, until: both included.
    metric: that have a judgement of it, with a `label` or a `status` of it, with a score from `at_least` to
    `at_most`. names: of these ids. feedback_at_most: that people gave no more, from 0 to 1.
    """

    text: str | None = None
    tags: dict[str, str] = {}
    since: date | None = None
    until: date | None = None
    metric: str | None = None
    label: str | None = None
    status: str | None = None
    at_least: float | None = None
    at_most: float | None = None
    feedback_at_most: float | None = None
    names: tuple[str, ...] = ()


ALL = ExchangeFilter()


class StoredExchange(msgspec.Struct, frozen=True, kw_only=True):
    """An exchange with what is known of it. n: its number in the store; name: its id in the log.

    who: a keyed digest of the conversation or user. chance: that it was judged. feedback: from 0 to 1.
    evaluations: what others' evaluators say of it.
    """

    n: int
    name: str
    time: datetime | None
    question: str
    answer: str | None
    contexts: list[Context] | None
    system: str | None
    who: str | None
    error: str | None
    tags: dict[str, str]
    chance: float
    feedback: float | None
    correction: str | None
    scores: list[StoredScore]
    evaluations: list[Evaluation] = []


JudgedExchange = tuple[Answer, date | None, list[StoredScore]]
"""An exchange as judges read it, its day (UTC) and its scores."""


class ExchangePage(msgspec.Struct, frozen=True, kw_only=True):
    """Exchanges of a page, and how many there are on all pages."""

    rows: list[StoredExchange]
    n: int
    page: int
    size: int


def answers(db: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, Answer]:
    """Return exchanges as judges read them, by number."""
    return {seen.n: _answer(seen) for some in _parts(list(numbers)) for seen in _seen(db, some, scores=False)}


def _answer(seen: StoredExchange) -> Answer:
    return Answer(
        question_id=str(seen.n),
        question=seen.question,
        answer=seen.answer or "",
        contexts=seen.contexts,
        system=seen.system or "log",
        error=seen.error,
    )


def origins(db: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, tuple[str, str]]:
    """Return number -> the name of an exchange and its span, empty where that is unknown."""
    found: dict[int, tuple[str, str]] = {}
    for some in _parts(list(dict.fromkeys(numbers))):
        rows = db.execute(
            "SELECT e.n, e.name, coalesce(s.span, '') FROM exchanges e LEFT JOIN spans s ON s.exchange = e.n"
            f" WHERE e.n IN ({','.join(str(int(n)) for n in some)})"
        )
        found |= {n: (name, span) for n, name, span in rows}
    return found


def judged_answers(db: sqlite3.Connection, numbers: Iterable[int]) -> Iterator[JudgedExchange]:
    """Yield exchanges as judges read them, with their days and their scores."""
    for some in _parts(list(numbers)):
        for seen in _seen(db, some):
            yield _answer(seen), seen.time.date() if seen.time else None, seen.scores


def numbers_of(db: sqlite3.Connection, names: Iterable[str]) -> dict[str, int]:
    """Return name -> number of the exchange of that name, of several the first that was read.

    `q-...-2`, the id that an answer sheet gives the second row of one question, is the second of that name.
    """
    numbers: dict[str, int] = {}
    for name in names:
        rows = db.execute("SELECT n FROM exchanges WHERE name = ? ORDER BY n LIMIT 1", (name,)).fetchall()
        stem, _, nth = name.rpartition("-")
        if not rows and stem.startswith("q-") and nth.isdigit():
            rows = db.execute(
                "SELECT n FROM exchanges WHERE name = ? ORDER BY n LIMIT 1 OFFSET ?", (stem, int(nth) - 1)
            ).fetchall()
        if rows:
            numbers[name] = rows[0][0]
    return numbers


def page_of(
    db: sqlite3.Connection, chosen: ExchangeFilter, page: int, size: int, *, worst_by: str | None = None
) -> ExchangePage:
    """Return a page of exchanges, the newest first, or the worst in a metric."""
    where, values = _where(chosen)
    join, order = "", "e.time IS NULL, e.time DESC, e.n DESC"
    if worst_by is not None:
        metric, _, label = worst_by.partition("=")
        join = (
            " JOIN scores w ON w.exchange = e.n AND w.score IS NOT NULL JOIN measures v ON v.n = w.measure"
            " AND v.metric = ?"
        )
        values = [metric, *values]
        order = f"CASE v.best WHEN 'lowest' THEN -w.score ELSE w.score END, {order}"
        if label:
            where += (" AND" if where else " WHERE") + " w.label IN (SELECT n FROM labels WHERE label = ?)"
            values.append(label)
    base = f"FROM exchanges e JOIN texts t ON t.n = e.n{join}{where}"
    (n,) = db.execute(f"SELECT count(*) {base}", values).fetchone()
    rows = db.execute(
        f"SELECT e.n {base} ORDER BY {order} LIMIT ? OFFSET ?",
        [*values, size, (page - 1) * size],
    ).fetchall()
    return ExchangePage(rows=_seen(db, [row[0] for row in rows]), n=n, page=page, size=size)


def shown(db: sqlite3.Connection, numbers: Sequence[int]) -> list[StoredExchange]:
    """Return exchanges with all that belongs to them, in the order of their numbers; at most AT_ONCE."""
    return _seen(db, numbers[:AT_ONCE])


def each(db: sqlite3.Connection, chosen: ExchangeFilter) -> Iterator[StoredExchange]:
    """Yield exchanges by their numbers."""
    where, values = _where(chosen)
    numbers = [
        n
        for (n,) in db.execute(
            f"SELECT e.n FROM exchanges e JOIN texts t ON t.n = e.n{where} ORDER BY e.n",
            values,
        )
    ]
    for some in _parts(numbers):
        yield from _seen(db, some)


def _where(chosen: ExchangeFilter) -> tuple[str, list[Any]]:
    """Return the conditions of a filter on `exchanges e` and `texts t`, and their values."""
    parts: list[tuple[str, list[Any]]] = []
    if chosen.text:
        like = "%" + chosen.text.replace("\\", "\\\\").replace("%", r"\%").replace("_", r"\_") + "%"
        parts.append((r"(t.question LIKE ? ESCAPE '\' OR t.answer LIKE ? ESCAPE '\')", [like, like]))
    for tag, value in chosen.tags.items():
        inner = (
            "SELECT exchange FROM tags g JOIN tag_values v ON v.n = g.value WHERE v.tag = ? AND v.value = ?"
        )
        parts.append((f"e.n IN ({inner})", [tag, value]))
    if chosen.since is not None:
        parts.append(("e.day >= ?", [chosen.since.toordinal()]))
    if chosen.until is not None:
        parts.append(("e.day <= ?", [chosen.until.toordinal()]))
    if chosen.names:
        parts.append((f"e.name IN ({','.join('?' * len(chosen.names))})", list(chosen.names)))
    if chosen.feedback_at_most is not None:
        inner = "SELECT feedback FROM said WHERE said.name = e.name"
        parts.append((f"coalesce(({inner}), e.feedback) <= ?", [chosen.feedback_at_most]))
    if chosen.metric is not None:
        parts.append(_of_metric(chosen, chosen.metric))
    where = " AND ".join(text for text, _ in parts)
    return (f" WHERE {where}" if where else ""), [value for _, values in parts for value in values]


def _of_metric(chosen: ExchangeFilter, metric: str) -> tuple[str, list[Any]]:
    text, values = "m.metric = ?", [metric]
    conditions: list[tuple[str, object]] = [
        ("s.score >= ?", chosen.at_least),
        ("s.score <= ?", chosen.at_most),
        ("s.label IN (SELECT n FROM labels WHERE label = ?)", chosen.label),
        (
            "s.status = ?",
            None
            if chosen.status is None
            else next((at for at, known in enumerate(STATUSES) if known == chosen.status), -1),
        ),
    ]
    for condition, value in conditions:
        if value is not None:
            text += f" AND {condition}"
            values.append(value)  # type: ignore[arg-type]
    inner = f"SELECT s.exchange FROM scores s JOIN measures m ON m.n = s.measure WHERE {text}"
    return f"e.n IN ({inner})", list(values)


def _parts(numbers: Sequence[int]) -> Iterator[Sequence[int]]:
    for at in range(0, len(numbers), AT_ONCE):
        yield numbers[at : at + AT_ONCE]


def _seen(db: sqlite3.Connection, numbers: Sequence[int], *, scores: bool = True) -> list[StoredExchange]:
    """Return exchanges with all that belongs to them, in the order of their numbers."""
    among = f"({','.join(str(int(n)) for n in numbers)})"
    rows = db.execute(
        "SELECT e.n, e.name, e.time, t.question, t.answer, t.contexts, t.system, t.who, t.error, e.chance,"
        " coalesce(s.feedback, e.feedback), s.correction FROM exchanges e JOIN texts t ON t.n = e.n"
        f" LEFT JOIN said s ON s.name = e.name WHERE e.n IN {among}"
    ).fetchall()
    tags: dict[int, dict[str, str]] = {}
    for exchange, tag, value in db.execute(
        "SELECT g.exchange, v.tag, v.value FROM tags g JOIN tag_values v ON v.n = g.value"
        f" WHERE g.exchange IN {among} ORDER BY v.tag"
    ):
        tags.setdefault(exchange, {})[tag] = value
    judged = _scores(db, among) if scores else {}
    evaluated = evaluations_of(db, among) if scores else {}
    listed = {row[0]: msgspec.json.decode(row[5]) for row in rows if row[5] is not None}
    numbers_used = ",".join(str(int(passage[0])) for some in listed.values() for passage in some)
    texts = dict(db.execute(f"SELECT n, text FROM passages WHERE n IN ({numbers_used})").fetchall())
    exchanges = {
        row[0]: StoredExchange(
            n=row[0],
            name=row[1],
            time=None if row[2] is None else datetime.fromtimestamp(row[2], UTC),
            question=row[3],
            answer=row[4],
            contexts=[
                Context(text=texts[passage], id=name, document_id=document, score=score)
                for passage, name, document, score in listed[row[0]]
            ]
            if row[0] in listed
            else None,
            system=row[6],
            who=row[7],
            error=row[8],
            tags=tags.get(row[0], {}),
            chance=row[9],
            feedback=row[10],
            correction=row[11],
            scores=judged.get(row[0], []),
            evaluations=evaluated.get(row[0], []),
        )
        for row in rows
    }
    return [exchanges[n] for n in numbers if n in exchanges]


def _scores(db: sqlite3.Connection, among: str) -> dict[int, list[StoredScore]]:
    scores_of: dict[int, list[StoredScore]] = {}
    for exchange, judge, version, model, metric, status, score, label, reason in db.execute(
        "SELECT s.exchange, m.judge, m.version, m.model, m.metric, s.status, s.score, l.label, r.text"
        " FROM scores s JOIN measures m ON m.n = s.measure LEFT JOIN labels l ON l.n = s.label"
        " LEFT JOIN reasons r ON r.exchange = s.exchange AND r.measure = s.measure"
        f" WHERE s.exchange IN {among} ORDER BY s.exchange, s.measure"
    ):
        scores_of.setdefault(exchange, []).append(
            StoredScore(
                judge=judge,
                version=version,
                model=model,
                metric=metric,
                status=STATUSES[status],
                score=score,
                label=label,
                reason=reason,
            )
        )
    return scores_of
