"""A source -> its files; a file -> its documents with tags, cut into passages, each with its vector."""

import os
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from hashlib import blake2b
from pathlib import Path

import msgspec
import numpy as np

from ragstone.kernel.corpus.chunking import chunk_documents
from ragstone.kernel.corpus.file import PASSAGE, IngestOptions, Skipped, too_many
from ragstone.kernel.corpus.sources import Found, files_of, loaded
from ragstone.kernel.corpus.tags import Tag, match_tags, with_tags
from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.model import Embed, Role, Vectors
from ragstone.kernel.errors import DataError
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.retrieval.deps import OWN_KEYS
from ragstone.kernel.retrieval.passages import indexed_text
from ragstone.kernel.version import __version__
from ragstone_assistant.knowledge._catalogue import Stored
from ragstone_assistant.knowledge.entry import Advance


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
    files = files_of([root], options)
    if not files:
        raise DataError(f"{root}: has no files. Check the spelling; hidden files and folders are skipped.")
    return files


def sight(root: str, candidates: Sequence[Found], options: IngestOptions) -> Iterator[Sighted | Skipped]:
    """Yield the files in their order, each with its content, or why it has none."""
    with closing(loaded(candidates, options)) as files:
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


SIZE = PASSAGE
PERCENTILE = 20.0
CUTS = 2  # counts the ways in which texts were ever cut: another one is another build
PIECE = 50_000  # characters
SENTENCES = 10  # of a passage, at most, on average
AT_ONCE = 8  # texts that are embedded between two chances for a search, at first
MOST_AT_ONCE = 512
SHORT_S, LONG_S = 0.25, 1.0  # what is over sooner is doubled, what takes longer is halved
PAUSE_S = 0.001  # long enough for a search that waits for the embedder to be next


class Halted(Exception):
    """A build was told to stop; what it has finished is kept."""


