"""Counted questions and the causes of lost points -> each component's share, and which is the largest."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal, get_args

import msgspec
import numpy as np

from ragstone.experiments.causes import Cause, Caused, Component
from ragstone.experiments.points import Point, Points
from ragstone.statistics import Estimate, mean_estimates
from ragstone.statistics.holm import holm
from ragstone.statistics.paired import paired_tests

COMPONENTS: tuple[Component, ...] = get_args(Component)
ALPHA = 0.05

Pair = tuple[Component, Component]


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
    shares = _shares(counted, of_question, clusters, seed)
    measured = _shares(doubted, of_question, clusters, seed)
    shares = [measured[at] if share.component == "judge" else share for at, share in enumerate(shares)]
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


def _shares(
    points: Sequence[Point], caused: Mapping[str, Caused], clusters: Mapping[str, str], seed: int
) -> list[Share]:
    """Return the shares of these points, in the order of COMPONENTS."""
    of = [caused[one.question_id].component if one.question_id in caused else None for one in points]
    columns: dict[str, list[float]] = {name: [float(one == name) for one in of] for name in COMPONENTS}
    groups = [clusters.get(one.question_id, one.question_id) for one in points]
    found = mean_estimates(columns, groups, seed=seed)
    return [Share(component=name, n=of.count(name), share=found.get(name)) for name in COMPONENTS]


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
    # Questions without a second opinion say nothing of the judge.
    doubted = [one for one in points if one.second is not None]
    alone = _p_values([pair for pair in pairs if "judge" not in pair], points, caused, clusters, seed)
    beside = _p_values([pair for pair in pairs if "judge" in pair], doubted, caused, clusters, seed)
    found = alone | beside
    p_holm = float(holm(np.array([found[pair] for pair in pairs]))[pairs.index((first, second))])
    return Largest(
        first=first,
        second=second,
        verdict="largest" if p_holm <= ALPHA else "cannot tell",
        p_holm=p_holm,
        n=len(doubted if "judge" in (first, second) else points),
    )


def _p_values(
    pairs: Sequence[Pair],
    points: Sequence[Point],
    caused: Mapping[str, Caused],
    clusters: Mapping[str, str],
    seed: int,
) -> dict[Pair, float]:
    """Return the p-value of each pair, the points that nobody could assign counted with its second."""
    if not pairs:
        return {}
    names = [one.question_id for one in points]
    of = [caused[name].component if name in caused else None for name in names]
    own = [[float(one == name) for name in COMPONENTS] for one in of]
    most = [[float(one in (name, "cannot tell")) for name in COMPONENTS] for one in of]
    columns = np.array([[*row, *others] for row, others in zip(own, most, strict=True)])
    places = [
        (COMPONENTS.index(first), len(COMPONENTS) + COMPONENTS.index(second)) for first, second in pairs
    ]
    tests = paired_tests(columns, places, [clusters.get(name, name) for name in names], seed=seed)
    return {pair: test.p for pair, test in zip(pairs, tests, strict=True)}
