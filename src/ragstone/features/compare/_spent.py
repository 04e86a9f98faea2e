"""What the answers of two runs took, paired by question: seconds, tokens and money."""

from collections.abc import Callable, Sequence

import numpy as np

from ragstone.features.compare._repeats import answers_by_question
from ragstone.features.compare.matching import JudgedRun, Matched
from ragstone.features.compare.median import median_estimates
from ragstone.features.compare.values import SpentComparison, SpentFigures, Unit
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics import Estimate, Floats, mean_estimates
from ragstone.kernel.statistics.families import difference_and_test

Cluster = Callable[[Sequence[str]], list[str]]


SPENT: dict[Unit, Callable[[Answer], float | None]] = {
    "seconds": lambda answer: answer.latency_s,
    "tokens": lambda answer: float(answer.usage.input + answer.usage.output) if answer.usage else None,
    "usd": lambda answer: answer.cost_usd,
}


def compare_spent(
    a: JudgedRun, b: JudgedRun, matched: Matched, clusters: Cluster, *, seed: int
) -> list[SpentComparison]:
    """Return what answers took, of each pair of systems, in every unit that either side tells of.

    clusters: question ids -> what each belongs to. Answers that do not tell are counted, and are never 0;
    a unit in which no answer took anything is left out, and so is all where a run holds no answers.
    """
    rows = [answers_by_question(side.answers) for side in (a, b)]
    comparisons = []
    for systems in matched.systems:
        answered = [
            [side.get((system, name), []) for name in matched.ids]
            for side, system in zip(rows, systems, strict=True)
        ]
        for unit, of in SPENT.items():
            told = [[[of(row) for row in repeats] for repeats in side] for side in answered]
            known = [[[value for value in own if value is not None] for own in side] for side in told]
            measured = [[sum(own) / len(own) if own else None for own in side] for side in known]
            if all(map(any, answered)) and any(value for side in measured for value in side):
                silent = [sum(repeats.count(None) for repeats in side) for side in told]
                pairs = [
                    (name, (first, other))
                    for name, first, other in zip(matched.ids, *measured, strict=True)
                    if first is not None and other is not None
                ]
                documents = clusters([name for name, _ in pairs])
                values = np.array([both for _, both in pairs], dtype=np.float64)
                comparisons.append(_compared(unit, systems, silent, values, documents, seed=seed))
    return comparisons


def _compared(
    unit: Unit,
    systems: tuple[str, str],
    silent: Sequence[int],
    values: Floats,
    clusters: list[str],
    *,
    seed: int,
) -> SpentComparison:
    mean = median = None
    if len(values):
        a, b = means_of(values, clusters, seed=seed, proportion=False)
        test = difference_and_test(values, clusters, seed=seed)
        mean = SpentFigures(a=a, b=b, difference=test.difference, n_changed=test.n_changed)
    if len(values) and unit == "seconds":
        a, b, difference = median_estimates(values, clusters, seed=seed)
        n_changed = int((values[:, 0] != values[:, 1]).sum())
        median = SpentFigures(a=a, b=b, difference=difference, n_changed=n_changed)
    return SpentComparison(
        what=unit,
        system_a=systems[0],
        system_b=systems[1],
        n=len(values),
        unknown_a=silent[0],
        unknown_b=silent[1],
        mean=mean,
        median=median,
    )


def means_of(
    values: Floats, clusters: Sequence[str], *, seed: int, proportion: bool = True
) -> tuple[Estimate, Estimate]:
    """Return the means of both columns. values: (n, 2), at least one row; proportion: see mean_estimate."""
    columns = {"a": values[:, 0], "b": values[:, 1]}
    estimates = mean_estimates(columns, clusters, seed=seed, proportion=proportion)
    return estimates["a"], estimates["b"]
