"""Which passage says what a sentence of an answer says: by words, numbers and, across languages, vectors."""

import asyncio
from collections.abc import Collection, Sequence
from functools import cache, lru_cache
from itertools import pairwise

import msgspec
import numpy as np

from ragstone.kernel.corpus.numbers import held_values, stated_values
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import function_words, search_terms, tokenize, word_terms
from ragstone.kernel.embedding.model import Embed, Vectors
from ragstone.kernel.systems.declining import UNRELATED
from ragstone_assistant._domain import SensitiveTerms
from ragstone_assistant.conversation import Passage
from ragstone_assistant.languages import LANGUAGES, language, language_of

# Share of a sentence's content words that its passage holds: where the model named the passage, and where we
# look for it ourselves. docs/explanation/assistant-answers.md has what they keep and let through on RAGTruth.
MARKED, FOUND = 0.35, 0.45
# The same across languages: how far a cosine similarity is on its way from that of unrelated texts to 1, so
# that it means the same for embedders whose similarities begin at 0.7 and at 0.
SIMILAR_MARKED, SIMILAR_FOUND = 0.2, 0.28
FEW = 3  # words: fewer say so little that their place in the passage must fit the question too
_YES_AND_NO = frozenset(["yes", "no", "sí", "oui", "non", "हाँ", "नहीं", "نعم", "لا", "ndiyo", "hapana"])


class ComparedPassage(msgspec.Struct, frozen=True, kw_only=True):
    """What can be compared of a passage. terms: its search terms; sentences: those of each; pairs: of each
    with the next, in which what a sentence of an answer says is looked for.
    """

    lang: str
    text: str  # without the title: so the embedder has it already
    terms: frozenset[str]
    sentences: tuple[frozenset[str], ...]
    pairs: tuple[frozenset[str], ...]
    values: frozenset[float]
    named: frozenset[str]  # sensitive terms


def compared_passage(passage: Passage, sensitive: SensitiveTerms) -> ComparedPassage:
    """Return a passage, with its title, in the form that sentences are compared with."""
    return _compared(passage.title, passage.text, passage.lang, sensitive)


@lru_cache(maxsize=512)  # 5 ms a passage; the same ones are found again and again
def _compared(title: str, passage_text: str, lang: str | None, sensitive: SensitiveTerms) -> ComparedPassage:
    text = f"{title}\n{passage_text}"
    sentences = [frozenset(search_terms(text[start:end])) for start, end in sentence_spans(text)]
    return ComparedPassage(
        lang=lang or language_of(passage_text),
        text=passage_text,
        terms=frozenset(search_terms(text)),
        sentences=tuple(sentences),
        pairs=tuple(terms | other for terms, other in pairwise(sentences)) or tuple(sentences),
        values=held_values(text),
        named=sensitive.named_in(text),
    )


