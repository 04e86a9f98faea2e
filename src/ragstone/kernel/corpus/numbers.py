"""The values that the numbers of a text may have, however they are written."""

import re
import unicodedata
from functools import cache

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize

_LIST_NUMBER = re.compile(r"^\s*(?:\d{1,2}|[०-९]{1,2}|[٠-٩]{1,2})[.)]\s+")
_SPACES = re.compile(r"[\s'’]")
_GROUPED = re.compile(r"\d{1,3}(?:[.,٬]\d{2,3})*[.,٬]\d{3}")
_UNSPACED = "\u0e01-\u0e4e\u0e80-\u0ecf\u1000-\u103f\u1780-\u17df\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
NUMBER = re.compile(
    rf"(?<!\d)(?:(?<![^\W_])|(?<=[{_UNSPACED}]))(\d+(?:[.,٫٬'’\u00a0\u202f]\d+)*)(st|nd|rd|th)?(?![A-Za-z]+\d)"
)


def stated_values(text: str) -> list[frozenset[float]]:
    """Return each number of a sentence as the values that it may have; the number of a list item is none.

    "1.500" may be one and a half or, in Spanish, fifteen hundred: both. Number words are not looked at.
    """
    return [frozenset(number_values(number)) for number in numbers_in(_LIST_NUMBER.sub("", text))]


def held_values(text: str) -> frozenset[float]:
    """Return all values that numbers of a passage may have, and those of its number words up to twelve."""
    held = {value for number in numbers_in(text) for value in number_values(number)}
    spelled = _number_words()
    return frozenset(held | {spelled[word] for word in tokenize(text) if word in spelled})


def holds_numbers(passage: str, sentence: str) -> bool:
    """Return whether a passage holds every number that a sentence states."""
    held = held_values(passage)
    return all(values & held for values in stated_values(sentence))


def number_values(number: str) -> tuple[float, ...]:
    """Return the values that a number may have as it is written, the one with a decimal point first.

    Its digits are those of any script, in groups or not: "1 500,5" is one number. "1.500" and "1,500" have
    two values, fifteen hundred where such marks group digits; "0.500" has one.
    """
    plain = _SPACES.sub("", number)
    whole, _, part = re.sub("[,٫٬]", ".", plain).rpartition(".")
    decimal = float(f"{whole.replace('.', '')}.{part}" if whole else part)
    if _GROUPED.fullmatch(plain) and int(plain[0]):
        return decimal, float(re.sub("[.,٬]", "", plain))
    return (decimal,)


@cache
def _number_words() -> dict[str, float]:
    return {
        word: float(value)
        for names in read_library("ragstone.kernel.corpus", "number_words.toml").values()
        for value, name in enumerate(names.split())
        for word in tokenize(name)
    }


def numbers_in(text: str) -> list[str]:
    """Return the numbers of a text, in order, in ASCII digits and as they are separated."""
    return [
        "".join(
            str(unicodedata.decimal(character)) if character.isdecimal() else character
            for character in match[1]
        )
        for match in NUMBER.finditer(text)
    ]
