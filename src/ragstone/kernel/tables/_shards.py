"""A folder of shards: rows in files of a fixed number, each put in place whole, so that a dead run goes on.

`part-00000.parquet`, `part-00001.parquet`, ... and `_manifest.json`, which lists those that are finished.
They are Parquet, since a shard then says by itself whether it is whole, and tools read folders of them.
"""

import contextlib
import hashlib
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.records import Document, Row
from ragstone.kernel.tables.outputs import expect_output, may_write
from ragstone.kernel.tables.storage import (
    FolderEntry,
    Place,
    below,
    entries,
    local_path,
    open_bytes,
    put_bytes,
    put_whole,
    remove,
    url_of,
)

MANIFEST = "_manifest.json"
ENDINGS = (".parquet", ".jsonl", ".ndjson", ".jsonl.gz")
SHARD_ROWS: dict[type, int] = {Document: 500}  # a document may be a book
OTHER_ROWS = 10_000

Write = Callable[[Row], None]
WriteFile = Callable[[Path, type], AbstractContextManager[Write]]

_OURS = re.compile(r"part-\d{5,}\.parquet")


class Shard(msgspec.Struct, frozen=True):
    """A finished file of a folder. digest: of its rows as JSON."""

    name: str
    n_rows: int
    n_bytes: int
    digest: str


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """What a folder of shards says of itself.

    made_from: digest of the settings and the rows that it is made from. finished: whether all rows are in it.
    """

    version: int = 1
    rows: str
    made_from: str = ""
    finished: bool = False
    shards: list[Shard] = []


def shards_of(folder: Place) -> list[str]:
    """Return the names of the shards of a folder, in order; none where it holds no file of rows.

    Raises DataError where shards are of several formats, where the run that writes them is not finished, and
    where they are not those that the manifest lists.
    """
    listed = entries(folder)
    names = [entry.name for entry in listed if _is_shard(entry.name)]
    manifest = read_manifest(folder) if any(entry.name == MANIFEST for entry in listed) else None
    if manifest is None:
        kinds = sorted({next(entry for entry in reversed(ENDINGS) if name.endswith(entry)) for name in names})
        if len(kinds) > 1:
            raise DataError(
                f"{folder}: shards of several formats ({', '.join(kinds)}), so it is unclear which to read. "
                "Move the others elsewhere."
            )
        return names
    if not manifest.finished:
        raise DataError(
            f"{folder}: the run that writes these shards has not finished. Run its command again: it "
            "continues where it stopped."
        )
    _check_listed(folder, manifest, listed)
    return [shard.name for shard in manifest.shards]


def _check_listed(folder: Place, manifest: Manifest, listed: list[FolderEntry]) -> None:
    there = {entry.name: entry.n_bytes for entry in listed if _is_shard(entry.name)}
    for shard in manifest.shards:
        n_bytes = there.pop(shard.name, None)
        if n_bytes is None:
            raise DataError(
                f"{folder}: the shard {shard.name} is missing. Copy the folder again, or make it again."
            )
        if n_bytes != shard.n_bytes:
            raise DataError(
                f"{below(folder, shard.name)}: {n_bytes:,} bytes long, and {shard.n_bytes:,} when it was "
                "written: it was cut off or replaced. Copy the folder again, or make it again."
            )
    if there:
        raise DataError(
            f"{folder}: {min(there)} is not among the shards that {MANIFEST} lists. Move it elsewhere, or "
            f"remove {MANIFEST} to read all shards."
        )


def read_manifest(folder: Place) -> Manifest | None:
    """Return the manifest of a folder, None where it has none. Raises DataError for one that is broken."""
    location = below(folder, MANIFEST)
    if not any(entry.name == MANIFEST for entry in entries(folder)):
        return None
    fix = "Give another folder, or remove this one."
    with (
        explaining(f"{location}: cannot be read", fix, msgspec.DecodeError, OSError),
        open_bytes(location) as file,
    ):
        return msgspec.json.decode(file.read(), type=Manifest)


def check_folder(folder: Place, *, force: bool) -> Manifest | None:
    """Return the manifest of what may be gone on with, None for a folder that is empty or to be replaced.

    Raises DataError for a folder that is finished, unless `force`, and for one with files of rows that no
    run of ours wrote, which nobody's `force` removes.
    """
    listed = [entry.name for entry in entries(folder)]
    foreign = [name for name in listed if _is_shard(name) and not _OURS.fullmatch(name)]
    if foreign:
        raise DataError(
            f"{folder}: holds {foreign[0]}, which is not a shard of this command but would be read as one. "
            "Give another folder, or move it elsewhere."
        )
    if url_of(folder) is None:
        expect_output(local_path(folder) / MANIFEST)
    if force:
        return None
    manifest = read_manifest(folder)
    if manifest is None and any(map(_is_shard, listed)):
        raise DataError(
            f"{folder}: holds shards without {MANIFEST}, so it is unknown what they were made from. Give "
            "another folder, or --force to replace them."
        )
    if manifest is not None and manifest.finished:
        if url_of(folder) is None and may_write(local_path(folder) / MANIFEST, force, grows=False):
            return None
        raise DataError(
            f"{folder} is finished and was not touched. Give another folder, or --force to replace it."
        )
    return manifest


