"""Calls that go through the provider's batch API: collected, submitted, waited for, kept in the ledger.

The stage is run with a door that collects: a call that the ledger lacks is written to a file, and its row is
put off. The file is submitted; its results become completions in the ledger, read by the code that reads any
other reply. Then the stage is run again, until nothing is left to collect; a last pass gives its rows.

Which batches are on their way stands in `.ragstone/batches.jsonl`, and the calls of each in
`.ragstone/batches/`. A batch is noted before it is submitted, under a tag of ours that it carries at the
provider, and its id as soon as the provider has given it; so a process that is killed at any moment leaves a
batch that the next one finds. The file only grows, and the last line of a tag holds.
"""

import asyncio
import contextlib
import functools
import os
import secrets
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.kernel.config import ModelSettings, Price
from ragstone.kernel.errors import ModelError, explaining
from ragstone.kernel.llm._batch_api import (
    Batch,
    BatchEntry,
    BatchProtocol,
    BatchResult,
    patiently,
    read_result,
    submit,
)
from ragstone.kernel.llm.budget import Budget, discounted, most_tokens
from ragstone.kernel.llm.failures import CallFailed
from ragstone.kernel.llm.prompt import Completion, Prompt
from ragstone.kernel.llm.providers import providers
from ragstone.kernel.llm.response_store import AnyLedger
from ragstone.kernel.llm.transport import Endpoint, Wire
from ragstone.kernel.persistence.journal import Journal, append_line
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.records import Usage

FIRST_LOOK_S = 10.0
LONGEST_LOOK_S = 60.0
GROWTH = 1.5
AT_ONCE = 1_000  # results committed to the ledger together
MOST_CALLS = 50_000  # the least that one of the providers allows in a batch, as the next
MOST_BYTES = 190_000_000  # of 200 MB
ABANDONED_S = 3_600.0
UNUSED = Usage(calls=0)
PUT_OFF = "postponed until its batch is finished"

SingleFlight = Callable[..., Awaitable[Completion]]
Progress = Callable[[str, int], AbstractContextManager[Callable[[], None]]]


def protocol_of(wire: Wire) -> BatchProtocol:
    """Return how the endpoint's batch API is spoken to."""
    if wire.batch_api == "anthropic":
        from ragstone.kernel.llm._batch_anthropic import ANTHROPIC

        return ANTHROPIC
    from ragstone.kernel.llm._batch_files import FILE_PROTOCOLS

    return FILE_PROTOCOLS[wire.batch_api]


class _Body(msgspec.Struct, frozen=True):
    top_logprobs: int | None = None


class _Call(msgspec.Struct, frozen=True):
    custom_id: str
    body: _Body = _Body()  # Anthropic names it otherwise, and knows no logprobs


class BatchJournal:
    """The batches of a project, as its files tell. Raises DataError where these cannot be written."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "batches.jsonl"
        self.folder = folder / "batches"

    def calls_of(self, tag: str) -> Path:
        """Return the file that holds the calls of a batch, as it is uploaded."""
        return self.folder / f"{tag}.jsonl"

    def unsettled(self, model: str) -> list[BatchEntry]:
        """Return the batches of a model whose results have not been fetched, the oldest first."""
        journal = Journal(self.path, BatchEntry, strict=False)  # a line that a kill cut off never held
        if self.path.is_file():
            with disk_errors(self.path):
                journal.append_if(lambda _: None)  # also reads a last line that is whole but for its end
        entries = {entry.tag: entry for entry in journal.rows}
        needed = {tag for tag, entry in entries.items() if not entry.settled}
        # What killed processes left behind goes; a younger file may be another one's that lives.
        for path in self.folder.glob("*.jsonl"):
            with contextlib.suppress(OSError):
                if path.stem not in needed and time.time() - path.stat().st_mtime > ABANDONED_S:
                    path.unlink()
        return [entry for entry in entries.values() if entry.model == model and not entry.settled]

    def note(self, entry: BatchEntry) -> None:
        """Write an entry; it is on the disk when this returns."""
        with disk_errors(self.path):
            append_line(self.path, msgspec.json.encode(entry))
        if entry.settled:
            self.calls_of(entry.tag).unlink(missing_ok=True)


class BatchDraft:
    """A file of calls that is being written, under a tag of its own."""

    def __init__(self, journal: BatchJournal) -> None:
        self.tag = secrets.token_hex(8)
        self.path = journal.calls_of(self.tag)
        self.n_calls = self.n_bytes = 0
        with disk_errors(self.path):
            make_folder(self.path.parent)
            self._file = self.path.open("wb")

    def takes(self, line: bytes) -> bool:
        """Return whether the provider allows another such line in this file."""
        return self.n_calls < MOST_CALLS and self.n_bytes + len(line) <= MOST_BYTES

    def write(self, line: bytes) -> None:
        """Add a call."""
        with disk_errors(self.path):
            self._file.write(line)
        self.n_calls += 1
        self.n_bytes += len(line)

    def close(self) -> None:
        """Bring the file to the disk. A second time it does nothing."""
        if not self._file.closed:
            with disk_errors(self.path):
                self._file.flush()
                os.fsync(self._file.fileno())
                self._file.close()


def read_calls(path: Path) -> dict[bytes, int | None]:
    """Return the ledger's keys of the calls in a file -> how many logprobs each asks for."""
    decode = msgspec.json.Decoder(_Call).decode
    with path.open("rb") as file:
        calls = map(decode, file)
        return {_key(call.custom_id): call.body.top_logprobs for call in calls}


