"""Files -> documents -> chunks; and the language of a text."""

from ragstone.corpus.chunking import CHUNKERS, chunk_documents
from ragstone.corpus.ingest import READERS, Corpus, Skipped, ingest, read_corpus
from ragstone.corpus.language import detect_language

__all__ = [
    "CHUNKERS",
    "READERS",
    "Corpus",
    "Skipped",
    "chunk_documents",
    "detect_language",
    "ingest",
    "read_corpus",
]
