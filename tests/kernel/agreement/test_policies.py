import msgspec
import pytest
from tests.support.label_rows import judgement, label

from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.pairing import human_scores
from ragstone.kernel.agreement.policies import labels_under, one_policy, policies_of, policy_of
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Label

JUDGED = [judgement(f"q{n}", n % 2) for n in range(40)]


def under(policy: str | None, label: Label) -> Label:
    return msgspec.structs.replace(label, metadata={**(label.metadata or {}), "policy": policy})


def mixed(*policies: str | None) -> list[Label]:
    """Ten labels of each policy, all of other answers."""
    return [
        under(policy, label(f"q{10 * at + n}", n % 2))
        for at, policy in enumerate(policies)
        for n in range(10)
    ]


def test_policies_are_counted_the_most_frequent_first():
    labels = [label("a", 1), under("b1", label("b", 1)), under("b1", label("c", 1)), under("", label("d", 1))]
    labels += [under("b2", label("e", 1, metric="relevance")), under("b2", label("f", 1, metric="relevance"))]
    assert list(policies_of([*labels, label("g", 0)]).items()) == [(None, 3), ("b1", 2), ("b2", 2)]
    assert policies_of(labels, "correctness") == {None: 2, "b1": 2}
    assert policy_of(labels[3]) is None  # a blank cell of a sheet


def test_the_one_policy_is_that_of_all_labels():
    assert one_policy(mixed("b1"), "correctness") == "b1"
    assert one_policy(mixed("b1", None), "correctness") is None  # nobody knows what the others had read
    assert one_policy([], "correctness") is None


def test_labels_under_two_policies_are_an_error_wherever_they_are_paired(says):
    labels = [*mixed("f3a90c1d"), *mixed("f3a90c1d", "b0771e22")[10:13]]
    for use in (
        lambda: human_scores(labels, "correctness"),
        lambda: report_cards(JUDGED, labels),
        lambda: corrected_means(JUDGED, labels),
    ):
        with pytest.raises(DataError) as error:
            use()
        says(error.value)


def test_labels_of_two_metrics_may_have_two_policies():
    labels = [under("f3a90c1d", label("a", 1, metric="correctness"))]
    labels += [under("b0771e22", label("a", 1, metric="relevance"))]
    assert human_scores(labels, "correctness")["a", "default"].score == 1


def test_a_policy_is_chosen_and_numbers_are_those_of_its_labels_alone():
    labels = mixed("f3a90c1d", "b0771e22", None)
    for policy in ("f3a90c1d", "b0771e22", "none"):
        own = labels_under(labels, policy)
        assert len(own) == 10
        [card] = report_cards(JUDGED, labels, policy=policy, resamples=100)
        [alone] = report_cards(JUDGED, own, resamples=100)
        assert (card.n, card) == (10, alone)
        assert list(corrected_means(JUDGED, labels, policy=policy, resamples=100)) == list(
            corrected_means(JUDGED, own, resamples=100)
        )


def test_unknown_policy_is_an_error_that_names_those_there(says):
    with pytest.raises(DataError) as error:
        report_cards(JUDGED, mixed("f3a90c1d", None), policy="f3a90c1e")
    says(error.value)


def test_card_and_mean_note_that_some_labels_name_no_policy(says):
    [card] = report_cards(JUDGED, mixed("f3a90c1d", None), resamples=100)
    [mean] = corrected_means(JUDGED, mixed("f3a90c1d", None), resamples=100)
    says(card.notes[-1])
    says(mean.notes[-1])
    assert card.n == 20


@pytest.mark.parametrize("labels", [mixed(None), mixed("f3a90c1d")], ids=["no policy", "one policy"])
def test_nothing_is_noted_where_all_labels_are_alike(labels):
    [card] = report_cards(JUDGED, labels, resamples=100)
    [mean] = corrected_means(JUDGED, labels, resamples=100)
    assert not any("instructions" in note for note in [*card.notes, *mean.notes])
