"""The fake server's script without the server: for thousands of calls that are not about connections."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Iterator

import msgspec
from tests.support.fake_openai import FakeOpenAI

from ragstone.kernel.config import ModelSettings
from ragstone.kernel.llm.door import TRANSPORTS
from ragstone.kernel.llm.prompt import Completion, Prompt
from ragstone.kernel.llm.providers import Provider
from ragstone.kernel.llm.transport import Endpoint, Where


@contextlib.contextmanager
def answering_without_sockets(fake: FakeOpenAI) -> Iterator[None]:
    """Let the server's script answer what this process asks of it, with no socket between.

    Requests are encoded, noted and decoded as they are over HTTP; but there is no latency, gate or key, and
    nothing is refused for its form, cut off or streamed.
    """
    over_http = TRANSPORTS["openai"]

    @contextlib.asynccontextmanager
    async def open_here(
        provider: Provider, model: str, settings: ModelSettings, where: Where
    ) -> AsyncIterator[Endpoint]:
        async with over_http(provider, model, settings, where) as endpoint:
            wire = endpoint.wire
            if wire is None or provider.address(settings) != fake.base_url:
                yield endpoint
                return

            async def send(prompt: Prompt) -> Completion:
                await asyncio.sleep(0)
                content = wire.encode(prompt)
                return wire.decode(*fake.answer(content), prompt.top_logprobs)

            yield msgspec.structs.replace(endpoint, send=send)

    TRANSPORTS["openai"] = open_here
    try:
        yield
    finally:
        TRANSPORTS["openai"] = over_http
