"""Has the level of a series changed? Evidence that may be looked at after every observation, for ever.

The observations are y[t] = level + season + noise, with an unknown level, unknown effects of the seasons (the
days of the week) and normal noise of variance s²/weight[t], s unknown. From some day c on a shift is added.
For a given c the evidence is the Bayes factor of "a shift of N(0, PHI²·s²)" against "none", with right-Haar
priors on the level, the seasons and s: these drop out, and under "none" the factor is a martingale whatever
the level, the seasons and s are, so that what is estimated (the baseline!) costs power and never validity
(Robbins 1970; Lai 1976; Pérez-Ortiz, Lardy, de Heide & Grünwald 2024, "E-statistics, group invariance and
anytime-valid testing"; Lindon, Ham, Tingley & Bojinov 2022 for regression).

When the change was is unknown too: the factors are mixed with weights that sum to 1 over all days to come
(Shiryaev's mixture; as an e-process: Shin, Ramdas & Rinaldo 2023, "E-detectors"). The mixture starts at 1 and
is not expected to grow unless something changes, so by Ville's inequality (1939) the chance that it *ever*
reaches 1/alpha is at most alpha.

What guards against noise that is not normal: the variance is never taken to be less than that of sampling
alone; and what skewness adds to large deviations counts as variance (as in Bernstein's inequality, 1924), so
that five rare events in a day are not taken for a wonder. A change older than WINDOW observations is no
longer looked for. All three only lower the evidence, and a smaller process than an e-process is one too.
"""

import msgspec
import numpy as np

from ragstone.kernel.statistics.intervals import Codes, Floats

PHI = 3.0
"""The shift that is expected, in standard deviations of an observation of weight 1."""

WINDOW = 120
"""Observations after a supposed change in which it is looked for."""

HALF_LIFE = 60
"""By how many observations after the first possible one a change is as likely to have come as not."""


class ChangePaths(msgspec.Struct, frozen=True, kw_only=True):
    """What each look says. Rows are series, columns observations.

    log_evidence: the natural log of the evidence that a change has come; 0 is none. change: the column at
    which the likeliest change came, -1 where none was possible yet.
    """

    log_evidence: Floats
    change: Codes


def change_paths(
    values: Floats, weights: Floats, seasons: Codes, *, noise: Floats, jump: Floats, first: Codes
) -> ChangePaths:
    """Return the evidence after each observation that the level of each series has changed, up or down.

    values: (series, observations), in any unit, best centred near 0. weights: of the same shape, inverse
    variances of which only ratios count, 1 for a usual observation; 0 for one that is missing. seasons:
    (observations,), from 0. noise: (series,), the least variance that an observation of weight 1 can have,
    more than 0. jump: (series,), the third cumulant of such noise over its variance: how skewed it is; 0 for
    not at all. first: (series,), the first column at which a change is looked for.
    """
    n_series, n = values.shape
    if weights.shape != values.shape or seasons.shape != (n,):
        raise ValueError(
            f"values {values.shape}, weights {weights.shape}, seasons {seasons.shape}: of one shape"
        )
    if not (noise > 0).all() or (weights < 0).any():
        raise ValueError("noise must be more than 0, and no weight less than 0")
    log_prior, log_rest = _priors(first, n)
    sums = _Sums(n_series, n, int(seasons.max(initial=0)) + 1)
    evidence, change = np.zeros((n_series, n)), np.full((n_series, n), -1, dtype=np.int64)
    for now in range(n):
        begin = max(0, now + 1 - WINDOW)
        sums.add(now, begin, int(seasons[now]), values[:, now], weights[:, now])
        factors = log_prior[:, begin : now + 1] + sums.log_factors(begin, now, noise, jump)
        best = factors.argmax(axis=1)
        highest = np.maximum(factors[np.arange(n_series), best], log_rest[:, now])
        total = np.exp(factors - highest[:, None]).sum(axis=1) + np.exp(log_rest[:, now] - highest)
        evidence[:, now] = highest + np.log(total)
        change[:, now] = np.where(now >= first, best + begin, -1)
    return ChangePaths(log_evidence=evidence, change=change)


