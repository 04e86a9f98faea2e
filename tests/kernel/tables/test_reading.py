"""Files that people already have, and mistakes in them."""

import gzip
import json
import tracemalloc
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Chunk, Context, Document, Label, Question
from ragstone.kernel.tables import formats, parse_row, parse_rows, read_rows


def write(path: Path, rows: Sequence[Any]) -> Path:
    """Write objects, and texts as they are, one a line."""
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def mistake_in(path: Path, kind: type[Any] = Answer) -> str:
    with pytest.raises(DataError) as caught:
        list(read_rows(path, kind))
    return str(caught.value)


class TestFiles:
    def test_a_missing_file_a_folder_and_an_unknown_ending_are_named(self, tmp_path: Path, says) -> None:
        says(mistake_in(tmp_path / "a.jsonl"))
        says(mistake_in(tmp_path))
        (tmp_path / "a.docx").write_text("x")
        says(mistake_in(tmp_path / "a.docx"))
        (tmp_path / "a.xls").write_text("x")
        says(mistake_in(tmp_path / "a.xls"))
        (tmp_path / "a.xlsx").write_text("x")
        says(mistake_in(tmp_path / "a.xlsx"))

    @pytest.mark.simulation
    @pytest.mark.parametrize(
        ("name", "line"),
        [("a.jsonl", "2:"), ("a.jsonl.gz", "2:"), ("a.csv", "3:"), ("quoted.csv", "")],
    )
    def test_a_line_without_end_is_named_and_never_held_whole(
        self, name: str, line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, says
    ) -> None:
        monkeypatch.setattr(formats, "MOST_OF_A_LINE", 1 << 20)
        endless = "x" * (8 << 20)
        first = '{"question":"q","answer":"a"}' if "jsonl" in name else "question,answer\nq,a"
        if name == "quoted.csv":
            endless = 'q,"' + "x" * 1000 + "\n" * 2_000_000 + '"'
        content = f"{first}\n{endless}\n".encode()
        path = tmp_path / name
        path.write_bytes(gzip.compress(content, 1) if name.endswith("gz") else content)
        tracemalloc.start()
        said = mistake_in(path)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert said.startswith(f"{path}:{line}")
        says(said)
        assert most < 6 << 20

    @pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "tsv", "parquet"])
    def test_an_empty_file_says_so(self, ending: str, tmp_path: Path, says) -> None:
        path = tmp_path / f"a.{ending}"
        path.write_text("")
        says(mistake_in(path))

    @pytest.mark.parametrize(("ending", "text"), [("jsonl", "\n \n"), ("json", "[]"), ("csv", "id,text\n")])
    def test_a_file_without_rows_says_so(self, ending: str, text: str, tmp_path: Path, says) -> None:
        path = tmp_path / f"a.{ending}"
        path.write_text(text)
        says(mistake_in(path, Document))

    def test_a_byte_order_mark_and_empty_lines_are_skipped(self, tmp_path: Path) -> None:
        for ending, text in {
            "jsonl": '\ufeff\n{"id": "d", "text": "t"}\n\n',
            "json": '\ufeff[{"id": "d", "text": "t"}]',
            "csv": "\ufeffid,text\nd,t\n",
        }.items():
            path = tmp_path / f"a.{ending}"
            path.write_text(text, encoding="utf-8")
            assert list(read_rows(path, Document)) == [Document(id="d", text="t")]

    def test_json_holds_a_list_or_one_object_with_a_list(self, tmp_path: Path, says) -> None:
        path = tmp_path / "a.json"
        for held in ([{"id": "d", "text": "t"}], {"version": 1, "rows": [{"id": "d", "text": "t"}]}):
            path.write_text(json.dumps(held))
            assert list(read_rows(path, Document)) == [Document(id="d", text="t")]
        path.write_text('{"id": "d", "text": "t"}')
        assert list(read_rows(path, Document)) == [Document(id="d", text="t")]
        path.write_text("3")
        says(mistake_in(path))
        path.write_text('{"id": 1}\n{"id": 2}')
        says(mistake_in(path))

    def test_rows_are_streamed(self, tmp_path: Path) -> None:
        rows = read_rows(write(tmp_path / "a.jsonl", [{"id": "d", "text": "t"}, "no json"]), Document)
        assert next(rows).id == "d"
        with pytest.raises(DataError):
            next(rows)

    def test_a_broken_parquet_file_is_named(self, tmp_path: Path, says) -> None:
        (tmp_path / "a.parquet").write_bytes(b"PAR1 no more")
        says(mistake_in(tmp_path / "a.parquet").partition(" (")[0])


