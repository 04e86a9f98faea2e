"""Scores that are read as probabilities: is a thing that is called 80 % sure right 80 times of 100?"""

import numpy as np

from ragstone.kernel.statistics.bootstrap import Statistic
from ragstone.kernel.statistics.intervals import Codes, Floats

BINS = 10


def reliability_bins(probabilities: Floats, bins: int = BINS) -> Codes:
    """Return the bin of each probability, from 0; bins are equally wide, an edge belongs to the lower one.

    Raises ValueError for a value outside 0 to 1.
    """
    if ((probabilities < 0) | (probabilities > 1)).any():
        raise ValueError("a probability lies outside 0 to 1: divide a percentage by 100")
    return np.searchsorted(np.linspace(0, 1, bins + 1)[1:-1], probabilities)


def calibration_columns(
    probabilities: Floats, labels: Floats, bins: int = BINS
) -> tuple[Floats, dict[str, Statistic]]:
    """Return columns (items, k), and the calibration error and Brier score as functions of their totals.

    labels: 0 and 1. `expected calibration error`: the distance of mean probability and share of 1 in each
    bin, weighted by its items, in [0, 1]; it is never negative, so with few items it reads too high, most of
    all in resamples (Naeini et al. 2015, AAAI). `Brier score`: mean squared distance of probability and
    label, in [0, 1], 0 best; 0.25 is what 0.5 for everything reaches (Brier 1950).
    """
    inside = np.eye(bins)[reliability_bins(probabilities, bins)]
    columns = np.column_stack(
        [np.ones(len(labels)), (probabilities - labels) ** 2, inside * (probabilities - labels)[:, None]]
    )
    return columns, {"expected calibration error": _error, "Brier score": _brier}


def _error(totals: Floats) -> Floats:
    """A bin's items times its distance is the sum of its differences: the counts cancel."""
    return np.asarray(np.abs(totals[:, 2:]).sum(axis=1) / totals[:, 0])


def _brier(totals: Floats) -> Floats:
    return np.asarray(totals[:, 1] / totals[:, 0])