def _priors(first: Codes, n: int) -> tuple[Floats, Floats]:
    """Return the log chance of a change at each column, and of one after it (or never): (series, columns).

    The j-th possible column has h / ((j + h)(j + h + 1)), which sums to 1 over all j and to h / (j + h + 1)
    over those after it.
    """
    after_first = np.arange(n) - first[:, None]
    j = np.maximum(after_first, 0)
    at = np.log(HALF_LIFE) - np.log(j + HALF_LIFE) - np.log(j + HALF_LIFE + 1.0)
    after = np.log(HALF_LIFE) - np.log(j + HALF_LIFE + 1.0)
    return np.where(after_first >= 0, at, -np.inf), np.where(after_first >= 0, after, 0.0)


class _Sums:
    """Sums over the observations so far, from which the factors of all supposed changes follow.

    Only those of the season of the new observation change with it: the rest is kept.
    """

    def __init__(self, n_series: int, n: int, n_seasons: int) -> None:
        self.weight, self.value = np.zeros((n_seasons, n_series)), np.zeros((n_seasons, n_series))
        self.squares, self.seen = np.zeros(n_series), np.zeros(n_series)
        self.since_weight = np.zeros((n_seasons, n_series, n))  # of a season, since each supposed change
        self.own, self.cross = (
            np.zeros((n_series, n)),
            np.zeros((n_series, n)),
        )  # z'z and z'y, seasons swept out

    def add(self, now: int, begin: int, season: int, value: Floats, weight: Floats) -> None:
        since = self.since_weight[season, :, begin : now + 1]
        own, cross = self.own[:, begin : now + 1], self.cross[:, begin : now + 1]
        before = self._swept(season)
        own += since * since * before[0][:, None]
        cross += since * before[1][:, None]
        self.weight[season] += weight
        self.value[season] += weight * value
        self.squares += weight * value * value
        self.seen += weight > 0
        since += weight[:, None]
        after = self._swept(season)
        own += weight[:, None] - since * since * after[0][:, None]
        cross += (weight * value)[:, None] - since * after[1][:, None]

    def _swept(self, season: int) -> tuple[Floats, Floats]:
        """Return 1 / weight and the mean of the season, both 0 where it has no observation."""
        weight = self.weight[season]
        inverse = np.divide(1.0, weight, out=np.zeros_like(weight), where=weight > 0)
        return inverse, self.value[season] * inverse

    def log_factors(self, begin: int, now: int, noise: Floats, jump: Floats) -> Floats:
        """Return the log Bayes factor of a change at each column from begin to now: (series, columns)."""
        inverse = np.divide(1.0, self.weight, out=np.zeros_like(self.weight), where=self.weight > 0)
        residual = np.maximum(self.squares - (self.value**2 * inverse).sum(axis=0), 1e-300)
        degrees = np.maximum(self.seen - (self.weight > 0).sum(axis=0), 0)
        own = np.maximum(self.own[:, begin : now + 1], 0)
        cross = self.cross[:, begin : now + 1]
        explained = cross**2 * (PHI**2 / (1 + PHI**2 * own))
        # Skewed sums stray further: to the third order as if the variance were more by jump * shift / 3.
        steps = np.divide(np.abs(cross), own, out=np.zeros_like(own), where=own > 0) * jump[:, None] / 3
        spread = np.maximum(residual / np.maximum(degrees, 1), noise)
        share = np.minimum(explained / (1 + steps / spread[:, None]) / residual[:, None], 1 - 1e-12)
        unknown = -degrees[:, None] / 2 * np.log1p(-share)
        known = explained / (2 * (noise[:, None] + steps))
        return np.asarray(np.minimum(unknown, known) - np.log1p(PHI**2 * own) / 2)
