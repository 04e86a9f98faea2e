"""A row and a function -> a finding: what it is given, a call that ends in time, what it returns."""

import asyncio
import contextlib
import copy
import math
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from numbers import Real
from typing import Any

import msgspec

from ragstone.kernel.config.python_function import call, ended, raised
from ragstone.kernel.embedding.model import Role, Vectors
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.judging.finding import Finding, JudgeContext, add_costs, lacks, not_applicable
from ragstone.kernel.judging.function.loading import LoadedFunction
from ragstone.kernel.judging.inputs import part_of
from ragstone.kernel.llm import CallFailed, Message, Prompt, Reply
from ragstone.kernel.records import STATUSES, Answer, Context

SLACK = 1e-9  # of the scale: means of floats end a hair above 1


class FunctionRules(msgspec.Struct, frozen=True):
    """What a judge asks of its function: scores on the scale, or labels, in so many seconds."""

    scale: tuple[float, float]
    labels: Mapping[str, float]
    timeout_s: float


async def finding_of_call(
    loaded: LoadedFunction, rules: FunctionRules, answer: Answer, context: JudgeContext
) -> Finding:
    """Return what the function finds of a row.

    A row that lacks a part which the function takes without a default is not applicable. Raises CallFailed
    where the function raises or hangs, changes the row, or returns what is no score on the scale; what the
    calls that it makes raise of ours goes through.
    """
    parts = {name: part_of(answer, name) for name in loaded.required}
    missing = next((name for name, value in parts.items() if value is None), None)
    if missing is not None:
        return not_applicable(lacks(missing))
    parts |= {name: part for name in loaded.optional if (part := part_of(answer, name)) is not None}
    copies = {name: _own(part) for name, part in parts.items()}
    replies: list[Reply] = []
    async with _turn(loaded):
        clock = _Clock()
        tools = _tools(loaded, context, clock, replies)
        running = asyncio.ensure_future(call(loaded.function, **copies, **tools))
        returned, mistake = await _within(rules.timeout_s, running, clock, loaded)
    spent = add_costs(replies) if replies else None
    if mistake is not None:
        raise _of_ours(mistake) or CallFailed(
            "error",
            f"{loaded.name} raised {raised(mistake, loaded.file)}",
            usage=spent.usage if spent else None,
        )
    changed = next((name for name, part in parts.items() if copies[name] != part), None)
    if changed is not None:
        raise CallFailed("error", f"{loaded.place} changed {changed!r} of the row. Let it work on a copy.")
    finding = _finding(returned, rules, loaded)
    if spent is None:
        return finding
    return msgspec.structs.replace(finding, usage=spent.usage, cost_usd=spent.cost_usd)


def _own(part: object) -> object:
    """Return a copy of a part that could be changed: the row is that of other judges too."""
    if isinstance(part, Answer):
        copies = {name: copy.copy(getattr(part, name)) for name in ("reference", "contexts", "tags")}
        return msgspec.structs.replace(part, **copies, metadata=copy.deepcopy(part.metadata))
    return part if isinstance(part, str | float | int) else copy.deepcopy(part)


# Per event loop, for a semaphore belongs to one.
_turns: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str, int], asyncio.Semaphore]] = (
    weakref.WeakKeyDictionary()
)


@contextlib.asynccontextmanager
async def _turn(loaded: LoadedFunction) -> AsyncIterator[None]:
    """Wait until the function may be called: in threads for `at_once` rows at one time."""
    if loaded.is_async:
        yield
        return
    turns = _turns.setdefault(asyncio.get_running_loop(), {})
    at_once = loaded.declared.at_once
    async with turns.setdefault((loaded.digest, at_once), asyncio.Semaphore(at_once)):
        yield


