"""An index that is written as the files are read holds what one of all rows in memory holds."""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.index_in_memory import tables_of
from tests.support.tiny_run import judgement

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import (
    STATUSES,
    Answer,
    Chunk,
    Context,
    Judgement,
    Question,
    Ranking,
    RankingItem,
    Usage,
)
from ragstone.kernel.runs.embedded import LineView
from ragstone.kernel.serve.rows import files as files_module
from ragstone.kernel.serve.rows import indexing
from ragstone.kernel.serve.rows.asking import RowFilter, RowIndex
from ragstone.kernel.serve.rows.files import files_of
from ragstone.kernel.serve.rows.indexing import OF_SYSTEM, SEARCHED, connect, first_rows, make_index
from ragstone.kernel.tables import write_rows
from ragstone.kernel.tables.where import folded

IDS = st.sampled_from(["q1", "q2", "Q3", "frage-ä", "q5"])
TEXTS = st.sampled_from(["", " ", "Maize", "When is it sown?", "Fünf ﬁ Liter", "ΣΑΣ", 'a\n"b"', "lang"])
TAGS = st.none() | st.dictionaries(st.sampled_from(["topic", "lang", "Ö"]), TEXTS, max_size=2)
REFERENCES = st.none() | TEXTS | st.lists(TEXTS, max_size=2)
DOCUMENTS = st.sampled_from(["d1", "d2", "d3"])
MAYBE = st.none() | st.booleans()
NUMBER = st.none() | st.sampled_from([0.0, 0.5, 2.0])

questions = st.builds(
    Question,
    id=IDS,
    question=TEXTS,
    reference=REFERENCES,
    tags=TAGS,
    answerable=MAYBE,
    document_ids=st.none() | st.lists(DOCUMENTS, max_size=2),
    lang=st.sampled_from([None, "de", "", "en"]),
)
contexts = st.builds(
    Context,
    text=st.just("x"),
    id=st.none() | st.sampled_from(["c1", "c2"]),
    document_id=st.none() | DOCUMENTS,
)
answers = st.builds(
    Answer,
    question_id=IDS,
    system=st.sampled_from(["a", "B"]),
    answer=TEXTS,
    question=st.none() | TEXTS,
    reference=REFERENCES,
    tags=TAGS,
    answerable=MAYBE,
    contexts=st.none() | st.lists(contexts, max_size=3),
    error=st.sampled_from([None, "HTTP 503"]),
    latency_s=NUMBER,
    cost_usd=NUMBER,
    usage=st.none() | st.builds(Usage, input=st.integers(0, 9), output=st.integers(0, 9)),
)


@st.composite
def judgements(draw: st.DrawFn) -> Judgement:
    status = draw(st.sampled_from(STATUSES))
    return judgement(
        draw(IDS),
        draw(st.sampled_from(["correctness", "tone"])),
        draw(st.sampled_from([0.0, 0.25, 7.0])) if status == "scored" else None,
        system=draw(st.sampled_from(["a", "B", "c"])),
        status=status,
        scale=draw(st.sampled_from([None, (0, 1), (0, 10), (1, 1)])),
    )


rankings = st.builds(
    Ranking,
    question_id=IDS,
    retriever=st.sampled_from(["bm25", "dense"]),
    items=st.lists(st.builds(RankingItem, document_id=DOCUMENTS, score=st.just(1.0)), max_size=3),
)
RUNS = st.fixed_dictionaries(
    {
        "questions": st.lists(questions, max_size=6),
        "answers": st.lists(answers, max_size=6),
        "judgements": st.lists(judgements(), max_size=8),
        "rankings": st.lists(rankings, max_size=4),
        "chunks": st.just([Chunk(id="c1", document_id="d2", text="x", start=0, end=1)]),
    }
)


