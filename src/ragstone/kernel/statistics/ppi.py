"""The mean that people would give, from few of their labels and a judge's scores of all rows."""

from bisect import bisect_left
from collections.abc import Hashable, Sequence
from statistics import NormalDist

import msgspec
import numpy as np

from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import (
    Codes,
    Floats,
    cluster_codes,
    n_clusters,
    student_quantile,
    wilson_interval,
    wilson_size,
)

WIDER_AT_MOST = 1.02  # the corrected interval, as a multiple of that of the labels alone


Ends = tuple[float, float] | None


class PredictionPowered(msgspec.Struct, frozen=True, kw_only=True):
    """The prediction-powered mean, and beside it what the labels alone say. Both in the unit of the labels.

    weight: how much of the judge's scores is used (lambda of PPI++), 0 if they do not help. worth: how many
    labels, each drawn with the same chance, would give this interval without a judge. to_halve: how many
    labels in all would make the interval half as wide; None if not even a label for every row would, or
    if there is no interval.
    """

    corrected: Estimate
    human: Estimate
    weight: float
    worth: float
    to_halve: int | None


class Labelled(msgspec.Struct, frozen=True, eq=False):
    """Scores of the rows that people have labelled, human and judge (n,), and the judge's of others (m,).

    codes: (n + m,), the cluster of each row, from 0, the labelled first. shares: (n,), what part each
    labelled row has in a mean over all rows, together 1; None where all have the same.
    """

    human: Floats
    judge: Floats
    others: Floats
    codes: Codes
    shares: Floats | None = None

    @property
    def parts(self) -> Floats:
        """The shares, those that are equal written out."""
        return np.full(self.human.size, 1 / self.human.size) if self.shares is None else self.shares


class Reach(msgspec.Struct, frozen=True, kw_only=True):
    """What the width of an interval follows from.

    bounds: the lowest and the highest score. size: how many independent zeros and ones the n labels alone
    are worth. plain: how many labels drawn with equal chances would be as good as the n, n if these are.
    ratio: the variance with the judge, as a share of that of the labels alone. level: of the
    normal distribution whose quantile is used; None if there is no interval.
    """

    bounds: tuple[float, float]
    n: int
    n_rows: int
    size: float
    plain: float
    ratio: float
    level: float | None


def prediction_powered_mean(
    human: Sequence[float] | Floats,
    judge: Sequence[float] | Floats,
    others: Sequence[float] | Floats,
    clusters: Sequence[Hashable] | None = None,
    *,
    shares: Sequence[float] | Floats | None = None,
    bounds: tuple[float, float] | None = None,
    level: float = 0.95,
) -> PredictionPowered:
    """Return the mean human score of the rows that these are a sample of, with the judge's help.

    human, judge: scores of the labelled rows, at least one; they must be a random sample of all rows, each
    row with the same chance, or with one that shares make up for.
    others: the judge's scores of the rows without a label. The judge's may be in another unit: only how
    they rise and fall with people's is used. clusters: one key a row, the labelled first, then the others;
    None if all are independent. bounds: the lowest and the highest score that people can give, without them
    those that they gave. shares: what part each labelled row has in the mean, above 0; only their
    ratio counts, and that of 1 / chance makes unequal chances good (Hájek 1971). Then the estimate is that of
    active statistical inference (Zrnic and Candès 2024, arXiv:2403.03208), with these shares and a weight.

    The estimate is mean(human) + weight * (mean(others) - mean(judge)) (Angelopoulos et al. 2023, Science
    382:669), with the weight of least variance (Angelopoulos, Duchi and Zrnic 2023, arXiv:2311.01453).
    The interval is Wilson's with as many observations as labels and judge are worth: the normal one of the
    papers holds 87 % in place of 95 % where there are 20 to 300 labels and a judge that rarely errs. For the
    same reason the variance is taken as if one label more had shown the judge wrong by the whole scale, but
    never larger than that of the labels alone; nor is the interval wider than theirs by more than 2 %.
    If all labels are alike, both are Wilson's interval of the labels; without bounds there is none then.
    """
    rows = labelled_rows(human, judge, others, clusters, shares)
    if bounds is None:
        bounds = float(rows.human.min()), float(rows.human.max())
    elif rows.human.min() < bounds[0] or rows.human.max() > bounds[1]:
        raise ValueError(f"a human score lies outside the bounds {bounds[0]:g} to {bounds[1]:g}")
    weight, reach = _reach(rows, bounds, level)
    value, alone = (float(np.clip(point_estimate(rows, used), *bounds)) for used in (weight, 0.0))
    ends_alone = _ends(alone, reach.size, reach)
    ends = _ends(value, reach.size / reach.ratio, reach)
    if ends_alone and ends:
        widest = WIDER_AT_MOST * (ends_alone[1] - ends_alone[0])
        ends = ends if ends[1] - ends[0] <= widest else _of_width(value, widest, reach)
    return PredictionPowered(
        corrected=_estimate(value, ends, reach.n_rows if weight else reach.n, level),
        human=_estimate(alone, ends_alone, reach.n, level),
        weight=weight,
        worth=reach.plain / reach.ratio,
        to_halve=_labels_to_halve(value, ends, reach),
    )


