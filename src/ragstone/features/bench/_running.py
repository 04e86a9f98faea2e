"""How every bench runs: its options, its folder and session, cells that may fail, and the files it leaves."""

import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from ragstone.features.bench._board import LeftOutCell
from ragstone.kernel.config import Settings
from ragstone.kernel.document.blocks import ReportDocument
from ragstone.kernel.document.output import write_document
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.manifest import check_manifest, write_manifest
from ragstone.kernel.engine.output import made_and_held
from ragstone.kernel.engine.progress import Progress
from ragstone.kernel.engine.session import Session, SessionOptions, open_session
from ragstone.kernel.errors import ConfigError, RagstoneError
from ragstone.kernel.judging import Judge
from ragstone.kernel.llm import parse_caps
from ragstone.kernel.systems.prompting import AnsweringPrompt, load_prompt

PlanT = TypeVar("PlanT")
SummaryT = TypeVar("SummaryT")
ValueT = TypeVar("ValueT")


class BenchOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a bench is run: what its session may ask, and whether it replaces one that had other settings."""

    session: SessionOptions
    force: bool = False


class OpenBench(msgspec.Struct, frozen=True, kw_only=True):
    """A bench at work. decisive: the settings without those that decide nothing of it."""

    path: Path
    decisive: Settings
    session: Session

    def finish(
        self,
        file: str,
        numbers: SummaryT,
        document: Callable[[SummaryT], ReportDocument],
        *,
        models: Mapping[str, str],
        judges: Sequence[Judge] = (),
    ) -> None:
        """Write the manifest, then the numbers: with these the bench is done, and only its page is left."""
        write_manifest(self.path, self.decisive, judges, models)
        (self.path / file).write_bytes(msgspec.json.format(msgspec.json.encode(numbers), indent=2))
        write_document(self.path / "report.html", document(numbers))


def run_bench(
    work: Callable[[PlanT, BenchOptions], Coroutine[object, object, SummaryT]],
    plan: PlanT,
    *,
    budget: str | None,
    deadline: str | None,
    offline: bool,
    force: bool,
    progress: Progress,
) -> SummaryT:
    """Return what a bench gives, from a script or from a notebook. plan: what it is about, often settings."""
    session = SessionOptions(parse_caps(budget, deadline), offline, progress=progress)
    return run_sync(work(plan, BenchOptions(session=session, force=force)))


def bench_path(settings: Settings, kind: str) -> Path:
    """Return the folder of a kind of bench: `runs/NAME-KIND`."""
    return settings.path("runs") / f"{settings.run.name}-{kind}"


@contextlib.asynccontextmanager
async def open_bench(
    path: Path, settings: Settings, decisive: Settings, options: BenchOptions, stale: str = "*.jsonl"
) -> AsyncIterator[OpenBench]:
    """Give a bench at work: its folder held against another process, without the rows of the one before.

    stale: pattern of the files of rows. Raises DataError where the folder cannot be made, where it holds a
    bench with other settings (unless `force`), and where another process is at work in it.
    """
    with _emptied_folder(path, decisive, options.force, stale):
        async with open_session(settings, options.session) as session:
            yield OpenBench(path=path, decisive=decisive, session=session)


@contextlib.contextmanager
def _emptied_folder(path: Path, decisive: Settings, force: bool, stale: str) -> Iterator[None]:
    with made_and_held(path):
        check_manifest(path, decisive, force)
        for old in path.glob(stale):
            old.unlink()
        yield


async def attempt(name: str, work: Awaitable[ValueT], failed: list[LeftOutCell]) -> ValueT | None:
    """Return what the work of a cell gives; None where it fails, and `failed` gains the cell with the reason.

    Raises ConfigError, for a mistake in the settings is not the cell's.
    """
    try:
        return await work
    except ConfigError:
        raise
    except RagstoneError as error:
        failed.append(LeftOutCell(name=name, reason=str(error)))
        return None


def slug(name: str, most: int = 60) -> str:
    """Return a name as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:most]


def load_prompts(settings: Settings, names: Sequence[str], setting: str) -> dict[str, AnsweringPrompt]:
    """Return prompts by how the settings name them. setting: where. ConfigError for two of one name."""
    prompts = {name: load_prompt(settings.named(name)) for name in names}
    known: dict[str, str] = {}
    for name, prompt in prompts.items():
        if known.setdefault(prompt.name, name) != name:
            raise ConfigError(
                f"{setting} {known[prompt.name]!r} and {name!r} are both named {prompt.name!r}: give one of "
                "the files another `name`."
            )
    return prompts
