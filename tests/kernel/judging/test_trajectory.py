import pytest

from ragstone.kernel.judging.trajectory import ExpectedCall, expected_calls
from ragstone.kernel.records import Answer


def expected(**columns):
    return expected_calls(Answer(question_id="q", answer="a", metadata=columns))


@pytest.mark.parametrize("given", [7, True, "12 mm, say the messages", {"answer": "12 mm"}])
def test_outputs_that_are_the_reference_of_the_answer_say_nothing_of_steps(given):
    assert expected(reference_outputs=given) is None
    assert expected(reference_outputs=given, expected_steps=["weather"]) == [ExpectedCall("weather")]


@pytest.mark.parametrize("given", [7, "weather", {"answer": "12 mm"}, [{}], [[]], [" "]])
def test_expected_steps_in_another_form_are_refused(given):
    with pytest.raises(ValueError, match="expected_steps"):
        expected(expected_steps=given)
