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
"""ISO 639-1 codes of the languages that page, guards and the planner's words are written in as well."""

SPOKEN = (*LANGUAGES, "de", "id", "it", "nl", "pt", "ru", "tr", "vi", "zh")
"""ISO 639-1 codes of the languages that the assistant answers in: its own phrases are written in each."""


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
    """Return one of SPOKEN. KeyError for another."""
    if lang not in SPOKEN:
        raise KeyError(f"{lang!r} is not one of the assistant's languages: {', '.join(SPOKEN)}")
    return msgspec.convert(read_library("ragstone_assistant", f"languages/{lang}.toml"), Language)


def phrase(name: str, lang: str, **values: object) -> str:
    """Return a phrase in a language, with these values in its places; in English for a language without.

    KeyError for a name or a place that there is not: a mistake of the program, never of a user.
    """
    template = language(lang if lang in SPOKEN else "en").phrases[name]
    return template.format_map({key: str(value) for key, value in values.items()})


SCRIPTS = {"DEVANAGARI": "hi", "ARABIC": "ar", "CYRILLIC": "ru", "CJK": "zh"}
# Letters of languages of these scripts that are none of ours: Ukrainian, Belarusian, Serbian; Japanese.
STRANGE = frozenset("іїєґўјљњћђџ") | frozenset(map(chr, range(0x3041, 0x3100)))
SHARE = 0.25  # of the letters in another script than Latin: names in a question are often in Latin letters
LATIN = ("en", "es", "fr", "sw", "de", "id", "it", "nl", "pt", "tr", "vi")
WORD_WEIGHT = 2.0  # in log odds, of one of a language's frequent words against the detector's reading
FLOOR = 1e-4  # odds of a language that the detector all but rules out: on three words it is often wrong
SHORT = 4  # words, below which the words decide, and the detector between languages that share them
LONG = 8  # words from which on the detector alone is asked whether it is another language altogether


def language_of(text: str, chosen: str | None = None, before: str | None = None) -> str:
    """Return the language to answer in, one of SPOKEN.

    chosen: by the user; it is kept to if it is one of them. before: that of the conversation so far, kept
    where the text says too little: no letters, or Latin letters without a word that tells ("NPK 15-15-15").
    A quarter of the letters in Devanagari is Hindi, in Arabic script Arabic, in Cyrillic Russian, in Han
    Chinese, unless a letter shows another language. Between languages in Latin letters, frequent words are
    counted beside the detector's odds. A text in another language gets `before`, else English.
    """
    if chosen in SPOKEN:
        return chosen
    fallback = before if before in SPOKEN else "en"
    scripts = Counter(unicodedata.name(letter, "?").split()[0] for letter in text if letter.isalpha())
    if not scripts:
        return fallback
    latin = scripts.pop("LATIN", 0)
    script, letters = scripts.most_common(1)[0] if scripts else ("LATIN", latin)
    if letters < SHARE * (letters + latin):
        script = "LATIN"
    if script in SCRIPTS:
        return fallback if STRANGE.intersection(text.lower()) else SCRIPTS[script]
    return _in_latin(text, fallback) if script == "LATIN" else fallback


def _in_latin(text: str, fallback: str) -> str:
    tokens = tokenize(text)
    hits = {lang: sum(word in _words(lang) for word in tokens) for lang in LATIN}
    if not any(hits.values()) and (len(tokens) < LONG or detect_language(text) not in LATIN):
        detected = detect_language(text)
        return detected if detected in LATIN else fallback
    most = max(hits.values())
    tied = [lang for lang in LATIN if hits[lang] == most]
    if len(tokens) < SHORT and most and len(tied) > 1:  # "in Nakuru": a word of four languages
        if (detected := detect_language(text)) in tied:  # "was macht Regen"
            return detected
        if fallback in tied:
            return fallback
        tied = [lang for lang in tied if lang in LANGUAGES] or tied
        odds = language_odds(text)
        return max(tied, key=lambda lang: odds.get(lang, 0.0))
    odds = language_odds(text)
    scores = {lang: WORD_WEIGHT * hits[lang] + math.log(max(odds.get(lang, 0.0), FLOOR)) for lang in LATIN}
    best = max(scores, key=scores.__getitem__)
    # Catalan shares words with Spanish: a long text that the detector is sure about is believed.
    other = detect_language(text) if len(tokens) >= LONG else None
    return best if other is None or other in LATIN or hits[best] > len(tokens) / 3 else fallback


@cache
def _words(lang: str) -> frozenset[str]:
    return frozenset(tokenize(language(lang).words))
