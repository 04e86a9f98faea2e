import msgspec
from tests.support.label_rows import judgement, label

from ragstone.features.bench.answerers._measuring import choose_roles
from ragstone.kernel.agreement.grading import report_cards

TRUTH = [0, 1] * 20


def carded(wrong):
    """Return the cards of a judge that is wrong on so many of 40 labelled answers, and of the baseline."""
    said = [1 - truth if at < wrong else truth for at, truth in enumerate(TRUTH)]
    judged = [judgement(f"q{at}", score, judge="mine", model="openai/m") for at, score in enumerate(said)]
    plain = [judgement(f"q{at}", truth, judge="containment", model="none") for at, truth in enumerate(TRUTH)]
    return report_cards([*judged, *plain], [label(f"q{at}", truth) for at, truth in enumerate(TRUTH)])


ROWS = [
    judgement("a", 1, judge="containment", model="none"),
    judgement("a", 1, judge="mine", model="openai/m"),
    judgement("a", 1, judge="refusing", metric="answered", model="none"),
    judgement("a", 1, judge="asked", metric="answered", model="openai/m"),
]


def test_judge_by_a_model_that_nobody_measured_is_taken_and_said_to_be_unmeasured():
    correct, answered = choose_roles(ROWS)
    assert (correct.judge, correct.measured, correct.better_than_baseline) == ("mine", False, None)
    assert answered.judge == "asked"


def test_judge_that_is_shown_to_be_useless_leaves_its_place_to_the_baseline():
    correct, answered = choose_roles(ROWS, carded(wrong=38))
    assert (correct.judge, correct.model, correct.instead_of) == ("containment", "none", ["mine"])
    # Its model has no other card: what it was measured at speaks against its other judges too.
    assert (answered.judge, answered.instead_of) == ("refusing", ["asked"])


def test_one_that_is_the_only_judge_stays_though_it_is_useless():
    [correct] = choose_roles(ROWS[1:2], carded(wrong=38))
    assert (correct.judge, correct.measured, correct.better_than_baseline) == ("mine", True, False)


def test_correctness_goes_before_claims_and_other_metrics_have_no_role():
    claims = judgement("a", 1, judge="claims", metric="claims")
    other = judgement("a", 1, judge="toxicity", metric="toxicity")
    [role] = choose_roles([claims, other])
    assert (role.role, role.judge) == ("correct", "claims")
    assert choose_roles([claims, ROWS[1]])[0].judge == "mine"


def test_share_is_the_place_on_the_scale():
    [role] = choose_roles([msgspec.structs.replace(ROWS[1], scale=(1, 5))])
    assert [role.share(score) for score in (1, 3, 5)] == [0, 0.5, 1]
