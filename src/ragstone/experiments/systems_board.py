"""Judgements of several systems -> which is best by one judge, and which cannot be told from it."""

from collections.abc import Iterable, Mapping
from itertools import combinations
from types import MappingProxyType
from typing import Literal

import msgspec
import numpy as np

from ragstone.judging import MetricSummary
from ragstone.records import Judgement
from ragstone.statistics import Estimate, mean_estimate
from ragstone.statistics.paired import PairedTest, paired_tests

Place = Literal["best", "not distinguishable", "worse"]


class SystemStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A system's place. estimate: its mean on the questions of the board, in units of the judge's scale.

    comparison: of the best with this one, None for the best itself; verdict: `worse` only where the
    difference from the best is shown.
    """

    place: int
    system: str
    estimate: Estimate
    verdict: Place
    comparison: PairedTest | None = None


class SystemsBoard(msgspec.Struct, frozen=True, kw_only=True):
    """The systems of a run in the order of one judge's mean, on the questions that it scored of them all.

    n_left_out: questions that it scored of some system and not of every one. family: the comparisons that
    Holm's correction is over, those of every pair, because the best was chosen by the same numbers.
    """

    judge: str
    metric: str
    model: str
    n_questions: int
    n_left_out: int
    family: int
    standings: list[SystemStanding]


def rank_systems(
    lead: MetricSummary,
    judgements: Iterable[Judgement],
    *,
    clusters: Mapping[str, str] = MappingProxyType({}),
    seed: int = 0,
) -> SystemsBoard | None:
    """Return the systems by the judge of `lead`; None with fewer than two, or without a common question.

    clusters: question id -> what it shares with others (its document), for honest tests. Of equal means the
    first in the rows stands first.
    """
    by_system: dict[str, dict[str, float]] = {}
    for row in judgements:
        if (row.judge, row.metric, row.model) == (lead.judge, lead.metric, lead.model):
            scores = by_system.setdefault(row.system, {})
            if row.score is not None:
                scores[row.question_id] = row.score
    every: set[str] = set().union(*by_system.values())
    common = [id_ for id_ in next(iter(by_system.values()), {}) if all(id_ in s for s in by_system.values())]
    if len(by_system) < 2 or not common:
        return None
    means = {name: float(np.mean([scores[id_] for id_ in common])) for name, scores in by_system.items()}
    order = sorted(means, key=lambda name: -means[name])
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
    verdict: Place = "best" if test is None else "worse"
    if test is not None and test.verdict == "cannot tell":
        verdict = "not distinguishable"
    return SystemStanding(place=at + 1, system=name, estimate=estimate, verdict=verdict, comparison=test)
