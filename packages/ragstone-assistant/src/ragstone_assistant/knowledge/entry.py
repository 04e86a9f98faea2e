"""What the knowledge base tells of itself: its documents, what a build has done, what went wrong."""

from collections.abc import Callable
from typing import Literal

import msgspec

from ragstone.kernel.corpus.file import Skipped
from ragstone.kernel.errors import DataError, RagstoneError
from ragstone_assistant.conversation import Passage

Stage = Literal["files", "passages"]

Advance = Callable[[Stage, int, int], None]
"""Hears how far a build is, in the build's thread: stage, done, of how many. `files`: those that are looked
at; `passages`: the texts of the file at hand that are embedded. Each begins with 0 done."""

Wrong = Literal["name", "too_large", "unsupported", "unreadable"]


class KnowledgeDown(RagstoneError):
    """The knowledge base cannot be searched at this moment; the message is fit for whoever asked.

    Its cause, in `__cause__`, is for the operator.
    """


class BadUpload(DataError):
    """A file that cannot be added. wrong: its name, its size, its kind, or what is in it."""

    def __init__(self, wrong: Wrong, message: str) -> None:
        super().__init__(message)
        self.wrong = wrong


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A document of the knowledge base.

    file: that it was read from. tags: each with its values. n_pages: where it has pages. upload: whether it
    came over HTTP.
    """

    id: str
    title: str
    file: str
    source: str | None
    lang: str | None
    tags: dict[str, list[str]]
    topic: str | None
    n_pages: int | None
    n_passages: int
    n_characters: int
    upload: bool


class PlacedPassage(msgspec.Struct, frozen=True, kw_only=True):
    """A passage and the text of its document before and after it."""

    passage: Passage
    before: str
    after: str


class BuildResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a build has done, and what there is now.

    new, changed, removed: files. n_unchanged: files that were left alone. skipped: files that gave nothing,
    and why; of one that was read before, its passages stay. left_out: documents that `remove` has taken out,
    which their files still hold. n_embedded: texts that this build handed to the embedder. tags: key -> value
    -> documents. topics: name -> documents.
    """

    new: list[str]
    changed: list[str]
    removed: list[str]
    n_unchanged: int
    skipped: list[Skipped]
    left_out: list[str]
    n_documents: int
    n_passages: int
    n_embedded: int
    tags: dict[str, dict[str, int]]
    untagged: dict[str, int]
    topics: dict[str, int]
    languages: dict[str, int]
