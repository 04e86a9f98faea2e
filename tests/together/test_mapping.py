"""What a label stands for is read by one rule in every command that takes a mapping."""

import re

import pytest

from ragstone.features.improve.develop_command import score_scale
from ragstone.features.improve.draft_forms import HowToRun, scale_of
from ragstone.kernel.agreement.mapping import mapping_of, read_mapping


@pytest.mark.parametrize(
    ("given", "words", "mapping"),
    [
        ("0,5=1;1=100", {}, {0.5: 1.0, 1.0: 100.0}),
        ("good=1,bad=0", {"good": 1, "bad": 0}, None),
        ("good=1,fair=0.5,bad=0", {"good": 1, "fair": 0.5, "bad": 0}, {1: 1, 0.5: 0.5, 0: 0}),
        ("fair=3,1=0,5=10", {"fair": 3}, {3: 3, 1: 0, 5: 10}),
    ],
)
def test_every_command_that_takes_a_mapping_reads_the_same(given, words, mapping):
    assert read_mapping([given]) == (words, mapping)
    table = dict(part.split("=") for part in re.split("[;,](?!5=1;)", given))
    assert mapping_of({label: float(score) for label, score in table.items()}) == (words, mapping)
    for scale in (score_scale(None, [given]), scale_of(HowToRun(labels="l", mapping=given))):
        assert (scale.words, scale.mapping) == (words, mapping)