def labelled_rows(
    human: Sequence[float] | Floats,
    judge: Sequence[float] | Floats,
    others: Sequence[float] | Floats,
    clusters: Sequence[Hashable] | None,
    shares: Sequence[float] | Floats | None,
) -> Labelled:
    """Return the scores as arrays. Raises ValueError for those that are no pairs, or not finite."""
    scores = [np.asarray(own, dtype=np.float64) for own in (human, judge, others)]
    if not scores[0].size or scores[0].size != scores[1].size:
        raise ValueError(f"{scores[0].size} human scores and {scores[1].size} of the judge: give pairs")
    if not all(np.isfinite(values).all() for values in scores):
        raise ValueError("a score is not a finite number: leave failures out and count them")
    codes = cluster_codes(clusters, scores[0].size + scores[2].size)
    return Labelled(scores[0], scores[1], scores[2], codes, _normed(shares, scores[0].size))


def _normed(shares: Sequence[float] | Floats | None, n: int) -> Floats | None:
    """Return shares that are together 1; None for equal ones."""
    if shares is None:
        return None
    parts = np.asarray(shares, dtype=np.float64)
    if parts.size != n or not (np.isfinite(parts).all() and (parts > 0).all()):
        raise ValueError(f"{parts.size} shares of {n} labelled rows: give each one, above 0")
    return None if parts.min() == parts.max() else parts / parts.sum()


def power_tuning(rows: Labelled) -> float:
    """Return the weight of the judge's scores that makes the variance least; 0 if they do not vary.

    Equation 6 of PPI++ for a mean. Both of its moments are those of the labelled rows, which makes it the
    slope of people's scores on the judge's: with the variance of all rows, as in the paper, the estimate
    from 20 to 30 labels is off by a fifth of its standard error. It is not cut to [0, 1]: a judge may score
    in another unit or upside down.
    """
    if rows.shares is not None:
        return _unequal_tuning(rows, rows.shares)
    spread = float(np.var(rows.judge))
    if not rows.others.size or rows.judge.min() == rows.judge.max() or spread < 1e-300:
        return 0.0
    covariance = float(np.mean((rows.human - rows.human.mean()) * (rows.judge - rows.judge.mean())))
    return covariance / spread / (1 + rows.human.size / rows.others.size)


def _unequal_tuning(rows: Labelled, shares: Floats) -> float:
    """Return the same with shares: a slope in which a row counts by the variance that its chance brings.

    A row that was sure to be drawn brings none: its share is 1 / N, and it counts nothing.
    """
    counted = shares * np.maximum(shares - 1 / rows.codes.size, 0.0)
    if not rows.others.size or not counted.sum() > 0:
        return 0.0
    counted = counted / counted.sum()
    human, judge = rows.human - counted @ rows.human, rows.judge - counted @ rows.judge
    spread = float(counted @ judge**2)
    if spread < 1e-300 or rows.judge.min() == rows.judge.max():
        return 0.0
    return float(counted @ (human * judge)) / spread * rows.others.size / rows.codes.size


def point_estimate(rows: Labelled, weight: float) -> float:
    """Return mean(human) + weight * (mean(others) - mean(judge)); with shares the same of their means.

    Others that were left out by unequal chances are no sample, so they stand with the labelled in the mean of
    all rows: mean(human) + weight' * (mean(all) - mean(judge)), weight' = weight * N / others.
    """
    if not weight:
        return float(rows.parts @ rows.human) if rows.shares is not None else float(rows.human.mean())
    if rows.shares is None:
        return float((rows.human - weight * rows.judge).mean() + weight * rows.others.mean())
    used = weight * rows.codes.size / rows.others.size
    every = np.append(rows.judge, rows.others)
    return float(rows.shares @ (rows.human - used * rows.judge) + used * every.mean())


def variance(rows: Labelled, weight: float) -> float:
    """Return the variance of point_estimate: that of sums of clusters, and no less than of single rows."""
    shares = influence(rows, weight)
    of_clusters = np.bincount(rows.codes[: shares.size], weights=shares)
    return max(float(of_clusters @ of_clusters), float(shares @ shares))


