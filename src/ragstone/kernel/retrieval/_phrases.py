"""Words that tell what a question asks for, and what a sentence gives: library/answer_types.toml."""

from collections.abc import Sequence
from functools import cache

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize

Phrases = dict[str, list[tuple[tuple[str, ...], str]]]
"""The first word of a phrase -> the phrases that begin with it, the longest first, each with its kind."""


def asked_kind(tokens: Sequence[str]) -> str:
    """Return the kind of answer that a question asks for: a name of `asked` in the file, or "" for none.

    tokens: those of the question. The phrase that comes first decides.
    """
    return next((kind for _, kind in _matches(tokens, _table("asked"))), "")


def shown_kinds(tokens: Sequence[str]) -> set[str]:
    """Return the kinds of answer that a sentence shows by its words: names of `shown` in the file."""
    return {kind for _, kind in _matches(tokens, _table("shown"))}


def is_leaning(tokens: Sequence[str]) -> bool:
    """Say whether a sentence begins with a word that needs the sentence before it ("It", "However")."""
    return any(at == 0 for at, _ in _matches(tokens[:4], _table("leaning")))


def contrary_words(tokens: Sequence[str]) -> int:
    """Return how many words turn a statement into its contrary ("not", "without")."""
    return sum(1 for _ in _matches(tokens, _table("contrary")))


def _matches(tokens: Sequence[str], table: Phrases) -> list[tuple[int, str]]:
    """Return the places at which phrases begin, with the kind of the longest one there."""
    found: list[tuple[int, str]] = []
    for at, token in enumerate(tokens):
        for phrase, kind in table.get(token, ()):
            if tuple(tokens[at : at + len(phrase)]) == phrase:
                found.append((at, kind))
                break
    return found


@cache
def _table(name: str) -> Phrases:
    """Return a table of the file by the first words of its phrases."""
    table: Phrases = {}
    for kind, texts in read_library("ragstone.kernel.retrieval", "answer_types.toml")[name].items():
        for text in texts:
            phrase = tuple(tokenize(text))
            table.setdefault(phrase[0], []).append((phrase, kind))
    for phrases in table.values():
        phrases.sort(key=lambda pair: -len(pair[0]))
    return table
