"""How far a rate of right answers from users' thumbs misleads, and whether that of a labelled queue holds.

2,000 exchanges of which 72 % are right; users give a thumb to 3 % of right and 9 % of wrong answers, and of
ten thumbs on either kind two are wrong. The queue of `ragstone sample --feedback` is labelled without error.

    python -m benchmarks.feedback
"""

import argparse

import msgspec
import numpy as np

from ragstone.features.sample._feedback_rate import Thumb, draw_exchanges, queue_name, rate_of
from ragstone.kernel.records import Label
from ragstone.kernel.statistics import wilson_interval

N, RIGHT = 2000, 0.72
GIVES = {True: 0.03, False: 0.09}
FAITHFUL = 0.8


class FeedbackFigures(msgspec.Struct, frozen=True):
    """covered: draws whose interval holds the truth; width: mean. by_thumbs: the mean share of thumbs up."""

    draws: int
    covered: float
    width: float
    covered_at_random: float
    width_at_random: float
    by_thumbs: float
    covered_by_thumbs: float
    covered_down: float


def simulated(*, draws: int, labels: int = 200) -> FeedbackFigures:
    """Return the figures. labels: of each queue."""
    rng = np.random.default_rng(1)
    rows = []
    for seed in range(draws):
        right = rng.random(N) < RIGHT
        has_thumb = rng.random(N) < np.where(right, GIVES[True], GIVES[False])
        up = has_thumb & (right == (rng.random(N) < FAITHFUL))
        down = has_thumb & ~up
        groups: dict[Thumb, list[int]] = {
            "down": np.flatnonzero(down).tolist(),
            "up": np.flatnonzero(up).tolist(),
            "none": np.flatnonzero(~has_thumb).tolist(),
        }
        names = {at: f"x{at}" for at in range(N)}
        drawn, _ = draw_exchanges(groups, labels, seed)
        given = [
            Label(
                question_id=names[row.at],
                score=float(right[row.at]),
                metadata={
                    "queue": queue_name(drawn, names),
                    "inclusion": row.inclusion,
                    "group": row.group,
                    "group_size": row.group_size,
                    "n_exchanges": N,
                },
            )
            for row in drawn
        ]
        thumbs: dict[str, Thumb] = {names[at]: "down" for at in groups["down"]}
        rate = rate_of(given, thumbs, seed)
        assert rate.right is not None
        assert rate.down_wrong is not None
        truth, wrong = float(right.mean()), float((~right[down]).mean())
        plain = right[rng.permutation(N)[:labels]]
        low, high = wilson_interval(float(plain.sum()), labels)
        n_up, n_thumbs = int(up.sum()), int(has_thumb.sum())
        from_thumbs = wilson_interval(n_up, n_thumbs)
        rows.append(
            (
                rate.right.low <= truth <= rate.right.high,
                rate.right.high - rate.right.low,
                low <= truth <= high,
                high - low,
                n_up / n_thumbs,
                from_thumbs[0] <= truth <= from_thumbs[1],
                rate.down_wrong.low <= wrong <= rate.down_wrong.high,
            )
        )
    return FeedbackFigures(draws, *np.array(rows, dtype=np.float64).mean(axis=0).tolist())


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=2000)
    figures = simulated(draws=parser.parse_args().draws)
    print(f"{figures.draws:,} logs of {N:,} exchanges, {RIGHT:.0%} right, 200 labels each")
    print(f"share of thumbs up, taken as a rate     {figures.by_thumbs:.1%}")
    print(f"  its interval holds the truth          {figures.covered_by_thumbs:.1%}")
    print(f"rate by the labelled queue holds it     {figures.covered:.1%}, width {figures.width:.3f}")
    print(
        f"200 labels at random                    {figures.covered_at_random:.1%}, "
        f"width {figures.width_at_random:.3f}"
    )
    print(f"share wrong among thumbs down           {figures.covered_down:.1%} hold the log's own share")


if __name__ == "__main__":
    main()
