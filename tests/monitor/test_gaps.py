"""Knowledge gaps: who is counted, what is grouped, what stands first."""

from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from ragstone.monitor.gaps import Missed, find_gaps

LIME = (
    "When do I spread lime on my field?",
    "How much lime does my field need?",
    "Is lime good for my field?",
)
GOATS = ("Which worms do goats get?", "How do I treat worms of goats?", "Do goats with worms lose weight?")


def missed(question, number=0, **given_):
    return Missed(id=f"q{number}", question=question, **{"why": "unanswered", "who": f"p{number}", **given_})


def test_nothing_missed_is_no_gap():
    assert find_gaps([]) == []


def test_one_question_is_a_gap_named_by_itself():
    (gap,) = find_gaps([missed("Does snow harm garlic?", day=date(2026, 3, 4), lang="en", weight=10.0)])
    assert (gap.name, gap.n_people, gap.estimated, gap.langs) == (
        "Does snow harm garlic?",
        1,
        10.0,
        {"en": 1},
    )
    assert gap.first == gap.last == date(2026, 3, 4)


def test_what_most_people_asked_stands_first_though_one_person_asked_more_often():
    # Lime: one person, nine times. Goats: three people, once each.
    rows = [missed(LIME[n % 3], n, who="same") for n in range(9)]
    rows += [missed(question, 20 + n) for n, question in enumerate(GOATS)]
    first, second = find_gaps(rows, n_topics=2)
    assert (first.n_people, first.n_questions) == (3, 3)
    assert (second.n_people, second.n_questions) == (1, 9)
    assert "goats" in first.name.casefold()
    assert "lime" in second.name.casefold()


def test_questions_with_the_same_words_are_one_example():
    rows = [
        missed("Which worms do goats get?", 1),
        missed("which worms do GOATS get", 2),
        missed(GOATS[1], 3),
    ]
    (gap,) = find_gaps(rows, n_topics=1)
    assert [(one.question, one.n_people, one.ids) for one in gap.examples] == [
        ("Which worms do goats get?", 2, ("q1", "q2")),
        ("How do I treat worms of goats?", 1, ("q3",)),
    ]


def test_why_and_the_nearest_documents_are_counted():
    rows = [
        missed(GOATS[0], 1, nearest=("sheep.pdf", "sheep.pdf", "cattle.pdf")),
        missed(GOATS[1], 2, nearest=("sheep.pdf",), why="unfaithful"),
    ]
    (gap,) = find_gaps(rows, n_topics=1)
    assert (gap.unanswered, gap.unfaithful) == (1, 1)
    assert [(near.document_id, near.n_questions) for near in gap.nearest] == [
        ("sheep.pdf", 2),
        ("cattle.pdf", 1),
    ]


def test_a_question_that_shares_no_word_is_a_gap_by_itself():
    rows = [missed(question, n) for n, question in enumerate((*LIME, *GOATS))] + [missed("¿Nieve y ajo?", 9)]
    assert "¿Nieve y ajo?" in [gap.name for gap in find_gaps(rows)]


def test_questions_without_a_word_are_kept_apart_by_their_characters():
    assert {gap.name for gap in find_gaps([missed("???", 1), missed("!!!", 2)])} == {"???", "!!!"}


@given(
    st.lists(
        st.tuples(st.sampled_from((*LIME, *GOATS, "?", "Does snow harm garlic?")), st.integers(0, 4)),
        max_size=20,
    )
)
def test_every_exchange_is_in_exactly_one_gap(asked):
    rows = [missed(question, n, who=str(who)) for n, (question, who) in enumerate(asked)]
    gaps = find_gaps(rows)
    assert sum(gap.n_questions for gap in gaps) == len(rows)
    assert sum(gap.unanswered + gap.unfaithful for gap in gaps) == len(rows)
    assert [gap.n_people for gap in gaps] == sorted((gap.n_people for gap in gaps), reverse=True)
