"""What each judge that ships measures."""

from ragstone.features.judges.about import groups
from ragstone.kernel.judging import judge_names


def test_every_judge_that_ships_is_in_one_group_with_a_sentence():
    named = [name for group in groups() for name in group.judges]
    assert sorted(named) == sorted(judge_names())
    assert all(
        len(text) <= 105 and text.endswith(".") for group in groups() for text in group.judges.values()
    )
