"""A door over a function, for tests that need no server, and the prompt that most tests ask."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Annotated

import msgspec
from tests.support.fake_openai import FakeOpenAI

from ragstone.kernel.config import ModelSettings, Price, Settings
from ragstone.kernel.llm import Budget, Caps, Door, Ledger, Message, Prompt, Reply, open_door
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.stub_reply import stub_reply
from ragstone.kernel.llm.transport import Endpoint
from ragstone.kernel.records import Usage

NONCE = "0123456789"
Said = str | Completion | Exception


class Verdict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A judge's reply: the reason, then a score from 0 to 3."""

    reason: str
    score: Annotated[int, msgspec.Meta(ge=0, le=3)]


def verdict(score: object = 2, nonce: str | None = NONCE, reason: str = "as the texts say") -> str:
    """Return the text of a reply, right by default."""
    return json.dumps(({"nonce": nonce} if nonce else {}) | {"reason": reason, "score": score})


def prompt(
    words: str = "Judge this.",
    *,
    nonce: str | None = NONCE,
    reply: type | None = Verdict,
    max_tokens: int = 100,
) -> Prompt:
    """Return a prompt that asks for a Verdict; other words make another call."""
    return Prompt(messages=(Message("user", words),), reply=reply, nonce=nonce, max_tokens=max_tokens)


class Model:
    """A model that is a function: says these in turn, the last for ever, and notes what it was asked.

    go: cleared, it answers when this is set.
    """

    def __init__(self, *said: Said, latency_s: float = 0.0) -> None:
        self.said = list(said) or [verdict()]
        self.latency_s = latency_s
        self.go = asyncio.Event()
        self.go.set()
        self.asked: list[Prompt] = []
        self.in_flight = self.most_in_flight = 0

    async def send(self, asked: Prompt) -> Completion:
        """Answer as a transport does."""
        self.asked.append(asked)
        now = self.said.pop(0) if len(self.said) > 1 else self.said[0]
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            await asyncio.sleep(self.latency_s)
            await self.go.wait()
        finally:
            self.in_flight -= 1
        if isinstance(now, Exception):
            raise now
        return now if isinstance(now, Completion) else Completion(text=now, usage=Usage(input=10, output=5))

    async def answer_together(self, n: int) -> None:
        """Answer when so many calls wait for it, and at once from then on."""
        self.go.clear()
        try:
            await until(lambda: self.in_flight >= n)
        finally:
            self.go.set()


async def until(condition: Callable[[], object]) -> None:
    """Wait for what sets no event; fail after 10,000 looks."""
    for _ in range(10_000):
        if condition():
            return
        await asyncio.sleep(0.002)
    raise AssertionError("it did not come to pass")


async def stubbed(prompt: Prompt) -> Reply:
    """Answer as a forecast does, with a reply that is made up."""
    return stub_reply(prompt)


@contextlib.asynccontextmanager
async def opened(
    settings: Settings,
    folder: Path,
    model: str = FakeOpenAI.model,
    budget: Budget | None = None,
    *,
    offline: bool = False,
) -> AsyncIterator[Door]:
    """Give the door to a model, with its ledger in the folder: one command."""
    ledger = Ledger(folder / "ledger.sqlite")
    try:
        async with open_door(model, settings, ledger, budget, offline=offline) as door:
            yield door
    finally:
        ledger.close()


@contextlib.contextmanager
def door_to(
    send: Callable[[Prompt], Awaitable[Completion]],
    folder: Path,
    *,
    budget: Budget | None = None,
    caps: Caps | None = None,
    concurrency: int = 8,
    offline: bool = False,
    keep_failures: bool = False,
    price: Price | None = None,
    settings: ModelSettings | None = None,
) -> Iterator[Door]:
    """Give a door to the function, with its ledger in the folder."""
    endpoint = Endpoint(identity="function/model", send=send, concurrency=concurrency, price=price)
    ledger = Ledger(folder / "ledger.sqlite")
    try:
        yield Door(
            endpoint,
            settings or ModelSettings(),
            ledger,
            budget or Budget(caps),
            offline=offline,
            keep_failures=keep_failures,
        )
    finally:
        ledger.close()
