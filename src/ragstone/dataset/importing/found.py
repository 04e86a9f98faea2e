"""What readers of foreign evaluation sets yield, and what they are told."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal

import msgspec

from ragstone.records import Document, Question


class ImportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How sources are read.

    columns: field -> column (see `check_columns` in mapping.py), of tables and topics. split: of a BEIR
    folder; None: `test`, else the only one. limit: the first so many questions; documents are all read.
    """

    columns: Mapping[str, str] = {}
    split: str | None = None
    limit: int | None = None


class Source(msgspec.Struct, frozen=True):
    """A file or folder, and the name that ids which it does not give begin with."""

    path: Path
    name: str


class Grades(msgspec.Struct, frozen=True):
    """What qrels say of a question: document id -> grade; above 0 is relevant."""

    question_id: str
    grades: dict[str, int]


class Remark(msgspec.Struct, frozen=True):
    """What became of a row that was not simply imported.

    kind: `skipped`, it gave nothing; `changed`, it is not as it stands in the file; `left_out`, on purpose
    and as documented. place: file and line, or what else finds it. reason: the same words for the same
    reason, so that rows are counted by it; begins with a small letter.
    """

    kind: Literal["skipped", "changed", "left_out"]
    place: str
    reason: str


Found = Question | Document | Grades | Remark
Reader = Callable[[Source, ImportOptions], Iterator[Found]]


class LeftOut(ValueError):
    """A row is not imported, on purpose; the message is the reason."""


def skipped(place: str, reason: str) -> Remark:
    """Return the remark on a row that gave nothing."""
    return Remark("skipped", place, reason)


def left_out(place: str, reason: str) -> Remark:
    """Return the remark on a row that is not wanted."""
    return Remark("left_out", place, reason)


def changed(place: str, reason: str) -> Remark:
    """Return the remark on a row that is not imported as it stands."""
    return Remark("changed", place, reason)
