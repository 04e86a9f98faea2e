"""Files at URLs become the documents that they become from a folder of the same name."""

from pathlib import Path

import msgspec
import pytest

from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.corpus.ingest import ingest, read_corpus
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Document
from ragstone.kernel.tables.storage import put_bytes

FILES = {
    "b.md": b"# Sowing\n\nMaize is sown in May, when the soil is warm.",
    "a.txt": b"Beans like it warm, and they climb.",
    "deep/c.html": b"<title>Soil</title><p>Lime makes acid soil sweeter.</p>",
    "deep/d.csv": b"id,text\nr1,Water in the morning.\nr2,Mulch holds water.\n",
    ".hidden/e.md": b"nobody reads this",
    "pack.zip": b"PK",
    "empty.md": b" ",
}


@pytest.fixture
def twins(tmp_path: Path) -> tuple[Path, str]:
    """A folder, and a URL below which the same files stand."""
    folder, url = tmp_path / "papers", f"memory://{tmp_path.name}/papers"
    for name, content in FILES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
        put_bytes(content, f"{url}/{name}")
    return folder, url


@pytest.mark.long
@pytest.mark.parametrize(("processes", "ending"), [(1, ""), (1, "/"), (2, "")])
def test_documents_are_those_of_a_folder_with_the_url_as_their_source(twins, ending, processes):
    folder, url = twins
    if processes > 1:  # other processes do not share this one's memory: they read the files themselves
        url = f"file://{folder}"
    options = IngestOptions(processes=processes)
    local = read_corpus([folder], options)
    remote = read_corpus([url + ending], options)

    def moved(document: Document) -> Document:
        source = (document.source or "").replace(str(folder), url.removeprefix("file://"))
        return msgspec.structs.replace(document, source=source)

    assert remote.documents == [moved(document) for document in local.documents]
    assert [document.id for document in remote.documents] == [
        "papers/a.txt",
        "papers/b.md",
        "papers/deep/c.html",
        "r1",
        "r2",
    ]


def test_what_gives_no_document_is_told_with_its_url(twins):
    found = {one.path: one.reason for one in read_corpus([twins[1]]).skipped}
    assert found == {
        f"{twins[1]}/empty.md": "it holds no text",
        f"{twins[1]}/pack.zip": "it is an archive at a URL: unpack it there",
    }


def test_one_file_and_a_pattern_may_be_named(twins):
    assert [one.id for one in ingest([f"{twins[1]}/b.md"])] == ["b.md"]
    assert [one.id for one in ingest([f"{twins[1]}/**/*.html"])] == ["papers/deep/c.html"]
    assert [one.id for one in ingest([twins[1]], IngestOptions(glob=["*.md"])) if isinstance(one, Document)]


def test_what_is_not_there_and_what_is_too_large_is_told(twins, says):
    with pytest.raises(DataError) as error:
        list(ingest(["memory://nobody"]))
    says(error.value)
    put_bytes(b"x" * 1_000_001, f"{twins[1]}/large.md")
    found = list(ingest([f"{twins[1]}/large.md"], IngestOptions(max_file_mb=1)))
    says(found[0].reason)
