"""What a scripted user says next, when a goal is met, and what a model that plays a user is shown."""

from pathlib import Path

import pytest

from ragstone.features.simulate._persona import parse_personas
from ragstone.features.simulate._speaking import (
    UserMove,
    facts_asked_for,
    goal_is_met,
    next_of_script,
    user_prompt,
)
from ragstone.kernel.records import Step, Turn


def persona(**given):
    (one,) = parse_personas([{"name": "ann", "goal": "Know", **given}], Path("users"))
    return one


ANN = persona(
    script=["Hello", "Will it rain?", "Thanks"],
    facts={
        "town": {"value": "Nakuru", "asked": ["where is your farm", "where"]},
        "order_number": {"value": "It is 17.", "asked": ["number of your order"]},
    },
)


def talk(*said):
    """Return turns, the user's first."""
    return [Turn("assistant" if at % 2 else "user", text) for at, text in enumerate(said)]


def test_a_script_is_said_in_order_and_then_nothing():
    said = []
    for _ in range(4):
        said += [next_of_script(ANN, talk(*said)).message, "Well."]
    assert said[::2] == ["Hello", "Will it rain?", "Thanks", ""]


def test_a_fact_that_is_asked_for_is_told_once_before_the_script_goes_on():
    begun = ["Hello", "Hi.", "Will it rain?", "Where is your farm?"]
    assert next_of_script(ANN, talk(*begun)) == UserMove(message="Nakuru")
    # Asked again, the user does not repeat it, and the script goes on.
    assert next_of_script(ANN, talk(*begun, "Nakuru", "Where?")) == UserMove(message="Thanks")
    assert next_of_script(ANN, talk(*begun, "Nakuru", "Rain.")) == UserMove(message="Thanks")


def test_two_facts_are_told_together(says):
    asked = "Where do you live? And what is the number of your order?"
    says(next_of_script(ANN, talk("Hello", asked)).message)


@pytest.mark.parametrize(
    ("reply", "names"),
    [
        ("Which town?", ["town"]),
        ("¿Town?", ["town"]),
        ("In which place? The town is nice.", []),  # its name stands in no question
        ("I know where that is.", []),  # nor does a single word
        ("Please tell me the Number of your order.", ["order_number"]),  # a phrase may stand anywhere
        ("Your order number?", ["order_number"]),  # a name with _ is two words
        ("Is it a town-hall?", ["town"]),
        ("Do you like downtown?", []),
        ("", []),
    ],
)
def test_what_asks_for_a_fact(reply, names):
    assert facts_asked_for(reply, ANN) == names


def replies(*texts, steps=None):
    return [Turn("assistant", text) for text in texts[:-1]] + [Turn("assistant", texts[-1], tool_calls=steps)]


RAIN = Step(tool="weather", arguments={"place": "Nakuru", "days": 2})


@pytest.mark.parametrize(
    ("wanted", "turns", "met"),
    [
        ({"contains_all": ["a1", "b2"]}, replies("A1", "so b2"), True),
        ({"contains_all": ["a1", "b2"]}, replies("A1", "so"), False),
        ({"contains_any": ["a1", "b2"]}, replies("so b2", "no"), True),
        ({"contains_any": ["hello"]}, [Turn("user", "hello"), *replies("Hi")], False),  # the user said it
        ({"regex": r"^\d+ mm$"}, replies("12 mm"), True),
        ({"regex": r"\d+ mm"}, replies("some mm"), False),
        ({"no_refusal": True}, replies("I do not know.", "In May."), True),
        ({"no_refusal": True}, replies("In May.", "I do not know."), False),
        (
            {"called": [{"tool": "weather", "arguments": {"place": "Nakuru"}}]},
            replies("x", steps=[RAIN]),
            True,
        ),
        (
            {"called": [{"tool": "weather", "arguments": {"place": "Kisumu"}}]},
            replies("x", steps=[RAIN]),
            False,
        ),
        ({"called": [{"tool": "weather", "arguments": {"soil": "clay"}}]}, replies("x", steps=[RAIN]), False),
        ({"called": [{"tool": "crops"}]}, replies("x", steps=[RAIN]), False),
        ({"called": [{"tool": "weather"}]}, replies("x", steps=[Step(tool="weather", error="down")]), False),
        ({"contains_any": ["x"], "called": [{"tool": "crops"}]}, replies("x", steps=[RAIN]), False),
        ({"no_refusal": True}, [], False),
    ],
)
def test_when_a_goal_is_met(wanted, turns, met):
    assert goal_is_met(persona(goal_met=wanted), turns) is met


def test_without_goal_met_nobody_can_tell():
    assert goal_is_met(persona(), replies("x")) is None


def test_a_model_is_shown_the_persona_and_what_was_said_but_no_tools(says):
    one = persona(style="terse", language="sw", facts={"soil_type": "sandy"})
    turns = [Turn("user", "Habari"), Turn("assistant", "", tool_calls=[RAIN]), Turn("assistant", "Nzuri.")]
    prompt = user_prompt(one, turns, b"secret")
    shown = prompt.messages[-1].content
    for line in ("goal: Know", "how you write: terse", "language: sw", "you know: soil type: sandy"):
        assert line in shown
    says(shown)
    assert "weather" not in shown
    says(user_prompt(one, [], b"secret").messages[-1].content)
    # Drawn several times it is drawn by chance; once, as the model is set.
    assert (prompt.temperature, prompt.sample) == (None, 0)
    drawn = user_prompt(one, turns, b"secret", sample=2, drawn=True)
    assert (drawn.temperature, drawn.sample) == (0.7, 2)
