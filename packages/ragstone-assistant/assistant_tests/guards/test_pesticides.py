import asyncio

import pytest
from msgspec.structs import replace
from tests.support.farm import FARM
from tests.support.scripted_assistant import MAIZE, Scripted, answering

from ragstone.kernel.judging.lexical import no_refusal
from ragstone_assistant.answering.answering import answer_from
from ragstone_assistant.languages import SPOKEN

PESTICIDES = FARM.sensitive


@pytest.mark.parametrize(
    ("text", "ingredient"),
    [
        ("Spray glyphosate before sowing", "glyphosate"),
        ("Aplique glifosato antes de sembrar", "glyphosate"),
        ("Appliquer du mancozèbe à 2 g/l", "mancozeb"),
        ("मैंकोजेब का छिड़काव करें", "mancozeb"),
        ("رش مالاثيون في المساء", "malathion"),
        ("Nyunyiza malathioni jioni", "malathion"),
        ("Use Lambda-cyhalothrin or 2,4-D", "lambda-cyhalothrin"),
    ],
)
def test_active_ingredients_are_found_in_six_languages(text, ingredient):
    assert ingredient in PESTICIDES.named_in(text)
    assert PESTICIDES.mentioned(text)


@pytest.mark.parametrize(
    "text",
    [
        "Use a systemic fungicide.",
        "Use un plaguicida autorizado.",
        "Utilisez un désherbant.",
        "कीटनाशक का छिड़काव करें।",
        "استخدم المبيد في المساء.",
        "Tumia dawa ya kuua wadudu.",
        "Welches Fungizid hilft?",
        "Pakai pestisida.",
        "Usi un diserbante.",
        "Gebruik een bestrijdingsmiddel.",
        "Use um agrotóxico.",
        "Применяйте пестицид.",
        "Tarım ilacı kullanın.",
        "Hãy dùng thuốc trừ sâu.",
        "使用农药。",
    ],
)
def test_words_for_pesticides_are_found_in_every_language(text):
    assert PESTICIDES.mentioned(text)
    assert not PESTICIDES.named_in(text)


def test_other_sprays_and_medicines_are_none():
    for text in (
        "Spray water on the leaves.",
        "Give the calf a vaccine.",
        "Spread 2 t of lime.",
        "Use compost.",
    ):
        assert not PESTICIDES.mentioned(text)


def said_to(text, *, question="How do I control fall armyworm?", lang="en", passages=MAIZE):
    return asyncio.run(answer_from(question, passages, lang, answering(Scripted(text))))


def test_advice_on_pesticides_carries_its_source_and_a_caution():
    said = said_to("Spray emamectin benzoate, 0.4 ml for each litre of water [2].")
    assert said.text == (
        "Spray emamectin benzoate, 0.4 ml for each litre of water [1].\n\n" + PESTICIDES.caution("en")
    )
    assert said.citations[0].passage == MAIZE[1]


@pytest.mark.parametrize(
    "text",
    [
        "Spray emamectin benzoate, 0.8 ml for each litre of water [2].",  # another dose
        "Spray chlorpyrifos, 0.4 ml for each litre of water [2].",  # another ingredient
        "Spray emamectin and chlorpyrifos, 0.4 ml for each litre of water, in the evening [2].",  # one more
    ],
)
def test_advice_that_no_passage_gives_is_withheld_and_the_label_named(text):
    said = said_to(text)
    assert said.kind == "refusal"
    assert said.text.startswith(PESTICIDES.refusal("en"))


def test_a_dose_that_the_question_brings_is_not_confirmed():
    said = said_to(
        "Yes, spray emamectin benzoate, 5 ml for each litre of water [2].",
        question="Do I spray 5 ml of emamectin benzoate for each litre?",
    )
    assert said.kind == "refusal"


@pytest.mark.parametrize("lang", SPOKEN)
def test_what_is_said_of_pesticides_is_in_the_language_of_the_reply(lang):
    for text in (PESTICIDES.refusal, PESTICIDES.caution, PESTICIDES.emergency):
        assert lang == "en" or text(lang) != text("en")
    assert no_refusal(PESTICIDES.refusal(lang)) == 0


@pytest.mark.parametrize("lang", SPOKEN)
def test_a_question_about_pesticides_without_an_answer_points_to_the_label(lang):
    said = said_to("NO ANSWER", question="How much glyphosate for each hectare?", lang=lang)
    assert said.text.startswith(PESTICIDES.refusal(lang))


def test_across_languages_the_ingredient_must_be_the_same():
    spanish = "Rocíe {} en la tarde, 0,4 ml por litro de agua [2]."

    def same(texts, _role):
        import numpy as np

        return np.array(
            [[0.6, 0.8] if "museum" in t or "orch" in t else [1.0, 0.0] for t in texts], np.float32
        )

    means = replace(answering(Scripted(spanish.format("benzoato de emamectina"))), embed=same)
    said = asyncio.run(answer_from("¿Cómo combato el cogollero?", MAIZE, "es", means))
    assert said.kind == "answer"
    means = replace(means, stream=Scripted(spanish.format("clorpirifos")))
    said = asyncio.run(answer_from("¿Cómo combato el cogollero?", MAIZE, "es", means))
    assert said.kind == "refusal"
