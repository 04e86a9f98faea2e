from typing import Literal

import msgspec
import pytest
from tests.support.tiny_run import card

from ragstone.features.improve._learn_words import learning_headline, set_text
from ragstone.features.improve.learned import LearnedTest, Learning
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.statistics.paired import PairedTest


def learning(
    difference: float, verdict: Literal["better", "worse", "cannot tell"], *, n_tuned: int = 0
) -> Learning:
    gap = Estimate(value=difference, low=difference - 0.1, high=difference + 0.1, n=100, method="student")
    p = 0.4 if verdict == "cannot tell" else 0.0001
    test = PairedTest(difference=gap, test="sign-flip", p=p, p_holm=p, family=1, verdict=verdict)
    before, value = (
        Estimate(value=mean, low=None, high=None, n=100, method="wilson") for mean in (0.8, 0.8 + difference)
    )
    tested = LearnedTest(look=1, n=100, before=before, value=value, test=test, card=card(None))
    return Learning(
        labels="labels.jsonl",
        judge="tone",
        version=1,
        measure="exact agreement",
        yes_from=0.5,
        n_dev=100,
        n_questions=50,
        n_test=100,
        n_tied=0,
        n_tuned=n_tuned,
        candidates=[],
        chosen="calibrated",
        tested=tested,
        needed=6000,
        needed_gain=0.1,
    )


@pytest.mark.parametrize(
    ("difference", "verdict"), [(-0.3, "worse"), (0.05, "cannot tell"), (-0.05, "cannot tell")]
)
def test_worse_on_the_test_part_is_said_and_is_no_matter_of_more_labels(difference, verdict, says):
    says(learning_headline(learning(difference, verdict)))


def test_a_gain_of_probabilities_has_the_signs_of_a_difference(says):
    whole = learning(0.0, "cannot tell")
    assert whole.tested
    nearer = msgspec.structs.replace(
        whole.tested.test,
        difference=Estimate(value=0.031, low=0.0004, high=0.06, n=100, method="student"),
        verdict="better",
    )
    tested = msgspec.structs.replace(whole.tested, nearer=nearer, toward=nearer)
    says(learning_headline(msgspec.structs.replace(whole, by="probabilities", tested=tested)))


def test_answers_that_a_judge_was_made_with_are_counted(says):
    says(set_text(learning(0.3, "better", n_tuned=365)))
    says(set_text(learning(0.3, "better")))
