"""Places of rows that are no local file: URLs of object storage, reached through fsspec.

A place is a path or a URL (`s3://bucket/answers.jsonl`); `file://` is a path. pathlib folds two slashes into
one, so a URL that has gone through a Path is recognised as `s3:/bucket/answers.jsonl` too. A local path never
imports fsspec.
"""

import contextlib
import io
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from ragstone.kernel.errors import DataError, MissingExtra, optional_package

Place = Path | str

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(?=[^/]|$)")  # one letter is a drive of Windows
_FILE = "file"


class FolderEntry(msgspec.Struct, frozen=True):
    """A file of a folder: its name there, and how long it is."""

    name: str
    n_bytes: int


def url_of(location: Place) -> str | None:
    """Return the URL that a place is, as it was written; None for a local path, `file://` included."""
    text = str(location)
    scheme = _SCHEME.match(text)
    if scheme is None or scheme[1].lower() == _FILE:
        return None
    return f"{scheme[1].lower()}://{text[scheme.end() :]}"


def local_path(location: Place) -> Path:
    """Return the path that a place is which is no URL."""
    text = str(location)
    scheme = _SCHEME.match(text)
    return Path("/" + text[scheme.end() :]) if scheme else Path(text)


def absolute(location: Place) -> str:
    """Return a place as it is found from any folder."""
    return url_of(location) or str(local_path(location).absolute())


def is_shards(location: Place) -> bool:
    """Return whether a place is written as a folder, with a slash at its end."""
    return isinstance(location, str) and location.endswith(("/", os.sep))


def below(location: Place, name: str) -> Place:
    """Return the place of a file in a folder."""
    url = url_of(location)
    return f"{url.rstrip('/')}/{name}" if url else local_path(location) / name


def open_bytes(location: Place) -> BinaryIO:
    """Return a file to be read, which need not fit into memory. Raises OSError, DataError of a URL."""
    url = url_of(location)
    if url is None:
        return local_path(location).open("rb")
    with told(url, "read"):
        files, path = _filesystem(url)
        # Their own files have no readline that stops at a length.
        return io.BufferedReader(files.open(path, "rb"))


def entries(location: Place) -> list[FolderEntry]:
    """Return the files right in a folder by name; none where there is no such folder. Raises DataError."""
    url = url_of(location)
    if url is None:
        folder = local_path(location)
        files_in = [entry for entry in folder.iterdir() if entry.is_file()] if folder.is_dir() else []
        return sorted(
            (FolderEntry(entry.name, entry.stat().st_size) for entry in files_in),
            key=lambda entry: entry.name,
        )
    with told(url, "listed"):
        files, path = _filesystem(url)
        files.invalidate_cache()  # another process may have written since
        try:
            listed = files.ls(path.rstrip("/"), detail=True)
        except FileNotFoundError as missing:
            if "bucket does not exist" in str(missing):
                raise
            return []
    names = [
        FolderEntry(str(entry["name"]).rpartition("/")[2], int(entry["size"] or 0))
        for entry in listed
        if entry["type"] == "file" and str(entry["name"]).rstrip("/") != path.rstrip("/")
    ]
    return sorted(names, key=lambda entry: entry.name)


def find(url: str) -> list[FolderEntry]:
    """Return all files below a URL, by their names from there; a file's own URL gives one without a name.

    Raises DataError, also where there is none.
    """
    with told(url, "listed"):
        files, path = _filesystem(url)
        files.invalidate_cache()
        sizes = files.find(path, detail=True)
    if not sizes:
        raise DataError(f"{url}: no such file or folder. Check the spelling.")
    start = path.rstrip("/")
    return [
        FolderEntry(name[len(start) :].lstrip("/"), int(entry["size"] or 0))
        for name, entry in sorted(sizes.items())
    ]


def fingerprint(location: Place) -> Iterator[bytes]:
    """Yield bytes that change when what stands at a place does: the content of a file.

    Of a folder or a URL it is the names and lengths of the files, which may be more than one can read twice.
    """
    url, path = url_of(location), local_path(location)
    if url:
        yield from (f"{entry.name}\0{entry.n_bytes}\0".encode() for entry in find(url))
    elif path.is_dir():
        files = sorted(entry for entry in path.rglob("*") if entry.is_file())
        yield from (
            f"{entry.relative_to(path).as_posix()}\0{entry.stat().st_size}\0".encode() for entry in files
        )
    elif path.is_file():
        with path.open("rb") as content:
            while block := content.read(1 << 20):
                yield block


