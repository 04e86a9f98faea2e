"""`ragstone ingest` and `ragstone chunk` into folders of shards, gone on with after a death."""

from pathlib import Path

import pytest
from tests.features.ingest.test_ingesting import contents

from ragstone.features.chunk._chunking import chunk_to_file
from ragstone.features.ingest._ingesting import ingest_to_file
from ragstone.kernel.config import ChunkSection, Settings
from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.stages import chunk
from ragstone.kernel.tables import _shards as shards
from ragstone.kernel.tables import read_rows, write_rows


@pytest.fixture(autouse=True)
def _small_shards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shards, "OTHER_ROWS", 4)
    monkeypatch.setattr(shards, "SHARD_ROWS", {Document: 2})


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Six papers of three sentences each."""
    folder = tmp_path / "papers"
    folder.mkdir()
    for n in range(6):
        text = f"Paper {n} is about soil. It says that lime helps. It ends with number {n}."
        (folder / f"p{n}.txt").write_text(text)
    monkeypatch.chdir(tmp_path)
    return folder


def test_chunks_that_stand_in_finished_shards_are_not_cut_again(papers, monkeypatch):
    ingest_to_file([papers], "documents.jsonl", IngestOptions(), Settings())
    chunker = ChunkSection(method="sentence", size=30)  # a sentence a chunk: 3 of each document
    assert chunk_to_file("documents.jsonl", "whole/", chunker, Settings()) == 18
    cut: list[str] = []
    cut_documents = chunk.cut_documents

    def watched(documents, *given):
        for document in documents:
            if document.id == "papers/p4.txt" and "papers/p4.txt" not in cut:
                cut.append(document.id)
                raise KeyboardInterrupt
            cut.append(document.id)
            yield from cut_documents([document], *given)

    monkeypatch.setattr(chunk, "cut_documents", watched)
    with pytest.raises(KeyboardInterrupt):
        chunk_to_file("documents.jsonl", "out/", chunker, Settings())
    # 4 documents give 12 chunks, which are 3 shards of 4. The last finished chunk is of p3: it is cut again.
    cut[:] = ["papers/p4.txt"]
    assert chunk_to_file("documents.jsonl", "out/", chunker, Settings()) == 18
    assert cut == ["papers/p4.txt", "papers/p3.txt", "papers/p4.txt", "papers/p5.txt"]
    assert contents(Path("out")) == contents(Path("whole"))
    assert len(list(read_rows("out", Chunk))) == 18


def test_other_settings_or_documents_do_not_go_on_with_a_folder(papers, monkeypatch, says):
    ingest_to_file([papers], "documents.jsonl", IngestOptions(), Settings())
    manifest = Path("out") / shards.MANIFEST
    chunk_to_file("documents.jsonl", "out/", ChunkSection(size=30), Settings())
    manifest.write_text(manifest.read_text().replace('"finished": true', '"finished": false'))
    with pytest.raises(DataError) as error:
        chunk_to_file("documents.jsonl", "out/", ChunkSection(size=31), Settings())
    says(error.value)
    write_rows("documents.jsonl", [Document(id="x", text="Other.")], Document, force=True)
    with pytest.raises(DataError) as error:
        chunk_to_file("documents.jsonl", "out/", ChunkSection(size=30), Settings())
    says(error.value)
    assert chunk_to_file("documents.jsonl", "out/", ChunkSection(size=30), Settings(), force=True) == 1
