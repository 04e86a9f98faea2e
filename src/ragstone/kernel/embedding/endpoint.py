"""The embedder of an OpenAI-compatible endpoint: several batches in flight, within limits and budget."""

import asyncio
import atexit
import re
from collections import deque
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from ragstone.kernel.config import ModelSettings, Price
from ragstone.kernel.embedding.background import Background
from ragstone.kernel.embedding.model import BATCH, EmbeddingModel, Keep, Role, TextRefused
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm import Budget, CallFailed
from ragstone.kernel.llm.budget import TOKENS_A_MESSAGE, cost_usd
from ragstone.kernel.llm.calling import Caller
from ragstone.kernel.llm.limits import RUN, RetryPolicy
from ragstone.kernel.llm.providers import Provider
from ragstone.kernel.llm.transport import BadRequest
from ragstone.kernel.records import Usage

if TYPE_CHECKING:  # aiohttp takes 0.15 s to import, and vectors from the store need none
    from ragstone.kernel.llm.embeddings import EmbeddedBatch
    from ragstone.kernel.llm.site import Site

CONCURRENCY = 16
# A request may have 2,048 texts and 300,000 tokens at OpenAI. Smaller ones fly together, and less is lost.
BATCH_BYTES = 200_000  # a token is a byte at least
HOPELESS = 8  # texts refused before the first vector that mean: this model embeds nothing
ABOUT_NUMBER = re.compile(r"batch|array|inputs|payload|too large", re.IGNORECASE)
LANDING_S = 5.0  # how long batches in flight may take to come home when the run is stopped


def endpoint_model(
    provider: Provider,
    name: str,
    settings: ModelSettings,
    *,
    price: Price | None,
    budget: Budget,
    identity: str,
    retry_policy: RetryPolicy = RUN,
) -> EmbeddingModel:
    """Return the model `name` of a provider, or of the endpoint that the settings give.

    Nothing is opened before it embeds.
    """
    endpoint = _Endpoint(provider, name, settings, price=price, budget=budget, retry_policy=retry_policy)
    return EmbeddingModel(
        identity=identity,
        embed=endpoint.embed,
        prefixes=prefixes_of(settings),
        at_once=BATCH * (settings.max_concurrency or CONCURRENCY),
        close=endpoint.close,
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
        size = _n_bytes(text)
        if not batches or size > room or len(batches[-1]) == BATCH:
            batches.append([])
            room = BATCH_BYTES
        batches[-1].append(at)
        room -= size
    return batches


def most_used(texts: Sequence[str]) -> Usage:
    """Return the most tokens that embedding these texts can use."""
    return Usage(input=sum(_n_bytes(text) + TOKENS_A_MESSAGE for text in texts))


class _Endpoint:
    """One endpoint: its connections and its limits live in a loop of their own, as long as it is open."""

    def __init__(
        self,
        provider: Provider,
        name: str,
        settings: ModelSettings,
        *,
        price: Price | None,
        budget: Budget,
        retry_policy: RetryPolicy,
    ) -> None:
        self._provider = provider
        self._name = name
        self._settings = settings
        self._budget = budget
        self._concurrency = settings.max_concurrency or CONCURRENCY
        self._caller = Caller(self._concurrency, settings, budget, price, retry_policy, endpoint=name)
        self._background = Background()
        self._stack = AsyncExitStack()
        self._site: Site | None = None
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
        self._caller.stop()
        if self._background.running:
            atexit.unregister(self.close)
            self._background.run(self._land())
            self._background.close()

    async def _land(self) -> None:
        if self._flying:
            await asyncio.wait(self._flying, timeout=LANDING_S)
        await self._stack.aclose()

    async def _embed(self, texts: Sequence[str], keep: Keep) -> None:
        site = await self._opened()
        left = deque(batches_of(texts))

        async def work() -> None:
            try:
                while left:
                    await self._embed_one(site, texts, left, keep)
            except BaseException:
                left.clear()  # the others finish what they have in flight, and begin nothing
                raise

        workers = [asyncio.create_task(work()) for _ in range(min(len(left), self._concurrency))]
        self._flying.update(workers)
        ends = await asyncio.gather(*workers, return_exceptions=True)
        self._flying.difference_update(workers)
        for end in ends:
            if end is not None:
                raise end

    async def _opened(self) -> "Site":
        if self._site is None:
            from ragstone.kernel.llm.site import open_site

            opening = open_site(self._provider, self._name, self._settings, self._concurrency)
            self._site = await self._stack.enter_async_context(opening)
        return self._site

    async def _embed_one(
        self, site: "Site", texts: Sequence[str], left: deque[list[int]], keep: Keep
    ) -> None:
        """Embed the next batch, or cut it smaller and leave it to be embedded."""
        batch = left.popleft()
        if len(batch) > self._most:
            left.appendleft(batch[self._most :])
            batch = batch[: self._most]
        try:
            embedded = await self._call(site, [texts[at] for at in batch])
        except BadRequest as refusal:
            if len(batch) == 1:
                keep(batch, self._refused(site, texts[batch[0]], str(refusal)))
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
            self._budget.count_used(embedded.usage, cost_usd(embedded.usage, self._caller.price))
            keep(batch, embedded.vectors)

    async def _call(self, site: "Site", texts: list[str]) -> "EmbeddedBatch":
        from ragstone.kernel.llm.embeddings import post_texts

        async def send() -> "EmbeddedBatch":
            return await post_texts(site, self._name, texts, self._settings.dimensions)

        try:
            async with asyncio.timeout_at(self._budget.ends) as scope:
                return await self._caller.call(send, most_used(texts))
        except TimeoutError:
            if not scope.expired():
                raise
            raise self._budget.too_late() from None

    def _refused(self, site: "Site", text: str, words: str) -> TextRefused:
        """Return the failure of a text. Raises ModelError if nothing else ever happens here."""
        if self._n_refused is not None:
            self._n_refused += 1
            if self._n_refused == HOPELESS:
                raise ModelError(
                    f"{site.name} refused the first {HOPELESS} texts, the last with: {words}. Is "
                    f"{self._name!r} a model that embeds?"
                )
        return TextRefused(text, words)


def _halve(batch: list[int], left: deque[list[int]]) -> None:
    middle = len(batch) // 2
    left.extendleft([batch[middle:], batch[:middle]])


def _n_bytes(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
