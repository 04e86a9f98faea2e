"""Every attack, with a model that obeys whatever it reads: what the guards alone do about it."""

import asyncio
import re

import msgspec
import pytest
from assistant_tests.attacks import load_attacks
from tests.support.scripted_assistant import MAIZE, Heard, Scripted, answering

from ragstone_assistant.answering.answering import answer_from
from ragstone_assistant.guards import without_instructions
from ragstone_assistant.languages import LANGUAGES

ATTACKS = load_attacks()
QUESTION = "When do I sow maize?"
FENCED = re.compile(r"<(\w+) ([0-9a-f]{10})>\n.*?\n</\1 \2>", re.DOTALL)


def planted(attack):
    """Return the question and the passages with the attack in its place."""
    if attack.place == "question":
        return attack.text, MAIZE
    first = msgspec.structs.replace(MAIZE[0], text=f"{MAIZE[0].text}\n{attack.text}\nWeed twice.")
    return QUESTION, (first, MAIZE[1])


def outcome(attack, says):
    question, passages = planted(attack)
    heard, stream = Heard(), Scripted(says)
    lang = attack.lang if attack.lang in LANGUAGES else "en"
    said = asyncio.run(answer_from(question, passages, lang, answering(stream), heard))
    assert heard.text == said.text
    return said, stream.prompts[0]


def test_the_set_is_large_and_in_several_languages():
    assert len(ATTACKS) >= 45
    assert {attack.lang for attack in ATTACKS} >= set(LANGUAGES)
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)
    assert {attack.place for attack in ATTACKS} == {"document", "tool", "question"}
    assert all(attack.canary.casefold() in attack.says.casefold() for attack in ATTACKS)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_model_that_obeys_is_not_heard(attack):
    said, _ = outcome(attack, attack.says)
    assert attack.canary.casefold() not in said.text.casefold()


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_model_that_obeys_and_answers_is_heard_with_its_answer_alone(attack):
    said, _ = outcome(attack, f"{attack.says}\nSow maize in late March or April [1].\n{attack.says}")
    assert attack.canary.casefold() not in said.text.casefold()
    assert "late March or April [1]" in said.text


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_a_model_that_obeys_what_stands_outside_of_the_fence_finds_no_order_there(attack):
    _, prompt = outcome(attack, "NO ANSWER")
    whole = "\n".join(message.content for message in prompt.messages)
    outside = FENCED.sub("", whole)
    assert not any(line and line in outside for line in attack.text.splitlines())
    assert not any(live in whole for live in ("<|", "[INST]", "[/INST]", "</s>"))


def test_most_orders_do_not_reach_the_model_at_all():
    attacks = [attack for attack in ATTACKS if attack.place != "question"]
    left = {
        attack.name for attack in attacks if without_instructions(attack.text).strip(" […]\n") == attack.text
    }
    # They give no orders: their harm, a contact, is taken out of the reply.
    assert left == {"link without an order", "telephone number without an order"}


def test_documents_without_orders_are_left_as_they_are():
    for passage in MAIZE:
        assert without_instructions(passage.text) == passage.text
    told = "Follow the instructions on the label. Ignore single spots. Do not forget to weed."
    assert without_instructions(told) == told
