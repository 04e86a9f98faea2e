"""What people or judges thought of an answer -> a number."""

import re
from collections import defaultdict
from collections.abc import Iterable

from ragstone.records import Judgement
from ragstone.tables.columns import as_number

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


def as_quality(value: object) -> float | None:
    """Return a feedback as a number, higher is better; None for none, and for what nobody can read.

    Thumbs and yes or no are 1 and 0, stars and numbers what they say ("4/5" is 4), an object has its `score`,
    `rating`, `value`, `thumbs`, `type` or `label`.
    """
    if isinstance(value, dict):
        names = ("score", "rating", "value", "thumbs", "stars", "type", "label")
        return next((found for name in names if (found := as_quality(value.get(name))) is not None), None)
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


def judged_qualities(
    judgements: Iterable[Judgement], metric: str | None
) -> tuple[dict[str, float], set[str]]:
    """Return question id -> mean score from 0 to 1, and the metrics that there are.

    metric: only its judgements; None takes all. A score is brought to 0..1 by its scale; without a scale it
    is taken as it is. Judgements without a score do not count.
    """
    scores: dict[str, list[float]] = defaultdict(list)
    metrics: set[str] = set()
    for judgement in judgements:
        metrics.add(judgement.metric)
        if judgement.score is None or metric not in (None, judgement.metric):
            continue
        low, high = judgement.scale or (0.0, 1.0)
        scores[judgement.question_id].append((judgement.score - low) / (high - low) if high > low else 0.0)
    return {name: sum(some) / len(some) for name, some in scores.items()}, metrics
