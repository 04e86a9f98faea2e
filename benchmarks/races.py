"""Races in simulation: how often the true best is kept, and how many calls are saved.

Run: python benchmarks/races.py [SIMULATIONS]
"""

import sys
import time
from collections.abc import Callable, Iterator

import msgspec
import numpy as np

from ragstone.features.bench.answerers._race import after_round, next_round, standing, start_race
from ragstone.kernel.statistics import Codes, Floats

SIMULATIONS = 500
CONFIGURATIONS = 12
TOP = 0.8

Draw = Callable[[Floats, Codes, np.random.Generator], Floats]
"""Means (configurations,) and the document of each question -> scores (questions, configurations)."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What is simulated. means: of the configurations, the first the best. size: questions of a document."""

    name: str
    means: list[float]
    n_questions: int
    draw: Draw
    size: int = 1
    first: int = 10
    growth: float = 1.25


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """Over all simulations. kept: the best stood at the end. alone: nobody else did. saved: of the calls."""

    kept: float
    alone: float
    saved: float
    rounds: float


def right_or_wrong(means: Floats, documents: Codes, rng: np.random.Generator) -> Floats:
    """0 or 1. Half of what makes an answer right is the question, for all alike: pairs are correlated."""
    thresholds = np.quantile(NORMAL, means)
    hard = _half_shared(documents, rng)
    own = rng.normal(size=(documents.size, means.size))
    right: Floats = (np.sqrt(0.5) * hard[:, None] + np.sqrt(0.5) * own < thresholds).astype(float)
    return right


def graded(means: Floats, documents: Codes, rng: np.random.Generator) -> Floats:
    """Grades 0, 1/3, 2/3, 1 of the same kind; the mean of three answers right or wrong."""
    grades: Floats = np.mean([right_or_wrong(means, documents, rng) for _ in range(3)], axis=0)
    return grades


def _half_shared(documents: Codes, rng: np.random.Generator) -> Floats:
    """Standard normal for each question; half of its variance is that of its document."""
    of_document = rng.normal(size=int(documents.max()) + 1)[documents]
    shared: Floats = np.sqrt(0.5) * of_document + np.sqrt(0.5) * rng.normal(size=documents.size)
    return shared


NORMAL = np.random.default_rng(1).normal(size=1_000_000)


def one_clear(gap: float) -> list[float]:
    return [TOP] + [TOP - gap] * (CONFIGURATIONS - 1)


def spread(step: float) -> list[float]:
    return [TOP - step * place for place in range(CONFIGURATIONS)]


def settings() -> Iterator[Setting]:
    for gap in (0.05, 0.1, 0.2):
        for n in (200, 500, 1000, 2000):
            yield Setting(
                name=f"one clear winner, {gap:g} ahead",
                means=one_clear(gap),
                n_questions=n,
                draw=right_or_wrong,
            )

    def plain(name: str, means: list[float], size: int = 1) -> Setting:
        return Setting(name=name, means=means, n_questions=500, draw=right_or_wrong, size=size)

    yield plain("one clear winner, 0.3 ahead", one_clear(0.3))
    yield plain("steps of 0.03", spread(0.03))
    yield plain("near ties: steps of 0.005", spread(0.005))
    yield plain("two tied, the others 0.2 below", [TOP, TOP, *one_clear(0.2)[1:-1]])
    yield plain("all the same", [TOP] * CONFIGURATIONS)
    for gap in (0.1, 0.2):
        yield Setting(
            name=f"graded 0 to 3, {gap:g} ahead", means=one_clear(gap), n_questions=500, draw=graded
        )
    for size in (3, 5):
        yield plain(f"{size} questions a document, 0.2 ahead", one_clear(0.2), size)
    yield plain("5 questions a document, all the same", [TOP] * CONFIGURATIONS, 5)


def rounds() -> Iterator[Setting]:
    for first, growth in ((1, 1.0), (10, 1.0), (10, 1.1), (10, 1.25), (10, 1.5), (10, 2.0), (20, 1.25)):
        yield Setting(
            name=f"rounds from {first}, each {growth:g} times as large",
            means=one_clear(0.2),
            n_questions=500,
            draw=right_or_wrong,
            first=first,
            growth=growth,
        )


def simulate(setting: Setting, simulations: int, seed: int = 0) -> Outcome:
    """Return what came of races in which every question is drawn anew."""
    n, means = setting.n_questions, np.array(setting.means)
    names = [f"c{place:02}" for place in range(means.size)]
    documents = np.arange(n) // setting.size
    questions = [f"q{at}" for at in range(n)]
    clusters = {f"q{at}": f"d{document}" for at, document in enumerate(documents.tolist())}
    best = {name for name, mean in zip(names, setting.means, strict=True) if mean == setting.means[0]}
    kept = alone = asked = n_rounds = 0
    for number in range(simulations):
        rng = np.random.default_rng([seed, number])
        drawn = setting.draw(means, documents, rng).T
        rows = {
            name: dict(zip(questions, scores, strict=True))
            for name, scores in zip(names, drawn.tolist(), strict=True)
        }
        race = start_race(names, questions, clusters, seed=number, first=setting.first, growth=setting.growth)
        while given := next_round(race):
            race = after_round(
                race, {name: {one: rows[name][one] for one in given} for name in standing(race)}
            )
        left = standing(race)
        # Of several best ones any may go; the promise is of each by itself, so the first one is watched.
        kept += names[0] in left
        alone += set(left) <= best
        asked += sum(len(known) for known in race.scores.values())
        n_rounds += len(race.rounds)
    return Outcome(
        kept=kept / simulations,
        alone=alone / simulations,
        saved=1 - asked / (simulations * n * means.size),
        rounds=n_rounds / simulations,
    )


def main() -> None:
    simulations = int(sys.argv[1]) if len(sys.argv) > 1 else SIMULATIONS
    for title, table in (("races", settings()), ("sizes of rounds", rounds())):
        print(f"\n{title}, {CONFIGURATIONS} configurations, {simulations} simulations")
        head = f"{'questions':>10}{'best kept':>11}{'only best':>11}{'saved':>8}{'rounds':>8}{'s':>7}"
        print(f"{'':<40}{head}")
        for setting in table:
            began = time.perf_counter()
            found = simulate(setting, simulations)
            took = time.perf_counter() - began
            print(
                f"{setting.name:<40}{setting.n_questions:>10}{found.kept:>11.3f}{found.alone:>11.3f}"
                f"{found.saved:>8.0%}{found.rounds:>8.1f}{took:>7.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
