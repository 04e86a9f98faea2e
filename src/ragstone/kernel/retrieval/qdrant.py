"""Dense search in Qdrant: embedded, in a folder or in memory, or a server by its URL; the same code."""

import contextlib
import re
import sqlite3
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.config import Similarity
from ragstone.kernel.embedding.model import Vectors
from ragstone.kernel.errors import ConfigError, DataError, optional_package
from ragstone.kernel.records import Chunk
from ragstone.kernel.retrieval.deps import OWN_KEYS, chunk_tags
from ragstone.kernel.retrieval.ranks import Hit, Subset, hits_among

if TYPE_CHECKING:
    from qdrant_client import QdrantClient


_open: "weakref.WeakValueDictionary[str, OpenQdrant]" = weakref.WeakValueDictionary()


class QdrantDown(DataError):
    """A Qdrant server does not answer."""


class QdrantDamaged(DataError):
    """An embedded folder cannot be read."""


class QdrantUser(msgspec.Struct, frozen=True, kw_only=True):
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

    def __init__(self, client: "QdrantClient", shown: str, remedy: str, asker: QdrantUser) -> None:
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
            content = mistake.content.decode("utf-8", "replace")[:200]
            raise DataError(
                f"{self.shown}: Qdrant answered HTTP {mistake.status_code}: {content}. Check the "
                f"{self._asker.url} and the key ({self._asker.key}) of {self._asker.owner}."
            ) from None


def open_qdrant(
    asker: QdrantUser, *, url: str | None, api_key: str | None, folder: Path | None, timeout_s: int
) -> OpenQdrant:
    """Return a client of the server at `url`, else of a folder, else of memory.

    A folder is opened once in this process: it has room for one client. Nothing is asked of a server yet.

    Raises MissingExtra without the package qdrant-client; ConfigError for a url that is none; DataError for a
    folder that another process has open, QdrantDamaged for one that cannot be read.
    """
    with optional_package(asker.what, asker.extra), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        from qdrant_client import QdrantClient
    with warnings.catch_warnings():
        # It warns of a key on an unencrypted connection and of many points in a folder:
        # docs/reference/embedding.md.
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
        opened = _open.get(name)
        if opened is None:
            opened = _open[name] = OpenQdrant(_embedded(folder, asker), name, f"delete {folder}", asker)
        return opened


def _embedded(folder: Path, asker: QdrantUser) -> "QdrantClient":
    from qdrant_client import QdrantClient

    try:
        _check_lock(folder / ".lock", asker)
        return QdrantClient(path=str(folder), force_disable_check_same_thread=True)
    except RuntimeError:  # somebody was quicker
        raise _in_use(folder, asker) from None
    except PermissionError as mistake:
        raise DataError(
            f"{folder}: cannot be written ({mistake.strerror}). Choose a writable folder."
        ) from None
    except (OSError, ValueError, KeyError, EOFError, sqlite3.Error) as mistake:
        raise QdrantDamaged(
            f"{folder}: this Qdrant collection cannot be opened ({mistake}). Delete the folder: {asker.anew}."
        ) from None


def _check_lock(file: Path, asker: QdrantUser) -> None:
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


