"""An item as its annotator sees it: blind. Nothing here tells the system, the judge's score or who else
labels."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from ragstone.agreement.queueing.queue import EVIDENCE, Queue
from ragstone.corpus.sentences import sentence_spans
from ragstone.judging.lexical import words
from ragstone.records import Answer, references

MOST_MARKED = 3  # sentences of all contexts together
LEAST_SHARE = 0.3  # of the answer's words that a marked sentence must hold
LONGEST_SEARCHED = 200_000  # characters of a context; a longer one is shown without marks

Kind = Literal["", "answer", "evidence"]


class Part(msgspec.Struct, frozen=True):
    """A stretch of a context. kind: `answer`, it holds much of what the answer says; `evidence`, the set's
    own."""

    text: str
    kind: Kind = ""


Highlighted = list[Part]


class Given(msgspec.Struct, frozen=True):
    """What this annotator gave, or noted when passing it over."""

    score: float | None = None
    comment: str | None = None
    skipped: bool = False


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """An item on the screen. place: in the queue, from 0. error: what the system said in place of an
    answer."""

    place: int
    question: str | None
    answer: str
    error: bool
    references: list[str]
    contexts: list[Highlighted]
    given: Given | None


def shown(queue: Queue, place: int, text: Answer, contexts: list[Highlighted], given: Given | None) -> Shown:
    """Return an item for the screen of one annotator."""
    return Shown(
        place=place,
        question=text.question,
        answer=text.answer,
        error=text.error is not None,
        references=[] if queue.reference == "hidden" else references(text),
        contexts=contexts,
        given=given,
    )


def highlighted(text: Answer) -> list[Highlighted]:
    """Return the contexts of an answer in parts, with the sentences marked that support it.

    `evidence`: they stand in a passage that the evaluation set names. `answer`: of all sentences the three
    that share most words with the answer, those of the question left out, and a third of them at least.
    """
    contexts = [context.text for context in text.contexts or []]
    spans = [sentence_spans(one) if len(one) <= LONGEST_SEARCHED else [] for one in contexts]
    sentences = [(at, start, end) for at, found in enumerate(spans) for start, end in found]
    marks: dict[tuple[int, int, int], Kind] = {}
    for at, start, end in _supporting(text, contexts, sentences):
        marks[at, start, end] = "answer"
    passages = [one for one in (text.metadata or {}).get(EVIDENCE, []) if isinstance(one, str)]
    for at, start, end in sentences:
        sentence = contexts[at][start:end]
        if any(sentence in passage or passage in sentence for passage in passages if passage.strip()):
            marks[at, start, end] = "evidence"
    return [
        _parts(
            one, [(start, end, kind) for (place, start, end), kind in sorted(marks.items()) if place == at]
        )
        for at, one in enumerate(contexts)
    ]


def _supporting(
    text: Answer, contexts: Sequence[str], sentences: Sequence[tuple[int, int, int]]
) -> list[tuple[int, int, int]]:
    asked = set(words(text.question or ""))
    wanted = set(words(text.answer)) - asked or set(words(text.answer))
    if not wanted:
        return []
    shares = {
        (at, start, end): len(wanted & set(words(contexts[at][start:end]))) / len(wanted)
        for at, start, end in sentences
    }
    best = sorted(shares, key=lambda one: -shares[one])[:MOST_MARKED]
    return [one for one in best if shares[one] >= LEAST_SHARE]


def _parts(text: str, marks: Sequence[tuple[int, int, Kind]]) -> Highlighted:
    parts, at = [], 0
    for start, end, kind in marks:
        parts += [Part(text[at:start]), Part(text[start:end], kind)]
        at = end
    return [part for part in [*parts, Part(text[at:])] if part.text]
