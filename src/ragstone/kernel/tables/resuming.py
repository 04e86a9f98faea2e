"""Rows that a run which died had finished, so that their work is not done again."""

from collections.abc import Callable, Iterator
from typing import TypeVar

from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.tables._shards import Shard, read_manifest
from ragstone.kernel.tables.reading import read_rows
from ragstone.kernel.tables.storage import Place, below, entries, is_shards

RowT = TypeVar("RowT", Document, Chunk)


def finished_rows(
    folder: Place, row_type: type[RowT], made_from: str, of: Callable[[RowT], str]
) -> tuple[str | None, Callable[[], Iterator[RowT]]]:
    """Return what the last finished row is of, and a function that gives the rows before those of it.

    of: a row -> what it was made from, e.g. the document of a chunk. The rows of the last one may go on in a
    shard that was never finished, so they are to be made again, and all that come after them. None and no
    rows where the folder is finished, is not there, or was made from something else.
    """
    shards = _finished(folder, row_type, made_from)
    if not shards:
        return None, lambda: iter(())

    def rows() -> Iterator[RowT]:
        for shard in shards:
            yield from read_rows(below(folder, shard.name), row_type)

    last = None
    for row in read_rows(below(folder, shards[-1].name), row_type):
        last = of(row)
    return last, lambda: (row for row in rows() if of(row) != last)


def _finished(folder: Place, row_type: type, made_from: str) -> list[Shard]:
    """Return the shards from the first on that are as they were written, of a folder that is not finished."""
    manifest = read_manifest(folder) if is_shards(folder) else None
    if (
        manifest is None
        or manifest.finished
        or (manifest.made_from, manifest.rows) != (made_from, row_type.__name__)
    ):
        return []
    lengths = {entry.name: entry.n_bytes for entry in entries(folder)}
    whole: list[Shard] = []
    for number, shard in enumerate(manifest.shards):
        if (
            shard.name != f"part-{number:05d}.parquet"
            or lengths.get(shard.name) != shard.n_bytes
            or not shard.n_rows
        ):
            break
        whole.append(shard)
    return whole
