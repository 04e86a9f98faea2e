"""A Qdrant that is open: a server by its URL, a folder that this process alone has open, or memory."""

import contextlib
import sqlite3
import threading
import warnings
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from ragstone.errors import ConfigError, DataError, MissingExtra
from ragstone.records import Chunk
from ragstone.retrieval.filters import OWN_KEYS, chunk_tags

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

_open: "weakref.WeakValueDictionary[str, OpenQdrant]" = weakref.WeakValueDictionary()


class QdrantDown(DataError):
    """A Qdrant server does not answer."""


class QdrantDamaged(DataError):
    """An embedded folder cannot be read."""


class Asker(msgspec.Struct, frozen=True, kw_only=True):
    """Who asks, for error messages.

    what: needs the package, of which extra. owner: whose url and key it are. key: the setting that names the
    key. instead: what to do while another process has the folder open. anew: what becomes of a folder that is
    deleted.
    """

    what: str
    extra: str
    owner: str
    url: str
    key: str
    instead: str
    anew: str


class OpenQdrant:
    """An open client, closed when nobody uses it any more, or at the end of the process.

    lock: held while an embedded one is asked by one of several threads, for it is made for one.
    """

    def __init__(self, client: "QdrantClient", shown: str, remedy: str, asker: Asker) -> None:
        self.client = client
        self.shown = shown
        self.remedy = remedy
        self.lock = threading.RLock()
        self._asker = asker
        weakref.finalize(self, client.close)

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Tell what goes wrong in the block as DataError; QdrantDown where the server cannot be reached."""
        from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

        try:
            yield
        except ResponseHandlingException as mistake:
            raise QdrantDown(
                f"{self.shown}: the Qdrant server cannot be reached ({mistake}). Is it running, and is the "
                f"{self._asker.url} of {self._asker.owner} right?"
            ) from None
        except UnexpectedResponse as mistake:
            words = mistake.content.decode("utf-8", "replace")[:200]
            raise DataError(
                f"{self.shown}: Qdrant answered HTTP {mistake.status_code}: {words}. Check the "
                f"{self._asker.url} and the key ({self._asker.key}) of {self._asker.owner}."
            ) from None


def open_qdrant(
    asker: Asker, *, url: str | None, api_key: str | None, folder: Path | None, timeout_s: int
) -> OpenQdrant:
    """Return a client of the server at `url`, else of a folder, else of memory.

    A folder is opened once in this process: it has room for one client. Nothing is asked of a server yet.

    Raises MissingExtra without the package qdrant-client; ConfigError for a url that is none; DataError for a
    folder that another process has open, QdrantDamaged for one that cannot be read.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            from qdrant_client import QdrantClient
    except ImportError:
        raise MissingExtra(asker.what, asker.extra) from None
    with warnings.catch_warnings():
        # It warns of a key on an unencrypted connection and of many points in a folder: docs/embedding.md.
        warnings.simplefilter("ignore", UserWarning)
        if url is not None:
            try:
                client = QdrantClient(url=url, api_key=api_key, timeout=timeout_s, check_compatibility=False)
            except ValueError as mistake:
                raise ConfigError(f"{asker.url} {url!r} of {asker.owner}: {mistake}") from None
            return OpenQdrant(client, url, "delete it on the server", asker)
        if folder is None:
            return OpenQdrant(QdrantClient(":memory:"), "memory", "restart", asker)
        name = str(folder)
        place = _open.get(name)
        if place is None:
            place = _open[name] = OpenQdrant(_embedded(folder, asker), name, f"delete {folder}", asker)
        return place


def _embedded(folder: Path, asker: Asker) -> "QdrantClient":
    from qdrant_client import QdrantClient

    try:
        _check_lock(folder / ".lock", asker)
        return QdrantClient(path=str(folder), force_disable_check_same_thread=True)
    except RuntimeError:  # somebody was quicker
        raise _in_use(folder, asker) from None
    except PermissionError as mistake:
        raise DataError(
            f"{folder}: cannot be written ({mistake.strerror}). Choose a folder that can."
        ) from None
    except (OSError, ValueError, KeyError, EOFError, sqlite3.Error) as mistake:
        raise QdrantDamaged(
            f"{folder}: this Qdrant collection cannot be opened ({mistake}). Delete the folder: {asker.anew}."
        ) from None


def _check_lock(file: Path, asker: Asker) -> None:
    """Raise DataError if another process holds the lock: the client that finds out leaves its file open."""
    import portalocker

    if not file.exists():
        return
    try:
        with file.open("r+") as lock:
            portalocker.lock(lock, portalocker.LockFlags.EXCLUSIVE | portalocker.LockFlags.NON_BLOCKING)
            portalocker.unlock(lock)
    except portalocker.exceptions.LockException:
        raise _in_use(file.parent, asker) from None


def _in_use(folder: Path, asker: Asker) -> DataError:
    return DataError(
        f"{folder}: another process has this Qdrant collection open, which one at a time can. Run again when "
        f"it is done, or {asker.instead}."
    )


def spare_the_disk(client: "QdrantClient", name: str) -> None:
    """Let an embedded collection be written without waiting for the disk after each point.

    It waits 20,000 times for 20,000 points: minutes. A killed process leaves it whole all the same. Where the
    package has changed within, it is slow, and right.
    """
    collection = getattr(getattr(client, "_client", None), "collections", {}).get(name)
    database = getattr(getattr(collection, "storage", None), "storage", None)
    if isinstance(database, sqlite3.Connection):
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = NORMAL")


def field_of(key: str) -> str:
    """Return where a tag stands in a payload, in Qdrant's notation."""
    return key if key in OWN_KEYS else f'tags."{key}"'


def payload_of(chunk: Chunk) -> dict[str, Any]:
    """Return what a point says of its chunk: ids and tags, each tag with a list of values."""
    tags = (chunk.metadata or {}).get("tags")
    names = [key for key in tags if key not in OWN_KEYS] if isinstance(tags, dict) else []
    return {
        "chunk_id": chunk.id,
        "document_id": chunk.document_id,
        **{key: chunk_tags(chunk, key) for key in OWN_KEYS},
        "tags": {key: chunk_tags(chunk, key) for key in names},
    }
