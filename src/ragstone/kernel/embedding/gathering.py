"""Many coroutines that each want a few vectors: those who wait go together."""

import asyncio
from collections.abc import Sequence

from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.model import Role, Vectors
from ragstone.kernel.llm import CallFailed

Found = list[Vectors | CallFailed]


class _TextGroup:
    """Texts that go together, and the task that embeds them."""

    def __init__(self, role: Role) -> None:
        self.role = role
        self.texts: list[str] = []
        self.task: asyncio.Task[Found] | None = None


class Gathered:
    """An EmbedSoon over an embedder, for the coroutines of one event loop.

    Each row of a sheet wants the vectors of two or three texts. Row after row, an endpoint would be asked as
    many times and a store opened as often; what is wanted while a call is under way goes into the next one.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._turn = asyncio.Lock()
        self._open: _TextGroup | None = None

    async def __call__(self, texts: Sequence[str], role: Role) -> list[Vectors]:
        """Return the vectors, (d,) each.

        Raises as Embedder does; CallFailed if one of these texts has no vector, whatever the others have.
        """
        group = self._open
        if group is None or group.role != role or len(group.texts) >= self._embedder.at_once:
            group = self._open = _TextGroup(role)
        start = len(group.texts)
        group.texts += texts
        if group.task is None:
            group.task = asyncio.create_task(self._embed(group))
        results = await asyncio.shield(group.task)
        own = results[start : start + len(texts)]
        failure = next((result for result in own if isinstance(result, CallFailed)), None)
        if failure is not None:
            raise failure
        return [result for result in own if not isinstance(result, CallFailed)]

    async def _embed(self, group: _TextGroup) -> Found:
        async with self._turn:
            if self._open is group:
                self._open = None
            return await asyncio.to_thread(self._embedder.each, group.texts, group.role)
