"""A document -> a file: a page or Markdown, by the ending of its name; whole, or not at all."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from ragstone.kernel.document.blocks import ReportDocument
from ragstone.kernel.errors import explaining

PAGE, MARKDOWN = "html:render_page", "markdown:render_markdown"
RENDERERS = {".html": PAGE, ".htm": PAGE}
"""Ending -> what makes the text, imported when such a file is written; MARKDOWN for any other."""


def write_document(path: Path, document: ReportDocument) -> Path:
    """Write a document in place of a file that is there, and return its path. Raises DataError."""
    module, _, name = RENDERERS.get(path.suffix.lower(), MARKDOWN).partition(":")
    render: Callable[[ReportDocument], str] = getattr(import_module(f"{__package__}.{module}"), name)
    return put_text(path, render(document))


def put_text(path: Path, text: str) -> Path:
    """Write a file in place of one that is there, whole or not at all, and return its path.

    Raises DataError.
    """
    partial = path.with_name(f"{path.name}.partial")
    with explaining(
        f"{path}: could not be written", "Free some disk space, or make the folder writable, then run again."
    ):
        partial.write_text(text, encoding="utf-8", newline="\n")
        partial.replace(path)
    return path
