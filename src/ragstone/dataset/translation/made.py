"""What is to be done with a row, and what became of it."""

from typing import Generic, TypeVar

import msgspec

from ragstone.dataset.candidate import REASONS, Loss
from ragstone.dataset.translation.translator import Translate
from ragstone.llm import CallFailed
from ragstone.records import Document, Question, Status

RowT = TypeVar("RowT", Document, Question)


class Task(msgspec.Struct, frozen=True, kw_only=True):
    """One row's way: its language, the one wanted, and who translates.

    forth: the translator, named `by` in the row. back: translates back, None where nobody does. lowest: the
    chrF of the text that came back, against the one that was given, below which the row is lost. longest:
    characters of a piece of a document.
    """

    source: str
    target: str
    forth: Translate
    by: str
    back: Translate | None
    lowest: float
    longest: int


class Made(msgspec.Struct, Generic[RowT], frozen=True, kw_only=True):
    """A translated row, and why it is lost, if it is.

    row: where the translator gave nothing, the row as it was given, under its new id. status: of the call
    that decided. chrf: None where nothing was translated back.
    """

    row: RowT
    loss: Loss | None = None
    status: Status = "scored"
    chrf: float | None = None


def failed(failure: CallFailed, reason: str) -> tuple[Loss, Status]:
    """Return the loss of a row whose call failed, and its status."""
    return Loss(reason=reason, detail=f"{failure.status}: {failure}"), failure.status


def with_loss(made: Made[RowT]) -> RowT:
    """Return the row, a lost one with `lost` in its metadata: step, reason and detail."""
    if made.loss is None:
        return made.row
    lost = {"step": REASONS[made.loss.reason][0], "reason": made.loss.reason}
    if made.loss.detail:
        lost["detail"] = made.loss.detail
    return msgspec.structs.replace(made.row, metadata={**(made.row.metadata or {}), "lost": lost})
