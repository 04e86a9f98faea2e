"""The knowledge base: documents in, passages out, from many tasks at once."""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import TypeVar

from ragstone.kernel.config import AssistantSection
from ragstone.kernel.config.serving import CATALOGUE
from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.corpus.parallel import Given
from ragstone.kernel.corpus.tags import Tag
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.embedding.embedder import Embedder
from ragstone.kernel.embedding.gathering import Gathered
from ragstone.kernel.embedding.model import Embed, Vectors
from ragstone.kernel.errors import ConfigError, DataError, MissingExtra, ModelError, plural
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.retrieval.fusion import FUSED_DEPTH, score_fusion
from ragstone.kernel.retrieval.passages import indexed_text
from ragstone.kernel.retrieval.ranks import Hit
from ragstone_assistant.conversation import Passage
from ragstone_assistant.knowledge._building import KnowledgeParts, build, finish
from ragstone_assistant.knowledge._catalogue import Catalogue
from ragstone_assistant.knowledge._cutting import Halted, root_of
from ragstone_assistant.knowledge._points import ASKER, PassagePoints
from ragstone_assistant.knowledge._snapshot import (
    Nearest,
    Snapshot,
    among,
    passage_of,
    place_of,
    take_snapshot,
)
from ragstone_assistant.knowledge.entry import (
    Advance,
    BadUpload,
    BuildResult,
    Entry,
    KnowledgeDown,
    PlacedPassage,
)
from ragstone_assistant.knowledge.grouping import Namer
from ragstone_assistant.knowledge.uploads import FOLDER, NICE, Upload, UploadReader, keeping

MOST_ASKED = 2000  # characters of a question that are searched by
OPTIONS = IngestOptions()
SHORTLISTED = "shortlist"  # in place of an embedder's identity: no vector was made, so any embedder will do
DOWN = "The documents cannot be searched at this moment. Please try again in a few minutes."

Out = TypeVar("Out")


def silent(_stage: str, _done: int, _total: int) -> None:
    """Tell nobody how far it is."""


def open_knowledge(
    section: AssistantSection,
    root: Path,
    embed: Embed,
    tags: Sequence[Tag],
    options: IngestOptions = OPTIONS,
    *,
    namer: Namer | None = None,
    serving: bool = True,
) -> "KnowledgeBase":
    """Return the knowledge base of `[assistant]`, whose paths are relative to `root`; empty before a build.

    options: how files are read, but for `duplicates` and `processes`, which need all of them at once.
    namer: names topics; without one their words do. serving: builds stand back for answers of this process.

    Qdrant is opened when it is first needed: a list of the documents needs none.

    Raises MissingExtra without the package qdrant-client, DataError for a folder that cannot be written to,
    ConfigError for an open tag, whose values only a model could choose.
    """
    if find_spec("qdrant_client") is None:
        raise MissingExtra(ASKER.what, ASKER.extra)
    opened = [tag.key for tag in tags if tag.values is None]
    if opened:
        raise ConfigError(
            f"[assistant] tags: {opened[0]!r} is open, and documents are tagged by words here. List its "
            "values."
        )
    folder = root / Path(section.store).expanduser()
    identity = embed.identity if isinstance(embed, Embedder) else section.embedder
    if section.shortlist is not None:
        identity = SHORTLISTED
    catalogue = Catalogue(folder / CATALOGUE)
    parts = KnowledgeParts(
        catalogue=catalogue,
        points=PassagePoints(section, folder, catalogue.name, identity),
        embed=embed,
        identity=identity,
        tags=list(tags),
        topics=section.topics,
        uploads=Path(root_of(folder / FOLDER)),
        options=options,
        most_passages=section.max_passages,
        shortlist=section.shortlist,
        nice=NICE if serving else 0,
        namer=namer,
    )
    return KnowledgeBase(parts)


