"""How often `ragstone compare` sees a difference: where there is none, and where there is one.

Run: python -m benchmarks.comparing [quick]
     python -m benchmarks.comparing --biased-judge [quick]

Two systems answer the same questions, some easier than others. In an A/A comparison both are equally good,
and "better" or "worse" is a false alarm: at most 5 of 100. In the other half B is better by as much as should
be found 4 times out of 5, and it is counted how often it is. Clusters are documents of five questions, of
which
one system may be the better by chance; "apart" is what the same data give if the documents are forgotten. A
star marks what the number of simulations cannot explain.

With --biased-judge the judge has a taste for B: it calls 25 % of B's wrong answers right, and 5 % of A's. How
often is B "better" where both are equally good, by the judge's scores alone and with people's labels of both
answers to some questions; and how often is a true gain of 5 points found?
"""

import math
import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ragstone.features.label._choosing import chances_of, draw
from ragstone.features.label._pairs import BASE, PAIR_SPREAD
from ragstone.kernel.statistics import Codes, Floats, mcnemar_p
from ragstone.kernel.statistics.families import ALPHA
from ragstone.kernel.statistics.paired import paired_p_values
from ragstone.kernel.statistics.power import POWER, Spread, paired_power, spread_of
from ragstone.kernel.statistics.ppi_difference import prediction_powered_difference

SIZES = (20, 50, 100, 200, 500)
CLUSTER_SIZE = 5
POPULATION = 100_000
Draw = Callable[[int, float, np.random.Generator], Floats]


