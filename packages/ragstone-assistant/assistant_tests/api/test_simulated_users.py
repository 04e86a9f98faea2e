"""Simulated users talk to the assistant over HTTP, as the settings of the example declare it."""

from pathlib import Path

import msgspec
import pytest
from tests.support.served_assistant import Scripted, said, served

import ragstone
from ragstone.kernel.config import HttpSystem, ServeSection, load_settings
from ragstone_assistant.conversation import LoopStep

EXAMPLE = Path(__file__).parents[4] / "examples" / "assistant" / "ragstone.toml"
ANN = {"name": "ann", "goal": "Know when to sow", "script": ["Hello", "When is maize sown?"]}
BEN = {"name": "ben", "goal": "Know the rain", "script": ["Will it rain?"]}


def step(action, status="done", observation="seen"):
    return LoopStep(thought="t", action=action, arguments={"k": 1}, observation=observation, status=status)


@pytest.fixture
def scripted():
    scripted = Scripted()
    steps = (step("weather", "failed", "no such place"), step("crop_table"), step("answer"))
    scripted.say(said(steps=steps))
    return scripted


def settings_of(folder, url, **changed):
    """Return the settings of the example, with its system `farm` at another address."""
    farm = load_settings(EXAMPLE).systems["farm"]
    assert isinstance(farm, HttpSystem)
    there = msgspec.structs.replace(farm, url=f"{url}/v1/chat/completions", **changed)
    return msgspec.structs.replace(load_settings(), root=str(folder), systems={"farm": there})


def test_the_system_of_the_example_tells_turns_passages_and_tools(scripted, folder):
    with served(scripted, ServeSection(), folder) as url:
        ann, ben = ragstone.converse([ANN, BEN], system="farm", settings=settings_of(folder, url))
    assert [turn.role for turn in ann.turns] == ["user", "assistant"] * 2
    assert ann.turns[1].contexts[0].text == "Maize is sown in May."
    # `answer` is no tool; a step that failed is a call with an error.
    assert [(one.tool, one.result, one.error) for one in ben.steps] == [
        ("weather", None, "no such place"),
        ("crop_table", "seen", None),
    ]
    last = max(scripted.asked, key=lambda one: len(one.turns))
    assert [turn.content for turn in last.turns] == ["Hello", "Sow in May [1].", "When is maize sown?"]


def test_by_the_id_that_the_assistant_gives_it_remembers_each_conversation(scripted, folder):
    by_id = {
        "request": {
            "model": "assistant",
            "messages": [{"role": "user", "content": "{question}"}],
            "conversation_id": "{conversation_id}",
        },
        "conversation_id": "$.ragstone.conversation_id",
    }
    users = [ANN, {**ANN, "name": "eve", "script": ["Good day", "Where?"]}]
    with served(scripted, ServeSection(), folder) as url:
        rows = ragstone.converse(users, system="farm", settings=settings_of(folder, url, **by_id))
    assert [row.error for row in rows] == [None, None]
    longest = sorted(
        tuple(turn.content for turn in one.turns) for one in scripted.asked if len(one.turns) > 1
    )
    assert longest == [
        ("Good day", "Sow in May [1].", "Where?"),
        ("Hello", "Sow in May [1].", "When is maize sown?"),
    ]
