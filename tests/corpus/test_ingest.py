import os
import sys
from pathlib import Path

import pytest

from ragstone.corpus import Skipped, ingest, read_corpus
from ragstone.errors import DataError, MissingExtra


@pytest.fixture
def folder(tmp_path):
    """A folder `docs` with files that can be read and files that cannot."""
    files = {
        "b.txt": b"Second",
        "a.md": b"# First",
        "sub/c.HTML": b"<p>Third",
        "sub/d.csv": b"id,text\nrow,Fourth\n",
        "sub/broken.pdf": b"%PDF-1.4 nothing",
        "sub/picture.png": b"\x89PNG",
        "sub/empty.txt": b" \n",
        "sub/noending": b"x",
        "sub/rows.jsonl": b'{"text": "Fifth"}\n{"text": " "}\n',
        ".git/config.txt": b"hidden",
        ".hidden.txt": b"hidden",
    }
    for name, content in files.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return tmp_path / "docs"


def test_a_folder_is_read_in_a_stable_order_with_stable_ids(folder):
    documents = read_corpus([str(folder)]).documents
    assert [document.id for document in documents] == [
        "docs/a.md",
        "docs/b.txt",
        "docs/sub/c.HTML",
        "row",
        "docs/sub/rows.jsonl#1",
    ]
    assert documents[0].source == str(folder / "a.md")


def test_broken_files_are_skipped_with_their_reasons_and_stop_nothing(folder):
    skipped = {Path(one.path).name: one.reason for one in read_corpus([folder]).skipped}
    assert skipped == {
        "broken.pdf": "it is no PDF or a damaged one (Failed to load document (PDFium: Data format error))",
        "empty.txt": "it holds no text",
        "noending": "its name has no ending",
        "picture.png": "files that end in '.png' cannot be read",
        "rows.jsonl#2": "it holds no text",
    }


def test_a_file_gives_all_of_its_rows_or_none(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text('{"text": "good"}\nbroken\n')
    (skipped,) = ingest([path])
    assert isinstance(skipped, Skipped)
    assert "line 2 is no JSON object" in skipped.reason


def test_ids_from_the_current_folder_have_no_prefix(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert read_corpus([Path()]).documents[0].id == "a.md"


def test_a_file_that_two_sources_name_is_read_once(folder):
    corpus = read_corpus([folder / "a.md", folder])
    assert [document.id for document in corpus.documents][:2] == ["a.md", "docs/b.txt"]
    assert corpus.skipped[0].reason == "it was read before, through another of the sources"


def test_a_source_that_does_not_exist_is_an_error(tmp_path):
    with pytest.raises(DataError, match="nowhere: no such file or folder"):
        read_corpus([tmp_path / "nowhere"])


def test_a_named_file_of_an_unknown_kind_is_an_error_that_lists_the_known(folder):
    with pytest.raises(
        DataError, match=r"files that end in '.png' cannot be read. Convert it to one of: .txt"
    ):
        read_corpus([folder / "sub" / "picture.png"])


def test_a_second_document_with_an_id_names_both_places(tmp_path):
    for name in ("one.jsonl", "two.jsonl"):
        (tmp_path / name).write_text('{"id": "same", "text": "x"}\n')
    with pytest.raises(DataError, match=r"'same' appears in .*one.jsonl and in .*two.jsonl"):
        read_corpus([tmp_path])


def test_a_missing_package_names_the_command_that_installs_it(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[pdf\]'"):
        read_corpus([folder])
    monkeypatch.setitem(sys.modules, "selectolax.lexbor", None)
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[html\]'"):
        read_corpus([folder / "sub" / "c.HTML"])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_skipped(folder):
    (folder / "b.txt").chmod(0)
    assert any("Permission denied" in one.reason for one in read_corpus([folder]).skipped)
