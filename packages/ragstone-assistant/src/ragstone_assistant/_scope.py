"""Which questions an assistant answers: those of its scope, whatever their language."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.embedding.model import Embed, Vectors
from ragstone_assistant._domain import Domain
from ragstone_assistant.answering.support import content_words
from ragstone_assistant.guards import any_of, said
from ragstone_assistant.languages import language_of

SCOPE_MARGIN = 0.02  # of cosine similarity, by which a question must be nearer to another subject
FEWEST_CONTENT = 2  # words that carry content
FEWEST = 3  # words: fewer may answer a question of ours, or go on with one


class InScope(Protocol):
    """Says whether a question is to be answered.

    likely: other signs speak for it, e.g. a tool's own words; then only a word of another
    subject speaks against it, and no vector is asked for.
    """

    async def __call__(self, question: str, lang: str, /, *, likely: bool = False) -> bool:
        """Return whether a question, in a language, is in scope."""
        ...


def scope_guard(domain: Domain, topics: Sequence[str], embed: Embed) -> InScope:
    """Return what tells questions of the scope from others, whatever their language.

    topics: what the knowledge base is about, e.g. the names of its topics. A question is out of scope only
    where it is nearer to a subject that people ask any chat program about (football, films, code, their
    health...) than to anything of the scope, by SCOPE_MARGIN. A word of the domain's scope.toml settles it
    before, and where there is none a word of a plain request for something else (a poem, homework), so no
    vector is asked for. In doubt, and with fewer than three words, it is in scope: to decline a question that
    the documents answer is worse than to search in vain for another. What names nothing ("How does it work?")
    is in doubt. Without a scope all is in scope.

    The subjects are embedded with the first question, unless the embedder has learned them.
    """
    if not domain.has_scope:
        return _everything
    subject_vectors, named = _Subjects(subjects(domain, topics), embed), said(" ".join(topics))
    own, foreign = _any_word(domain.scope_words.words), _any_word(domain.scope_words.others)

    async def in_scope(question: str, _lang: str, *, likely: bool = False) -> bool:
        plain = said(question)
        if len(tokenize(question)) < FEWEST or (own and own.search(plain)):
            return True
        other = foreign.search(plain) if foreign else None
        if other and other[0] not in named:
            return False
        if likely or len(content_words(question)) < FEWEST_CONTENT:
            return True
        inside, outside = await subject_vectors.nearest(question)
        return outside <= inside + SCOPE_MARGIN

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


def subjects(domain: Domain, topics: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return what questions are compared with: subjects of the scope, and others; none without a scope.

    Those of the scope are `inside` of scope.toml; without it the parts of the scope and the questions that
    the domain gives as examples.
    """
    if not domain.has_scope:
        return [], []
    scope = domain.scope("en")
    parts = [part.strip() for part in re.split(r"[,:;]", scope)]
    offered = [text for texts in domain.texts.values() for text in (*texts.examples, *texts.searches)]
    own = domain.scope_words.inside or [*parts, *dict.fromkeys(offered)]
    inside = [scope, *(text for text in (*own, *topics) if text.strip())]
    # A short question is near to any short text of another language, so both sides are in the same ones.
    spoken = {"en", *map(language_of, inside)}
    outside = read_library("ragstone_assistant", "scope.toml")["outside"]
    return inside, [text for lang, texts in outside.items() if lang in spoken for text in texts]


async def _everything(_question: str, _lang: str, *, likely: bool = False) -> bool:  # noqa: ARG001
    return True


def _any_word(listed: Mapping[str, Sequence[str]]) -> re.Pattern[str] | None:
    listed_words = [word for each in listed.values() for word in each]
    return any_of(listed_words) if listed_words else None