def influence(rows: Labelled, weight: float) -> Floats:
    """Return what each row moves the estimate by, the labelled first; without a weight only those."""
    if rows.shares is None or not weight:
        rectified = rows.human - weight * rows.judge
        ours = (rectified - rows.parts @ rectified) * rows.parts
        if not weight:
            return ours
        return np.append(ours, weight * (rows.others - rows.others.mean()) / rows.others.size)
    used = weight * rows.codes.size / rows.others.size
    rectified = rows.human - used * rows.judge
    every = np.append(rows.judge, rows.others)
    moved: Floats = used * (every - every.mean()) / every.size
    moved[: rectified.size] += rows.shares * (rectified - rows.shares @ rectified)
    return moved


def _reach(rows: Labelled, bounds: tuple[float, float], level: float) -> tuple[float, Reach]:
    """Return the weight of the judge's scores, and what the intervals follow from."""
    n, span = rows.human.size, bounds[1] - bounds[0]
    n_groups = len(np.unique(rows.codes[:n]))
    independent = n_clusters(rows.codes) == rows.codes.size
    # The mean has used up one observation, which Wilson's interval of independent zeros and ones knows.
    known = independent and rows.shares is None and bool(np.isin(rows.human, bounds).all())
    small = 1.0 if known else n_groups / max(1, n_groups - 1)
    alone = 0.0 if rows.human.min() == rows.human.max() else small * variance(rows, 0.0)
    weight = power_tuning(rows)
    squares = float(rows.parts @ rows.parts)  # 1 / n where all have the same share
    with_judge = (n * small * variance(rows, weight) + span**2 * squares) / (n + 1)
    with_judge = min(with_judge, alone)
    share = (point_estimate(rows, 0.0) - bounds[0]) / span if span else 0.0
    has_interval = span > 0 and (independent or n_groups > 1)
    # The level of the normal distribution that has the quantile of Student's t.
    normal = level
    if has_interval and not independent:
        normal = 2 * NormalDist().cdf(student_quantile(0.5 + level / 2, n_groups - 1)) - 1
    return weight, Reach(
        bounds=bounds,
        n=n,
        n_rows=rows.codes.size,
        size=span**2 * share * (1 - share) / alone if alone else min(float(n_groups), 1 / squares),
        plain=_plain_size(rows),
        ratio=with_judge / alone if alone else 1.0,
        level=normal if has_interval else None,
    )


def _plain_size(rows: Labelled) -> float:
    """Return n over the design effect of the shares: how much wider they make the mean of the labels."""
    n = rows.human.size
    if rows.shares is None:
        return float(n)
    squared = (rows.human - point_estimate(rows, 0.0)) ** 2
    ours = float(rows.shares**2 @ squared)
    return float(rows.shares @ squared) / ours if ours else 1 / float(rows.shares @ rows.shares)


def _estimate(value: float, ends: Ends, n: int, level: float) -> Estimate:
    low, high = ends or (None, None)
    return Estimate(value=value, low=low, high=high, n=n, method="wilson", level=level)


def _ends(value: float, size: float, reach: Reach) -> Ends:
    """Return Wilson's interval of a mean within the bounds that is worth `size` zeros and ones."""
    if reach.level is None:
        return None
    lowest, highest = reach.bounds
    span = highest - lowest
    low, high = wilson_interval((value - lowest) / span * size, size, reach.level)
    return lowest + span * low, lowest + span * high


def _of_width(value: float, width: float, reach: Reach) -> Ends:
    """Return the interval of this width, in the unit of the labels."""
    lowest, highest = reach.bounds
    span = highest - lowest
    if reach.level is None or width >= span:
        return reach.bounds
    return _ends(value, wilson_size((value - lowest) / span, width / span, reach.level), reach)


def _labels_to_halve(value: float, ends: Ends, reach: Reach) -> int | None:
    """Return how many labels in all make the interval half as wide, had they the same mean.

    The variance with k of M rows labelled is a share `left` / k, what the judge leaves open, and a share
    (1 - left) / M, which only more rows make smaller.
    """
    n, n_rows, left = reach.n, reach.n_rows, 1.0
    if reach.ratio < 1:
        left = min(1.0, max(0.0, (reach.ratio - n / n_rows) / (1 - n / n_rows)))

    def halved(k: int) -> bool:
        narrower = _ends(value, reach.size * k / n / (left + (1 - left) * k / n_rows), reach)
        return bool(narrower and ends and narrower[1] - narrower[0] <= (ends[1] - ends[0]) / 2)

    if not halved(n_rows):
        return None
    return n + bisect_left(range(n, n_rows), True, key=halved)
