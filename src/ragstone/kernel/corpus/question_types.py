"""A question -> how it asks: for an amount, a time, a person, yes or no; by its words, without a model."""

import re
from functools import cache
from typing import Literal, NamedTuple, get_args

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize

QuestionType = Literal[
    "yes_no",
    "choice",
    "amount",
    "time",
    "place",
    "person",
    "reason",
    "procedure",
    "fact",
    "request",
    "keywords",
]
TYPES: tuple[QuestionType, ...] = get_args(QuestionType)
_BEGINS = ("yes_no", "request")  # types whose words stand where a clause begins
_SENTENCE = re.compile(r"(?<=[.!?…])\s+")
_CLAUSE = re.compile(r"[,;:–—]\s+|(?<!\s)\s++(?:and|und|et|y|e|en)\s+")


class _Phrases(NamedTuple):
    """starts: the first token of phrases -> tokens and type, longest first. begins: of clauses alone."""

    starts: dict[str, list[tuple[list[str], QuestionType]]]
    begins: dict[str, QuestionType]


def question_type(text: str, lang: str | None) -> tuple[QuestionType | None, str]:
    """Return how a question asks, and the sentence that does; None in a language without a table.

    Of several sentences the last that asks counts, where it has such words. What comes first in it decides: a
    question word, or where a clause begins a verb ("is", "explain"). A text with neither is `keywords`,
    unless it ends with a question mark: then None, for how it asks is not known.
    """
    phrases = _library().get(lang or "")
    if phrases is None:
        return None, ""
    sentences = [part for part in _SENTENCE.split(text.strip()) if tokenize(part)]
    asking = [part for part in sentences if part.rstrip().endswith(("?", "？"))]
    if not sentences:
        return None, ""
    for sentence in [*asking[::-1], *sentences[::-1]]:
        if kind := _first(sentence, phrases):
            return kind, sentence
    return (None if asking else "keywords"), sentences[-1]


def _first(sentence: str, phrases: _Phrases) -> QuestionType | None:
    """Return the type of what stands first."""
    for clause in _CLAUSE.split(sentence):
        tokens = tokenize(clause)
        if tokens and tokens[0] in phrases.begins:
            return phrases.begins[tokens[0]]
        for at, token in enumerate(tokens):
            for phrase, kind in phrases.starts.get(token, ()):
                if tokens[at : at + len(phrase)] == phrase:
                    return kind
    return None


@cache
def _library() -> dict[str, _Phrases]:
    listed = read_library("ragstone.kernel.corpus", "question_types.toml")
    ready = {}
    for lang, types in listed.items():
        starts: dict[str, list[tuple[list[str], QuestionType]]] = {}
        begins: dict[str, QuestionType] = {}
        for kind, words in types.items():
            if kind in _BEGINS:
                begins |= {token: kind for word in words.split() for token in tokenize(word)[:1]}
                continue
            for phrase in words:
                tokens = tokenize(phrase)
                starts.setdefault(tokens[0], []).append((tokens, kind))
        ready[lang] = _Phrases(
            {token: sorted(some, key=lambda pair: -len(pair[0])) for token, some in starts.items()}, begins
        )
    return ready
