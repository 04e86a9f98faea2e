import pytest
from tests.support.scripted_judge import Scripted

from ragstone.judging import Means, judge_answer, load_judge
from ragstone.llm import CallFailed
from ragstone.records import Answer, Context

FAITHFULNESS = load_judge("faithfulness")
SPLIT = {
    "statements": [{"id": 7, "statement": "A."}, {"id": 7, "statement": "B."}, {"id": 9, "statement": " "}]
}


def answer(contexts=("C",)):
    return Answer(
        question_id="q", question="?", answer="A. B.", contexts=[Context(text=text) for text in contexts]
    )


def verdict(number, supported):
    return {"id": number, "reason": "r", "supported": supported}


async def judged(*replies, row=None):
    ask = Scripted(*replies)
    [result] = await judge_answer(FAITHFULNESS, row or answer(), Means(ask=ask, model="m", secret=b"s"))
    return result, ask


async def test_score_is_supported_over_statements_made():
    row, _ = await judged(SPLIT, {"verdicts": [verdict(1, True), verdict(2, False)]})
    assert row.score == 0.5
    assert [(v.id, v.statement, v.supported) for v in row.verdicts] == [(1, "A.", True), (2, "B.", False)]
    assert (row.usage.calls, row.cost_usd) == (2, 1.0)


async def test_a_missing_id_is_asked_again_by_itself():
    row, ask = await judged(SPLIT, {"verdicts": [verdict(1, True)]}, {"verdicts": [verdict(2, True)]})
    assert row.score == 1.0
    again = ask.prompts[2].messages[-1].content
    assert "2. B." in again
    assert "1. A." not in again


async def test_an_id_that_stays_missing_makes_the_row_unparsable_and_never_inflates_it():
    row, _ = await judged(SPLIT, {"verdicts": [verdict(1, True)]}, {"verdicts": []})
    assert (row.status, row.score) == ("unparsable", None)
    assert row.error == "no single verdict for statement 2 of 2 in one call"


async def test_two_verdicts_that_disagree_count_as_none():
    twice = {"verdicts": [verdict(1, True), verdict(1, False), verdict(2, True)]}
    row, _ = await judged(SPLIT, twice, {"verdicts": [verdict(1, False)]})
    assert row.score == 0.5


async def test_verdicts_on_statements_that_nobody_made_are_passed_over():
    row, _ = await judged(SPLIT, {"verdicts": [verdict(n, n != 2) for n in range(9)]})
    assert row.score == 0.5


async def test_an_answer_that_states_nothing_is_not_applicable_rather_than_perfect():
    row, _ = await judged({"statements": []})
    assert (row.status, row.score) == ("not_applicable", None)
    assert row.usage.calls == 1


async def test_without_any_context_no_statement_is_supported():
    row, ask = await judged(SPLIT, row=answer(contexts=()))
    assert row.score == 0.0
    assert len(ask.prompts) == 1


@pytest.mark.parametrize("at", [0, 1])
async def test_a_failed_call_fails_the_row(at):
    replies = [SPLIT, {"verdicts": []}]
    replies[at] = CallFailed("timeout", "slow")
    row, _ = await judged(*replies)
    assert (row.status, row.score) == ("timeout", None)


async def test_a_statement_made_twice_is_one_statement():
    twice = {"statements": [{"id": 1, "statement": "A."}, {"id": 2, "statement": "A. "}]}
    row, _ = await judged(twice, {"verdicts": [verdict(1, True)]})
    assert [v.statement for v in row.verdicts] == ["A."]
