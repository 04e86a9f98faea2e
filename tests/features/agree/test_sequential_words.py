"""What is said while labels come in: each sentence under its condition, and not without it."""

import msgspec
import pytest

from ragstone.features.agree.sequential_words import sequential_sentences, verdict_of
from ragstone.kernel.agreement.sequential import SequentialAgreement

KAPPA = SequentialAgreement(
    judge="rubric",
    metric="correctness",
    model="x/y",
    prompt_version=1,
    measure="kappa",
    n=40,
    n_questions=40,
    value=0.8912,
    low=0.4951,
    high=0.9849,
)


def said(**changes):
    return " ".join(sequential_sentences(msgspec.structs.replace(KAPPA, **changes)))


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"n_questions": 12},
        {"unequal": True},
        {"value": -0.1, "low": -0.301, "high": 0.2, "measure": "signed error"},
        {"value": None, "low": -1.0, "high": 1.0, "trust": 0.8, "verdict": "undecided"},
        {"reason": "No labelled answer has a score of this judge.", "low": None, "trust": 0.8},
        {"trust": 0.4, "verdict": "trusted"},
        {"trust": 0.99, "verdict": "not trusted"},
        {"trust": 0.8, "verdict": "undecided", "more": 64},
        {"trust": 0.8, "verdict": "undecided", "more": 1},
        {"trust": 0.8, "verdict": "undecided", "far": True},
        {"trust": 0.8, "verdict": "undecided", "n": 19, "n_questions": 19},
        {"n_questions": 12, "unit": "conversation"},
    ],
)
def test_what_is_said(says, changes):
    says(said(**changes))


def test_an_end_is_never_said_to_be_further_in_than_it_is():
    for low, high in ((0.7999, 0.9001), (0.8, 0.9), (-0.0049, 0.0049), (0.29, 0.57)):
        words = said(low=low, high=high, value=(low + high) / 2).replace("−", "-").split()
        shown = [float(words[words.index(word) + 1].rstrip(",")) for word in ("least", "most")]
        assert low - 0.01 < shown[0] <= low + 1e-9
        assert high - 1e-9 <= shown[1] < high + 0.01


def test_nobody_is_sent_home_before_the_interval_has_left_the_bar():
    for verdict, may_stop in (("trusted", True), ("not trusted", True), ("undecided", False)):
        assert ("may stop" in said(trust=0.8, verdict=verdict, more=None)) == may_stop
    assert "may stop" not in said()


def test_the_worst_verdict_of_the_judges_that_count_is_that_of_all():
    def rows(*verdicts):
        return [
            msgspec.structs.replace(KAPPA, verdict=verdict, baseline=baseline)
            for verdict, baseline in verdicts
        ]

    assert verdict_of(rows(("trusted", False), ("not trusted", True))) == "trusted"
    assert verdict_of(rows(("trusted", False), ("undecided", False))) == "undecided"
    assert verdict_of(rows(("undecided", False), ("not trusted", False))) == "not trusted"
    assert verdict_of(rows(("not trusted", True))) == "not trusted"
