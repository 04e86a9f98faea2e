import pytest

from ragstone.features.bench._words import few_questions


@pytest.mark.parametrize(("n", "narrow"), [(1, True), (9, True), (10, False), (19, False)])
def test_intervals_of_fewer_than_ten_questions_are_called_too_narrow(n, narrow, says):
    note = few_questions(n)
    says(note)
    assert ("too narrow" in note) is narrow
