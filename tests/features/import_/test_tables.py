"""Tables of questions in anybody's columns."""

import json

import pytest

from ragstone import ConfigError, DataError
from ragstone.features.import_._faq import EMPTY_ANSWER, NO_ANSWER
from ragstone.features.import_._rows import EMPTY_QUESTION, parse_columns
from ragstone.features.import_._sheets import open_sheet
from ragstone.features.import_.importing import import_set
from ragstone.kernel.records import Question
from ragstone.kernel.tables import read_rows

CSV = "Nr,Frage,Antwort,Thema\n1,Wann wird Weizen gesät?,Im Oktober.,Getreide\n2,Wie tief?,4 cm.,Getreide\n"
GERMAN = {"id": "Nr", "question": "Frage", "reference": "Antwort", "tags.topic": "Thema"}


@pytest.fixture
def write(tmp_path):
    def written(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return written


def one(path, **options):
    (question,) = import_set(path, **options).questions
    return question


def remarks(imported):
    return {(one.kind, one.reason): (one.n, one.places) for one in imported.summary.remarks}


def test_columns_are_mapped_and_one_becomes_a_tag(write):
    first, second = import_set(write("q.csv", CSV), columns=GERMAN).questions
    assert (first.id, first.question, first.reference) == ("1", "Wann wird Weizen gesät?", "Im Oktober.")
    assert first.tags == second.tags == {"topic": "Getreide"}
    assert first.lang == "de"
    assert first.metadata is None


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_separators_and_encodings_are_found(write, separator, encoding):
    content = CSV.replace(",", separator).replace("\n", "\r\n").encode(encoding)
    questions = import_set(write("q.csv", content), columns=GERMAN).questions
    assert [one.question for one in questions] == ["Wann wird Weizen gesät?", "Wie tief?"]


def test_a_file_of_questions_without_an_ending_is_known_by_its_header(write):
    assert one(write("questions", "question,answer\nWhen?,In May.\n")).reference == "In May."


def test_names_of_columns_are_understood_in_any_case_and_the_others_are_kept(write):
    question = one(write("q.csv", "Question,Answer,Class\nWhen?,In May.,crops\n"))
    assert (question.question, question.reference, question.metadata) == (
        "When?",
        "In May.",
        {"Class": "crops"},
    )


def test_of_columns_that_differ_in_case_the_first_is_read_and_none_is_lost(write):
    question = one(write("q.csv", "Question,QUESTION,answer\nWhen?,Where?,In May.\n"))
    assert (question.question, question.metadata) == ("When?", {"QUESTION": "Where?"})


def test_a_mapping_goes_before_the_names_that_are_understood(write):
    question = one(write("q.csv", "question,Frage\nin English,auf Deutsch\n"), columns={"question": "Frage"})
    assert question.question == "auf Deutsch"
    assert question.metadata == {"question": "in English"}


def test_a_dotted_column_reaches_into_objects_which_stay_in_metadata(write):
    line = {"case": {"ask": "When?", "level": "easy"}, "answer": "In May."}
    columns = {"question": "case.ask", "tags.level": "case.level"}
    question = one(write("q.jsonl", json.dumps(line)), columns=columns)
    assert (question.question, question.tags) == ("When?", {"level": "easy"})
    assert question.metadata == {"case": line["case"]}


def test_contexts_become_documents_each_text_once(write):
    lines = [{"question": f"Is it {n}?", "passages": ["One.", "Two."][n:]} for n in range(2)]
    path = write("q.jsonl", "\n".join(map(json.dumps, lines)))
    imported = import_set(path, columns={"contexts": "passages"})
    assert [document.text for document in imported.documents] == ["One.", "Two."]
    one_id, two_id = (document.id for document in imported.documents)
    assert [question.document_ids for question in imported.questions] == [[one_id, two_id], [two_id]]


def test_contexts_of_a_question_that_names_its_documents_stay_in_metadata(write):
    line = {"question": "When?", "passages": ["In May."], "document_ids": ["d1"]}
    imported = import_set(write("q.jsonl", json.dumps(line)), columns={"contexts": "passages"})
    assert imported.documents == []
    assert imported.questions[0].document_ids == ["d1"]
    assert imported.questions[0].metadata == {"contexts": ["In May."]}


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("kind", "factoid"),
        ("lang", "English"),
        ("language", "English"),
        ("answerable", "perhaps"),
        ("tags", "wheat, maize"),
        ("reference", {"value": "In May."}),
    ],
)
def test_a_value_that_does_not_fit_is_kept_in_metadata_and_told(write, column, value, says):
    imported = import_set(write("q.jsonl", json.dumps({"id": "7", "question": "When is it?", column: value})))
    assert imported.questions[0].metadata == {column: value}
    says(list(remarks(imported)))


