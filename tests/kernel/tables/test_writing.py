"""Rows to files and back; a file is whole or it is not there."""

import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import (
    Answer,
    AnyRow,
    Chunk,
    Context,
    Document,
    Evidence,
    Judgement,
    Label,
    Question,
    Ranking,
    RankingItem,
    Usage,
    Verdict,
)
from ragstone.kernel.tables import check_output, open_rows, read_rows, write_rows

# Text of the world, lines and quotes; not empty, for an empty cell of a CSV file means absent.
TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8) | st.sampled_from(
    [
        "ठीक है",
        "正しい",
        "👍🏽",
        'a "quoted", text',
        "two\r\nlines",
        "\ttab",
        " space ",
        "[1] see",
        "{a}",
        "1",
        "true",
        "nan",
        "=1+1",
        "'=1",
        "- a list",
        "-1.5",
    ]
)
NUMBER = st.floats(-1e6, 1e6, allow_nan=False)
COUNT = st.integers(0, 10**9)
TAGS = st.dictionaries(TEXT, TEXT, min_size=1, max_size=2)
# Parquet and CSV carry free-form objects as JSON text.
METADATA = st.dictionaries(
    TEXT, st.recursive(TEXT | COUNT | st.booleans(), st.lists, max_leaves=3), min_size=1
)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.none() | strategy