class TestCsv:
    def read(self, folder: Path, text: str, kind: type[Any] = Answer, name: str = "a.csv") -> list[Any]:
        (folder / name).write_text(text, encoding="utf-8", newline="")
        return list(read_rows(folder / name, kind))

    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_the_delimiter_is_found(self, delimiter: str, tmp_path: Path) -> None:
        text = f"id{delimiter}text\nd{delimiter}one\n"
        assert self.read(tmp_path, text, Document) == [Document(id="d", text="one")]

    def test_cells_hold_line_breaks_quotes_and_delimiters(self, tmp_path: Path) -> None:
        (row,) = self.read(tmp_path, 'id,text\r\nd,"one,\r\n""two"" ठीक"\r\n', Document)
        assert row.text == 'one,\r\n"two" ठीक'

    def test_pandas_index_column_without_a_name_is_left_out(self, tmp_path: Path) -> None:
        (row,) = self.read(tmp_path, ",question_id,answer\n0,q,a\n")
        assert row == Answer(question_id="q", answer="a")

    def test_contexts_are_read_from_json_and_from_what_pandas_writes_of_a_list(self, tmp_path: Path) -> None:
        expected = [Context(text="it's one"), Context(text='"two"')]
        for cell in (json.dumps(["it's one", '"two"']), str(["it's one", '"two"'])):
            quoted = cell.replace('"', '""')
            (row,) = self.read(tmp_path, f'question_id,answer,contexts\nq,a,"{quoted}"\n')
            assert row.contexts == expected

    @pytest.mark.parametrize("cell", ["['a' 'b']", "[1] see the guide", "[not, a, list]"])
    def test_what_only_looks_like_a_list_stays_one_text(self, cell: str, tmp_path: Path) -> None:
        (row,) = self.read(tmp_path, f'question_id,answer,contexts\nq,a,"{cell}"\n')
        assert row.contexts == [Context(text=cell)]

    def test_an_empty_answer_is_an_answer_and_other_empty_cells_are_absent(self, tmp_path: Path) -> None:
        (row,) = self.read(tmp_path, "question_id,response,reference,contexts\nq,,,\n")
        assert row == Answer(question_id="q", answer="")
        (question,) = self.read(tmp_path, "id,question,answer\nq,What?,\n", Question)
        assert question == Question(id="q", question="What?")

    def test_numbers_flags_and_objects_get_their_types(self, tmp_path: Path) -> None:
        text = 'question_id,answer,latency_s,answerable,tags,usage\nq,a,1.5,false,"{""crop"":""rice""}",\n'
        (row,) = self.read(tmp_path, text)
        assert (row.latency_s, row.answerable, row.tags, row.usage) == (1.5, False, {"crop": "rice"}, None)

    def test_too_many_cells_and_an_open_quote_are_mistakes(self, tmp_path: Path, says) -> None:
        with pytest.raises(DataError) as error:
            self.read(tmp_path, "id,text\nd,t\ne,t,u\n", Document)
        says(error.value)
        with pytest.raises(DataError) as error:
            self.read(tmp_path, 'id,text\nd,"t\n', Document)
        says(error.value)

    def test_another_encoding_is_found_and_said(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        lines = ["id;text", *(f"d{n};plain" for n in range(2000)), "e;„Café“ zu früh geöffnet – für 3 €"]
        (tmp_path / "a.csv").write_bytes("\r\n".join(lines).encode("cp1252"))
        *_, last = rows = list(read_rows(tmp_path / "a.csv", Document))
        assert (len(rows), last.text) == (2001, "„Café“ zu früh geöffnet – für 3 €")
        assert [record.getMessage() for record in caplog.records] == [
            f"{tmp_path}/a.csv: not UTF-8; read as cp1252. Check that accents look right."
        ]

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
    @pytest.mark.parametrize("delimiter", [",", ";", "\t"])
    def test_what_excel_saves_is_read(self, encoding: str, delimiter: str, tmp_path: Path) -> None:
        text = "question,response\r\nWie früh?,Um 6 Uhr\r\n".replace(",", delimiter)
        (tmp_path / "a.csv").write_bytes(text.encode(encoding))
        (row,) = read_rows(tmp_path / "a.csv", Answer)
        assert (row.question, row.answer) == ("Wie früh?", "Um 6 Uhr")

    def test_the_line_that_tells_excel_the_delimiter_is_no_header(self, tmp_path: Path, says) -> None:
        text = "sep=;\nid;text\na;one, two\na;x\n"
        with pytest.raises(DataError) as error:
            self.read(tmp_path, text, Document)
        says(error.value)

    def test_bytes_that_are_no_text_are_told_with_what_to_do(self, tmp_path: Path, says) -> None:
        (tmp_path / "a.csv").write_bytes(b"id,text\n" + bytes(range(256)) * 4)
        says(mistake_in(tmp_path / "a.csv", Document))


QUESTION = "When is nitrogen applied?"
EXPECTED = Answer(
    question_id="q1",
    answer="At the V6 stage.",
    contexts=[Context(text="Apply at V6."), Context(text="Test the soil.")],
    question=QUESTION,
    reference="V6",
)
TEXTS = ["Apply at V6.", "Test the soil."]
SHEETS: dict[str, dict[str, Any]] = {
    "ours": {
        "question_id": "q1",
        "question": QUESTION,
        "answer": "At the V6 stage.",
        "contexts": [{"text": text} for text in TEXTS],
        "reference": "V6",
    },
    "ragas": {
        "id": "q1",
        "user_input": QUESTION,
        "response": "At the V6 stage.",
        "retrieved_contexts": TEXTS,
        "reference": "V6",
    },
    "ragas before 0.2": {
        "id": "q1",
        "question": QUESTION,
        "answer": "At the V6 stage.",
        "contexts": TEXTS,
        "ground_truth": "V6",
    },
    "ragas, the oldest": {
        "id": "q1",
        "question": QUESTION,
        "answer": "At the V6 stage.",
        "contexts": TEXTS,
        "ground_truths": ["V6"],
    },
    "deepeval": {
        "id": "q1",
        "input": QUESTION,
        "actual_output": "At the V6 stage.",
        "expected_output": "V6",
        "retrieval_context": TEXTS,
    },
    "promptfoo": {
        "id": "q1",
        "query": QUESTION,
        "output": "At the V6 stage.",
        "context": TEXTS,
        "expected": "V6",
    },
    "langchain": {
        "id": "q1",
        "query": QUESTION,
        "prediction": "At the V6 stage.",
        "contexts": [{"page_content": text} for text in TEXTS],
        "reference_answer": "V6",
    },
}


@pytest.mark.parametrize("raw", SHEETS.values(), ids=SHEETS.keys())
@pytest.mark.parametrize("ending", ["jsonl", "json", "csv", "parquet"])
def test_other_tools_columns_are_read_as_the_same_answer_sheet(
    raw: dict[str, Any], ending: str, tmp_path: Path
) -> None:
    path = tmp_path / f"sheet.{ending}"
    if ending == "jsonl":
        write(path, [raw])
    elif ending == "json":
        path.write_text(json.dumps([raw]))
    elif ending == "csv":
        import csv

        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, raw)
            writer.writeheader()
            writer.writerow({k: json.dumps(v) if isinstance(v, list) else v for k, v in raw.items()})
    else:
        pa = pytest.importorskip("pyarrow")
        pq = pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.Table.from_pylist([raw]), path)
    assert list(read_rows(path, Answer)) == [EXPECTED]


