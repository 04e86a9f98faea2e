"""Who tells that a person has swallowed a pesticide reads whom to call; nobody else does."""

import asyncio
import time
import tomllib
from datetime import date
from pathlib import Path

import pytest
from assistant_tests.planning.conftest import agent_of
from tests.support.farm import FARM
from tests.support.scripted_planner import ScriptedPlanner

from ragstone.kernel.config import AssistantSection
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Turn
from ragstone_assistant._domain import SensitiveTerms, load_domain
from ragstone_assistant.answering.emergency import emergency_reply
from ragstone_assistant.conversation import Asked
from ragstone_assistant.languages import SPOKEN
from ragstone_assistant.planning.loop import respond_with

TEXTS = tomllib.loads((Path(__file__).parent / "emergency.toml").read_text(encoding="utf-8"))
HARM = [(lang, text) for lang, texts in TEXTS["harm"].items() for text in texts]


def test_there_are_texts_in_every_language():
    assert set(TEXTS["harm"]) == set(SPOKEN)


@pytest.mark.parametrize(("lang", "text"), HARM)
def test_who_tells_of_harm_reads_whom_to_call(lang, text):
    reply = emergency_reply(text, lang, FARM.sensitive)
    assert (reply.text, reply.kind, reply.lang) == (FARM.sensitive.emergency(lang), "declined", lang)


@pytest.mark.parametrize("text", TEXTS["none"]["all"])
def test_an_ordinary_question_on_pesticides_is_no_emergency(text):
    assert emergency_reply(text, "en", FARM.sensitive) is None


def test_of_texts_that_no_word_was_added_for_it_knows_four_in_five():
    later = TEXTS["later"]
    assert all(map(FARM.sensitive.harms_person, later["known"]))
    assert not any(map(FARM.sensitive.harms_person, later["missed"]))


def test_the_turn_before_may_have_named_the_product():
    assert FARM.sensitive.harms_person("My son drank it!", "How much glyphosate for a hectare?")
    assert not FARM.sensitive.harms_person("My son drank milk.", "How much urea for a hectare?")
    assert not FARM.sensitive.harms_person("And for rice?", "How much glyphosate for a hectare?")


@pytest.mark.parametrize(("n", "harm"), [(7, True), (8, True), (9, False)])
def test_person_and_product_are_eight_words_away_at_most(n, harm):
    assert FARM.sensitive.harms_person(f"son {'x ' * (n - 1)}drank {'x ' * (n - 1)}glyphosate") == harm


def test_a_text_of_nothing_but_such_words_is_read_in_no_time():
    started = time.thread_time()
    assert not FARM.sensitive.harms_person("cow ate " * 16_000)
    assert time.thread_time() - started < 5  # with the square of its length it was half a minute


def test_texts_without_it_say_nothing():
    assert emergency_reply("My child swallowed weed killer", "en", SensitiveTerms()) is None


def test_nothing_is_planned_searched_or_asked_before_it_is_said():
    planner = ScriptedPlanner()
    agent = agent_of(planner)
    heard = []
    respond = respond_with(agent, lambda _asked: {}, [], lambda: date(2026, 3, 1))
    turns = (Turn("user", "Hello, my child swallowed weed killer"),)
    said = asyncio.run(respond(Asked(turns=turns), heard.append))
    assert said.text == "".join(event.piece for event in heard) == FARM.sensitive.emergency("en")
    assert (said.steps, planner.prompts) == ((), [])


def test_words_of_harm_without_a_text_are_a_mistake_of_the_file(tmp_path):
    (tmp_path / "sensitive.toml").write_text(
        '[caution]\nen = "Take care."\n[refusal]\nen = "I do not know."\n[exposure.en]\nacts = ["ate"]\n'
    )
    with pytest.raises(ConfigError, match=r"\[emergency\] has no `en`"):
        load_domain(AssistantSection(), tmp_path)
