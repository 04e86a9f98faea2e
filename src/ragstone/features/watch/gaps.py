"""Questions that production left unanswered -> knowledge gaps: what the documents lack, most wanted first."""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import sqlite3
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.corpus.topics import group_texts, topic_names, topic_terms
from ragstone.kernel.dataset.standing import why_left_out
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.errors import DataError
from ragstone.kernel.tables.cells import open_table
from ragstone.kernel.tables.outputs import check_place, partial_path

Why = Literal["unanswered", "unfaithful"]
EXAMPLES = 5  # of a gap, the most asked first
NEAREST = 5  # documents of a gap
MOST_TEXTS = 5_000  # different questions that are grouped: the most asked ones; grouping takes n log n


class Missed(msgspec.Struct, frozen=True, kw_only=True):
    """A question that got no answer, or one that its contexts do not support.

    who: the conversation or user, so that one person's ten tries are one person; the question's own id where
    the log does not tell. weight: how many exchanges it stands for (1 / its chance to be sampled). nearest:
    documents that were found for it, best first.
    """

    id: str
    question: str
    why: Why
    who: str
    day: date | None = None
    lang: str | None = None
    weight: float = 1.0
    nearest: tuple[str, ...] = ()


class GapExample(msgspec.Struct, frozen=True, kw_only=True):
    """A question of a gap as it was asked first, and by how many people. ids: of its exchanges."""

    question: str
    n_people: int
    why: Why
    ids: tuple[str, ...]


class NearDocument(msgspec.Struct, frozen=True, kw_only=True):
    """A document that was found for questions of a gap, and for how many: it is near, and lacks the
    answer."""

    document_id: str
    n_questions: int


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """What people asked and the documents do not hold.

    name: its distinguishing terms, or its one question. n_people: who asked; n_questions: exchanges that were
    judged; estimated: how many there were, where a sample was judged. first, last: days.
    """

    name: str
    terms: tuple[str, ...]
    n_people: int
    n_questions: int
    estimated: float
    unanswered: int
    unfaithful: int
    langs: dict[str, int]
    examples: tuple[GapExample, ...]
    nearest: tuple[NearDocument, ...]
    first: date | None
    last: date | None


def find_gaps(
    missed: Iterable[Missed], *, n_topics: int | None = None, embed: Embed | None = None, seed: int = 0
) -> list[Gap]:
    """Return the gaps, those that most people asked about first; empty where nothing was missed.

    Questions with the same words are one. Different ones are grouped by an embedder's vectors, across
    languages, or else by the terms that they share (corpus/topics.py). One that shares none with another is a
    gap by itself, and so, where the number is chosen, is each of a group that no term tells from the others.
    n_topics: how many groups; None chooses. Of more than MOST_TEXTS different questions the most asked are
    grouped, and each of the others is a gap by itself.
    """
    same: dict[tuple[str, ...], list[Missed]] = defaultdict(list)
    for row in missed:
        same[tuple(tokenize(row.question)) or (row.question,)].append(row)
    different = sorted(same.values(), key=lambda each: (-_n_people(each), -len(each), each[0].id))
    grouped = different[:MOST_TEXTS]
    members: dict[int, list[list[Missed]]] = defaultdict(list)
    alone = different[MOST_TEXTS:]
    terms: list[list[str]] = []
    if len(grouped) > 1:
        texts = [each[0].question for each in grouped]
        chosen = None if n_topics is None else min(n_topics, len(grouped))
        labels = group_texts(texts, chosen, embed=embed, langs=[each[0].lang for each in grouped], seed=seed)
        terms = topic_terms(texts, labels)
        for label, each in zip(labels.tolist(), grouped, strict=True):
            (members[label] if label >= 0 and (n_topics or terms[label]) else alone).append(each)
    else:
        alone = different
    names = topic_names(terms)
    gaps = [_gap(names[label], terms[label], questions) for label, questions in members.items()]
    gaps += [_gap(each[0].question, (), [each]) for each in alone]
    return sorted(gaps, key=lambda gap: (-gap.n_people, -gap.estimated, gap.name))


def _n_people(rows: Iterable[Missed]) -> int:
    return len({row.who for row in rows})


