"""Two columns of the same rows -> the difference and its test, whichever of them is called first."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.statistics import Floats
from ragstone.statistics.paired import PairedTest, Verdict, paired_tests

ALPHA = 0.05


def difference_and_test(values: Floats, clusters: Sequence[str], *, seed: int) -> PairedTest:
    """Return the test of the second column against the first: difference, p-value, verdict on the second.

    values: (n, 2), at least one row; clusters: as of paired_tests. Depends neither on the order of the rows
    nor on what clusters are called, and with the columns exchanged it is the same with the other sign.
    """
    low_first = values[:, 1].sum() >= values[:, 0].sum()
    turned = values[:, ::-1] if low_first else values
    groups: dict[str, list[tuple[float, ...]]] = {}
    for cluster, row in zip(clusters, turned.tolist(), strict=True):
        groups.setdefault(cluster, []).append(tuple(row))
    in_order = sorted(sorted(group) for group in groups.values())
    ordered = np.array([row for group in in_order for row in group])
    codes = [at for at, group in enumerate(in_order) for _ in group]
    test = paired_tests(ordered, [(0, 1)], codes, alpha=ALPHA, seed=seed)[0]
    return test if low_first else _negated(test)


def _negated(test: PairedTest) -> PairedTest:
    found = test.difference
    difference = msgspec.structs.replace(
        found,
        value=-found.value,
        low=None if found.high is None else -found.high,
        high=None if found.low is None else -found.low,
    )
    verdict: Mapping[str, Verdict] = {"better": "worse", "worse": "better"}
    return msgspec.structs.replace(
        test, difference=difference, verdict=verdict.get(test.verdict, "cannot tell")
    )
