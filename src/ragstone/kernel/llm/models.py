"""Language models by name: each is opened once, and all stand behind one ledger and one budget."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.config.sections import IN_ROUNDS
from ragstone.kernel.errors import ModelError
from ragstone.kernel.llm.budget import Budget
from ragstone.kernel.llm.door import Door, open_door
from ragstone.kernel.llm.learnt import LearntStore
from ragstone.kernel.llm.ledgers import open_ledger
from ragstone.kernel.llm.limits import RUN, SERVING
from ragstone.kernel.llm.prompt import Ask, Completion, Prompt, Stream
from ragstone.kernel.llm.providers import decides, read_on
from ragstone.kernel.llm.response_store import AnyLedger, MemoryLedger
from ragstone.kernel.llm.transport import Endpoint

if TYPE_CHECKING:
    from ragstone.kernel.llm._batch import Batches, Progress
    from ragstone.kernel.llm.rounds import Process, Rounds
    from ragstone.kernel.privacy.masking import OwnWords

HOSTED_CONTEXT_TOKENS = 32_768  # what hosted models have at least; `context_tokens` of a model says more

Wrap = Callable[[str, Door, ModelSettings], Ask]
"""A model's name, its door and its settings -> what it is asked with instead."""


class Models:
    """Gives an `Ask` by the name of a model. The values that it is made with decide how calls are made.

    ledger: that of all workers; None: the project's, opened when the first model is asked for, so that a
    command without a model touches no file. serving: for people who wait: what they ask is kept in memory
    alone, and a call that fails is given up soon. wrap: what stages ask in place of each door, a forecaster's
    that listens. process: answers the calls of a model of IN_ROUNDS; None where there is no such model.
    Everything is closed by `stack`.
    """

    def __init__(
        self,
        settings: Settings,
        stack: AsyncExitStack,
        budget: Budget,
        ledger: AnyLedger | None = None,
        *,
        offline: bool = False,
        keep_failures: bool = False,
        serving: bool = False,
        wrap: Wrap | None = None,
        batch_progress: "Progress | None" = None,
        process: "Callable[[str], Process] | None" = None,
        memory: LearntStore | None = None,
    ) -> None:
        """batch_progress: shows the batches by which all calls go; None where calls are made one by one.

        memory: see open_door.
        """
        self.budget = budget
        self.offline = offline
        # Name -> the ledger's name of it, the day of a list price; of models that the workers opened.
        self.opened_elsewhere: dict[str, tuple[str, str | None]] = {}
        self._settings = settings
        self._stack = stack
        self._serving = serving
        self._ledger = ledger
        self._keep_failures = keep_failures
        self._wrap = wrap
        self._batch_progress = batch_progress
        self._process = process
        self._memory = memory
        self._doors: dict[str, Door] = {}
        self._batches: list[Batches | Rounds] = []
        self._collecting = False

    async def ask(self, model: str) -> Ask:
        """Return what stages ask a model with; where the settings say so, personal data is masked.

        Raises ModelError, and ConfigError for words to be masked that cannot be looked for.
        """
        ask = self._asking(model, await self.door(model), self._settings.models.get(model, ModelSettings()))
        if not self._settings.privacy.mask:
            return ask
        from ragstone.kernel.llm._masked import masked

        return masked(ask, self._own_words)

    async def stream(self, model: str) -> Stream:
        """Return what asks a model for free text, whose pieces are heard as they come. Raises as `ask`."""
        stream = (await self.door(model)).stream
        if not self._settings.privacy.mask:
            return stream
        from ragstone.kernel.llm._masked import masked_stream

        return masked_stream(stream, self._own_words)

    async def ask_service(
        self, name: str, opened: AbstractAsyncContextManager[Endpoint], limits: ModelSettings
    ) -> Ask:
        """Return what stages ask an endpoint with that is no model of a transport, e.g. a translator.

        opened: is entered when the name is first asked for. Its calls are kept and capped as all are; nothing
        is masked in them, for the service is the user's own, or a function in this process.
        """
        if name not in self._doors:
            self._doors[name] = self._door(await self._stack.enter_async_context(opened), limits, name)
        return self._asking(name, self._doors[name], limits)

    async def door(self, model: str) -> Door:
        """Return the door to a model, opened once. Raises ModelError."""
        if model not in self._doors:
            self._doors[model] = await self._opened(model)
        return self._doors[model]

    async def identities(self, models: Iterable[str]) -> dict[str, str]:
        """Return models that were asked: name -> model, as the ledger knows it, each once."""
        return {name: (await self.door(name)).endpoint.identity for name in models}

    def opened(self) -> dict[str, tuple[str, str | None]]:
        """Return the models that were opened: name -> the ledger's name of it, the day of a list price."""
        return self.opened_elsewhere | {
            name: (door.endpoint.identity, read_on(door.price)) for name, door in self._doors.items()
        }

    def context_tokens(self, model: str) -> int:
        """Return how many tokens prompt and reply of a model may have together, by estimate if need be."""
        declared = self._settings.models.get(model, ModelSettings()).context_tokens
        if declared is None and model.startswith("llamacpp/"):
            from ragstone.kernel.llm.llamacpp import DEFAULT_CONTEXT_TOKENS

            return DEFAULT_CONTEXT_TOKENS
        return declared or HOSTED_CONTEXT_TOKENS

    def decides(self, model: str) -> bool:
        """Return whether a model is a decision model, which answers typed questions and writes nothing."""
        return decides(model, self._settings.model(model.removeprefix("recorded/")))

    def earlier(self, model: str) -> list[Completion]:
        """Return some responses of a model that the ledger has; none where no ledger was opened."""
        return [] if self._ledger is None else self._ledger.earlier(model)

    def stop(self) -> None:
        """Let no door make another call; those in flight come home."""
        for door in self._doors.values():
            door.stop()

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Within the block, calls that the ledger lacks are put off, and their failures are not counted."""
        failed, late = self.budget.failed.copy(), self.budget.late
        self._collect(True)
        try:
            yield
        finally:
            self._collect(False)
            self.budget.failed, self.budget.late = failed, late

    async def submit(self) -> bool:
        """Submit the calls that were put off, and wait; return whether that may have led to more of them.

        Raises ModelError when no call can succeed, or a batch is refused.
        """
        return any([await batches.round() for batches in self._batches])

    def _collect(self, collecting: bool) -> None:
        self._collecting = collecting
        for batches in self._batches:
            batches.collecting = collecting

    @cached_property
    def _own_words(self) -> "OwnWords | None":
        from ragstone.kernel.privacy.masking import own_words

        return own_words(self._settings.sample.mask)

    def _asking(self, name: str, door: Door, limits: ModelSettings) -> Ask:
        if self._wrap is None or name.startswith("recorded/"):
            return door.ask
        return self._wrap(name, door, limits)

    async def _opened(self, model: str) -> Door:
        if model.startswith(IN_ROUNDS) and self._process is not None:
            return self._door_in_rounds(model, self._process(model))
        door = await self._stack.enter_async_context(
            open_door(
                model,
                self._settings,
                self._opened_ledger(),
                self.budget,
                offline=self.offline,
                retry_policy=SERVING if self._serving else RUN,
                keep_failures=self._keep_failures,
                memory=self._memory,
            )
        )
        if self._batch_progress is not None:
            batches = door.by_batch(self._settings.path(".ragstone"), self._batch_progress)
            await batches.load()
            self._take(batches)
        return door

    def _door_in_rounds(self, model: str, process: "Process") -> Door:
        """Return the door to a model of the workers' GPUs, which answers what was put off in one go."""
        from ragstone.kernel.llm.rounds import Rounds

        limits = self._settings.models.get(model, ModelSettings())
        rounds = Rounds(
            model,
            process,
            self._opened_ledger(),
            self.budget,
            price=limits.price_usd_per_million,
            offline=self.offline,
        )
        self._take(rounds)

        async def send(
            _prompt: Prompt,
        ) -> Completion:  # a call that gets past the rounds is a mistake of ours
            raise ModelError(f"{model} is asked in rounds alone")

        endpoint = Endpoint(identity=model, send=send, concurrency=1, price=None)
        door = self._door(endpoint, limits)
        door.by_rounds(rounds)
        return door

    def _take(self, batches: "Batches | Rounds") -> None:
        batches.collecting = self._collecting
        self._batches.append(batches)
        self._stack.callback(batches.close)

    def _door(self, endpoint: Endpoint, limits: ModelSettings, name: str = "") -> Door:
        return Door(
            endpoint,
            limits,
            self._opened_ledger(),
            self.budget,
            offline=self.offline,
            name=name,
            keep_failures=self._keep_failures,
        )

    def _opened_ledger(self) -> AnyLedger:
        if self._ledger is None:
            if self._serving:
                self._ledger = MemoryLedger()
            else:  # a forecast saves no call
                self._ledger = open_ledger(self._settings, counting=self._wrap is None)
            self._stack.callback(self._ledger.close)
        return self._ledger
