"""Sets in a folder: files, limits, repetitions, what is left of an earlier import."""

import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone import DataError, Document, Question, RagstoneError, read_qrels, read_rows
from ragstone.features.import_ import summary as import_summary
from ragstone.features.import_._recognise import FORMATS
from ragstone.features.import_._rows import ImportOptions
from ragstone.features.import_.importing import import_set, import_to_folder

ASKED = ["When is wheat sown?", "When is wheat sown", "How deep is it sown?", "When is maize sown?"]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "q.jsonl"
    path.write_text(
        "".join(json.dumps({"id": f"q{n}", "question": one}) + "\n" for n, one in enumerate(ASKED))
    )
    return path


@pytest.fixture
def beir(tmp_path):
    folder = tmp_path / "beir"
    (folder / "qrels").mkdir(parents=True)
    rows = [{"_id": f"d{n}", "text": f"Text {n}."} for n in range(2)]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [{"_id": f"q{n}", "text": one} for n, one in enumerate(ASKED)]
    (folder / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = [f"q{n}\td{n % 2}\t{n % 3}\n" for n in range(4)]
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\n" + "".join(lines))
    return folder


def test_a_folder_holds_what_import_set_returns(beir, tmp_path):
    found = import_set(beir)
    summary = import_to_folder([beir], tmp_path / "out", ImportOptions())
    assert list(read_rows(tmp_path / "out" / "questions.jsonl", Question)) == found.questions
    assert list(read_rows(tmp_path / "out" / "documents.jsonl", Document)) == found.documents
    assert read_qrels(tmp_path / "out" / "qrels.txt") == found.qrels
    assert summary.output == [
        str(tmp_path / "out" / name) for name in ("questions.jsonl", "documents.jsonl", "qrels.txt")
    ]


def test_qrels_are_written_only_where_grades_say_more(beir, tmp_path):
    (beir / "qrels" / "test.tsv").write_text("q0\td0\t1\nq1\td1\t1\n")
    summary = import_to_folder([beir], tmp_path / "out", ImportOptions())
    assert not summary.graded
    assert not (tmp_path / "out" / "qrels.txt").exists()


def test_grades_of_ids_with_spaces_are_left_out_and_told(beir, tmp_path, says):
    (beir / "qrels" / "test.tsv").write_text("q0\td0\t2\nq0\td 1\t1\n")
    summary = import_to_folder([beir], tmp_path / "out", ImportOptions())
    assert read_qrels(tmp_path / "out" / "qrels.txt") == {"q0": {"d0": 2}}
    says(summary.remarks[-1].reason)


def test_files_that_exist_are_kept_and_with_force_those_of_another_set_are_set_aside(beir, table, tmp_path):
    import_to_folder([beir], tmp_path / "out", ImportOptions())
    with pytest.raises(DataError, match=r"questions\.jsonl exists"):
        import_to_folder([table], tmp_path / "out", ImportOptions())
    documents = (tmp_path / "out" / "documents.jsonl").read_bytes()
    summary = import_to_folder([table], tmp_path / "out", ImportOptions(), force=True)
    assert str(tmp_path / "out" / "documents.jsonl") in summary.set_aside
    assert (tmp_path / "out" / "documents.jsonl.old").read_bytes() == documents
    assert {path.name for path in (tmp_path / "out").iterdir() if path.suffix != ".old"} == {
        "questions.jsonl"
    }


def test_an_error_leaves_no_file(tmp_path, says):
    (tmp_path / "q.csv").write_text('question\nWhen?\n"open')
    with pytest.raises(DataError) as error:
        import_to_folder([tmp_path / "q.csv"], tmp_path / "out", ImportOptions())
    says(error.value)
    assert list((tmp_path / "out").iterdir()) == []


def test_repeated_questions_are_told_and_dropped_on_request(table, tmp_path):
    found = import_set(table)
    assert [(one.id, one.of, one.exact) for one in found.summary.repeats] == [("q1", "q0", True)]
    assert len(found.questions) == 4
    dropped = import_set(table, drop_repeats=True)
    assert [question.id for question in dropped.questions] == ["q0", "q2", "q3"]
    assert (dropped.summary.n_questions, dropped.summary.n_dropped) == (3, 1)
    summary = import_to_folder([table], tmp_path / "out", ImportOptions(), drop_repeats=True)
    assert summary.n_questions == 3
    assert list(read_rows(tmp_path / "out" / "questions.jsonl", Question)) == dropped.questions


def test_a_dropped_question_has_no_grades(beir, tmp_path):
    dropped = import_set(beir, drop_repeats=True)
    import_to_folder([beir], tmp_path / "out", ImportOptions(), drop_repeats=True)
    assert read_qrels(tmp_path / "out" / "qrels.txt") == dropped.qrels
    assert "q1" not in dropped.qrels


def test_of_very_many_questions_only_the_same_words_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(import_summary, "MOST_NEAR", 2)
    asked = ["Is wheat sown?", "is wheat sown", "Is the wheat sown?", "Is maize sown?", "Is maize sown"]
    path = tmp_path / "q.jsonl"
    path.write_text(
        "".join(json.dumps({"id": str(n), "question": one}) + "\n" for n, one in enumerate(asked))
    )
    summary = import_set(path).summary
    assert not summary.near_repeats_sought
    assert [(one.id, one.of) for one in summary.repeats] == [("1", "0"), ("4", "3")]


def test_the_limit_is_of_questions_and_documents_are_all_read(beir, table):
    found = import_set(beir, limit=2)
    assert [question.id for question in found.questions] == ["q0", "q1"]
    assert len(found.documents) == 2
    assert list(found.qrels) == ["q0", "q1"]
    assert [question.id for question in import_set(table, limit=1).questions] == ["q0"]


def test_several_files_make_one_set(table, tmp_path):
    (tmp_path / "more.csv").write_text("question,answer\nWhere?,Here.\n")
    (tmp_path / "d.jsonl").write_text('{"id": "d", "text": "Here."}\n')
    found = import_set([table, tmp_path / "more.csv", tmp_path / "d.jsonl"])
    assert len(found.questions) == 5
    assert [document.text for document in found.documents] == ["Here."]
    assert list(found.summary.formats.values()) == ["table", "table", "documents"]


def test_files_of_the_same_name_do_not_share_ids(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "faq.csv").write_text(f"question,answer\nWhen {name}?,In May.\n")
    found = import_set([tmp_path / "a" / "faq.csv", tmp_path / "b" / "faq.csv"], format="faq")
    assert len({document.id for document in found.documents}) == 2
    assert found.summary.n_skipped == 0


def test_a_file_that_tells_nothing_is_an_error_that_names_the_formats(tmp_path, says):
    (tmp_path / "notes.txt").write_text("Some prose.\n")
    with pytest.raises(DataError) as error:
        import_set(tmp_path / "notes.txt")
    says(error.value)


def test_a_question_too_short_to_tell_has_the_language_of_its_document(tmp_path):
    german = "Der Weizen wird im Oktober gesät, wenn der Boden noch warm genug ist."
    rows = [
        {"question": "Wie tief?", "passage": german},
        {"question": "什么是小麦？", "passage": german},
        {"question": "Wie tief", "passage": ""},
    ]
    path = tmp_path / "q.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    found = import_set(path, columns={"contexts": "passage"})
    assert [question.lang for question in found.questions] == ["de", "zh", None]


@pytest.mark.simulation
def test_a_large_file_is_not_held(tmp_path):
    # 40 MB of rows, of which the 1,024 are held whose languages are detected together: 10 MB.
    note = "x" * 10_000
    with (tmp_path / "q.jsonl").open("w") as file:
        for n in range(4000):
            row = {"id": str(n), "question": f"What is {n}?", "lang": "en", "note": note}
            file.write(json.dumps(row) + "\n")
    import_set(tmp_path / "q.jsonl", limit=1)  # loads what is loaded once
    tracemalloc.start()
    import_to_folder([tmp_path / "q.jsonl"], tmp_path / "out", ImportOptions())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 25_000_000


@given(st.lists(st.text(min_size=1, max_size=8).filter(str.strip), min_size=1, max_size=8))
def test_every_question_comes_once_in_order_with_an_id_of_its_own(tmp_path_factory, asked):
    path = tmp_path_factory.mktemp("set") / "q.jsonl"
    path.write_text("".join(json.dumps({"question": one}) + "\n" for one in asked), encoding="utf-8")
    questions = import_set(path).questions
    assert [question.question for question in questions] == asked
    assert len({question.id for question in questions}) == len(asked)


PIECES = st.lists(
    st.sampled_from(
        [
            *'{}[]",:;\n\t#?<>',
            *("question", "answer", "context", "data", "paragraphs", "qas", "answers", "null", "é", "text"),
            *(
                "<top>",
                "<num>",
                "</top>",
                "<DOC>",
                "<DOCNO>",
                "</DOC>",
                "Q: ",
                "A: ",
                "## ",
                "\n\n",
                "**",
                "---",
            ),
            *(
                '{"question": "a"}',
                '{"data": [',
                '"supporting_facts": ',
                '"input": {',
                "id\tquestion\n",
                "1 0 d 1\n",
            ),
        ]
    ),
    max_size=25,
).map("".join)
KEYS = st.sampled_from(
    [
        *("text", "answer_start", "context", "qas", "question", "id", "answers"),
        *("title", "sentences", "sent_id", "role", "content"),
    ]
)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-3, 3),
        st.floats(0, 1),
        st.sampled_from(["", "a", "[", "a b", "{}"]),
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=15,
)
TEMPLATES = (
    ("question", "context", "answers", "is_impossible", "plausible_answers", "title", "id"),
    ("paragraphs", "title"),
    ("question", "supporting_facts", "context", "answer", "type", "_id"),
    ("user_input", "reference_contexts", "reference", "synthesizer_name"),
    ("input", "expected_output", "context", "actual_output"),
    ("id", "input", "output", "metadata", "lang", "tags"),
    ("id", "input", "expectedOutput", "datasetName", "status"),
    ("id", "text", "title", "metadata"),
    ("question", "answer", "evidence", "document_ids", "kind", "answerable", "tags", "scores", "metadata"),
)
ROWS = st.lists(
    st.one_of([st.fixed_dictionaries({}, optional=dict.fromkeys(names, VALUES)) for names in TEMPLATES])
    | st.one_of([st.fixed_dictionaries(dict.fromkeys(names, VALUES)) for names in TEMPLATES]),
    min_size=1,
    max_size=3,
)


