import string

import pytest

from ragstone_assistant.languages import SPOKEN, language, phrase


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
