"""Contexts that are records."""

import json

import pytest

from ragstone.kernel.judging.supported._features import negations, read_passages, sentence_features
from ragstone.kernel.judging.supported._fields import read_record

CAFE = {
    "name": "Clover Café",
    "address": "1 State Street",
    "attributes": {
        "OutdoorSeating": False,
        "WiFi": "free",
        "RestaurantsTakeOut": True,
        "RestaurantsReservations": None,
        "BusinessParking": {"street": False, "garage": True},
    },
    "hours": {"Monday": "17:30-23:0"},
}


def contradicted(sentence: str, context: str, lang: str = "en") -> list[str]:
    features = sentence_features(sentence, read_passages((context,)), lang)
    assert features is not None
    return [field.said for field in features.fields]


@pytest.mark.parametrize("text", [json.dumps(CAFE), str(CAFE)])
@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("It has outdoor seating.", ["outdoor seating: no"]),
        ("It does not have outdoor seating.", []),
        ("There is no outdoor seating, but it offers takeout.", []),
        ("It offers no take-out.", ["take out: yes"]),
        ("Reservations are accepted.", ["reservations: empty"]),
        ("The café is at 1 State Street.", []),
        ("Street parking is available.", ["street: no"]),
        ("WiFi is free.", []),
        ("Outdoor seating is not available.", []),
    ],
)
def test_a_sentence_against_fields(text, sentence, said):
    assert contradicted(sentence, text) == said


def test_lines_of_key_and_value_are_a_record():
    text = "Outdoor seating: no\nPool: yes\nPets: n/a\nOpen: daily"
    assert contradicted("It has a pool and outdoor seating.", text) == ["outdoor seating: no"]
    assert contradicted("Pets are welcome.", text) == ["pets: empty"]


def test_denials_in_other_languages():
    assert contradicted("Es gibt keinen Pool.", "Pool: no", "de") == []
    assert contradicted("Es gibt einen Pool.", "Pool: no", "de") == ["pool: no"]
    assert contradicted("Il n'y a pas de piscine.", "piscine: true", "fr") == ["piscine: yes"]
    assert "nicht" in negations("de")
    assert negations("xx") == negations("en")


def test_hours_are_compared_as_times():
    right = sentence_features("Monday: 5:30 pm to 11 PM.", read_passages((json.dumps(CAFE),)), "en")
    wrong = sentence_features("Monday: 5:30 pm to 10 PM.", read_passages((json.dumps(CAFE),)), "en")
    assert right is not None
    assert wrong is not None
    assert right.numbers == []
    assert wrong.numbers == ["10 PM"]


@pytest.mark.parametrize(
    "text",
    ["Maize grows in May.", "{not json}", "[1, 2", "{" * 5000 + "}", "Note: yes it rains", "", "{}", "[]"],
)
def test_what_is_no_record_stays_text(text):
    assert read_record(text)[1] == []
