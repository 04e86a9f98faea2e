"""The overlap of two systems' errors: by hand, as a property, and the documents beside each answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.compare.overlap import error_overlap, given_documents
from ragstone.features.compare.overlap_words import documents_told
from ragstone.kernel.records import Context, RankingItem
from ragstone.kernel.statistics import wilson_interval


def alone(right):
    """Every question of a document of its own."""
    return [f"d{at}" for at in range(len(right))]


def test_overlap_by_hand():
    # Of 10 questions A alone has 3 wrong, B alone 1, both 2: the other 4 are right in both.
    right = [(False, True)] * 3 + [(True, False)] + [(False, False)] * 2 + [(True, True)] * 4
    found = error_overlap(right, alone(right), seed=0)
    assert (found.n, found.n_only_a, found.n_both, found.n_only_b) == (10, 3, 2, 1)
    assert (found.only_a.value, found.both.value, found.only_b.value) == pytest.approx((0.3, 0.2, 0.1))
    assert (found.only_a.low, found.only_a.high) == pytest.approx(wilson_interval(3, 10))


def test_questions_of_one_document_widen_the_intervals():
    # 40 documents of 3 questions each, all of one document wrong or none: 40 independent answers, not 120.
    right = [(at >= 10, True) for at in range(40) for _ in range(3)]
    by_document = [f"d{at}" for at in range(40) for _ in range(3)]
    apart, together = (error_overlap(right, each, seed=0).only_a for each in (alone(right), by_document))
    assert together.high - together.low > 1.4 * (apart.high - apart.low)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=40))
def test_sides_exchanged_exchange_the_errors_and_nothing_is_counted_twice(right):
    found = error_overlap(right, alone(right), seed=0)
    turned = error_overlap([(b, a) for a, b in right], alone(right), seed=0)
    assert (found.only_a, found.both, found.only_b) == (turned.only_b, turned.both, turned.only_a)
    assert found.n_only_a + found.n_both == sum(not a for a, _ in right)
    assert found.n_only_b + found.n_both == sum(not b for _, b in right)


def test_documents_of_contexts_and_of_rankings_mark_copies(says):
    same = {"en-1": "en-1", "es-1": "en-1"}
    items = [
        RankingItem(document_id="es-1", score=2.0),
        RankingItem(document_id="en-9", score=1.0),
        Context(text="kept elsewhere", id="passage 7"),
    ]
    found = given_documents(items, ["en-1"], same, {"es-1": "es"})
    assert [(one.place, one.document_id, one.lang, one.copy) for one in found] == [
        (1, "es-1", "es", True),
        (2, "en-9", None, False),
        (3, "passage 7", None, False),
    ]
    says(documents_told(found))
    assert (documents_told([]), documents_told(None)) == ("none", "")
