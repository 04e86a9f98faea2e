"""Cells of a CSV: none is a formula, and Ragstone reads back what was written."""

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows, write_rows
from ragstone.kernel.tables.cells import FORMULA, GUARDED, NUMBER, no_formula, open_table

FORMULAS = ('=HYPERLINK("http://evil","x")', "+1+cmd", "-- a list", "@SUM(1)", "\t=1", "\r=1", "＝1", "-1.5e")


@given(st.text(min_size=1) | st.from_regex(r"[=+\-@'\t＝][-+=\d.,'a]*", fullmatch=True))
def test_only_what_could_be_a_formula_is_changed(text):
    assert no_formula(text) in (text, f"'{text}")
    assert (no_formula(text) == text) == (not text.startswith(FORMULA) or bool(NUMBER.fullmatch(text)))


@pytest.mark.parametrize("number", ["-1.5", "+3", "-1,000.25", "-7"])
def test_a_number_stays_a_number(number):
    assert no_formula(number) == number


@pytest.mark.parametrize("ending", ["csv", "tsv"])
@pytest.mark.parametrize("text", [*FORMULAS, "'=1", "'", "''-x", "-1.5"])
def test_no_cell_of_a_file_of_rows_is_a_formula_and_all_are_read_as_they_were(tmp_path, ending, text):
    row = Answer(question_id=f"{text}1", question=text, answer=text, system="-1.5", reference=[text, "b"])
    write_rows(tmp_path / f"a.{ending}", [row, Answer(question_id="q", answer="plain")], Answer)
    with (tmp_path / f"a.{ending}").open(encoding="utf-8", newline="") as file:
        cells = list(csv.reader(file, delimiter="\t" if ending == "tsv" else ","))
    assert not [
        one for line in cells for one in line if one.startswith(FORMULA) and not NUMBER.fullmatch(one)
    ]
    assert cells[2][-1] == ""
    assert next(read_rows(tmp_path / f"a.{ending}", Answer)) == row


def test_an_apostrophe_that_others_wrote_stays(tmp_path):
    (tmp_path / "a.csv").write_text(
        f'question_id,answer,{GUARDED}\nq1,\'=1,\nq2,\'-tis,mine\nq3,\'=1,"[""answer""]"\n'
    )
    rows = list(read_rows(tmp_path / "a.csv", Answer))
    assert [row.answer for row in rows] == ["'=1", "'-tis", "=1"]
    assert rows[1].metadata == {GUARDED: "mine"}


def test_a_head_that_is_a_formula_is_guarded_and_found(tmp_path):
    with open_table(tmp_path / "t.csv", ["=tag"], bom=True) as write:
        write({"=tag": "=1"})
    assert (tmp_path / "t.csv").read_text("utf-8-sig") == f'\'=tag,{GUARDED}\n\'=1,"[""\'=tag""]"\n'
