"""Counted questions and the causes of lost points -> each component's share, and which is the largest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal, get_args

import msgspec
import numpy as np

from ragstone.experiments.causes import Cause, Caused, Component
from ragstone.experiments.points import Point, Points
from ragstone.statistics import Estimate, mean_estimate
from ragstone.statistics.holm import holm
from ragstone.statistics.paired import paired_tests

COMPONENTS: tuple[Component, ...] = get_args(Component)
ALPHA = 0.05


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """What one component has to answer for.

    n: its lost points, of the questions that it could be measured on. share: n as a share of these, with
    its interval; None where it was not measured (the judge without a second opinion).
    """

    component: Component
    n: int
    share: Estimate | None


class Largest(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the component with the largest share is really the largest.

    second: the next one. verdict: `largest` where p_holm is at most 0.05, else `cannot tell`. The test is
    paired by question, corrected (Holm) over all pairs of components, and gives points that could not be
    assigned to whichever is not the first. n: the questions that it rests on.
    """

    first: Component
    second: Component
    verdict: Literal["largest", "cannot tell"]
    p_holm: float
    n: int


class Returned(msgspec.Struct, frozen=True, kw_only=True):
    """Of n lost points that were asked again with the right documents in hand, how many came back."""

    n: int
    n_right: int


class SystemBlame(msgspec.Struct, frozen=True, kw_only=True):
    """Where one system's lost points went.

    judge, model, metric: whose verdict a point is. second: whose the second opinion is, None without one;
    n_second: counted questions that have one. n_counted: questions that were decided; left_out: those that
    were not, by the reason. n_lost: points that the judge says are lost; n_hidden: points that it gives and
    the second opinion does not, which count as the judge's. shares: every component, in the order of
    COMPONENTS; causes: each with its number of points, the most frequent first.
    """

    system: str
    judge: str
    metric: str
    model: str
    n_counted: int
    n_lost: int
    left_out: dict[str, int]
    shares: list[Share]
    causes: dict[Cause, int]
    second: str | None = None
    n_second: int = 0
    n_hidden: int = 0
    largest: Largest | None = None
    returned: Returned | None = None
    notes: list[str] = []


def share_out(
    points: Points,
    caused: Iterable[Caused],
    clusters: Mapping[str, str],
    *,
    second: str | None = None,
    returned: Returned | None = None,
    notes: Sequence[str] = (),
    seed: int = 0,
) -> SystemBlame:
    """Return one system's blame.

    caused: one row for each lost point of these. clusters: question id -> what it shares with others.
    """
    lead, found = points.lead, list(caused)
    of_question = {row.question_id: row for row in found}
    counted, doubted = points.counted, [point for point in points.counted if point.second is not None]
    shares = [
        _share(component, doubted if component == "judge" else counted, of_question, clusters, seed)
        for component in COMPONENTS
    ]
    return SystemBlame(
        system=lead.system,
        judge=lead.judge,
        metric=lead.metric,
        model=lead.model,
        n_counted=len(counted),
        n_lost=sum(point.lost for point in counted),
        left_out=points.left_out,
        shares=shares,
        causes=dict(Counter(row.cause for row in found).most_common()),
        second=second,
        n_second=len(doubted),
        n_hidden=sum(point.second is False and not point.lost for point in counted),
        largest=_largest(shares, counted, of_question, clusters, seed),
        returned=returned,
        notes=list(notes),
    )


def _share(
    component: Component,
    points: Sequence[Point],
    caused: Mapping[str, Caused],
    clusters: Mapping[str, str],
    seed: int,
) -> Share:
    names = [point.question_id for point in points]
    ours = [float(name in caused and caused[name].component == component) for name in names]
    groups = [clusters.get(name, name) for name in names]
    return Share(component=component, n=round(sum(ours)), share=mean_estimate(ours, groups, seed=seed))


def _largest(
    shares: Sequence[Share],
    points: Sequence[Point],
    caused: Mapping[str, Caused],
    clusters: Mapping[str, str],
    seed: int,
) -> Largest | None:
    """Return the test of the two largest; None if no component answers for a point."""
    measured = [row for row in shares if row.share is not None and row.component != "cannot tell"]
    ordered = sorted(measured, key=lambda row: -row.share.value if row.share else 0.0)
    if len(ordered) < 2 or not ordered[0].n:
        return None
    first, second = ordered[0].component, ordered[1].component
    pairs = list(combinations([row.component for row in ordered], 2))
    # Points of several systems or questions without a second opinion say nothing of the judge.
    rows = {
        pair: [point for point in points if "judge" not in pair or point.second is not None] for pair in pairs
    }
    p_values = [_p_value(pair, rows[pair], caused, clusters, seed) for pair in pairs]
    p_holm = float(holm(np.array(p_values))[pairs.index((first, second))])
    return Largest(
        first=first,
        second=second,
        verdict="largest" if p_holm <= ALPHA else "cannot tell",
        p_holm=p_holm,
        n=len(rows[first, second]),
    )


def _p_value(
    pair: tuple[Component, Component],
    points: Sequence[Point],
    caused: Mapping[str, Caused],
    clusters: Mapping[str, str],
    seed: int,
) -> float:
    names = [point.question_id for point in points]
    of = [caused[name].component if name in caused else None for name in names]
    values = np.array([[one == pair[0], one in (pair[1], "cannot tell")] for one in of], dtype=np.float64)
    [test] = paired_tests(values, [(0, 1)], [clusters.get(name, name) for name in names], seed=seed)
    return test.p
