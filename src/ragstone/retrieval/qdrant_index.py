"""Dense search in Qdrant: embedded, in a folder or in memory, or a server by its URL; the same code."""

import re
import warnings
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.embedding.model import Vectors
from ragstone.errors import ConfigError, DataError
from ragstone.records import Chunk
from ragstone.retrieval.candidates import hits_among
from ragstone.retrieval.filters import OWN_KEYS
from ragstone.retrieval.qdrant_place import (
    Asker,
    OpenQdrant,
    field_of,
    open_qdrant,
    payload_of,
    spare_the_disk,
)
from ragstone.retrieval.ranks import Hit, Subset

if TYPE_CHECKING:
    from qdrant_client import QdrantClient

BATCH = 256  # points of one upload, and questions of one request
TIMEOUT_S = 60

ASKER = Asker(
    what="a dense retriever with index = 'qdrant'",
    extra="qdrant",
    owner="the retriever",
    url="url",
    key="api_key_env",
    instead="give the retriever the url of a Qdrant server",
    anew="it is built anew from the vectors",
)


class QdrantPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where collections are: a server's url and key, else a folder, else memory. collection: its name."""

    url: str | None = None
    api_key: str | None = None
    folder: Path | None = None
    collection: str | None = None


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
    content = _content(passages, payloads)
    name = where.collection or f"ragstone-{content}"
    if not re.fullmatch(r"[\w.-]+", name):
        raise ConfigError(f"collection {name!r}: use letters, digits, dots, dashes and underscores.")
    place = _place(where, name)
    with place.errors():
        _fill(place, name, passages, [{**payload, "content": content} for payload in payloads])

    def search(queries: Vectors, k: int, among: Subset | None) -> list[list[Hit]]:
        wanted = None if among is None else _filter(among.where)

        def find(some: Vectors, depth: int) -> list[NDArray[np.int64]]:
            with place.errors():
                return _nearest(place.client, name, some, depth, wanted)

        n = len(passages) if among is None else len(among.positions)
        return hits_among(find, passages, queries, k, n)

    return search


def _place(where: QdrantPlace, name: str) -> OpenQdrant:
    """Return the place, opened; a folder for each collection: opening one reads all that it holds."""
    folder = None if where.folder is None else where.folder.resolve() / name
    return open_qdrant(ASKER, url=where.url, api_key=where.api_key, folder=folder, timeout_s=TIMEOUT_S)


def _fill(place: OpenQdrant, name: str, passages: Vectors, payloads: Sequence[dict[str, Any]]) -> None:
    """Make the collection complete. Raises DataError where it holds something else."""
    from qdrant_client import models

    client, n_numbers = place.client, passages.shape[1]
    if not client.collection_exists(name):
        vectors = models.VectorParams(size=n_numbers, distance=models.Distance.DOT)
        client.create_collection(name, vectors_config=vectors)
        _index_payload(client, name, payloads)
    n_there = _checked(place, name, n_numbers, payloads[0]["content"])
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


def _checked(place: OpenQdrant, name: str, n_numbers: int, content: str) -> int:
    """Return how many points the collection has, all with this content. Raises DataError for others."""
    from qdrant_client import models

    advice = f"Name another collection, or {place.remedy}."
    of_collection = f"{place.shown}: the Qdrant collection {name!r}"
    vectors = place.client.get_collection(name).config.params.vectors
    size = vectors.size if isinstance(vectors, models.VectorParams) else None
    if size != n_numbers:
        held = "several vectors a point" if size is None else f"vectors of {size} numbers"
        raise DataError(f"{of_collection} holds {held}, and the embedder gives {n_numbers}. {advice}")
    ours = models.Filter(must=[models.FieldCondition(key="content", match=models.MatchValue(value=content))])
    n_points = place.client.count(name, exact=True).count
    n_ours = place.client.count(name, count_filter=ours, exact=True).count
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

    found: list[NDArray[np.int64]] = []
    for start in range(0, len(queries), BATCH):
        requests = [
            models.QueryRequest(query=query, limit=depth, filter=wanted, with_payload=False)
            for query in queries[start : start + BATCH].tolist()
        ]
        responses = client.query_batch_points(name, requests)
        found += [np.array([point.id for point in one.points], dtype=np.int64) for one in responses]
    return found


def _filter(where: dict[str, str]) -> Any:  # noqa: ANN401 - the package is optional
    from qdrant_client import models

    return models.Filter(
        must=[
            models.FieldCondition(key=field_of(key), match=models.MatchValue(value=value))
            for key, value in where.items()
        ]
    )


def _content(passages: Vectors, payloads: Sequence[dict[str, Any]]) -> str:
    """Return a digest of all that a collection holds."""
    digest = blake2b(np.ascontiguousarray(passages).tobytes(), digest_size=8)
    digest.update(msgspec.json.encode((passages.shape, payloads)))
    return digest.hexdigest()
