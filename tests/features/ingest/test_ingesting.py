"""`ragstone ingest` and `ragstone chunk` into folders of shards, gone on with after a death."""

from pathlib import Path

import pytest
from tests.support.command import ragstone

from ragstone.features.ingest import _ingesting as ingesting
from ragstone.features.ingest._ingesting import ingest_to_file
from ragstone.kernel.config import Settings
from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.records import Chunk, Document
from ragstone.kernel.tables import _shards as shards
from ragstone.kernel.tables import read_rows

STREAM = IngestOptions(duplicates="ignore", processes=1)


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


def contents(folder: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in sorted(folder.glob("*.parquet"))}


def test_documents_are_streamed_and_the_same_as_those_that_are_compared(papers):
    compared = ingest_to_file([papers], "compared.jsonl", IngestOptions(), Settings())
    streamed = ingest_to_file([papers], "streamed/", STREAM, Settings())
    assert streamed == compared
    assert (streamed.n_documents, streamed.formats) == (6, {".txt": 6})
    assert list(read_rows("streamed", Document)) == list(read_rows("compared.jsonl", Document))


def test_an_ingest_that_died_reads_only_the_files_from_the_last_one_on(papers, monkeypatch):
    ingest_to_file([papers], "whole/", STREAM, Settings())
    read: list[str] = []
    read_files = ingesting.read_files

    def dying(files, options, after=99):
        for place, found in read_files(files, options):
            if len(read) == after:
                raise KeyboardInterrupt
            read.append(Path(place).name)
            yield place, found

    monkeypatch.setattr(ingesting, "read_files", lambda files, options: dying(files, options, 5))
    with pytest.raises(KeyboardInterrupt):
        ingest_to_file([papers], "out/", STREAM, Settings())
    # 5 were read and 2 make a shard: p0 to p3 are finished, and the last of them is read again.
    assert sorted(contents(Path("out"))) == ["part-00000.parquet", "part-00001.parquet"]
    read.clear()
    monkeypatch.setattr(ingesting, "read_files", dying)
    summary = ingest_to_file([papers], "out/", STREAM, Settings())
    assert read == ["p3.txt", "p4.txt", "p5.txt"]
    assert summary.n_documents == 6
    assert contents(Path("out")) == contents(Path("whole"))


def test_the_commands_say_what_is_wrong(papers, says):
    Path("empty").mkdir()
    Path("empty/a.md").write_text(" ")
    ran = ragstone("ingest", "empty", "-o", "none/", "--duplicates", "ignore")
    assert ran.code == 2
    says(ran.err)
    assert ragstone("ingest", "papers", "-o", "documents/").code == 0
    again = ragstone("ingest", "papers", "-o", "documents/")
    assert (again.code, "documents/_manifest.json was complete" in again.err) == (0, True)
    other = ragstone("ingest", "papers", "-o", "documents/", "--duplicates", "drop")
    assert other.code == 2
    says(other.err)
    ran = ragstone("chunk", "documents", "-o", "documents/", "--force")
    assert ran.code == 2
    says(ran.err)


def test_rows_flow_through_urls(papers):
    place = f"memory://{papers.parent.name}"
    assert ragstone("ingest", "papers", "-o", f"{place}/documents/").code == 0
    assert ragstone("chunk", f"{place}/documents/", "-o", f"{place}/chunks.jsonl").code == 0
    assert len(list(read_rows(f"{place}/chunks.jsonl", Chunk))) == 6
    Path("questions.jsonl").write_text('{"id": "q", "question": "What helps?", "kind": "open"}\n')
    ran = ragstone(
        "retrieve", "--questions", "questions.jsonl", "--documents", "papers", "--chunks",
        f"{place}/chunks.jsonl", "-o", f"{place}/rankings/",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    Path("answers.jsonl").write_text('{"question_id": "q", "answer": "lime", "reference": "Lime."}\n')
    ran = ragstone("judge", "answers.jsonl", "--judge", "containment", "-o", f"{place}/judged/")
    assert ran.code == 0, ran.err
    assert "Judgements in memory://" in ran.err
