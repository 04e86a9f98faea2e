import pytest

from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.lexical import language_match
from ragstone.kernel.records import Answer

ENGLISH = "When should the sensors be installed in the field?"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("They should be installed at the start of the season.", 1.0),
        ("Die Sensoren sollten zu Beginn der Saison eingebaut werden.", 0.0),
        ("传感器应该在季节开始的时候安装在田里。", 0.0),
        ("Jan van der", None),  # three words: a name
        ("1912", None),
        ("", None),
    ],
)
def test_an_answer_in_the_language_of_its_question(answer, found):
    assert language_match(answer, ENGLISH) == found


def test_a_question_in_no_sure_language_gives_nothing():
    assert language_match("They should be installed at the start of the season.", "42?") is None


async def test_a_short_answer_is_not_applicable(says):
    judge = load_judge("language_match")
    [row] = await judge_answer(
        judge, Answer(question_id="q", question=ENGLISH, answer="1912"), JudgeContext()
    )
    assert (row.status, row.score) == ("not_applicable", None)
    says(row.rationale)
