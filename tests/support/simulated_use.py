"""Days of a log as they might be, for alarms, drawn again and again from distributions that are made up.

Latency and tokens of an exchange are log-normal (SD 0.6 and 0.5 of the logarithm), and the cost goes with the
tokens. Each day has an effect of its own (SD 5 %, of users 10 %) and weekends have one of -10 %. Each user
asks twice. One of ten calls of tools fails, a day's own rate (SD 1 point); half of the exchanges have two.
"""

from collections.abc import Mapping
from datetime import date, timedelta

import numpy as np

from ragstone.features.watch._cells import DayCell
from ragstone.features.watch._use import FAILED_CALLS, use_cell
from ragstone.kernel.statistics.intervals import Floats

PLANTED = 60
USUAL = {"latency_s": 1.5, "tokens": 900.0, "users": 150.0, FAILED_CALLS: 0.1}


def used_days(
    rng: np.random.Generator,
    days: int,
    *,
    planted: Mapping[str, float] | None = None,
    at: int = 60,
    begin: date,
) -> list[DayCell]:
    """Return the cells of so many days. planted: metric -> the factor that it has from day PLANTED on."""
    cells = []
    for number in range(days):
        day = begin + timedelta(days=number)
        factors = planted or {} if number >= PLANTED else {}
        now = {name: usual * factors.get(name, 1.0) for name, usual in USUAL.items()}
        weekend = 0.9 if day.weekday() > 4 else 1.0

        def own(sd: float = 0.05, weekend: float = weekend) -> float:
            return float(weekend * np.exp(rng.normal(0, sd)))

        n_users = max(1, int(rng.poisson(now["users"] * own(0.1))))
        n = 2 * n_users
        tokens = now["tokens"] * own() * np.exp(rng.normal(0, 0.5, n))
        calls = rng.integers(1, 3, n)
        rate = min(1.0, max(0.0, now[FAILED_CALLS] + rng.normal(0, 0.01)))
        cells += [
            use_cell(day, "latency_s", now["latency_s"] * own() * np.exp(rng.normal(0, 0.6, n))),
            use_cell(day, "tokens", tokens),
            use_cell(day, "cost_usd", tokens * 2e-6),
            use_cell(day, "users", np.full(n_users, float(n_users))),
            use_cell(day, FAILED_CALLS, _floats(rng.binomial(calls, rate)), _floats(calls)),
        ]
    return cells


def _floats(values: object) -> Floats:
    return np.asarray(values, dtype=float)
