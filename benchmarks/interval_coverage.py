"""How often each interval that Ragstone shows holds the true value, in simulation: it should be 95 of 100.

Run: python benchmarks/interval_coverage.py [quick] [--repeats] [--components]

A whole run takes some minutes on one core, `quick` some ten seconds. Each line is one way the data may be;
columns are its size. A star marks what lies outside 95 ± 1.5, beyond what the number of simulations can tell.
--repeats: of repeated answers alone. --components: of means over several judges, wordings and repeats
alone; does the interval hold what all judges and wordings like these would say?
"""

import math
import sys
import time
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple

import numpy as np

from ragstone.kernel.agreement.comparison import compare
from ragstone.kernel.agreement.estimates import agreement_estimates
from ragstone.kernel.statistics import (
    Estimate,
    Floats,
    PredictionPowered,
    difference_estimates,
    mean_components,
    mean_estimate,
    prediction_powered_mean,
    wilson_interval,
)
from ragstone.kernel.statistics.passes import all_of_k, any_of_k, share_estimate

QUICK = "quick" in sys.argv[1:]
SIMULATIONS = 100 if QUICK else 1000
RESAMPLES = 400 if QUICK else 1000
CLUSTERS = (5, 10, 20, 50, 200)
CLUSTER_SIZE = 5
AIM, ALLOWED = 95.0, 1.5
Held = tuple[Estimate | None, float]
Draw = Callable[[np.random.Generator], Sequence[Held]]
Pairs = Callable[[int, np.random.Generator], tuple[Floats, Floats]]


def holds(found: Estimate | None, truth: float) -> bool:
    """An interval that cannot be given holds nothing."""
    if found is None or found.low is None or found.high is None:
        return False
    return found.low <= truth <= found.high


def shares(draw: Draw, seed: int) -> list[float]:
    """Return for each estimate that `draw` makes how often its interval held the truth, in percent."""
    rng = np.random.default_rng(seed)
    held = [[holds(*one) for one in draw(rng)] for _ in range(SIMULATIONS)]
    return [float(share) for share in 100 * np.mean(held, axis=0)]


def line(name: str, values: Sequence[float], n: int = SIMULATIONS) -> str:
    """A star for what 1.96 standard errors of n simulations cannot explain."""
    noise = 196 * math.sqrt(0.95 * 0.05 / n) if n else 0.0
    marks = ["*" if abs(value - AIM) > ALLOWED + noise else " " for value in values]
    return f"  {name:<44}" + "".join(
        f"{value:>8.1f}{mark}" for value, mark in zip(values, marks, strict=True)
    )


def head(title: str, columns: Sequence[object]) -> None:
    print(f"\n{title}")
    print(" " * 46 + "".join(f"{column:>8} " for column in columns))


def proportions() -> None:
    """Wilson's interval: no simulation, the binomial distribution itself."""
    sizes = (10, 20, 30, 50, 100, 300, 1000)
    head("Proportion of independent rows (Wilson), exact", sizes)
    for share in (0.5, 0.7, 0.8, 0.9, 0.95):
        print(line(f"share {share:g}", [exact(share, n) for n in sizes], n=0))
    average = [float(np.mean([exact(share, n) for share in np.linspace(0.05, 0.95, 181)])) for n in sizes]
    print(line("average over shares from 0.05 to 0.95", average, n=0))


def exact(share: float, n: int) -> float:
    total = 0.0
    for k in range(n + 1):
        low, high = wilson_interval(k, n)
        if low <= share <= high:
            log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
            total += math.exp(log + k * math.log(share) + (n - k) * math.log(1 - share))
    return 100 * total


def grades(n_clusters: int, rng: np.random.Generator) -> tuple[Floats, Floats, Floats]:
    """Return a hidden quality, human grades 0 to 2 and the judge's, clusters of five in a row."""
    shared = np.repeat(rng.normal(size=n_clusters), CLUSTER_SIZE)
    quality = shared + rng.normal(size=shared.size)
    human = np.digitize(quality + 0.5 * rng.normal(size=shared.size), [-0.8, 0.8]).astype(float)
    lean = np.repeat(0.3 * rng.normal(size=n_clusters), CLUSTER_SIZE)
    noise = 0.7 * rng.normal(size=shared.size)
    return quality, human, np.digitize(quality + 0.2 + lean + noise, [-0.8, 0.8]).astype(float)


