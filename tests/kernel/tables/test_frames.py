"""Rows are a list, and become data frames in which nothing is missing."""

import copy
import pickle
import sys

import duckdb
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.kernel.errors import DataError, MissingExtra
from ragstone.kernel.records import (
    Answer,
    AnyRow,
    Chunk,
    Context,
    Document,
    Judgement,
    Label,
    Question,
    Ranking,
    RankingItem,
    Usage,
    Verdict,
)
from ragstone.kernel.tables import Rows, parse_rows
from ragstone.kernel.tables.frames import columns_of_struct

ROW_TYPES = AnyRow.__args__
FULL: dict[type, AnyRow] = {
    Document: Document(id="d", text="t", title="T", lang="en", source="s", metadata={"a": [1, {"b": None}]}),
    Chunk: Chunk(id="c", document_id="d", text="te", start=0, end=2, metadata={"a": 1}),
    Question: Question(
        id="q",
        question="?",
        reference=["a", "b"],
        document_ids=["d"],
        answerable=True,
        lang="en",
        tags={"crop": "maize", "Crop": "rice"},
        scores={"clarity": 0.5},
        metadata={"a": "x"},
    ),
    Ranking: Ranking(question_id="q", retriever="r", items=[RankingItem(document_id="d", score=1.5)]),
    Answer: Answer(
        question_id="q",
        answer="=1+1",
        system="s",
        contexts=[Context(text="c", score=0.1), Context(text="e", id="i")],
        latency_s=0.5,
        usage=Usage(input=3),
        cost_usd=0.25,
        error=None,
        question="?",
        reference="one",
        answerable=False,
        tags={"month": "May"},
        metadata={"a": 1},
    ),
    Judgement: Judgement(
        question_id="q",
        system="s",
        judge="j",
        metric="m",
        status="scored",
        score=0.5,
        scale=(0, 1),
        model="none",
        prompt_version=1,
        label="l",
        rationale="because",
        verdicts=[Verdict(id=1, statement="s", supported=True, of="answer")],
        usage=Usage(output=4, calls=2),
        metadata={"a": True},
    ),
    Label: Label(question_id="q", score=1, system="s", metric="m", annotator="A"),
}


@given(st.lists(st.integers()), st.slices(8), st.lists(st.integers()))
def test_rows_behave_as_a_list(values, part, others):
    rows = Rows(values, int)
    assert isinstance(rows, list)
    assert rows == values
    assert len(rows) == len(values)
    assert rows[part] == values[part]
    assert type(rows[part]) is Rows
    assert rows + others == values + others
    assert sorted(rows) == sorted(values)
    assert rows.copy() == values
    assert rows[part].of is int
    assert msgspec.json.encode(rows) == msgspec.json.encode(values)
    for again in (pickle.loads(pickle.dumps(rows)), copy.deepcopy(rows)):
        assert (again, again.of) == (values, int)


@pytest.mark.parametrize("row_type", ROW_TYPES)
def test_a_frame_has_every_field_in_the_order_of_the_row(row_type):
    fields = [field.name for field in msgspec.structs.fields(row_type)]
    for rows in (Rows([FULL[row_type]]), Rows([], row_type)):
        assert rows.to_polars().columns == fields
        assert list(rows.to_pandas().columns) == fields
        assert rows.to_duckdb().columns == fields
        assert len(rows.to_polars()) == len(rows.to_pandas()) == len(rows.to_duckdb().fetchall()) == len(rows)


@pytest.mark.parametrize("row_type", ROW_TYPES)
def test_columns_have_the_same_types_whatever_the_rows_are(row_type):
    # Of what is free to hold anything the struct's fields are found in the rows: tags and scores.
    free = {"tags", "scores"}
    empty, full = Rows([], row_type).to_polars().schema, Rows([FULL[row_type]]).to_polars().schema
    for name in full.keys() - free:
        assert empty[name] == full[name], name
    assert Rows([], row_type).to_duckdb().types == Rows([FULL[row_type]]).to_duckdb().types


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
answers = st.builds(
    Answer,
    question_id=texts.filter(bool),
    answer=texts,
    system=texts,
    contexts=st.none() | st.lists(st.builds(Context, text=texts, id=st.none() | texts), max_size=3),
    latency_s=st.none() | st.floats(0, 1e9),
    usage=st.none() | st.builds(Usage, input=st.integers(0, 2**40)),
    error=st.none() | texts.filter(bool),
    reference=st.none() | st.lists(texts.filter(bool), min_size=2, max_size=3),
    tags=st.none() | st.dictionaries(texts, texts, min_size=1, max_size=2),
    metadata=st.none()
    | st.dictionaries(texts, st.integers() | texts | st.booleans(), min_size=1, max_size=2),
)


