"""What the assistant is asked, what it says, and what it does in between: plain values."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

import msgspec

from ragstone.kernel.records import Turn, Usage

Kind = Literal["answer", "question", "refusal", "declined", "greeting", "unavailable"]
"""What a reply is: an answer with its sources; a question back; nothing found in the documents; out of scope
or against the rules; a greeting or thanks; a tool, the documents or the model that cannot be reached."""


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """A conversation whose last turn is the user's.

    filters: tags that the passages must have, e.g. {"region": "Kisumu"}. lang: the language that the user has
    chosen; None: that of the question decides.
    """

    turns: tuple[Turn, ...]
    filters: dict[str, str] = {}
    lang: str | None = None

    @property
    def question(self) -> str:
        """The text of the last turn."""
        return self.turns[-1].content


class Passage(msgspec.Struct, frozen=True, kw_only=True):
    """A chunk that was found. page: from 1, where the document has pages. score: higher is nearer."""

    chunk_id: str
    document_id: str
    text: str
    title: str
    page: int | None = None
    source: str | None = None
    lang: str | None = None
    tags: dict[str, str] = {}
    score: float = 0.0


class Citation(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that an answer cites, by the number that stands in its text: `[1]`."""

    number: int
    passage: Passage


class LoopStep(msgspec.Struct, frozen=True, kw_only=True):
    """One turn of the agent's loop. observation: what the agent was told of the call."""

    thought: str
    action: str
    arguments: dict[str, object]
    observation: str
    status: Literal["done", "failed", "invalid"]
    latency_s: float = 0.0


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """The assistant's reply. lang: that it is written in. passages: all that were found; citations: those
    that it cites. links: of videos, with their titles. tags: of the question, for the log; `model_failed` is
    the status of a model in whose place documents are quoted. error: why a reply is `unavailable`. model:
    that was asked, as the ledger knows it; prompt_version: of its answering prompt.
    """

    text: str
    kind: Kind
    lang: str
    citations: tuple[Citation, ...] = ()
    passages: tuple[Passage, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    steps: tuple[LoopStep, ...] = ()
    tags: dict[str, str] = {}
    usage: Usage = msgspec.field(default_factory=lambda: Usage(calls=0))
    cost_usd: float | None = None
    latency_s: float = 0.0
    model: str = ""
    prompt_version: str = ""
    error: str | None = None


class Doing(msgspec.Struct, frozen=True):
    """A tool is about to be called. words: what is shown while the user waits, in the user's language."""

    action: str
    words: str = ""


class TextPiece(msgspec.Struct, frozen=True):
    """The next piece of the reply's text."""

    piece: str


Emit = Callable[[Doing | TextPiece], None]
"""Hears of a reply while it is made: the pieces of its text are, put together, `Said.text`."""


Respond = Callable[[Asked, Emit], Awaitable[Said]]
"""A conversation -> the next reply. Raises nothing but CancelledError: whatever fails, the reply says so."""

AnswerFrom = Callable[[str, Mapping[str, str], str | None, Emit], Awaitable[Said]]
"""(question, filters, lang, emit) -> the answer from the documents, without the agent. lang: see Asked."""


def silent(_event: Doing | TextPiece) -> None:
    """Hear nothing."""
