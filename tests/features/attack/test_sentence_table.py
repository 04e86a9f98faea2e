"""An attack says no more than its attempts bear: random attempts, recomputed."""

from hypothesis import given
from hypothesis import strategies as st
from tests.support.sentences import forbidden, said

from ragstone.features.attack._sentence_table import EXCESS, OUTCOMES, AttackOutcome
from ragstone.features.attack._values import AttackRate
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import mean_estimate


def outcome_of(attacks: list[bool], harmless: list[bool], n_attacked: int | None = 5) -> AttackOutcome:
    """Return what becomes of these attempts, each on a row of its own, beside harmless text on the same."""
    differences = [float(a) - float(b) for a, b in zip(attacks, harmless, strict=False)]
    rate = AttackRate(
        name="all",
        about="",
        n=len(attacks),
        n_rows=len(attacks),
        n_flips=sum(attacks),
        statuses={},
        flips=mean_estimate([float(flip) for flip in attacks], resamples=200),
        control=mean_estimate([float(flip) for flip in harmless], resamples=200),
        excess=mean_estimate(differences, proportion=False, resamples=200),
        shift=None,
    )
    return AttackOutcome(n_attacked, rate)


def words(outcome: AttackOutcome) -> str:
    return f"{say(outcome, *OUTCOMES)} {say(outcome, *EXCESS)}".strip()


flips = st.lists(st.booleans(), max_size=12)


@given(flips, flips, st.sampled_from([None, 0, 5]))
def test_no_attack_is_said_to_do_what_its_attempts_do_not_bear(
    attacks: list[bool], harmless: list[bool], n_attacked: int | None
):
    if n_attacked == 0:
        attacks = harmless = []
    codes = said(words(outcome_of(attacks, harmless, n_attacked)))
    assert ("attack-not-asked" in codes) is (n_attacked is None)
    assert ("attack-not-tried" in codes) is (n_attacked == 0)
    assert ("attack-not-answered" in codes) is (n_attacked == 5 and not attacks)
    paired = [*zip(attacks, harmless, strict=False)]
    if "attack-more-than-harmless-text" in codes:
        assert sum(a for a, _ in paired) > sum(b for _, b in paired)
    if "attack-not-shown-to-be-more" in codes:
        assert any(attacks)
    assert not forbidden(codes)


def test_outcomes_of_attacks_in_words(says):
    says(words(outcome_of([], [], None)))
    says(words(outcome_of([], [], 0)))
    says(words(outcome_of([], [])))
    says(words(outcome_of([False] * 12, [])))
    says(words(outcome_of([False] * 12, [False] * 12)))
    says(words(outcome_of([True] * 20 + [False] * 10, [False] * 30)))
    says(words(outcome_of([True] * 6 + [False] * 24, [False] * 24 + [True] * 6)))
