"""What was asked of models for one row, and what they said: kept while the row is worked on."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import Iterator
from contextvars import ContextVar

import msgspec

from ragstone.kernel.llm.prompt import Message


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    """One conversation with a model, which is named as the ledger knows it.

    messages: the prompt, then the reply; where a reply could not be used, the words that said so and the
    second reply follow. A conversation that ends with a message of ours got no reply.
    """

    model: str
    messages: tuple[Message, ...]


class CallTrace:
    """The conversations of one row, in an order that does not depend on which reply came first."""

    def __init__(self) -> None:
        self._n_of_task: Counter[object] = Counter()
        self._heard: list[tuple[int, Exchange]] = []

    def begin(self, exchange: Exchange) -> int:
        """Note a conversation that has only been asked; returns its number."""
        task = asyncio.current_task()
        self._heard.append((self._n_of_task[task], exchange))
        self._n_of_task[task] += 1
        return len(self._heard) - 1

    def go_on(self, number: int, exchange: Exchange) -> None:
        """Put what is known of a conversation now in place of what was."""
        self._heard[number] = (self._heard[number][0], exchange)

    def exchanges(self) -> list[Exchange]:
        """Return the conversations: those that follow each other in order, those of one time by their text.

        A task asks one thing after another, so the place within its task is the same in every run.
        """
        in_order = sorted(self._heard, key=lambda pair: (pair[0], msgspec.json.encode(pair[1])))
        return [exchange for _, exchange in in_order]


_TRACE: ContextVar[CallTrace | None] = ContextVar("call_trace", default=None)


@contextlib.contextmanager
def tracing() -> Iterator[CallTrace]:
    """Within the block, doors note what they are asked in the trace that it gives.

    It stands around the work on one row; the tasks that the work starts share the trace.
    """
    trace = CallTrace()
    token = _TRACE.set(trace)
    try:
        yield trace
    finally:
        _TRACE.reset(token)


class TracedConversation:
    """One conversation as a door has it; notes nothing where nobody listens."""

    def __init__(self, model: str, messages: tuple[Message, ...]) -> None:
        self._model = model
        self._into = _TRACE.get()
        self._number = self._into.begin(Exchange(model=model, messages=messages)) if self._into else 0

    def said(self, messages: tuple[Message, ...], reply: str) -> None:
        """Note the reply to these messages."""
        if self._into:
            heard = Exchange(model=self._model, messages=(*messages, Message("assistant", reply)))
            self._into.go_on(self._number, heard)