def lists(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(strategy, min_size=1, max_size=3)


FIGURE = st.floats(min_value=0, max_value=1e9).map(abs)
USAGE = st.builds(Usage, input=COUNT, output=COUNT, cached=COUNT, calls=COUNT)
# A single alternative is written as a list of one by Parquet and read as one text.
REFERENCE = maybe(TEXT | st.lists(TEXT, min_size=2, max_size=3)).filter(
    lambda value: not (isinstance(value, str) and value.lstrip().startswith("["))
)
BUILDERS: dict[type[Any], Any] = {
    Document: st.builds(
        Document,
        id=TEXT,
        text=TEXT,
        title=maybe(TEXT),
        lang=maybe(TEXT),
        source=maybe(TEXT),
        metadata=maybe(METADATA),
    ),
    Chunk: st.builds(
        lambda text, start, **more: Chunk(text=text, start=start, end=start + len(text), **more),
        id=TEXT,
        document_id=TEXT,
        text=TEXT,
        start=COUNT,
        metadata=maybe(METADATA),
    ),
    Question: st.builds(
        Question,
        id=TEXT,
        question=TEXT,
        reference=REFERENCE,
        evidence=maybe(lists(st.builds(Evidence, document_id=TEXT, start=COUNT, end=COUNT))),
        document_ids=maybe(st.lists(TEXT, min_size=2, max_size=3)),
        answerable=maybe(st.booleans()),
        kind=st.sampled_from(["open", "true_false", "multi"]),
        tags=maybe(TAGS),
        scores=maybe(st.dictionaries(TEXT, NUMBER, min_size=1, max_size=2)),
        metadata=maybe(METADATA),
    ),
    Ranking: st.builds(
        Ranking,
        question_id=TEXT,
        retriever=TEXT,
        items=st.lists(
            st.builds(RankingItem, document_id=TEXT, score=NUMBER, chunk_id=maybe(TEXT), start=maybe(COUNT)),
            max_size=3,
        ),
        metadata=maybe(METADATA),
    ),
    Answer: st.builds(
        Answer,
        question_id=TEXT,
        answer=TEXT | st.just(""),
        system=TEXT,
        contexts=maybe(
            st.lists(
                st.builds(Context, text=TEXT, id=maybe(TEXT), document_id=maybe(TEXT), score=maybe(NUMBER)),
                max_size=3,
            )
        ),
        latency_s=maybe(FIGURE),
        usage=maybe(USAGE),
        cost_usd=maybe(FIGURE),
        error=maybe(TEXT),
        question=maybe(TEXT),
        reference=REFERENCE,
        answerable=maybe(st.booleans()),
        tags=maybe(TAGS),
        metadata=maybe(METADATA),
    ),
    Judgement: st.builds(
        lambda score, **more: Judgement(status="timeout" if score is None else "scored", score=score, **more),
        score=maybe(NUMBER),
        question_id=TEXT,
        system=TEXT,
        judge=TEXT,
        metric=TEXT,
        model=TEXT,
        prompt_version=COUNT,
        scale=maybe(st.tuples(NUMBER, NUMBER)),
        label=maybe(TEXT),
        rationale=maybe(TEXT),
        verdicts=maybe(
            lists(st.builds(Verdict, id=COUNT, statement=TEXT, supported=st.booleans(), reason=maybe(TEXT)))
        ),
        usage=maybe(USAGE),
        cost_usd=maybe(FIGURE),
        error=maybe(TEXT),
        metadata=maybe(METADATA),
    ),
    Label: st.builds(
        Label,
        question_id=TEXT,
        score=NUMBER,
        system=TEXT,
        metric=maybe(TEXT),
        annotator=maybe(TEXT),
        rationale=maybe(TEXT),
        metadata=maybe(METADATA),
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", BUILDERS, ids=lambda kind: kind.__name__)
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(choice=st.data())
def test_what_is_written_is_read_again(kind: type[Any], choice: st.DataObject, tmp_path: Path) -> None:
    rows: list[AnyRow] = choice.draw(
        st.lists(
            BUILDERS[kind],
            min_size=1,
            max_size=3,
            unique_by=lambda row: getattr(row, "id", None) or getattr(row, "question_id", None),
        )
    )
    # New files each time: a file system may free one that is replaced while the test waits.
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    for ending in ("jsonl", "csv", "tsv", "parquet"):
        path = folder / f"rows.{ending}"
        assert write_rows(path, rows, kind) == len(rows)
        assert list(read_rows(path, kind)) == rows


def test_jsonl_is_one_object_a_line_in_plain_utf8(tmp_path: Path) -> None:
    path = tmp_path / "d.jsonl"
    write_rows(path, [Document(id="d", text="ठीक\nहै"), Document(id="e", text="t", lang="en")], Document)
    assert path.read_text(encoding="utf-8").splitlines() == [
        '{"id":"d","text":"ठीक\\nहै"}',
        '{"id":"e","text":"t","lang":"en"}',
    ]


def test_no_nan_is_written(tmp_path: Path) -> None:
    row = Question(id="q", question="?", scores={"difficulty": float("nan")})
    write_rows(tmp_path / "q.jsonl", [row], Question)
    assert json.loads((tmp_path / "q.jsonl").read_text())["scores"] == {"difficulty": None}


class TestOutput:
    def test_a_file_that_is_there_is_not_touched_without_force(self, tmp_path: Path, says) -> None:
        path = tmp_path / "d.jsonl"
        path.write_text("precious")
        for attempt in (lambda: check_output(path, False), lambda: write_rows(path, [], Document)):
            with pytest.raises(DataError) as error:
                attempt()
            says(error.value)
        assert path.read_text() == "precious"
        write_rows(path, [Document(id="d", text="t")], Document, force=True)
        assert path.read_text() == '{"id":"d","text":"t"}\n'

    def test_it_appears_under_its_name_only_when_it_is_whole(self, tmp_path: Path) -> None:
        path = tmp_path / "new" / "d.jsonl"
        with open_rows(path, Document) as write:
            write(Document(id="d", text="t"))
            assert not path.exists()
        assert [file.name for file in path.parent.iterdir()] == ["d.jsonl"]

    @pytest.mark.parametrize("ending", ["jsonl", "csv"])
    def test_after_an_error_the_rows_so_far_stand_in_the_partial_file(
        self, ending: str, tmp_path: Path
    ) -> None:
        path = tmp_path / f"d.{ending}"

        def rows() -> Iterator[Document]:
            yield Document(id="d", text="t")
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            write_rows(path, rows(), Document)
        assert not path.exists()
        kept = tmp_path / f"kept.{ending}"
        (tmp_path / f"d.{ending}.partial").rename(kept)
        assert list(read_rows(kept, Document)) == [Document(id="d", text="t")]

    def test_an_old_file_stays_until_the_new_one_is_whole(self, tmp_path: Path) -> None:
        path = tmp_path / "d.jsonl"
        path.write_text("old")

        def rows() -> Iterator[Document]:
            yield Document(id="d", text="t")
            raise RuntimeError("half way")

        with pytest.raises(RuntimeError, match="half way"):
            write_rows(path, rows(), Document, force=True)
        assert path.read_text() == "old"

    def test_an_ending_that_names_no_format_is_a_mistake(self, tmp_path: Path, says) -> None:
        with pytest.raises(DataError) as error:
            check_output(tmp_path / "a.xlsx", False)
        says(error.value)

    def test_a_folder_that_cannot_be_made_is_named_before_anything_is_paid_for(
        self, tmp_path: Path, says
    ) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(DataError) as error:
            check_output(tmp_path / "file" / "d.jsonl", False)
        says(error.value)

    def test_checking_leaves_nothing_behind_and_spoils_no_earlier_partial_file(self, tmp_path: Path) -> None:
        check_output(tmp_path / "d.jsonl", False)
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "d.jsonl.partial").write_text("half a run")
        check_output(tmp_path / "d.jsonl", False)
        assert (tmp_path / "d.jsonl.partial").read_text() == "half a run"

    def test_a_full_disk_is_named_and_the_rows_so_far_stay(self, tmp_path: Path, says) -> None:
        resource = pytest.importorskip("resource")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        rows = [Document(id=str(n), text="t" * 1000) for n in range(300)]
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
            with pytest.raises(DataError) as error:
                write_rows(tmp_path / "d.jsonl", rows, Document)
            says(error.value)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert (tmp_path / "d.jsonl.partial").stat().st_size > 60_000

    def test_a_full_temporary_folder_is_not_taken_for_full_storage(self, tmp_path: Path) -> None:
        resource = pytest.importorskip("resource")
        pytest.importorskip("fsspec")
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        rows = [Document(id=str(n), text="t" * 1000) for n in range(300)]
        temporary = re.escape(tempfile.gettempdir())
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
            with pytest.raises(DataError, match=rf"folder {temporary} \(File too large\).*set TMPDIR"):
                write_rows(f"memory://{tmp_path.name}/d.jsonl", rows, Document)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_row_that_another_tool_extended_keeps_its_fields_through_every_format(tmp_path: Path) -> None:
    first = tmp_path / "a.jsonl"
    first.write_text('{"id":"q","answer":"a","trace":{"n":[1,2]},"team":"ठीक"}\n')
    for ending in ("csv", "parquet", "jsonl"):
        rows = list(read_rows(first, Answer))
        assert rows[0].metadata == {"trace": {"n": [1, 2]}, "team": "ठीक"}
        first = tmp_path / f"next.{ending}"
        write_rows(first, rows, Answer)


def test_encoding_is_stable_so_that_files_can_be_compared_byte_by_byte(tmp_path: Path) -> None:
    rows = [Answer(question_id=str(n), answer="a", tags={"b": "1", "a": "2"}) for n in range(3)]
    for name in ("one.jsonl", "two.jsonl"):
        write_rows(tmp_path / name, msgspec.json.decode(msgspec.json.encode(rows), type=list[Answer]), Answer)
    assert (tmp_path / "one.jsonl").read_bytes() == (tmp_path / "two.jsonl").read_bytes()
