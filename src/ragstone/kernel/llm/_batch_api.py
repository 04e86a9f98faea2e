"""The provider's batch API: files and batches endpoints as OpenAI has them, each asked patiently."""

import asyncio
import io
import random
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm.limits import backoff_s
from ragstone.kernel.llm.prompt import CallFailed, Completion
from ragstone.kernel.llm.transport import Wire

ENDPOINT = "/v1/chat/completions"
OVER = frozenset({"completed", "failed", "expired", "cancelled"})
ATTEMPTS = 20  # some eight minutes: who waits for hours outlasts a short outage
LISTED = 100
# What the provider says of a call that it never finished; all of them may be asked again.
NEVER_FINISHED = frozenset({"batch_expired", "batch_cancelled", "request_timeout"})

T = TypeVar("T")


class _Mistake(msgspec.Struct, frozen=True):
    code: str | None = None
    message: str | None = None


class _Mistakes(msgspec.Struct, frozen=True):
    data: list[_Mistake] | None = None


class _Counts(msgspec.Struct, frozen=True):
    total: int = 0
    completed: int = 0
    failed: int = 0


class Batch(msgspec.Struct, frozen=True):
    """A batch as the provider shows it."""

    id: str
    status: str
    output_file_id: str | None = None
    error_file_id: str | None = None
    errors: _Mistakes | None = None
    request_counts: _Counts | None = None
    metadata: dict[str, str] | None = None

    @property
    def n_done(self) -> int:
        """How many of its calls are finished, well or not."""
        return self.request_counts.completed + self.request_counts.failed if self.request_counts else 0

    @property
    def words(self) -> str:
        """What the provider says went wrong with the whole batch."""
        errors = (self.errors.data or []) if self.errors else []
        return "; ".join(f"{error.message} ({error.code})" for error in errors[:3]) or "no reason given"


class _Listed(msgspec.Struct, frozen=True):
    data: list[Batch]


class _File(msgspec.Struct, frozen=True):
    id: str


class _Said(msgspec.Struct, frozen=True):
    status_code: int = 0
    body: msgspec.Raw = msgspec.Raw(b"null")


class Result(msgspec.Struct, frozen=True):
    """One line of a batch's output or error file."""

    custom_id: str
    response: _Said | None = None
    error: _Mistake | None = None


async def submit(wire: Wire, tag: str, calls: Path) -> str:
    """Upload a file of calls, start its batch and return the batch's id.

    tag: a name of our own that the batch carries, so that after a lost reply it is found, and not made a
    second time. Raises ModelError.
    """

    async def upload() -> str:
        return (await _ask(wire, "POST", "/files", calls, _File)).id

    file_id = await _patiently(wire, upload)
    order = {
        "input_file_id": file_id,
        "endpoint": ENDPOINT,
        "completion_window": "24h",
        "metadata": {"ragstone": tag},
    }
    tried = False

    async def create() -> str:
        nonlocal tried
        batch_id = await _find(wire, tag) if tried else None
        tried = True
        return batch_id or (await _ask(wire, "POST", "/batches", msgspec.json.encode(order), Batch)).id

    return await _patiently(wire, create)


async def find(wire: Wire, tag: str) -> str | None:
    """Return the id of the batch that carries our tag, None if there is none. Raises ModelError."""
    return await _patiently(wire, lambda: _find(wire, tag))


async def look(wire: Wire, batch_id: str) -> Batch:
    """Return a batch as it stands now. Raises ModelError."""
    return await _patiently(wire, lambda: _ask(wire, "GET", f"/batches/{batch_id}", None, Batch))


async def download(wire: Wire, file_id: str) -> Iterator[Result]:
    """Return the lines of a results file; a line that cannot be read is left out. Raises ModelError."""

    async def get() -> bytes:
        status, content = await wire.exchange("GET", f"/files/{file_id}/content", None)
        return _checked(wire, status, content, f"the file {file_id}")

    return _results(await _patiently(wire, get))


def read_result(wire: Wire, result: Result, top_logprobs: int | None) -> Completion:
    """Return the completion of a line, read as the reply to any other call. Raises CallFailed."""
    response, error = result.response, result.error
    if response is not None and response.status_code:
        try:
            return wire.decode(response.status_code, bytes(response.body), top_logprobs)
        except CallFailed:
            raise
        except ModelError as mistake:  # of one call among many: the others may be well
            raise CallFailed("error", str(mistake)) from None
    code = (error.code if error else None) or "no response"
    raise CallFailed(
        "timeout" if code == "request_timeout" else "error",
        f"the batch gave no reply to this call: {(error and error.message) or code}",
        retryable=code in NEVER_FINISHED,
    )


def _results(content: bytes) -> Iterator[Result]:
    decode = msgspec.json.Decoder(Result).decode
    for line in io.BytesIO(content):
        try:
            yield decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue


async def _find(wire: Wire, tag: str) -> str | None:
    listed = await _ask(wire, "GET", f"/batches?limit={LISTED}", None, _Listed)
    return next((batch.id for batch in listed.data if (batch.metadata or {}).get("ragstone") == tag), None)


async def _ask(wire: Wire, method: str, path: str, content: bytes | Path | None, kind: type[T]) -> T:
    status, reply = await wire.exchange(method, path, content)
    checked = _checked(wire, status, reply, path.removeprefix("/").partition("?")[0])
    try:
        return msgspec.json.decode(checked, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as mistake:
        raise ModelError(f"{_no_batches(wire)} ({path}: {mistake})") from None


def _checked(wire: Wire, status: int, content: bytes, what: str) -> bytes:
    """Return the content of a good reply. Raises CallFailed and ModelError, as any call does."""
    if status // 100 == 2:
        return content
    if status in (404, 405, 501):
        if "/" not in what and " " not in what:  # the endpoint itself, not one batch or one file of it
            raise ModelError(_no_batches(wire))
        raise ModelError(
            f"{wire.name} does not know {what.replace('batches/', 'batch ')} (HTTP {status}). Is the key "
            "that of another account? To submit its calls again, delete its lines in .ragstone/batches.jsonl."
        )
    wire.decode(status, content, None)
    raise ModelError(f"{wire.name}: HTTP {status}")


def _no_batches(wire: Wire) -> str:
    return f"{wire.name} has no batch API: run the same command without --batch."


async def _patiently(wire: Wire, work: Callable[[], Awaitable[T]]) -> T:
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
                    f"{failure} Batches that were submitted go on at the provider: run the same command "
                    "again to pick them up."
                ) from None
            await asyncio.sleep(failure.retry_after_s or backoff_s(attempt, draw))
    raise AssertionError(wire.name)
