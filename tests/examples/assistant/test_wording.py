"""What the tools tell the user: every language has all of it, with the same places."""

import string
from datetime import date
from pathlib import Path

import pytest

from farm_tools.crop_file import open_crop_file
from farm_tools.crops_told import ASKED, column_told
from farm_tools.words import day_of, figures_asked, number, say, value_of, wordings
from ragstone_assistant.languages import LANGUAGES

SHIPPED = Path(__file__).parents[3] / "examples" / "assistant" / "crops.csv"
# Words that are the same in several languages, names of places among them.
COGNATES = {
    "Arizona",
    "California",
    "Hawaii",
    "Idaho",
    "Indonesia",
    "Pakistan",
    "Philippines",
    "Texas",
    "Yemen",
}
COGNATES |= {"Europe", "fruits", "stimulants"}


def places(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_language_has_every_phrase_with_the_same_places(lang):
    english, own = wordings()["en"], wordings()[lang]
    assert {name: places(text) for name, text in own.phrases.items()} == {
        name: places(text) for name, text in english.phrases.items()
    }
    assert own.columns.keys() == english.columns.keys()
    assert own.asked.keys() == english.asked.keys() == ASKED.keys()
    assert (len(own.months.split("|")), len(own.weekdays.split("|"))) == (12, 7)
    assert wordings().keys() == set(LANGUAGES)


@pytest.mark.parametrize("lang", LANGUAGES[1:])
def test_the_columns_and_values_of_the_shipped_table_are_in_every_language(lang):
    columns = open_crop_file(SHIPPED).columns
    english = [value for values in columns.choices.values() for value in values]
    assert {value for value in english if value_of(value, lang) == value} <= COGNATES
    told = [column for column in columns.told() if not column.startswith("root_depth")]  # told as a range
    assert all(column_told(column, lang) != column_told(column, "en") for column in [*told, "root_depth_m"])


def test_dates_and_numbers_are_written_as_the_language_does():
    day = date(2026, 11, 21)  # a Saturday
    written = {lang: day_of(day, lang) for lang in LANGUAGES}
    assert written == {
        "en": "Saturday 21 November",
        "es": "sábado 21 de noviembre",
        "fr": "samedi 21 novembre",
        "hi": "शनिवार, 21 नवंबर",
        "ar": "السبت 21 نوفمبر",
        "sw": "Jumamosi, 21 Novemba",
    }
    assert [number(1.5, lang) for lang in LANGUAGES] == ["1.5", "1,5", "1,5", "1.5", "1.5", "1.5"]
    assert day_of(day, "pt") == "Saturday 21 November"


def test_values_with_braces_are_not_filled_in_again():
    assert "{n}" in say("no_place", "en", name="{n}")


@pytest.mark.parametrize(
    ("lang", "question", "figures"),
    [
        ("en", "How deep do the roots of maize grow?", ["roots"]),
        ("en", "How much water does rice need?", ["water"]),
        ("en", "Does barley tolerate salty soil?", ["salinity"]),
        ("es", "¿Cuántos días necesita el maíz hasta la cosecha?", ["period"]),
        ("fr", "Quelle profondeur atteignent les racines du blé ?", ["roots"]),
        ("hi", "मक्का की फसल कितने दिनों में तैयार होती है?", ["period"]),
        ("ar", "ما عمق جذور القمح؟", ["roots"]),
        ("ar", "كم ماء تحتاج الطماطم؟", ["water"]),
        ("sw", "Mahindi yanahitaji maji kiasi gani?", ["water"]),
        ("sw", "Mizizi ya mahindi huenda kina gani?", ["roots"]),
        ("en", "Tell me about maize", []),
    ],
)
def test_a_question_names_figures_in_each_language(lang, question, figures):
    assert figures_asked(question, lang) == figures
