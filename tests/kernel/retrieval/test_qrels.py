import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.retrieval.qrels import read_qrels

GRADES = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": -1}}


@pytest.mark.parametrize(
    "text",
    [
        "q1 0 a 1\nq1 0 b 0\nq1 Q0 c 2\nq1 0 c 2\n\nq2 0 a -1\n",
        "q1\t0\ta\t1\r\nq1\t0\tb\t0\r\nq1\t0\tc\t2\r\nq2\t0\ta\t-1\r\n",
        "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq1\tc\t2.0\nq2\ta\t-1",
        "\ufeffquery-id corpus-id score\nq1 a 1\nq1 b 0\nq1 c 2\nq2 a -1\n",
        "q1\ta\t1\nq1\tb\t0\nq1\tc\t2\nq2\ta\t-1\n",
        "corpus-id\tscore\tquery-id\na\t1\tq1\nb\t0\tq1\nc\t2\tq1\na\t-1\tq2\n",
        "topic iteration docno relevance\nq1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 a -1\n",
    ],
    ids=["TREC", "TREC with tabs", "BEIR", "BEIR with spaces", "no names", "another order", "names of TREC"],
)
def test_qrels_of_trec_and_beir_keep_every_grade(tmp_path, text):
    (tmp_path / "qrels").write_text(text, encoding="utf-8", newline="")
    assert read_qrels(tmp_path / "qrels") == GRADES


def test_ids_between_tabs_may_hold_spaces(tmp_path):
    (tmp_path / "qrels").write_text("q 1\td 1\t1\n")
    assert read_qrels(tmp_path / "qrels") == {"q 1": {"d 1": 1}}


WRONG = {
    "a run": "q Q0 a 1 2.0 r",
    "no grade": "q1 0 a",
    "a grade that is a share": "q1 0 a 0.5",
    "a grade that is a word": "query-id\tcorpus-id\tscore\nq1\ta\thigh",
    "a grade without end": "q1 0 a " + "9" * 400,
    "a cell too few": "query-id\tcorpus-id\tscore\nq1\ta",
    "an empty id": "q1\t\t1",
    "two grades": "q1 0 a 1\nq1 0 a 0",
    "names that do not tell": "query-id\ttext\tscore\nq1\ta\t1",
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_line_is_named_with_its_column(tmp_path, says, name):
    (tmp_path / "qrels").write_text(WRONG[name])
    with pytest.raises(DataError) as error:
        read_qrels(tmp_path / "qrels")
    says(error.value)