class Support:
    """Finds the passages behind sentences. A class: it embeds each passage at most once, when it must."""

    def __init__(
        self, question: str, passages: Sequence[Passage], lang: str, embed: Embed, sensitive: SensitiveTerms
    ) -> None:
        self._evidence = [compared_passage(passage, sensitive) for passage in passages]
        self._sensitive = sensitive
        self._known = frozenset(term for word in content_words(question) for term in word_terms(word))
        self._asked_values = held_values(question)
        self._lang = lang
        self._embed = embed
        self._vectors: dict[int, Vectors] = {}
        self._unrelated: Vectors = np.zeros((0, 0), np.float32)

    async def of(self, sentence: str, marked: Sequence[int]) -> list[int]:
        """Return the passages, from 0, that say what a sentence says; none is an empty list.

        marked: those that the model named: of them, all that hold enough of it are kept. Else it is the one
        that holds most. A number that the passage lacks rules it out, unless the question brought it; and in
        a sentence that mentions sensitive terms, so does each number and each term that it lacks.
        """
        content = content_words(sentence)
        able = self._able(sentence)
        for numbers, enough, similar in (
            ([n for n in marked if n in able], MARKED, SIMILAR_MARKED),
            (able, FOUND, SIMILAR_FOUND),
        ):
            shares = await self._shares(sentence, content, numbers, enough, similar)
            if shares:
                best = max(shares, key=lambda n: (shares[n], -n))
                return list(shares) if numbers is not able else [best]
        return []

    def adds_nothing(self, sentence: str) -> bool:
        """Say whether no passage holds half of the words by which a sentence goes beyond the question."""
        own = self._beyond_question(content_words(sentence))
        return (
            not own or max((share_held(own, passage.terms) for passage in self._evidence), default=0.0) < 0.5
        )

    def echoes(self, sentence: str) -> bool:
        """Say whether a sentence has nothing beyond the question, neither a word nor a number, yes nor no."""
        values = stated_values(sentence)
        if any(not value & self._asked_values for value in values) or _YES_AND_NO & set(tokenize(sentence)):
            return False
        return not self._beyond_question(content_words(sentence))

    def knows_words(self, sentence: str) -> bool:
        """Say whether every word of a sentence is one of the passages, or of lines that introduce others."""
        held = frozenset().union(*(passage.terms for passage in self._evidence))
        return all(
            word in _linking() or held.intersection(word_terms(word)) for word in content_words(sentence)
        )

    def follows(self, sentence: str) -> None:
        """Note a sentence that has been said: what comes next may be as short as an item of its list."""
        self._known |= frozenset(term for word in content_words(sentence) for term in word_terms(word))

    def _able(self, sentence: str) -> list[int]:
        """Return the passages that no number, and no sensitive term, of a sentence rules out."""
        strict, stated = self._sensitive.mentioned(sentence), stated_values(sentence)
        known: frozenset[float] = frozenset() if strict else self._asked_values
        named = self._sensitive.named_in(sentence) if strict else frozenset()
        return [
            n
            for n, passage in enumerate(self._evidence)
            if all(values & (passage.values | known) for values in stated) and named <= passage.named
        ]

    async def _shares(
        self, sentence: str, content: Sequence[str], numbers: Sequence[int], enough: float, similar: float
    ) -> dict[int, float]:
        """Return passage -> how well it says the sentence, for those that say it well enough."""
        own = self._beyond_question(content)
        shares = {n: self._least_share(content, own, n) for n in numbers}
        enough_by_words = {n: share for n, share in shares.items() if self._enough(content, share, n, enough)}
        foreign = [n for n in numbers if self._evidence[n].lang != self._lang]
        if enough_by_words or not foreign or len(content) < FEW:
            return enough_by_words
        likeness = await asyncio.to_thread(self._likeness, sentence, foreign)
        return {n: likeness_of for n, likeness_of in likeness.items() if likeness_of >= similar}

    def _beyond_question(self, content: Sequence[str]) -> list[str]:
        return [word for word in content if not self._known.intersection(word_terms(word))]

    def _least_share(self, content: Sequence[str], own: Sequence[str], n: int) -> float:
        """Return the share of the words that two sentences of a passage hold, one after the other.

        Or that of the words beyond the question, if it is less: else a sentence could repeat the question and
        put anything in the place of the answer.
        """
        pairs = self._evidence[n].pairs
        return max(
            (min(share_held(content, pair), share_held(own, pair) if own else 1.0) for pair in pairs),
            default=0.0,
        )

    def _enough(self, content: Sequence[str], share: float, n: int, enough: float) -> bool:
        passage = self._evidence[n]
        if len(content) >= FEW:
            return share >= enough
        if not content:
            return False
        terms = [frozenset(word_terms(word)) for word in content]
        return any(
            all(own & sentence for own in terms) and bool(self._known & sentence)
            for sentence in passage.sentences
        )

    def _likeness(self, sentence: str, numbers: Sequence[int]) -> dict[int, float]:
        new = [n for n in numbers if n not in self._vectors]
        if new:
            texts = [self._evidence[n].text for n in new]
            vectors = self._embed([*texts, *UNRELATED], "passage")
            self._vectors |= dict(zip(new, vectors, strict=False))
            self._unrelated = vectors[len(new) :]
        own = self._embed([sentence], "query")[0]
        base = float(np.mean(self._unrelated @ own))
        return {n: (float(self._vectors[n] @ own) - base) / (1 - base) for n in numbers}


@lru_cache(maxsize=1024)  # each check of a sentence begins with them
def content_words(text: str) -> tuple[str, ...]:
    """Return the words of a text that carry its content, each once: no numbers, no function words."""
    tokens = dict.fromkeys(tokenize(text))
    return tuple(word for word in tokens if not word.isdecimal() and word not in _function_words())


def share_held(wanted: Collection[str], terms: frozenset[str]) -> float:
    """Return the share of words that are among the search terms; 0 of none."""
    return sum(bool(terms.intersection(word_terms(word))) for word in wanted) / len(wanted) if wanted else 0.0


@cache
def _function_words() -> frozenset[str]:
    """Return the function words of all our languages together: answers and passages mix them."""
    return function_words(tuple(LANGUAGES)) | _YES_AND_NO


@cache
def _linking() -> frozenset[str]:
    return frozenset(word for lang in LANGUAGES for word in tokenize(language(lang).linking))
