"""A threshold is one of its judge's scale, for the kernel and for what proposes one."""

import pytest
from tests.support.label_rows import sheets

from ragstone.features.improve.values import Scale, humans_of, judged_version
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.judging.thresholds import fits


@pytest.mark.parametrize(
    ("threshold", "scale", "good"),
    [
        *((0.5, (0, 100), False), (0.99, (0, 100), False), (1, (0, 100), True), (50, (0, 100), True)),
        *((100, (0, 100), True), (100.1, (0, 100), False), (0, (0, 100), False), (0.5, (0, 1), True)),
        *((0.005, (0, 1), True), (1.01, (1, 5), False), (3, (1, 5), True), (-1, (0, 1), False)),
    ],
)
def test_one_rule(threshold, scale, good):
    assert fits(threshold, scale) is good
    judged, labels = sheets([1, 0, 1, 0], [scale[1], scale[0], scale[1], scale[0]], scale=scale)
    takers = [
        lambda: report_cards(judged, labels, threshold={"rubric": threshold}, resamples=50),
        lambda: judged_version(
            judged,
            judged[0].metric,
            humans_of(labels, judged[0].metric, Scale()),
            Scale(threshold=threshold),
            seed=0,
        ),
    ]
    for take in takers:
        if good:
            take()
        else:
            with pytest.raises(RagstoneError, match="its scale is"):
                take()
