"""Tests of document.output: the ending of a name says what is written, and a file is whole or as it was."""

from pathlib import Path

import pytest

from ragstone.kernel.document.blocks import Heading, ReportDocument
from ragstone.kernel.document.output import put_text, write_document
from ragstone.kernel.errors import DataError

DOCUMENT = ReportDocument(
    title="Two runs", kind="comparison", about="", version="0", blocks=[Heading("Verdict", anchor="verdict")]
)


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("c.html", "<!doctype html>"),
        ("c.HTM", "<!doctype html>"),
        ("c.md", "## Two runs"),
        ("c", "## Two runs"),
    ],
)
def test_the_ending_says_whether_it_is_a_page_or_markdown(tmp_path: Path, name: str, begins: str):
    assert write_document(tmp_path / name, DOCUMENT) == tmp_path / name
    assert (tmp_path / name).read_text(encoding="utf-8").lower().startswith(begins.lower())


def test_what_cannot_be_written_leaves_the_file_as_it_was(tmp_path: Path):
    path = tmp_path / "c.md"
    put_text(path, "before\n")
    (tmp_path / "c.md.partial").mkdir()
    with pytest.raises(DataError):
        put_text(path, "after\n")
    assert path.read_text(encoding="utf-8") == "before\n"