def _gap(name: str, terms: Sequence[str], questions: Sequence[Sequence[Missed]]) -> Gap:
    """Return the gap of these questions, each given as its exchanges."""
    rows = [row for each in questions for row in each]
    days = [row.day for row in rows if row.day is not None]
    near = Counter(document for row in rows for document in dict.fromkeys(row.nearest))
    return Gap(
        name=questions[0][0].question if len(questions) == 1 else name,
        terms=tuple(terms),
        n_people=_n_people(rows),
        n_questions=len(rows),
        estimated=sum(row.weight for row in rows),
        unanswered=sum(row.why == "unanswered" for row in rows),
        unfaithful=sum(row.why == "unfaithful" for row in rows),
        langs=dict(Counter(row.lang or "unknown" for row in rows).most_common()),
        examples=tuple(
            GapExample(
                question=each[0].question,
                n_people=_n_people(each),
                why=each[0].why,
                ids=tuple(row.id for row in each),
            )
            for each in questions[:EXAMPLES]
        ),
        nearest=tuple(
            NearDocument(document_id=document, n_questions=n) for document, n in near.most_common(NEAREST)
        ),
        first=min(days, default=None),
        last=max(days, default=None),
    )


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
IN_DAYS = "(e.day BETWEEN ? AND ? OR e.day IS NULL)"


def missed_in(
    db: sqlite3.Connection,
    *,
    since: date | None = None,
    until: date | None = None,
    unfaithful_below: float = MIDDLE,
) -> list[Missed]:
    """Return the exchanges of these days, and those without a time, that were missed, by their numbers.

    What the application itself calls a refusal stands for itself, whether it was judged or not; what a judge
    found, for 1 / its chance. Where the application failed, asked back or declined, no document is missing,
    nor where people only greeted, thanked, or said yes or no.
    """
    kinds = _kinds(db)
    refused = {n for n, kind in kinds.items() if kind == REFUSAL}
    days = ((since or date.min).toordinal(), (until or date.max).toordinal())
    answered = _below(db, ANSWERED, MIDDLE, days)
    unfaithful = _below(db, FAITHFUL, unfaithful_below, days)
    left_out = {n for n, kind in kinds.items() if kind in NO_GAP}
    numbers = sorted((refused | ((answered | unfaithful) - _asked_back(db, days))) - left_out)
    return [
        row
        for at in range(0, len(numbers), AT_ONCE)
        for row in _missed_rows(db, numbers[at : at + AT_ONCE], days, refused, answered)
    ]


def scored_in(db: sqlite3.Connection, *, since: date, until: date) -> list[str]:
    """Return which of the metrics by which an exchange is missed have a score in these days."""
    rows = db.execute(
        "SELECT DISTINCT m.metric FROM measures m CROSS JOIN exchanges e CROSS JOIN scores s"
        f" ON s.exchange = e.n AND s.measure = m.n WHERE m.metric IN (?, ?) AND {IN_DAYS}"
        " AND s.score IS NOT NULL",
        (ANSWERED, FAITHFUL, since.toordinal(), until.toordinal()),
    )
    return sorted(metric for (metric,) in rows)


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


def _asked_back(db: sqlite3.Connection, days: tuple[int, int]) -> set[int]:
    """Return the exchanges in which a judge saw the application ask for details: no context supports that."""
    rows = db.execute(
        "SELECT s.exchange FROM measures m JOIN labels l ON l.measure = m.n AND l.label = ?"
        " CROSS JOIN exchanges e CROSS JOIN scores s ON s.exchange = e.n AND s.measure = m.n"
        f" WHERE m.metric = ? AND {IN_DAYS} AND s.label = l.n",
        (ASKED_BACK, ANSWERED, *days),
    )
    return {n for (n,) in rows}


def _below(db: sqlite3.Connection, metric: str, bound: float, days: tuple[int, int]) -> set[int]:
    """Return the exchanges of these days with a score of a metric below a bound."""
    rows = db.execute(
        "SELECT s.exchange FROM measures m CROSS JOIN exchanges e CROSS JOIN scores s"
        " ON s.exchange = e.n AND s.measure = m.n"
        f" WHERE m.metric = ? AND {IN_DAYS} AND s.score < ?",
        (metric, *days, bound),
    )
    return {n for (n,) in rows}


def _missed_rows(
    db: sqlite3.Connection,
    numbers: Sequence[int],
    days: tuple[int, int],
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
    rows = db.execute(
        "SELECT e.n, e.name, e.day, e.chance, t.question, t.who, t.contexts FROM exchanges e"
        f" JOIN texts t ON t.n = e.n WHERE e.n IN {among} AND t.error IS NULL"
        f" AND {IN_DAYS} ORDER BY e.n",
        days,
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
            nearest=tuple(  # the documents of its contexts, each once, in their order
                dict.fromkeys(
                    document
                    for _, _, document, _ in (msgspec.json.decode(contexts) if contexts else ())
                    if document
                )
            ),
        )
        for n, name, day, chance, question, who, contexts in rows
        if why_left_out(question) not in NOTHING_TO_WRITE
    ]


