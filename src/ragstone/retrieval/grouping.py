"""Measures of each question -> means of groups of them: by tag, by language, in batches of file order."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.records import Question
from ragstone.retrieval.evaluate import QueryMeasures
from ragstone.statistics import Estimate, mean_estimates

BATCH = 110
MOST_VALUES = 100  # a tag with more different values tells the questions apart and groups nothing


class GroupMeasures(msgspec.Struct, frozen=True, kw_only=True):
    """The mean measures of one group of questions. n_questions: measured, which the means rest on."""

    n_questions: int
    measures: dict[str, Estimate]


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """The mean measures of questions that follow each other in the file.

    name: `OFFSET_COUNT`, as `01600_00110`: questions before it, and its questions. n_questions: those of it
    that were measured, which the means rest on.
    """

    name: str
    n_questions: int
    means: dict[str, float]


class Spread(msgspec.Struct, frozen=True, kw_only=True):
    """How the means of batches are distributed: extremes and quartiles (between values interpolated)."""

    low: float
    first_quartile: float
    median: float
    third_quartile: float
    high: float


class Batches(msgspec.Struct, frozen=True, kw_only=True):
    """The means of each batch in the order of the file, and how they are distributed.

    size: questions in a batch; the last may have fewer, and does not count for `spread`, nor does a batch
    none of whose questions was measured. n_spread: batches that do. spread: measure -> distribution; empty
    with fewer than two such batches.
    """

    size: int
    batches: list[Batch]
    n_spread: int
    spread: dict[str, Spread]


Group = Callable[[Question], str | None]


def mean_measures(queries: QueryMeasures, chosen: Sequence[str] | None = None, *, seed: int) -> GroupMeasures:
    """Return the means of the measured questions `chosen` (ids; None for all), with their intervals.

    Intervals are clustered by document where questions share one.
    """
    names = list(queries.first_ranks) if chosen is None else chosen
    columns: dict[tuple[str, ...], dict[str, list[float]]] = {}
    for measure, values in queries.values.items():
        ids = tuple(name for name in names if name in values)
        columns.setdefault(ids, {})[measure] = [values[name] for name in ids]
    estimates: dict[str, Estimate] = {}
    for ids, of_ids in columns.items():
        estimates |= mean_estimates(of_ids, [queries.documents[name] for name in ids], seed=seed)
    measures = {name: estimates[name] for name in queries.values if name in estimates}
    return GroupMeasures(n_questions=len(names), measures=measures)


def groups_by_tag(
    queries: QueryMeasures, questions: Sequence[Question], *, seed: int
) -> dict[str, dict[str, GroupMeasures]]:
    """Return tag -> value -> measures of the questions that carry it, values sorted.

    A tag with more than MOST_VALUES different values is left out: it names questions and groups none.
    """
    measured = [question for question in questions if question.id in queries.first_ranks]
    tags = sorted({tag for question in measured for tag in question.tags or ()})
    found = {tag: _grouped(queries, measured, _value_of(tag), seed) for tag in tags}
    return {tag: values for tag, values in found.items() if values}


def groups_by_lang(
    queries: QueryMeasures, questions: Sequence[Question], *, seed: int
) -> dict[str, GroupMeasures]:
    """Return language -> measures of the questions in it, sorted; questions without one are in none."""
    measured = [question for question in questions if question.id in queries.first_ranks]
    return _grouped(queries, measured, lambda question: question.lang, seed)


def _value_of(tag: str) -> Group:
    return lambda question: (question.tags or {}).get(tag)


def _grouped(
    queries: QueryMeasures, questions: Sequence[Question], group: Group, seed: int
) -> dict[str, GroupMeasures]:
    members: dict[str, list[str]] = {}
    for question in questions:
        value = group(question)
        if value is not None:
            members.setdefault(value, []).append(question.id)
    if len(members) > MOST_VALUES:
        return {}
    return {value: mean_measures(queries, members[value], seed=seed) for value in sorted(members)}


def in_batches(queries: QueryMeasures, questions: Sequence[Question], size: int) -> Batches:
    """Return the means of each `size` questions that follow each other in `questions`, size at least 1."""
    if size < 1:
        raise ValueError(f"a batch of {size} questions: give at least one")
    batches = [
        _batch(queries, questions[start : start + size], start) for start in range(0, len(questions), size)
    ]
    full = [
        batch
        for start, batch in zip(range(0, len(questions), size), batches, strict=True)
        if batch.n_questions and start + size <= len(questions)
    ]
    measures = dict.fromkeys(name for batch in full for name in batch.means)
    spread = {name: _spread([b.means[name] for b in full if name in b.means]) for name in measures}
    return Batches(
        size=size,
        batches=[batch for batch in batches if batch.n_questions],
        n_spread=len(full),
        spread=spread if len(full) > 1 else {},
    )


def _batch(queries: QueryMeasures, questions: Sequence[Question], start: int) -> Batch:
    ids = [question.id for question in questions if question.id in queries.first_ranks]
    return Batch(
        name=f"{start:05}_{len(questions):05}",
        n_questions=len(ids),
        means={name: mean for name, of in queries.values.items() if (mean := _mean(of, ids)) is not None},
    )


def _mean(values: Mapping[str, float], ids: Sequence[str]) -> float | None:
    known = [values[name] for name in ids if name in values]
    return sum(known) / len(known) if known else None


def _spread(means: Sequence[float]) -> Spread:
    low, first, median, third, high = np.quantile(means, (0, 0.25, 0.5, 0.75, 1)).tolist()
    return Spread(low=low, first_quartile=first, median=median, third_quartile=third, high=high)
