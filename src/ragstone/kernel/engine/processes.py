"""Rows of a stage that asks nobody, through processes beside this one: one for each core, in order."""

import asyncio
import contextlib
import itertools
import pickle
import queue
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, NamedTuple, TypeVar, cast

from ragstone.kernel.engine.cluster.spec import StageSpec, built_work, portable, stage_spec
from ragstone.kernel.engine.local import map_in_order
from ragstone.kernel.engine.row_work import RowWork
from ragstone.kernel.engine.session import Session, open_session
from ragstone.kernel.errors import RagstoneError, plural
from ragstone.kernel.processes import HelperProcess, answer_messages, death, n_cores

In = TypeVar("In")
Out = TypeVar("Out")

BLOCK_S = 0.05  # that a block of rows takes
MOST_ROWS = 256  # of a block: rows in flight are in memory
AHEAD = 2  # blocks for each process: one that it has, and one that waits
TRIES = 2  # at a block whose process dies
_LAST_BREATH_S = 5
_RUN = "from ragstone.kernel.engine.processes import main; main()"
BEFORE = ""  # what a process runs first; a test of one that dies needs it


class ComputedRows(NamedTuple):
    """What became of a block of rows, and the error that ended it, if one did."""

    made: list[Any]
    error: Exception | None = None


def main() -> None:
    """Answer messages until there are no more: first the spec of a stage, then blocks of its rows."""
    with asyncio.Runner() as runner:
        asking: AsyncGenerator[bytes, list[object]] | None = None

        def answer(message: bytes) -> bytes:
            nonlocal asking
            request = pickle.loads(message)  # noqa: S301 - from the process that started this
            if asking is None:
                asking = _made(request)
                return runner.run(anext(asking))
            return runner.run(asking.asend(request))

        answer_messages(answer)


async def _made(spec: StageSpec) -> AsyncGenerator[bytes, list[object]]:
    """Yield what becomes of each block that is sent, after an empty reply to the spec."""
    async with open_session(spec.settings) as session:
        _row, work = await built_work(spec, session)
        block = yield b""
        while True:
            # Together, for members of a stack are tasks: so the loop turns once for many of them.
            outs = await asyncio.gather(*map(work, block), return_exceptions=True)
            made = list(itertools.takewhile(lambda out: not isinstance(out, BaseException), outs))
            error = next((portable(out) for out in outs if isinstance(out, BaseException)), None)
            block = yield pickle.dumps(ComputedRows(made, error), protocol=5)


@contextlib.asynccontextmanager
async def open_processes(
    work: RowWork[In, Out], session: Session, **arguments: object
) -> AsyncIterator["RowProcesses[In, Out]"]:
    """Give the processes of a stage, which end with the block; each is started at its first block of rows.

    As many as there are cores, or `[engine] workers` where that is less.
    """
    cores, most = n_cores(), session.settings.engine.workers
    spec = stage_spec(work.name, session.settings, listening=False, **arguments)
    processes: RowProcesses[In, Out] = RowProcesses(spec, min(cores, most or cores))
    try:
        yield processes
    finally:
        processes.close()


class RowProcesses(Generic[In, Out]):
    """Processes that do the work of a stage on rows, which must ask nobody. See open_processes."""

    def __init__(self, spec: StageSpec, n: int) -> None:
        self._spec = pickle.dumps(spec, protocol=5)
        self._helpers = [HelperProcess(f"{BEFORE}\n{_RUN}") for _ in range(n)] if n > 1 else []
        self._idle: queue.SimpleQueue[HelperProcess] = queue.SimpleQueue()
        for helper in self._helpers:
            self._idle.put(helper)
        self._threads = ThreadPoolExecutor(max(1, n), thread_name_prefix="rows")

    async def map(
        self,
        here: Callable[[In], Awaitable[Out]],
        rows: Iterable[In],
        stop: Callable[[], None],
        *,
        row_s: float,
    ) -> AsyncIterator[Out]:
        """Yield what becomes of each row, in order. Stops and raises as `map_in_order` does.

        here: the work in this process. row_s: the seconds that a row takes a core.
        """
        if not self._helpers:
            alone = map_in_order(here, rows, stop)
            async with contextlib.aclosing(cast(AsyncGenerator[Out, None], alone)):
                async for out in alone:
                    yield out
            return
        left = iter(rows)
        size = max(1, min(MOST_ROWS, int(BLOCK_S / max(row_s, 1e-6))))
        blocks = iter(lambda: list(itertools.islice(left, size)), [])

        async def done(block: list[In]) -> ComputedRows:
            computed = await asyncio.get_running_loop().run_in_executor(self._threads, self._do, block)
            return ComputedRows([await here(row) for row in block]) if computed is None else computed

        made = map_in_order(done, blocks, stop, window=AHEAD * len(self._helpers))
        async with contextlib.aclosing(cast(AsyncGenerator[ComputedRows, None], made)):
            async for block in made:
                for out in block.made:
                    yield out
                if block.error is not None:
                    raise block.error

    def close(self) -> None:
        """End all processes."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        for helper in self._helpers:
            helper.end()
        self._threads.shutdown()
        for helper in self._helpers:
            helper.rest(_LAST_BREATH_S)

    def _do(self, rows: list[In]) -> ComputedRows | None:
        """Return what becomes of a block; None where no process can be started. Raises RagstoneError."""
        block = pickle.dumps(rows, protocol=5)
        helper = self._idle.get()
        how = ""
        try:
            for _ in range(TRIES):
                if not helper.running and not (helper.start() and helper.ask(self._spec) is not None):
                    return None
                reply = helper.ask(block)
                if reply is not None:
                    return cast(ComputedRows, pickle.loads(reply))  # noqa: S301 - from a process of ours
                how = death(helper.rest(_LAST_BREATH_S))
        finally:
            self._idle.put(helper)
        raise RagstoneError(
            f"the process that computed {plural(len(rows), 'row')} died twice ({how}). If memory is short, "
            "set workers = 1 in the table [engine] of ragstone.toml: one process then computes all rows."
        )
