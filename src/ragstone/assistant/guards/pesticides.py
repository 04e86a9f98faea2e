"""Sentences about pesticides: their advice is given only with a passage that says it."""

import re
from functools import cache, lru_cache

from ragstone.assistant.guards.words import any_of, said
from ragstone.config import read_library


@lru_cache(maxsize=1024)  # a sentence is asked about several times while it is checked
def names_pesticide(text: str) -> bool:
    """Say whether a text names a pesticide: an active ingredient of the list, or a word such as fungicide.

    The list (library/pesticides.toml) holds the ingredients in most use, in six languages; a trade name that
    is not in it goes unnoticed.
    """
    words = said(text)
    return _classes().search(words) is not None or _any_ingredient().search(words) is not None


def ingredients_in(text: str) -> frozenset[str]:
    """Return the active ingredients that a text names, by their English names, in whatever language."""
    words = said(text)
    if not _any_ingredient().search(words):
        return frozenset()
    return frozenset(name for name, pattern in _ingredients().items() if pattern.search(words))


@cache
def _classes() -> re.Pattern[str]:
    listed = read_library("ragstone.assistant.guards", "pesticides.toml")["classes"]
    return any_of(word for words in listed.values() for word in words)


@cache
def _ingredients() -> dict[str, re.Pattern[str]]:
    listed = read_library("ragstone.assistant.guards", "pesticides.toml")["ingredients"]
    return {name: any_of(names) for name, names in listed.items()}


@cache
def _any_ingredient() -> re.Pattern[str]:
    listed = read_library("ragstone.assistant.guards", "pesticides.toml")["ingredients"]
    return any_of(name for names in listed.values() for name in names)
