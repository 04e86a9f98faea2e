"""Files -> the knowledge base: what is new or changed is read, what is gone is dropped, all else is left."""

import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np

from ragstone.kernel.corpus.file import IngestOptions, Skipped
from ragstone.kernel.corpus.parallel import Given, ReadingProcess
from ragstone.kernel.corpus.sources import Found
from ragstone.kernel.corpus.tags import Tag
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.errors import DataError
from ragstone.kernel.files.file import Unreadable
from ragstone.kernel.records import Document
from ragstone.kernel.retrieval.passages import indexed_text
from ragstone_assistant.knowledge._catalogue import Catalogue, FileRow, Stored
from ragstone_assistant.knowledge._cutting import (
    Embedding,
    Halted,
    Sighted,
    embedded,
    found_under,
    prepared,
    renewed,
    sight,
    tags_of,
    way_of,
)
from ragstone_assistant.knowledge._points import PassagePoints
from ragstone_assistant.knowledge.entry import Advance, BuildResult
from ragstone_assistant.knowledge.grouping import Namer, group


class KnowledgeParts(msgspec.Struct, frozen=True, kw_only=True):
    """Where everything is, and how it is made. uploads: the folder of files that came over HTTP.
    options: how files are read. nice: how far their reader stands back. most_passages: of one file.
    shortlist: nothing is embedded by a build, and no point is made; so many passages are for a question."""

    catalogue: Catalogue
    points: PassagePoints
    embed: Embed
    identity: str
    tags: list[Tag]
    topics: bool
    uploads: Path
    options: IngestOptions
    most_passages: int
    nice: int
    shortlist: int | None = None
    namer: Namer | None = None


class _Tally(msgspec.Struct):
    """What a build has done so far."""

    new: list[str] = []
    changed: list[str] = []
    removed: list[str] = []
    skipped: list[Skipped] = []
    n_unchanged: int = 0


def build(
    parts: KnowledgeParts,
    roots: Sequence[str],
    *,
    anew: bool,
    stop: threading.Event,
    advance: Advance,
    read: Mapping[str, Given] | None = None,
) -> BuildResult:
    """Make the knowledge base hold what the files of these sources hold; files of other sources stay.

    anew: unchanged files are read again too, and a source that is not there any more keeps what it had. Each
    file is one step: whatever ends the build, those that were finished stay, and the next build goes on.
    read: path -> what that file gives, of those that were read already.

    Files that another embedder embedded, and that no source here gives, are embedded anew as they are kept:
    after a build that ended all vectors are of one embedder. An upload alone (`read`) leaves them.

    Raises DataError for a source that there is not, before anything is changed; Halted.
    """
    by_root, lost = _found(roots, parts.options, anew=anew)
    parts.points.open(repair=True)
    parts.catalogue.remember([root for root in roots if root != str(parts.uploads)])
    embedding = Embedding(parts.embed, stop, advance)
    with _reader(parts, stop, read or {}) as reader:
        step = _Step(parts, embedding, reader, anew=anew)
        step.tally.skipped += lost
        n_files, n_done = sum(len(files) for _, files in by_root), 0
        advance("files", 0, n_files)
        try:
            for root, files in by_root:
                for sighted in sight(root, files, parts.options):
                    embedding.check()
                    step.take(root, sighted)
                    n_done += 1
                    advance("files", n_done, n_files)
            step.drop_missing([*(root for root, _ in by_root), str(parts.uploads)])
            if read is None:
                step.renew_others()
        except Halted:
            parts.catalogue.revise()  # searches see what was finished
            raise
    return finish(parts, step.tally, embedding, anew=anew)


@contextmanager
def _reader(
    parts: KnowledgeParts, stop: threading.Event, read: Mapping[str, Given]
) -> Iterator[Callable[[Sighted], Given]]:
    """Give what reads the files of a build, in a process that has limits for each; `stop` ends it."""
    process = ReadingProcess(parts.options, nice=parts.nice, passages=parts.most_passages)

    def reader(sighted: Sighted) -> Given:
        read_before = read[sighted.path] if sighted.path in read else process.read(sighted.file, stop=stop)
        if stop.is_set():
            raise Halted
        return read_before

    try:
        yield reader
    finally:
        process.rest()


