"""What the assistant itself says, in each of its languages: files of phrases."""

from functools import cache
from typing import Literal

import msgspec

from ragstone.config.assistant import DEFAULT_SCOPE
from ragstone.config.library import read_library
from ragstone.config.section import Section

LANGUAGES = ("en", "es", "fr", "hi", "ar", "sw")
"""ISO 639-1 codes of the languages that the assistant's own phrases are written in."""


class Language(Section, frozen=True, kw_only=True):
    """A language.

    name: what it calls itself. words: frequent ones, by which a short text is recognised. numbers: words for
    0, 1, 2 and so on. linking: words of lines that introduce others.
    """

    name: str
    direction: Literal["ltr", "rtl"]
    words: str
    numbers: str
    linking: str
    phrases: dict[str, str]


@cache
def language(lang: str) -> Language:
    """Return one of LANGUAGES. KeyError for another."""
    if lang not in LANGUAGES:
        raise KeyError(f"{lang!r} is none of the assistant's languages: {', '.join(LANGUAGES)}")
    return msgspec.convert(read_library("ragstone.assistant.languages", f"{lang}.toml"), Language)


def phrase(name: str, lang: str, **values: object) -> str:
    """Return a phrase in a language, with these values in its places; in English for a language without.

    KeyError for a name or a place that there is not: a mistake of the program, never of a user.
    """
    template = language(lang if lang in LANGUAGES else "en").phrases[name]
    return template.format_map({key: str(value) for key, value in values.items()})


def scope_words(scope: str, lang: str) -> str:
    """Return what the assistant is about: the default scope in the user's language, another as it is set."""
    return phrase("default_scope", lang) if scope == DEFAULT_SCOPE else scope
