"""A reply of the OpenAI protocol that comes in pieces (server-sent events) -> a completion."""

import asyncio
import contextlib
import time
from typing import Protocol

import aiohttp
import msgspec

from ragstone.llm.openai_reply import (
    Parts,
    TokenCounts,
    ended_by,
    raise_error,
    read_parts,
    read_reply,
    usage_of,
)
from ragstone.llm.prompt import CONTENT_FILTER, CallFailed, Completion, OnText
from ragstone.llm.reasoning import with_reasoning
from ragstone.llm.site import CONNECT_S, Site, check_size, failures_of, raise_for, read_body

MOST_BLANKS = 65_536  # before the first event
MOST_BYTES = 1_000_000  # of one event: a piece of text is some hundred
DRAIN_S = 0.1  # for the end of the response after its last event, so that the connection can be used again
EVENT_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")


class _Delta(msgspec.Struct):
    content: Parts = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None


class _Choice(msgspec.Struct):
    delta: _Delta | None = None
    finish_reason: str | None = None


class _Chunk(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: TokenCounts | None = None
    error: msgspec.Raw = msgspec.Raw(b"null")
    object: str | None = None


DECODER = msgspec.json.Decoder(_Chunk)


class Streamed(Protocol):
    """A reply while it comes in. over: the endpoint has said that nothing follows."""

    over: bool

    def take(self, part: bytes) -> bool:
        """Take some bytes of the body; return whether an event came to its end. Raises its error."""
        ...

    def completion(self) -> Completion:
        """Return what came, without its latency. Raises CallFailed where the end is missing."""
        ...


async def post_stream(site: Site, path: str, body: bytes, reply: Streamed, silence_s: float) -> Completion:
    """Return the completion, which `reply` has passed on piece by piece, or whole if it came whole.

    silence_s: the longest time without an event; comments that only keep the connection open do not count.
    Raises what errors mean, also in the middle of the reply (`hear` knows how far it came), and BadRequest.
    """
    started = time.perf_counter()
    clock = asyncio.get_running_loop().time
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S)
    with failures_of(site):
        async with (
            asyncio.timeout(silence_s) as silence,
            site.session.post(site.url(path), data=body, timeout=timeout, allow_redirects=False) as response,
        ):
            if response.status != 200:
                raise_for(site, response.status, response.headers, await read_body(site, response))
            n_bytes = 0
            async for part in response.content.iter_any():
                n_bytes += len(part)
                check_size(site, n_bytes)
                if reply.take(part):
                    silence.reschedule(clock() + silence_s)
                if reply.over:
                    await _drain(response)
                    break
    return msgspec.structs.replace(reply.completion(), latency_s=round(time.perf_counter() - started, 4))


async def _drain(response: aiohttp.ClientResponse) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(DRAIN_S):
            while not response.content.at_eof():
                await response.content.readany()


class StreamedReply:
    """A reply of the OpenAI protocol while it comes in, see Streamed; `hear` is told what is said."""

    def __init__(self, site: Site, hear: OnText) -> None:
        self.over = False
        self._site = site
        self._hear = hear
        self._events = Events()
        self._whole: bytearray | None = None  # the body of an endpoint that does not stream
        self._pieces: list[str] = []
        self._thought: list[str] = []
        self._refusal: list[str] = []
        self._finish_reason: str | None = None
        self._usage: TokenCounts | None = None

    def take(self, part: bytes) -> bool:
        """See Streamed."""
        if self._whole is not None:
            self._whole += part
            return True
        try:
            found = self._events.feed(part)
        except NotEvents as others:
            self._whole = bytearray(others.body)
            return True
        for data in found:
            self._event(data)
        return bool(found)

    def completion(self) -> Completion:
        """See Streamed."""
        if self._whole is None:
            try:
                for data in self._events.end():
                    self._event(data)
            except NotEvents as others:
                self._whole = bytearray(others.body)
        if self._whole is not None:
            completion = read_reply(self._site, 200, bytes(self._whole), None)
            if completion.refusal is None:
                self._hear(completion.text)
            return completion
        if not self.over and self._finish_reason is None:
            raise CallFailed("error", f"{self._site.name}: the reply broke off", retryable=True)
        text, thought = "".join(self._pieces), "".join(self._thought) or None
        filtered = CONTENT_FILTER if self._finish_reason == "content_filter" else None
        return Completion(
            text=text,
            reasoning=thought,
            finish_reason=self._finish_reason,
            refusal="".join(self._refusal) or filtered,
            usage=with_reasoning(usage_of(self._usage), text, thought),
            latency_s=None,
        )

    def _event(self, data: bytes) -> None:
        if self.over or data == b"[DONE]":
            self.over = True
            return
        try:
            chunk = DECODER.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            told = f"{self._site.name}: an event that cannot be read: {self._site.excerpt(data)}"
            raise CallFailed("error", told, retryable=True) from None
        if bytes(chunk.error) != b"null" or chunk.object == "error":
            raise_error(self._site, data)
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices or ():
            self._finish_reason = ended_by(choice.finish_reason) or self._finish_reason
            if choice.delta is not None:
                self._say(choice.delta)

    def _say(self, delta: _Delta) -> None:
        self._refusal.append(delta.refusal or "")
        said, thought = read_parts(delta.content)
        self._thought.append(delta.reasoning_content or delta.reasoning or thought)
        if said:
            self._pieces.append(said)
            self._hear(said)


class NotEvents(Exception):
    """A body that is no stream of events; `body` is what came of it so far."""

    def __init__(self, body: bytes) -> None:
        super().__init__("no server-sent events")
        self.body = body


class Events:
    """Bytes -> the data of server-sent events, as the HTML standard reads them."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._begun = False

    def feed(self, part: bytes) -> list[bytes]:
        """Return the data of the events that these bytes complete.

        Raises NotEvents where the body begins with something else, CallFailed for an event without an end.
        """
        self._rest += part
        if not self._begun:
            head = self._rest.removeprefix(b"\xef\xbb\xbf").lstrip()
            if len(head) < len(b"event:") and b"\n" not in head and len(self._rest) < MOST_BLANKS:
                return []
            if not head.startswith(EVENT_FIELDS):
                raise NotEvents(self._rest)
            self._begun, self._rest = True, head
        if len(self._rest) + sum(map(len, self._data)) > MOST_BYTES:
            raise CallFailed("error", f"an event of more than {MOST_BYTES:,} bytes")
        lines = self._rest.splitlines(keepends=True)
        # Behind a carriage return the second half of the line's end may still be on its way.
        self._rest = b"" if lines and lines[-1].endswith(b"\n") else lines.pop() if lines else b""
        return self._of(lines)

    def end(self) -> list[bytes]:
        """Return the data of what is left when the body ends: some servers end without an empty line.

        Raises NotEvents for a body that was none, however short.
        """
        if not self._begun:
            raise NotEvents(self._rest)
        rest, self._rest = self._rest, b""
        return self._of([*rest.splitlines(), b""])

    def _of(self, lines: list[bytes]) -> list[bytes]:
        found = []
        for line in lines:
            line = line.rstrip(b"\r\n")
            if line.startswith(b"data:"):
                self._data.append(line[5:].removeprefix(b" "))
            elif not line and self._data:
                found.append(b"\n".join(self._data))
                self._data = []
        return found