GAPS_NOTE = "gaps"
MOST_KEPT = 500


class KeptGaps(msgspec.Struct, frozen=True, kw_only=True):
    """The gaps that most people asked about. n_gaps: how many there were; n_missed: exchanges in all of them.

    found: the day they were found; since: the first day that was looked at; way: the settings behind them.
    untimed: those of n_missed without a time. scored: the metrics with scores that were looked at, None in
    stores of older versions.
    """

    gaps: list[Gap]
    n_gaps: int
    n_missed: int
    found: date
    since: date
    way: str = ""
    untimed: int = 0
    scored: list[str] | None = None


def keep_gaps(
    store: MonitorStore,
    gaps: Sequence[Gap],
    *,
    found: date,
    since: date,
    way: str = "",
    untimed: int = 0,
    scored: list[str] | None = None,
) -> KeptGaps:
    """Keep the gaps in place of those before, and return what is kept."""
    stored = KeptGaps(
        gaps=list(gaps[:MOST_KEPT]),
        n_gaps=len(gaps),
        n_missed=sum(gap.n_questions for gap in gaps),
        found=found,
        since=since,
        way=way,
        untimed=untimed,
        scored=scored,
    )
    store.keep_note(GAPS_NOTE, msgspec.json.encode(stored))
    return stored


def load_gaps(store: MonitorStore) -> KeptGaps | None:
    """Return the gaps that were found last, None if they were never looked for."""
    note = store.note(GAPS_NOTE)
    return None if note is None else msgspec.json.decode(note, type=KeptGaps)


COLUMNS = (
    *("rank", "gap", "people", "exchanges judged", "exchanges estimated", "unanswered", "unfaithful"),
    *("languages", "first day", "last day", "example questions", "nearest documents", "exchange ids"),
    *("who writes it", "done"),
)
"""Of the table. The last two are for the readers to fill."""


def check_gap_list(path: Path, *, force: bool) -> Path:
    """Return the path if a work list may be written there. Raises DataError."""
    if path.suffix.lower() not in WRITERS:
        raise DataError(
            f"{path}: cannot tell the format from {path.suffix!r}. Use one of: {' '.join(WRITERS)}. Excel "
            "opens .csv."
        )
    return check_place(path, force)


def write_gaps(path: Path, gaps: Sequence[Gap], *, force: bool = False) -> Path:
    """Write the gaps, the most wanted first, whole or not at all, and return the path. Raises DataError."""
    path = check_gap_list(path, force=force)
    partial = partial_path(path)
    try:
        WRITERS[path.suffix.lower()](partial, gaps)
        partial.replace(path)
    except OSError as mistake:
        partial.unlink(missing_ok=True)
        raise DataError(
            f"{path}: could not be written ({mistake.strerror}). Free some disk space, then run again."
        ) from None
    return path


def _write_jsonl(path: Path, gaps: Sequence[Gap]) -> None:
    with path.open("wb") as file:
        for rank, gap in enumerate(gaps, 1):
            file.write(msgspec.json.encode({"rank": rank, **msgspec.structs.asdict(gap)}) + b"\n")


def _write_csv(path: Path, gaps: Sequence[Gap]) -> None:
    with open_table(path, COLUMNS, bom=True) as write:
        for rank, gap in enumerate(gaps, 1):
            write(dict(zip(COLUMNS, _cells(rank, gap), strict=True)))


def _cells(rank: int, gap: Gap) -> list[object]:
    return [
        rank,
        gap.name,
        gap.n_people,
        gap.n_questions,
        round(gap.estimated, 1),
        gap.unanswered,
        gap.unfaithful,
        ", ".join(f"{lang} {n}" for lang, n in gap.langs.items()),
        gap.first and gap.first.isoformat(),
        gap.last and gap.last.isoformat(),
        "\n".join(entry.question for entry in gap.examples),
        "\n".join(entry.document_id for entry in gap.nearest),
        " ".join(name for entry in gap.examples for name in entry.ids[:SHOWN_IDS]),
        "",
        "",
    ]


SHOWN_IDS = 3  # of an example
WRITERS: dict[str, Callable[[Path, Sequence[Gap]], None]] = {".jsonl": _write_jsonl, ".csv": _write_csv}
