"""The embedder of an OpenAI-compatible endpoint: several batches in flight, within limits and budget."""

import asyncio
import atexit
import re
from collections import deque
from collections.abc import Sequence

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.embedding._background import Background
from ragstone.kernel.embedding.model import BATCH, EmbeddingModel, Keep, Role, TextRefused
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Budget, CallFailed
from ragstone.kernel.llm.embedding_door import EmbeddingDoor
from ragstone.kernel.llm.failures import BadRequest

# A request may have 2,048 texts and 300,000 tokens at OpenAI. Smaller ones fly together, and less is lost.
BATCH_BYTES = 200_000  # a token is a byte at least
HOPELESS = 8  # texts refused before the first vector that mean: this model embeds nothing
ABOUT_NUMBER = re.compile(r"batch|array|inputs|payload|too large", re.IGNORECASE)
LANDING_S = 5.0  # how long batches in flight may take to come home when the run is stopped


def endpoint_model(door: EmbeddingDoor, budget: Budget, *, identity: str) -> EmbeddingModel:
    """Return the model behind a door. Nothing is opened before it embeds. identity: the store's name."""
    opened = _Endpoint(door, budget)
    return EmbeddingModel(
        identity=identity,
        embed=opened.embed,
        prefixes=prefixes_of(door.endpoint.settings),
        at_once=BATCH * door.endpoint.concurrency,
        close=opened.close,
    )


def prefixes_of(settings: ModelSettings) -> dict[Role, str]:
    """Return what the settings want to be put before texts."""
    return {"query": settings.query_prefix, "passage": settings.passage_prefix}


def batches_of(texts: Sequence[str]) -> list[list[int]]:
    """Return the positions of the texts in batches, each of at most BATCH texts and BATCH_BYTES bytes.

    A longer text is a batch of its own.
    """
    batches: list[list[int]] = []
    room = 0
    for at, text in enumerate(texts):
        size = len(text.encode("utf-8", "replace"))
        if not batches or size > room or len(batches[-1]) == BATCH:
            batches.append([])
            room = BATCH_BYTES
        batches[-1].append(at)
        room -= size
    return batches


class _Endpoint:
    """One endpoint: its connections and its limits live in a loop of their own, as long as it is open."""

    def __init__(self, door: EmbeddingDoor, budget: Budget) -> None:
        self._door = door
        self._budget = budget
        self._background = Background()
        self._most = BATCH
        self._n_refused: int | None = 0  # None from the first vector on
        self._flying: set[asyncio.Task[None]] = set()

    def embed(self, texts: Sequence[str], _role: Role, keep: Keep) -> None:
        """Embed the texts; what is in flight when an error or Ctrl-C comes is kept before it is raised."""
        if not self._background.running:
            atexit.register(self.close)
        try:
            self._background.run(self._embed(texts, keep))
        except KeyboardInterrupt:
            self.close()
            raise

    def close(self) -> None:
        """Send nothing more, wait a little for what is in flight, and close the connections."""
        self._door.stop()
        if self._background.running:
            atexit.unregister(self.close)
            self._background.run(self._land())
            self._background.close()

    async def _land(self) -> None:
        if self._flying:
            await asyncio.wait(self._flying, timeout=LANDING_S)
        await self._door.close()

    async def _embed(self, texts: Sequence[str], keep: Keep) -> None:
        await self._door.open()
        left = deque(batches_of(texts))

        async def work() -> None:
            try:
                while left:
                    await self._embed_one(texts, left, keep)
            except BaseException:
                left.clear()  # the others finish what they have in flight, and begin nothing
                raise

        n_workers = min(len(left), self._door.endpoint.concurrency)
        workers = [asyncio.create_task(work()) for _ in range(n_workers)]
        self._flying.update(workers)
        ends = await asyncio.gather(*workers, return_exceptions=True)
        self._flying.difference_update(workers)
        for end in ends:
            if end is not None:
                raise end

    async def _embed_one(self, texts: Sequence[str], left: deque[list[int]], keep: Keep) -> None:
        """Embed the next batch, or cut it smaller and leave it to be embedded."""
        batch = left.popleft()
        if len(batch) > self._most:
            left.appendleft(batch[self._most :])
            batch = batch[: self._most]
        try:
            vectors = await self._door.embed([texts[at] for at in batch])
        except BadRequest as refusal:
            if len(batch) == 1:
                keep(batch, self._refused(texts[batch[0]], str(refusal)))
                return
            if ABOUT_NUMBER.search(str(refusal)):
                self._most = min(self._most, len(batch) // 2)
            _halve(batch, left)
        except CallFailed as failure:
            if failure.status == "over_budget" and len(batch) > 1:  # a smaller one may still fit
                _halve(batch, left)
                return
            self._budget.lost(failure)
            keep(batch, failure)
        else:
            self._n_refused = None
            keep(batch, vectors)

    def _refused(self, text: str, words: str) -> TextRefused:
        """Return the failure of a text. Raises ModelError if nothing else ever happens here."""
        if self._n_refused is not None:
            self._n_refused += 1
            if self._n_refused == HOPELESS:
                raise ModelError(
                    f"{self._door.address} refused the first {HOPELESS} texts, the last with: {words}. Is "
                    f"{self._door.endpoint.model!r} a model that embeds?"
                )
        return TextRefused(text, words)


def _halve(batch: list[int], left: deque[list[int]]) -> None:
    middle = len(batch) // 2
    left.extendleft([batch[middle:], batch[:middle]])
