"""What the stages of one command share: settings, models, embedders, budget, progress and the call log."""

import contextlib
import functools
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager, AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from ragstone.kernel.config import RerankSettings, Settings, choose
from ragstone.kernel.config.sections import IN_ROUNDS
from ragstone.kernel.engine.call_log import CallLog, open_call_log
from ragstone.kernel.engine.local import map_in_order, run_sync
from ragstone.kernel.engine.progress import Advance, Progress, State, silent
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.llm.budget import Budget, Caps
from ragstone.kernel.runs.summary import Calls

if TYPE_CHECKING:
    from ragstone.kernel.embedding.embedder import Embedder
    from ragstone.kernel.embedding.model import Embed
    from ragstone.kernel.llm.forecast import Forecast, Forecaster
    from ragstone.kernel.llm.learnt import LearntStore
    from ragstone.kernel.llm.models import Models
    from ragstone.kernel.llm.response_store import AnyLedger
    from ragstone.kernel.llm.rounds import Process
    from ragstone.kernel.systems.function import Callee

In = TypeVar("In")
Out = TypeVar("Out")


class WorkerShare(NamedTuple):
    """What a session on a worker of a cluster shares with the others; without a ledger, it opens its own."""

    budget: Budget
    ledger: "AnyLedger | None"
    secret: bytes
    memory: "LearntStore"
    listening: bool = False


class SessionOptions(NamedTuple):
    """How a session asks models: within which caps, or the ledger alone; by batch; and who shows how far.

    batch: calls go through the provider's batch API.
    """

    caps: Caps = Caps()
    offline: bool = False
    batch: bool = False
    progress: Progress = silent


PLAIN = SessionOptions()


class Session:
    """What stages share; each thing is opened when it is first needed."""

    def __init__(
        self,
        settings: Settings,
        stack: AsyncExitStack,
        how: SessionOptions,
        *,
        forecaster: "Forecaster | None" = None,
        serving: bool = False,
        worker: WorkerShare | None = None,
    ) -> None:
        models = (settings.answer.model, settings.judge.model)
        in_rounds = any(name is not None and name.startswith(IN_ROUNDS) for name in models)
        self.settings = settings
        self.budget = Budget(how.caps) if worker is None else worker.budget
        self.progress = how.progress
        # Whether calls are put off and answered many at a time: see rounds.py.
        self.batching = how.batch or (forecaster is None and worker is None and in_rounds)
        self.call_log = CallLog(listening=worker is not None and worker.listening)
        self.systems: dict[str, str] = {}  # name -> what was asked, as the ledger knows it
        self.callables: dict[str, Callee] = {}  # those that are given as such, not in `[systems]`
        self.processes: dict[str, Process] = {}  # what answers a model's rounds, if not vLLM on the workers
        self._how = how
        self._stack = stack
        self._opened: dict[str, object] = {}
        self._forecaster = forecaster
        self._serving = serving
        self._worker = worker
        self._embedders: dict[str, Embedder] = {}
        self._opening = threading.Lock()
        self._secret: bytes | None = None if worker is None else worker.secret

    @functools.cached_property
    def models(self) -> "Models":
        """The models by name, each opened when it is first asked for."""
        from ragstone.kernel.llm.models import Models

        forecasting, how, settings = self._forecaster is not None, self._how, self.settings
        return Models(
            settings,
            self._stack,
            self.budget,
            None if self._worker is None else self._worker.ledger,
            offline=how.offline,
            # A forecast asks nobody, and counts the calls that a run would make again.
            keep_failures=settings.ledger.keep_failures or (how.offline and not forecasting),
            serving=self._serving,
            wrap=None if self._forecaster is None else self._forecaster.listen,
            batch_progress=self._bar if how.batch else None,
            process=self._process,
            memory=None if forecasting else self._memory(),
        )

    @property
    def opened(self) -> dict[str, tuple[str, str | None]]:
        """The models that were opened: name -> the ledger's name of it, the day of a list price."""
        return self.models.opened() if "models" in vars(self) else {}

    def stop(self) -> None:
        """Let no call be begun; those in flight come home."""
        if "models" in vars(self):
            self.models.stop()

    @property
    def forecaster(self) -> "Forecaster":
        """What hears the calls of stages, which nobody makes. Raises ValueError where calls are made."""
        if self._forecaster is None:
            raise ValueError("this session makes calls: forecast_of opens one that makes none")
        return self._forecaster

    def state(self) -> State:
        """Return what is asked of models at this moment."""
        budget = self.budget
        return State(
            made=budget.made, in_flight=budget.in_flight, retries=budget.retries, spent_usd=budget.spent_usd
        )

    def calls(self) -> Calls:
        """Return what was asked of models so far, and what it cost."""
        budget = self.budget
        return Calls(
            made=budget.made,
            from_ledger=budget.from_ledger,
            failed=dict(budget.failed),
            usage=budget.usage,
            cost_usd=budget.usd,
            retries=budget.retries,
            late=budget.late,
            list_prices={name: read for name, (_identity, read) in self.opened.items() if read is not None},
            reasoning_cost_usd=budget.reasoning_usd if budget.usage.reasoning else None,
            cut_off=budget.cut_off,
            cut_off_cost_usd=budget.cut_off_usd if budget.cut_off.calls else None,
        )

    def roles(self, members: Sequence[str] = ()) -> dict[str, str]:
        """Return what was opened: role -> model, as the ledger knows it.

        members: models that members of juries and cascades name, see judging.fields.members_of.
        """
        roles = {"answer": self.settings.answer.model, "judge": self.settings.judge.model}
        roles |= {
            f"reranker {name}": declared.by
            for name, declared in self.settings.retrievers.items()
            if isinstance(declared, RerankSettings)
        }
        roles |= {f"judges' member {n}": model for n, model in enumerate(members, 1)}
        opened = self.opened
        used = {role: opened[model][0] for role, model in roles.items() if model in opened}
        used |= {f"system {name}": identity for name, identity in self.systems.items()}
        return used | ({"embedder": ", ".join(self._embedders)} if self._embedders else {})

    async def enter(self, context: AbstractAsyncContextManager[Out]) -> Out:
        """Return what a context gives, which ends with the session."""
        return await self._stack.enter_async_context(context)

    async def once(self, name: str, open_: Callable[[], AbstractAsyncContextManager[Out]]) -> Out:
        """Return what a context gives, which is entered when its name is first asked for."""
        if name not in self._opened:
            self._opened[name] = await self.enter(open_())
        return cast(Out, self._opened[name])

    def embedder(self, name: str, *, as_given: bool = False) -> "Embedder":
        """Return an embedder, opened once. as_given: see open_embedder. Raises ModelError."""
        key = f"{name}#as-given" if as_given else name
        with self._opening:  # documents are chunked by meaning on several threads
            if key not in self._embedders:
                from ragstone.kernel.embedding.opening import open_embedder  # most commands embed nothing

                self._embedders[key] = open_embedder(
                    name,
                    self.settings.path(".ragstone"),
                    self.settings,
                    self.budget,
                    offline=self._how.offline,
                    forecaster=self._forecaster,
                    serving=self._serving,
                    as_given=as_given,
                )
                self._stack.callback(self._embedders[key].close)
            return self._embedders[key]

    def embed(self, name: str, *, as_given: bool = False) -> "Embed":
        """Return an embedder that shows how far it is."""
        return functools.partial(
            self.embedder(name, as_given=as_given), bar=functools.partial(self._bar, "embed")
        )

    def secret(self) -> bytes:
        """Return the project's secret, made on first use."""
        if self._secret is None:
            from ragstone.kernel.llm.untrusted import load_secret

            self._secret = load_secret(self.settings.path(".ragstone"))
        return self._secret

    async def each(self, name: str, work: Callable[[In], Awaitable[Out]], rows: Sequence[In]) -> list[Out]:
        """Return `work(row)` for every row, in order, many under way at once, with a bar."""
        with self.progress(name, len(rows), self.state) as advance:
            done = []
            async for out in map_in_order(work, rows, self.stop):
                advance()
                done.append(out)
            return done

    @property
    def asks_nobody(self) -> bool:
        """Whether nothing elsewhere may be asked, and no forecast is made that counts what would be."""
        return self._how.offline and self._forecaster is None

    @contextlib.contextmanager
    def logging_calls(self, folder: Path) -> Iterator[None]:
        """Within the block, what rows ask and are told is kept in the file of a run's folder."""
        before = self.call_log
        try:
            with open_call_log(folder) as self.call_log:
                yield
        finally:
            self.call_log = before

    @contextlib.contextmanager
    def collecting(self) -> Iterator[None]:
        """Within the block, calls that the ledger lacks are put off; nothing there is shown or counted."""
        bars, self.progress, self.call_log.paused = self.progress, silent, True
        try:
            with self.models.collecting():
                yield
        finally:
            self.progress, self.call_log.paused = bars, False

    def _bar(self, name: str, n_calls: int) -> AbstractContextManager[Advance]:
        return self.progress(name, n_calls, self.state)

    def _memory(self) -> "LearntStore":
        from ragstone.kernel.llm.learnt import learnt_in_folder

        folder = self.settings.path(".ragstone")
        return learnt_in_folder(folder) if self._worker is None else self._worker.memory

    def _process(self, model: str) -> "Process":
        from ragstone.kernel.engine.cluster.vllm import processed

        return self.processes.get(model) or functools.partial(processed, model, self.settings)


