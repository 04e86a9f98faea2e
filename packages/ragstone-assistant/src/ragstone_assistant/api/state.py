"""What the routes share: the assistant, who asks, what is kept, what is counted."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from litestar.di import NamedDependency
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from ragstone.kernel.config.serving import ServeSection
from ragstone.kernel.serve.requests import AnyRequest, RefusedRequest
from ragstone_assistant.api._history import Conversations
from ragstone_assistant.api._jobs import DocumentJobs
from ragstone_assistant.assistant import Assistant
from ragstone_assistant.conversation import Said

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


class Metrics:
    """The counters of one app."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "ragstone_requests", "Requests.", ("route", "method", "status"), registry=self.registry
        )
        self.latency = Histogram(
            "ragstone_request_seconds",
            "From the request to the end of its response.",
            ("route",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.replies = Counter(
            "ragstone_replies", "Replies by kind and language.", ("kind", "lang"), registry=self.registry
        )
        self.reply_seconds = Histogram(
            "ragstone_reply_seconds",
            "Time that the assistant took.",
            ("kind",),
            buckets=SECONDS,
            registry=self.registry,
        )
        self.cancelled = Counter(
            "ragstone_replies_cancelled",
            "Replies that nobody waited for.",
            registry=self.registry,
        )
        self.tokens = Counter(
            "ragstone_tokens",
            "Tokens of models; those in the provider's cache are part of input.",
            ("direction",),
            registry=self.registry,
        )
        self.cost = Counter(
            "ragstone_cost_usd", "US dollars, where prices are known.", registry=self.registry
        )
        self.unpriced = Counter(
            "ragstone_replies_without_cost", "Replies whose price is unknown.", registry=self.registry
        )
        self.tools = Counter(
            "ragstone_tool_calls", "Steps of the agent.", ("tool", "status"), registry=self.registry
        )
        self.feedback = Counter("ragstone_feedback", "Thumbs.", ("thumb",), registry=self.registry)
        self.unlogged = Counter(
            "ragstone_log_failures", "Rows that could not be written to the log.", registry=self.registry
        )
        self.up = Gauge("ragstone_part_up", "1 if a part works, else 0.", ("part",), registry=self.registry)

    def count_reply(self, outcome: Said) -> None:
        """Count a reply, its tokens, its cost and its steps."""
        self.replies.labels(outcome.kind, outcome.lang).inc()
        self.reply_seconds.labels(outcome.kind).observe(outcome.latency_s)
        self.tokens.labels("input").inc(outcome.usage.input)
        self.tokens.labels("output").inc(outcome.usage.output)
        self.tokens.labels("cached").inc(outcome.usage.cached)
        if outcome.cost_usd is not None:
            self.cost.inc(outcome.cost_usd)
        elif outcome.usage.calls:
            self.unpriced.inc()
        for step in outcome.steps:
            # What is no tool was invented by a model: its names must not become series without end.
            tool = "unknown" if step.status == "invalid" else step.action
            self.tools.labels(tool, step.status).inc()

    def text(self) -> bytes:
        """Return all of it in Prometheus's format."""
        return generate_latest(self.registry)


LOOK_S, STUCK_S = 0.05, 60.0


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """now: of exchanges; tick: seconds, for limits and durations."""

    now: Callable[[], datetime] = utc_now
    tick: Callable[[], float] = time.monotonic


class ChatState:
    """One for each app, and only read. k: passages for a question. in_flight: exchanges that are being
    answered; busy: their conversations. feedback: exchange -> what was said of it, in order, so that nobody
    fills the disk with thumbs; it is forgotten at a restart. checking: held by the one upload that is read,
    lest others that wait for it take all memory.
    """

    def __init__(
        self,
        assistant: Assistant,
        serve: ServeSection,
        keys: dict[str, bytes],
        conversations: Conversations,
        *,
        clocks: Clocks,
        k: int,
    ) -> None:
        self.assistant = assistant
        self.serve = serve
        self.keys = keys
        self.conversations = conversations
        self.clocks = clocks
        self.k = k
        self.jobs = DocumentJobs()
        self.metrics = Metrics()
        self.in_flight: set[asyncio.Task[Any]] = set()
        self.busy: set[str] = set()
        self.feedback: dict[str, list[tuple[str | None, str]]] = {}
        self.checking = asyncio.Lock()
        self._looking: asyncio.Task[dict[str, str]] | None = None
        self._looked_at = 0.0
        self._health: dict[str, str] = {}

    async def health(self) -> dict[str, str]:
        """Return the state of each part: "ok", or what is wrong with it.

        A look that takes long, as while the documents are read anew, is not waited for: what the last one
        has found is told then. One that never ends is told after a minute.
        """
        if self._looking is None:
            self._looked_at = self.clocks.tick()
            self._looking = asyncio.ensure_future(self.assistant.health())
            self._looking.add_done_callback(self._looked)
        await asyncio.wait({self._looking}, timeout=LOOK_S if self._health else None)
        parts = self._health | {"conversations": self.conversations.problem or "ok"}
        waited_s = self.clocks.tick() - self._looked_at
        if self._looking is not None and waited_s > STUCK_S:
            parts["knowledge"] = f"it has not answered for {waited_s:.0f} s"
        return parts

    def _looked(self, looking: asyncio.Task[dict[str, str]]) -> None:
        self._looking = None
        if not looking.cancelled():
            self._health = looking.result()

    def check_admin(self, request: AnyRequest) -> None:
        """Check that the key may change documents. Raises RefusedRequest."""
        admins = self.serve.admin_keys
        if self.keys and admins and owner_of(request) not in admins:
            raise RefusedRequest(
                403, "this key may not see or change documents: it is not in admin_keys of [serve]"
            )


WithState = NamedDependency[ChatState]
"""What a route takes to get the app_state."""


def owner_of(request: AnyRequest) -> str | None:
    """Return the name of the key that the request came with; None where there are no keys."""
    owner: str | None = request.scope["state"].get("owner")
    return owner


def end_with(request: AnyRequest, work: asyncio.Task[Any]) -> None:
    """Cancel the work when the request is over: a stream that nobody begins to read ends no work itself."""
    request.scope["state"]["work"] = work


def path_tail(request: AnyRequest, prefix: bytes) -> str:
    """Return what the client wrote behind a prefix of the path, decoded once.

    Ids may hold slashes, also two in a row or at the end, which the router would put together.
    """
    from urllib.parse import unquote

    raw: bytes = request.scope["raw_path"]
    return unquote(raw.partition(b"?")[0].partition(prefix)[2].decode("ascii", "replace"))
