"""A row of a log, in anybody's columns -> what was asked and answered, and what people thought of it."""

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, time
from typing import Any

import msgspec

from ragstone.kernel.records import Answer, Context
from ragstone.kernel.tables.columns import as_contexts, as_number, value_at
from ragstone.kernel.tables.interchange.values import answer_text, question_text, said_in, seconds_at
from ragstone.kernel.tables.names import (
    ANSWER_NAMES,
    CONTEXT_NAMES,
    LANGUAGE_CODE,
    LOG_ID,
    LOG_NAMES,
    QUESTION_NAMES,
    accepted_names,
)

MONTH = "month"
"""The tag that a row without one has from its time: 2026-11, in UTC."""

_EARLIEST, _LATEST = 1e8, 4.2e9  # 1973 and 2103: a number outside is no time


class Columns(msgspec.Struct, frozen=True):
    """The columns that the user has named; None and empty: those whose names are known.

    A name with dots reaches into objects: `feedback.thumbs`. A tag is also found among the row's `tags`.
    """

    question: str | None = None
    answer: str | None = None
    quality: str | None = None
    reference: str | None = None
    tags: tuple[str, ...] = ()
    time: str | None = None


class LoggedExchange(msgspec.Struct, frozen=True):
    """What one row says: a question, and what is known of its answer. `quality` is as the log has it.

    lang: the language that the row names by a code. The locale of a program is none: people ask in others.
    """

    question: str
    id: str | None = None
    answer: str | None = None
    contexts: list[Context] | None = None
    system: str | None = None
    reference: str | None = None
    quality: object = None
    tags: dict[str, str] = {}
    lang: str | None = None

    @property
    def rating(self) -> float | None:
        """Its quality as a number, higher is better; None for none, and for what nobody can read."""
        return as_quality(self.quality)


def exchange_of(raw: Mapping[str, Any], columns: Columns) -> LoggedExchange | None:
    """Return what a row says, None where it asks nothing.

    The question is the named column, else the first known one that holds text; of a list of messages the last
    of a user, and the answer is the assistant's after it. Requests to and replies of OpenAI's endpoints,
    in batches too, are such lists.
    """
    row = {str(name).strip().casefold(): value for name, value in raw.items()}
    row |= {str(name): value for name, value in raw.items()}
    question, answer = said_in(row)
    if columns.question is not None:
        question = question_text(value_at(raw, columns.question))
    elif question is None:
        question = next((text for name in QUESTION_NAMES if (text := question_text(row.get(name)))), None)
    if not question:
        return None
    if columns.answer is not None:
        answer = answer_text(value_at(raw, columns.answer))
    elif answer is None:
        answer = next((text for name in ANSWER_NAMES if (text := answer_text(row.get(name)))), None)
    systems = accepted_names(Answer, "system")
    tags = {name: first_of(raw, (name, f"tags.{name}")) for name in columns.tags}  # rows of ours carry tags
    if MONTH in tags and tags[MONTH] is None:
        when = seconds_of(first_of(raw, LOG_NAMES.times if columns.time is None else (columns.time,)))
        tags[MONTH] = None if when is None else f"{datetime.fromtimestamp(when, UTC):%Y-%m}"
    return LoggedExchange(
        question=question,
        id=next((str(row[name]) for name in LOG_ID if isinstance(row.get(name), str | int)), None),
        answer=answer,
        contexts=_contexts(row),
        system=next((row[name] for name in systems if isinstance(row.get(name), str) and row[name]), None),
        reference=answer_text(value_at(raw, columns.reference)) if columns.reference else None,
        quality=value_at(raw, columns.quality) if columns.quality else None,
        tags={name: str(value) for name, value in tags.items() if value not in (None, "")},
        lang=_lang(row),
    )


def _lang(row: Mapping[str, Any]) -> str | None:
    inner = [row.get(name) for name in ("tags", "metadata")]
    for held in (row, *(part for part in inner if isinstance(part, Mapping))):
        for name in ("lang", "language"):
            value = held.get(name)
            if isinstance(value, str) and value != "und" and LANGUAGE_CODE.fullmatch(value):
                return value
    return None