def test_fields_of_ours_are_read_as_they_are(write):
    line = {
        "id": "a",
        "question": "Is it?",
        "reference": ["yes", "Yes."],
        "answerable": False,
        "kind": "true_false",
        "lang": "fr",
        "tags": {"crop": "wheat"},
        "evidence": [{"document_id": "d", "start": 0, "end": 3}],
    }
    question = one(write("q.jsonl", json.dumps(line)))
    assert (question.answerable, question.kind, question.lang) == (False, "true_false", "fr")
    assert (question.tags, question.evidence[0].end) == ({"crop": "wheat"}, 3)


def test_rows_that_give_nothing_are_counted_with_their_lines(write, says):
    lines = ['{"question": "When?"}', "[1]", "{broken", '{"answer": "x"}', '{"question": ["a", "b"]}', ""]
    imported = import_set(write("q.jsonl", "\n".join(lines)))
    for (kind, reason), (n, places) in sorted(remarks(imported).items()):
        says(f"{kind}: {reason}: {n} ({', '.join(places)})")
    assert imported.summary.n_skipped == 4


def test_a_csv_row_with_too_many_cells_is_skipped_by_its_line(write):
    imported = import_set(write("q.csv", "question,answer\nWhen?,In May, or June.\nHow?,So.\n"))
    assert [question.question for question in imported.questions] == ["How?"]
    ((_, (n, places)),) = remarks(imported).items()
    assert n == 1
    assert places[0].endswith("q.csv:2")


def test_a_second_row_with_an_id_is_skipped(write, says):
    imported = import_set(write("q.csv", "id,question\n1,When?\n1,How?\n"))
    assert [question.question for question in imported.questions] == ["When?"]
    ((kind, reason), count_and_places) = remarks(imported).popitem()
    assert (kind, count_and_places) == ("skipped", (1, ["question '1'"]))
    says(reason)


def test_a_question_without_an_id_has_the_one_that_an_answer_without_an_id_has(write):
    from ragstone import Answer, read_rows

    imported = import_set(write("q.csv", "question\nWhen?\nWhen?\n"))
    answers = list(read_rows(write("a.csv", "question,answer\nWhen?,x\nWhen?,y\n"), Answer))
    assert [question.id for question in imported.questions] == [answer.question_id for answer in answers]


@pytest.mark.parametrize("name", ["q.csv", "q.jsonl"])
def test_a_column_that_is_not_there_is_an_error_that_names_those_that_are(write, name, says):
    content = CSV if name == "q.csv" else '{"Nr": 1, "Frage": "Wann?"}\n'
    with pytest.raises(DataError) as error:
        import_set(write(name, content), columns={"question": "Farge"})
    says(error.value)


def test_without_a_question_column_the_error_says_what_to_do(write, says):
    with pytest.raises(DataError) as error:
        import_set(write("q.csv", "Nr;Spalte\n1;Wann wird Weizen gesät?\n"))
    says(error.value)


@pytest.mark.parametrize(
    ("columns", "row", "field"),
    [
        ("Frage des Kunden;Thema", "Wann?;Saat", "question"),
        ("Pregunta del cliente;Tema", "¿Cuándo?;Siembra", "question"),
        ("question;Musterlösung", "Wann?;Oktober", "reference"),
        ("question;Anwser", "Wann?;Oktober", "reference"),
    ],
)
def test_near_names_are_taken_and_told_as_where_questions_are_read(write, caplog, columns, row, field):
    path = write("q.csv", f"{columns}\n{row}\n{row.replace('?', ' nicht?')}\n")
    imported = import_set(path).questions
    read = list(read_rows(path, Question))
    assert [(one.id, one.question, one.reference) for one in imported] == [
        (one.id, one.question, one.reference) for one in read
    ]
    told = [record.getMessage() for record in caplog.records]
    assert len(told) == 2  # once by each of the two
    assert told[0] == told[1]
    assert f"as the {field}" in told[0]


