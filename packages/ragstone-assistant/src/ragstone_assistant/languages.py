"""The languages of the assistant: which a text is in, and what the assistant itself says in each."""

import math
import unicodedata
from collections import Counter
from functools import cache
from typing import Literal

import msgspec

from ragstone.kernel.config.library import read_library
from ragstone.kernel.config.section import Section
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.files.language import detect_language, language_odds

LANGUAGES = ("en", "es", "fr", "hi", "ar", "sw")
"""ISO 639-1 codes of the languages that the assistant's own phrases are written in."""


class Language(Section, frozen=True, kw_only=True):
    """A language.

    name: what it calls itself. words: frequent ones, by which a short text is recognised. linking: words of
    lines that introduce others. searches: questions that need documents.
    """

    name: str
    direction: Literal["ltr", "rtl"]
    words: str
    linking: str
    searches: list[str]
    phrases: dict[str, str]


@cache
def language(lang: str) -> Language:
    """Return one of LANGUAGES. KeyError for another."""
    if lang not in LANGUAGES:
        raise KeyError(f"{lang!r} is not one of the assistant's languages: {', '.join(LANGUAGES)}")
    return msgspec.convert(read_library("ragstone_assistant", f"languages/{lang}.toml"), Language)


def phrase(name: str, lang: str, **values: object) -> str:
    """Return a phrase in a language, with these values in its places; in English for a language without.

    KeyError for a name or a place that there is not: a mistake of the program, never of a user.
    """
    template = language(lang if lang in LANGUAGES else "en").phrases[name]
    return template.format_map({key: str(value) for key, value in values.items()})


SCRIPTS = {"DEVANAGARI": "hi", "ARABIC": "ar"}
LATIN = ("en", "es", "fr", "sw")
WORD_WEIGHT = 2.0  # in log odds, of one of a language's frequent words against the detector's reading
FLOOR = 1e-4  # odds of a language that the detector all but rules out: on three words it is often wrong
LONG = 8  # words from which on the detector alone is asked whether it is another language altogether


def language_of(text: str, chosen: str | None = None, before: str | None = None) -> str:
    """Return the language to answer in, one of LANGUAGES.

    chosen: by the user; it is kept to if it is one of them. before: that of the conversation so far, kept
    where the text says too little: no letters, or Latin letters without a word that tells ("NPK 15-15-15").
    Most letters in Devanagari are Hindi, in Arabic script Arabic. Between languages in Latin letters,
    frequent words are counted beside the detector's odds. A text in another language gets `before`, else
    English.
    """
    if chosen in LANGUAGES:
        return chosen
    fallback = before if before in LANGUAGES else "en"
    scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in text if letter.isalpha())
    if not scripts:
        return fallback
    script = scripts.most_common(1)[0][0]
    if script in SCRIPTS:
        return SCRIPTS[script]
    return _in_latin(text, fallback) if script == "LATIN" else fallback


def _in_latin(text: str, fallback: str) -> str:
    tokens = tokenize(text)
    hits = {lang: sum(word in _words(lang) for word in tokens) for lang in LATIN}
    if not any(hits.values()) and (len(tokens) < LONG or detect_language(text) not in LATIN):
        detected = detect_language(text)
        return detected if detected in LATIN else fallback
    odds = language_odds(text)
    scores = {lang: WORD_WEIGHT * hits[lang] + math.log(max(odds.get(lang, 0.0), FLOOR)) for lang in LATIN}
    best = max(scores, key=scores.__getitem__)
    # Portuguese shares words with Spanish: a long text that the detector is sure about is believed.
    other = detect_language(text) if len(tokens) >= LONG else None
    return best if other is None or other in LATIN or hits[best] > len(tokens) / 3 else fallback


@cache
def _words(lang: str) -> frozenset[str]:
    return frozenset(tokenize(language(lang).words))
