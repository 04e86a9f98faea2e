import pytest

from ragstone.features.retrieve.trec import (
    label_questions,
    read_trec_run,
    write_trec_run,
)
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Question, Ranking, RankingItem


def ranking(question_id: str, **scores: float) -> Ranking:
    items = [RankingItem(document_id=name, score=score) for name, score in scores.items()]
    return Ranking(question_id=question_id, retriever="bm25", items=items)


def test_a_run_comes_back_as_it_was_written(tmp_path):
    rankings = [ranking("q1", a=2.5, b=0.1), ranking("q2", b=1 / 3)]
    write_trec_run(tmp_path / "run", rankings)
    assert (tmp_path / "run").read_text().splitlines()[0] == "q1 Q0 a 1 2.5 bm25"
    assert read_trec_run(tmp_path / "run") == rankings


def test_chunks_are_written_as_documents_with_their_best_score(tmp_path):
    items = [
        RankingItem(document_id="a", chunk_id="a#1", score=3.0),
        RankingItem(document_id="b", chunk_id="b#0", score=2.0),
        RankingItem(document_id="a", chunk_id="a#0", score=1.0),
    ]
    write_trec_run(tmp_path / "run", [Ranking(question_id="q", retriever="r", items=items)])
    assert read_trec_run(tmp_path / "run")[0].items == [
        RankingItem(document_id="a", score=3.0),
        RankingItem(document_id="b", score=2.0),
    ]


def test_the_score_decides_and_the_rank_settles_ties(tmp_path):
    (tmp_path / "run").write_text("q Q0 low 1 1.0 r\nq Q0 second 3 2.0 r\nq Q0 first 2 2.0 r\n\n")
    (read,) = read_trec_run(tmp_path / "run")
    assert [item.document_id for item in read.items] == ["first", "second", "low"]


def test_questions_are_labelled_with_documents_graded_above_zero():
    qrels = {"q1": {"a": 1, "b": 0, "c": 2}, "q2": {"a": -1}}
    questions = [Question(id=name, question="?") for name in ("q1", "q2", "q3")]
    labelled = label_questions(questions, qrels)
    assert [question.document_ids for question in labelled] == [["a", "c"], None, None]


@pytest.mark.parametrize(
    "line", ["q Q0 a 1 2.5", "q Q0 a one 2.5 r", "q Q0 a 1 nan r", "q Q0 a 1 2.5 r more"]
)
def test_a_line_that_is_no_run_line_is_named(tmp_path, line, says):
    (tmp_path / "run").write_text(f"q Q0 b 1 1.0 r\n{line}\n")
    with pytest.raises(DataError) as error:
        read_trec_run(tmp_path / "run")
    says(error.value)


def test_other_wrong_files_are_named(tmp_path, says):
    (tmp_path / "run").write_text("q Q0 a 1 2.0 r\nq Q0 a 2 1.0 r\n")
    with pytest.raises(DataError) as error:
        read_trec_run(tmp_path / "run")
    says(error.value)
    with pytest.raises(DataError) as error:
        read_trec_run(tmp_path / "absent")
    says(error.value)
    with pytest.raises(DataError) as error:
        write_trec_run(tmp_path / "bad", [ranking("p", a=1.0), ranking("q", **{"a b": 1.0})])
    says(error.value)
    assert list(tmp_path.glob("bad*")) == []
