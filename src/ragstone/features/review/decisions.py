"""Decisions of people on the questions of a set: the log that keeps them, and those that stand."""

import hashlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Literal, get_args

import msgspec
from msgspec import UNSET, UnsetType

from ragstone.kernel.dataset.candidate import REJECTIONS, Reason
from ragstone.kernel.errors import DataError, checks_arguments, explaining
from ragstone.kernel.persistence.journal import Journal
from ragstone.kernel.records import Evidence, Question, Row, references

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
            and [quote.span() for quote in self.evidence or ()] != list(self.after.evidence)
        ):
            raise ValueError(
                f"question {self.question_id!r}: new evidence comes with its words, in `evidence`"
            )

    def _expect(self, decision: str, name: str, value: object) -> None:
        if (self.decision == decision) != (value is not None):
            has = "has" if value is not None else "lacks"
            raise ValueError(f"question {self.question_id!r}: decision {self.decision!r} {has} {name!r}")


def values_of(source: Question | Values, names: Sequence[Field]) -> Values:
    """Return these fields of a question, or of other values."""
    return Values(**{name: getattr(source, name) for name in names})


def digest_of(question: Question) -> str:
    """Return 16 digits of the SHA-256 of what a reader sees: question, references, kind, answerable."""
    seen = [question.question, references(question), question.kind, question.answerable]
    return hashlib.sha256(msgspec.json.encode(seen)).hexdigest()[:16]


def rejection_text(decision: Decision) -> str:
    """Return why a question was rejected: `the answer is wrong or incomplete: it was 1876`."""
    reason = REJECTIONS[decision.reason] if decision.reason else ""
    comment = " ".join((decision.comment or "").split())
    if decision.reason == "other":
        return comment
    return f"{reason}: {comment}" if comment else reason


def replaced(question: Question, values: Values) -> Question:
    """Return the question with these values."""
    return msgspec.structs.replace(question, **{name: getattr(values, name) for name in values.given()})


ENDING = ".review.jsonl"


def log_path(questions: Path) -> Path:
    """Return where the log stands: of `questions.jsonl` it is `questions.review.jsonl`."""
    return questions.with_name(questions.stem + ENDING)


@checks_arguments
def read_decisions(path: Path | str) -> list[Decision]:
    """Return the decisions of a log, in order; none where it is missing. Raises DataError."""
    return Journal(Path(path), Decision).read()


def add_decision(
    log: Journal[Decision], check: Callable[[list[Decision]], Decision | None]
) -> Decision | None:
    """Add the decision that `check` returns, see Journal.append_if. Raises DataError where it cannot be."""
    with explaining(
        f"{log.path}: the decision could not be kept",
        "Free some disk space, or make the folder writable, then decide again.",
    ):
        return log.append_if(check)


Outcome = Literal["accepted", "edited", "rejected"]
OUTCOMES: dict[str, Outcome] = {"accept": "accepted", "edit": "edited", "reject": "rejected"}
SHOWN = 10  # mistakes of a log that are told at once

Stack = tuple[Decision, ...]
"""The decisions on one question that stand, the last one last. It is never empty."""


def standing(decisions: Iterable[Decision]) -> dict[str, Stack]:
    """Return the decisions that stand, by question. A decision that is repeated, id and all, counts once.

    Raises DataError for two different decisions with one id, and for an undo of anything but the last that
    stands for its question.
    """
    stacks: dict[str, Stack] = {}
    known: dict[str, Decision] = {}
    problems: list[str] = []
    for decision in decisions:
        if decision.id in known:
            if known[decision.id] != decision:
                problems.append(f"two different decisions have the id {decision.id!r}")
            continue
        known[decision.id] = decision
        try:
            stacks = put(stacks, decision)
        except DataError as mistake:
            problems.append(str(mistake))
    if problems:
        more = [f"and {len(problems) - SHOWN} more"] if len(problems) > SHOWN else []
        raise DataError("the log of the review is broken. " + "; ".join([*problems[:SHOWN], *more]))
    return stacks


def put(stacks: dict[str, Stack], decision: Decision) -> dict[str, Stack]:
    """Return the stacks, changed in place, with one decision more. Raises DataError for a wrong undo."""
    stack = stacks.get(decision.question_id, ())
    if decision.decision != "undo":
        stacks[decision.question_id] = (*stack, decision)
        return stacks
    if not stack or stack[-1].id != decision.undoes:
        raise DataError(
            f"{decision.id!r} would undo {decision.undoes!r}, which is not the last valid decision "
            f"on question {decision.question_id!r}"
        )
    if len(stack) == 1:
        del stacks[decision.question_id]
    else:
        stacks[decision.question_id] = stack[:-1]
    return stacks


def outcome_of(stack: Sequence[Decision]) -> Outcome | None:
    """Return what became of a question: of an accepted one whether edits stand. None without a decision."""
    if not stack:
        return None
    outcome = OUTCOMES[stack[-1].decision]
    if outcome == "accepted" and any(decision.decision == "edit" for decision in stack):
        return "edited"
    return outcome


def changed_fields(stack: Sequence[Decision]) -> list[Field]:
    """Return the fields that the edits of a stack leave other than they were, in the order of FIELDS."""
    before, after = net_change(stack)
    return [name for name in after.given() if getattr(before, name) != getattr(after, name)]


def net_change(stack: Sequence[Decision]) -> tuple[Values, Values]:
    """Return what the edits of a stack change together: of each field the first before, the last after."""
    before: dict[str, object] = {}
    after: dict[str, object] = {}
    for decision in stack:
        if decision.before is not None and decision.after is not None:
            before = {name: getattr(decision.before, name) for name in decision.before.given()} | before
            after |= {name: getattr(decision.after, name) for name in decision.after.given()}
    return Values(**before), Values(**after)  # type: ignore[arg-type]