class _Clock:
    """The seconds that a call has had to itself: while it waits for a model the clock stands."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._stood = 0.0
        self._waiting = 0
        self._since = 0.0

    @contextlib.contextmanager
    def stopped(self) -> Iterator[None]:
        """Within the block the clock stands."""
        if not self._waiting:
            self._since = time.monotonic()
        self._waiting += 1
        try:
            yield
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._stood += time.monotonic() - self._since

    def seconds(self) -> float:
        """Return what the clock shows."""
        return (self._since if self._waiting else time.monotonic()) - self._began - self._stood


async def _within(
    limit_s: float, running: asyncio.Future[object], clock: _Clock, loaded: LoadedFunction
) -> tuple[object, BaseException | None]:
    """Return what a call returns and what it raises. Raises CallFailed where it does neither in time."""
    try:
        while (left_s := limit_s - clock.seconds()) > 0:
            await asyncio.wait({running}, timeout=left_s)
            if running.done():
                return ended(running)
    finally:
        if not running.done():
            running.cancel()
    raise CallFailed("timeout", f"{loaded.place} did not return within {limit_s:g} s")


def _of_ours(mistake: BaseException | None) -> RagstoneError | None:
    """Return the error of ours that an exception is, or that it follows from: of a model that was asked."""
    while mistake is not None:
        if isinstance(mistake, RagstoneError):
            return mistake
        mistake = mistake.__cause__ or mistake.__context__
    return None


def _tools(
    loaded: LoadedFunction, context: JudgeContext, clock: _Clock, replies: list[Reply]
) -> dict[str, Callable[..., object]]:
    """Return the tools that the function takes, which wait where it is no coroutine function."""

    async def ask(
        prompt: str, *, reply: type | None = None, max_tokens: int = 1024, temperature: float | None = None
    ) -> Any:  # noqa: ANN401 - text, or a value of the type that was asked for
        request = Prompt(
            messages=(Message("user", prompt),), reply=reply, max_tokens=max_tokens, temperature=temperature
        )
        got = await context.ask(request)
        replies.append(got)
        return got.text if reply is None else got.value

    async def embedder(texts: list[str], role: Role = "passage") -> list[Vectors]:
        assert context.embed is not None
        return await context.embed(texts, role)

    async def retriever(query: str, k: int | None = None) -> list[Context]:
        assert context.retrieve is not None
        return await context.retrieve(query, k)

    every: dict[str, Callable[..., Awaitable[object]]] = {
        "ask": ask,
        "embedder": embedder,
        "retriever": retriever,
    }
    loop = asyncio.get_running_loop()

    def waited_for(tool: Callable[..., Awaitable[object]]) -> Callable[..., object]:
        async def timed(*args: object, **named: object) -> object:
            with clock.stopped():
                return await tool(*args, **named)

        if loaded.is_async:
            return timed
        return lambda *args, **named: asyncio.run_coroutine_threadsafe(timed(*args, **named), loop).result()

    return {name: waited_for(every[name]) for name in loaded.tools}


def _finding(returned: object, rules: FunctionRules, loaded: LoadedFunction) -> Finding:
    """Return what a function returned as a finding. Raises CallFailed for what is none."""
    if getattr(returned, "ndim", None) == 0 and hasattr(returned, "item"):
        returned = returned.item()  # a number of NumPy or torch
    low, high = rules.scale
    finding: Finding
    if isinstance(returned, Finding):
        finding = returned
    elif isinstance(returned, bool):
        finding = Finding(score=high if returned else low)
    elif isinstance(returned, Real):
        finding = Finding(score=float(returned))
    elif isinstance(returned, str):
        finding = Finding(score=None, label=returned)
    else:
        described = "nothing" if returned is None else f"{type(returned).__name__} ({str(returned)[:60]!r})"
        raise _unusable(
            loaded, f"returned {described}: return a number, True or False, a label, or a ragstone.Finding"
        )
    if finding.status == "scored" and finding.score is None and finding.label is not None:
        finding = msgspec.structs.replace(finding, score=_score_of(finding.label, rules, loaded))
    if finding.status not in STATUSES or (finding.status == "scored") != (finding.score is not None):
        raise _unusable(
            loaded, f"returned a Finding of status {finding.status!r} with score {finding.score!r}"
        )
    if finding.parts:
        raise _unusable(loaded, "returned a Finding with parts, which are for rubrics")
    if finding.score is None:
        return finding
    return msgspec.structs.replace(finding, score=_on_scale(finding.score, rules, loaded))


def _score_of(label: str, rules: FunctionRules, loaded: LoadedFunction) -> float:
    if label in rules.labels:
        return rules.labels[label]
    known = f"its labels are {', '.join(rules.labels)}" if rules.labels else "it declares no labels"
    raise _unusable(
        loaded,
        f"returned the label {label[:60]!r}, and {known}: declare its score, "
        "@ragstone.judge_function(labels={...})",
    )


def _on_scale(score: float, rules: FunctionRules, loaded: LoadedFunction) -> float:
    """Return a score that is on the scale. Raises CallFailed for any other: none is moved to it."""
    low, high = rules.scale
    slack = SLACK * (high - low)
    if not math.isfinite(score):
        raise _unusable(loaded, f"returned {score}, which is not a number")
    if not low - slack <= score <= high + slack:
        raise _unusable(
            loaded,
            f"returned {score:g}, which is not on its scale of {low:g} to {high:g}: declare the right one, "
            "@ragstone.judge_function(scale=(lowest, highest))",
        )
    return min(max(float(score), low), high)


def _unusable(loaded: LoadedFunction, problem: str) -> CallFailed:
    return CallFailed("unparsable", f"{loaded.place} {problem}.")