def test_a_near_name_is_not_taken_beside_a_known_or_a_chosen_one(write, caplog):
    known = import_set(write("q.csv", "question;Frage des Kunden\nWann?;Wo?\n")).questions
    chosen = import_set(write("p.csv", "Frage des Kunden;Text\nWann?;Wo?\n"), columns={"question": "Text"})
    assert [known[0].question, chosen.questions[0].question] == ["Wann?", "Wo?"]
    assert caplog.records == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "the file is empty"),
        (b"PK\x03\x04rest", "Office file"),
        ('question\n"open', "cannot be read as CSV"),
        ('[{"question": "a"', "not valid JSON"),
        ('{"a": {"b": 1}, "c": 2}', "without one list of rows"),
    ],
)
def test_a_broken_file_is_an_error(write, content, message):
    name = "q.json" if b"{" in (content if isinstance(content, bytes) else content.encode()) else "q.csv"
    with pytest.raises(DataError, match=message):
        import_set(write(name, content))


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        import_set(tmp_path / "nothing.csv")


def test_a_json_list_and_an_object_with_one_list_are_tables(write):
    row = {"question": "When?", "answer": "In May."}
    assert one(write("a.json", json.dumps([row]))).reference == "In May."
    assert one(write("b.json", json.dumps({"version": 1, "rows": [row]}))).reference == "In May."
    assert one(write("c.json", json.dumps([row], indent=2))).reference == "In May."


def test_parquet_is_a_table(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"Frage": ["Wann?"], "answers": [["a", "b"]]}), tmp_path / "q.parquet")
    assert one(tmp_path / "q.parquet", columns={"question": "Frage"}).reference == ["a", "b"]


def test_columns_are_written_as_field_and_column():
    assert parse_columns(["question=Frage", "tags.topic=Thema", "Fach=tags.subject"]) == {
        "question": "Frage",
        "tags.topic": "Thema",
        "tags.subject": "Fach",
    }


@pytest.mark.parametrize(
    ("written", "message"),
    [
        (["question"], "write FIELD=COLUMN"),
        (["question="], "write FIELD=COLUMN"),
        (["qestion=Frage"], "there is no field 'qestion'. Did you mean 'question'"),
        (["question=a", "question=b"], "question is read from 'a' already"),
    ],
)
def test_a_mapping_that_means_nothing_is_an_error(written, message):
    with pytest.raises(ConfigError, match=message):
        parse_columns(written)


def test_json_nested_very_deep_is_no_traceback(tmp_path):
    file = tmp_path / "deep.json"
    file.write_text("[" * 100_000)
    with pytest.raises(DataError, match="not valid JSON"):
        open_sheet(file)
    file.write_text('{"question": "a"}\n{"a": ' + "[" * 100_000 + "\n")
    assert [row for _, row in open_sheet(file).rows] == [{"question": "a"}, "it is not a JSON object"]


LAW = "Drones may fly up to 120 m high, says the law."


@pytest.mark.parametrize("name", ["q.csv", "q.jsonl"])
@pytest.mark.parametrize("text", ["document_extracted", "Document Text", "doc_content"])
def test_the_text_of_a_document_beside_its_questions_is_a_document(write, name, text):
    row = {
        "question": "How high?",
        "answer": "120 m",
        "document_id": "d-1",
        text: LAW,
        "document_path": "law.pdf",
    }
    rows = [row, row | {"question": "How far?"}, row | {"question": "Who?", "document_id": "d-2"}]
    lines = [json.dumps(one) for one in rows] if name == "q.jsonl" else [",".join(row)]
    if name == "q.csv":
        lines += [",".join(f'"{cell}"' for cell in one.values()) for one in rows]
    imported = import_set(write(name, "\n".join(lines)))
    assert [(one.id, one.text, one.source) for one in imported.documents] == [
        ("d-1", LAW, "law.pdf"),
        ("d-2", LAW, "law.pdf"),
    ]
    assert [one.document_ids for one in imported.questions] == [["d-1"], ["d-1"], ["d-2"]]
    assert all(text not in (one.metadata or {}) for one in imported.questions)


