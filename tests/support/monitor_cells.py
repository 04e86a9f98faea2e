"""Cells of days as tests of the monitor need them."""

from datetime import date, timedelta

import numpy as np

from ragstone.features.watch._cells import DayCell

BEGIN = date(2026, 1, 1)


def cell(at, n, right, **named):
    """Yes/no scores of a day, each of weight 1. at: days after BEGIN."""
    sums = {"w": n, "wx": right, "w2": n, "w2x": right, "w2x2": right}
    given = {"tag": "", "value": "", "metric": "faithfulness", "judge": "faithfulness 1 m"}
    return DayCell(day=BEGIN + timedelta(days=at), n=n, **{**sums, **given, **named})


def days(means, *, n=900, seed=0, begin=0, **named):
    """A cell for each mean, with binomial noise and an effect of the day (SD 0.01)."""
    rng = np.random.default_rng(seed)
    return [
        cell(begin + at, n, int(rng.binomial(n, np.clip(mean + rng.normal(0, 0.01), 0, 1))), **named)
        for at, mean in enumerate(means)
    ]


def dropped(at, *, days_after=30, mean=0.85, by=0.05):
    return [mean] * at + [mean - by] * days_after
