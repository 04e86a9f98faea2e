"""What is searched: all passages at one moment, by words in memory and by the nearest vectors."""

import threading
from collections.abc import Mapping, Sequence
from functools import reduce

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.embedding.model import Vectors
from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.retrieval.bm25 import BM25, bm25_over
from ragstone.kernel.retrieval.deps import chunk_tags
from ragstone.kernel.retrieval.passages import indexed_text
from ragstone.kernel.retrieval.ranks import Hit, Subset, search_exactly
from ragstone_assistant.conversation import Passage
from ragstone_assistant.knowledge._catalogue import Catalogue, FileRow, Stored
from ragstone_assistant.knowledge._cutting import tags_of
from ragstone_assistant.knowledge._points import PassagePoints
from ragstone_assistant.knowledge.entry import Entry, PlacedPassage

AROUND = 600  # characters of the document that are shown before and after a passage

Positions = NDArray[np.int64]


class Snapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The passages by position, and ways to find them.

    by_id, by_point: id of a chunk, and of its point, -> position. having: tag -> value -> positions; under
    the value None those that have no value of the tag. entries: of all files. n_foreign: files of another
    embedder, whose passages are not among these.
    """

    revision: int
    version: str
    entries: list[Entry]
    documents: dict[str, Document]
    chunks: list[Chunk]
    by_id: dict[str, int]
    by_point: dict[str, int]
    having: dict[str, dict[str | None, Positions]]
    by_words: BM25
    n_files: int
    n_foreign: int


def take_snapshot(catalogue: Catalogue, identity: str) -> Snapshot:
    """Return what the catalogue holds whose vectors are this embedder's."""
    with catalogue.reading():  # else the text of one moment would be cut at the offsets of another
        revision = catalogue.revision
        version = catalogue.content()
        every = catalogue.stored(None)
        files = catalogue.files()
    rows = [(file, stored) for file, stored in every if file.identity == identity]
    chunks = [chunk for _, stored in rows for chunk in stored.chunks]
    points = [point for _, stored in rows for point in stored.points]
    return Snapshot(
        revision=revision,
        version=version,
        entries=[_entry(file, stored) for file, stored in every],
        documents={stored.document.id: stored.document for _, stored in rows},
        chunks=chunks,
        by_id={chunk.id: at for at, chunk in enumerate(chunks)},
        by_point={point: at for at, point in enumerate(points)},
        having=_having(chunks),
        by_words=bm25_over([indexed_text(chunk) for chunk in chunks]),
        n_files=len(files),
        n_foreign=sum(file.identity != identity for file in files),
    )


def _entry(file: FileRow, stored: Stored) -> Entry:
    document = stored.document
    starts = (document.metadata or {}).get("page_starts")
    return Entry(
        id=document.id,
        title=document.title or document.id,
        file=file.name,
        source=document.source,
        lang=document.lang,
        tags=tags_of(document),
        topic=stored.topic,
        n_pages=len(starts) if isinstance(starts, list) else None,
        n_passages=len(stored.chunks),
        n_characters=len(document.text),
        upload=file.upload,
    )


def _having(chunks: Sequence[Chunk]) -> dict[str, dict[str | None, Positions]]:
    keys = {"lang", "topic"}.union(*(((chunk.metadata or {}).get("tags") or {}) for chunk in chunks))
    by_key: dict[str, dict[str | None, list[int]]] = {key: {} for key in sorted(keys)}
    for at, chunk in enumerate(chunks):
        for key, values in by_key.items():
            for value in dict.fromkeys(chunk_tags(chunk, key)) or [None]:
                values.setdefault(value, []).append(at)
    return {
        key: {value: np.array(at, dtype=np.int64) for value, at in values.items()}
        for key, values in by_key.items()
    }


def among(snapshot: Snapshot, filters: Mapping[str, str]) -> Subset | None:
    """Return the passages that have these tags, or no value of them at all; None where nothing is asked.

    A passage without the tag is for all of its values. A tag that no passage has restricts nothing.
    """
    known = {key: value for key, value in filters.items() if key in snapshot.having}
    if not known:
        return None
    none = np.array([], dtype=np.int64)
    each = [
        np.union1d(snapshot.having[key].get(value, none), snapshot.having[key].get(None, none))
        for key, value in known.items()
    ]
    return Subset(known, reduce(np.intersect1d, each))


def passage_of(snapshot: Snapshot, position: int, score: float) -> Passage:
    """Return a passage as it is shown."""
    chunk = snapshot.chunks[position]
    document, metadata = snapshot.documents[chunk.document_id], chunk.metadata or {}
    page = metadata.get("page")
    tags = {key: ", ".join(values) for key, values in tags_of(document).items()}
    topic = metadata.get("topic")
    return Passage(
        chunk_id=chunk.id,
        document_id=chunk.document_id,
        text=chunk.text,
        title=document.title or document.id,
        page=page if isinstance(page, int) else None,
        source=document.source,
        lang=document.lang,
        tags={**tags, **({"topic": topic} if isinstance(topic, str) else {})},
        score=score,
    )


def place_of(snapshot: Snapshot, chunk_id: str) -> PlacedPassage | None:
    """Return a passage with the text around it; None where there is none of that id."""
    at = snapshot.by_id.get(chunk_id)
    if at is None:
        return None
    chunk = snapshot.chunks[at]
    text = snapshot.documents[chunk.document_id].text
    return PlacedPassage(
        passage=passage_of(snapshot, at, 0.0),
        before=text[max(0, chunk.start - AROUND) : chunk.start],
        after=text[chunk.end : chunk.end + AROUND],
    )


class _Held(msgspec.Struct, frozen=True):
    """The vectors of one snapshot's passages, and the position of each."""

    revision: int
    positions: Positions
    vectors: Vectors


class Nearest:
    """Searches a server, or the vectors of a folder, which are read once for each state of the passages.

    A folder's client compares vectors as this does, but reads a filter point by point: 128 ms for 5,000
    points, where the snapshot knows the positions already. A class: the vectors outlive a call.
    """

    def __init__(self, points: PassagePoints) -> None:
        self._points = points
        self._reading = threading.Lock()
        self._held: _Held | None = None

    def __call__(self, vector: Vectors, depth: int, snapshot: Snapshot, subset: Subset | None) -> list[Hit]:
        """Return the positions of the nearest passages and their similarity, best first.

        Raises what PassagePoints.nearest and PassagePoints.vectors raise.
        """
        if self._points.embedded:
            return _compared(vector, depth, self._vectors(snapshot, len(vector)), subset)
        points = self._points.nearest(vector, depth, {} if subset is None else subset.where)
        return [(snapshot.by_point[name], score) for name, score in points if name in snapshot.by_point]

    def _vectors(self, snapshot: Snapshot, n_numbers: int) -> _Held:
        with self._reading:
            held = self._held
            if held is None or held.revision != snapshot.revision or held.vectors.shape[1] != n_numbers:
                positions, vectors = self._points.vectors(n_numbers, snapshot.by_point)
                held = self._held = _Held(snapshot.revision, positions, vectors)
            return held


def _compared(vector: Vectors, depth: int, held: _Held, subset: Subset | None) -> list[Hit]:
    rows = None
    if subset is not None:
        allowed = np.zeros(
            1 + max(held.positions.max(initial=0), subset.positions.max(initial=0)), dtype=bool
        )
        allowed[subset.positions] = True
        rows = Subset(subset.where, np.flatnonzero(allowed[held.positions]))
    [hits] = search_exactly(held.vectors, vector[np.newaxis], depth, rows)
    return [(int(held.positions[row]), score) for row, score in hits]