def yes_and_percent(n_clusters: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return human labels 0 and 1 and a judge's whole numbers from 0 to 100."""
    quality, human, _ = grades(n_clusters, rng)
    percent = 100 / (1 + np.exp(-(quality + 0.7 * rng.normal(size=quality.size))))
    return np.minimum(human, 1), np.round(percent / 5) * 5


def means() -> None:
    """The bootstrap (BCa) of means and of paired differences, clustered and not."""
    head(f"Means and differences (BCa), clusters of {CLUSTER_SIZE}", CLUSTERS)
    _, human, judge = grades(80_000, np.random.default_rng(1))
    truth, bias = float(human.mean()), float((judge - human).mean())
    found = []
    for n in CLUSTERS:
        clusters = np.repeat(np.arange(n), CLUSTER_SIZE).tolist()

        def draw(rng: np.random.Generator, n: int = n, of: list[int] = clusters) -> Sequence[Held]:
            _, people, scores = grades(n, rng)
            yes = (people == 2).astype(float)
            difference = difference_estimates(
                np.column_stack([scores, people]), [(0, 1)], of, resamples=RESAMPLES
            )[0]
            skewed = mean_estimate(rng.lognormal(sigma=0.7, size=n), resamples=RESAMPLES)
            return [
                (mean_estimate(people, of, resamples=RESAMPLES), truth),
                (mean_estimate(yes, of, resamples=RESAMPLES), float(np.mean(human == 2))),
                (difference, bias),
                (skewed, math.exp(0.7**2 / 2)),
            ]

        found.append(shares(draw, n))
    names = ("grades 0 to 2", "yes or no", "paired difference", "log-normal, each row alone")
    for at, name in enumerate(names):
        print(line(name, [one[at] for one in found]))


def agreement() -> None:
    """Every measure of a report card."""
    kinds: dict[str, tuple[Pairs, tuple[float, float]]] = {
        "grades 0 to 2 from both": (lambda n, rng: grades(n, rng)[1:], (0, 2)),
        "people yes or no, judge 0 to 100": (yes_and_percent, (0, 100)),
    }
    for title, (made, scale) in kinds.items():

        def measured(
            n: int,
            rng: np.random.Generator,
            resamples: int,
            made: Pairs = made,
            scale: tuple[float, float] = scale,
        ) -> dict[str, Estimate]:
            clusters = np.repeat(np.arange(n), CLUSTER_SIZE).tolist()
            human, judge = made(n, rng)
            compared = compare(human, judge, scale, mapped=False, threshold=None)
            return agreement_estimates(compared, clusters, seed=0, resamples=resamples)

        truth = {name: one.value for name, one in measured(40_000, np.random.default_rng(2), 2).items()}
        head(f"Report card, {title}; clusters of {CLUSTER_SIZE}", CLUSTERS)
        found = []
        for n in CLUSTERS:

            def draw(rng: np.random.Generator, n: int = n, truth: dict[str, float] = truth) -> Sequence[Held]:
                ours = measured(n, rng, RESAMPLES)
                return [(ours.get(name), value) for name, value in truth.items()]

            found.append(shares(draw, n))
        for at, name in enumerate(truth):
            print(line(name, [one[at] for one in found]))


Judge = Callable[[Floats, np.random.Generator], Floats]
Made = Callable[[np.random.Generator], tuple[Floats, float]]


def erring(share: float) -> Judge:
    return lambda people, rng: np.where(rng.random(people.size) < share, 1 - people, people)


JUDGES: dict[str, Judge] = {
    "errs in 2 %": erring(0.02),
    "errs in 10 %": erring(0.1),
    "errs in 30 %": erring(0.3),
    "calls a third of the wrong right": lambda people, rng: np.maximum(
        people, rng.random(people.size) < 1 / 3
    ),
    "gives percentages": lambda people, rng: 50 * people + 50 * rng.random(people.size) ** 0.5,
    "tells nothing": lambda people, rng: (rng.random(people.size) < 0.6).astype(float),
}
GRADERS: dict[str, Judge] = {
    "is a grade off in a third": lambda people, rng: np.clip(
        people + rng.choice([-1, 0, 0, 0, 0, 1], size=people.size), 0, 3
    ),
    "gives 5 % the top grade unseen": lambda people, rng: np.where(rng.random(people.size) < 0.05, 3, people),
    "tells nothing": lambda people, rng: 3 * rng.random(people.size),
}


def corrected() -> None:
    """Prediction-powered means: coverage, that of the labels alone, and the widths of the two."""
    sizes = (20, 30, 100, 300)
    for share in (0.7, 0.9):

        def yes(rng: np.random.Generator, share: float = share) -> tuple[Floats, float]:
            return (rng.random(1000) < share).astype(float), share

        head(f"Corrected mean: people say yes to {share:.0%} of 1,000 answers; labels", sizes)
        for name, judge in JUDGES.items():
            told(name, [simulated(yes, judge, n, (0, 1)) for n in sizes])

    def skewed(rng: np.random.Generator) -> tuple[Floats, float]:
        return rng.choice(4, size=1000, p=[0.05, 0.1, 0.25, 0.6]).astype(float), 2.4

    head("Corrected mean: people give grades 0 to 3, mostly 3, to 1,000 answers; labels", sizes)
    for name, judge in GRADERS.items():
        told(name, [simulated(skewed, judge, n, (0, 3)) for n in sizes])
    clusters = (20, 50, 100)
    head(f"Corrected mean: clusters of {CLUSTER_SIZE}, of 200 so many are labelled", clusters)
    told("is that of the report cards", [clustered(n, lambda _, judge, __: judge) for n in clusters])
    told("tells nothing", [clustered(n, lambda _, judge, rng: rng.permutation(judge)) for n in clusters])


class Simulated(NamedTuple):
    """How often the corrected interval and that of the labels alone held, in percent; ratio of the widths."""

    corrected: float
    alone: float
    width: float
    widest: float


def told(judge: str, found: Sequence[Simulated]) -> None:
    print(line(f"judge {judge}", [one.corrected for one in found]))
    print(line("    labels alone", [one.alone for one in found]))
    for name, ratios in (("mean", [one.width for one in found]), ("largest", [one.widest for one in found])):
        print(f"      {f'its width, labels alone = 1: {name}':<40}" + "".join(f"{r:>8.2f} " for r in ratios))


def simulated(made: Made, judge: Judge, n: int, bounds: tuple[float, float]) -> Simulated:
    rng = np.random.default_rng(n)
    found = []
    for _ in range(SIMULATIONS):
        people, truth = made(rng)
        scores = judge(people, rng)
        found.append((prediction_powered_mean(people[:n], scores[:n], scores[n:], bounds=bounds), truth))
    return summed(found)


def clustered(n: int, change: Callable[[Floats, Floats, np.random.Generator], Floats]) -> Simulated:
    rng = np.random.default_rng(n)
    truth = float(grades(80_000, np.random.default_rng(1))[1].mean())
    clusters = np.repeat(np.arange(200), CLUSTER_SIZE).tolist()
    found, at = [], n * CLUSTER_SIZE
    for _ in range(SIMULATIONS):
        _, people, judge = grades(200, rng)
        scores = change(people, judge, rng)
        one = prediction_powered_mean(people[:at], scores[:at], scores[at:], clusters, bounds=(0, 2))
        found.append((one, truth))
    return summed(found)


def summed(found: Sequence[tuple[PredictionPowered, float]]) -> Simulated:
    ratios = [width(one.corrected) / width(one.human) for one, _ in found]
    return Simulated(
        corrected=100 * float(np.mean([holds(one.corrected, truth) for one, truth in found])),
        alone=100 * float(np.mean([holds(one.human, truth) for one, truth in found])),
        width=float(np.mean(ratios)),
        widest=max(ratios),
    )


def width(found: Estimate) -> float:
    assert found.low is not None
    assert found.high is not None
    return found.high - found.low


class Noise(NamedTuple):
    """Standard deviations of what a score is made of, on a scale from 0 to 1.

    verdict: of one judge in one wording on one answer, asked again. in_answers: of repeated answers.
    """

    question: float = 0.3
    judge: float = 0.0
    wording: float = 0.0
    judge_wording: float = 0.02
    judge_question: float = 0.12
    wording_question: float = 0.08
    verdict: float = 0.15
    in_answers: float = 0.0


NOISES = {
    "judges and wordings alike": Noise(judge_wording=0.0),
    "differ little (0.04, 0.03)": Noise(judge=0.04, wording=0.03),
    "judges differ (0.10, 0.02)": Noise(judge=0.1, wording=0.02),
    "wordings differ (0.02, 0.08)": Noise(judge=0.02, wording=0.08),
    "both differ (0.08, 0.08)": Noise(judge=0.08, wording=0.08, judge_wording=0.03),
    "each judge minds another wording (0.08)": Noise(judge=0.03, wording=0.03, judge_wording=0.08),
}
SHAPE = 3, 2, 2  # judges, wordings, verdicts
PASS = 0.35  # of a score, from which on it counts as right: the mean of yes and no is then 0.66 or so


def crossed(noise: Noise, shape: tuple[int, ...], rng: np.random.Generator) -> Floats:
    """Return scores around 0.5: (questions, answers, judges, wordings, verdicts)."""
    questions, answers, judges, wordings, _ = shape

    def drawn(sd: float, *size: int) -> Floats:
        return sd * rng.normal(size=size)

    return (
        0.5
        + drawn(noise.question, questions, 1, 1, 1, 1)
        + drawn(noise.in_answers, questions, answers, 1, 1, 1)
        + drawn(noise.judge, 1, 1, judges, 1, 1)
        + drawn(noise.wording, 1, 1, 1, wordings, 1)
        + drawn(noise.judge_wording, 1, 1, judges, wordings, 1)
        + drawn(noise.judge_question, questions, 1, judges, 1, 1)
        + drawn(noise.wording_question, questions, 1, 1, wordings, 1)
        + drawn(noise.verdict, *shape)
    )


def components() -> None:
    """Means over several judges, wordings and repeats: beside the interval of one judge, asked once."""
    sizes = (50, 80)
    judges, wordings, verdicts = SHAPE
    title = f"Means over {judges} judges x {wordings} wordings x {verdicts} verdicts"
    for answers, missing in ((1, 0.0), (1, 0.1), (3, 0.0)):
        anew_noise = Noise(judge=0.06, wording=0.03, in_answers=0.2)
        noises = NOISES if answers == 1 else {"answers differ (0.2)": anew_noise}
        anew = f", {answers} answers to a question" if answers > 1 else ""
        lost = f", {missing:.0%} of the cells missing" if missing else ""
        head(f"{title}{anew}{lost}; questions", sizes)
        for name, noise in noises.items():
            for binary in (False, True) if not missing else (False,):
                rows = [simulated_components(noise, n, answers, missing, binary=binary) for n in sizes]
                print(line(f"{name}{', yes or no' if binary else ''}", [row[0] for row in rows]))
                usual = ("one judge, wording, verdict", "mean of all, as if questions alone")
                for at, interval_of in enumerate(usual, 1):
                    print(f"      {interval_of:<40}" + "".join(f"{row[at]:>8.1f} " for row in rows))
                widths = "".join(f"{'/'.join(f'{w:.2f}' for w in row[3:]):>17}" for row in rows)
                print(f"      {'widths: median of each, in this order':<40}{widths}")
    cost()


def simulated_components(
    noise: Noise, n: int, answers: int, missing: float, *, binary: bool
) -> tuple[float, ...]:
    """Return how often three intervals held the truth, in percent, and their median widths."""
    rng = np.random.default_rng(n)
    judges, wordings, verdicts = SHAPE
    shape = (n, answers, judges, wordings, verdicts)
    question, answer, judge, wording, _ = (axis.ravel() for axis in np.indices(shape))
    spread = math.hypot(*noise)
    truth = NormalDist().cdf((0.5 - PASS) / spread) if binary else 0.5
    held, widths = [], []
    for _ in range(SIMULATIONS):
        scores = crossed(noise, shape, rng)
        scores = (scores > PASS).astype(float) if binary else scores
        there = rng.random(scores.size) >= missing
        components = mean_components(
            scores.ravel()[there],
            question[there],
            answers=answer[there],
            judges=judge[there],
            wordings=wording[there],
            bounds=(0, 1) if binary else None,
            resamples=RESAMPLES,
        )
        one_judge = mean_estimate(scores[:, 0, 0, 0, 0], resamples=RESAMPLES)
        assert components is not None
        assert one_judge is not None
        intervals = (components.estimate, one_judge, components.fixed)
        held.append([holds(each, truth) for each in intervals])
        widths.append([width(each) for each in intervals])
    return (*(100 * np.mean(held, axis=0)), *np.median(widths, axis=0))


def cost() -> None:
    """The time of both intervals for as many rows."""
    judges, wordings, verdicts = SHAPE
    shape = (10_000 // math.prod(SHAPE), 1, judges, wordings, verdicts)
    scores = crossed(Noise(judge=0.05), shape, np.random.default_rng(0)).ravel()
    question, _, judge, wording, _ = (axis.ravel() for axis in np.indices(shape))
    keys = [
        [f"{name}{at}" for at in codes] for name, codes in (("q", question), ("j", judge), ("w", wording))
    ]

    intervals: list[Callable[[], object]] = [
        lambda: mean_components(scores, keys[0], judges=keys[1], wordings=keys[2]),
        lambda: mean_estimate(scores, keys[0]),
        lambda: mean_estimate(scores),
    ]
    times: list[list[float]] = [[], [], []]
    for _ in range(9):  # in turn, for other programs take their share of the processor
        for interval_of, taken in zip(intervals, times, strict=True):
            start = time.process_time()
            interval_of()
            taken.append(time.process_time() - start)
    ours, usual, alone = (1000 * min(taken) for taken in times)
    print(
        f"\n{scores.size:,} rows: {ours:.0f} ms; the usual interval of rows that share questions "
        f"{usual:.0f} ms (ratio {ours / usual:.2f}), of rows that stand alone {alone:.0f} ms"
    )


QUESTIONS = (5, 10, 20, 50, 100, 200)
REPEATS = 3
DRAWN_QUESTIONS = 400_000  # questions that the truth is computed from

# How sure the application is of its answer to a question.
SURE: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "half of the questions sure, half not": lambda n, rng: np.where(
        rng.random(n) < 0.5, rng.choice([0.0, 1.0], n, p=[0.3, 0.7]), rng.random(n)
    ),
    "every question at 70 %": lambda n, _rng: np.full(n, 0.7),
    "mostly right (90 %), seldom sure": lambda n, rng: rng.beta(4.5, 0.5, n),
    "the same answer each time, 70 % right": lambda n, rng: (rng.random(n) < 0.7).astype(float),
}
OF_REPEATS = (
    "mean",
    "mean, bootstrap of questions",
    "mean, answers as rows",
    "pass@2",
    "pass@3",
    "pass^2",
    "pass^3",
)


def repeated() -> None:
    """Repeated answers: each question has a chance of its own that an answer to it is right.

    The truth is that of all such questions: the mean chance p, 1 - (1 - p)^k for pass@k, p^k for pass^k.
    """
    for title, chances in SURE.items():
        head(f"{REPEATS} answers a question; {title}; questions", QUESTIONS)
        p = chances(DRAWN_QUESTIONS, np.random.default_rng(0))
        truths = [p, p, p, 1 - (1 - p) ** 2, 1 - (1 - p) ** 3, p**2, p**3]
        truth = [float(values.mean()) for values in truths]

        def draw(
            rng: np.random.Generator,
            n: int,
            chances: Callable[[int, np.random.Generator], Floats] = chances,
            truth: Sequence[float] = truth,
        ) -> Sequence[Held]:
            right = (rng.random((n, REPEATS)) < chances(n, rng)[:, None]).astype(float)
            c, full = right.sum(axis=1), np.full(n, float(REPEATS))
            columns = {
                "mean": c / REPEATS,
                **{f"any {k}": any_of_k(full, c, k) for k in (2, 3)},
                **{f"all {k}": all_of_k(full, c, k) for k in (2, 3)},
            }
            alone = [f"{at}" for at in range(n)]
            n_draws = {name: n * REPEATS / (1 if name == "mean" else int(name[-1])) for name in columns}
            by_name = {name: share_estimate(of, n_draws[name], alone) for name, of in columns.items()}
            bootstrap = mean_estimate(columns["mean"], resamples=RESAMPLES)
            rows = mean_estimate(right.ravel(), resamples=RESAMPLES)
            estimates = [by_name["mean"], bootstrap, rows, *(by_name[name] for name in list(columns)[1:])]
            return list(zip(estimates, truth, strict=True))

        results = [shares(lambda rng, n=n, draw=draw: draw(rng, n), n) for n in QUESTIONS]  # type: ignore[misc]
        for at, name in enumerate(OF_REPEATS):
            print(line(name, [result[at] for result in results]))


def main() -> None:
    start = time.perf_counter()
    every: tuple[Callable[[], None], ...] = (proportions, means, agreement, corrected)
    if "--repeats" in sys.argv[1:]:
        every = (repeated,)
    if "--components" in sys.argv[1:]:
        every = (components,)
    for part in every:
        part()
    print(f"\n{SIMULATIONS:,} simulations, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