@contextlib.asynccontextmanager
async def open_session(
    settings: Settings, how: SessionOptions = PLAIN, *, serving: bool = False
) -> AsyncIterator[Session]:
    """Give a session; at the end of the block calls are over and the ledger is flushed.

    serving: for people who wait, for as long as a server runs: what they ask is kept in memory alone, a call
    that fails is given up soon, and a model that was down is asked again some seconds later. Raises
    ConfigError for a batch offline.
    """
    if how.batch and how.offline:
        raise ConfigError("--batch submits calls, and --offline forbids them: give one of the two.")
    if how.batch and settings.engine.kind == "ray":
        raise ConfigError(
            "--batch has the provider do the calls, and --engine ray the workers of a cluster: give one of "
            "the two. With --batch this process is enough."
        )
    async with AsyncExitStack() as stack:
        yield Session(settings, stack, how, serving=serving)


def run_in_session(settings: Settings, how: SessionOptions, work: Callable[[Session], Awaitable[Out]]) -> Out:
    """Return what `work` gives in a session of its own, from a script or from a notebook."""

    async def run() -> Out:
        async with open_session(settings, how) as session:
            return await work(session)

    return run_sync(run())


def forecast_of(settings: Settings, work: "Callable[[Session], Awaitable[object]]") -> "Forecast":
    """Return what `work` would ask of models; nobody is asked: the session's forecaster hears its calls."""
    from ragstone.kernel.llm.forecast import Forecaster

    async def run() -> "Forecast":
        here, forecaster = choose(settings, "engine", kind="local"), Forecaster()
        async with AsyncExitStack() as stack:
            session = Session(here, stack, SessionOptions(offline=True), forecaster=forecaster)
            await work(session)
            return forecaster.forecast(session.models.earlier)

    return run_sync(run())
