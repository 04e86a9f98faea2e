"""A question and retrieved passages -> the sentences that answer it best, found without a model."""

from collections.abc import Sequence

import msgspec

from ragstone.kernel.retrieval._candidates import candidates_of, terms_of
from ragstone.kernel.retrieval._fitted import probabilities, reader_weights
from ragstone.kernel.retrieval._signals import signals_of


class AnswerSentence(msgspec.Struct, frozen=True, kw_only=True):
    """What may be quoted. passage: its position; `text == passages[passage][start:end]`.

    score: how probable it is that it answers, in [0, 1], see best_sentences.
    """

    passage: int
    start: int
    end: int
    text: str
    score: float


def best_sentences(
    question: str,
    passages: Sequence[str],
    *,
    titles: Sequence[str | None] = (),
    most: int = 2,
    threshold: float | None = None,
) -> list[AnswerSentence]:
    """Return the sentences that answer a question best, best first; none where no sentence does.

    passages: retrieved texts, best first, in the language of the question; titles: of their documents, one a
    passage, None for one without. A list belongs to the line before it that ends in a colon, and a sentence
    that begins with "It" or "However" is quoted with the one before. Headings, questions, and sentences that
    say nothing that the question does not are no answer.

    The score is the probability that a sentence answers, where as many questions have an answer as have none:
    boosted trees over the signals of _signals.py (Friedman 2001), fitted on half of the articles of agxqa,
    squad2, clapnq and xquad, and put on the scale of a probability by Platt's method (1999).
    benchmarks/extractive.py fits them and measures on the other half. Where the best sentence has less than
    the threshold, nothing answers; a threshold of 0 always answers, if any sentence can; None: that of the
    fit, by which 95 of 100 questions about something else were declined. most: how many sentences at most.
    """
    threshold = reader_weights().threshold if threshold is None else threshold
    asked = set(terms_of(question))
    candidates = [one for one in candidates_of(passages, titles) if set(one.terms) - asked]
    if not candidates or not asked:
        return []
    named = [terms_of(titles[n] or "") if n < len(titles) else [] for n in range(len(passages))]
    held = [{*terms_of(passage), *name} for passage, name in zip(passages, named, strict=True)]
    scores = probabilities(signals_of(question, candidates, held))
    best: list[AnswerSentence] = []
    for number in scores.argsort(kind="stable")[::-1]:
        one, score = candidates[number], float(scores[number])
        start, end = one.span
        if score < threshold or len(best) == most:
            break
        if not any(
            other.passage == one.passage and start < other.end and other.start < end for other in best
        ):
            best.append(
                AnswerSentence(
                    passage=one.passage,
                    start=start,
                    end=end,
                    text=passages[one.passage][start:end],
                    score=score,
                )
            )
    return best
