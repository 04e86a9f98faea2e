"""The corpus that the settings declare, read and cut."""

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path, PurePath, PureWindowsPath

import msgspec

from ragstone.kernel.config import Settings
from ragstone.kernel.corpus.duplicates import Duplicate
from ragstone.kernel.corpus.file import IngestOptions, Skipped
from ragstone.kernel.corpus.ingest import Corpus, read_corpus
from ragstone.kernel.embedding.model import Embed
from ragstone.kernel.engine.mapping import on_cluster
from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import plural
from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.stages.chunk import chunks_of, cut_documents
from ragstone.kernel.stages.ingest import read_documents_of
from ragstone.kernel.tables.columns import CHOICE


class ChunkedCorpus(msgspec.Struct, frozen=True, kw_only=True):
    """Documents, the files that gave none, the chunks, and which documents repeat an earlier one."""

    documents: list[Document]
    skipped: list[Skipped]
    chunks: list[Chunk]
    duplicates: list[Duplicate] = []

    def duplicate_notes(self, done: str) -> list[str]:
        """Return the note that documents repeat others, if any; done: `report`, or `drop` (left out)."""
        if not self.duplicates:
            return []
        first, n = self.duplicates[0], len(self.duplicates)
        outcome = (
            "left out, so questions about a left-out one count as answered by the one that was kept"
            if done == "drop"
            else 'a retriever that returns the other one counts as wrong; `duplicates = "drop"` in '
            "[documents] leaves them out"
        )
        return [
            f"{plural(n, 'document')} {'repeats' if n == 1 else 'repeat'} another, e.g. {first.id} repeats "
            f"{first.of}: {outcome}."
        ]


def load_corpus(settings: Settings, embedder: Callable[[str], Embed] | None = None) -> ChunkedCorpus:
    """Return the corpus that `[documents]` and `[chunk]` declare; an empty one if there are no documents.

    embedder: gives a session's embedder by name, see cut_documents.
    """
    corpus = read_documents(settings)
    chunks = list(cut_documents(corpus.documents, settings.chunk, settings, embedder))
    return ChunkedCorpus(
        documents=corpus.documents, skipped=corpus.skipped, chunks=chunks, duplicates=corpus.duplicates
    )


async def corpus_on(session: Session) -> ChunkedCorpus:
    """Return what load_corpus returns, read and cut by the engine of the session."""
    settings = session.settings
    if not on_cluster(session):
        return load_corpus(settings, session.embedder)
    paths = [settings.path(path) for path in settings.documents.paths]
    corpus = await read_documents_of(paths, ingest_options(settings), session)
    documents = _seen_from_settings(corpus.documents, settings)
    chunks = [chunk async for chunk in chunks_of(lambda: documents, session, settings.chunk, len(documents))]
    return ChunkedCorpus(
        documents=documents, skipped=corpus.skipped, chunks=chunks, duplicates=corpus.duplicates
    )


def read_documents(settings: Settings) -> Corpus:
    """Return what the files and folders of `[documents]` hold."""
    corpus = read_files(settings, [settings.path(path) for path in settings.documents.paths])
    return msgspec.structs.replace(corpus, documents=_seen_from_settings(corpus.documents, settings))


def read_files(settings: Settings, paths: Iterable[Path]) -> Corpus:
    """Return what files and folders hold that a caller named, read as `[documents]` says."""
    return read_corpus(paths, ingest_options(settings))


def _seen_from_settings(documents: Sequence[Document], settings: Settings) -> list[Document]:
    """Return documents whose source is a path from the folder of ragstone.toml, if their file is in it.

    A path from the working folder would make other rows of the same documents, and another digest of them in
    the manifest, for whoever runs from another folder. What rows of a file name as their source stays.
    """
    declared = tuple(
        re.split(r"[*?[{]", settings.path(path).as_posix())[0] for path in settings.documents.paths
    )
    root = Path(settings.root)
    return [
        msgspec.structs.replace(row, source=source_from(root, root.absolute(), row.source))
        if row.source and row.source.startswith(declared)
        else row
        for row in documents
    ]


def source_from(root: PurePath, absolute: PurePath, source: str) -> str:
    """Return the path of a file as it is seen from a folder, if it is in it; with `/` on every system.

    absolute: the folder again. What is below the working folder is seen from there as it is.
    """
    folder = absolute if type(root)(source).is_absolute() else root
    path = type(root)(source).as_posix() if isinstance(root, PureWindowsPath) else source
    return path.removeprefix((folder / "file").as_posix().removesuffix("file"))


OF_DOCUMENTS = frozenset({"text", "title"})  # fields that no question and no answer has


def ingest_options(settings: Settings) -> IngestOptions:
    """Return how `[documents]` says that files are read, and the command line which column is their text."""
    declared = msgspec.structs.asdict(settings.documents)
    chosen = CHOICE.get().columns
    declared["columns"] = {
        **declared["columns"],
        **{option: chosen[option] for option in OF_DOCUMENTS & chosen.keys()},
    }
    return IngestOptions(**{name: declared[name] for name in IngestOptions.__struct_fields__})
