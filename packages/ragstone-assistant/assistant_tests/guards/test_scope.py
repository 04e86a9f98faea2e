import asyncio
import tomllib
from pathlib import Path

import numpy as np
import pytest
from tests.support.farm import FARM

from ragstone.kernel.embedding.opening import open_embedder
from ragstone_assistant._domain import Domain, DomainTexts
from ragstone_assistant._scope import scope_guard

LABELLED = tomllib.loads((Path(__file__).parent / "scope.toml").read_text())
HELD_OUT = tomllib.loads((Path(__file__).parent / "scope_held_out.toml").read_text())


class Embedded:
    """Puts texts that hold a word on one axis, others on another; counts its calls."""

    def __init__(self, word):
        self.word = word
        self.calls = []

    def __call__(self, texts, role):
        self.calls.append((len(texts), role))
        return np.array([[1.0, 0.0] if self.word in text else [0.0, 1.0] for text in texts], np.float32)


def decided(question, embed, *, scope=None, topics=()):
    domain = Domain(texts={"en": DomainTexts(scope=scope)}) if scope else FARM
    guard = scope_guard(domain, topics, embed)
    return asyncio.run(guard(question, "en"))


def test_a_word_of_farming_settles_it_without_a_vector():
    embed = Embedded("football")
    assert decided("Does football on my field harm the soil?", embed)
    assert embed.calls == []


def test_what_is_nearer_to_another_subject_is_out_of_scope():
    assert not decided("Who plays football tonight on television?", Embedded("football"))
    assert decided("What is this strange thing here?", Embedded("football"))


def test_a_word_of_another_subject_settles_it_where_there_is_none_of_farming():
    embed = Embedded("poem")
    assert not decided("Write me a poem about cars", embed)
    assert not decided("Niandikie shairi kuhusu bahari", embed)
    assert decided("Write me a poem about my maize", embed)
    assert decided("I have a headache since I sprayed", embed)
    assert embed.calls == []


def test_where_other_signs_speak_for_it_only_a_word_of_another_subject_speaks_against_it():
    guard = scope_guard(FARM, [], Embedded("televi"))
    assert asyncio.run(guard("Who plays tonight on television?", "en", likely=True))
    assert not asyncio.run(guard("What is wrong with my javascript?", "en", likely=True))


def test_words_of_another_subject_do_not_count_in_another_scope():
    assert decided("Which football club won?", Embedded("nothing"), scope="football clubs")


def test_two_words_are_in_scope():
    assert decided("football tonight", Embedded("football"))


def test_topics_of_the_knowledge_base_are_in_scope():
    question = "Who won the football match of the village?"
    assert not decided(question, Embedded("football"))
    assert decided(question, Embedded("football"), topics=["football fields and their grass"])


def test_another_scope_has_its_own_subjects_and_no_words_of_farming():
    asked = "Which tractor won the football cup?"
    assert not decided(asked, Embedded("football"), scope="bank accounts, loans")
    assert decided(asked, Embedded("football"), scope="bank accounts, football clubs")


def test_the_subjects_are_embedded_once():
    embed = Embedded("football")
    guard = scope_guard(FARM, [], embed)

    async def ask():
        await asyncio.gather(*(guard(f"Who plays here tonight, number {n}?", "en") for n in range(3)))

    asyncio.run(ask())
    assert [role for _, role in embed.calls] == ["passage", "query", "query", "query"]


@pytest.mark.model
def test_no_labelled_question_of_farming_is_declined_and_most_plain_others_are(tmp_path_factory):
    guard = scope_guard(FARM, [], open_embedder("packaged"))

    async def declined(lines):
        asked = [line.split("|", 1) for line in lines]
        return [text for lang, text in asked if not await guard(text, lang)]

    assert sum(len(texts) for side in LABELLED.values() for texts in side.values()) >= 60
    for kind in ("easy", "hard"):
        assert asyncio.run(declined(LABELLED["inside"][kind])) == []
    assert (
        len(asyncio.run(declined(LABELLED["outside"]["easy"]))) >= 18
    )  # of 20; the documents refuse the others
    assert asyncio.run(declined(HELD_OUT["inside"])) == []
    assert len(asyncio.run(declined(HELD_OUT["plain"]))) >= 33  # of 36
