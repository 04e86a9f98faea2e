"""What the tools tell the user, and by which words a question is theirs, in each language: words.toml."""

import re
import tomllib
from collections.abc import Sequence
from datetime import date
from functools import cache
from pathlib import Path

import msgspec

from ragstone.kernel.config.section import Section
from ragstone_assistant.guards import any_of, said
from ragstone_assistant.languages import LANGUAGES

WORDS = Path(__file__).with_name("words.toml")


class Wording(Section, frozen=True, kw_only=True):
    """The words of a language; words.toml says what they are for, `|` stands between those of a list."""

    months: str
    weekdays: str
    decimal: str
    named: dict[str, str]
    phrases: dict[str, str]
    columns: dict[str, str]
    values: dict[str, str]
    asked: dict[str, str]


@cache
def wordings() -> dict[str, Wording]:
    """Return the words of all languages."""
    return msgspec.convert(tomllib.loads(WORDS.read_text("utf-8")), dict[str, Wording])


def wording(lang: str) -> Wording:
    """Return the words of a language; those of English for one without."""
    return wordings()[lang if lang in LANGUAGES else "en"]


def say(name: str, lang: str, /, **values: object) -> str:
    """Return a phrase with these values in its places. KeyError for a name or a place that there is not."""
    return wording(lang).phrases[name].format_map({key: str(value) for key, value in values.items()})


def number(value: float, lang: str, digits: str = ".6g") -> str:
    """Return a number as the language writes it: with a comma or a point, without thousands marks."""
    return f"{value:{digits}}".replace(".", wording(lang).decimal)


def day_of(day: date, lang: str) -> str:
    """Return a date with its weekday, without the year."""
    words = wording(lang)
    weekday, month = words.weekdays.split("|")[day.weekday()], words.months.split("|")[day.month - 1]
    return say("date", lang, weekday=weekday, day=day.day, month=month)


def value_of(text: str, lang: str) -> str:
    """Return a value of the crop table that ships in the language; another as it is."""
    words = wording(lang)
    months = dict(zip(wording("en").months.split("|"), words.months.split("|"), strict=True))
    return words.values.get(text) or months.get(text, text)


def figures_asked(text: str, lang: str) -> Sequence[str]:
    """Return which figures of crops a question names, by their names in words.toml: roots, water..."""
    patterns = _patterns(lang if lang in LANGUAGES else "en", "asked")
    return [name for name, pattern in patterns.items() if pattern.search(said(text))]


def speaks_of(text: str, lang: str, name: str) -> bool:
    """Say whether a question holds one of the words of a list of words.toml: weather, rain, now, video."""
    return bool(_patterns(lang if lang in LANGUAGES else "en", "named")[name].search(said(text)))


@cache
def _patterns(lang: str, table: str) -> dict[str, re.Pattern[str]]:
    return {name: any_of(words.split("|")) for name, words in getattr(wording(lang), table).items()}
