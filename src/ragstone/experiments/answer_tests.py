"""Cells on the same questions -> each pair tested, whichever questions the two have in common."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.experiments.answer_board import CellTest
from ragstone.experiments.answer_values import Values
from ragstone.statistics import holm
from ragstone.statistics.paired import PairedTest, Verdict, paired_tests

ALPHA = 0.05


def compare_cells(
    values: Mapping[str, Values],
    pairs: Sequence[tuple[str, str]],
    clusters: Mapping[str, str],
    *,
    seed: int = 0,
) -> list[CellTest]:
    """Return the test of each pair of cells, in the order of the pairs; none of those without a question.

    Each pair is compared on the questions that both have a value of, so that no cell takes questions from
    others. Holm's correction is over all pairs that come back. clusters: question id -> its document.
    """
    together: dict[tuple[str, ...], list[tuple[str, str]]] = {}
    for first, second in pairs:
        common = tuple(sorted(values[first].keys() & values[second].keys()))
        if common:
            together.setdefault(common, []).append((first, second))
    found: dict[tuple[str, str], CellTest] = {}
    for common, of_them in together.items():
        names = list(dict.fromkeys(name for pair in of_them for name in pair))
        columns = np.array([[values[name][question] for name in names] for question in common])
        at = [(names.index(first), names.index(second)) for first, second in of_them]
        groups = [clusters.get(question, question) for question in common]
        for pair, test in zip(of_them, paired_tests(columns, at, groups, seed=seed), strict=True):
            found[pair] = _told(pair, test, values, columns[:, [names.index(name) for name in pair]])
    return corrected([found[pair] for pair in pairs if pair in found])


def corrected(tests: Sequence[CellTest]) -> list[CellTest]:
    """Return the tests as one family: with Holm's correction over all of them, and what they then say."""
    adjusted = holm([test.p for test in tests]).tolist() if tests else []
    return [
        msgspec.structs.replace(
            test, p_holm=p_holm, family=len(tests), verdict=_verdict(test.difference.value, p_holm)
        )
        for test, p_holm in zip(tests, adjusted, strict=True)
    ]


def turned(test: CellTest) -> CellTest:
    """Return the same test with the second cell first."""
    there = test.difference
    turned_round = msgspec.structs.replace(
        there,
        value=0.0 - there.value,
        low=None if there.high is None else 0.0 - there.high,
        high=None if there.low is None else 0.0 - there.low,
    )
    verdicts: dict[Verdict, Verdict] = {"better": "worse", "worse": "better", "cannot tell": "cannot tell"}
    return msgspec.structs.replace(
        test,
        first=test.second,
        second=test.first,
        means=test.means[::-1],
        difference=turned_round,
        verdict=verdicts[test.verdict],
    )


def _told(
    pair: tuple[str, str], test: PairedTest, values: Mapping[str, Values], columns: np.ndarray
) -> CellTest:
    first, second = pair
    either = len(values[first].keys() | values[second].keys())
    means = columns.mean(axis=0).tolist()
    return CellTest(
        first=first,
        second=second,
        n=len(columns),
        n_left_out=either - len(columns),
        means=(means[0], means[1]),
        **msgspec.structs.asdict(test),
    )


def _verdict(difference: float, p_holm: float) -> Verdict:
    if p_holm > ALPHA:
        return "cannot tell"
    return "better" if difference > 0 else "worse"
