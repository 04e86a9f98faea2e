"""Anthropic's Message Batches: all calls in one request, results that stream back as lines.

Written to the package anthropic 2.14.0 (resources/messages/batches.py, types/messages/message_batch*.py). A
batch carries no name of ours while it goes on; the names of its calls do, and its results repeat them. So one
whose id was never heard may be any of the same size that is younger: each is waited for, and what its results
are named tells whose it is.
"""

import datetime
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec

from ragstone.kernel.llm._anthropic import PATH, STATUS_OF_ERROR
from ragstone.kernel.llm._batch_api import (
    Batch,
    BatchEntry,
    BatchProtocol,
    BatchResult,
    ask_batches,
    check_reply,
    lines_of,
    patiently,
    send,
)
from ragstone.kernel.llm.transport import Wire

BATCHES = f"{PATH}/batches"
LISTED = 1_000
CLOCKS_S = 3_600.0  # by which the provider's clock may be behind ours
HTTP_STATUS = STATUS_OF_ERROR | {"invalid_request_error": 400, "not_found_error": 404}
UNFINISHED = {"canceled": "batch_cancelled", "expired": "batch_expired"}


class _MessageCounts(msgspec.Struct, frozen=True):
    processing: int = 0
    succeeded: int = 0
    errored: int = 0
    canceled: int = 0
    expired: int = 0


class _MessageBatch(msgspec.Struct, frozen=True):
    id: str
    processing_status: str
    request_counts: _MessageCounts
    created_at: datetime.datetime
    results_url: str | None = None


class _Listed(msgspec.Struct, frozen=True):
    data: list[_MessageBatch]


class _Failure(msgspec.Struct, frozen=True):
    type: str = ""
    message: str = ""


class _Envelope(msgspec.Struct, frozen=True):
    error: _Failure = _Failure()


class _Outcome(msgspec.Struct, frozen=True):
    type: str
    message: msgspec.Raw = msgspec.Raw(b"null")
    error: _Envelope = _Envelope()


class _ResultLine(msgspec.Struct, frozen=True):
    custom_id: str
    result: _Outcome

    def outcome(self) -> BatchResult:
        """Return it as a result."""
        kind, error = self.result.type, self.result.error.error
        if kind == "succeeded":
            return BatchResult(custom_id=self.custom_id, status=200, body=bytes(self.result.message))
        if kind == "errored":
            status = HTTP_STATUS.get(error.type, 500)
            body = msgspec.json.encode({"type": "error", "error": error})
            return BatchResult(custom_id=self.custom_id, status=status, body=body)
        return BatchResult(custom_id=self.custom_id, code=UNFINISHED.get(kind, kind), message=f"it is {kind}")


async def _create(wire: Wire, _entry: BatchEntry, path: Path) -> str:
    start, end = b'{"requests":[', b"]}"
    # One comma for each line end, but for the last one.
    n_bytes = os.path.getsize(path) + len(start + end) - 1  # noqa: PTH202, ASYNC240 - no wait

    async def requests() -> AsyncIterator[bytes]:
        yield start
        with path.open("rb") as file:
            for number, line in enumerate(file):
                yield (b"," if number else b"") + line.removesuffix(b"\n")
        yield end

    headers = {"Content-Length": str(n_bytes)}
    made = await ask_batches(wire, "POST", BATCHES, _MessageBatch, data=requests(), headers=headers)
    return made.id


async def _find(wire: Wire, entry: BatchEntry) -> list[str]:
    listed = await ask_batches(wire, "GET", f"{BATCHES}?limit={LISTED}", _Listed)
    return [
        batch.id
        for batch in listed.data
        if sum(msgspec.structs.astuple(batch.request_counts)) == entry.n_calls
        and batch.created_at.timestamp() >= entry.noted - CLOCKS_S
    ]


async def _look(wire: Wire, batch_id: str) -> Batch:
    shown = await ask_batches(wire, "GET", f"{BATCHES}/{batch_id}", _MessageBatch, f"batch {batch_id}")
    counts = shown.request_counts
    over = "cancelled" if counts.canceled else "expired" if counts.expired else "completed"
    return Batch(
        id=batch_id,
        status=over if shown.processing_status == "ended" else shown.processing_status,
        n_done=counts.succeeded + counts.errored + counts.canceled + counts.expired,
        n_answered=counts.succeeded,
    )


async def _results(wire: Wire, batch: Batch) -> AsyncIterator[Iterator[BatchResult]]:
    async def get() -> bytes:
        # The path of `results_url`: at whose host it names, the key has no business.
        status, content = await send(wire.site, "GET", f"{BATCHES}/{batch.id}/results")
        return check_reply(wire, status, content, f"the results of batch {batch.id}")

    yield (line.outcome() for line in lines_of(await patiently(wire, get), _ResultLine))


ANTHROPIC = BatchProtocol(
    line=lambda tag, key, body: (
        msgspec.json.encode({"custom_id": f"{tag}-{key}", "params": msgspec.Raw(body)}) + b"\n"
    ),
    upload=None,
    create=_create,
    find=_find,
    look=_look,
    results=_results,
)
