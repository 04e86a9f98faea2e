"""The joined table of a run: a row for each question and system, every score beside its answer."""

import msgspec
import pytest
from tests.support.tiny_run import ANSWERS, JUDGEMENTS, QUESTIONS, judgement, summary_of

import ragstone
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Context
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.runs.joined_rows import joined


@pytest.fixture
def table(write_run):
    return ragstone.read_run(write_run()).table()


def test_there_is_a_row_for_each_question_in_order(table):
    assert [row["question_id"] for row in table] == ["q1", "q2", "q3", "q4 & 5"]
    assert {row["system"] for row in table} == {"rag"}


def test_a_row_has_the_question_the_answer_and_every_score(table, says):
    first, second, third, last = table
    says(first["question"])
    assert (first["reference"], first["answer"]) == ("with fungicide", "With fungicide.")
    assert first["tags"] == {"crop": "wheat"}
    assert (first["correctness"], first["correctness_status"]) == (1, "scored")
    says(first["correctness_rationale"])
    assert (second["faithfulness"], second["faithfulness_status"]) == (None, "unparsable")
    says(second["faithfulness_rationale"])
    assert (third["answerable"], third["correctness_status"]) == (False, "not_applicable")
    assert (last["answer"], last["error"]) == ("", "HTTP 503")
    assert first["latency_s"] == 0.25
    assert [context.document_id for context in first["contexts"]] == ["wheat", "soil"]


def test_found_rank_is_the_place_of_the_relevant_document(table):
    # q1: wheat is first of its contexts; q2: maize second; q3 is unanswerable; q4: no context at all.
    assert [row["found_rank"] for row in table] == [1, 2, None, 0]


def test_found_rank_is_unknown_where_a_context_names_no_document(write_run):
    answers = [Answer(question_id="q1", system="rag", answer="x", contexts=[Context(text="from somewhere")])]
    table = ragstone.read_run(write_run(answers=answers)).table()
    assert table[0]["found_rank"] is None


def test_without_contexts_the_only_ranking_tells(write_run):
    answers = [Answer(question_id="q2", system="rag", answer="x")]
    table = ragstone.read_run(write_run(answers=answers)).table()
    assert next(row for row in table if row["question_id"] == "q2")["found_rank"] == 2


def test_every_row_has_the_same_columns_and_they_are_told(table):
    assert {tuple(row) for row in table} == {tuple(table.columns())}
    names = list(table.columns())
    assert names[:2] == ["question_id", "system"]
    assert names[-1] == "contexts"
    assert table.to_polars().columns == table.to_duckdb().columns == names


def test_two_models_of_a_judge_and_a_judge_named_like_a_column_have_their_own(write_run):
    rows = [
        judgement("q1", "correctness", 1),
        judgement("q1", "correctness", 0, model="openai/other"),
        judgement("q1", "answer", 0.5),
        judgement("q1", "Right", 1),
        judgement("q1", "right", 0),
    ]
    run = ragstone.read_run(write_run(judgements=rows, summary=summary_of(rows)))
    (row,) = (row for row in run.table() if row["question_id"] == "q1")
    assert row["correctness openai/gpt-4o-mini"] == 1
    assert row["correctness openai/other"] == 0
    assert (row["answer"], row["answer_"]) == ("With fungicide.", 0.5)
    assert (row["Right"], row["right_"]) == (1, 0)
    assert run.table().to_duckdb().columns == list(row)  # which ignores case


def test_causes_stand_beside_lost_points(write_run, says):
    run = ragstone.read_run(write_run()).content
    cause = Caused(
        question_id="q2",
        system="rag",
        cause="not retrieved",
        component="retriever",
        because="It is not there.",
    )
    table = joined(msgspec.structs.replace(run, causes={"q2": [cause]}))
    assert [row["cause"] for row in table] == [None, "not retrieved", None, None]
    says(table[1]["because"])
    assert "cause" not in joined(run)[0]


def test_a_run_has_its_rows_as_lists(write_run):
    run = ragstone.read_run(str(write_run()))
    assert [row.id for row in run.questions] == [row.id for row in QUESTIONS]
    assert run.answers == ANSWERS
    assert sorted(run.judgements.to_polars()["judge"].unique()) == [
        "containment",
        "correctness",
        "faithfulness",
    ]
    assert len(run.judgements) == len(JUDGEMENTS)
    assert len(run.rankings) == 4
    assert run.manifest["seed"] == 0
    assert "Wheat and maize" in repr(run)
    assert len(repr(run)) < 200


def test_what_is_no_folder_is_told(tmp_path, says):
    with pytest.raises(DataError) as error:
        ragstone.read_run(tmp_path / "nothing")
    says(error.value)
    with pytest.raises(DataError) as error:
        ragstone.read_run(summary_of(JUDGEMENTS))
    says(error.value)


def test_a_run_that_was_read_stands_where_its_path_may(write_run, says):
    run = ragstone.read_run(write_run())
    assert ragstone.write_report(run) == run.folder / "report.html"
    with pytest.raises(DataError) as error:
        ragstone.compare(run, run.folder)
    says(error.value)
    (run.folder / "manifest.json").unlink()
    assert ragstone.compare(run, list(run.judgements)).metrics
