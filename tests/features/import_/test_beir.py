"""Folders of BEIR's form."""

import json

import pytest

from ragstone import ConfigError, DataError
from ragstone.features.import_.importing import import_set


@pytest.fixture
def folder(tmp_path):
    corpus = [{"_id": f"d{n}", "title": f"Title {n}", "text": f"Text {n}.", "metadata": {}} for n in range(3)]
    queries = [{"_id": f"q{n}", "text": f"What is {n}?", "metadata": {}} for n in range(3)]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "qrels").mkdir()
    (tmp_path / "qrels" / "test.tsv").write_text(
        "query-id\tcorpus-id\tscore\nq0\td0\t2\nq0\td1\t1\nq0\td2\t0\nq1\td1\t1\n"
    )
    return tmp_path


def test_questions_of_the_split_have_their_documents_and_grades(folder):
    found = import_set(folder)
    assert [(question.id, question.document_ids) for question in found.questions] == [
        ("q0", ["d0", "d1"]),
        ("q1", ["d1"]),
    ]
    assert found.questions[0].metadata is None
    assert found.qrels == {"q0": {"d0": 2, "d1": 1, "d2": 0}, "q1": {"d1": 1}}
    assert (found.documents[0].id, found.documents[0].title) == ("d0", "Title 0")
    assert [(one.kind, one.n) for one in found.summary.remarks] == [("left_out", 1)]


def test_the_split_is_test_else_the_only_one_else_the_one_that_is_named(folder, says):
    (folder / "qrels" / "dev.tsv").write_text("q2\td2\t1\n")
    assert import_set(folder).summary.n_questions == 2
    assert [one.id for one in import_set(folder, split="dev").questions] == ["q2"]
    (folder / "qrels" / "test.tsv").unlink()
    assert [one.id for one in import_set(folder).questions] == ["q2"]
    (folder / "qrels" / "train.tsv").write_text("q1\td1\t1\n")
    with pytest.raises(DataError) as error:
        import_set(folder)
    says(error.value)


def test_a_split_that_is_not_there_is_an_error(folder, tmp_path, says):
    with pytest.raises(DataError) as error:
        import_set(folder, split="tets")
    says(error.value)
    (tmp_path / "q.csv").write_text("question\nWhen?\n")
    with pytest.raises(ConfigError) as error:
        import_set(tmp_path / "q.csv", split="test")
    says(error.value)


def test_without_qrels_all_queries_come(folder):
    (folder / "qrels" / "test.tsv").unlink()
    found = import_set(folder)
    assert [question.document_ids for question in found.questions] == [None, None, None]
    assert found.qrels is None


def test_a_folder_without_queries_is_an_error(folder, says):
    (folder / "queries.jsonl").unlink()
    with pytest.raises(DataError) as error:
        import_set(folder)
    says(error.value)


def test_a_file_is_no_folder_of_beir(folder, says):
    with pytest.raises(DataError) as error:
        import_set(folder / "queries.jsonl", format="beir")
    says(error.value)
    with pytest.raises(DataError) as error:
        import_set(folder, format="squad")
    says(error.value)


@pytest.mark.parametrize("line", ["q0\td0", "q0\td0\tmuch", "q0 0 d0 1 2", "q0\td0\t1"])
def test_a_wrong_line_of_qrels_is_an_error_with_its_number(folder, line):
    path = folder / "qrels" / "test.tsv"
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=r"test.tsv:6: "):
        import_set(folder)


def test_documents_that_are_missing_and_questions_that_are_missing_are_told(folder, says):
    path = folder / "qrels" / "test.tsv"
    path.write_text(path.read_text() + "q1\td9\t1\nq9\td0\t1\n")
    summary = import_set(folder).summary
    assert summary.missing_documents == ["d9"]
    says([one.reason for one in summary.remarks])


def test_queries_with_more_than_a_text_and_documents_without_a_title(folder, says):
    (folder / "queries.jsonl").write_text(
        '{"_id": "q0", "text": "What?", "kind": "odd", "metadata": {"url": "x"}}\n'
    )
    (folder / "corpus.jsonl").write_text('{"_id": "d0", "title": "", "text": ""}\n{"_id": "d1"}\n')
    found = import_set(folder)
    assert found.questions[0].metadata == {"url": "x", "kind": "odd"}
    assert [(document.title, document.text) for document in found.documents] == [(None, "")]
    for remark in found.summary.remarks:
        says(f"{remark.kind} {remark.n}: {remark.reason}")