def seconds_of(value: object) -> float | None:
    """Return a point in time in seconds since 1970, None for what tells none.

    Of a datetime, a date (its midnight), ISO 8601, or a number of seconds, milli-, micro- or nanoseconds,
    which its size tells. What has no zone is UTC.
    """
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time(), UTC)
    seconds = seconds_at(value.strip() if isinstance(value, str) else value)
    return seconds if seconds is not None and _EARLIEST <= seconds <= _LATEST else None


def first_of(raw: Mapping[str, Any], columns: Iterable[str]) -> Any:
    """Return the first value under one of the names; None where there is none."""
    for column in columns:
        value = value_at(raw, column)
        if value is not None and value != "" and value == value:
            return value
    return None


def _contexts(row: Mapping[str, Any]) -> list[Context] | None:
    contexts = next((row[name] for name in CONTEXT_NAMES if row.get(name)), None)
    if contexts is None:
        return None
    try:
        return msgspec.convert(as_contexts(contexts), list[Context] | None)
    except (TypeError, ValueError):  # of a form that nobody knows: an answer without its contexts
        return None


_UP = {
    "up",
    "thumbs_up",
    "thumbsup",
    "thumbs up",
    "like",
    "liked",
    "positive",
    "good",
    "helpful",
    "great",
    "👍",
    "🙂",
}
_DOWN = {
    "down",
    "thumbs_down",
    "thumbsdown",
    "thumbs down",
    "dislike",
    "disliked",
    "negative",
    "bad",
    "unhelpful",
}
_DOWN |= {"not helpful", "not_helpful", "👎", "🙁"}
_STARS = re.compile(r"[★⭐]+")
_OF = re.compile(r"(-?\d+(?:[.,]\d+)?)\s*(?:/|out of|of)\s*\d+")


FEEDBACK_METRICS = (None, "thumb", "feedback", "correction", "rating")
"""Metrics of labels that are people's feedback; others are what annotators found."""


def is_feedback_row(row: Mapping[str, Any]) -> bool:
    """Return whether a row of labels is people's feedback: a score for an id, without a question or judge."""
    return (
        isinstance(row.get("question_id"), str | int)
        and "score" in row
        and not row.keys() & {"question", "answer", "judge"}
        and row.get("metric") in FEEDBACK_METRICS
    )


def feedback_on(feedback: object, scale: tuple[float, float], *, metric: object = None) -> float | None:
    """Return a feedback from 0 to 1; None for what is not on the scale. metric: of a row of labels.

    Words, true and false, and 0 and 1 of the metrics `thumb` and `correction` are thumbs on every scale.
    """
    if isinstance(feedback, Mapping) and "score" not in feedback and "value" not in feedback:
        feedback = first_of(feedback, ("thumb", "thumbs", "rating", "type", "label"))
    value, (low, high) = as_quality(feedback), scale
    if value is None:
        return None
    is_word = isinstance(feedback, bool) or (isinstance(feedback, str) and not feedback.strip()[:1].isdigit())
    if value in (0.0, 1.0) and (is_word or metric in ("thumb", "correction")):
        return value
    return (value - low) / (high - low) if low <= value <= high else None


def as_quality(value: object) -> float | None:
    """Return a feedback as a number, higher is better; None for none, and for what nobody can read.

    Thumbs and yes or no are 1 and 0, stars and numbers what they say ("4/5" is 4), an object has its `score`,
    `rating`, `value`, `thumbs`, `type` or `label`.
    """
    if isinstance(value, dict):
        names = ("score", "rating", "value", "thumbs", "stars", "type", "label")
        return next((quality for name in names if (quality := as_quality(value.get(name))) is not None), None)
    if isinstance(value, str):
        word = value.strip().casefold().removesuffix("\ufe0f")
        if word in _UP or word in _DOWN:
            return float(word in _UP)
        if _STARS.match(word):
            return float(word.count("★") + word.count("⭐"))
        of = _OF.fullmatch(word)
        value = of[1].replace(",", ".") if of else value
    if value is None or value == "":
        return None
    try:
        return as_number(value)
    except (TypeError, ValueError):
        return None
