"""The folder of a bench: made before anything is paid for, held while it runs, finished with its numbers."""

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.engine.manifest import check_manifest, write_manifest
from ragstone.kernel.engine.output import make_folder
from ragstone.kernel.judging import Judge
from ragstone.kernel.tables import held


class BenchFolder(msgspec.Struct, frozen=True, kw_only=True):
    """Where a bench writes. decisive: the settings without those that decide nothing of it."""

    path: Path
    decisive: Settings

    def finish(
        self,
        file: str,
        numbers: object,
        *,
        models: Mapping[str, str],
        judges: Sequence[Judge] = (),
    ) -> None:
        """Write the manifest, then the numbers: with these the bench is done, and only its page is left."""
        write_manifest(self.path, self.decisive, judges, models)
        (self.path / file).write_bytes(msgspec.json.format(msgspec.json.encode(numbers), indent=2))


def bench_path(settings: Settings, kind: str) -> Path:
    """Return the folder of a kind of bench: `runs/NAME-KIND`."""
    return settings.path("runs") / f"{settings.run.name}-{kind}"


@contextlib.contextmanager
def open_folder(path: Path, decisive: Settings, force: bool, stale: str) -> Iterator[BenchFolder]:
    """Give the folder of a bench, held against another process, without the rows of the one before.

    stale: pattern of the files of rows. Raises DataError where it cannot be made, where it holds a bench
    with other settings (unless `force`), and where another process is at work in it.
    """
    make_folder(path)
    with held(path):
        check_manifest(path, decisive, force)
        for old in path.glob(stale):
            old.unlink()
        yield BenchFolder(path=path, decisive=decisive)


def slug(name: str, most: int = 60) -> str:
    """Return a name as a part of a file's name."""
    return re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-")[:most]
