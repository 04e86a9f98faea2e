"""The vectors of the passages, as points of a Qdrant collection: embedded in a folder, or on a server."""

import os
import shutil
import threading
import uuid
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.config import AssistantSection
from ragstone.kernel.embedding.model import Vectors
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Chunk
from ragstone.kernel.retrieval.deps import OWN_KEYS
from ragstone.kernel.retrieval.qdrant import (
    OpenQdrant,
    QdrantDamaged,
    QdrantDown,
    QdrantUser,
    field_of,
    open_qdrant,
    payload_of,
    spare_the_disk,
)

BATCH = 64  # points of one upload
PAGE = 1000  # ids of one request
TIMEOUT_S = 10  # a user waits for it
REBUILD = "Fill it with: ragstone assistant build"

ASKER = QdrantUser(
    what="the assistant's knowledge base",
    extra="assistant",
    owner="[assistant]",
    url="qdrant_url",
    key="qdrant_key_env",
    instead="end that process, upload documents to it instead of running a build, or give [assistant] the "
    "qdrant_url of a Qdrant server",
    anew="the next build fills it again",
)


class PassagePoints:
    """The collection of one knowledge base and one embedder; opened when it is first needed."""

    def __init__(self, section: AssistantSection, folder: Path, name: str, identity: str) -> None:
        self._section = section
        self._folder = folder.resolve() / "qdrant"
        self._prefix = f"ragstone-{name}-"
        self._identity = identity
        self._place: OpenQdrant | None = None
        self._lock = threading.Lock()

    def close(self) -> None:
        """Let go of the folder, if nobody else in this process has it open."""
        self._place = None

    def open(self, *, repair: bool = False) -> None:
        """Open it. repair: a folder that cannot be read is emptied, for a build to fill.

        Raises what open_qdrant raises, and ConfigError where there is no key in the environment.
        """
        with self._lock:
            if self._place is None:
                try:
                    self._place = self._opened()
                except QdrantDamaged:
                    if not repair:
                        raise
                    shutil.rmtree(self._folder)
                    self._place = self._opened()

    def _opened(self) -> OpenQdrant:
        variable = self._section.qdrant_key_env
        key = os.environ.get(variable) if variable else None
        if variable and not key:
            raise ConfigError(f"[assistant] qdrant_key_env: the environment variable {variable} is not set.")
        url = self._section.qdrant_url
        return open_qdrant(ASKER, url=url, api_key=key, folder=self._folder, timeout_s=TIMEOUT_S)

    @contextmanager
    def _asking(self) -> Iterator[OpenQdrant]:
        """Give the place, for one thread at a time if it is embedded; tell what goes wrong as DataError."""
        self.open()
        server = self._place
        assert server is not None
        with server.lock if self.embedded else nullcontext(), server.errors():
            yield server

    @property
    def embedded(self) -> bool:
        """Whether the points are in a folder of this process, and no server has them."""
        return self._section.qdrant_url is None

    def name(self, n_numbers: int) -> str:
        """Return what the collection of vectors of so many numbers is called."""
        return self._prefix + blake2b(f"{self._identity}/{n_numbers}".encode(), digest_size=6).hexdigest()

    def check(self) -> None:
        """Ask for an answer of any kind. Raises DataError where there is none."""
        with self._asking() as server:
            server.client.get_collections()

    def make(self, n_numbers: int) -> None:
        """Make the collection of vectors of so many numbers, if there is none."""
        from qdrant_client import models

        name = self.name(n_numbers)
        with self._asking() as server:
            if not server.client.collection_exists(name):
                vectors = models.VectorParams(size=n_numbers, distance=models.Distance.DOT)
                server.client.create_collection(name, vectors_config=vectors)
            spare_the_disk(server.client, name)

    def index(self, n_numbers: int, keys: Iterable[str]) -> None:
        """Let a server find points by these tags without looking at each; an embedded one looks anyway."""
        from qdrant_client import models

        if self.embedded:
            return
        with self._asking() as server:
            there = server.client.get_collection(self.name(n_numbers)).payload_schema
            for field in (field_of(key) for key in sorted({*OWN_KEYS, *keys})):
                if field not in there:
                    server.client.create_payload_index(
                        self.name(n_numbers), field, models.PayloadSchemaType.KEYWORD
                    )

    def put(self, ids: Sequence[str], vectors: Vectors, chunks: Sequence[Chunk]) -> None:
        """Hold the vectors of chunks under these ids."""
        from qdrant_client import models

        name = self.name(vectors.shape[1])
        for start in range(0, len(ids), BATCH):
            stop = start + BATCH
            points = models.Batch(
                ids=list(ids[start:stop]),
                vectors=vectors[start:stop].tolist(),
                payloads=[payload_of(chunk) for chunk in chunks[start:stop]],
            )
            with self._asking() as server, self._no_advice():
                server.client.upsert(name, points, wait=True)

    @contextmanager
    def _no_advice(self) -> Iterator[None]:
        """Keep an embedded one from warning of many points: the docs say when a server pays."""
        with warnings.catch_warnings() if self.embedded else nullcontext():
            if self.embedded:
                warnings.simplefilter("ignore", UserWarning)
            yield

    def set_topics(self, n_numbers: int, points: Mapping[str | None, Sequence[str]]) -> None:
        """Give points the topic under which they stand."""
        name = self.name(n_numbers)
        for topic, ids in points.items():
            for start in range(0, len(ids), PAGE):
                with self._asking() as server:
                    server.client.set_payload(
                        name,
                        {"topic": [] if topic is None else [topic]},
                        points=list(ids[start : start + PAGE]),
                        wait=True,
                    )

    def ids(self, n_numbers: int) -> set[str]:
        """Return the ids of all points that there are."""
        ids: set[str] = set()
        offset = None
        while True:
            with self._asking() as server:
                records, offset = server.client.scroll(
                    self.name(n_numbers),
                    limit=PAGE,
                    offset=offset,
                    with_payload=False,
                    with_vectors=False,
                )
            ids.update(str(record.id) for record in records)
            if offset is None:
                return ids

    def drop(self, n_numbers: int, ids: Iterable[str]) -> None:
        """Hold these points no longer."""
        from qdrant_client import models

        listed: list[str | int | uuid.UUID] = sorted(ids)
        for start in range(0, len(listed), PAGE):
            with self._asking() as server:
                selector = models.PointIdsList(points=listed[start : start + PAGE])
                server.client.delete(self.name(n_numbers), selector, wait=True)

    def drop_others(self, n_numbers: int) -> None:
        """Hold no collection of this knowledge base but the one of vectors of so many numbers."""
        with self._asking() as server:
            for collection in server.client.get_collections().collections:
                if collection.name.startswith(self._prefix) and collection.name != self.name(n_numbers):
                    server.client.delete_collection(collection.name)

    def vectors(self, n_numbers: int, positions: Mapping[str, int]) -> tuple[NDArray[np.int64], Vectors]:
        """Return the vectors of those of these points that there are, and their positions, ascending.

        positions: id of a point -> position. Of an embedded one; it takes 0.03 s for 1,000 points. Raises
        DataError where it cannot be read.
        """
        name = self.name(n_numbers)
        by_position: dict[int, list[float]] = {}
        ids = list(positions)
        with self._asking() as server:
            if not server.client.collection_exists(name):
                raise DataError(f"{server.shown}: the collection {name!r} is not there. {REBUILD}")
            for start in range(0, len(ids), PAGE):
                some = ids[start : start + PAGE]
                for record in server.client.retrieve(name, some, with_payload=False, with_vectors=True):
                    by_position[positions[str(record.id)]] = record.vector  # type: ignore[assignment]  # it has one
        at = sorted(by_position)
        vectors = np.array([by_position[position] for position in at], dtype=np.float32)
        return np.array(at, dtype=np.int64), vectors.reshape(len(at), n_numbers)

    def nearest(self, vector: Vectors, depth: int, filters: Mapping[str, str]) -> list[tuple[str, float]]:
        """Return the ids of a server's nearest points that the filters let through, with their similarity.

        A point is let through that has the value of a tag, and one that has no value of it at all. Raises
        QdrantDown where a server does not answer, DataError for anything else.
        """
        try:
            return self._nearest(vector, depth, filters)
        except QdrantDown:  # a server that was restarted has closed the connection that was kept
            return self._nearest(vector, depth, filters)

    def _nearest(self, vector: Vectors, depth: int, filters: Mapping[str, str]) -> list[tuple[str, float]]:
        from qdrant_client import models

        wanted = [
            models.Filter(
                should=[
                    models.FieldCondition(key=field_of(key), match=models.MatchValue(value=value)),
                    models.IsEmptyCondition(is_empty=models.PayloadField(key=field_of(key))),
                ]
            )
            for key, value in filters.items()
        ]
        name = self.name(len(vector))
        with self._asking() as server:
            response = server.client.query_points(
                name,
                query=vector.tolist(),
                limit=depth,
                query_filter=models.Filter(must=list(wanted)) if wanted else None,
                with_payload=False,
            )
        return [(str(point.id), point.score) for point in response.points]