def _found(
    roots: Sequence[str], options: IngestOptions, *, anew: bool
) -> tuple[list[tuple[str, list[Found]]], list[Skipped]]:
    """Return what each source stands for, and those that stand for nothing, where that is no error."""
    by_root, lost = [], []
    for root in roots:
        try:
            by_root.append((root, found_under(root, options)))
        except DataError as mistake:
            if not anew:
                raise
            lost.append(Skipped(root, f"{mistake} What was read from it before is kept."))
    return by_root, lost


class _Step:
    """A build under way: the files before it, and what it has met."""

    def __init__(
        self, parts: KnowledgeParts, embedding: Embedding, reader: Callable[[Sighted], Given], *, anew: bool
    ) -> None:
        self.tally = _Tally()
        self._kept = parts
        self._embedding = embedding
        self._embed = embedding if parts.shortlist is None else None
        self._reader = reader
        self._anew = anew
        self._way = way_of(parts.identity, parts.tags, parts.options)
        self._before = {file.path: file for file in parts.catalogue.files()}
        self._owners = parts.catalogue.owners()
        self._owned: dict[str, list[str]] = {}  # by path: to look through all for each file takes its square
        for name, path in self._owners.items():
            self._owned.setdefault(path, []).append(name)
        self._seen: set[str] = set()

    def take(self, root: str, sighted: Sighted | Skipped) -> None:
        """Read a file, if it is new or changed."""
        if sighted.path in self._seen:
            return
        self._seen.add(sighted.path)
        if isinstance(sighted, Skipped):
            self._skip(sighted)
            return
        row = FileRow(
            path=sighted.path,
            root=root,
            name=sighted.file.id,
            upload=root == str(self._kept.uploads),
            digest=sighted.digest,
            way=self._way,
            identity=self._kept.identity,
        )
        readmitted = sighted.named and self._kept.catalogue.readmit(sighted.path)
        before = self._before.get(sighted.path)
        same = before is not None and msgspec.structs.replace(before, root=root) == row
        if same and not self._anew and not readmitted:
            self._kept.catalogue.found_again(row)
            self.tally.n_unchanged += 1
        elif self._read(sighted, row):
            if same and not readmitted:
                self.tally.n_unchanged += 1
            else:
                (self.tally.new if before is None else self.tally.changed).append(row.name)

    def _skip(self, skipped: Skipped) -> None:
        earlier = "; what was read from it before is kept" if skipped.path in self._before else ""
        self.tally.skipped.append(Skipped(skipped.path, f"{skipped.reason}{earlier}"))

    def _read(self, sighted: Sighted, row: FileRow) -> bool:
        """Read a file and hold what it gives; return whether it gave anything."""
        results = self._reader(sighted)
        documents = [each for each in results if isinstance(each, Document)]
        if not documents:
            self._skip(
                Skipped(sighted.path, next(each.reason for each in results if isinstance(each, Skipped)))
            )
            return False
        try:
            documents = prepared(documents, sighted, self._kept.tags)
            self._check_owners(documents, row)
            excluded = self._kept.catalogue.excluded()
            wanted = [document for document in documents if document.id not in excluded]
            stored, vectors = embedded(wanted, row.identity, self._embed, self._kept.most_passages)
        except Unreadable as mistake:
            self._skip(Skipped(sighted.path, str(mistake)))
            return False
        for name in self._owned.get(row.path, []):
            del self._owners[name]
        self._owned[row.path] = [document.id for document in documents]
        self._owners |= dict.fromkeys(self._owned[row.path], row.path)
        self._put(stored, vectors, row)
        self.tally.skipped += [each for each in results if isinstance(each, Skipped)]
        return True

    def _check_owners(self, documents: Sequence[Document], row: FileRow) -> None:
        for document in documents:
            owner = self._owners.get(document.id, row.path)
            if owner != row.path:
                raise Unreadable(f"the document id {document.id!r} is already used by {owner}: rename one")

    def _put(self, stored: Sequence[Stored], vectors: np.ndarray, row: FileRow) -> None:
        """Hold a file: its points first, for what the catalogue names must be there."""
        chunks = [chunk for document in stored for chunk in document.chunks]
        if vectors.size:
            self._kept.points.make(vectors.shape[1])
            self._kept.points.put(
                [point for document in stored for point in document.points], vectors, chunks
            )
        self._kept.catalogue.put(row, stored)

    def renew_others(self) -> None:
        """Embed anew what is kept of files that another embedder embedded; their next build reads them."""
        for identity in sorted({file.identity for file in self._kept.catalogue.files()}):
            if identity == self._kept.identity:
                continue
            by_path: dict[str, list[Stored]] = {}
            for file, document in self._kept.catalogue.stored(identity):
                by_path.setdefault(file.path, []).append(document)
            for file in self._kept.catalogue.files():
                if file.identity == identity:
                    self._embedding.check()
                    stored, vectors = renewed(by_path.get(file.path, []), self._kept.identity, self._embed)
                    row = msgspec.structs.replace(file, identity=self._kept.identity, way="")
                    self._put(stored, vectors, row)

    def drop_missing(self, roots: Iterable[str]) -> None:
        """Drop the files that were found under these sources before and are there no more."""
        ours = set(roots)
        for path, file in self._before.items():
            if file.root in ours and path not in self._seen:
                self._kept.catalogue.drop_file(path)
                self.tally.removed.append(file.name)


