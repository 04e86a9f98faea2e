"""A PDF -> a document: its text in reading order, without page furniture."""

from ragstone.corpus.pdf.reader import read_pdf

__all__ = ["read_pdf"]
