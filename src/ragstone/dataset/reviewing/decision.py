"""One decision of a person on a question of an evaluation set: a row of the log of a review."""

from collections.abc import Sequence
from typing import Literal, get_args

import msgspec
from msgspec import UNSET, UnsetType

from ragstone.dataset.certifying.digests import short_digest
from ragstone.records import Evidence, Question, Row, references

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

Field = Literal["question", "reference", "kind", "answerable", "tags", "evidence"]
FIELDS: tuple[Field, ...] = get_args(Field)
"""What an edit may change."""
OF_THE_TEXT: tuple[Field, ...] = ("question", "reference", "kind", "answerable", "evidence")
"""Of these, what makes it another question: whoever changes one says that it was not right as it was."""


class Quoted(Row, frozen=True, kw_only=True):
    """Evidence and the words that stood there: `document.text[start:end] == text`, offsets in code points."""

    document_id: str
    start: int
    end: int
    text: str

    def __post_init__(self) -> None:
        if self.start < 0 or self.end - self.start != len(self.text) or not self.text:
            raise ValueError(
                f"evidence in {self.document_id!r}: {len(self.text)} characters for [{self.start}:{self.end}]"
            )

    def span(self) -> Evidence:
        """Return the evidence without its words."""
        return Evidence(document_id=self.document_id, start=self.start, end=self.end)


class Values(Row, frozen=True, kw_only=True):
    """The fields that an edit changes, before or after it; those that it leaves alone are unset."""

    question: str | UnsetType = UNSET
    reference: str | list[str] | UnsetType | None = UNSET
    kind: Literal["open", "true_false", "multi"] | UnsetType = UNSET
    answerable: bool | UnsetType | None = UNSET
    tags: dict[str, str] | UnsetType | None = UNSET
    evidence: list[Evidence] | UnsetType | None = UNSET

    def given(self) -> list[Field]:
        """Return the names of the fields that are set, in the order of FIELDS."""
        return [name for name in FIELDS if getattr(self, name) is not UNSET]


class Decision(Row, frozen=True, kw_only=True):
    """What a person decided about a question.

    id: made by who sends it, so that one that is sent twice counts once. reason: of a rejection, with
    `comment` where it is `other`. before, after: of an edit, which also accepts. seen: what the question
    said when it was decided, see `digest_of`. evidence: its evidence, after the decision, with the words that
    were shown; absent where there was none, or no document to show it in. undoes: the id of the decision that
    an undo takes back, the last one that stands for that question.
    """

    id: str
    question_id: str
    decision: Literal["accept", "reject", "edit", "undo"]
    person: str
    reason: Reason | None = None
    comment: str | None = None
    before: Values | None = None
    after: Values | None = None
    seen: str | None = None
    evidence: list[Quoted] | None = None
    undoes: str | None = None

    def __post_init__(self) -> None:
        if not self.id or not self.person.strip():
            raise ValueError(f"question {self.question_id!r}: a decision needs an id and a person")
        self._expect("reject", "reason", self.reason)
        self._expect("edit", "before", self.before)
        self._expect("edit", "after", self.after)
        self._expect("undo", "undoes", self.undoes)
        if self.reason == "other" and not (self.comment or "").strip():
            raise ValueError(f"question {self.question_id!r}: say in the comment why it is rejected")
        if self.before and self.after and not self.after.given() == self.before.given() != []:
            raise ValueError(
                f"question {self.question_id!r}: an edit names the fields that it changes, twice"
            )
        if (
            self.after
            and self.after.evidence
            and [one.span() for one in self.evidence or ()] != list(self.after.evidence)
        ):
            raise ValueError(
                f"question {self.question_id!r}: new evidence comes with its words, in `evidence`"
            )

    def _expect(self, decision: str, name: str, value: object) -> None:
        if (self.decision == decision) != (value is not None):
            has = "has" if value is not None else "lacks"
            raise ValueError(f"question {self.question_id!r}: decision {self.decision!r} {has} {name!r}")


def values_of(question: Question, names: Sequence[Field]) -> Values:
    """Return these fields of a question."""
    return Values(**{name: getattr(question, name) for name in names})


def digest_of(question: Question) -> str:
    """Return a digest of what a reader sees: question, alternatives of the reference, kind, answerable."""
    return short_digest([question.question, references(question), question.kind, question.answerable])


def words_of(decision: Decision) -> str:
    """Return why a question was rejected: `the answer is wrong or incomplete: it was 1876`."""
    words = REJECTIONS[decision.reason] if decision.reason else ""
    comment = " ".join((decision.comment or "").split())
    if decision.reason == "other":
        return comment
    return f"{words}: {comment}" if comment else words


def picked(values: Values, names: Sequence[Field]) -> Values:
    """Return these fields of values."""
    return Values(**{name: getattr(values, name) for name in names})


def replaced(question: Question, values: Values) -> Question:
    """Return the question with these values."""
    return msgspec.structs.replace(question, **{name: getattr(values, name) for name in values.given()})
