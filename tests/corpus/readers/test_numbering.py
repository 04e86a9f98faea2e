import pytest

from ragstone.corpus.readers.docx import FORMS, Counting, ListLevel, WordList


def test_levels_count_on_their_own_and_begin_anew_below_a_higher_one():
    levels = {0: ListLevel("decimal", "%1.", 1), 1: ListLevel("lowerLetter", "%1.%2)", 1)}
    counting = Counting({"1": WordList("a", levels, {})})
    shown = [counting.label("1", depth) for depth in (0, 1, 1, 0, 1)]
    # 1. / 1.a) / 1.b) / 2. / 2.a)
    assert shown == ["1.", "1.a)", "1.b)", "2.", "2.a)"]


def test_a_list_that_restarts_begins_at_its_number_and_others_of_its_kind_go_on():
    levels = {0: ListLevel("decimal", "%1.", 1)}
    counting = Counting({"1": WordList("a", levels, {}), "2": WordList("a", levels, {0: 5})})
    assert [counting.label(name, 0) for name in "1122"] == ["1.", "2.", "5.", "6."]


def test_bullets_and_unknown_lists_have_no_number():
    counting = Counting({"1": WordList("a", {0: ListLevel("bullet", "•", 1)}, {})})
    assert [counting.label("1", 0), counting.label("1", 3), counting.label("9", 0)] == ["", "", ""]


@pytest.mark.parametrize(
    ("form", "count", "shown"),
    [
        ("upperRoman", 1994, "MCMXCIV"),
        ("lowerRoman", 4, "iv"),
        ("lowerLetter", 28, "bb"),
        ("upperLetter", 26, "Z"),
        ("decimalZero", 7, "07"),
    ],
)
def test_numbers_are_written_as_word_writes_them(form, count, shown):
    assert FORMS[form](count) == shown
