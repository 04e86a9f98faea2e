"""What an agent's steps tell: the first departure from the expected calls, failures, results."""

import pytest

from ragstone.features.blame._steps import has_figures, read_steps, results_of, telling_result
from ragstone.kernel.records import Answer, Step, Turn

RAIN = {"tool": "weather", "arguments": {"place": "Nakuru"}}
ROOTS = {"tool": "crops", "arguments": {"crop": "maize"}}


def weather(place="Nakuru", **more):
    return Step(tool="weather", arguments={"place": place}, **more)


def told(*steps, expected=None, **row):
    metadata = {} if expected is None else {"expected_steps": expected}
    return read_steps(Answer(question_id="q", answer="a", steps=list(steps), metadata=metadata, **row))


def departure(*steps, expected):
    found = told(*steps, expected=expected).departure
    return found and (found.cause, found.because)


def test_calls_as_expected_are_no_departure_whatever_else_was_called():
    other = Step(tool="crops", arguments={})
    assert departure(other, weather(), expected=[RAIN]) is None
    # Case, spaces, 1 for 1.0, and arguments that no expected call names do not count.
    step = Step(tool="weather", arguments={"place": " NAKURU", "days": 1.0, "units": "metric"})
    expected = {"tool": "weather", "arguments": {"days": 1, "place": "Nakuru"}}
    assert departure(step, expected=[expected]) is None
    assert departure(weather("Cusco"), expected=["weather"]) is None


def test_an_expected_tool_that_was_not_called_is_a_wrong_tool(says):
    says(departure(Step(tool="crops"), expected=[RAIN]))
    says(departure(expected=[RAIN])[1])
    # What was expected and called is not what was called instead.
    says(departure(weather(), expected=[RAIN, ROOTS])[1])


def test_the_expected_tool_with_other_arguments_is_wrong_arguments(says):
    says(departure(weather("Nairobi"), expected=[RAIN]))
    # A failure that wrong arguments have brought about is theirs.
    assert departure(weather("", error="no such place"), expected=[RAIN])[0] == "wrong arguments"


def test_an_expected_call_that_failed_is_the_tools_unless_it_was_repeated_with_success(says):
    says(departure(weather(error="timeout."), expected=[RAIN]))
    assert departure(weather(error="timeout"), weather(result="dry"), expected=[RAIN]) is None
    # A later call with other arguments does not make it good.
    found = departure(weather(error="timeout"), weather("Cusco", result="dry"), expected=[RAIN])
    assert found[0] == "tool failed"


def test_a_failure_that_the_agent_got_past_counts_after_every_other_departure():
    failed, tea = weather(error="timeout"), {"tool": "crops", "arguments": {"crop": "tea"}}
    made = Step(tool="crops", arguments={"crop": "maize"}, result="deep")
    assert departure(failed, made, expected=[RAIN, ROOTS])[0] == "tool failed"
    assert departure(failed, made, expected=[RAIN, ROOTS, tea])[0] == "wrong tool"
    # The agent went no further than the failure.
    assert departure(made, failed, expected=[RAIN, ROOTS, tea])[0] == "tool failed"


def test_a_call_that_another_one_before_it_spoiled_is_a_wrong_order(says):
    made = Step(tool="crops", arguments={"crop": "maize"}, result="deep")
    found = departure(made, weather(error="the season is closed"), expected=[RAIN, ROOTS])
    assert found[0] == "wrong order"
    says(found[1])
    # An outage is the tool's, in any order, and so is a failure in the expected order.
    for error in ("Read timed out", "HTTP 503", "status: 429", "service unavailable"):
        assert departure(made, weather(error=error), expected=[RAIN, ROOTS])[0] == "tool failed"
    assert departure(made, weather(error="the season is closed"), expected=[ROOTS, RAIN])[0] == "tool failed"
    assert departure(weather(error="order 512 is closed"), made, expected=[RAIN, ROOTS])[0] == "tool failed"


def test_the_first_departure_in_the_order_of_the_expected_calls_counts():
    steps = [Step(tool="crops", arguments={"crop": "tea"}), weather(error="timeout")]
    assert departure(*steps, expected=[ROOTS, RAIN])[0] == "wrong arguments"
    assert departure(*steps, expected=[RAIN, ROOTS])[0] == "tool failed"


def test_two_calls_of_one_tool_are_matched_by_their_arguments():
    cusco = {"tool": "weather", "arguments": {"place": "Cusco"}}
    assert departure(weather("Cusco"), weather(), expected=[RAIN, cusco]) is None
    found = departure(weather("Cusco"), weather("Paris"), expected=[RAIN, cusco])
    assert found[0] == "wrong arguments"
    assert 'called weather({"place":"Paris"})' in found[1]


def test_without_expected_calls_a_failure_counts_that_no_later_call_of_the_tool_made_good(says):
    says(told(weather(error="timeout")).failed.because)
    assert told(weather(error="timeout"), weather("Cusco", result="dry")).failed is None
    says(told(weather(error="")).failed.because)
    lasting = told(weather(result="dry"), weather(error="timeout"), Step(tool="crops", result="deep"))
    assert lasting.failed.cause == "tool failed"
    assert told(weather(error="timeout"), expected=[]).failed is None  # nothing was needed


@pytest.mark.parametrize(
    ("error", "cause"),
    [
        ("NameError: name 'requests' is not defined", "wrong arguments"),
        ("TypeError: rain() missing 1 required positional argument: 'place'", "wrong arguments"),
        ("Invalid parameter: days", "wrong arguments"),
        ("user not found", "tool failed"),
        ("KeyError: 'transcript'", "tool failed"),
        ("TypeError after Read timed out", "tool failed"),
        ("", "tool failed"),
    ],
)
def test_an_error_that_says_that_the_call_was_wrong_is_not_the_tools(error, cause, says):
    found = told(weather(error=error)).failed
    assert found.cause == cause
    says(found.because)


def test_an_answer_without_steps_tells_nothing_and_a_conversation_without_calls_does():
    assert told() is None
    assert read_steps(Answer(question_id="q", answer="a", metadata={"expected_steps": [RAIN]})) is None
    thread = [Turn("user", "Rain?"), Turn("assistant", "Yes.")]
    row = Answer(question_id="q", answer="Yes.", turns=thread, metadata={"expected_steps": [RAIN]})
    assert read_steps(row).departure.cause == "wrong tool"


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("lowest 14.8 °C, highest 23 °C", True),
        ("from 14,8 to 23.0 degrees", True),
        ("lowest 14.8 °C, highest 24 °C", False),
        ("no figures", False),
    ],
)
def test_figures_of_the_reference_are_compared_as_values(text, held):
    assert has_figures(Answer(question_id="q", answer=text, reference="14.8 to 23 °C")) is held
    assert has_figures(Answer(question_id="q", answer=text, reference=["99", "as warm as today"])) is True


def test_the_result_that_has_most_of_the_reference_is_named(says):
    steps = [weather(result="dry"), Step(tool="crops", result="Roots of maize: 1.7 m."), weather(error="x")]
    row = Answer(question_id="q", answer="a", steps=steps, reference="maize: 1.7 m")
    says(results_of(row))
    says(telling_result(row))


def test_ten_thousand_steps_are_read_in_linear_time():
    steps = [weather(str(at), result="dry") for at in range(10_000)]
    expected = [{"tool": "weather", "arguments": {"place": str(at)}} for at in reversed(range(10_000))]
    assert departure(*steps, expected=expected) is None