def test_deepevals_retrieval_context_wins_over_its_context_which_is_the_ideal_one() -> None:
    raw = {**SHEETS["deepeval"], "context": ["The ideal passage."]}
    for ordered in (raw, dict(reversed(raw.items()))):
        row = parse_row(ordered, Answer)
        assert row.contexts == EXPECTED.contexts
        assert row.metadata == {"context": ["The ideal passage."]}


def test_an_empty_alias_leaves_its_turn_to_the_next() -> None:
    row = parse_row(
        {"id": "q", "response": "a", "references": [], "ground_truth": None, "expected": "V6"}, Answer
    )
    assert row.reference == "V6"
    assert (
        parse_row({"id": "q", "answer": "a", "reference": float("nan"), "expected": "V"}, Answer).reference
        == "V"
    )


def test_squad_answers_become_the_alternatives_of_the_reference() -> None:
    raw = {"id": "q", "question": "?", "answers": {"text": ["V6", "at V6", ""], "answer_start": [1, 2, 3]}}
    row = parse_row(raw, Question)
    assert (row.id, row.reference, row.metadata) == ("q", ["V6", "at V6"], None)
    none = parse_row({**raw, "answers": {"text": [], "answer_start": []}}, Question)
    assert none.reference is None


@pytest.mark.parametrize(
    ("given", "reference"),
    [
        ({"answers": {"text": ["V6", "at V6"], "answer_start": [1, 2]}}, ["V6", "at V6"]),
        ({"answers": {"text": ["V6"], "answer_start": [1]}}, "V6"),
        ({"answers": '{"text": ["V6", "at V6"], "answer_start": [1, 2]}'}, ["V6", "at V6"]),
        ({"answers": "{'text': ['V6', 'at V6'], 'answer_start': [1, 2]}"}, ["V6", "at V6"]),
        ({"answers": ["V6", "at V6"]}, ["V6", "at V6"]),
        ({"answers.text": '["V6", "at V6"]'}, ["V6", "at V6"]),
        ({"answers": {"text": [], "answer_start": []}}, None),
        ({"answers": ["V8"], "reference": "V6"}, "V6"),
        ({"answers": "no list at all"}, None),
    ],
)
def test_the_right_answers_beside_a_prediction_are_the_reference(
    given: dict[str, object], reference: object
) -> None:
    row = parse_row({"id": "q", "prediction_text": "a V6 engine", **given}, Answer)
    assert (row.answer, row.reference) == ("a V6 engine", reference)


