"""What the stages of one command share: settings, doors, ledger, budget, embedder."""

import contextlib
import functools
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ragstone.config import ModelSettings, RerankSettings, Settings, choose
from ragstone.embedding.embedder import Embedder
from ragstone.embedding.gathering import Gathered
from ragstone.embedding.model import Embed
from ragstone.embedding.opening import open_embedder
from ragstone.engine.call_log import CallLog
from ragstone.engine.local import map_in_order, run_sync
from ragstone.engine.progress import Advance, Progress, State, silent
from ragstone.engine.spending import calls_of, state_of
from ragstone.errors import ConfigError, ModelError
from ragstone.judging import Judge, JudgeContext
from ragstone.judging.finding import no_model
from ragstone.judging.leaves import asks_default, leaves, models_of
from ragstone.judging.similarity import EmbeddingJudge
from ragstone.llm import AnyLedger, Ask, Budget, Caps, Door, Stream, load_secret, open_door, open_ledger
from ragstone.llm.batch import Batches
from ragstone.llm.forecast import Forecast, Forecaster
from ragstone.llm.limits import RUN, SERVING
from ragstone.llm.llamacpp import DEFAULT_CONTEXT_TOKENS as LOCAL_CONTEXT_TOKENS
from ragstone.llm.memory import MemoryLedger
from ragstone.llm.prices import read_on
from ragstone.llm.prompt import Completion, Prompt
from ragstone.llm.rounds import Answered, Process, Rounds
from ragstone.llm.transport import Endpoint
from ragstone.records import NO_MODEL, Document
from ragstone.report.summary import Calls
from ragstone.retrieval.filters import Filter
from ragstone.retrieval.means import SearchMeans
from ragstone.systems.function import Callee

if TYPE_CHECKING:
    from ragstone.engine.cluster.driver import Cluster

In = TypeVar("In")
Out = TypeVar("Out")

IN_ROUNDS = "vllm/"
HOSTED_CONTEXT_TOKENS = 32_768  # what hosted models have at least; `context_tokens` of a model says more


class Worker(NamedTuple):
    """What a session on a worker of a cluster shares with the others; without a ledger, it opens its own."""

    budget: Budget
    ledger: AnyLedger | None
    secret: bytes
    listening: bool = False


