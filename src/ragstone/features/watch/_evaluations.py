"""What others' evaluators said of exchanges, as their events tell it: kept beside the scores of judges.

Nobody tells the scale of such a score, nor how its exchanges were chosen: so it enters no trend and raises no
alarm, and is shown as it came.
"""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import sqlite3
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragstone.kernel.tables.interchange.values import number_in, objects_in

OURS = "ragstone"  # the library that our own events name: what was sent to a collector is not read back
LONGEST, LONGEST_NAME = 2000, 200  # characters of an explanation, of a name
TABLE = (
    "CREATE TABLE IF NOT EXISTS evaluations (name TEXT, span TEXT, evaluator TEXT, version TEXT, metric TEXT,"
    " score REAL, label TEXT, reason TEXT, error TEXT, placed INTEGER,"
    " PRIMARY KEY (name, span, evaluator, version, metric)) WITHOUT ROWID"
)
# An evaluation of a trace with several answers, of which it names none, is of nobody knows which.
_OF = "v.name = e.name AND (v.placed OR NOT EXISTS (SELECT 1 FROM exchanges x WHERE x.name = e.name || '#2'))"


class Evaluation(msgspec.Struct, frozen=True, kw_only=True):
    """What an evaluator says of an exchange. score: on an unknown scale. error: why it says nothing.

    evaluator: its name, else that of its library; version: as it tells it, empty where it does not.
    """

    evaluator: str
    metric: str
    version: str = ""
    score: float | None = None
    label: str | None = None
    reason: str | None = None
    error: str | None = None
    span: str = ""


class Evaluations(msgspec.Struct, frozen=True, kw_only=True):
    """Evaluations of the exchange of this name, whose row is another one; empty where none is named."""

    name: str
    rows: list[Evaluation]


class EvaluatorSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What an evaluator said in one metric of the exchanges stored: n of them, n_scores with a score.

    mean, low, high: of the scores, on a scale that is not known. labels: the commonest, with their numbers.
    """

    evaluator: str
    version: str
    metric: str
    n: int
    n_scores: int
    n_errors: int
    mean: float | None
    low: float | None
    high: float | None
    labels: dict[str, int]


def evaluations_in(listed: object) -> list[Evaluation]:
    """Return the evaluations that a row has of its trace, without our own."""
    return [
        Evaluation(
            evaluator=_text(told, "evaluator", LONGEST_NAME) or "unnamed",
            metric=_text(told, "name", LONGEST_NAME) or "unnamed",
            version=_text(told, "version", LONGEST_NAME) or "",
            score=number_in(told.get("score")),
            label=_text(told, "label", LONGEST_NAME),
            reason=_text(told, "explanation", LONGEST),
            error=_text(told, "error", LONGEST_NAME),
            span=_text(told, "span_id", LONGEST_NAME) or "",
        )
        for told in objects_in(listed)
        if told.get("scope") != OURS
    ]


def _text(told: Mapping[str, object], name: str, most: int) -> str | None:
    value = told.get(name)
    return value.strip()[:most] or None if isinstance(value, str) else None


def keep_evaluations(db: sqlite3.Connection, of: Iterable[tuple[str, Evaluation]], *, placed: bool) -> None:
    """Keep evaluations by the names of exchanges, which may come later; the last word of each counts.

    placed: they are known to be of this exchange, and not only of its trace.
    """
    db.executemany(
        "INSERT OR REPLACE INTO evaluations VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            (
                *(name, row.span, row.evaluator, row.version, row.metric),
                *(row.score, row.label, row.reason, row.error, placed),
            )
            for name, row in of
        ],
    )


MOST_SHOWN = 20  # of one exchange; an evaluator may send any number


def evaluations_of(db: sqlite3.Connection, among: str) -> dict[int, list[Evaluation]]:
    """Return number of an exchange -> its evaluations, MOST_SHOWN at most. among: numbers, in parentheses."""
    found: dict[int, list[Evaluation]] = {}
    for n, evaluator, metric, version, score, label, reason, error, span in db.execute(
        "SELECT e.n, v.evaluator, v.metric, v.version, v.score, v.label, v.reason, v.error, v.span"
        f" FROM exchanges e JOIN evaluations v ON {_OF} WHERE e.n IN {among}"
        " ORDER BY e.n, v.evaluator, v.version, v.metric, v.span"
    ):
        some = found.setdefault(n, [])
        if len(some) == MOST_SHOWN:
            continue
        some.append(
            Evaluation(
                evaluator=evaluator,
                metric=metric,
                version=version,
                score=score,
                label=label,
                reason=reason,
                error=error,
                span=span,
            )
        )
    return found


SHOWN_LABELS = 5


def read_evaluators(db: sqlite3.Connection) -> list[EvaluatorSummary]:
    """Return what each evaluator said in each metric of the exchanges stored, the most diligent first."""
    joined = f"FROM exchanges e JOIN evaluations v ON {_OF}"
    labels: dict[Sequence[str], dict[str, int]] = {}
    for *key, label, n in db.execute(
        f"SELECT v.evaluator, v.version, v.metric, v.label, count(*) {joined} WHERE v.label IS NOT NULL"
        " GROUP BY 1, 2, 3, 4 ORDER BY 5 DESC, 4"
    ):
        some = labels.setdefault(tuple(key), {})
        if len(some) < SHOWN_LABELS:
            some[label] = n
    return [
        EvaluatorSummary(
            evaluator=evaluator,
            version=version,
            metric=metric,
            n=n,
            n_scores=n_scores,
            n_errors=n_errors,
            mean=mean,
            low=low,
            high=high,
            labels=labels.get((evaluator, version, metric), {}),
        )
        for evaluator, version, metric, n, n_scores, n_errors, mean, low, high in db.execute(
            "SELECT v.evaluator, v.version, v.metric, count(*), count(v.score), count(v.error), avg(v.score),"
            f" min(v.score), max(v.score) {joined} GROUP BY 1, 2, 3 ORDER BY 4 DESC, 1, 2, 3"
        )
    ]
