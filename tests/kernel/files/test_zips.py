"""Archives: read as folders, and what they could do to us."""

import stat
import zipfile
from pathlib import Path
from unittest import mock

import pytest

from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.corpus.ingest import read_corpus
from ragstone.kernel.files import zips


def archive(tmp_path, entries, name="docs.zip", packing=zipfile.ZIP_DEFLATED):
    path = tmp_path / name
    with zipfile.ZipFile(path, "w", packing) as made:
        for entry, content in entries.items():
            made.writestr(entry, content)
    return path


def read(path, **options):
    corpus = read_corpus([path], IngestOptions(**options))
    return {one.id: one.text for one in corpus.documents}, {one.path: one.reason for one in corpus.skipped}


def test_an_archive_is_read_as_a_folder_and_nothing_is_written(tmp_path):
    entries = {
        "b.txt": "B",
        "a/c.md": "# C",
        "a/rows.csv": "text\nrow\n",
        ".hidden.txt": "h",
        "__MACOSX/x.txt": "m",
    }
    path = archive(tmp_path, entries)
    documents, skipped = read(tmp_path)
    assert documents == {
        f"{tmp_path.name}/docs.zip/b.txt": "B",
        f"{tmp_path.name}/docs.zip/a/c.md": "# C",
        f"{tmp_path.name}/docs.zip/a/rows.csv#1": "row",
    }
    assert skipped == {}
    assert list(read(path)[0]) == ["docs.zip/b.txt", "docs.zip/a/c.md", "docs.zip/a/rows.csv#1"]
    assert [one.name for one in tmp_path.iterdir()] == ["docs.zip"]


def test_patterns_choose_entries(tmp_path):
    path = archive(tmp_path, {"a.py": "x = 1", "b.txt": "B", "c/d.py": "y = 1"})
    assert list(read(path, glob=["*.py"])[0]) == ["docs.zip/a.py", "docs.zip/c/d.py"]
    assert len(read(tmp_path, glob=["*.zip"])[0]) == 1


@pytest.mark.long
def test_processes_read_entries_as_one_does(tmp_path):
    path = archive(tmp_path, {f"{n}.txt": f"Text {n}" for n in range(9)} | {"z.docx": b"broken"})
    assert read(path, processes=2) == read(path, processes=1)


@pytest.mark.parametrize(
    "name", ["../out.txt", "/etc/out.txt", "C:/out.txt", "a/../../out.txt", "..\\out.txt"]
)
def test_a_name_that_leads_out_of_the_archive_is_skipped(tmp_path, name, says):
    documents, skipped = read(archive(tmp_path, {name: "out", "in.txt": "in"}))
    assert list(documents.values()) == ["in"]
    [reason] = skipped.values()
    says(reason)
    assert all("docs.zip" in path for path in skipped)


def test_links_and_archives_in_an_archive_are_skipped(tmp_path, says):
    inner = archive(tmp_path, {"x.txt": "x"}, "inner.zip").read_bytes()
    link = zipfile.ZipInfo("link.txt")
    link.create_system = 3
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = archive(tmp_path, {link: "/etc/passwd", "inner.zip": inner})
    documents, skipped = read(path)
    assert documents == {}
    reasons = {Path(place).name: why for place, why in skipped.items()}
    assert reasons.keys() == {"inner.zip", "link.txt"}
    says(reasons["inner.zip"])
    says(reasons["link.txt"])


def test_a_bomb_is_refused_by_what_its_directory_says(tmp_path, says):
    path = archive(tmp_path, {f"{n}.txt": b"0" * 30_000_000 for n in range(2)})
    documents, skipped = read(path)
    assert documents == {}
    says(skipped[str(path)])


def test_too_many_entries_and_too_large_ones_are_refused(tmp_path, says):
    path = archive(tmp_path, {"a.txt": "a", "b.txt": "b" * 1_100_000})
    says(read(path, max_file_mb=1)[1][str(path / "b.txt")])
    with mock.patch.object(zips, "MOST_ENTRIES", 1):
        says(read(path)[1][str(path)])


def test_encrypted_and_oddly_packed_entries_are_skipped(tmp_path, says):
    path = archive(tmp_path, {"a.txt": "a"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag of encryption in the directory
    path.write_bytes(bytes(content))
    [(place, reason)] = read(path)[1].items()
    assert place == str(path / "a.txt")
    says(reason)
    path = archive(tmp_path, {"a.txt": "a"}, packing=zipfile.ZIP_BZIP2)
    says(read(path)[1][str(path / "a.txt")])


def test_a_damaged_archive_or_entry_is_skipped(tmp_path, says):
    path = tmp_path / "docs.zip"
    for content in (b"", b"PK\x03\x04"):
        path.write_bytes(content)
        says(read(path)[1][str(path)])
    archive(tmp_path, {"a.txt": "text " * 50, "b.txt": "B"}, packing=zipfile.ZIP_STORED)
    path.write_bytes(path.read_bytes().replace(b"text text", b"text tixt", 1))
    documents, skipped = read(path)
    assert documents == {"docs.zip/b.txt": "B"}
    says(skipped[str(path / "a.txt")])


@pytest.mark.pack
def test_every_format_is_read_from_an_archive(tmp_path, shared_data):
    files = [
        shared_data / "pdfs" / "jose-00197.pdf",
        *(shared_data / "ingest_formats").glob("*/*.[dch]*[xvl]"),
    ]
    path = archive(tmp_path, {file.name: file.read_bytes() for file in files}, packing=zipfile.ZIP_STORED)
    documents, skipped = read(path, tables="whole")
    assert skipped == {}
    assert {name.rpartition(".")[2] for name in documents} == {"pdf", "docx", "csv", "html"}
    assert documents["docs.zip/jose-00197.pdf"] == next(iter(read(files[0])[0].values()))
