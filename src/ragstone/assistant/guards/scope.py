"""Whether a question is one that the assistant answers: by words, and by vectors of other subjects."""

import asyncio
import re
from collections.abc import Sequence
from functools import cache
from typing import Protocol

import numpy as np

from ragstone.assistant.guards.words import any_of, said
from ragstone.config import read_library
from ragstone.config.assistant import DEFAULT_SCOPE
from ragstone.corpus.tokens import tokenize
from ragstone.embedding.model import Embed, Vectors

MARGIN = 0.02  # of cosine similarity, by which a question must be nearer to another subject
FEWEST = 3  # words: fewer may answer a question of ours, or go on with one


class InScope(Protocol):
    """Says whether a question is to be answered.

    likely: other signs speak for it, e.g. words for plants or the weather; then only a word of another
    subject speaks against it, and no vector is asked for.
    """

    async def __call__(self, question: str, lang: str, /, *, likely: bool = False) -> bool:
        """Return whether a question, in a language, is in scope."""
        ...


def scope_guard(scope: str, topics: Sequence[str], embed: Embed) -> InScope:
    """Return what tells questions of the scope from others, whatever their language.

    scope: as configured. topics: what the knowledge base is about, e.g. the names of its topics. A question
    is out of scope only where it is nearer to a subject that people ask any chat program about (football,
    films, code, their health...) than to anything of the scope, by MARGIN. In the default scope a word of
    farming settles it before, and where there is none a word of a plain request for something else (a poem,
    homework), so no vector is asked for. In doubt, and with fewer than three words, it is in scope: to
    decline a farmer's question is worse than to search in vain for another.

    The subjects are embedded with the first question, unless the embedder has learned them.
    """
    found, named = _Subjects(subjects(scope, topics), embed), said(" ".join(topics))

    async def in_scope(question: str, _lang: str, *, likely: bool = False) -> bool:
        words, default = said(question), scope == DEFAULT_SCOPE
        if len(tokenize(question)) < FEWEST or (default and _listed("words").search(words)):
            return True
        other = _listed("others").search(words) if default else None
        if other and other[0] not in named:
            return False
        if likely:
            return True
        inside, outside = await found.nearest(question)
        return outside <= inside + MARGIN

    return in_scope


class _Subjects:
    """The vectors of the subjects. A class: they are made once, when the first question comes."""

    def __init__(self, subjects: tuple[list[str], list[str]], embed: Embed) -> None:
        self._inside, self._outside = subjects
        self._embed = embed
        self._vectors: Vectors | None = None
        self._first = asyncio.Lock()

    async def nearest(self, question: str) -> tuple[float, float]:
        """Return the greatest similarity to a subject of the scope, and to one of the others."""
        async with self._first:
            if self._vectors is None:
                subjects = [*self._inside, *self._outside]
                self._vectors = await asyncio.to_thread(self._embed, subjects, "passage")
        (own,) = await asyncio.to_thread(self._embed, [question], "query")
        similar = self._vectors @ own
        n_inside = len(self._inside)
        return float(np.max(similar[:n_inside])), float(np.max(similar[n_inside:]))


def subjects(scope: str, topics: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what questions are compared with: subjects of the scope, and others."""
    listed = read_library("ragstone.assistant.guards", "scope.toml")["subjects"]
    own = listed["inside"] if scope == DEFAULT_SCOPE else [part.strip() for part in re.split(r"[,:;]", scope)]
    return [scope, *(text for text in (*own, *topics) if text.strip())], list(listed["outside"])


@cache
def _listed(table: str) -> re.Pattern[str]:
    listed = read_library("ragstone.assistant.guards", "scope.toml")[table]
    return any_of(word for words in listed.values() for word in words)