class Session:
    """Opens each thing when it is first needed, so that a command without a model touches no ledger."""

    def __init__(
        self,
        settings: Settings,
        stack: AsyncExitStack,
        caps: Caps,
        offline: bool,
        progress: Progress,
        *,
        forecaster: Forecaster | None = None,
        batch: bool = False,
        serving: bool = False,
        worker: Worker | None = None,
    ) -> None:
        self.settings = settings
        self.budget = Budget(caps) if worker is None else worker.budget
        self.progress = progress
        self._by_provider = batch
        # Whether calls are put off and answered many at a time: see rounds.py.
        self.batching = batch or (forecaster is None and worker is None and bool(in_rounds_of(settings)))
        self.call_log = CallLog(listening=worker is not None and worker.listening)
        self.cluster: Cluster | None = None  # see cluster/driver.py
        self.met: dict[str, tuple[str, str | None]] = {}  # models that workers opened, as in `opened`
        self.systems: dict[str, str] = {}  # name -> what was asked, as the ledger knows it
        self.kept: Counter[str] = Counter()  # name of a system -> its answers from the ledger
        self.callables: dict[str, Callee] = {}  # those that are given as such, not in `[systems]`
        self.processes: dict[str, Process] = {}  # what answers a model's rounds, if not vLLM on the workers
        self._stack = stack
        self.offline = offline
        # A forecast asks nobody, and counts the calls that a run would make again.
        self._keep_failures = settings.ledger.keep_failures or (offline and forecaster is None)
        self._forecaster = forecaster
        self._serving = serving
        self._ledger: AnyLedger | None = None if worker is None else worker.ledger
        self._doors: dict[str, Door] = {}
        self._batches: list[Batches | Rounds] = []
        self._collecting = False
        self._bars = progress
        self._embedders: dict[str, Embedder] = {}
        self._secret: bytes | None = None if worker is None else worker.secret
        self._members: list[str] = []

    async def door(self, model: str) -> Door:
        """Return the door to a model, opened once. Raises ModelError."""
        if model not in self._doors and model.startswith(IN_ROUNDS):
            self._doors[model] = self._door_in_rounds(model)
        if model not in self._doors:
            door = open_door(
                model,
                self.settings,
                self._opened_ledger(),
                self.budget,
                offline=self.offline,
                patience=SERVING if self._serving else RUN,
                keep_failures=self._keep_failures,
            )
            opened = await self._stack.enter_async_context(door)
            if self._by_provider:
                batches = opened.by_batch(self.settings.path(".ragstone"), self._bar)
                batches.collecting = self._collecting
                await batches.load()
                self._batches.append(batches)
                self._stack.callback(batches.close)
            self._doors[model] = opened
        return self._doors[model]

    def _door_in_rounds(self, model: str) -> Door:
        """Return the door to a model of the workers' GPUs, which answers what was put off in one go."""
        limits = self.settings.models.get(model, ModelSettings())
        price = limits.price_usd_per_million
        ledger = self._opened_ledger()

        rounds = Rounds(
            model,
            self.processes.get(model) or self._process(model),
            ledger,
            self.budget,
            price=price,
            offline=self.offline,
        )
        rounds.collecting = self._collecting
        self._batches.append(rounds)
        self._stack.callback(rounds.close)
        door = Door(
            _unsent(model),
            limits,
            ledger,
            self.budget,
            offline=self.offline,
            keep_failures=self._keep_failures,
        )
        door.by_rounds(rounds)
        return door

    def _process(self, model: str) -> Process:
        def process(prompts: Sequence[Prompt]) -> Iterable[Answered]:
            from ragstone.engine.cluster.vllm import processed

            return processed(model, self.settings, prompts)

        return process

    def _opened_ledger(self) -> AnyLedger:
        if self._ledger is None:
            counting = self._forecaster is None
            self._ledger = MemoryLedger() if self._serving else open_ledger(self.settings, counting=counting)
            self._stack.callback(self._ledger.close)
        return self._ledger

    async def ask(self, model: str) -> Ask:
        """Return what stages ask a model with: its door, or a forecaster that listens. Raises ModelError."""
        return self._asking(model, await self.door(model), self.settings.models.get(model, ModelSettings()))

    async def stream(self, model: str) -> Stream:
        """Return what asks a model for free text, whose pieces are heard as they come. Raises ModelError."""
        return (await self.door(model)).stream

    async def ask_service(
        self, name: str, opened: AbstractAsyncContextManager[Endpoint], limits: ModelSettings
    ) -> Ask:
        """Return what stages ask an endpoint with that is no model of a transport, e.g. a translator.

        opened: is entered when the name is first asked for. Its calls are kept and capped as all are.
        """
        if name not in self._doors:
            endpoint = await self._stack.enter_async_context(opened)
            ledger = self._opened_ledger()
            self._doors[name] = Door(
                endpoint,
                limits,
                ledger,
                self.budget,
                offline=self.offline,
                name=name,
                keep_failures=self._keep_failures,
            )
        return self._asking(name, self._doors[name], limits)

    def _asking(self, name: str, door: Door, limits: ModelSettings) -> Ask:
        if self._forecaster is None or name.startswith("recorded/"):
            return door.ask
        return self._forecaster.listen(name, door, limits)

    def forecast(self) -> Forecast:
        """Return what the forecaster heard. Raises ValueError in a session that has none."""
        if self._forecaster is None:
            raise ValueError("this session makes calls: open one with open_forecast")
        return self._forecaster.forecast(self._ledger.earlier if self._ledger else lambda _model: [])

    def stop(self) -> None:
        """Let no door make another call; those in flight come home."""
        for door in self._doors.values():
            door.stop()

    def state(self) -> State:
        """Return what is asked of models at this moment."""
        return state_of(self.budget)

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Within the block, calls that the ledger lacks are put off; nothing there is shown or counted."""
        failed, late = self.budget.failed.copy(), self.budget.late
        self._collect(True)
        self.progress = silent
        try:
            yield
        finally:
            self._collect(False)
            self.progress = self._bars
            self.budget.failed, self.budget.late = failed, late

    def _bar(self, name: str, n_calls: int) -> AbstractContextManager[Advance]:
        return self._bars(name, n_calls, self.state)

    def _collect(self, collecting: bool) -> None:
        self._collecting = self.call_log.paused = collecting
        for batches in self._batches:
            batches.collecting = collecting

    async def submit(self) -> bool:
        """Submit the calls that were put off, and wait; return whether that may have led to more of them.

        Raises ModelError when no call can succeed, or a batch is refused.
        """
        return any([await batches.round() for batches in self._batches])

    def calls(self) -> Calls:
        """Return what was asked of models so far, and what it cost."""
        prices = {name: read for name, (_identity, read) in self.opened().items() if read is not None}
        return calls_of(self.budget, prices)

    def models(self) -> dict[str, str]:
        """Return what was opened: role -> model, as the ledger knows it."""
        roles = {"answer": self.settings.answer.model, "judge": self.settings.judge.model}
        roles |= {
            f"reranker {name}": declared.by
            for name, declared in self.settings.retrievers.items()
            if isinstance(declared, RerankSettings)
        }
        roles |= {f"judges' member {n}": model for n, model in enumerate(self._members, 1)}
        known = self.opened()
        found = {role: known[model][0] for role, model in roles.items() if model in known}
        found |= {f"system {name}": asked for name, asked in self.systems.items()}
        return found | ({"embedder": ", ".join(self._embedders)} if self._embedders else {})

    def opened(self) -> dict[str, tuple[str, str | None]]:
        """Return the models that were opened: name -> the ledger's name of it, the day of a list price."""
        return self.met | {
            name: (door.endpoint.identity, read_on(door.price)) for name, door in self._doors.items()
        }

    async def enter(self, context: AbstractAsyncContextManager[Out]) -> Out:
        """Return what a context gives, which ends with the session."""
        return await self._stack.enter_async_context(context)

    async def identities(self, models: Iterable[str]) -> dict[str, str]:
        """Return models that were asked: name -> model, as the ledger knows it, each once."""
        return {name: (await self.door(name)).endpoint.identity for name in models}

    def embedder(self, name: str) -> Embedder:
        """Return an embedder, opened once. Raises ModelError."""
        if name not in self._embedders:
            self._embedders[name] = open_embedder(
                name,
                self.settings.path(".ragstone"),
                self.settings,
                self.budget,
                offline=self.offline,
                forecaster=self._forecaster,
                serving=self._serving,
            )
            self._stack.callback(self._embedders[name].close)
        return self._embedders[name]

    def _embed(self, name: str) -> Embed:
        """Return an embedder that shows how far it is."""
        bar = functools.partial(self._bar, "embed")
        return functools.partial(self.embedder(name), bar=bar)

    def secret(self) -> bytes:
        """Return the project's secret, made on first use."""
        if self._secret is None:
            self._secret = load_secret(self.settings.path(".ragstone"))
        return self._secret

    def search_means(self, documents: Iterable[Document] = ()) -> SearchMeans:
        """Return what retrievers need, as `[retrieve]` and `[retrievers]` declare."""
        declared = self.settings.retrieve
        return SearchMeans(
            retrievers=self.settings.retrievers,
            filter=Filter(where=declared.where, match=tuple(declared.match)),
            embedder=declared.embedder,
            open_embedder=self._embed,
            open_door=self.ask,
            context_tokens=self.context_tokens,
            each=self.each,
            documents={document.id: document for document in documents},
            offline=self.offline and self._forecaster is None,
            secret=self.secret,
            store=self.settings.path(".ragstone"),
        )

    def context_tokens(self, model: str) -> int:
        """Return how many tokens prompt and reply of a model may have together, by estimate if need be."""
        declared = self.settings.models.get(model, ModelSettings()).context_tokens
        return declared or (LOCAL_CONTEXT_TOKENS if model.startswith("llamacpp/") else HOSTED_CONTEXT_TOKENS)

    async def each(self, name: str, work: Callable[[In], Awaitable[Out]], rows: Sequence[In]) -> list[Out]:
        """Return `work(row)` for every row, in order, many under way at once, with a bar."""
        with self.progress(name, len(rows), self.state) as advance:
            done = []
            async for out in map_in_order(work, rows, self.stop):
                advance()
                done.append(out)
            return done

    async def means(self, judges: Sequence[Judge], model: str | None = None) -> JudgeContext:
        """Return what these judges need; model: in place of that of `[judge]`.

        Raises ModelError if they ask a model and none is named.
        """
        model = model or self.settings.judge.model
        asking = [judge.name for judge in judges if asks_default(judge)]
        embedding = any(
            isinstance(leaf, EmbeddingJudge) for judge in judges for leaf, _model in leaves(judge)
        )
        embed = Gathered(self.embedder(self.settings.retrieve.embedder)) if embedding else None
        self._members = sorted(set().union(*map(models_of, judges)))
        if not asking and not self._members:
            return JudgeContext(embed=embed)
        if asking and model is None:
            raise ModelError(
                f"{', '.join(asking)}: these judges ask a model. Name one with --model, e.g. "
                "openai/gpt-4o-mini, or as model in the table [judge] of ragstone.toml."
            )
        return JudgeContext(
            ask=await self.ask(model) if asking and model else no_model,
            model=model or NO_MODEL,
            others={name: await self.ask(name) for name in self._members},
            secret=self.secret(),
            embed=embed,
            context_tokens=self.context_tokens,
        )


