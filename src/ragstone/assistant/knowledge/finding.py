"""What the sources of a build stand for: each file with its bytes and their digest."""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import msgspec

from ragstone.corpus.file import File, IngestOptions, Skipped
from ragstone.corpus.sources import Found, files_of, loaded
from ragstone.errors import DataError


class Sighted(msgspec.Struct, frozen=True, kw_only=True):
    """A file that was found, with its bytes: what is read is what the digest is of.

    path: absolute; of a file in an archive the archive's and the name there. named: the source is the file
    itself.
    """

    file: File
    path: str
    digest: str
    named: bool


def root_of(source: Path | str) -> str:
    """Return a source as it is remembered: absolute, so that it means the same wherever a build runs."""
    return os.path.abspath(Path(source).expanduser())  # noqa: PTH100 - resolve() would follow links


def found_under(root: str, options: IngestOptions) -> list[Found]:
    """Return what a source stands for; the files are not opened yet, but for the lists of archives.

    Raises DataError for a source that does not exist, has an ending that cannot be read, matches nothing or
    is a folder without a file.
    """
    found = files_of([root], options)
    if not found:
        raise DataError(
            f"{root}: holds no file. Check the spelling; hidden files and folders are passed over."
        )
    return found


def sight(root: str, found: Sequence[Found], options: IngestOptions) -> Iterator[Sighted | Skipped]:
    """Yield the files in their order, each with its content, or why it has none."""
    with closing(loaded(found, options)) as files:
        for file in files:
            yield file if isinstance(file, Skipped) else _sighted(root, file, options.max_file_mb)


def _sighted(root: str, file: File, max_file_mb: int) -> Sighted | Skipped:
    try:
        if file.content is None and file.path.stat().st_size > max_file_mb * 1_000_000:
            return Skipped(str(file.path), f"it is larger than {max_file_mb} MB: split it")
        content = file.read_bytes()
    except OSError as mistake:
        return Skipped(str(file.path), str(mistake))
    return Sighted(
        file=msgspec.structs.replace(file, content=content),
        path=str(file.path),
        digest=blake2b(content, digest_size=16).hexdigest(),
        named=str(file.path) == root,
    )
