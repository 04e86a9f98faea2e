"""What each judge that ships measures."""

from ragstone.features.judges.about import groups, groups_with, measured_by
from ragstone.kernel.judging import judge_names


def test_every_judge_that_ships_is_in_one_group_with_a_sentence():
    named = [name for group in groups() for name in group.judges]
    assert sorted(named) == sorted(judge_names())
    assert all(
        len(text) <= 105 and text.endswith(".") for group in groups() for text in group.judges.values()
    )


def test_judges_are_found_by_words_of_name_sentence_and_group():
    found = groups_with("Contexts SHARE")
    assert [group.title for group in found] == [
        "Is it faithful to its sources?",
        "Did the retriever do its part?",
    ]
    assert list(found[1].judges) == ["context_relevance"]
    assert groups_with("no such judge") == []
    assert measured_by("right").startswith("The probability")
    assert measured_by("mine") is None