def in_rounds_of(settings: Settings) -> list[str]:
    """Return the models that stages ask and that are answered in rounds."""
    asked = (settings.answer.model, settings.judge.model)
    return [name for name in asked if name is not None and name.startswith(IN_ROUNDS)]


def _unsent(model: str) -> Endpoint:
    async def send(_prompt: Prompt) -> Completion:
        raise ModelError(f"{model} is asked in rounds alone")

    return Endpoint(identity=model, send=send, concurrency=1, price=None)


@contextlib.asynccontextmanager
async def open_session(
    settings: Settings,
    *,
    caps: Caps | None = None,
    offline: bool = False,
    batch: bool = False,
    serving: bool = False,
    progress: Progress = silent,
) -> AsyncIterator[Session]:
    """Give a session; at the end of the block calls are over and the ledger is flushed.

    batch: calls go through the provider's batch API. serving: for people who wait, for as long as a server
    runs: what they ask is kept in memory alone, a call that fails is given up soon, and a model that was down
    is asked again some seconds later. Raises ConfigError for a batch offline.
    """
    if batch and offline:
        raise ConfigError("--batch submits calls, and --offline forbids them: give one of the two.")
    if batch and settings.engine.kind == "ray":
        raise ConfigError(
            "--batch has the provider do the calls, and --engine ray the workers of a cluster: give one of "
            "the two. With --batch this process is enough."
        )
    async with AsyncExitStack() as stack:
        yield Session(settings, stack, caps or Caps(), offline, progress, batch=batch, serving=serving)


@contextlib.asynccontextmanager
async def open_forecast(settings: Settings, forecaster: Forecaster) -> AsyncIterator[Session]:
    """Give a session that makes no call: the forecaster hears what stages would ask."""
    here = choose(settings, "engine", kind="local")
    async with AsyncExitStack() as stack:
        yield Session(here, stack, Caps(), True, silent, forecaster=forecaster)


def forecast_of(settings: Settings, work: Callable[[Session, Forecaster], Awaitable[None]]) -> Forecast:
    """Return what `work` would ask of models; nobody is asked."""

    async def run() -> Forecast:
        forecaster = Forecaster()
        async with open_forecast(settings, forecaster) as session:
            await work(session, forecaster)
            return session.forecast()

    return run_sync(run())