def exists(location: Place) -> bool:
    """Return whether there is a file. Raises DataError of a URL that cannot be reached."""
    url = url_of(location)
    if url is None:
        return local_path(location).exists()
    with told(url, "looked at"):
        files, path = _filesystem(url)
        files.invalidate_cache()
        return bool(files.isfile(path))


def put_whole(content: Path, location: Place) -> None:
    """Put a finished local file in its place, at once; locally it must be on the same disk.

    On object storage the file appears when all of it has arrived. Raises OSError locally, DataError of a URL.
    """
    url = url_of(location)
    if url is None:
        content.replace(local_path(location))
        return
    with told(url, "written"):
        files, path = _filesystem(url)
        files.put_file(str(content), path)


def put_bytes(content: bytes, location: Place) -> None:
    """Put a few bytes in their place, at once. Raises as put_whole does."""
    url = url_of(location)
    if url is None:
        path = local_path(location)
        partial = path.with_name(path.name + ".partial")
        partial.write_bytes(content)
        partial.replace(path)
        return
    with told(url, "written"):
        files, path_there = _filesystem(url)
        files.pipe_file(path_there, content)


def remove(location: Place) -> None:
    """Remove a file, if it is there. Raises OSError locally, DataError of a URL."""
    url = url_of(location)
    if url is None:
        local_path(location).unlink(missing_ok=True)
        return
    with told(url, "removed"), contextlib.suppress(FileNotFoundError):
        files, path = _filesystem(url)
        files.rm_file(path)


def check_url(url: str) -> None:
    """Raise DataError where a file may not be written at a URL; to be called before anything is paid for."""
    trial = f"{url}.partial"
    put_bytes(b"", trial)
    with contextlib.suppress(DataError):  # who may write and not remove leaves an empty file behind
        remove(trial)


@contextlib.contextmanager
def told(location: str, done: str) -> Iterator[None]:
    """Turn what drivers of fsspec raise into a DataError that says what to do. done: what was tried."""
    try:
        yield
    except DataError:
        raise
    except _failures() as mistake:
        raise DataError(f"{location}: could not be {done}: {_advice(mistake)}") from mistake


def _filesystem(url: str) -> tuple[Any, str]:
    """Return the driver of a URL and the path there. Raises MissingExtra, and what drivers raise."""
    with optional_package(f"reading and writing {url}", "storage"):
        from fsspec.core import url_to_fs
    try:
        files, path = url_to_fs(url)
    except ImportError:  # fsspec knows the scheme; its driver (s3fs, gcsfs) is not there
        raise MissingExtra(f"reading and writing {url}", "storage") from None
    return files, path


def _failures() -> tuple[type[Exception], ...]:
    """Return what drivers raise: theirs do not all derive from OSError."""
    kinds: list[type[Exception]] = [OSError, ValueError]
    for module, names in (
        ("botocore.exceptions", ("BotoCoreError", "ClientError")),
        ("google.auth.exceptions", ("GoogleAuthError",)),
        ("aiohttp", ("ClientError",)),
    ):
        if module in sys.modules:
            kinds += [getattr(sys.modules[module], name) for name in names]
    return tuple(kinds)


_ADVICE = (
    (
        ("NoCredentialsError", "PartialCredentialsError", "TokenRetrievalError", "GoogleAuthError"),
        "there are no credentials. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE; for "
        "gs:// GOOGLE_APPLICATION_CREDENTIALS.",
    ),
    (
        ("PermissionError",),
        "these credentials do not allow it ({}). Ask for the right to list, read and write there, or give "
        "another bucket.",
    ),
    (
        ("FileNotFoundError",),
        "there is no such bucket or file ({}). Check the spelling, or create the bucket.",
    ),
    (
        ("EndpointConnectionError", "ConnectTimeoutError", "ConnectionError", "ClientConnectorError"),
        "no server answers there ({}). Check the network, and AWS_ENDPOINT_URL where the storage is not "
        "Amazon's; then run the same command again: what is finished stays.",
    ),
    (("ValueError",), "{}. URLs are written s3://BUCKET/PATH or gs://BUCKET/PATH."),
)
_ELSE = "{}. Run the same command again: what is finished stays."


def _advice(mistake: Exception) -> str:
    kinds = [kind.__name__ for kind in type(mistake).__mro__]
    reason = " ".join(str(mistake).split())[:300] or type(mistake).__name__
    for names, advice in _ADVICE:
        if any(kind in names for kind in kinds):
            return advice.format(reason.rstrip("."))
    return _ELSE.format(reason.rstrip("."))