def test_repeated_questions_are_told_with_what_became_of_them(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, says
) -> None:
    rows = [{"question": question, "answer": "a"} for question in "ABABAC"]
    sheet = write(tmp_path / "a.jsonl", rows)
    assert len([*read_rows(sheet, Answer)]) == 6
    says("\n".join(caplog.messages))
    caplog.clear()
    assert len([*read_rows(write(tmp_path / "a.jsonl", rows[:3]), Answer)]) == 3
    says("\n".join(caplog.messages))
    caplog.clear()
    several = [row | {"system": system} for row in ({"question": "A", "answer": "a"},) for system in "xy"]
    assert len([*read_rows(write(tmp_path / "b.jsonl", several), Answer)]) == 2
    people = [{"question": "A", "score": 1, "annotator": name} for name in "xy"]
    labels = [*read_rows(write(tmp_path / "l.jsonl", people), Label)]
    assert len({row.question_id for row in labels}) == 1
    assert caplog.messages == []


def test_ids_that_are_whole_numbers_become_text(says) -> None:
    assert parse_row({"qid": 17, "answer": "a"}, Answer).question_id == "17"
    with pytest.raises(DataError) as error:
        parse_row({"id": 1.5, "answer": "a"}, Answer)
    says(error.value)
    with pytest.raises(DataError) as error:
        parse_row({"id": True, "answer": "a"}, Answer)
    says(error.value)


