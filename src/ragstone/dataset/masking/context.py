"""The words beside a number that say what it is."""

import re
from functools import cache, lru_cache
from typing import NamedTuple

from ragstone.dataset.masking.span import BLANK, load_words

BEFORE, AFTER = 40, 25  # characters that are looked at

_MINE = (
    r"(?:my|your|me at|us at|his|her|on) (?:number|no)\b|mi número|mon numéro|meine nummer|mein(?:e)? nr"
    r"|il mio numero|meu número|mijn nummer"
)


class _Patterns(NamedTuple):
    """What says that a number is a telephone's, and what says that it is something else."""

    phone: re.Pattern[str]
    other: re.Pattern[str]


@cache
def _patterns() -> _Patterns:
    words = {key: "|".join(map(re.escape, listed)) for key, listed in load_words("numbers.toml").items()}
    whole = r"(?<![\w\[])(?:{})(?!\w)"
    phone, other = whole.format(words["phone"]), whole.format(words["other"])
    return _Patterns(
        re.compile(rf"{phone}|{words['phone_within']}|{_MINE}", re.IGNORECASE),
        re.compile(rf"{other}|{words['other_within']}", re.IGNORECASE),
    )


REACH = 400  # characters in which those are found, claimed ones among them
_CLAIMED = re.compile(f"{BLANK}+")
_HAN = re.compile("[\u4e00-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_INDIC = re.compile("[\u0900-\u0dff]")


def says_phone(text: str, start: int, end: int) -> bool:
    """Return whether a word beside text[start:end] says that it is a telephone number."""
    after = _CLAIMED.sub(BLANK, text[end : end + REACH])[:AFTER]
    return _last(_patterns().phone, text, start) >= 0 or bool(_patterns().phone.search(after))


def says_other(text: str, start: int) -> bool:
    """Return whether the nearest telling word before text[start] says that a number is something else."""
    other = _last(_patterns().other, text, start)
    return other >= 0 and other > _last(_patterns().phone, text, start)


def _last(words: re.Pattern[str], text: str, start: int) -> int:
    """Return where the last such word in the BEFORE characters ends, -1 without one.

    What was claimed counts as one character: a text that is masked once more has the same words beside a
    number, however long its placeholders are.
    """
    before = _CLAIMED.sub(BLANK, text[max(0, start - REACH) : start])[-BEFORE:]
    return _last_in(words, before) if _LETTER.search(before) else -1


@lru_cache(maxsize=1024)  # several readings of one number ask in turn
def _last_in(words: re.Pattern[str], before: str) -> int:
    ends = [match.end() for match in words.finditer(before)]
    return ends[-1] if ends else -1


def has_han(text: str) -> bool:
    """Return whether a text holds Chinese characters."""
    return _HAN.search(text) is not None


def has_indic(text: str) -> bool:
    """Return whether a text holds letters of a script of India."""
    return _INDIC.search(text) is not None
