"""Files -> documents -> chunks; and the language of a text."""

from ragstone.corpus.chunking import CHUNKERS, chunk_documents
from ragstone.corpus.duplicates import Duplicate
from ragstone.corpus.file import Skipped
from ragstone.corpus.ingest import Corpus, ingest, read_corpus
from ragstone.corpus.language import detect_language
from ragstone.corpus.options import IngestOptions
from ragstone.corpus.reading import READERS

__all__ = [
    "CHUNKERS",
    "READERS",
    "Corpus",
    "Duplicate",
    "IngestOptions",
    "Skipped",
    "chunk_documents",
    "detect_language",
    "ingest",
    "read_corpus",
]