def test_a_row_without_an_id_gets_one_from_its_question_the_same_in_every_file(tmp_path: Path) -> None:
    sheet = write(
        tmp_path / "a.jsonl", [{"question": "A?", "answer": "x"}, {"question": "B?", "answer": "y"}]
    )
    labels = write(tmp_path / "l.jsonl", [{"question": "B?", "score": 1}, {"question": "A?", "score": 0}])
    answers = {row.question: row.question_id for row in read_rows(sheet, Answer)}
    ids = [row.question_id for row in read_rows(labels, Label)]
    assert ids == [answers["B?"], answers["A?"]]


def test_the_same_question_twice_without_ids_is_two_rows(tmp_path: Path) -> None:
    sheet = write(tmp_path / "a.jsonl", [{"question": "A?", "answer": answer} for answer in "xyz"])
    ids = [row.question_id for row in read_rows(sheet, Answer)]
    assert len(set(ids)) == 3
    assert [each.removeprefix(ids[0]) for each in ids] == ["", "-2", "-3"]


def test_contexts_of_an_empty_list_are_known_to_be_none_and_null_is_unknown() -> None:
    assert parse_row({"id": "q", "answer": "a", "contexts": []}, Answer).contexts == []
    assert parse_row({"id": "q", "answer": "a", "contexts": None}, Answer).contexts is None
    assert parse_row({"id": "q", "answer": "a", "contexts": "one"}, Answer).contexts == [Context(text="one")]


def test_a_contexts_own_fields_are_kept_and_one_without_text_is_a_mistake(says) -> None:
    given = [
        {"id": "c", "document_id": "d", "text": "t", "score": 0.5},
        {"content": "u", "score": None, "x": 1},
    ]
    row = parse_row({"id": "q", "answer": "a", "contexts": given}, Answer)
    assert row.contexts == [Context(id="c", document_id="d", text="t", score=0.5), Context(text="u")]
    with pytest.raises(DataError) as error:
        parse_row({"id": "q", "answer": "a", "contexts": [{"title": "t"}]}, Answer)
    says(error.value)


def test_unknown_columns_are_kept_in_metadata_beside_what_is_there() -> None:
    row = parse_row({"id": "d", "text": "t", "metadata": {"a": 1}, "b": {"c": [2]}, "gone": None}, Document)
    assert row.metadata == {"a": 1, "b": {"c": [2]}}


@pytest.mark.parametrize(
    ("given", "score"),
    [("yes", 1), ("No", 0), (" correct ", 1), ("wrong", 0), (True, 1), ("0.75", 0.75), (3, 3), ("pass", 1)],
)
def test_labels_are_numbers_or_yes_and_no(given: object, score: float) -> None:
    assert parse_row({"id": "q", "human_label": given}, Label).score == score


@pytest.mark.parametrize("given", ["maybe", "inf", "1e999", [1]])
def test_other_labels_are_mistakes(given: object, says) -> None:
    with pytest.raises(DataError) as error:
        parse_row({"id": "q", "label": given}, Label)
    says(error.value)