class Embedding:
    """An embedder that lets searches in between, can be stopped, and tells how far it is.

    n_texts: that it was given. A class, since it counts and is told to stop from another thread.
    """

    def __init__(self, embed: Embed, stop: threading.Event, advance: Advance) -> None:
        self._embed = embed
        self._stop = stop
        self._advance = advance
        self._n_texts = 0
        self._at_once = AT_ONCE
        self._n_before = embed.n_embedded if isinstance(embed, Embedder) else 0

    @property
    def n_embedded(self) -> int:
        """How many texts were embedded, without those that an embedder had in its store."""
        if isinstance(self._embed, Embedder):
            return self._embed.n_embedded - self._n_before
        return self._n_texts

    def check(self) -> None:
        """Raise Halted where it was told to stop."""
        if self._stop.is_set():
            raise Halted

    def __call__(self, texts: Sequence[str], role: Role) -> Vectors:
        """Return the vectors of texts, some at a time, so that no search waits long. Raises Halted."""
        vectors: list[Vectors] = []
        n_done = 0
        if texts:
            self._advance("passages", 0, len(texts))
        while n_done < len(texts):
            self.check()
            began = time.monotonic()
            some = texts[n_done : n_done + self._at_once]
            vectors.append(self._embed(some, role))
            n_done += len(some)
            took_s = time.monotonic() - began
            if took_s < SHORT_S:
                self._at_once = min(2 * self._at_once, MOST_AT_ONCE)
            elif took_s > LONG_S:
                self._at_once = max(1, self._at_once // 2)
            self._advance("passages", n_done, len(texts))
            time.sleep(PAUSE_S)
        self._n_texts += len(texts)
        return np.concatenate(vectors) if vectors else np.zeros((0, 0), dtype=np.float32)


def way_of(identity: str, tags: Sequence[Tag], options: IngestOptions) -> str:
    """Return what decides, beside its content, what is made of a file."""
    # Without kinds as before, so that what is built stays.
    listed = [(tag.key, tag.values, *([tag.kinds] if tag.kinds else [])) for tag in tags]
    decisive = (__version__, identity, SIZE, PERCENTILE, CUTS, listed, options.tables, options.columns)
    return blake2b(msgspec.json.encode(decisive), digest_size=16).hexdigest()


def _check_passages(n_passages: int, most_passages: int) -> None:
    if n_passages > most_passages:
        raise Unreadable(too_many(n_passages, most_passages))


def prepared(documents: Sequence[Document], sighted: Sighted, tags: Sequence[Tag]) -> list[Document]:
    """Return a file's documents with tags by their words, and the file's id as source unless they name one.

    Tags that a document brings in its metadata stay as they are. Raises Unreadable where two have one id, and
    where `tags` in the metadata is no table.
    """
    taken: set[str] = set()
    tagged_documents = []
    for document in documents:
        if document.id in taken:
            raise Unreadable(f"the document id {document.id!r} appears twice in it: rename one of the two")
        taken.add(document.id)
        own = document.source if document.source not in (None, sighted.file.source) else sighted.file.id
        tagged = _tagged(document, tags)
        tagged_documents.append(
            msgspec.structs.replace(tagged, source=own, title=document.title or document.id)
        )
    return tagged_documents


def _tagged(document: Document, tags: Sequence[Tag]) -> Document:
    declared = (document.metadata or {}).get("tags")
    own = declared if isinstance(declared, dict) else {}
    text = f"{document.title or ''}\n{document.text}"
    named = {key: values for key, values in _named_in(text, tags).items() if key not in own}
    try:
        return msgspec.structs.replace(document, metadata=with_tags(document.metadata, named))
    except ValueError as mistake:
        raise Unreadable(f"document {document.id!r}: {mistake}") from None


def _named_in(text: str, tags: Sequence[Tag]) -> dict[str, list[str]]:
    """Return what `match_tags` does, a piece at a time: while it folds a text no other thread has a turn."""
    if not tags:
        return {}
    named: dict[str, set[str]] = {}
    while text:
        end = text.find("\n", PIECE) + 1 or len(text)
        end = min(end, 2 * PIECE)
        for key, values in match_tags(text[:end], tags).items():
            named.setdefault(key, set()).update(values)
        text = text[end:]
    listed = {tag.key: tag.values or {} for tag in tags}
    return {key: [value for value in listed[key] if value in values] for key, values in named.items()}


def cut(documents: Sequence[Document], embed: Embed | None) -> Iterator[tuple[Document, list[Chunk]]]:
    """Yield documents with their passages: those that fit into one whole, others cut where meaning changes.

    Without an embedder they are cut at paragraphs and sentences instead.
    Topics that documents bring are no topics of ours: none is inherited.
    """
    short = [document for document in documents if len(document.text) <= SIZE]
    long = [document for document in documents if len(document.text) > SIZE]
    chunks: dict[str, list[Chunk]] = {}
    for chunk in chunk_documents(short, "whole"):
        chunks.setdefault(chunk.document_id, []).append(chunk)
    method = "recursive" if embed is None else "semantic"
    for chunk in chunk_documents(long, method, SIZE, embed=embed, percentile=PERCENTILE):
        chunks.setdefault(chunk.document_id, []).append(chunk)
    for document in documents:
        yield document, chunks.get(document.id, [])


def embedded(
    documents: Sequence[Document], identity: str, embed: Embed | None, most_passages: int
) -> tuple[list[Stored], Vectors]:
    """Return what there is to be stored of each document, and the vectors of all passages in their order.

    Without an embedder the vectors have no numbers.

    Raises Unreadable where there are more passages than `most_passages`, or ten times as many sentences.
    """
    counted = embed and _counted(embed, most_passages)
    cuts = [(document, chunks) for document, chunks in cut(documents, counted) if chunks]
    _check_passages(sum(len(chunks) for _, chunks in cuts), most_passages)
    vectors = _vectors([chunk for _, chunks in cuts for chunk in chunks], embed)
    stored, first = [], 0
    for document, chunks in cuts:
        points = [point_of(chunk, identity) for chunk in chunks]
        own = vectors[first : first + len(chunks)]
        first += len(chunks)
        stored.append(Stored(document=document, chunks=chunks, points=points, vector=_mean(own)))
    return stored, vectors


def _counted(embed: Embed, most_passages: int) -> Embed:
    """Return an Embed of sentences that raises Unreadable where they are ten times too many for passages."""
    n_sentences = 0

    def counted(texts: Sequence[str], role: Role) -> Vectors:
        nonlocal n_sentences
        n_sentences += len(texts)
        _check_passages(n_sentences // SENTENCES, most_passages)
        return embed(texts, role)

    return counted


def _vectors(chunks: Sequence[Chunk], embed: Embed | None) -> Vectors:
    if embed is None:
        return np.zeros((len(chunks), 0), dtype=np.float32)
    return embed([indexed_text(chunk) for chunk in chunks], "passage")


def renewed(stored: Sequence[Stored], identity: str, embed: Embed | None) -> tuple[list[Stored], Vectors]:
    """Return what is stored of documents with the points of this embedder, and all vectors in their order.

    They have no topic: one is given where documents are grouped.
    """
    vectors = _vectors([chunk for document in stored for chunk in document.chunks], embed)
    own, first = [], 0
    for document in stored:
        last = first + len(document.chunks)
        chunks = [_without_topic(chunk) for chunk in document.chunks]
        own.append(
            Stored(
                document=document.document,
                chunks=chunks,
                points=[point_of(chunk, identity) for chunk in chunks],
                vector=_mean(vectors[first:last]),
            )
        )
        first = last
    return own, vectors


def _without_topic(chunk: Chunk) -> Chunk:
    metadata = {key: value for key, value in (chunk.metadata or {}).items() if key != "topic"}
    return msgspec.structs.replace(chunk, metadata=metadata or None)


def point_of(chunk: Chunk, identity: str) -> str:
    """Return the id of a chunk's point: another text, other tags or another embedder are another point."""
    metadata = _without_topic(chunk).metadata or {}
    content = msgspec.json.encode((chunk.id, chunk.text, metadata, identity), order="deterministic")
    return str(uuid.UUID(bytes=blake2b(content, digest_size=16).digest()))


def _mean(vectors: Vectors) -> Vectors:
    mean: Vectors = vectors.mean(axis=0)
    length = float(np.linalg.norm(mean))
    return (mean / length if length else mean).astype(np.float32)


def tags_of(document: Document) -> dict[str, list[str]]:
    """Return the tags of a document, each with its values."""
    declared = (document.metadata or {}).get("tags")
    tags: Mapping[str, object] = declared if isinstance(declared, dict) else {}
    return {
        key: [str(item) for item in (value if isinstance(value, list) else [value])]
        for key, value in tags.items()
        if key not in OWN_KEYS
    }