@given(ROWS)
def test_rows_of_any_shape_are_read_or_refused(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("set") / "x.json"
    path.write_text(json.dumps(rows), encoding="utf-8")
    read_or_refused(path)


@given(PIECES, st.sampled_from(["x.csv", "x.tsv", "x.json", "x.jsonl", "x.txt", "x.md", "x.html", "x"]))
def test_whatever_a_file_holds_it_is_read_or_refused_with_a_message(tmp_path_factory, content, name):
    path = tmp_path_factory.mktemp("set") / name
    path.write_text(content, encoding="utf-8")
    read_or_refused(path)


def read_or_refused(path):
    """Check that no other error than ours is raised, and that evidence stays in its document."""
    for form in (None, *FORMATS):
        try:
            found = import_set(path, format=form)
        except RagstoneError:
            continue
        texts = {document.id: document.text for document in found.documents}
        for question in found.questions:
            assert question.question.strip()
            spans = [one for one in question.evidence or () if one.document_id in texts]
            assert form == "table" or all(0 <= e.start < e.end <= len(texts[e.document_id]) for e in spans)


def test_an_object_on_several_lines_is_json_whatever_its_name(tmp_path):
    rows = '{"rows": [\n{"question": "When?"},\n{"question": "How?"}\n]}'
    for name in ("x.json", "x.jsonl", "x"):
        (tmp_path / name).write_text(rows)
        assert len(import_set(tmp_path / name).questions) == 2


def test_a_table_without_rows_is_an_error(tmp_path, says):
    (tmp_path / "q.csv").write_text("question,answer\n")
    with pytest.raises(DataError) as error:
        import_set(tmp_path / "q.csv")
    says(error.value)