class TestMistakes:
    def test_a_line_that_is_no_json_is_named_by_file_and_line(self, tmp_path: Path, says) -> None:
        path = write(tmp_path / "a.jsonl", [{"id": "d", "text": "t"}, "", '{"id": "e", "text'])
        says(mistake_in(path, Document))
        for line in ("[1]", '"text"', "3", "null"):
            path = write(tmp_path / "b.jsonl", [line])
            says(mistake_in(path, Document))

    def test_nan_is_no_json(self, tmp_path: Path, says) -> None:
        path = write(tmp_path / "a.jsonl", ['{"id": "q", "score": NaN}'])
        says(mistake_in(path, Label))

    def test_a_missing_field_says_which_columns_it_is_read_from(self, tmp_path: Path, says) -> None:
        path = write(tmp_path / "a.jsonl", [{"id": "q", "question": "?"}])
        says(mistake_in(path))

    def test_a_later_row_without_a_field_is_named_by_its_line(self, tmp_path: Path, says) -> None:
        path = write(tmp_path / "a.jsonl", [{"id": "q", "answer": "a"}, {"id": "r"}])
        says(mistake_in(path))

    @pytest.mark.parametrize("missing", ['{"id": "q", "answer": null}', '{"id": "q", "error": "cut off"}'])
    def test_a_null_answer_is_a_failure_of_the_application_and_no_empty_answer(
        self, missing: str, tmp_path: Path, says
    ) -> None:
        path = write(tmp_path / "a.jsonl", [{"id": "p", "answer": "a"}, missing])
        _, row = read_rows(path, Answer)
        assert row.answer == ""
        says(row.error)

    def test_a_wrong_value_names_its_field(self, tmp_path: Path, says) -> None:
        path = write(tmp_path / "a.jsonl", [{"id": "q", "question": "?", "kind": "closed"}])
        says(mistake_in(path, Question))

    def test_a_rows_own_rule_is_checked(self, tmp_path: Path, says) -> None:
        path = write(
            tmp_path / "a.jsonl", [{"id": "c", "document_id": "d", "text": "abc", "start": 0, "end": 2}]
        )
        says(mistake_in(path, Chunk))

    def test_ten_mistakes_are_reported_at_once_and_no_row_after_the_first(self, tmp_path: Path, says) -> None:
        path = write(
            tmp_path / "a.jsonl", [{"id": "d", "text": "t"}, *[{"id": "x"}] * 30, {"id": "e", "text": ""}]
        )
        rows: list[Document] = []
        with pytest.raises(DataError) as caught:
            rows.extend(read_rows(path, Document))
        lines = str(caught.value).splitlines()
        assert [line.split(":")[1] for line in lines[:10]] == [str(n) for n in range(2, 12)]
        says("\n".join(lines[10:]))

    def test_duplicate_ids_are_named(self, tmp_path: Path, says) -> None:
        path = write(tmp_path / "a.jsonl", [{"id": "d", "text": "t"}, {"id": "d", "text": "u"}])
        says(mistake_in(path, Document))

    def test_the_same_question_answered_by_two_systems_is_no_duplicate(self, tmp_path: Path, says) -> None:
        rows = [{"id": "q", "answer": "a", "system": system} for system in "AB"]
        assert len(list(read_rows(write(tmp_path / "a.jsonl", rows), Answer))) == 2
        says(mistake_in(write(tmp_path / "a.jsonl", [*rows, rows[1]])))

    def test_several_labels_of_one_answer_are_no_duplicates(self, tmp_path: Path) -> None:
        rows = [{"id": "q", "score": score, "annotator": "a"} for score in (0, 1)]
        assert len(list(read_rows(write(tmp_path / "a.jsonl", rows), Label))) == 2


@pytest.mark.pack
def test_the_development_sheet_is_read_without_a_flag(shared_data: Path) -> None:
    rows = list(read_rows(shared_data / "evouna" / "tq600.jsonl", Answer))
    assert len(rows) == 3000
    assert all(row.question for row in rows)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (None, "expected a list of rows (Answer values or dicts), got NoneType"),
        ("sheet.jsonl", "To read a file: ragstone.read_rows(path, ragstone.Answer)"),
        ([5], "row 1: expected Answer values or dicts, got int: 5"),
        ([{"question_id": "q", "answer": "a", "system": 3.5, "question": []}], "row 1 {"),
        ([Answer(question_id="q", answer="a")] * 2, "row 2: a second row with question_id 'q'"),
    ],
)
def test_what_is_no_list_of_rows_is_told_with_what_would_be(rows, says):
    with pytest.raises(DataError) as caught:
        parse_rows(rows, Answer)
    assert says in str(caught.value)


