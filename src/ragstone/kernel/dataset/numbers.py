"""The values that the numbers of a text may have, however they are written."""

import re
import unicodedata
from functools import cache

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize

_LIST_NUMBER = re.compile(r"^\s*(?:\d{1,2}|[०-९]{1,2}|[٠-٩]{1,2})[.)]\s+")
_SPACES = re.compile(r"['’\u00a0\u202f]")
_GROUPED = re.compile(r"\d{1,3}(?:[.,٬]\d{2,3})*[.,٬]\d{3}")


def stated_values(text: str) -> list[frozenset[float]]:
    """Return each number of a sentence as the values that it may have; the number of a list item is none.

    "1.500" may be one and a half or, in Spanish, fifteen hundred: both. Number words are not looked at.
    """
    return [_readings(number) for number in numbers_in(_LIST_NUMBER.sub("", text))]


def held_values(text: str) -> frozenset[float]:
    """Return all values that numbers of a passage may have, and those of its number words up to twelve."""
    held = {value for number in numbers_in(text) for value in _readings(number)}
    spelled = _number_words()
    return frozenset(held | {spelled[word] for word in tokenize(text) if word in spelled})


def holds_numbers(passage: str, sentence: str) -> bool:
    """Return whether a passage holds every number that a sentence states."""
    held = held_values(passage)
    return all(values & held for values in stated_values(sentence))


def _readings(number: str) -> frozenset[float]:
    plain = _SPACES.sub("", number).replace("٫", ".")
    values = set()
    if _GROUPED.fullmatch(plain):
        values.add(float(re.sub(r"[.,٬]", "", plain)))
    whole, _, part = plain.replace(",", ".").replace("٬", ".").rpartition(".")
    decimal = f"{whole.replace('.', '')}.{part}" if whole else part
    return frozenset(values | {float(decimal)})


@cache
def _number_words() -> dict[str, float]:
    return {
        word: float(value)
        for names in read_library("ragstone.kernel.dataset", "number_words.toml").values()
        for value, name in enumerate(names.split())
        for word in tokenize(name)
    }


_UNSPACED = "\u0e01-\u0e4e\u0e80-\u0ecf\u1000-\u103f\u1780-\u17df\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"


NUMBER = re.compile(
    rf"(?<!\d)(?:(?<![^\W_])|(?<=[{_UNSPACED}]))(\d+(?:[.,٫٬'’\u00a0\u202f]\d+)*)(st|nd|rd|th)?(?![A-Za-z]+\d)"
)


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, in order, in ASCII digits and as they are separated."""
    return [
        "".join(
            str(unicodedata.decimal(character)) if character.isdecimal() else character
            for character in match[1]
        )
        for match in NUMBER.finditer(text)
    ]
