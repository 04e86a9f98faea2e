"""HTTP connections with limits: how long a request may take, how large its head is, how many there are.

uvicorn has a limit for idle connections only, and one on their number that counts no request whose head never
ends. h11 takes a head of any length that comes at once, and a request with two lengths.
"""

import asyncio
import contextlib
from typing import Any

import h11
import msgspec
from uvicorn.protocols.http.h11_impl import H11Protocol

from ragstone.kernel.serve.problems import LATE, MEDIA_TYPE, problem

HEAD_S = 10.0
"""Within that time of its first byte, or of the connection's beginning, the head of a request is there."""
QUIET_S = 30.0
"""After so long without a byte of its body a request is given up."""
SLOWEST = 2000
"""Bytes of a body that come in each second, on average, from then on."""
UNREAD_S = 60.0
"""Who does not read what it asked for, for so long, is left."""
HEAD_BYTES = 16_384
MOST_HEADERS = 100
READ_BYTES = 32_768  # at a time, lest many small chunks hold up everybody
FEW_CHUNKS, CHUNK_BYTES = 1000, 32  # beyond so many, the chunks of a body have so many bytes on average
FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 5\r\nConnection: close\r\n"
    b"Content-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n\r\n%s"
)
FULL_BODY = b"There are too many connections: come back in some seconds.\n"


class StrictParser(h11.Connection):
    """h11 that takes no request whose length is told twice (RFC 9112, 6.1), or that costs much to read."""

    def __init__(self) -> None:
        super().__init__(h11.SERVER, HEAD_BYTES)
        self._n_chunks = self._n_bytes = 0

    def next_event(self) -> Any:  # noqa: ANN401 - as h11 has it
        """Return what comes next. Raises RemoteProtocolError."""
        event = super().next_event()
        if isinstance(event, h11.Data):
            self._n_chunks += 1
            self._n_bytes += len(event.data)
            if self._n_chunks > FEW_CHUNKS and self._n_bytes < CHUNK_BYTES * self._n_chunks:
                raise h11.RemoteProtocolError("the chunks are too small")
        elif isinstance(event, h11.Request):
            self._n_chunks = self._n_bytes = 0
            _check_head(event)
        return event


def _check_head(request: h11.Request) -> None:
    names = [name for name, _ in request.headers]
    if b"content-length" in names and b"transfer-encoding" in names:
        raise h11.RemoteProtocolError("both Content-Length and Transfer-Encoding")
    n_bytes = len(request.target) + sum(len(name) + len(value) for name, value in request.headers)
    if n_bytes > HEAD_BYTES or len(names) > MOST_HEADERS:
        raise h11.RemoteProtocolError("the head is too long")


class Connection(H11Protocol):
    """A connection that is closed when what it asks for does not come, or is not fetched, in time."""

    most = 1000
    """So many connections are open at once; see `limited`."""

    def __init__(self, *positional: Any, **named: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*positional, **named)
        self.conn = StrictParser()
        self._due: asyncio.TimerHandle | None = None  # when the connection is looked at again
        self._stuck: asyncio.TimerHandle | None = None
        self._phase: object = None  # a state of h11's
        self._began = self._heard = 0.0
        self._n_heard = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to wait for a request, or turn it away where there are too many."""
        assert isinstance(transport, asyncio.Transport)
        super().connection_made(transport)
        if hasattr(transport, "max_size"):
            transport.max_size = READ_BYTES
        if len(self.connections) > self.most:
            transport.write(FULL % (len(FULL_BODY), FULL_BODY))
            transport.close()
        else:
            self._look()

    def data_received(self, data: bytes) -> None:
        """Take what has come."""
        self._heard = self.loop.time()
        self._n_heard += len(data)
        super().data_received(data)
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait for nothing any more."""
        super().connection_lost(exc)
        for timer in (self._due, self._stuck):
            if timer is not None:
                timer.cancel()

    def _look(self) -> None:
        """Begin to count the time of a head or of a body that has begun; stop where neither is awaited."""
        phase = self.conn.their_state
        if phase is self._phase:
            return
        self._phase = phase
        if self._due is not None:
            self._due.cancel()
            self._due = None
        if self.transport.is_closing() or phase not in (h11.IDLE, h11.SEND_BODY):
            return
        self._began = self._heard = self.loop.time()
        self._n_heard = 0
        self._due = self.loop.call_at(self._late_at(), self._is_late)

    def _late_at(self) -> float:
        if self._phase is h11.IDLE:
            return self._began + HEAD_S
        return min(self._heard + QUIET_S, self._began + QUIET_S + self._n_heard / SLOWEST)

    def _is_late(self) -> None:
        if self.flow.read_paused:  # it is us who do not read
            self._began = self._heard = self.loop.time()
        if self.loop.time() < self._late_at():
            self._due = self.loop.call_at(self._late_at(), self._is_late)
            return
        cycle = self.cycle
        if self._phase is h11.SEND_BODY and not cycle.response_started:
            cycle.disconnected = True
            cycle.message_event.set()
            content = msgspec.json.encode(problem(self.scope["path"], 408, LATE))
            self._say(408, content)
        self.transport.close()

    def _say(self, status: int, content: bytes) -> None:
        headers = [
            (b"content-type", MEDIA_TYPE.encode()),
            (b"content-length", str(len(content)).encode()),
            (b"connection", b"close"),
        ]
        for event in (
            h11.Response(status_code=status, headers=headers),
            h11.Data(data=content),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event) or b"")

    def pause_writing(self) -> None:
        """Note that nobody reads what is sent."""
        super().pause_writing()
        self._stuck = self.loop.call_later(UNREAD_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Note that it is read again."""
        super().resume_writing()
        if self._stuck is not None:
            self._stuck.cancel()
            self._stuck = None


def limited(most: int) -> type[Connection]:
    """Return the class of connections of which there are so many at most, with room for their files."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system has such a limit
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = most + 512
        if hard != resource.RLIM_INFINITY:
            wanted = min(wanted, hard)
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return type("Connection", (Connection,), {"most": most})
