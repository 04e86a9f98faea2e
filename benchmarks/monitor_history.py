"""A history judged again, in simulation: does it tell a judge that drifts from an application that does?

Each trial is a log of 180 days with 300 judged exchanges a day. From day 90 on the judge of then is 5 points
more lenient, the application 5 points worse, both, or neither. Then exchanges are drawn as `ragstone watch
--rejudge` draws them and judged again, by the judge as it is at the end. Judgements fall otherwise by chance
in 3 % of cases, each time. What is said of the last days against the first is counted.

Run: python -m benchmarks.monitor_history [--quick]
"""

import sys
from datetime import date, timedelta

import msgspec
import numpy as np

from ragstone.features.watch.alarms import JudgeEvidence, alarms
from ragstone.features.watch.cells import DayCell
from ragstone.features.watch.history import (
    Movement,
    PeriodDrift,
    RejudgedHistory,
    RejudgedScore,
    RejudgePool,
    draw_history,
    period_drifts,
)
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.statistics.intervals import Floats

BEGIN = date(2026, 1, 1)
DAYS, ROWS, CHANGED = 180, 300, 90
POINTS = 0.05
FULL = 0.8  # the mean of the first days, as the judge of then has it
DAY_SD, NOISE = 0.0125, 0.03
METRIC, JUDGE = "faithfulness", "faithfulness 1 m"
PLANTED = {
    "neither": (0.0, 0.0),
    "judge": (POINTS, 0.0),
    "application": (0.0, -POINTS),
    "both": (POINTS, -POINTS),
}


class Trial(msgspec.Struct, frozen=True, eq=False):
    """The exchanges of a history: days, and scores of then and of now, each (exchanges,)."""

    days: Floats
    then: Floats
    now: Floats


def trial(judge: float, application: float, graded: bool, rng: np.random.Generator) -> Trial:
    """Return a history. judge, application: by how many points either moves on the day CHANGED."""
    days = np.repeat(np.arange(DAYS), ROWS)
    late = days >= CHANGED
    right = FULL + rng.normal(0, DAY_SD, DAYS)[days] + application * late
    good = rng.random(days.size) < right
    # A graded answer that is not right has a part of the marks; a lenient judge gives a fifth more of them.
    lowest = rng.choice([0.0, 0.2, 0.4, 0.6], days.size) if graded else np.zeros(days.size)
    truth = np.where(good, 1.0, lowest)
    step = 0.2 if graded else 1.0
    lenient = rng.random(days.size) < judge / (step * (1 - right))
    generous = np.where(lenient, np.minimum(1.0, truth + step), truth)
    return Trial(
        days=days.astype(np.float64),
        then=_noisy(np.where(late, generous, truth), step, rng),
        now=_noisy(generous, step, rng),
    )


def _noisy(scores: Floats, step: float, rng: np.random.Generator) -> Floats:
    drawn = rng.random(scores.size)
    moved = scores + step * (drawn < NOISE) - step * (drawn > 1 - NOISE)
    return np.asarray(np.clip(moved, 0.0, 1.0))


def cells_of(one: Trial) -> list[DayCell]:
    """Return the sums of each day, every exchange judged."""
    found = []
    for day in range(DAYS):
        x = one.then[one.days == day]
        n, sum_, squares = int(x.size), float(x.sum()), float((x * x).sum())
        found.append(
            DayCell(
                day=BEGIN + timedelta(days=day), tag="", value="", metric=METRIC, judge=JUDGE,
                n=n, w=n, wx=sum_, w2=n, w2x=sum_, w2x2=squares,
            )
        )  # fmt: skip
    return found


def judged_again(one: Trial, n: int) -> RejudgedHistory:
    """Return the history with about n of its exchanges judged again."""
    ordinals = one.days.astype(np.int64) + BEGIN.toordinal()
    pool = RejudgePool(np.arange(one.days.size), ordinals, np.ones(one.days.size))
    volumes = dict.fromkeys(map(int, np.unique(ordinals)), ROWS)
    drawn = draw_history(pool, volumes, [(BEGIN, None)], n)
    scores = [
        RejudgedScore(
            day=date.fromordinal(int(ordinals[at])), metric=METRIC, judge=JUDGE,
            then=float(one.then[at]), now=float(one.now[at]), weight=weight,
        )
        for at, weight in drawn
    ]  # fmt: skip
    judged = BEGIN + timedelta(days=DAYS)
    return RejudgedHistory(judged=judged, number=0, n=len(scores), failed=0, scores=scores)


def said(part: Movement | None, planted: float) -> str:
    """Return `right`, `wrong` or `cannot tell`. planted: by how much it moved; for 0 any is wrong."""
    if part is None or part.low <= 0 <= part.high:
        return "cannot tell"
    return "right" if planted and (part.mean > 0) == (planted > 0) else "wrong"


def last_of(found: list[PeriodDrift]) -> tuple[Movement | None, Movement | None]:
    """Return what is said of the judge and of the application in the last period."""
    shift = found[-1].by_judge
    moved = None if shift is None else Movement(mean=shift.mean, low=shift.low, high=shift.high)
    return moved, found[-1].by_application


def figures(n_trials: int, sizes: tuple[int, ...]) -> None:
    print(f"{POINTS:g} points on day {CHANGED} of {DAYS}, {n_trials} trials each: last days against first")
    print(f"{'':<44}{'judge: right':>14}{'wrong':>8}{'applic.: right':>16}{'wrong':>8}  alarms: causes")
    for graded in (False, True):
        for size in sizes:
            for name, (judge, application) in PLANTED.items():
                rng = np.random.default_rng([size, graded, *map(ord, name)])
                verdicts: list[tuple[str, str]] = []
                causes: dict[str, int] = {}
                for _ in range(n_trials):
                    one = trial(judge, application, graded, rng)
                    cells, history = cells_of(one), judged_again(one, size)
                    by_judge, by_application = last_of(period_drifts(history, cells))
                    verdicts.append((said(by_judge, judge), said(by_application, application)))
                    known = JudgeEvidence(history=history)
                    for alarm in alarms(cells, MonitorSection(alpha=0.05 / 7), known=known):
                        causes[alarm.cause] = causes.get(alarm.cause, 0) + 1
                shares = [
                    sum(verdict[at] == what for verdict in verdicts) / n_trials
                    for at in (0, 1)
                    for what in ("right", "wrong")
                ]
                kind = "graded" if graded else "yes or no"
                label = f"{name}, {kind}, {size} judged again"
                told = "".join(f"{share:>{(14, 8, 16, 8)[at]}.0%}" for at, share in enumerate(shares))
                print(f"{label:<44}{told}  {causes}", flush=True)


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    figures(2 if quick else 200, (400,) if quick else (400, 800, 1600))


if __name__ == "__main__":
    main()
