"""What the user said beside the expected calls: doubtful expectations, and where they must not be said."""

import json

import pytest

from ragstone.features.blame._steps import read_steps
from ragstone.kernel.records import Answer, Step, Turn

BOTTLE = {"name": "Water Bottle", "item_id": "6777246137", "options": {"color": "red"}}
WATCH = {"name": "Smart Watch", "item_id": "4900990404", "options": {"color": "black"}}
ORDER = Step(
    tool="order",
    arguments={"order_id": "#W4597054"},
    result=json.dumps({"order_id": "#W4597054", "status": "delivered", "items": [BOTTLE, WATCH]}),
)
LOOK = {"tool": "order", "arguments": {"order_id": "#W4597054"}}


def give_back(*items, order="#W4597054"):
    return Step(tool="return", arguments={"order_id": order, "item_ids": list(items)}, result="done")


def wanted(*items, order="#W4597054"):
    return {"tool": "return", "arguments": {"order_id": order, "item_ids": list(items)}}


def fault(said, steps, expected, calls=None):
    """Return the departure. said: the user's messages; calls: how many of the steps follow each of them."""
    counts = calls or [0] * (len(said) - 1) + [len(steps)]
    turns, left = [], list(steps)
    for text, n in zip(said, counts, strict=True):
        made, left = left[:n], left[n:]
        turns += [Turn("user", text), Turn("assistant", "", tool_calls=made or None)]
    row = Answer(
        question_id="q", answer="Done.", turns=turns, steps=steps, metadata={"expected_steps": expected}
    )
    found = read_steps(row).departure
    return found and (found.cause, found.because)


def test_what_the_user_named_nothing_of_is_not_the_agents_fault(says):
    steps, expected = [ORDER, give_back("4900990404")], [LOOK, wanted("4900990404", "6777246137")]
    cause, because = fault(["Hello", "Return the watch, please."], steps, expected)
    assert cause == "expected steps doubtful"
    says(because)
    # The user asked for the bottle, too: the agent left it out.
    assert fault(["Hello", "Return the watch and the bottle."], steps, expected)[0] == "wrong arguments"
    # In another language than the tables, what the user names is not known.
    assert fault(["Hola", "El reloj y la botella, por favor."], steps, expected)[0] == "wrong arguments"
    # Without what the tools brought, nobody knows what the item is called.
    unknown = [Step(tool="order", arguments=LOOK["arguments"]), give_back("4900990404")]
    assert fault(["Hello", "Return the watch, please."], unknown, expected)[0] == "wrong arguments"


def test_a_call_that_the_users_words_fit_is_not_the_agents_fault(says):
    steps, expected = [ORDER, give_back("4900990404")], [LOOK, wanted("6777246137")]
    cause, because = fault(["Hello", "The black one goes back."], steps, expected)
    assert cause == "expected steps doubtful"
    says(because)
    assert fault(["Hello", "The red one goes back."], steps, expected)[0] == "wrong arguments"
    assert fault(["Hello", "The red or the black one."], steps, expected)[0] == "wrong arguments"
    # The last word before the call counts, and not what the user says after it.
    last = fault(["The red one.", "No, the black one."], steps, expected)
    assert last[0] == "expected steps doubtful"
    later = fault(["The red one goes back.", "Or the black one?"], steps, expected, calls=[2, 0])
    assert later[0] == "wrong arguments"


def test_a_value_that_the_user_says_counts_before_what_it_stands_for():
    steps = [ORDER, give_back("4900990404", order="#W2702727")]
    expected, both = [wanted("4900990404", order="#W8268610")], "Is it #W8268610 or #W2702727?"
    assert fault([both, "It is order #W2702727."], steps, expected)[0] == "expected steps doubtful"
    assert fault([both, "It is #W8268610, not #W2702727."], steps, expected)[0] == "wrong arguments"
    # Nobody knows what the expected value stands for: what the user says of the other tells nothing.
    steps = [ORDER, give_back("4900990404")]
    other = fault(["#W4597054", "The black one, item 3334537816 no."], steps, [LOOK, wanted("3334537816")])
    assert other[0] == "wrong arguments"


def test_an_identifier_that_nobody_said_and_no_tool_brought_cannot_be_expected(says):
    steps, expected = [ORDER], [{"tool": "order", "arguments": {"order_id": "#9502126"}}, LOOK]
    cause, because = fault(["Hello", "Where is my order?"], steps, expected)
    assert cause == "expected steps doubtful"
    says(because)
    assert fault(["Hello", "Where is 9502126?"], steps, expected)[0] == "wrong tool"
    # What a tool brought may be missing from the record.
    bare = [Step(tool="order", arguments=LOOK["arguments"])]
    assert fault(["Hello", "Where is my order?"], bare, expected)[0] == "wrong tool"
    # Short numbers, dates and words may be worked out.
    day = [{"tool": "rain", "arguments": {"day": "2026-11-27", "hours": 48, "at": 48.85661}}, LOOK]
    assert fault(["Hello", "Rain tomorrow?"], steps, day)[0] == "wrong tool"


def test_any_other_departure_comes_before_a_doubtful_expectation():
    steps = [ORDER, give_back("4900990404")]
    expected = [wanted("4900990404", "6777246137"), {"tool": "refund", "arguments": {}}]
    assert fault(["Hello", "Return the watch, please."], steps, expected)[0] == "wrong tool"


def test_a_single_message_of_the_user_doubts_no_expectation():
    steps, expected = [ORDER, give_back("4900990404")], [LOOK, wanted("6777246137")]
    assert fault(["The black one goes back."], steps, expected)[0] == "wrong arguments"
    row = Answer(question_id="q", answer="", steps=steps, metadata={"expected_steps": expected})
    assert read_steps(row).departure.cause == "wrong arguments"


def test_an_order_that_the_user_asked_for_is_not_the_agents(says):
    items = {"tool": "modify_items", "arguments": {"order_id": "#W1", "color": "red"}}
    address = {"tool": "modify_address", "arguments": {"order_id": "#W1", "city": "Chicago"}}
    steps = [Step(**items, result="ok"), Step(**address, error="a changed order cannot be changed")]
    expected = [address, items]
    cause, because = fault(["Make it red.", "Send it to Chicago."], steps, expected, calls=[1, 1])
    assert cause == "expected steps doubtful"
    says(because)
    first = fault(["Make it red and send it to Chicago.", "Thanks."], steps, expected, calls=[2, 0])
    assert first[0] == "wrong order"


@pytest.mark.long
def test_thousands_of_calls_and_a_long_result_are_read_in_seconds():
    many = {
        "items": [{"item_id": f"{at:06}", "name": f"Thing {at}"} for at in range(300)],
        "text": "a" * 9_000,
    }
    steps = [Step(tool="order", arguments={}, result=json.dumps(many))]
    steps += [give_back(f"{at:06}") for at in range(2_000)]
    steps.append(Step(tool="order", arguments={}, result="a" * 300_000))
    expected = [wanted(f"{at:06}") for at in range(2_000, 3_000)]
    assert fault(["Hello", "All of them."], steps, expected)[0] == "expected steps doubtful"