@contextlib.contextmanager
def open_shards(
    folder: Place, row_type: type, write_file: WriteFile, *, force: bool = False, made_from: str = ""
) -> Iterator[Write]:
    """Give a function that writes one row; the folder is finished when the block ends without an error.

    write_file: writes a local Parquet file of rows. made_from: digest of the settings and the rows that these
    are made from: shards of another one are refused. Those that a run that died has finished are not written
    again, as long as the rows are the same. Raises DataError as check_folder does.
    """
    with contextlib.ExitStack() as stack:
        if url_of(folder) is None:
            local = local_path(folder)
            local.mkdir(parents=True, exist_ok=True)
            stack.enter_context(held(local))
            room = local
        else:
            room = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ragstone-")))
        earlier = check_folder(folder, force=force)
        if earlier is not None and (earlier.made_from, earlier.rows) != (made_from, row_type.__name__):
            raise DataError(
                f"{folder}: the shards there are made from other rows or settings. Give another folder, or "
                "--force to replace them."
            )
        shards = _Shards(folder, room, row_type, write_file, made_from=made_from)
        shards.begin(earlier)
        yield shards.write
        shards.finish()


class _Shards:
    """The rows of the shard that is being filled, and the shards before it."""

    def __init__(
        self, folder: Place, room: Path, row_type: type, write_file: WriteFile, *, made_from: str
    ) -> None:
        """room: a local folder for files that are not whole."""
        self._folder, self._room, self._row_type, self._write_file = folder, room, row_type, write_file
        self._manifest = Manifest(rows=row_type.__name__, made_from=made_from)
        self._earlier: dict[str, Shard] = {}
        self._rows: list[Row] = []
        self._digest = hashlib.blake2b(digest_size=16)
        self._encode = msgspec.json.Encoder().encode
        self._size = SHARD_ROWS.get(row_type, OTHER_ROWS)

    def begin(self, earlier: Manifest | None) -> None:
        """Note what is there, and that the folder is not finished."""
        lengths = {entry.name: entry.n_bytes for entry in entries(self._folder)}
        shards = earlier.shards if earlier else []
        # One of another length was cut off, or is of a run that died while it replaced them.
        self._earlier = {entry.name: entry for entry in shards if lengths.get(entry.name) == entry.n_bytes}
        if earlier is None:
            self._note()
        for name in lengths.keys() - self._earlier.keys():
            if _OURS.fullmatch(name):
                remove(below(self._folder, name))

    def write(self, row: Row) -> None:
        self._rows.append(row)
        self._digest.update(self._encode(row))
        if len(self._rows) == self._size:
            self._close()

    def finish(self) -> None:
        """Write the last shard, remove those of before that are too many, and say that all is there."""
        if self._rows or not self._manifest.shards:
            self._close()
        for name in self._earlier.keys() - {shard.name for shard in self._manifest.shards}:
            remove(below(self._folder, name))
        self._manifest = msgspec.structs.replace(self._manifest, finished=True)
        self._note()

    def _close(self) -> None:
        """Put the shard in its place, unless it is there."""
        name = f"part-{len(self._manifest.shards):05d}.parquet"
        shard = self._earlier.get(name)
        if shard is None or (shard.digest, shard.n_rows) != (self._digest.hexdigest(), len(self._rows)):
            shard = self._made(name)
        self._manifest = msgspec.structs.replace(self._manifest, shards=[*self._manifest.shards, shard])
        if self._earlier.get(name) != shard:
            self._earlier[name] = shard
            self._note()
        self._rows, self._digest = [], hashlib.blake2b(digest_size=16)

    def _made(self, name: str) -> Shard:
        partial = self._room / f"{name}.partial"
        with self._write_file(partial, self._row_type) as write:
            for row in self._rows:
                write(row)
        n_bytes = partial.stat().st_size
        put_whole(partial, below(self._folder, name))
        partial.unlink(missing_ok=True)
        return Shard(name, len(self._rows), n_bytes, self._digest.hexdigest())

    def _note(self) -> None:
        """Write the manifest: the shards of this run, and those of before that it may come to."""
        mine = {shard.name: shard for shard in self._manifest.shards}
        known = [*{**self._earlier, **mine}.values()] if not self._manifest.finished else [*mine.values()]
        manifest = msgspec.structs.replace(
            self._manifest, shards=sorted(known, key=lambda each: (len(each.name), each.name))
        )
        put_bytes(msgspec.json.format(msgspec.json.encode(manifest), indent=1), below(self._folder, MANIFEST))


def _is_shard(name: str) -> bool:
    return name.endswith(ENDINGS) and not name.startswith(("_", "."))
