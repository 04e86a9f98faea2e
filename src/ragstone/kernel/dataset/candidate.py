"""A question in the making: what it was written from, why it was lost; and all that a build leaves."""

from typing import Literal

import msgspec

from ragstone.kernel.records import Evidence, Question

Step = Literal["write", "check", "criticise", "closed_book", "count", "translate", "review"]

# Why a candidate is lost: the step that found it, and the words that a reader is shown.
REASONS: dict[str, tuple[Step, str]] = {
    "call_failed": ("write", "the model gave no usable reply"),
    "fewer": ("write", "the model wrote fewer than it was asked for"),
    "no_evidence": ("write", "the quoted evidence is not in the document"),
    "wrong_language": ("write", "not in the language of the document, twice"),
    "unchanged": (
        "write",
        "the statement that should be false is not, or is more than minimally changed",
    ),
    "empty": ("check", "the question or the answer is empty"),
    "too_long": ("check", "the question or the answer is too long"),
    "no_question": ("check", "it asks nothing"),
    "no_statement": ("check", "it is not one sentence that states something"),
    "mentions_context": ("check", "it mentions the passage, which whoever asks does not see"),
    "answer_in_question": ("check", "the question gives its own answer away"),
    "evidence_too_short": ("check", "the evidence is too short to support an answer"),
    "duplicate": ("check", "the same question as another"),
    "near_duplicate": ("check", "nearly the same question as another"),
    "low_score": ("criticise", "a critic gave it less than the threshold"),
    "not_criticised": ("criticise", "a critic gave no usable score"),
    "names_link": ("check", "it names what links its documents, so that the last one alone may do"),
    "single_hop": ("criticise", "it is answered without one of its documents"),
    "answerable": ("criticise", "the documents answer a question that they should not answer"),
    "known_by_heart": ("closed_book", "the model answers it without any document"),
    "beyond_count": ("count", "good, but more than were asked for"),
    "not_translated": ("translate", "the translator gave no usable reply"),
    "empty_translation": ("translate", "the translation is empty"),
    "untranslated": ("translate", "the translation is the same as the text"),
    "other_language": ("translate", "the translation is not in the requested language"),
    "partly_translated": ("translate", "words of the text were left as they are, in its own script"),
    "odd_length": ("translate", "the translation is far shorter or longer than the text"),
    "number_lost": ("translate", "the translation lacks a number of the text"),
    "part_lost": ("translate", "the translation lacks code, an address or a placeholder of the text"),
    "not_translated_back": ("translate", "the translator gave no usable reply when translating back"),
    "far_from_source": ("translate", "translated back, it is too far from the text"),
    "rejected": ("review", "a person rejected it"),
    "undecided": ("review", "nobody has decided on it"),
}


class SourcePassage(msgspec.Struct, frozen=True, kw_only=True):
    """What the model is shown at once: `text == document.text[start:end]`, offsets in code points."""

    document_id: str
    start: int
    end: int
    text: str
    title: str | None = None
    lang: str | None = None
    topic: str | None = None
    document_length: int = 0

    def evidence(self, start: int, end: int) -> Evidence:
        """Return a span of its text as one of the document."""
        return Evidence(document_id=self.document_id, start=self.start + start, end=self.start + end)


class Loss(msgspec.Struct, frozen=True, kw_only=True):
    """Why a candidate was lost: a key of REASONS, and what exactly was found."""

    reason: str
    detail: str | None = None

    def __post_init__(self) -> None:
        if self.reason not in REASONS:
            raise ValueError(f"unknown reason {self.reason!r}: add it to REASONS")

    def note(self) -> dict[str, str]:
        """Return it as a row says it, in the metadata `lost`: step, reason and detail."""
        note = {"step": REASONS[self.reason][0], "reason": self.reason}
        return note if self.detail is None else {**note, "detail": self.detail}


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A question, the passages that it was written from (two or three of a multi-hop one), its loss if any.

    `question.metadata["rationales"]` holds the critics' reasons, `question.scores` their scores.
    """

    question: Question
    passages: tuple[SourcePassage, ...]
    loss: Loss | None = None


def tempting_evidence(question: Question) -> list[Evidence]:
    """Return the span that may be taken for the answer of a question that no document answers, if known."""
    span = (question.metadata or {}).get("tempting")
    return [msgspec.convert(span, Evidence)] if isinstance(span, dict) else []


Reason = Literal[
    "wrong_answer",
    "not_in_document",
    "ambiguous",
    "not_alone",
    "not_useful",
    "duplicate",
    "language",
    "personal_data",
    "other",
]


REJECTIONS: dict[Reason, str] = {
    "wrong_answer": "the answer is wrong or incomplete",
    "not_in_document": "the document does not say it",
    "ambiguous": "it has more than one answer",
    "not_alone": "it cannot be understood without the passage",
    "not_useful": "nobody would ask it",
    "duplicate": "another question asks the same",
    "language": "the language is wrong or broken",
    "personal_data": "it holds personal data",
    "other": "something else",
}
"""Why a person rejects a question, and the words that are shown for it."""