def _key(custom_id: str) -> bytes:
    """Return the ledger's key in the name of a call; before it may stand the tag of its batch."""
    return bytes.fromhex(custom_id.rpartition("-")[2])


@contextlib.contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn an error of the disk into one that says what to do."""
    with explaining(
        f"{path}: cannot be written",
        "Free some space, or work in a writable folder; submitted batches continue at the provider.",
    ):
        yield


class Sent(msgspec.Struct, frozen=True):
    """A batch on its way, and its calls: the ledger's keys -> how many logprobs each asks for.

    ids: of the batches that it may be, one where its id is known.
    """

    entry: BatchEntry
    calls: dict[bytes, int | None]
    ids: list[str]


class Renewals:
    """Which responses of the ledger give way to new ones, while calls are collected and answered later."""

    def __init__(self) -> None:
        self._answered: set[bytes] = set()  # paid for by this command
        self._cut: set[bytes] = set()  # those of them that were cut off, and asked for once more
        self._awaited: set[bytes] = set()  # whose new response is not there yet

    def is_stale(self, key: bytes, *, collecting: bool) -> bool:
        """Return whether a response gives way: of an earlier command, or cut off for the first time."""
        if key in self._answered:
            if not collecting or key in self._cut:
                return False
            self._cut.add(key)
        self._awaited.add(key)
        return True

    def is_awaited(self, key: bytes) -> bool:
        """Return whether the response that comes now takes the place of another one."""
        return key in self._awaited

    def answered(self, key: bytes) -> None:
        """Note that this command has a response."""
        self._awaited.discard(key)
        self._answered.add(key)

    def has_answered(self, key: bytes) -> bool:
        """Return whether this command has paid for the response."""
        return key in self._answered


class Batches:
    """The calls of one model, on their way through batches; a door that has one completes calls by it.

    While `collecting` is true, a call that the ledger lacks is noted and fails at once. Otherwise it is
    completed from the ledger, or fails with what became of it.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        settings: ModelSettings,
        ledger: AnyLedger,
        budget: Budget,
        *,
        price: Price | None,
        single_flight: SingleFlight,
        folder: Path,
        progress: Progress,
    ) -> None:
        """single_flight: makes one call at once. Raises ModelError where there is no batch API."""
        if endpoint.no_batch is not None:
            raise ModelError(f"{endpoint.identity} {endpoint.no_batch}. Leave out --batch.")
        if endpoint.wire is None:
            able = " and ".join(
                f"{provider.name}/..." for provider in providers().values() if "batch" in provider.can
            )
            raise ModelError(
                f"{endpoint.identity} has no batch API that Ragstone supports: {able} have one. Leave out "
                "--batch."
            )
        self.collecting = False
        self._identity = endpoint.identity
        self._wire: Wire = endpoint.wire
        self._protocol = protocol_of(self._wire)
        self._ledger = ledger
        self._budget = budget
        self._price = price
        self._discount = endpoint.wire.discount or 0.0
        self._poll_s = settings.batch_poll_s or FIRST_LOOK_S
        self._single_flight = single_flight
        self._progress = progress
        self._journal = BatchJournal(folder)
        self._sent: dict[bytes, Sent] = {}
        self._awaited: dict[str, Sent] = {}
        self._drafts: list[BatchDraft] = []
        self._reserved: dict[bytes, int] = {}
        self._failures: dict[bytes, CallFailed] = {}
        self._fresh: set[bytes] = set()  # paid for by this command, and not yet used
        self._renewals = Renewals()
        self._scout = asyncio.Lock()
        self._scouted = False

    async def load(self) -> None:
        """Find what an earlier command submitted and did not fetch. Raises ModelError."""
        for entry in self._journal.unsettled(self._identity):
            path = self._journal.calls_of(entry.tag)
            if not path.is_file():
                continue
            ids = [entry.batch] if entry.batch else []
            if not ids:  # killed while it submitted: nobody knows whether it was in time
                find = functools.partial(self._protocol.find, self._wire, entry)
                ids = await patiently(self._wire, find)
                if not ids:
                    if time.time() - entry.noted > ABANDONED_S:  # no other command is about to make it
                        self._journal.note(msgspec.structs.replace(entry, settled=True))
                    continue
                if len(ids) == 1 and entry.file:
                    entry = msgspec.structs.replace(entry, batch=ids[0])
                    self._journal.note(entry)
            self._keep(Sent(entry, read_calls(path), ids))

    async def complete(self, key: bytes, prompt: Prompt, *, renew: bool) -> tuple[Completion, bool]:
        """Return the completion that the ledger has, and whether this command has paid for it.

        renew: what the ledger has is of no use: another one is asked for, once. Raises CallFailed where there
        is none (yet).
        """
        fresh = key in self._fresh
        completion = await self._ledger.find(key, saved=not (fresh or self.collecting))
        if renew and completion is not None and self._renewals.is_stale(key, collecting=self.collecting):
            completion = None
        if self.collecting:
            completion = await self._collect(key, prompt) if completion is None else completion
            return completion, self._renewals.has_answered(key)
        if completion is None:
            self._budget.check_time()
            raise _again(self._failures.get(key) or CallFailed("error", "no batch has answered this call"))
        if fresh:
            self._fresh.discard(key)
        else:
            self._budget.from_ledger += 1
        self._budget.count(completion, self._price)
        return completion, self._renewals.has_answered(key)

    async def round(self) -> bool:
        """Submit what was collected and wait for it, and for what was found on its way.

        Returns whether another pass may find more to do: not when there was nothing to wait for, nor when
        the deadline of the run ended the waiting. Raises ModelError.
        """
        drafts, self._drafts = self._drafts, []
        for draft in drafts:
            await self._submit(draft)
        awaited, self._awaited = self._awaited, {}
        for sent in awaited.values():
            for number, batch_id in enumerate(sent.ids, 1):
                batch = await self._wait(sent, batch_id)
                if batch is None:
                    return False
                # What the batch has finished goes into the ledger; what it has not may be submitted again.
                if await self._fetch(sent, batch) or number == len(sent.ids):
                    self._close(sent, batch)
                    break
        return bool(awaited)

    def close(self) -> None:
        """Throw away what was collected and not submitted."""
        for draft in self._drafts:
            draft.close()
            draft.path.unlink(missing_ok=True)
        self._drafts = []

    async def _collect(self, key: bytes, prompt: Prompt) -> Completion:
        failure = self._failures.get(key)
        if failure is not None and not failure.retryable:
            raise _again(failure)
        if key in self._sent:
            sent = self._sent[key]
            self._awaited[sent.entry.tag] = sent
            raise CallFailed("error", PUT_OFF)
        if not self._scouted:
            completion = await self._ahead(key, prompt)
            if completion is not None:
                return completion
        if key not in self._reserved:
            self._draft(key, prompt)
        raise CallFailed("error", PUT_OFF)

    async def _ahead(self, key: bytes, prompt: Prompt) -> Completion | None:
        """Make the first call of all at once, at the ordinary price; None for those that come after it.

        It shows in a second, not after hours, that the key and the model's name are right, and in which
        form the endpoint wants its requests.
        """
        async with self._scout:
            if self._scouted:
                return await self._ledger.find(key, saved=False)
            try:
                completion = await self._single_flight(key, prompt, renew=self._renewals.is_awaited(key))
                self._renewals.answered(key)
            except CallFailed as failure:
                self._failures[key] = failure
                raise
            self._scouted = True
        self._fresh.add(key)
        return completion

    def _draft(self, key: bytes, prompt: Prompt) -> None:
        """Write a call into the file that is submitted next, if the budget allows it."""
        self._budget.check_time()
        try:
            reservation = self._budget.reserve_now(
                most_tokens(prompt), discounted(self._price, self._discount)
            )
        except CallFailed as failure:
            failure.retryable = True  # this batch may cost less than it can at most
            self._failures[key] = failure
            raise
        self._reserved[key] = reservation
        self._failures.pop(key, None)
        if not self._drafts:
            self._drafts.append(BatchDraft(self._journal))
        write, body = self._protocol.line, self._wire.encode(prompt)
        line = write(self._drafts[-1].tag, key.hex(), body)
        if not self._drafts[-1].takes(line):
            self._drafts[-1].close()
            self._drafts.append(BatchDraft(self._journal))
            line = write(self._drafts[-1].tag, key.hex(), body)
        self._drafts[-1].write(line)

    async def _submit(self, draft: BatchDraft) -> None:
        draft.close()
        entry = BatchEntry(tag=draft.tag, model=self._identity, n_calls=draft.n_calls, noted=time.time())
        entry, ids = await submit(self._wire, self._protocol, entry, draft.path, self._journal.note)
        self._journal.note(entry)
        sent = Sent(entry, read_calls(draft.path), ids)
        self._keep(sent)
        self._awaited[entry.tag] = sent

    def _keep(self, sent: Sent) -> None:
        for key in sent.calls:
            self._sent.setdefault(key, sent)

    async def _wait(self, sent: Sent, batch_id: str) -> Batch | None:
        """Return the batch when it is over, None when the deadline of the run comes first."""
        n_shown, pause_s = 0, self._poll_s
        with self._progress(f"batch {batch_id}", len(sent.calls)) as advance:
            while True:
                batch = await patiently(self._wire, lambda: self._protocol.look(self._wire, batch_id))
                for _ in range(batch.n_done - n_shown):
                    advance()
                n_shown = max(n_shown, batch.n_done)
                if batch.is_over:
                    return batch
                ends = self._budget.ends
                left_s = pause_s if ends is None else ends - time.monotonic()
                if left_s <= 0:
                    return None
                await asyncio.sleep(min(pause_s, left_s))
                pause_s = min(pause_s * GROWTH, max(LONGEST_LOOK_S, self._poll_s))

    async def _fetch(self, sent: Sent, batch: Batch) -> bool:
        """Take the results of a batch into the ledger; return whether it is the one that was sent.

        Of two results of one call the first holds. A call is of this batch by the tag before its name, where
        there is one.
        """
        own: set[bytes] = set()
        async for results in self._protocol.results(self._wire, batch):
            while part := list(islice(results, AT_ONCE)):
                taken = {}
                for result in part:
                    tag = result.custom_id.rpartition("-")[0]
                    with contextlib.suppress(ValueError):  # a line that is not of these calls
                        key = _key(result.custom_id)
                        if key in sent.calls and key not in own and tag in ("", sent.entry.tag):
                            taken[key] = result
                            own.add(key)
                await asyncio.gather(*(self._take(sent, key, result) for key, result in taken.items()))
        return bool(own)

    async def _take(self, sent: Sent, key: bytes, result: BatchResult) -> None:
        try:
            completion = read_result(self._wire, result, sent.calls[key])
        except CallFailed as failure:
            self._failures[key] = failure
            return
        completion = msgspec.structs.replace(completion, discount=self._discount)
        await self._ledger.put(key, self._identity, completion, renewed=self._renewals.is_awaited(key))
        self._renewals.answered(key)
        self._failures.pop(key, None)
        reservation = self._reserved.pop(key, None)
        if reservation is not None:
            self._fresh.add(key)
            self._budget.settle(reservation, completion.usage, discounted(self._price, self._discount))

    def _close(self, sent: Sent, batch: Batch) -> None:
        """Note that the results are in the ledger. Raises ModelError for a batch not worth repeating."""
        for key in sent.calls:
            if self._sent.get(key) is sent:
                del self._sent[key]
            if key in self._reserved:  # never made, or refused: it has cost nothing
                self._budget.settle(self._reserved.pop(key), UNUSED, self._price)
                reason = f"batch {batch.id} is {batch.status} and has no reply to this call"
                self._failures.setdefault(key, CallFailed("error", reason, retryable=True))
        self._journal.note(msgspec.structs.replace(sent.entry, settled=True))
        if batch.status == "failed":
            kept = (
                f"Replies of it that are in the ledger: {batch.n_answered:,}."
                if batch.n_answered
                else "None of its calls was answered."
            )
            raise ModelError(
                f"{self._wire.name} refused batch {batch.id}: {batch.words or 'no reason given'}. Correct "
                f"that and run again. {kept}"
            )
        if batch.status == "cancelled":
            raise ModelError(
                f"batch {batch.id} was cancelled at {self._wire.name}. What it had finished is in the "
                "ledger; run the same command again to submit the rest."
            )


def _again(failure: CallFailed) -> CallFailed:
    """Return the failure anew: the door adds to it, and several rows may have the same."""
    return CallFailed(failure.status, str(failure), raw=failure.raw, retryable=failure.retryable)
