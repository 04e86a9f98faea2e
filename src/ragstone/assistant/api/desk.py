"""What the routes share: the assistant, who asks, what is kept, what is counted."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from litestar import Request
from litestar.di import NamedDependency

from ragstone.assistant.api.history import Conversations
from ragstone.assistant.api.jobs import Jobs
from ragstone.assistant.api.keys import Keys
from ragstone.assistant.api.metrics import Metrics
from ragstone.assistant.api.problems import Refused
from ragstone.assistant.assistant import Assistant
from ragstone.config.serve import ServeSection

AnyRequest = Request[Any, Any, Any]
LOOK_S, STUCK_S = 0.05, 60.0
NEEDS_KEY = "a key is needed: send the header Authorization: Bearer KEY"


def utc_now() -> datetime:
    """Return the time, in UTC."""
    return datetime.now(UTC)


@dataclass(frozen=True, kw_only=True)
class Clocks:
    """now: of exchanges; tick: seconds, for limits and durations."""

    now: Callable[[], datetime] = utc_now
    tick: Callable[[], float] = time.monotonic


class Desk:
    """One for each app, and only read. k: passages for a question. in_flight: exchanges that are being
    answered; busy: their conversations. checking: held by the one upload that is read, lest others that
    wait for it take all memory.
    """

    def __init__(
        self,
        assistant: Assistant,
        serve: ServeSection,
        keys: Keys,
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
        self.jobs = Jobs()
        self.metrics = Metrics()
        self.in_flight: set[asyncio.Task[Any]] = set()
        self.busy: set[str] = set()
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
        """Check that the key may change documents. Raises Refused."""
        admins = self.serve.admin_keys
        if self.keys and admins and owner_of(request) not in admins:
            raise Refused(403, "this key may not see or change documents: admin_keys of [serve] lacks it")


AtDesk = NamedDependency[Desk]
"""What a route takes to get the desk."""


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
