"""Judgements and the tags of their questions -> each judge's mean in every group of questions."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from ragstone.judging import MetricSummary, summarise
from ragstone.records import NO_MODEL, Answer, Judgement, Question
from ragstone.retrieval.grouping import MOST_VALUES

FEWEST = 5  # questions of a group that is shown by itself: the mean of fewer says next to nothing
LANGUAGE = "language"


class GroupedMeans(msgspec.Struct, frozen=True, kw_only=True):
    """The means of one tag's values. by: the tag, or `language`.

    groups: value -> a summary for each system, judge and metric that asked a model (or, if none did, for
    each), values sorted. n_small, n_small_rows: values with fewer than FEWEST judged questions, which are not
    among the groups, and the questions that carry them.
    """

    by: str
    groups: dict[str, list[MetricSummary]]
    n_small: int = 0
    n_small_rows: int = 0


def means_by_tag(
    judgements: Iterable[Judgement],
    questions: Iterable[Question],
    answers: Iterable[Answer] = (),
    *,
    clusters: Mapping[str, str] = MappingProxyType({}),
    seed: int = 0,
) -> list[GroupedMeans]:
    """Return the means by language and by each tag of the questions; of answers where no question has any.

    A tag that puts all judged questions into one group, or that has more than MOST_VALUES values, is left
    out: it groups nothing.
    """
    rows = list(judgements)
    rows = [row for row in rows if row.model != NO_MODEL] or rows
    judged = {row.question_id for row in rows}
    found = []
    for by, values in _values(questions, answers, judged).items():
        members: dict[str, set[str]] = {}
        for question_id, value in values.items():
            members.setdefault(value, set()).add(question_id)
        if not 1 < len(members) <= MOST_VALUES:
            continue
        large = {value: ids for value, ids in sorted(members.items()) if len(ids) >= FEWEST}
        small = [ids for ids in members.values() if len(ids) < FEWEST]
        if large:
            means = _means(rows, values, set(large), clusters, seed)
            found.append(
                GroupedMeans(
                    by=by,
                    groups={value: means[value] for value in large},
                    n_small=len(small),
                    n_small_rows=sum(map(len, small)),
                )
            )
    return found


def _values(
    questions: Iterable[Question], answers: Iterable[Answer], judged: set[str]
) -> dict[str, dict[str, str]]:
    """Return by what -> question id -> value, languages first, then tags sorted."""
    languages: dict[str, str] = {}
    tags: dict[str, dict[str, str]] = {}
    for question in questions:
        if question.id in judged and question.lang:
            languages[question.id] = question.lang
    carried = [(row.question_id, row.tags) for row in answers] + [(row.id, row.tags) for row in questions]
    for question_id, of_row in carried:
        if question_id in judged:
            for tag, value in (of_row or {}).items():
                tags.setdefault(tag, {})[question_id] = value
    return ({LANGUAGE: languages} if languages else {}) | dict(sorted(tags.items()))


def _means(
    rows: list[Judgement],
    values: Mapping[str, str],
    shown: set[str],
    clusters: Mapping[str, str],
    seed: int,
) -> dict[str, list[MetricSummary]]:
    grouped: dict[str, list[Judgement]] = {}
    for row in rows:
        value = values.get(row.question_id)
        if value in shown and value is not None:
            grouped.setdefault(value, []).append(row)
    # Statements and reasons stand in the summary of the whole run.
    return {
        value: [
            msgspec.structs.replace(one, unsupported=[], reasons={})
            for one in summarise(of, clusters=clusters, seed=seed)
        ]
        for value, of in grouped.items()
    }
