"""Phrases by which a text speaks of the passage that it was written from: "according to the document"."""

import re
import unicodedata
from functools import cache

import msgspec

from ragstone.config import read_library

LOOKED_AT = 20_000  # characters; a question has some hundred


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What library/mentions.toml says of a language."""

    noun: str
    phrases: list[str]


def mention_of_context(text: str, lang: str | None = None, within: int | None = None) -> str | None:
    """Return the words by which a text speaks of its passage, author or figure, in any of 23 languages.

    None where it speaks of none. lang: its phrases and the English ones are looked for; all where it is None
    or not among them. within: only words that begin in so many characters from the start.
    """
    patterns = _patterns()
    tried = (
        [patterns[code] for code in dict.fromkeys((lang, "en"))] if lang in patterns else patterns.values()
    )
    composed = unicodedata.normalize("NFC", text).strip()[:LOOKED_AT]
    for pattern in tried:
        found = pattern.search(composed)
        if found and (within is None or found.start() <= within):
            return found[0].strip()
    return None


@cache
def _patterns() -> dict[str | None, re.Pattern[str]]:
    """Return one pattern a language, in the order of the file."""
    library = msgspec.convert(read_library("ragstone.dataset", "mentions.toml"), dict[str, Phrases])
    return {code: _compiled(listed) for code, listed in library.items()}


def _compiled(listed: Phrases) -> re.Pattern[str]:
    return re.compile("|".join(_edged(phrase, listed.noun) for phrase in listed.phrases), re.IGNORECASE)


def _edged(phrase: str, noun: str) -> str:
    """Return a phrase as a pattern that begins and ends where words do; one that ends in ~ needs no edges."""
    spaced = phrase.removesuffix("~").replace("{noun}", noun).replace(" ", r"\s+")
    spaced = spaced.replace(r"\s+?", r"\s*")  # a space that may be missing
    return f"(?:{spaced})" if phrase.endswith("~") else rf"(?<!\w)(?:{spaced})(?!\w)"