def quality(n: int, shift: float, topic: float, rng: np.random.Generator) -> Floats:
    """Return (n, 2) hidden qualities; topic: how much more one of the two may know of a whole document."""
    question = rng.normal(size=n) * 1.5 + 0.7
    lean = np.repeat(rng.normal(size=-(-n // CLUSTER_SIZE)) * topic, CLUSTER_SIZE)[:n] / 2
    noise = rng.normal(size=(n, 2))
    return np.column_stack([question - lean, question + lean + shift]) + noise


def yes_no(n: int, shift: float, rng: np.random.Generator) -> Floats:
    return (quality(n, shift, 0, rng) > 0).astype(np.float64)


def grades(n: int, shift: float, rng: np.random.Generator) -> Floats:
    return np.digitize(quality(n, shift, 0, rng), [-1.0, 0.3, 1.6]).astype(np.float64)


def yes_no_by_document(n: int, shift: float, rng: np.random.Generator) -> Floats:
    return (quality(n, shift, 2, rng) > 0).astype(np.float64)


def grades_by_document(n: int, shift: float, rng: np.random.Generator) -> Floats:
    return np.digitize(quality(n, shift, 2, rng), [-1.0, 0.3, 1.6]).astype(np.float64)


class Kind(NamedTuple):
    """One way the scores may be. width: of the scale."""

    name: str
    draw: Draw
    clustered: bool
    width: float


KINDS = (
    Kind("0 or 1", yes_no, False, 1),
    Kind("0 to 3", grades, False, 3),
    Kind("0 or 1, by document", yes_no_by_document, True, 1),
    Kind("0 to 3, by document", grades_by_document, True, 3),
)


def clusters_of(kind: Kind, n: int) -> list[str]:
    return [f"d{at // CLUSTER_SIZE if kind.clustered else at}" for at in range(n)]


def found(kind: Kind, n: int, shift: float, simulations: int, *, seed: int) -> float:
    """Return the share of comparisons that say "better" or "worse", of one metric."""
    return alarms(kind, n, shift, clusters_of(kind, n), simulations, seed=seed)


def alarms(kind: Kind, n: int, shift: float, clusters: list[str], simulations: int, *, seed: int) -> float:
    rng = np.random.default_rng([seed, n])
    tests = (
        float(paired_p_values(kind.draw(n, shift, rng), [(1, 0)], clusters, seed=seed + at)[0][0])
        for at in range(simulations)
    )
    return sum(p <= ALPHA for p in tests) / simulations


def found_apart(kind: Kind, n: int, simulations: int, *, seed: int) -> float:
    """Return the same for an A/A comparison that forgets the documents."""
    return alarms(kind, n, 0, [str(at) for at in range(n)], simulations, seed=seed)


class Planted(NamedTuple):
    """A shift of the hidden quality, the difference that it makes, and the power stated for it."""

    shift: float
    difference: float
    power: float


def planted(kind: Kind, n: int) -> Planted | None:
    """Return the shift whose difference should be found 4 times out of 5; None where nothing can be."""
    low, high = 0.0, 6.0
    if stated(kind, n, high).power < POWER:
        return None
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if stated(kind, n, middle).power >= POWER else (middle, high)
    return stated(kind, n, high)


def stated(kind: Kind, n: int, shift: float) -> Planted:
    """Return what the power of n questions is said to be, from the spread of a large population."""
    values = kind.draw(POPULATION, shift, np.random.default_rng(0))
    differences = values[:, 1] - values[:, 0]
    spread = spread_of(differences, np.array(codes(kind)), yes_no=kind.width == 1 and not kind.clustered)
    assert isinstance(spread, Spread)
    difference = float(differences.mean())
    return Planted(shift, difference, paired_power(spread, difference, n=n))


def codes(kind: Kind) -> list[int]:
    return [at // CLUSTER_SIZE if kind.clustered else at for at in range(POPULATION)]


def star(observed: float, low: float, high: float, simulations: int) -> str:
    """Return a star for what lies outside low to high by more than 1.96 standard errors."""
    noise = 1.96 * math.sqrt(POWER * (1 - POWER) / simulations if high > 0.5 else 0.05 * 0.95 / simulations)
    return "*" if not low - noise <= observed <= high + noise else " "


def line(name: str, cells: list[str]) -> None:
    print(f"  {name:<30}" + "".join(f"{cell:>10}" for cell in cells), flush=True)


class Errors(NamedTuple):
    """How often a judge is wrong: calls wrong answers right, of A and of B, and right answers wrong."""

    lenient_a: float
    lenient_b: float
    harsh: float


class Systems(NamedTuple):
    """Two systems: on what share of the questions people score them otherwise, and B's gain."""

    differ: float
    gain: float


TASTE = Errors(0.05, 0.25, 0.05)
FAIR = Errors(0.05, 0.05, 0.05)
GOOD = Errors(0.02, 0.02, 0.02)
RARE = Errors(0.0, 0.05, 0.0)
RIGHT = 0.75  # of A's answers
EQUAL = tuple(Systems(differ, 0.0) for differ in (0.05, 0.1, 0.2, 0.375))  # the last: independent answers
BETTER = (Systems(0.05, 0.05), Systems(0.06, 0.05), Systems(0.1, 0.05), Systems(0.2, 0.05))
LABELLED = (20, 50, 150, 300)


def play(n: int, systems: Systems, errors: Errors, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Return people's scores of n pairs of answers, and the judge's: (n, 2), A and B."""
    up, down = (systems.differ + systems.gain) / 2, (systems.differ - systems.gain) / 2
    kinds = np.array([[1, 1], [1, 0], [0, 1], [0, 0]], dtype=np.float64)
    chances = [RIGHT - down, down, up, 1 - RIGHT - up]
    human = kinds[rng.choice(4, size=n, p=chances)]
    lenient = rng.random((n, 2)) < [errors.lenient_a, errors.lenient_b]
    harsh = rng.random((n, 2)) < errors.harsh
    judge = np.where(human == 1, ~harsh, lenient).astype(np.float64)
    return human, judge


class Outcome(NamedTuple):
    """Of simulated comparisons in percent: "better", "worse", and how often the interval holds the truth."""

    better: float
    worse: float
    held: float


def drawn(judge: Floats, labelled: int, rng: np.random.Generator) -> tuple[Codes, Floats]:
    """Return which pairs `label --compare` draws, and their chances. judge: its differences."""
    sizes = np.sqrt(BASE + 2 * judge**2)
    chances = chances_of(sizes, labelled, PAIR_SPREAD)
    order = np.lexsort((rng.random(judge.size), sizes, judge))
    places = draw(chances, order, rng)
    return places, chances[places]


def corrected(
    n: int, labelled: int, systems: Systems, errors: Errors, simulations: int, *, chosen: bool = False
) -> Outcome:
    """Return how comparisons of n questions end of which people have labelled some.

    chosen: those that `label --compare` draws, else each with the same chance.
    """
    rng = np.random.default_rng([n, labelled, 3])
    better = worse = held = 0
    for _ in range(simulations):
        human, judge = (np.diff(scores, axis=1)[:, 0] for scores in play(n, systems, errors, rng))
        places, shares = np.arange(labelled), None
        if chosen:
            places, chances = drawn(judge, labelled, rng)
            shares = 1 / chances
        others = np.delete(judge, places)
        powered = prediction_powered_difference(
            human[places], judge[places], others, width=1.0, shares=shares
        )
        low, high = powered.corrected.low, powered.corrected.high
        assert low is not None
        assert high is not None
        assert powered.p is not None
        better += powered.p <= ALPHA and powered.corrected.value > 0
        worse += powered.p <= ALPHA and powered.corrected.value < 0
        held += low <= systems.gain <= high
    return Outcome(*(100 * count / simulations for count in (better, worse, held)))


def raw(n: int, systems: Systems, errors: Errors, simulations: int) -> Outcome:
    """Return how comparisons of n questions end by the judge's scores alone, with McNemar's exact test."""
    rng = np.random.default_rng([n, 0, 3])
    better = worse = 0
    for _ in range(simulations):
        _, judge = play(n, systems, errors, rng)
        ups, downs = (int((judge[:, a] > judge[:, b]).sum()) for a, b in ((1, 0), (0, 1)))
        is_found = mcnemar_p(ups, downs) <= ALPHA
        better += is_found and ups > downs
        worse += is_found and ups < downs
    return Outcome(100 * better / simulations, 100 * worse / simulations, math.nan)


def biased(simulations: int) -> None:
    start = time.perf_counter()
    noise = 1.96 * math.sqrt(0.025 * 0.975 / simulations) * 100
    print(f"Better in percent of {simulations:,} comparisons of equal systems on 300 questions")
    print(f"At most 2.5 ± {noise:.1f} are allowed")
    line("answers that differ", [f"{100 * systems.differ:.3g} %" for systems in EQUAL])
    for name, errors in (("taste", TASTE), ("fair", FAIR), ("rare taste", RARE)):
        line(
            f"{name}: judge alone",
            [f"{raw(300, systems, errors, simulations).better:.1f}" for systems in EQUAL],
        )
        for labelled in LABELLED:
            outcomes = [corrected(300, labelled, systems, errors, simulations) for systems in EQUAL]
            line(f"  {labelled} labelled pairs", [f"{outcome.better:.1f}" for outcome in outcomes])
            line("    interval holds 0", [f"{outcome.held:.1f}" for outcome in outcomes])
        outcomes = [corrected(300, 150, systems, errors, simulations, chosen=True) for systems in EQUAL]
        line("  150 pairs, chosen", [f"{outcome.better:.1f}" for outcome in outcomes])
        line("    interval holds 0", [f"{outcome.held:.1f}" for outcome in outcomes])
    print("\nB is better by 5 points: found in percent")
    line("answers that differ", [f"{100 * systems.differ:g} %" for systems in BETTER])
    for n in (300, 1000, 3000):
        for name, errors in (("taste", TASTE), ("fair, 5 % errors", FAIR), ("fair, 2 % errors", GOOD)):
            outcomes = [corrected(n, 150, systems, errors, simulations) for systems in BETTER]
            line(f"{n:,}, 150 labelled, {name}", [f"{outcome.better:.1f}" for outcome in outcomes])
            line("    interval holds 5", [f"{outcome.held:.1f}" for outcome in outcomes])
            outcomes = [corrected(n, 150, systems, errors, simulations, chosen=True) for systems in BETTER]
            line("  150 chosen", [f"{outcome.better:.1f}" for outcome in outcomes])
            line("    interval holds 5", [f"{outcome.held:.1f}" for outcome in outcomes])
    outcomes = [corrected(150, 150, systems, FAIR, simulations) for systems in BETTER]
    line("150 labels alone", [f"{outcome.better:.1f}" for outcome in outcomes])
    print(f"\n{time.perf_counter() - start:.0f} s")


def main() -> None:
    if "--biased-judge" in sys.argv:
        biased(200 if "quick" in sys.argv else 1000)
        return
    simulations, of_planted = (100, 100) if sys.argv[1:] == ["quick"] else (1000, 400)
    start = time.perf_counter()
    print(f"A/A: alarms in percent of {simulations:,} comparisons, at most 5")
    line("questions", [str(n) for n in SIZES])
    for kind in KINDS:
        shares = [found(kind, n, 0, simulations, seed=1) for n in SIZES]
        line(kind.name, [f"{100 * x:.1f}{star(x, 0, 0.05, simulations)}" for x in shares])
        if kind.clustered:
            shares = [found_apart(kind, n, of_planted, seed=1) for n in SIZES]
            line("  apart", [f"{100 * x:.1f} " for x in shares])
    print(f"\nA difference that should be found 4 times out of 5: found in percent of {of_planted:,}")
    line("questions", [str(n) for n in SIZES])
    for kind in KINDS:
        there = [planted(kind, n) for n in SIZES]
        line(f"{kind.name}: difference", [f"{one.difference:.3f}" if one else "none" for one in there])
        line("  stated", [f"{100 * one.power:.1f} " if one else "" for one in there])
        shares = [
            found(kind, n, one.shift, of_planted, seed=2) if one else math.nan
            for n, one in zip(SIZES, there, strict=True)
        ]
        told = [
            f"{100 * x:.1f}{star(x, one.power, one.power, of_planted)}" if one else ""
            for x, one in zip(shares, there, strict=True)
        ]
        line("  found", told)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
