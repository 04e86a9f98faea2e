import random
from collections import Counter, defaultdict
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.dataset.split import documents_of, split_questions
from ragstone.kernel.records import Evidence, Question

documents = st.lists(st.sampled_from("abcdefghij"), max_size=3)
asked = st.lists(st.tuples(documents, documents), max_size=14).map(
    lambda rows: [
        Question(
            id=f"q{n}",
            question="?",
            document_ids=named or None,
            evidence=[Evidence(document_id=one, start=0, end=1) for one in quoted] or None,
        )
        for n, (named, quoted) in enumerate(rows)
    ]
)
shares = st.floats(0, 1)


def question(name, *document_ids):
    return Question(id=name, question="?", document_ids=list(document_ids))


def group_sizes(questions):
    """The sizes of the groups, by an independent way: merge sets until nothing changes."""
    groups = [({one.id}, documents_of(one)) for one in questions]
    merged = True
    while merged:
        merged = False
        for left, right in combinations(groups, 2):
            if left[1] & right[1]:
                groups.remove(left)
                groups.remove(right)
                groups.append((left[0] | right[0], left[1] | right[1]))
                merged = True
                break
    return [len(names) for names, _ in groups]


@given(asked, shares, st.integers(0, 9))
def test_no_document_is_on_both_sides_and_each_question_on_one(questions, share, seed):
    sides = split_questions(questions, share, seed)
    assert sides.keys() == {one.id for one in questions}
    by_document = defaultdict(set)
    for one in questions:
        for document in documents_of(one):
            by_document[document].add(sides[one.id])
    assert all(len(found) == 1 for found in by_document.values())


@given(asked, shares, st.integers(0, 9))
def test_the_share_is_as_near_as_whole_groups_allow(questions, share, seed):
    n_test = Counter(split_questions(questions, share, seed).values())["test"]
    sizes = group_sizes(questions)
    possible = {sum(chosen) for n in range(len(sizes) + 1) for chosen in combinations(sizes, n)}
    target = share * len(questions)
    assert abs(n_test - target) == pytest.approx(min(abs(total - target) for total in possible))
    assert abs(n_test - target) <= max(sizes, default=0) / 2 + 1e-9


@given(asked, shares, st.integers(0, 9), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(questions, share, seed, shuffling):
    shuffled = random.Random(shuffling.random()).sample(questions, len(questions))
    assert split_questions(shuffled, share, seed) == split_questions(questions, share, seed)


def test_a_question_about_two_documents_ties_the_questions_of_both():
    rows = [question("1", "a"), question("2", "a", "b"), question("3", "b"), question("4", "c")]
    # Groups of 3 and 1: of 4 questions a quarter is the single one.
    assert split_questions(rows, 0.25, 0) == {"1": "dev", "2": "dev", "3": "dev", "4": "test"}


def test_evidence_ties_as_well_as_named_documents():
    span = Evidence(document_id="b", start=0, end=4)
    rows = [
        Question(id="1", question="?", evidence=[span]),
        question("2", "b"),
        Question(id="3", question="?"),
        Question(id="4", question="?"),
    ]
    sides = split_questions(rows, 0.5, 3)
    assert sides["1"] == sides["2"] != sides["3"] == sides["4"]


def test_the_seed_draws_the_documents():
    rows = [question(f"q{n}", f"d{n}") for n in range(40)]
    drawn = [split_questions(rows, 0.25, seed) for seed in range(3)]
    assert [Counter(sides.values())["test"] for sides in drawn] == [10, 10, 10]
    assert drawn[0] != drawn[1] != drawn[2]
    assert drawn[0] == split_questions(rows, 0.25, 0)


def test_ends_of_the_share_put_everything_on_one_side():
    rows = [question("1", "a"), question("2", "b")]
    assert set(split_questions(rows, 0, 0).values()) == {"dev"}
    assert set(split_questions(rows, 1, 0).values()) == {"test"}
    assert split_questions([], 0.5, 0) == {}
    with pytest.raises(ValueError, match="0 to 1"):
        split_questions(rows, 1.2, 0)


def test_many_questions_are_split_at_once():
    rows = [question(f"q{n}", f"d{n % 700}", f"e{n % 350}") for n in range(20_000)]
    n_test = Counter(split_questions(rows, 0.3, 1).values())["test"]
    assert abs(n_test - 6000) <= 29  # 350 groups of 57 or 58


def test_question_that_nothing_answers_stays_with_the_document_that_tempts():
    tempting = {"tempting": {"document_id": "a", "start": 0, "end": 3}}
    negative = Question(id="n", question="How deep?", answerable=False, metadata=tempting)
    others = [Question(id=name, question=f"{name}?", document_ids=[name]) for name in "abcd"]
    for seed in range(8):
        sides = split_questions([negative, *others], 0.5, seed)
        assert sides["n"] == sides["a"]
