"""The words by which a turn is read without a model: words.toml, in six languages."""

import re
from functools import cache
from typing import Literal

import msgspec

from ragstone.assistant.guards.words import any_of, said
from ragstone.assistant.languages import LANGUAGES
from ragstone.config import read_library
from ragstone.config.section import Section


class Lexicon(Section, frozen=True, kw_only=True):
    """The words of a language, each list separated by `|`; words.toml says what they are for."""

    greeting: str
    thanks: str
    polite: str
    pointing: str
    plants: str
    sick: str
    symptoms: str
    today: str
    tomorrow: str
    before: str
    after: str
    times: str
    things: str


Topic = Literal["pointing", "plants", "sick", "symptoms", "today", "tomorrow", "times"]


@cache
def _lexicons() -> dict[str, Lexicon]:
    return msgspec.convert(read_library("ragstone.assistant.planning", "words.toml"), dict[str, Lexicon])


def words_of(lang: str, topic: str) -> list[str]:
    """Return the words of a list, in English for a language that has none."""
    lexicon = _lexicons()[lang if lang in LANGUAGES else "en"]
    return [word for word in getattr(lexicon, topic).split("|") if word]


@cache
def _pattern(lang: str, topic: str) -> re.Pattern[str]:
    return any_of(words_of(lang, topic))


def speaks_of(text: str, lang: str, topic: Topic) -> str | None:
    """Return the first of these words that a text holds, None where there is none."""
    found = _pattern(lang, topic).search(said(text))
    return found[0].strip() if found else None


def courtesy_in(text: str, lang: str) -> tuple[Literal["greeting", "thanks"], str] | None:
    """Return whether a turn is a greeting or thanks and nothing else, and the language of its words.

    lang: looked at first; a greeting is often the only word, too short to tell its language by.
    """
    words = said(text)
    if len(words) > 120 or not _any_courtesy().search(words):
        return None
    for each in dict.fromkeys((lang, *LANGUAGES)):
        if each not in LANGUAGES:
            continue
        left = _pattern(each, "polite").sub(
            " ", _spaced(_gone(_gone(words, each, "greeting"), each, "thanks"))
        )
        if not _gone(left, each, "polite").strip() and _names(words, each):
            return ("thanks" if _pattern(each, "thanks").search(words) else "greeting"), each
    return None


@cache
def _any_courtesy() -> re.Pattern[str]:
    return any_of(
        word for lang in LANGUAGES for topic in ("greeting", "thanks") for word in words_of(lang, topic)
    )


def _names(words: str, lang: str) -> bool:
    return any(_pattern(lang, topic).search(words) for topic in ("greeting", "thanks"))


def _gone(words: str, lang: str, topic: str) -> str:
    """Return the words without those of a list; its longest phrases first."""
    while (shorter := _spaced(_pattern(lang, topic).sub(" ", words))) != words:
        words = shorter
    return words


def _spaced(words: str) -> str:
    return f" {' '.join(words.split())} "