def test_rows_without_ids_are_told_apart_as_in_a_file():
    rows = parse_rows([{"question": "Who?", "answer": "A"}, {"question": "Who?", "answer": "B"}], Answer)
    assert rows[1].question_id == f"{rows[0].question_id}-2"


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_a_data_frame_is_read_as_its_rows(package: str) -> None:
    frames = pytest.importorskip(package)
    frame = frames.DataFrame(
        {"question": ["Who?", "When?"], "response": ["A. B.", "1815"], "ground_truth": ["A. B.", None]}
    )
    rows = parse_rows(frame, Answer)
    assert [(row.question, row.answer, row.reference) for row in rows] == [
        ("Who?", "A. B.", "A. B."),
        ("When?", "1815", None),
    ]
    assert parse_rows(frame[:0], Answer) == []


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "utf-16-le", "utf-8-sig"])
@pytest.mark.parametrize("name", ["a.jsonl", "a.json"])
def test_json_in_the_encodings_of_offices_is_read_as_csv_is(tmp_path, caplog, encoding, name):
    lines = ['{"text": "plain", "id": "1"}', '{"text": "Über die Böden südlich von Köln", "id": "2"}']
    text = "\n".join(lines) if name == "a.jsonl" else f"[{', '.join(lines)}]"
    (tmp_path / name).write_bytes(text.encode(encoding))
    rows = [*read_rows(tmp_path / name, Document)]
    assert [row.text for row in rows] == ["plain", "Über die Böden südlich von Köln"]
    assert ("not UTF-8; read as cp1252" in caplog.text) == (encoding == "cp1252")


ACCENTS = ("Größe über Köln", "où est la fenêtre", "Кто написал", "日本語の文", "Εμπρός", "naïve")


@pytest.mark.parametrize("byte", [0x80, 0xA0, 0xC3, 0xE9, 0xFF])
@pytest.mark.parametrize("text", ACCENTS)
@pytest.mark.parametrize("ending", ["jsonl", "json"])
def test_a_byte_that_is_not_utf8_is_told_with_its_line_and_no_other_line_is_read_otherwise(
    tmp_path: Path, byte: int, text: str, ending: str
) -> None:
    row = '{"id": "%d", "text": "plain, %s"}'
    lines = [(row % (n, text)).encode() for n in range(3)]
    lines[1] = lines[1].replace(b"plain", b"pl" + bytes([byte]) + b"in")
    at = lines[1].index(bytes([byte])) + 1
    path = tmp_path / f"a.{ending}"
    path.write_bytes(b"\n".join(lines) if ending == "jsonl" else b"[" + b",\n".join(lines) + b"]")
    mistake = mistake_in(path, Document)
    assert mistake.startswith(f"{path}:2: ")
    assert f" 0x{byte:02X} at character {at} " in mistake
    assert mistake.endswith("or delete the line.")
    if ending == "jsonl":
        read = [raw for _, raw in formats.read_jsonl(path)]
        assert [raw["text"] for raw in read[::2]] == [f"plain, {text}"] * 2
        assert isinstance(read[1], ValueError)


def test_ten_lines_that_are_not_utf8_are_told_together(tmp_path: Path) -> None:
    good = '{"id": "%d", "text": "Größe über Köln"}'
    lines = [(good % n).encode().replace(b"K", b"\xff" if n % 2 else b"K") for n in range(40)]
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(lines))
    told = mistake_in(tmp_path / "a.jsonl", Document).splitlines()
    assert [line.split(":")[1] for line in told[:-1]] == [str(n) for n in range(2, 22, 2)]


def test_one_stray_byte_of_a_table_leaves_its_accents_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("id,text\n1,Größe und ".encode() + b"\xff\n")
    (row,) = read_rows(tmp_path / "a.csv", Document)
    assert row.text.startswith("Größe und ")


def test_a_column_of_prompts_is_told_once_and_one_of_names_is_not(tmp_path, caplog, says):
    prompt = "You know birds. Answer in one word."
    for name, systems in (("named", ["mine"] * 2), ("prompts", [prompt] * 2)):
        rows = [{"question_id": str(n), "answer": "a hen", "system": one} for n, one in enumerate(systems)]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
        list(read_rows(tmp_path / f"{name}.jsonl", Answer))
    says("\n".join(caplog.messages))
