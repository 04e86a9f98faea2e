import pytest

from ragstone_assistant.answering.sentences import marks_before_ends, marks_in, with_marks, without_marks


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Sow [1] in May [2].", [1, 2]),
        ("Sow [2, 1].", [2, 1]),
        ("Sow [1][1].", [1]),
        ("Sow [Passage 3].", [3]),
        ("Sow 【4】.", [4]),
        ("Sow [^5].", [5]),
        ("बोएं [१].", [1]),
        ("ازرع [٢].", [2]),
        ("Sow (Passage 2).", [2]),
        ("Siembra [fuente 1 y 3].", [1, 3]),
        ("बोएं [स्रोत 1 और 2].", [1, 2]),
        ("Panda [kifungu 2].", [2]),
        ("Sow [2-4].", [2, 3, 4]),
        ("Sow (1) in 2 rows [a].", []),
        ("Sow as in [table 2] since [2019].", []),
    ],
)
def test_marks_are_read_as_models_write_them(text, numbers):
    assert marks_in(text) == numbers


def test_marks_stand_before_the_end_of_a_sentence():
    assert with_marks("Sow in May.", [1, 2]) == "Sow in May [1][2]."
    assert with_marks("मई में बोएं।", [1]) == "मई में बोएं [1]।"
    assert with_marks("هل؟", [1]) == "هل [1]؟"
    assert with_marks('He said "sow."', [1]) == 'He said "sow [1]."'
    assert with_marks("Sow in May", [3]) == "Sow in May [3]"
    assert with_marks("- **Sow.**", [1]) == "- **Sow [1].**"


def test_marks_behind_the_end_are_moved_before_it():
    assert marks_before_ends("Sow.[1] Weed. [2][3] Reap [4].") == "Sow[1]. Weed [2][3]. Reap [4]."
    assert without_marks("Sow [1] in May[2].") == "Sow in May."
