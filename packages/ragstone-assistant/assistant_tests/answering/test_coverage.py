"""Doses and treatments of what no document is about are refused; other questions are not."""

import asyncio
from datetime import date

import msgspec
import pytest
from tests.support.farm import FARM, FOLDER
from tests.support.scripted_assistant import MAIZE, Heard, Scripted, answering

from ragstone.kernel.corpus.tags import Tag, load_tags, match_tags
from ragstone.kernel.judging.lexical import no_refusal
from ragstone.kernel.records import Turn
from ragstone_assistant._domain import SensitiveTerms
from ragstone_assistant.answering.coverage import Coverage
from ragstone_assistant.answering.documents import documents_tool
from ragstone_assistant.conversation import Asked
from ragstone_assistant.languages import SPOKEN, phrase
from ragstone_assistant.tool import Situation

CROP = Tag("crop", {"maize": ("maize", "corn", "maíz"), "mango": ("mango",), "rice": ("rice", "arroz")})
DOSE = "How much urea should I give my mango trees?"


def coverage(held=None, sensitive=FARM.sensitive) -> Coverage:
    return Coverage([CROP], lambda: {"crop": ["maize"]} if held is None else held, sensitive)


@pytest.mark.parametrize(
    ("question", "wanted", "lacking"),
    [
        (DOSE, {}, ["mango"]),
        ("How do I treat leaf spot on mango?", {}, ["mango"]),
        ("What does glyphosate do on rice?", {}, ["rice"]),
        ("¿Cuánto nitrógeno necesita el arroz?", {}, ["rice"]),
        ("How much urea does corn need?", {}, []),
        ("How much urea do corn and mango need?", {}, ["mango"]),
        ("How do I install sensors in a mango orchard?", {"crop": "mango"}, []),
        ("And how much urea?", {"crop": "mango"}, ["mango"]),  # an earlier turn named it
        ("How much urea for corn?", {"crop": "mango"}, []),  # what the question names counts
        ("How much urea does quinoa need?", {"crop": "quinoa"}, ["quinoa"]),  # a model's word for it
        ("How much urea do I apply?", {}, []),
    ],
)
def test_what_a_question_of_doses_is_about_and_no_document_has(question, wanted, lacking):
    assert coverage().lacking([question], wanted) == ({"crop": lacking} if lacking else {})


def test_documents_without_any_crop_and_texts_without_the_list_refuse_nothing():
    assert coverage(held={}).lacking([DOSE], {}) == {}
    assert coverage(sensitive=SensitiveTerms()).lacking([DOSE], {}) == {}


@pytest.mark.parametrize(
    "question",
    [
        "How do I treat my customers at the mango stand?",
        "How should I treat farm workers during the mango harvest?",
        "¿Cómo trato a mis clientes que compran mango?",
        "Comment traiter les clients qui achètent du rice ?",
    ],
)
def test_who_treats_people_treats_no_crop(question):
    assert coverage().lacking([question], {}) == {}


@pytest.mark.parametrize(
    "question",
    ["How do I treat mango trees of my customers?", "How do I treat mango, and what do customers pay?"],
)
def test_a_crop_that_is_treated_for_people_is_still_asked_about(question):
    assert coverage().lacking([question], {}) == {"crop": ["mango"]}


@pytest.mark.parametrize(
    ("asked", "missing"),
    [
        ("How much urea does wheat need?", {}),
        ("How much urea does winter wheat need?", {}),
        ("How much urea does spring wheat need?", {"crop": ["spring wheat"]}),
        ("How much urea do mango and spring wheat need?", {"crop": ["spring wheat", "mango"]}),
        ("¿Cuánta urea necesita el trigo?", {}),
    ],
)
def test_documents_about_a_kind_of_wheat_are_about_wheat(asked, missing):
    tags = load_tags(FOLDER.parent / "tags.toml")
    named = match_tags("Irrigate winter wheat in May.", tags)
    assert Coverage(tags, lambda: named, FARM.sensitive).lacking([asked], {}) == missing


def test_where_no_wheat_is_covered_the_kind_alone_is_named():
    farm = Coverage(load_tags(FOLDER.parent / "tags.toml"), lambda: {"crop": ["maize"]}, FARM.sensitive)
    assert farm.lacking(["How much urea does winter wheat need?"], {}) == {"crop": ["winter wheat"]}


def called(question, lang="en", **arguments):
    searched = []

    async def search(*query):
        searched.append(query)
        return list(MAIZE)

    means = answering(Scripted("Sow maize in April [1]."))
    tool = documents_tool(search, means, k=2, tags=[CROP], coverage=coverage())
    heard = Heard()
    situation = Situation(
        asked=Asked(turns=(Turn("user", question),)), lang=lang, today=date(2026, 3, 1), emit=heard
    )
    observation = asyncio.run(
        tool.call(msgspec.convert({"question": question, **arguments}, tool.arguments), situation)
    )
    assert heard.text == observation.reply.text
    return observation.reply, searched


def test_the_refusal_names_what_is_covered_and_nothing_is_searched():
    said, searched = called(DOSE, crop="mango")
    assert said.text == phrase("not_covered", "en", asked="mango", covered="maize")
    assert (said.kind, said.citations, said.tags, searched) == ("refusal", (), {"not_covered": "crop"}, [])


def test_it_is_named_as_the_question_names_it():
    said, _ = called("¿Cuánta urea le pongo al arroz?", "es")
    assert said.text == phrase("not_covered", "es", asked="arroz", covered="maize")


def test_it_is_named_in_the_ending_that_the_question_gives_it():
    said, _ = called("¿Cuánta urea les pongo a mis mangos?", "es")
    assert said.text == phrase("not_covered", "es", asked="mangos", covered="maize")


def test_in_arabic_it_is_named_without_what_is_written_onto_it():
    tags = load_tags(FOLDER.parent / "tags.toml")
    farm = Coverage(tags, lambda: {"crop": ["maize"]}, FARM.sensitive)
    asked = ("كم كمية اليوريا للأرز في الهكتار؟",)
    said = farm.refusal(farm.lacking(asked, {}), asked, "ar", lambda _event: None)
    assert said.text == phrase("not_covered", "ar", asked="أرز", covered="maize")


def test_a_question_of_a_pesticide_is_told_what_is_always_said_of_these():
    said, _ = called("Which fungicide do I spray on mango?")
    not_covered = phrase("not_covered", "en", asked="mango", covered="maize")
    assert said.text == f"{not_covered}\n\n{FARM.sensitive.refusal('en')}"


@pytest.mark.parametrize(
    "question",
    [
        "Should I double the nitrogen on my mango trees?",
        "Which fertilizer is best for rice?",
        "¿Con qué fertilizo el mango?",
        "¿Qué abono le va bien al arroz?",
        "Quel engrais pour le mango ?",
        "Puis-je doubler l'azote pour le rice ?",
    ],
)
def test_a_dose_that_is_asked_for_in_other_words_is_refused_too(question):
    assert coverage().lacking([question], {}) != {}


def test_a_general_question_that_names_it_is_still_answered():
    said, searched = called("When do I sow, if I grow mango too?", crop="mango")
    assert (said.kind, len(searched)) == ("answer", 1)


@pytest.mark.parametrize("lang", SPOKEN)
def test_it_reads_as_a_refusal_in_every_language(lang):
    assert no_refusal(phrase("not_covered", lang, asked="mango", covered="maize, rice")) == 0
