"""Word, PowerPoint and Excel files -> documents and tables, by the standard library alone."""

from ragstone.corpus.office.docx import read_docx
from ragstone.corpus.office.pptx import read_pptx
from ragstone.corpus.office.xlsx import read_xlsx

__all__ = ["read_docx", "read_pptx", "read_xlsx"]
