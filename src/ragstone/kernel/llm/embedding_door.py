"""The door to a model that embeds, at an OpenAI-compatible endpoint: within limits and budget."""

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.config import ModelSettings, Price
from ragstone.kernel.llm._calling import Caller
from ragstone.kernel.llm.budget import TOKENS_A_MESSAGE, Budget, cost_usd
from ragstone.kernel.llm.limits import RECOVERING, RUN
from ragstone.kernel.llm.providers import Provider, list_price, providers
from ragstone.kernel.records import Usage

if TYPE_CHECKING:  # aiohttp takes 0.15 s to import, and vectors from the store need none
    from ragstone.kernel.llm._embeddings import EmbeddedBatch
    from ragstone.kernel.llm._site import Site

CONCURRENCY = 16


class EmbeddingEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model at an endpoint. identity: as the ledger and the store know it; price: None where unknown."""

    provider: Provider
    model: str
    settings: ModelSettings
    identity: str
    price: Price | None

    @property
    def concurrency(self) -> int:
        """How many requests are made at once."""
        return self.settings.max_concurrency or CONCURRENCY


def embedding_door(
    name: str, settings: ModelSettings, budget: Budget, *, serving: bool = False
) -> "EmbeddingDoor | None":
    """Return the door to a model named `provider/model`; None where no provider is called so.

    serving: an endpoint that was down is tried again some seconds later.
    """
    kind, _, model = name.partition("/")
    provider = providers().get(kind)
    if provider is None or not model or provider.dialect not in ("openai", "azure"):
        return None
    base_url = provider.address(settings)
    endpoint = EmbeddingEndpoint(
        provider=provider,
        model=model,
        settings=settings,
        identity=provider.identity_of(model, base_url)
        + (f"#{settings.dimensions}" if settings.dimensions else ""),
        price=settings.price_usd_per_million or list_price(base_url, model),
    )
    return EmbeddingDoor(endpoint, budget, serving=serving)


class EmbeddingDoor:
    """Asks one endpoint for vectors, from one event loop. Nothing is opened before it embeds."""

    def __init__(self, endpoint: EmbeddingEndpoint, budget: Budget, *, serving: bool) -> None:
        """Make the door; serving: see embedding_door."""
        self.endpoint = endpoint
        self._budget = budget
        self._caller = Caller(
            endpoint.concurrency,
            endpoint.settings,
            budget,
            endpoint.price,
            RECOVERING if serving else RUN,
            endpoint=endpoint.model,
        )
        self._stack = AsyncExitStack()
        self._site: Site | None = None

    @staticmethod
    def most_used(texts: Sequence[str]) -> Usage:
        """Return the most tokens that embedding these texts can use: a token is a byte at least."""
        return Usage(input=sum(len(text.encode("utf-8", "replace")) + TOKENS_A_MESSAGE for text in texts))

    @property
    def address(self) -> str:
        """Where the endpoint is, fit to be shown."""
        return self._site.name if self._site else ""

    async def open(self) -> "Site":
        """Return what requests go to, opened once. Raises ModelError where there is no address."""
        if self._site is None:
            from ragstone.kernel.llm._site import open_site

            endpoint = self.endpoint
            opening = open_site(endpoint.provider, endpoint.model, endpoint.settings, endpoint.concurrency)
            self._site = await self._stack.enter_async_context(opening)
        return self._site

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of some texts, (n, d), after as many attempts as it takes; they are paid for.

        Raises BadRequest where the endpoint refuses them, CallFailed for this call, ModelError when no call
        can succeed.
        """
        from ragstone.kernel.llm._embeddings import post_texts

        site, endpoint = await self.open(), self.endpoint

        async def send() -> "EmbeddedBatch":
            return await post_texts(site, endpoint.model, texts, endpoint.settings.dimensions)

        try:
            async with asyncio.timeout_at(self._budget.ends) as scope:
                embedded = await self._caller.call(send, self.most_used(texts))
        except TimeoutError:
            if not scope.expired():
                raise
            raise self._budget.too_late() from None
        self._budget.count_used(embedded.usage, cost_usd(embedded.usage, self.endpoint.price))
        return embedded.vectors

    def stop(self) -> None:
        """Make no more calls; those in flight come home."""
        self._caller.stop()

    async def close(self) -> None:
        """Close the connections."""
        await self._stack.aclose()
