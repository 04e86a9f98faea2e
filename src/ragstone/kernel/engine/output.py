"""Rows of a stage -> a file, as they come; after Ctrl-C, what is finished stays beside it and is counted."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TypeVar

from ragstone.kernel.engine.progress_file import FILE as PROGRESS
from ragstone.kernel.errors import Stopped, explaining
from ragstone.kernel.persistence import private
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.records import AnyRow
from ragstone.kernel.tables import open_rows, partial_path
from ragstone.kernel.tables.storage import Place, is_shards, local_path, url_of

RowT = TypeVar("RowT", bound=AnyRow)


def make_folder(folder: Path) -> None:
    """Make the folder of a run, before anything is paid for. Raises DataError where that cannot be."""
    with explaining(
        f"{folder}: the folder cannot be made", "Remove what is there, or work in a writable folder."
    ):
        private.make_folder(folder)


@contextlib.contextmanager
def made_and_held(folder: Path, *copies: str) -> Iterator[None]:
    """Make the folder of a run for the block, and keep other processes out of it.

    A folder that was not there goes again where the block fails before anything was made in it: an empty
    file, one of progress, and copies of what was given, by name, are nothing that was made. Raises DataError
    where the folder cannot be made, and as held does.
    """
    is_new = not folder.exists()
    with private.no_empty_folders():
        make_folder(folder)
        with held(folder):
            try:
                yield
            except BaseException:
                with contextlib.suppress(OSError):  # what failed is told, also where the folder is gone
                    if is_new and not any(
                        file.name.removesuffix(".partial") not in {PROGRESS, *copies}
                        and (file.is_dir() or file.lstat().st_size)
                        for file in folder.iterdir()
                    ):
                        shutil.rmtree(folder)
                raise


async def write_stream(
    rows: AsyncIterator[RowT],
    path: Place,
    row_type: type[RowT],
    *,
    each: Callable[[RowT], object] = lambda _row: None,
    n_planned: int | None = None,
    force: bool = False,
    made_from: str = "",
) -> int:
    """Write rows as they come, and hand each to `each`; return how many there were.

    The file is put in place when all are written. Cancelled, this raises Stopped: the finished rows, if there
    are any, stand in `NAME.partial`, and the others are left out, for none of the statuses is true of a row
    that nobody judged. A file under its own name is always whole. made_from: of a folder of shards, see
    open_rows.
    """
    n_rows = 0
    with open_rows(path, row_type, force=force, made_from=made_from) as write:
        try:
            async for row in rows:
                write(row)
                each(row)
                n_rows += 1
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling() > 1:  # Ctrl-C again: no words, no waiting
                raise
            of_all = "" if n_planned is None else f" of {n_planned}"
            is_kept = n_rows and not (is_shards(path) or url_of(path))
            stood = f"are in {partial_path(local_path(path))}" if is_kept else "were finished"
            raise Stopped(
                f"stopped. {n_rows}{of_all} {row_type.__name__.lower()}s {stood}. Finished calls are in the "
                "ledger: run the same command again to continue."
            ) from None
    return n_rows
