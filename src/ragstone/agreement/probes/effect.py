"""Paired scores -> the size of a bias, with its interval."""

from collections.abc import Iterable

import msgspec
import numpy as np

from ragstone.records import Judgement
from ragstone.statistics import Estimate, difference_estimates


class ProbeEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The bias that one probe found.

    effect: mean paired difference as a share of the judge's scale, with its interval, clustered by question;
    None where nothing could be measured, and `why` says why; without an interval no difference varies, as
    where no score moved at all. n_unpaired: rows of which one side has no score.
    """

    probe: str
    compared: str
    effect: Estimate | None = None
    n_unpaired: int = 0
    why: str | None = None

    @property
    def found(self) -> bool | None:
        """Whether the interval excludes 0."""
        if self.effect is None or self.effect.low is None or self.effect.high is None:
            return None
        return not self.effect.low <= 0 <= self.effect.high


def effect_of(
    probe: str,
    compared: str,
    pairs: Iterable[tuple[Judgement, Judgement]],
    seed: int = 0,
) -> ProbeEffect:
    """Return the effect: of each pair the second score minus the first, over the width of their scale."""
    differences: list[float] = []
    clusters: list[str] = []
    n_unpaired = 0
    for plain, changed in pairs:
        if plain.score is None or changed.score is None or plain.scale is None:
            n_unpaired += 1
            continue
        low, high = plain.scale
        differences.append((changed.score - plain.score) / (high - low))
        clusters.append(plain.question_id)
    return from_differences(probe, compared, differences, clusters, n_unpaired=n_unpaired, seed=seed)


def from_differences(
    probe: str,
    compared: str,
    differences: list[float],
    clusters: list[str],
    *,
    n_unpaired: int = 0,
    seed: int = 0,
) -> ProbeEffect:
    """Return the effect of paired differences, each a share of the scale."""
    if not differences:
        return ProbeEffect(
            probe=probe, compared=compared, n_unpaired=n_unpaired, why="no row has both scores"
        )
    columns = np.column_stack([differences, np.zeros(len(differences))])
    effect = difference_estimates(columns, [(0, 1)], clusters, seed=seed)[0]
    return ProbeEffect(probe=probe, compared=compared, effect=effect, n_unpaired=n_unpaired)


def unmeasured(probe: str, compared: str, why: str) -> ProbeEffect:
    """Return a probe that could not be made, and why."""
    return ProbeEffect(probe=probe, compared=compared, why=why)
