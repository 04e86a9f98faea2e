"""A question is typed by its words, in the languages that have a table."""

import pytest

from ragstone.kernel.corpus.question_types import TYPES, question_type


@pytest.mark.parametrize(
    ("text", "lang", "expected"),
    [
        ("How many pumps are there?", "en", "amount"),
        ("Who lifts water?", "en", "person"),
        ("Since when does it run?", "en", "time"),
        ("Is it deep?", "en", "yes_no"),
        ("I moved. Where does the pump stand?", "en", "place"),
        ("Wie viele Pumpen gibt es?", "de", "amount"),
        ("\u00bfQui\u00e9n riega?", "es", "person"),
        ("pump filter", "en", "keywords"),
        ("Pumps?", "en", None),
        ("How many pumps are there?", "sw", None),
        ("", "en", None),
    ],
)
def test_the_first_words_that_ask_give_the_type(text, lang, expected):
    kind, _ = question_type(text, lang)
    assert kind == expected
    assert kind in (None, *TYPES)


def test_the_sentence_that_asks_is_given_with_it():
    asks = "How deep is it?"
    text = f"The pump is new. {asks} Thanks."
    assert question_type(text, "en") == ("amount", asks)