@pytest.mark.long
@given(st.lists(answers, min_size=1, max_size=5, unique_by=lambda row: (row.question_id, row.system)))
def test_rows_come_back_from_pandas_and_duckdb_as_they_were(rows):
    table = Rows(rows)
    by_pandas = [
        {name: value for name, value in row.items() if isinstance(value, list | dict) or value == value}
        for row in table.to_pandas().astype(object).to_dict("records")
    ]
    assert [_without_nulls(row) for row in by_pandas] == [_without_nulls(row) for row in _dicts(rows)]
    relation = table.to_duckdb()
    by_duckdb = [dict(zip(relation.columns, row, strict=True)) for row in relation.fetchall()]
    for row in by_duckdb:
        row["metadata"] = row["metadata"] and msgspec.json.decode(row["metadata"])
    assert [_without_nulls(row) for row in by_duckdb] == [_without_nulls(row) for row in _dicts(rows)]


@given(st.lists(answers, min_size=1, max_size=5, unique_by=lambda row: (row.question_id, row.system)))
def test_rows_come_back_from_polars_as_they_were(rows):
    frame = Rows(rows).to_polars().to_dicts()
    for row in frame:
        row["metadata"] = row["metadata"] and msgspec.json.decode(row["metadata"])
    assert [_without_nulls(row) for row in frame] == [_without_nulls(row) for row in _dicts(rows)]


def _dicts(rows):
    """Return the rows with their defaults written out: an absent number of tokens is 0, not null."""
    found = []
    for row in rows:
        told = msgspec.to_builtins(row)
        if row.usage:
            told["usage"] = msgspec.structs.asdict(row.usage)
        found.append(told)
    return found


def _without_nulls(value):
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(one) for one in value] if isinstance(value, list) else value


def test_a_query_names_the_relation_and_reaches_into_nested_fields():
    judged = Rows([FULL[Judgement]]).to_duckdb()  # noqa: F841 - DuckDB finds it by its name
    found = duckdb.sql("SELECT score, verdicts[1].statement, usage.calls, metadata->>'a' FROM judged")
    assert found.fetchall() == [(0.5, "s", 2, "true")]
    asked = Rows([FULL[Question]]).to_duckdb()
    tags = duckdb.sql("SELECT tags['crop'], tags['Crop'], scores['clarity'] FROM asked").fetchall()
    assert tags == [("maize", "rice", 0.5)]
    assert asked.filter("answerable").aggregate("count(*) AS n").fetchall() == [(1,)]


def test_nested_fields_are_structs_and_lists_in_polars():
    frame = Rows([FULL[Judgement]]).to_polars()
    assert frame["verdicts"].explode().struct.field("supported").to_list() == [True]
    assert frame["scale"].to_list() == [[0.0, 1.0]]
    asked = Rows([FULL[Question]]).to_polars()
    assert asked["tags"].struct.field("crop").to_list() == ["maize"]
    assert Rows([FULL[Answer]]).to_polars()["reference"].to_list() == [["one"]]


def test_a_frame_of_pandas_can_be_judged_again():
    frame = Rows([FULL[Answer]]).to_pandas()
    again = parse_rows(frame.to_dict("records"), Answer)
    assert again[0].answer == "=1+1"
    assert again[0].contexts[1].id == "i"


def test_what_functions_return_becomes_a_frame_too():
    rows = [{"question": "Who wrote Emma?", "reference": "Jane Austen", "answer": "Jane Austen."}]
    judged = ragstone.judge(rows, judges=["containment", "token_f1"])
    assert type(judged) is Rows
    means = ragstone.summarise(judged)
    assert means.to_polars()["judge"].to_list() == ["containment", "token_f1"]
    assert means.to_polars()["estimate"].struct.field("value").to_list() == [1.0, 1.0]


def test_rows_of_dicts_have_the_columns_that_are_told():
    rows = Rows([{"a": 1, "b": None}], {"a": int, "b": float | None})
    assert rows.to_polars().schema.to_python() == {"a": int, "b": float}
    assert rows.to_duckdb().fetchall() == [(1, None)]
    assert rows[:0].to_pandas().columns.to_list() == ["a", "b"]


def test_rows_of_two_kinds_are_refused(says):
    both = Rows([FULL[Label], FULL[Chunk]])
    with pytest.raises(DataError) as error:
        both.to_polars()
    says(error.value)
    with pytest.raises(DataError, match="one kind: int"):
        Rows([1, 2]).to_pandas()
    with pytest.raises(DataError) as error:
        Rows().to_duckdb()
    says(error.value)


@pytest.mark.parametrize("package", ["polars", "pandas", "duckdb"])
def test_a_missing_package_is_named_with_what_installs_it(package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(MissingExtra, match=rf"\.to_{package}\(\) needs .*ragstone\[frames\]"):
        getattr(Rows([FULL[Label]]), f"to_{package}")()


def test_columns_of_a_row_type_are_its_fields():
    assert list(columns_of_struct(Label)) == list(Label.__struct_fields__)
