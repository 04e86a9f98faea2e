"""The rows of a table are those of the joined table: filtered, sorted by any column, over several runs."""

import pytest
from tests.kernel.serve.rows.test_filtering import con, folder, run  # noqa: F401 - fixtures

from ragstone.kernel.errors import DataError
from ragstone.kernel.serve.rows.asking import RowFilter, RowIndex
from ragstone.workbench.row_pairs import answers_in, table_columns
from ragstone.workbench.row_table import TableRun, columns_of_table, export_rows, table_page, usual_columns


@pytest.fixture
def rows(con, run):  # noqa: F811
    return RowIndex(con, run.notes)


@pytest.fixture
def table(rows, run):  # noqa: F811
    return TableRun(id="0/mine", rows=rows, summary=run.summary)


def keys(table, **asked):
    return [(row["question_id"], row["system"]) for row in export_rows([table], RowFilter(**asked), ROW)]


ROW = ["question_id", "system"]


@pytest.mark.parametrize(
    ("order", "first", "last"),
    [
        # scores 0 (q1 b), 0.5 (q4 a), 1 (q1 a, q2 a); q2 b and q3 c have none, and come last either way
        ("correctness", [("q1", "b"), ("q4", "a"), ("q1", "a"), ("q2", "a")], [("q2", "b"), ("q3", "c")]),
        ("-correctness", [("q1", "a"), ("q2", "a"), ("q4", "a"), ("q1", "b")], [("q2", "b"), ("q3", "c")]),
        ("-latency_s", [("q1", "b"), ("q1", "a")], [("q3", "c"), ("q4", "a")]),
        ("correctness_status", [("q2", "b"), ("q3", "c")], [("q2", "a"), ("q4", "a")]),
        ("topic", [("q1", "a"), ("q1", "b"), ("q4", "a"), ("q3", "c")], [("q2", "a"), ("q2", "b")]),
        ("-flips", [("q1", "a"), ("q1", "b")], [("q3", "c"), ("q4", "a")]),
        ("question", [("q4", "a"), ("q1", "a"), ("q1", "b")], [("q2", "a"), ("q2", "b")]),
        ("file", [("q1", "a"), ("q1", "b"), ("q2", "a")], [("q3", "c"), ("q4", "a")]),
    ],
)
def test_rows_are_sorted_by_any_column_and_what_has_no_value_comes_last(table, order, first, last):
    sorted_keys = keys(table, order=order)
    assert sorted_keys[: len(first)] == first
    assert sorted_keys[-len(last) :] == last
    assert len(sorted_keys) == len(set(sorted_keys)) == 6


@pytest.mark.parametrize("order", ["file", "correctness", "-answer", "lang"])
def test_pages_of_one_row_are_all_rows_each_once(rows, order):
    alone = [answers_in([rows], RowFilter(order=order), first=at, most=1).rows[0] for at in range(6)]
    assert alone == answers_in([rows], RowFilter(order=order)).rows
    beyond = answers_in([rows], RowFilter(order=order), first=6, most=1)
    assert (beyond.rows, beyond.n, beyond.of) == ([], 6, 6)


@pytest.mark.parametrize("order", ["file", "correctness", "-correctness", "answer", "-topic"])
def test_rows_of_several_runs_are_one_order(rows, order):
    one = answers_in([rows], RowFilter(order=order)).rows
    both = answers_in([rows, rows], RowFilter(order=order))
    assert (both.n, both.of) == (12, 12)
    for number in (0, 1):
        of_run = [(row.place, row.system) for row in both.rows if row.run == number]
        assert of_run == [(row.place, row.system) for row in one]
    paged = [
        row
        for first in (0, 5, 10)
        for row in answers_in([rows, rows], RowFilter(order=order), first=first, most=5).rows
    ]
    assert paged == both.rows
    if order == "correctness":  # 0, 0.5, 1, 1, none, none: twice, together
        assert [(row.place, row.system) for row in both.rows[:4]] == [(0, "b"), (0, "b"), (3, "a"), (3, "a")]
        assert {(row.place, row.system) for row in both.rows[8:]} == {(1, "b"), (2, "c")}


def test_a_row_has_what_the_joined_table_has(table, run):  # noqa: F811
    _, found = table_page([table], RowFilter(), first=0, most=50)
    expected = sorted(run.table(), key=lambda row: (row["question_id"], row["system"]))
    assert [{name: row[name] for name in expected[0]} for row in found] == expected
    assert [row["run"] for row in found] == ["mine"] * 6
    assert [row["flips"] for row in found] == [True, True, False, False, False, False]


def test_a_column_that_one_run_lacks_is_empty_there(con, run, tmp_path):  # noqa: F811
    from tests.kernel.serve.rows.test_filtering import judged

    from ragstone.kernel.records import Judgement
    from ragstone.kernel.serve.rows.files import files_of
    from ragstone.kernel.serve.rows.indexing import connect, make_index
    from ragstone.kernel.tables import write_rows

    other = tmp_path / "other"
    other.mkdir()
    write_rows(other / "judgements.jsonl", [judged("q1", "a", "style", 1)], Judgement)
    list(make_index(files_of(other), tmp_path / "other.duckdb"))
    opened = connect(tmp_path / "other.duckdb")
    runs = [RowIndex(con, run.notes), RowIndex(opened)]
    assert {"style", "correctness", "topic"} <= set(table_columns(runs))

    def found(where: str) -> list[tuple[int, int, str]]:
        return [tuple(row) for row in answers_in(runs, RowFilter(where=where)).rows]

    for where in ("style = 1", "topic = none and style > 0"):
        assert found(where) == [(1, 0, "a")], where
    for where, n in {
        "correctness = none": 3,  # q2 b and q3 c, and the row of the other run
        "correctness != 1": 5,  # all but q1 a and q2 a
        "topic in (maize, none)": 6,  # all but q3, whose topic is the text "none"
    }.items():
        assert len(found(where)) == n, where
    by_style = answers_in(runs, RowFilter(order="style")).rows
    assert by_style[0].run == 1
    opened.close()


def test_what_is_no_column_is_refused_by_name(rows, says):
    for order in ("correctnes", "-nothing", "notes", "anywhere"):
        with pytest.raises(DataError) as mistake:
            answers_in([rows], RowFilter(order=order))
        says(str(mistake.value))


def test_the_usual_columns_are_few_and_every_column_can_be_shown(table, run):  # noqa: F811
    assert usual_columns([table]) == [
        "question",
        "system",
        "answer",
        "correctness",
        "tone@scale=0-10",
        "notes",
    ]
    names = [column.name for column in columns_of_table([table, table])]
    assert names[0] == "run"
    assert "correctness_rationale" in names
    assert "anywhere" not in names
    assert not {column.name for column in columns_of_table([table]) if not column.sorts} - {
        *("notes", "note_tags", "correctness_rationale", "tone@scale=0-10_rationale")
    }


def test_the_keys_of_what_is_left_are_for_judging_and_labelling(rows, run):  # noqa: F811
    expected = [(row["question_id"], row["system"]) for row in run.where("correctness < 1")]
    assert rows.answers_left("correctness < 1") == expected == [("q1", "b"), ("q4", "a")]
    assert len(rows.answers_left("")) == 6