def finish(
    parts: KnowledgeParts,
    tally: _Tally | None = None,
    embedding: Embedding | None = None,
    *,
    anew: bool = False,
) -> BuildResult:
    """Make the points whole, group the documents, and let searches see it all; return what there is now."""
    tally = tally or _Tally()
    embed = embedding or Embedding(parts.embed, threading.Event(), lambda *_: None)
    stored = [document for _, document in parts.catalogue.stored(parts.identity)]
    stale = _fill(parts, stored, embed)
    _group(parts, stored, anew=anew)
    parts.catalogue.revise()
    # Now that no search finds them any more.
    parts.points.drop_others(len(stored[0].vector) if stored else 0)
    if stale:
        parts.points.drop(len(stored[0].vector), stale)
    stored = [document for _, document in parts.catalogue.stored(parts.identity)]
    return _built(parts, stored, tally, embed.n_embedded)


def _group(parts: KnowledgeParts, stored: Sequence[Stored], *, anew: bool) -> None:
    """Give the documents their topics, where they have others by now."""
    if not stored:
        return
    none: dict[str, str | None] = {entry.document.id: None for entry in stored}
    topics, after = none, None
    if parts.topics and parts.shortlist is None:
        topics, after = group(stored, parts.catalogue.grouped(), parts.namer, anew=anew)
    moved: dict[str | None, list[str]] = {}
    for entry in stored:
        if topics[entry.document.id] != entry.topic:
            moved.setdefault(topics[entry.document.id], []).extend(entry.points)
    parts.points.set_topics(len(stored[0].vector), moved)
    parts.catalogue.set_topics(topics, after)


def _fill(parts: KnowledgeParts, stored: Sequence[Stored], embed: Embed) -> set[str]:
    """Put in the points that are missing (a server may have lost them); return those that nobody names."""
    if not stored or parts.shortlist is not None:
        return set()
    n_numbers = len(stored[0].vector)
    parts.points.make(n_numbers)
    there = parts.points.ids(n_numbers)
    wanted = {
        point: chunk
        for document in stored
        for point, chunk in zip(document.points, document.chunks, strict=True)
    }
    missing = [point for point in wanted if point not in there]
    if missing:
        chunks = [wanted[point] for point in missing]
        parts.points.put(missing, embed([indexed_text(chunk) for chunk in chunks], "passage"), chunks)
    parts.points.index(n_numbers, {key for document in stored for key in tags_of(document.document)})
    return there - wanted.keys()


def _built(parts: KnowledgeParts, stored: Sequence[Stored], tally: _Tally, n_embedded: int) -> BuildResult:
    tags = [tags_of(document.document) for document in stored]
    keys = sorted({key for some in tags for key in some} | {tag.key for tag in parts.tags})
    counts = {key: Counter(value for some in tags for value in some.get(key, [])) for key in keys}
    return BuildResult(
        new=tally.new,
        changed=tally.changed,
        removed=tally.removed,
        n_unchanged=tally.n_unchanged,
        skipped=tally.skipped,
        left_out=sorted(parts.catalogue.excluded()),
        n_documents=len(stored),
        n_passages=sum(len(document.chunks) for document in stored),
        n_embedded=n_embedded,
        tags={key: _most_first(counts[key]) for key in keys},
        untagged={key: sum(not some.get(key) for some in tags) for key in keys},
        topics=_most_first(Counter(document.topic for document in stored if document.topic)),
        languages=_most_first(Counter(document.document.lang or "unknown" for document in stored)),
    )


def _most_first(counts: Counter[str]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