def _in_use(folder: Path, asker: QdrantUser) -> DataError:
    return DataError(
        f"{folder}: another process has this Qdrant collection open, and only one can at a time. Run again "
        f"when it is done, or {asker.instead}."
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


BATCH = 256  # points of one upload, and questions of one request
TIMEOUT_S = 60
ASKER = QdrantUser(
    what="a dense retriever with index = 'qdrant'",
    extra="qdrant",
    owner="the retriever",
    url="url",
    key="api_key_env",
    instead="give the retriever the url of a Qdrant server",
    anew="it is built again from the vectors",
)


class QdrantPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where collections are: a server's url and key, else a folder, else memory. collection: its name.

    similarity: by which they are searched.
    """

    url: str | None = None
    api_key: str | None = None
    folder: Path | None = None
    collection: str | None = None
    similarity: Similarity = "cosine"


def search_by_qdrant(
    passages: Vectors, chunks: Sequence[Chunk], where: QdrantPlace
) -> Callable[[Vectors, int, Subset | None], list[list[Hit]]]:
    """Return a function that finds for each query its k nearest passages in a collection of them.

    chunks: those of the passages, whose ids and tags are the payload. A collection is built once and found
    again by its name, which is made from what is in it unless one is given; one whose building was cut
    short is completed. A server answers by its own index, which may be approximate above some 10,000 points.

    Raises MissingExtra without the package qdrant-client; DataError for a collection of that name with other
    vectors, a server that cannot be asked, or a folder that another process has open.
    """
    payloads = [payload_of(chunk) for chunk in chunks]
    digest = blake2b(np.ascontiguousarray(passages).tobytes(), digest_size=8)
    digest.update(msgspec.json.encode((passages.shape, payloads)))
    digest.update(b"l2" if where.similarity == "l2" else b"")
    content = digest.hexdigest()
    name = where.collection or f"ragstone-{content}"
    if not re.fullmatch(r"[\w.-]+", name):
        raise ConfigError(f"collection {name!r}: use letters, digits, dots, dashes and underscores.")
    # A folder for each collection: opening one reads all that it holds.
    folder = None if where.folder is None else where.folder.resolve() / name
    opened = open_qdrant(ASKER, url=where.url, api_key=where.api_key, folder=folder, timeout_s=TIMEOUT_S)
    with opened.errors():
        points = [{**payload, "content": content} for payload in payloads]
        _fill(opened, name, passages, points, where.similarity)

    def search(queries: Vectors, k: int, among: Subset | None) -> list[list[Hit]]:
        wanted = None if among is None else _filter(among.where)

        def find(some: Vectors, depth: int) -> list[NDArray[np.int64]]:
            with opened.errors():
                return _nearest(opened.client, name, some, depth, wanted)

        n = len(passages) if among is None else len(among.positions)
        return hits_among(find, passages, queries, k, n, similarity=where.similarity)

    return search


def _fill(
    opened: OpenQdrant,
    name: str,
    passages: Vectors,
    payloads: Sequence[dict[str, Any]],
    similarity: Similarity,
) -> None:
    """Make the collection complete. Raises DataError where it holds something else."""
    from qdrant_client import models

    client, n_numbers = opened.client, passages.shape[1]
    if not client.collection_exists(name):
        distance = models.Distance.EUCLID if similarity == "l2" else models.Distance.DOT
        vectors = models.VectorParams(size=n_numbers, distance=distance)
        client.create_collection(name, vectors_config=vectors)
        _index_payload(client, name, payloads)
    n_there = _checked(opened, name, n_numbers, payloads[0]["content"])
    spare_the_disk(client, name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for start in range(n_there, len(passages), BATCH):
            stop = min(start + BATCH, len(passages))
            points = models.Batch(
                ids=list(range(start, stop)),
                vectors=passages[start:stop].tolist(),
                payloads=list(payloads[start:stop]),
            )
            client.upsert(name, points, wait=True)


def _checked(opened: OpenQdrant, name: str, n_numbers: int, content: str) -> int:
    """Return how many points the collection has, all with this content. Raises DataError for others."""
    from qdrant_client import models

    advice = f"Name another collection, or {opened.remedy}."
    of_collection = f"{opened.shown}: the Qdrant collection {name!r}"
    vectors = opened.client.get_collection(name).config.params.vectors
    size = vectors.size if isinstance(vectors, models.VectorParams) else None
    if size != n_numbers:
        held = "several vectors per point" if size is None else f"vectors of {size} numbers"
        raise DataError(f"{of_collection} holds {held}, but the embedder gives {n_numbers}. {advice}")
    ours = models.Filter(must=[models.FieldCondition(key="content", match=models.MatchValue(value=content))])
    n_points = opened.client.count(name, exact=True).count
    n_ours = opened.client.count(name, count_filter=ours, exact=True).count
    if n_ours != n_points:
        raise DataError(
            f"{of_collection} holds {n_points - n_ours:,} points that are not these chunks with these tags "
            f"and this embedder. {advice}"
        )
    return n_points


def _index_payload(client: "QdrantClient", name: str, payloads: Sequence[dict[str, Any]]) -> None:
    """Let a server find points by tag without looking at each of them; an embedded one looks in any case."""
    from qdrant_client import models

    keys = {"content", *OWN_KEYS, *(field_of(key) for payload in payloads for key in payload["tags"])}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for key in sorted(keys):
            client.create_payload_index(name, key, models.PayloadSchemaType.KEYWORD)


def _nearest(
    client: "QdrantClient",
    name: str,
    queries: Vectors,
    depth: int,
    wanted: Any | None,  # noqa: ANN401
) -> list[NDArray[np.int64]]:
    from qdrant_client import models

    positions: list[NDArray[np.int64]] = []
    for start in range(0, len(queries), BATCH):
        requests = [
            models.QueryRequest(query=query, limit=depth, filter=wanted, with_payload=False)
            for query in queries[start : start + BATCH].tolist()
        ]
        responses = client.query_batch_points(name, requests)
        positions += [
            np.array([point.id for point in response.points], dtype=np.int64) for response in responses
        ]
    return positions


def _filter(where: dict[str, str]) -> Any:  # noqa: ANN401 - the package is optional
    from qdrant_client import models

    return models.Filter(
        must=[
            models.FieldCondition(key=field_of(key), match=models.MatchValue(value=value))
            for key, value in where.items()
        ]
    )