def test_without_an_id_the_document_has_one_of_its_text_and_a_second_text_is_told(write, says):
    (question,) = (alone := import_set(write("a.csv", f'question,document\nHow?,"{LAW}"\n'))).questions
    assert [one.id for one in alone.documents] == question.document_ids
    rows = [{"question": f"q{n}?", "document_id": "d", "document_text": f"{n} {LAW}"} for n in range(2)]
    two = import_set(write("b.jsonl", "\n".join(map(json.dumps, rows))))
    assert [one.text for one in two.documents] == [f"0 {LAW}"]
    for _, reason in remarks(two):
        says(reason)
    few = import_set(write("d.csv", "question,document_id,document_text\nHow deep?,d,Dig 3 m.\n"))
    assert [(one.id, one.text) for one in few.documents] == [("d", "Dig 3 m.")]
    short = import_set(write("c.csv", "question,document\nHow?,law.pdf\n"))  # a name, not a text
    assert (short.documents, short.questions[0].metadata) == ([], {"document": "law.pdf"})


def test_a_text_with_a_question_a_line_is_a_set_of_questions(write, says):
    asked = import_set(write("q.txt", "How high?\n\nÜber wen?\n".encode("cp1252"))).questions
    assert [one.question for one in asked] == ["How high?", "Über wen?"]
    with pytest.raises(DataError) as error:
        import_set(write("q.txt", "A text.\nOf two lines.\n"))
    says(error.value)


def test_a_byte_that_is_not_utf8_skips_its_line_alone(write, says):
    lines = [json.dumps({"question": f"Größe {n}?"}, ensure_ascii=False).encode() for n in range(3)]
    lines[1] = lines[1].replace(b"?", b"\xff?")
    imported = import_set(write("q.jsonl", b"\n".join(lines)))
    assert [one.question for one in imported.questions] == ["Größe 0?", "Größe 2?"]
    for _, reason in remarks(imported):
        says(reason)


@pytest.mark.parametrize(
    ("rows", "columns", "empty"),
    [
        ("question,answer\n,b\na?,b\n", {}, True),
        ("Frage,answer\n,b\na?,b\n", {"question": "Frage"}, True),
        ("frog,answer\na?,b\nc?,d\n", {}, False),
    ],
)
def test_a_column_is_asked_for_only_where_none_is_understood(write, rows, columns, empty):
    path = write("q.csv", rows)
    if not empty:
        with pytest.raises(DataError, match="name its column"):
            import_set(path, format="table", columns=columns)
        return
    assert remarks(import_set(path, format="table", columns=columns)) == {
        ("skipped", EMPTY_QUESTION): (1, [f"{path}:2"])
    }


def test_a_question_of_null_is_empty_though_it_comes_first(write):
    path = write("q.jsonl", '{"question": null}\n{"question": "a?"}\n')
    assert remarks(import_set(path)) == {("skipped", EMPTY_QUESTION): (1, [f"{path}:1"])}


@pytest.mark.parametrize(
    ("rows", "columns", "reasons"),
    [
        ("question,answer\na?,\nb?,c\nd?,\n", {}, [EMPTY_ANSWER]),
        ("question,frog\na?,\nb?,c\n", {"reference": "frog"}, [EMPTY_ANSWER]),
        ("question,frog,answer\na?,x,\nb?,y,c\n", {}, [EMPTY_ANSWER]),
    ],
)
def test_an_answer_is_asked_for_only_where_none_is_understood(write, rows, columns, reasons):
    imported = import_set(write("q.csv", rows), format="faq", columns=columns)
    assert [one.reason for one in imported.summary.remarks] == reasons
    with pytest.raises(DataError) as error:
        import_set(write("p.csv", "question,frog\na?,b\n"), format="faq")
    assert NO_ANSWER in str(error.value)
