import string

import pytest
from tests.support.farm import FARM

from ragstone_assistant._domain import Domain, DomainTexts
from ragstone_assistant.languages import LANGUAGES, SPOKEN, language, phrase
from ragstone_assistant.planning.slots import courtesy_in


def places(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("lang", SPOKEN)
def test_every_language_has_every_phrase_with_the_same_places(lang):
    english = {name: places(template) for name, template in language("en").phrases.items()}
    assert {name: places(template) for name, template in language(lang).phrases.items()} == english


def test_no_phrase_is_left_in_english():
    english = language("en").phrases
    for lang in SPOKEN[1:]:
        same = {name for name, text in language(lang).phrases.items() if text == english[name]}
        assert same <= {"page"}  # French has the same word


def test_arabic_alone_runs_from_right_to_left():
    assert [lang for lang in SPOKEN if language(lang).direction == "rtl"] == ["ar"]


def test_it_speaks_more_than_twelve_languages():
    assert len(SPOKEN) == len(set(SPOKEN)) > 12


@pytest.mark.parametrize(
    ("text", "courtesy"),
    [
        ("Guten Tag!", ("greeting", "de")),
        ("Muito obrigado pela ajuda", ("thanks", "pt")),
        ("Спасибо большое!", ("thanks", "ru")),
        ("你好", ("greeting", "zh")),
        ("Teşekkür ederim", ("thanks", "tr")),
        ("Guten Tag, wann säe ich Mais?", None),
    ],
)
def test_greetings_and_thanks_are_heard_in_further_languages(text, courtesy):
    assert courtesy_in(text, "en", Domain()) == courtesy


def test_what_the_assistant_is_about_is_said_in_a_language_that_the_domain_has_no_texts_of():
    assert FARM.scope("de") == phrase("default_scope", "de")
    own = Domain(texts=dict.fromkeys(LANGUAGES, DomainTexts(scope="Bewässerung")))
    assert own.scope("de") == "Bewässerung"
    assert Domain().scope("de") == phrase("default_scope", "de")


def test_a_phrase_is_filled_in():
    assert phrase("page", "sw", page=3) == "ukurasa 3"
    assert phrase("according_to", "fr", source="INERA", text="semer en mai") == "Selon INERA : semer en mai"


def test_values_with_braces_are_not_filled_in_again():
    assert phrase("page", "en", page="{scope}") == "page {scope}"


def test_a_language_without_phrases_is_answered_in_english():
    assert phrase("thanks", "pl") == language("en").phrases["thanks"]


def test_an_unknown_phrase_is_a_mistake_of_the_program(says):
    with pytest.raises(KeyError):
        phrase("goodby", "en")
    with pytest.raises(KeyError):
        phrase("page", "en")
    with pytest.raises(KeyError) as error:
        language("pl")
    says(error.value)
