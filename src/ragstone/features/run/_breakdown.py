"""What a run adds to its means: by tag, by system, and how the scores lie."""

from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import combinations
from types import MappingProxyType

import msgspec
import numpy as np

from ragstone.kernel.judging import MetricSummary, summarise
from ragstone.kernel.judging.repeated import lowest_is_best, question_score
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Question, split_repeat
from ragstone.kernel.retrieval.summary import MOST_VALUES
from ragstone.kernel.runs.breakdown import (
    FEWEST,
    Bin,
    Distribution,
    FoundAndRight,
    GroupedMeans,
    SystemsBoard,
    SystemStanding,
    found_relevant,
    is_right,
)
from ragstone.kernel.statistics import mean_estimate
from ragstone.kernel.statistics.paired import PairedTest, paired_tests, place_of


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
    grouped = []
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
            grouped.append(
                GroupedMeans(
                    by=by,
                    groups={value: means[value] for value in large},
                    n_small=len(small),
                    n_small_rows=sum(map(len, small)),
                )
            )
    return grouped


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
    values_shown: set[str],
    clusters: Mapping[str, str],
    seed: int,
) -> dict[str, list[MetricSummary]]:
    grouped: dict[str, list[Judgement]] = {}
    for row in rows:
        value = values.get(row.question_id)
        if value in values_shown and value is not None:
            grouped.setdefault(value, []).append(row)
    # Statements and reasons stand in the summary of the whole run.
    return {
        value: [
            msgspec.structs.replace(metric, unsupported=[], reasons={})
            for metric in summarise(of, clusters=clusters, seed=seed)
        ]
        for value, of in grouped.items()
    }


def distributions(judgements: Iterable[Judgement]) -> list[Distribution]:
    """Return one a system, judge, metric and model that scored anything on a known scale, in row order.

    On a scale of at most MOST_VALUES whole numbers, all scores whole, each number is a bin; else there are
    N_BINS of equal width.
    """
    counts: dict[JudgeOfSystem, Counter[float]] = {}
    scales: dict[JudgeOfSystem, tuple[float, float]] = {}
    for row in judgements:
        if row.score is None or row.scale is None or row.scale[1] <= row.scale[0]:
            continue
        key = (split_repeat(row.system)[0], row.judge, row.metric, row.model)
        counts.setdefault(key, Counter())[row.score] += 1
        scales.setdefault(key, row.scale)
    return [
        Distribution(system=key[0], judge=key[1], metric=key[2], model=key[3], bins=_bins(count, scales[key]))
        for key, count in counts.items()
    ]


def _bins(counts: Counter[float], scale: tuple[float, float]) -> list[Bin]:
    low, high = scale
    if high - low < MOST_WHOLE_SCORES and all(float(end).is_integer() for end in (low, high, *counts)):
        whole = range(int(low), int(high) + 1)
        return [Bin(low=value, high=value, n=counts.get(float(value), 0)) for value in whole]
    width = (high - low) / N_BINS
    n_of: Counter[int] = Counter()
    for score, n in counts.items():
        n_of[min(max(int((score - low) / width), 0), N_BINS - 1)] += n
    return [Bin(low=low + at * width, high=low + (at + 1) * width, n=n_of[at]) for at in range(N_BINS)]


def rank_systems(
    lead: MetricSummary,
    judgements: Iterable[Judgement],
    *,
    clusters: Mapping[str, str] = MappingProxyType({}),
    seed: int = 0,
) -> SystemsBoard | None:
    """Return the systems by the judge of `lead`; None with fewer than two, or without a common question.

    clusters: question id -> what it shares with others (its document), for honest tests. Of equal means the
    first in the rows stands first. Repeats of an answer are one, see question_score.
    """
    repeats: dict[str, dict[str, list[Judgement]]] = {}
    for row in judgements:
        if (row.judge, row.metric, row.model) == (lead.judge, lead.metric, lead.model):
            of_system = repeats.setdefault(split_repeat(row.system)[0], {})
            of_system.setdefault(row.question_id, []).append(row)
    by_system = {
        name: {id_: score for id_, rows in own.items() if (score := question_score(rows)) is not None}
        for name, own in repeats.items()
    }
    every: set[str] = set().union(*by_system.values())
    common = [id_ for id_ in next(iter(by_system.values()), {}) if all(id_ in s for s in by_system.values())]
    if len(by_system) < 2 or not common:
        return None
    means = {name: float(np.mean([scores[id_] for id_ in common])) for name, scores in by_system.items()}
    sign = 1 if lowest_is_best(lead.judge) else -1
    order = sorted(means, key=lambda name: sign * means[name])
    values = np.array([[by_system[name][id_] for name in order] for id_ in common])
    groups = [clusters.get(id_, id_) for id_ in common]
    pairs = list(combinations(range(len(order)), 2))
    tests = paired_tests(values, pairs, groups, seed=seed)
    return SystemsBoard(
        judge=lead.judge,
        metric=lead.metric,
        model=lead.model,
        n_questions=len(common),
        n_left_out=len(every) - len(common),
        family=len(pairs),
        standings=[
            _standing(
                lead, values[:, at].tolist(), groups, tests[at - 1] if at else None, seed, at=at, name=name
            )
            for at, name in enumerate(order)
        ],
    )


def _standing(
    lead: MetricSummary,
    scores: list[float],
    groups: list[str],
    test: PairedTest | None,
    seed: int,
    *,
    at: int,
    name: str,
) -> SystemStanding:
    whole = lead.scale is None or lead.scale == (0, 1)
    estimate = mean_estimate(scores, groups, seed=seed, proportion=whole)
    if estimate is None:
        raise ValueError(f"{name}: no scores to rank by")
    verdict = place_of(test.verdict if test else None)
    return SystemStanding(place=at + 1, system=name, estimate=estimate, verdict=verdict, comparison=test)


def found_and_right(
    lead: MetricSummary,
    answers: Iterable[Answer],
    judgements: Iterable[Judgement],
    questions: Mapping[str, Question],
    same: Mapping[str, str] = MappingProxyType({}),
) -> FoundAndRight | None:
    """Return the table of one system by the judge of `lead`; None if no answer of it can be counted.

    questions: by id. same: see retrieval.same_documents. Each repeat of an answer is counted. Right is a low
    score where the judge's lowest is its best.
    """
    scores = {
        (row.question_id, row.system): row.score
        for row in judgements
        if (split_repeat(row.system)[0], row.judge, row.model) == (lead.system, lead.judge, lead.model)
    }
    counts: Counter[str] = Counter()
    for answer in answers:
        if split_repeat(answer.system)[0] != lead.system:
            continue
        is_found = found_relevant(answer, questions.get(answer.question_id), same)
        score = scores.get((answer.question_id, answer.system))
        if is_found is None or score is None:
            counts["left_out"] += 1
        else:
            right = is_right(score, lead.scale) is not lowest_is_best(lead.judge)
            counts[f"{'found' if is_found else 'missed'}_{'right' if right else 'wrong'}"] += 1
    if counts.total() == counts["left_out"]:
        return None
    return FoundAndRight(
        system=lead.system,
        judge=lead.judge,
        metric=lead.metric,
        model=lead.model,
        found_right=counts["found_right"],
        found_wrong=counts["found_wrong"],
        missed_right=counts["missed_right"],
        missed_wrong=counts["missed_wrong"],
        n_left_out=counts["left_out"],
    )


LANGUAGE = "language"


MOST_WHOLE_SCORES = 11  # different whole scores of a scale that are counted one by one, as 0 to 10


N_BINS = 10


JudgeOfSystem = tuple[str, str, str, str]
