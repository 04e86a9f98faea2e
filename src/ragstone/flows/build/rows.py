"""What an evaluation set is built from: documents, chunks, or files that are read into documents."""

from collections.abc import Sequence
from pathlib import Path

from ragstone.config import Settings
from ragstone.dataset.build_files import build_paths
from ragstone.errors import DataError
from ragstone.records import Document
from ragstone.stages.corpus import read_documents
from ragstone.stages.tag import Taggable, read_taggable
from ragstone.tables import keep_sources

ROWS = (".jsonl", ".parquet")  # of a single source: rows of ours, or of another tool with its names


def read_sources(sources: Sequence[Path | str], settings: Settings) -> list[Taggable]:
    """Return the rows of one .jsonl or .parquet file, documents or chunks; else what ingest makes of them.

    sources: as of `ragstone ingest`; read as `[documents]` says. Raises DataError if it is nothing.
    """
    if len(sources) == 1 and Path(sources[0]).suffix.lower() in ROWS:
        return read_taggable(Path(sources[0]))[1]
    corpus = read_documents(settings, [str(Path(source).absolute()) for source in sources])
    if not corpus.documents:
        first = "; ".join(f"{one.path}: {one.reason}" for one in corpus.skipped[:3])
        raise DataError(
            f"no documents in {', '.join(map(str, sources))}{': ' + first if first else ''}. Name files or "
            "folders that `ragstone ingest` reads; --glob takes files of other endings as text."
        )
    return list(corpus.documents)


def document_id_of(row: Taggable) -> str:
    """Return the id of a document, or of the one that a chunk is a piece of."""
    return row.id if isinstance(row, Document) else row.document_id


def read_for(output: Path | str, sources: Sequence[Path | str], settings: Settings) -> list[Taggable]:
    """Return the rows that a build reads. Raises DataError where one of its files would replace a source."""
    keep_sources(build_paths(Path(output), settings.build), sources)
    return read_sources(sources, settings)
