"""Providers' batch APIs, each asked patiently: the values that all of them come to.

A protocol is a row of functions: how a call is written into the file of calls, how that file is handed over,
how a batch is created, found again, looked at and read. Those of files are in _batch_files.py, Anthropic's is
in _batch_anthropic.py.
"""

import asyncio
import functools
import io
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import aiohttp
import msgspec

from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm._site import CONNECT_S, Site, exchange
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.limits import backoff_s
from ragstone.kernel.llm.prompt import Completion
from ragstone.kernel.llm.transport import Wire

ATTEMPTS = 20  # some eight minutes: who waits for hours outlasts a short outage
FILE_S = 300.0  # the longest silence while a file of calls or results is on its way
MOST_FILE_BYTES = 1_000_000_000  # of the results of a batch
# What the provider says of a call that it never finished; all of them may be asked again.
NEVER_FINISHED = frozenset({"batch_expired", "batch_cancelled", "request_timeout"})

T = TypeVar("T")


class BatchEntry(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """One batch. batch: its id, once the provider has given it. settled: its results are in the ledger.

    file: the id of the uploaded file of calls, where the provider has files. n_calls: in it. noted: when the
    entry was made, in seconds of the epoch.
    """

    tag: str
    model: str
    batch: str | None = None
    settled: bool = False
    file: str = ""
    n_calls: int = 0
    noted: float = 0.0


class Batch(msgspec.Struct, frozen=True, kw_only=True):
    """A batch as it is now, whoever makes it.

    status: `completed`, `failed`, `expired` or `cancelled`, or what else is said while it goes on. n_done:
    its calls that are finished, well or not, and n_answered those that went well. words: what is said to have
    gone wrong with the whole of it. files: the ids of the files that hold its results.
    """

    id: str
    status: str
    n_done: int = 0
    n_answered: int = 0
    words: str = ""
    files: tuple[str, ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.status in ("completed", "failed", "expired", "cancelled")


class BatchResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one call: HTTP status and body of its reply, or the reason why there is none.

    status: 0 for no reply.
    """

    custom_id: str
    status: int = 0
    body: bytes = b"null"
    code: str = "no response"
    message: str = ""


class BatchProtocol(msgspec.Struct, frozen=True, kw_only=True):
    """How the batch API of a provider is spoken to. Each function raises ModelError and CallFailed.

    line: the tag of the batch, the name of the call in the ledger and the body of its request -> its line in
    the file of calls. upload: hands the file over and returns its id; None where the provider has no files.
    create: makes the batch once, and returns its id. find: the ids of the batches that may be the one of an
    entry whose id was never heard, none where it was not made. look: a batch as it is now. results: what
    became of its calls, in any order.
    """

    line: Callable[[str, str, bytes], bytes]
    upload: Callable[[Wire, Path], Awaitable[str]] | None
    create: Callable[[Wire, BatchEntry, Path], Awaitable[str]]
    find: Callable[[Wire, BatchEntry], Awaitable[list[str]]]
    look: Callable[[Wire, str], Awaitable[Batch]]
    results: Callable[[Wire, Batch], AsyncIterator[Iterator[BatchResult]]]


async def submit(
    wire: Wire, protocol: BatchProtocol, entry: BatchEntry, path: Path, note: Callable[[BatchEntry], None]
) -> tuple[BatchEntry, list[str]]:
    """Hand over a file of calls and make its batch; return the entry, and the ids that it may have.

    note: writes the entry down, with the file's id before the batch is made. More than one id, and an entry
    without one, where the reply to the making was lost and the provider does not show which batch is ours.
    Raises ModelError.
    """
    if protocol.upload is not None:
        file = await patiently(wire, functools.partial(protocol.upload, wire, path))
        entry = msgspec.structs.replace(entry, file=file)
    note(entry)
    tried = False

    async def create() -> list[str]:
        nonlocal tried
        found = await protocol.find(wire, entry) if tried else []
        tried = True
        return found or [await protocol.create(wire, entry, path)]

    ids = await patiently(wire, create)
    return (msgspec.structs.replace(entry, batch=ids[0]), ids) if len(ids) == 1 else (entry, ids)


def read_result(wire: Wire, result: BatchResult, top_logprobs: int | None) -> Completion:
    """Return the completion of a result, read as the reply to any other call. Raises CallFailed."""
    if result.status:
        try:
            return wire.decode(result.status, result.body, top_logprobs)
        except CallFailed:
            raise
        except ModelError as mistake:  # of one call among many: the others may be well
            raise CallFailed("error", str(mistake)) from None
    raise CallFailed(
        "timeout" if result.code == "request_timeout" else "error",
        f"the batch gave no reply to this call: {result.message or result.code}",
        retryable=result.code in NEVER_FINISHED,
    )


def lines_of(content: bytes, kind: type[T]) -> Iterator[T]:
    """Yield the lines of a file of results; one that cannot be read is left out."""
    decode = msgspec.json.Decoder(kind).decode
    for line in io.BytesIO(content):
        try:
            yield decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue


async def ask_batches(
    wire: Wire,
    method: str,
    path: str,
    kind: type[T],
    of: str = "",
    **request: Any,  # noqa: ANN401 - as aiohttp takes it
) -> T:
    """Return the reply to a request of the batch API; of: the batch that it is about, in words.

    Raises CallFailed and ModelError, as any call does.
    """
    status, reply = await send(wire.site, method, path, **request)
    checked = check_reply(wire, status, reply, of)
    try:
        return msgspec.json.decode(checked, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as mistake:
        raise ModelError(f"{_no_batches(wire)} ({path}: {mistake})") from None


async def send(
    site: Site,
    method: str,
    path: str,
    **request: Any,  # noqa: ANN401 - as aiohttp takes it
) -> tuple[int, bytes]:
    """Return HTTP status and body of the reply to a request; files may take their time."""
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=FILE_S)
    response, reply = await exchange(
        site, method, path, most_bytes=MOST_FILE_BYTES, timeout=timeout, **request
    )
    return response.status, reply


def check_reply(wire: Wire, status: int, content: bytes, what: str) -> bytes:
    """Return the content of a good reply. what: the batch or file that it is of; empty for the endpoint.

    Raises CallFailed and ModelError, as any call does.
    """
    if status // 100 == 2:
        return content
    if status in (404, 405, 501):
        if not what:
            raise ModelError(_no_batches(wire))
        raise ModelError(
            f"{wire.name} does not know {what} (HTTP {status}). Does the key belong to another account? To "
            "submit its calls again, delete its lines in .ragstone/batches.jsonl."
        )
    wire.decode(status, content, None)
    raise ModelError(f"{wire.name}: HTTP {status}")


def _no_batches(wire: Wire) -> str:
    return f"{wire.name} has no batch API: run the same command without --batch."


async def patiently(wire: Wire, work: Callable[[], Awaitable[T]]) -> T:
    """Return what the work gives, after as many attempts as it takes."""
    draw = random.Random(0)
    for attempt in range(ATTEMPTS):
        try:
            return await work()
        except CallFailed as failure:
            if not failure.retryable:
                raise ModelError(str(failure)) from None
            if attempt == ATTEMPTS - 1:
                raise ModelError(
                    f"{failure} Submitted batches continue at the provider: run the same command again to "
                    "pick them up."
                ) from None
            await asyncio.sleep(failure.retry_after_s or backoff_s(attempt, draw))
    raise AssertionError(wire.name)