def written(folder: Path, rows: dict[str, list[Any]]) -> Path:
    """Write a run with these rows, in place of an earlier one; kinds without rows have no file."""
    run = folder / "run"
    run.mkdir(exist_ok=True)
    for old in run.iterdir():
        old.unlink()
    for kind, of_kind in rows.items():
        if of_kind:
            (run / f"{kind}.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in of_kind))
    return run


def made(run: Path, target: Path) -> None:
    for _ in make_index(files_of(run), target):
        pass


def plain(rows: list[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    """Return rows as they can be compared: NaN, which NumPy has for none, as None."""
    return Counter(tuple(None if cell != cell else cell for cell in row) for row in rows)


@pytest.mark.long
@given(rows=RUNS)
@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_index_holds_what_one_in_memory_holds(rows, tmp_path, monkeypatch):
    monkeypatch.setattr(files_module, "BLOCK_BYTES", 300)  # several blocks, and a write after each
    monkeypatch.setattr(indexing, "BATCH_CHARACTERS", 40)
    run = written(tmp_path, rows)
    expected = tables_of(files_of(run), tmp_path)
    made(run, tmp_path / "index.duckdb")
    con = connect(tmp_path / "index.duckdb")
    try:
        found = {
            name: con.execute(f"FROM {name}").fetchall()
            for name in (
                "pairs",
                "texts",
                "groups",
                "causes",
                "columns",
                "cells",
                "spans",
                "named",
                "sources",
            )
        }
        found["texts"] = [row for row in found["texts"] if row[2] not in (SEARCHED, OF_SYSTEM)]
        for name, of_table in found.items():
            assert plain(of_table) == plain(expected[name]), name
        lines = {place: msgspec.json.decode(line, type=LineView) for place, _, line, *_ in expected["lines"]}
        views = RowIndex(con).lines_at(list(lines), len(expected["columns"]))
        assert [msgspec.structs.replace(line, cells=[]) for line in views] == list(lines.values())
        columns = RowIndex(con).columns([])
        said = {(place, value) for place, _, name, value in expected["texts"] if name == "answer"}
        for text in ("maize", "LANG", "ﬁ", "σας", "q3 topic", "d", "ö", "it sown?"):
            words = folded(text).split()
            ids = [
                name
                for place, name, _, _, haystack in expected["lines"]
                if all(
                    word in haystack or any(at == place and word in value for at, value in said)
                    for word in words
                )
            ]
            listed = RowIndex(con).lines(RowFilter(text=text), columns)
            assert [line.id for line in listed.lines] == ids, text
    finally:
        con.close()


def test_a_line_that_is_no_row_is_named(tmp_path, says):
    rows = [Question(id=f"q{at}", question="Q?") for at in range(3)]
    run = written(tmp_path, {"questions": rows})
    with (run / "questions.jsonl").open("ab") as file:
        file.write(b'{"id": 7}\n')
    with pytest.raises(DataError, match=r"questions\.jsonl:4") as mistake:
        made(run, tmp_path / "index.duckdb")
    says(mistake.value)
    assert not (tmp_path / "index.duckdb").exists()


@pytest.mark.long
def test_first_rows_are_those_of_the_whole_index(tmp_path):
    rows = {
        "questions": [Question(id=f"q{at}", question=f"Question {at}?") for at in range(3000)],
        "answers": [Answer(question_id=f"q{at}", system="a", answer="x" * 200) for at in range(3000)],
        "judgements": [judgement(f"q{at}", "correctness", at % 2, system="a") for at in range(3000)],
    }
    run = written(tmp_path, rows)
    made(run, tmp_path / "index.duckdb")
    whole, first = connect(tmp_path / "index.duckdb"), first_rows(files_of(run), tmp_path, 20_000)
    try:
        columns = RowIndex(first).columns([])
        assert columns == RowIndex(whole).columns([])
        shown, every = (RowIndex(con).lines(RowFilter(), columns) for con in (first, whole))
        assert shown.lines == every.lines
        (n,) = first.execute("SELECT count(*) FROM lines").fetchone()
        assert 50 < n < 3000
    finally:
        whole.close()
        first.close()
    write_rows(run / "answers.parquet", rows["answers"], Answer)
    (run / "answers.jsonl").unlink()
    first = first_rows(files_of(run), tmp_path, 20_000)
    (n,) = first.execute("SELECT count(*) FROM pairs").fetchone()
    assert 50 < n < 3000
    (preview,) = first.execute("SELECT preview FROM lines WHERE place = 0").fetchone()
    assert preview.startswith("xxx")
    first.close()


def test_a_line_longer_than_a_block_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(files_module, "BLOCK_BYTES", 100)
    rows = [Question(id=f"q{at}", question="long " * length) for at, length in enumerate([1, 300, 2, 50])]
    run = written(tmp_path, {"questions": rows})
    made(run, tmp_path / "index.duckdb")
    con = connect(tmp_path / "index.duckdb")
    spans = con.execute("SELECT start, size FROM spans ORDER BY place").fetchall()
    con.close()
    content = (run / "questions.jsonl").read_bytes()
    assert [
        msgspec.json.decode(content[start : start + size], type=Question) for start, size in spans
    ] == rows
