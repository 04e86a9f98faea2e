import pytest

from ragstone.kernel.config import SheetSystem
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Question, Usage
from ragstone.kernel.systems.sheet import answers_of_sheet
from ragstone.kernel.tables import write_rows

QUESTIONS = [Question(id=f"q{n}", question=f"{n}?", reference=f"r{n}") for n in range(3)]


@pytest.fixture
def sheet(tmp_path):
    def write(*rows):
        write_rows(tmp_path / "sheet.jsonl", rows, Answer, force=True)
        return tmp_path / "sheet.jsonl"

    return write


def answers(path, questions=QUESTIONS, **given):
    return list(answers_of_sheet("july", SheetSystem(path="sheet.jsonl", **given), path, questions))


def test_answers_come_in_the_order_of_the_questions_under_the_name_of_the_system(sheet, says):
    rows = [
        Answer(question_id="q2", answer="two", latency_s=2.0, usage=Usage(input=3), cost_usd=0.5),
        Answer(question_id="q0", answer="zero"),
        Answer(question_id="other", answer="of nobody"),
    ]
    zero, one, two = answers(sheet(*rows))
    assert [row.question_id for row in (zero, one, two)] == ["q0", "q1", "q2"]
    assert {row.system for row in (zero, one, two)} == {"july"}
    assert (zero.answer, zero.question, zero.reference) == ("zero", "0?", "r0")
    assert (one.answer, one.question) == ("", "1?")
    says(one.error)
    assert (two.latency_s, two.usage.input, two.cost_usd) == (2.0, 3, 0.5)


def test_of_several_systems_one_must_be_named(sheet, says):
    path = sheet(
        Answer(question_id="q0", answer="a", system="old"), Answer(question_id="q0", answer="b", system="new")
    )
    with pytest.raises(DataError) as error:
        answers(path)
    says(error.value)
    assert answers(path, system="new")[0].answer == "b"
    with pytest.raises(DataError) as error:
        answers(path, system="ne")
    says(error.value)


def test_a_sheet_of_other_questions_is_told(sheet, says):
    with pytest.raises(DataError) as error:
        answers(sheet(Answer(question_id="a", answer="x")))
    says(error.value)


def test_repeats_of_a_sheet_stay_repeats_of_its_system(sheet):
    rows = [
        Answer(question_id="q1", answer="third", system="june@repeat=3"),  # and it has no second
        Answer(question_id="q1", answer="first", system="june"),
        Answer(question_id="q0", answer="first", system="june"),
        Answer(question_id="q0", answer="second", system="june@repeat=2"),
    ]
    found = answers(sheet(*rows))
    assert [(row.question_id, row.system, row.answer) for row in found if row.error is None] == [
        ("q0", "july", "first"),
        ("q0", "july@repeat=2", "second"),
        ("q1", "july", "first"),
        ("q1", "july@repeat=3", "third"),
    ]
