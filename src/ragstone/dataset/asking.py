"""Does a text ask anything? Leniently: only what clearly is a statement or a stub does not."""

import re
from functools import cache
from itertools import takewhile
from typing import NamedTuple

import msgspec

from ragstone.config import read_library
from ragstone.corpus.tokens import tokenize

QUESTION_MARKS = re.compile("[?？؟՞፧⁇⁈⁉‽;¿꘏]|(?<=[\u0370-\u03ff\u1f00-\u1fff]);")
STOPS = frozenset(".。।۔…！!:：,")
# Languages whose questions begin with the question word: further on, it may belong to a statement.
ASKING_FIRST = frozenset({"de", "el", "en", "es", "fr", "it", "nl", "pl", "pt", "ro", "ru", "uk"})
NEAR_THE_BEGINNING = 2  # words
UNSPACED = frozenset({"zh", "ja", "ko", "th"})


class Forms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What library/question_forms.toml says of a language."""

    asking: str
    first: str = ""


class Words(NamedTuple):
    """The same as sets; `parts` is the pattern of a script without spaces."""

    asking: frozenset[str]
    first: frozenset[str]
    parts: re.Pattern[str] | None


def asks_something(text: str, lang: str | None) -> bool:
    """Return whether a text asks: by a question mark, a question word, or an order ("Explain ...").

    A single word asks nothing. Without a stop at its end a text may be a search ("causes of the trail of
    tears"), and asks; with one ("The river, which flows north.") a question word must stand near its
    beginning, where the language puts it there. Without a language the words of all languages count; in a
    language that is not in library/question_forms.toml every text is taken to ask.
    """
    said = tokenize(text)
    if len(said) < 2:
        return False
    if QUESTION_MARKS.search(text):
        return True
    forms = _forms()
    if lang is not None and lang not in forms:
        return True
    codes = forms if lang is None else (lang, "en")
    return any(_asks(text, said, code) for code in codes)


def _asks(text: str, said: list[str], code: str) -> bool:
    words = _forms()[code]
    if words.parts is not None:
        return bool(words.parts.search(text))
    if not _stops(text):
        return any(character.isalpha() and character < "\u0e00" for character in text)
    heard = said[:NEAR_THE_BEGINNING] if code in ASKING_FIRST else said
    return not words.asking.isdisjoint(heard) or said[0] in words.first


def _stops(text: str) -> bool:
    """Say whether a stop stands behind the last word."""
    behind = takewhile(lambda sign: not (sign.isalnum() or sign == "_"), reversed(text))
    return any(sign in STOPS for sign in behind)


@cache
def _forms() -> dict[str, Words]:
    library = msgspec.convert(read_library("ragstone.dataset", "question_forms.toml"), dict[str, Forms])
    return {code: _ready(code, forms) for code, forms in library.items()}


def _ready(code: str, forms: Forms) -> Words:
    parts = re.compile("|".join(map(re.escape, forms.asking.split()))) if code in UNSPACED else None
    return Words(frozenset(tokenize(forms.asking)), frozenset(tokenize(forms.first)), parts)
