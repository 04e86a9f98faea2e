"""Paired tests made together: corrected as a family, with sides exchanged, in whatever order rows come."""

from collections.abc import Sequence
from typing import Protocol, TypeVar

import msgspec
import numpy as np

from ragstone.kernel.statistics import Estimate, Floats, holm, negated
from ragstone.kernel.statistics.paired import PairedTest, Verdict, paired_tests

ALPHA = 0.05


class Tested(Protocol):
    """What any row of a test says: a frozen struct with `p_holm` and `family` too, as PairedTest."""

    @property
    def difference(self) -> Estimate:
        """First minus second."""

    @property
    def p(self) -> float:
        """Two-sided, before any correction."""

    @property
    def verdict(self) -> Verdict:
        """On the first."""


TestedT = TypeVar("TestedT", bound=Tested)
OPPOSITE: dict[Verdict, Verdict] = {"better": "worse", "worse": "better", "cannot tell": "cannot tell"}


def exchanged(test: TestedT) -> TestedT:
    """Return what a test says with its two sides exchanged; their names are the caller's to exchange."""
    return _with(test, difference=negated(test.difference), verdict=OPPOSITE[test.verdict])


def _with(test: TestedT, **changes: object) -> TestedT:
    return msgspec.structs.replace(test, **changes)  # type: ignore[type-var] # it is a struct


def as_family(tests: Sequence[TestedT]) -> list[TestedT]:
    """Return the tests with Holm's correction over all of them, and what each then says."""
    corrected = []
    for test, p_holm in zip(tests, holm([test.p for test in tests]).tolist() if tests else [], strict=True):
        better: Verdict = "better" if test.difference.value > 0 else "worse"
        verdict = better if p_holm <= ALPHA else "cannot tell"
        corrected.append(_with(test, p_holm=p_holm, family=len(tests), verdict=verdict))
    return corrected


def difference_and_test(values: Floats, clusters: Sequence[str], *, seed: int) -> PairedTest:
    """Return the test of the second column against the first: difference, p-value, verdict on the second.

    values: (n, 2), at least one row; clusters: as of paired_tests. Depends neither on the order of the rows
    nor on what clusters are called, and with the columns exchanged it is the same with the other sign.
    """
    straight, turned = _in_order(values, clusters), _in_order(values[:, ::-1], clusters)
    first, second = values.sum(axis=0)
    # Resamples follow the order of the columns: whichever is asked for, the same one of the two is drawn.
    is_turned = first < second if first != second else turned < straight
    in_order = turned if is_turned else straight
    ordered = np.array([row for group in in_order for row in group])
    codes = [at for at, group in enumerate(in_order) for _ in group]
    test = paired_tests(ordered, [(0, 1)], codes, alpha=ALPHA, seed=seed)[0]
    if straight == turned:
        return _symmetric(test)
    return test if is_turned else exchanged(test)


def _in_order(values: Floats, clusters: Sequence[str]) -> list[list[tuple[float, ...]]]:
    """Return the rows of each cluster, sorted, and the clusters by their rows."""
    groups: dict[str, list[tuple[float, ...]]] = {}
    for cluster, row in zip(clusters, values.tolist(), strict=True):
        groups.setdefault(cluster, []).append(tuple(row))
    return sorted(sorted(group) for group in groups.values())


def _symmetric(test: PairedTest) -> PairedTest:
    """Return the test of columns that are the same when exchanged: their interval lies around 0."""
    estimate = test.difference
    if estimate.low is None or estimate.high is None:
        return test
    half = max(-estimate.low, estimate.high)
    difference = msgspec.structs.replace(estimate, value=0.0, low=-half, high=half)
    return msgspec.structs.replace(test, difference=difference)
