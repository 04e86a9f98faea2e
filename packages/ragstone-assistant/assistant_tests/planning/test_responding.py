"""Greetings, languages and tags: what happens around the loop."""

import asyncio
import threading
from datetime import date

import pytest
from assistant_tests.planning.conftest import Heard, agent_of, asked
from tests.support.farm import FARM
from tests.support.scripted_planner import ScriptedPlanner

from ragstone.kernel.corpus.tags import Tag
from ragstone_assistant.conversation import Asked, Said
from ragstone_assistant.languages import phrase
from ragstone_assistant.planning.loop import conversation_language, respond_with
from ragstone_assistant.planning.slots import know_by_words

KNOW = know_by_words([Tag("crop", {"maize": ("maize", "maíz")})], FARM)
SEARCH = {"do": "search_documents", "with": {"question": "maize", "crop": "maize"}}


def reply(conversation: Asked, planner: ScriptedPlanner) -> tuple[Said, str]:
    heard = Heard()
    respond = respond_with(agent_of(planner), KNOW, ["crop"], lambda: date(2026, 11, 21))
    said = asyncio.run(respond(conversation, heard))
    return said, heard.text


@pytest.mark.parametrize(
    ("text", "lang", "name"),
    [
        ("Hello!", "en", "greeting"),
        ("¡Hola, buenos días!", "es", "greeting"),
        ("Bonjour à tous", "fr", "greeting"),
        ("नमस्ते जी", "hi", "greeting"),
        ("السلام عليكم ورحمة الله وبركاته", "ar", "greeting"),
        ("Habari za asubuhi", "sw", "greeting"),
        ("What can you do?", "en", "greeting"),
        ("Thank you very much for your help", "en", "thanks"),
        ("Asante sana", "sw", "thanks"),
        ("شكرا جزيلا", "ar", "thanks"),
    ],
)
def test_greetings_and_thanks_are_answered_without_a_call(text: str, lang: str, name: str) -> None:
    planner = ScriptedPlanner(SEARCH)
    said, heard = reply(asked(text), planner)
    assert (said.kind, said.text, said.lang) == ("greeting", phrase(name, lang, scope=FARM.scope(lang)), lang)
    assert heard == said.text
    assert planner.prompts == []


@pytest.mark.parametrize("text", ["Hello, when do I sow maize?", "hi there, my maize is sick", "tomatoes"])
def test_a_greeting_with_a_question_is_a_question(text: str) -> None:
    assert reply(asked(text), ScriptedPlanner(SEARCH))[0].kind == "answer"


def test_ok_to_a_question_of_the_assistant_is_a_reply_to_it() -> None:
    conversation = asked("When do I sow maize?", "Shall I look for your region?", "OK")
    assert reply(conversation, ScriptedPlanner(SEARCH))[0].kind == "answer"
    assert (
        reply(asked("When do I sow maize?", "In May [1].", "OK"), ScriptedPlanner(SEARCH))[0].kind
        == "greeting"
    )


def test_thanks_in_a_conversation_are_answered_in_its_language() -> None:
    said, _ = reply(asked("¿Cuándo siembro maíz?", "En mayo [1].", "ok"), ScriptedPlanner(SEARCH))
    assert (said.lang, said.text) == ("es", phrase("thanks", "es"))


def test_the_language_is_the_choice_else_the_last_turns_else_that_of_turns_before() -> None:
    conversation = asked("¿Cuánta agua necesita?", "¿De qué cultivo?", "NPK 15-15-15")
    assert conversation_language(conversation) == "es"
    assert conversation_language(asked("How deep are roots?", lang="sw")) == "sw"


def test_the_question_is_tagged_with_what_the_conversation_holds() -> None:
    said, _ = reply(asked("How far apart do I plant maize?"), ScriptedPlanner(SEARCH))
    assert said.tags == {"crop": "maize", "lang": "en"}


def test_a_question_on_a_kind_of_a_crop_is_tagged_with_the_kind_alone() -> None:
    crops = Tag("crop", {"wheat": ("wheat",), "durum": ("durum",)}, {"wheat": ("durum",)})
    know = know_by_words([crops], FARM)
    assert know(asked("When do I sow durum?"))["crop"] == "durum"
    assert know(asked("When do I sow wheat?"))["crop"] == "wheat"


@pytest.mark.parametrize(("times", "here"), [(1, True), (200, False)])
def test_a_long_question_is_not_read_in_the_loop_that_answers_everybody(times: int, here: bool) -> None:
    threads = []

    def know(conversation: Asked) -> dict[str, str]:
        threads.append(threading.current_thread())
        return KNOW(conversation)

    planner = ScriptedPlanner(SEARCH)
    respond = respond_with(agent_of(planner), know, ["crop"], lambda: date(2026, 11, 21))
    said = asyncio.run(respond(asked("When do I sow maize in May? " * times), Heard()))
    assert said.tags["crop"] == "maize"
    assert [one is threading.main_thread() for one in threads] == [here]