class KnowledgeBase:
    """Documents that are searched by many tasks while one build after the other changes them.

    Builds run in a thread of their own, one at a time; another process that builds the same is an error.
    """

    def __init__(self, parts: KnowledgeParts) -> None:
        self._kept = parts
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="ragstone-build")
        self._looker = ThreadPoolExecutor(1, thread_name_prefix="ragstone-health")  # behind no search
        self._stops: set[threading.Event] = set()  # one for each change that waits or is under way
        self._loading = threading.Lock()
        self._taken: Snapshot | None = None
        self._nearest = Nearest(parts.points)
        self.check = UploadReader(parts.options, parts.most_passages)
        self._gathered = Gathered(parts.embed) if isinstance(parts.embed, Embedder) else None

    async def close(self) -> None:
        """Stop a build that is under way, in good order, and let go of everything."""
        for stop in self._stops:
            stop.set()
        await asyncio.to_thread(self._writer.shutdown, wait=True, cancel_futures=True)
        await asyncio.to_thread(self.check.close)
        await asyncio.to_thread(self._looker.shutdown, wait=True)
        self._kept.points.close()
        self._kept.catalogue.close()

    # What is in it.

    def documents(self) -> list[Entry]:
        """Return the documents, by id."""
        return self._snapshot().entries

    def embedders(self) -> set[str]:
        """Return what the stores of the embedders know them by that its files were embedded with."""
        return {file.identity for file in self._kept.catalogue.files()}

    @property
    def version(self) -> str:
        """What tells this state from others: the same files, made the same way, have the same version."""
        return self._snapshot().version

    def filters(self) -> dict[str, list[str]]:
        """Return the values that passages have: tag -> values; `lang` and `topic` among the tags."""
        having = self._snapshot().having
        by_key = {
            key: sorted(value for value in values if value is not None) for key, values in having.items()
        }
        return {key: values for key, values in by_key.items() if values}

    async def passage(self, chunk_id: str) -> PlacedPassage | None:
        """Return a passage with the text around it; None where there is none of that id."""
        return place_of(await asyncio.to_thread(self._snapshot), chunk_id)

    def _snapshot(self) -> Snapshot:
        """Return what there is, read anew if a build has ended since, in whichever process."""
        with self._loading:
            if self._taken is None or self._taken.revision != self._kept.catalogue.revision:
                self._taken = take_snapshot(self._kept.catalogue, self._kept.identity)
            return self._taken

    def unheld(self, words: Sequence[str]) -> list[str]:
        """Return those of the words, folded as `tokenize` folds them, that no passage and no title holds.

        A word is held by an inflected form of it too, as in search.
        """
        snapshot = self._snapshot()
        if not words or not snapshot.chunks:
            return list(words)
        hits = snapshot.by_words(words, 1, None)
        return [word for word, found in zip(words, hits, strict=True) if not found]

    def sources(self) -> list[str]:
        """Return the absolute paths that were ever built from."""
        return self._kept.catalogue.sources()

    # Searching.

    async def health(self) -> str:
        """Return "ok", or what is wrong, for the operator."""
        try:
            loop = asyncio.get_running_loop()
            snapshot = await loop.run_in_executor(self._looker, self._look)
            self._check_embedder(snapshot)
        except (DataError, ConfigError) as mistake:
            return str(mistake)
        except KnowledgeDown as down:
            return str(down.__cause__)
        return "ok" if snapshot.entries else "it has no documents: ragstone assistant build DOCS"

    def _look(self) -> Snapshot:
        self._kept.points.check()
        return self._snapshot()

    async def search(self, query: str, k: int, filters: Mapping[str, str] | None = None) -> list[Passage]:
        """Return the k passages that answer a question best, best first; fewer where there are fewer.

        Words (BM25) and meaning (vectors) are searched side by side and fused by their standard scores. With
        a shortlist only the first passages by words are compared by meaning, and embedded for that.
        filters: see `among`; of a tag with listed values, any name of a value is understood. score: the sum
        of two standard scores, which compares within one question only. Nothing for a blank question.

        Raises KnowledgeDown where the store or the embedder cannot be reached, and where some files were
        built with another embedder: the others alone would answer as if that were all.
        """
        question = query.strip()[:MOST_ASKED]
        taken = self._taken
        if not question or taken is None or not taken.chunks:  # there may be nothing to embed it for
            taken = await asyncio.to_thread(self._snapshot)
            self._check_embedder(taken)
            if not question or not taken.chunks:
                return []
        try:
            vector = await self._vector(question)
            return await asyncio.to_thread(self._found, question, vector, k, filters or {})
        except (DataError, ConfigError, ModelError) as mistake:
            raise KnowledgeDown(DOWN) from mistake

    async def _vector(self, question: str) -> Vectors:
        """Return the vector of a question; questions that come at once are embedded together."""
        if self._gathered is not None:
            return (await self._gathered([question], "query"))[0]
        alone: Vectors = (await asyncio.to_thread(self._kept.embed, [question], "query"))[0]
        return alone

    def _found(self, question: str, vector: Vectors, k: int, filters: Mapping[str, str]) -> list[Passage]:
        """Return the passages: all in one thread, which costs less than to go from one to the next.

        Where a build has ended meanwhile, and points may be gone that were to be found, it searches again.
        """
        while True:
            snapshot = self._snapshot()
            self._check_embedder(snapshot)
            try:
                passages = self._found_in(snapshot, question, vector, k, filters)
            except DataError:
                if self._snapshot() is snapshot:
                    raise
            else:
                if self._snapshot() is snapshot:
                    return passages

    def _found_in(
        self, snapshot: Snapshot, question: str, vector: Vectors, k: int, filters: Mapping[str, str]
    ) -> list[Passage]:
        if not snapshot.chunks:
            return []
        subset = among(snapshot, self._meant(filters))
        depth = max(k, FUSED_DEPTH)
        most = self._kept.shortlist
        [by_words] = snapshot.by_words([question], max(depth, most or 0), subset)
        if most is None:
            by_meaning, n_compared = self._nearest(vector, depth, snapshot, subset), depth
        else:
            by_meaning = self._compared(snapshot, vector, by_words[:most])
            n_compared = len(by_meaning)  # none of the others is as near, for all that is known
        fused = score_fusion([by_meaning, by_words], [1.0, 1.0], [n_compared, depth])
        return [passage_of(snapshot, position, score) for position, score in fused[:k]]

    def _compared(self, snapshot: Snapshot, vector: Vectors, proposed: Sequence[Hit]) -> list[Hit]:
        """Return the similarity of proposed passages, best first; those that are new are embedded now."""
        positions = [at for at, _ in proposed]
        if not positions:
            return []
        texts = [indexed_text(snapshot.chunks[at]) for at in positions]
        similar = (self._kept.embed(texts, "passage") @ vector).tolist()
        return sorted(zip(positions, similar, strict=True), key=lambda hit: -hit[1])

    def _check_embedder(self, snapshot: Snapshot) -> None:
        if not snapshot.n_foreign:
            return
        if self._kept.shortlist is not None:
            what = "[assistant] shortlist is set, and the knowledge base was built without it. Rebuild it"
        elif snapshot.n_foreign == snapshot.n_files:
            what = f"the knowledge base was not built with the embedder {self._kept.identity}. Rebuild it"
        else:
            were = "was" if snapshot.n_foreign == 1 else "were"
            what = (
                f"{snapshot.n_foreign:,} of {plural(snapshot.n_files, 'file')} in the knowledge base {were} "
                f"not built with the embedder {self._kept.identity}. Finish the build"
            )
        raise KnowledgeDown(DOWN) from DataError(f"{what} with: ragstone assistant build")

    def _meant(self, filters: Mapping[str, str]) -> dict[str, str]:
        """Return the filters with the value of the list that each names, if it names one."""
        listed = {tag.key: tag.values or {} for tag in self._kept.tags}
        meant = {}
        for key, wanted in filters.items():
            if wanted.strip():
                named = (
                    value
                    for value, names in listed.get(key, {}).items()
                    if any(tokenize(name) == tokenize(wanted) for name in names)
                )
                meant[key] = next(named, wanted)
        return meant

    # Changing.

    async def build(self, sources: Sequence[Path | str], advance: Advance = silent) -> BuildResult:
        """Make it hold what these files, folders and archives hold; return what that changed.

        New and changed files are read, unchanged ones left alone, those that are gone from a source are
        dropped. Files of other sources, and uploads, stay. A document that was removed stays so, unless its
        file itself is named. A file that cannot be read is skipped; what was read of it before stays.

        Raises DataError for a source that does not exist or holds no file, for a store that cannot be
        reached, and while another process builds; Stopped after `close`.
        """
        roots = [root_of(source) for source in sources]

        def work(stop: threading.Event) -> BuildResult:
            return self._build(roots, stop, advance)

        return await self._change(work)

    async def rebuild(self, advance: Advance = silent) -> BuildResult:
        """Read all files of all sources and all uploads anew, and make the store whole; see `build`.

        Texts that the embedder has in its store are not embedded again. A source that is not there any more
        keeps its documents.
        """

        def work(stop: threading.Event) -> BuildResult:
            return self._build(self.sources(), stop, advance, anew=True)

        return await self._change(work)

    async def add(self, upload: Upload, advance: Advance = silent) -> BuildResult:
        """Keep a file that `check` has read under its name in the store, and take in what it gave.

        It comes in place of one of that name. Raises BadUpload where its document ids are taken, or it gives
        too many passages: then, and where it is stopped, nothing has changed.
        """

        def work(stop: threading.Event) -> BuildResult:
            self._kept.points.check()
            path = str(self._kept.uploads / upload.name)
            if self._kept.catalogue.readmit(path):
                self._kept.catalogue.drop_file(path)
            with keeping(self._kept.uploads, upload.name, upload.content):
                built = self._build([], stop, advance, read={path: upload.given})
                wrong = [skipped.reason for skipped in built.skipped if skipped.path == path]
                if wrong and f"{FOLDER}/{upload.name}" not in [*built.new, *built.changed]:
                    raise BadUpload("unreadable", f"{upload.name}: {wrong[0]}.")
            return built

        return await self._change(work)

    async def remove(self, document_id: str) -> bool:
        """Take a document out; return whether there was one of that id.

        An upload whose last document it is, is deleted. Of another file it is left out from now on, until
        that file itself is named to a build.
        """

        def work(_stop: threading.Event) -> bool:
            catalogue = self._kept.catalogue
            owners = catalogue.owners()
            path = owners.get(document_id)
            if path is None:
                return False
            self._kept.points.check()
            upload = any(file.upload for file in catalogue.files() if file.path == path)
            if upload and list(owners.values()).count(path) == 1:
                Path(path).unlink(missing_ok=True)
                catalogue.drop_file(path)
            else:
                catalogue.exclude(document_id)
            finish(self._kept)
            return True

        return await self._change(work)

    async def _change(self, work: Callable[[threading.Event], Out]) -> Out:
        """Return what the work returns, in the thread of the builds.

        Cancelled, or when the knowledge base is closed, the work is stopped and awaited first.
        """
        stop = threading.Event()

        def locked() -> Out:
            with held(self._kept.catalogue.path):
                if self._taken is not None:
                    self._snapshot()  # what searches see until this change has ended
                return work(stop)

        self._stops.add(stop)
        running = asyncio.get_running_loop().run_in_executor(self._writer, locked)
        try:
            return await asyncio.shield(running)
        except Halted:
            raise asyncio.CancelledError from None
        except asyncio.CancelledError:
            stop.set()
            await asyncio.wait([running])
            if not running.cancelled():
                running.exception()  # nobody else asks for it, and asyncio would complain
            raise
        finally:
            self._stops.discard(stop)

    def _build(
        self,
        roots: Sequence[str],
        stop: threading.Event,
        advance: Advance,
        *,
        anew: bool = False,
        read: Mapping[str, Given] | None = None,
    ) -> BuildResult:
        """Build from these sources and the uploads, one of which may have been cut short."""
        uploads = self._kept.uploads
        uploaded = uploads.is_dir() and any(not path.name.startswith(".") for path in uploads.iterdir())
        every = [*roots, str(uploads)] if uploaded else list(roots)
        return build(self._kept, every, anew=anew, stop=stop, advance=advance, read=read)
