import asyncio

import pytest
from hypothesis import given
from hypothesis.strategies import integers
from tests.kernel.judging.combined.sheets import ANSWER, Saying, answered, context_of, whole

from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging import judge_answer
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.llm import CallFailed, Reply
from ragstone.kernel.llm.schema import validate
from ragstone.kernel.records import Usage

CHEAP = Member(judge="correctness", model="openai/small", cut=50, unsure=(20, 79))
DEAR = Member(judge="correctness", model="openai/big", cut=60)
STEPS = whole("cascade", CHEAP, DEAR)


async def judged(small, big, judge=STEPS, answer=ANSWER):
    [row] = await judge_answer(judge, answer, context_of(small=small, big=big))
    return row


@pytest.mark.parametrize(("score", "says"), [(0, 0.0), (19, 0.0), (80, 1.0), (100, 1.0)])
async def test_a_sure_score_is_final_and_costs_the_cheap_judge_alone(score, says):
    big = Saying({"score": 0})
    row = await judged(Saying({"score": score}), big)
    assert (row.score, row.scale, big.n_asked) == (says, (0, 1), 0)
    assert row.metadata["decided_by"] == "correctness by openai/small"
    assert row.metadata["not_asked"] == ["correctness by openai/big"]
    assert (row.usage, row.cost_usd) == (Usage(input=10, output=5), 0.5)
    assert row.model == "openai/small + openai/big"


@pytest.mark.parametrize("score", [20, 50, 79])
async def test_an_unsure_score_ends_included_is_handed_on(score):
    row = await judged(Saying({"score": score}), Saying({"score": 60}))
    assert (row.score, row.rationale) == (1.0, "so it is")
    assert row.metadata["decided_by"] == "correctness by openai/big"
    assert [said["score"] for said in row.metadata["members"]] == [score, 60]
    assert (row.usage.calls, row.cost_usd) == (2, 1.0)


@given(integers(0, 100))
def test_a_cascade_never_asks_the_dear_judge_for_a_sure_row(score):
    big = Saying({"score": 0})
    asyncio.run(judged(Saying({"score": score}), big))
    assert big.n_asked == (20 <= score <= 79)


async def test_members_on_the_cascades_scale_need_no_cut():
    judge = whole("cascade", Member(judge="containment", unsure=(0, 0)), Member(judge="token_f1"))
    [row] = await judge_answer(judge, ANSWER, context_of())
    assert (row.score, row.model) == (0.5, "none")
    assert (row.usage, row.cost_usd) == (None, None)


@pytest.mark.parametrize("status", ["unparsable", "refused"])
async def test_a_judge_with_nothing_to_say_hands_on(status):
    row = await judged(Saying(CallFailed(status, "no")), Saying({"score": 90}))
    assert (row.score, row.metadata["members"][0]["status"]) == (1.0, status)


async def test_a_member_that_lacks_its_input_hands_on():
    judge = whole("cascade", Member(judge="context_overlap", unsure=(0, 0)), Member(judge="containment"))
    [row] = await judge_answer(judge, answered(answer="early in the season"), context_of())
    assert (row.score, row.metadata["decided_by"]) == (1.0, "containment")


@pytest.mark.parametrize("status", ["timeout", "rate_limited", "over_budget", "error"])
async def test_an_endpoint_that_is_down_sends_no_row_to_the_dear_judge(status):
    big = Saying({"score": 90})
    row = await judged(Saying(CallFailed(status, "down")), big)
    assert (row.status, row.score, row.error, big.n_asked) == (status, None, "down", 0)
    assert row.metadata["decided_by"] is None


async def test_when_the_last_judge_fails_the_row_fails():
    row = await judged(Saying({"score": 50}), Saying(CallFailed("timeout", "late")))
    assert (row.status, row.error, row.metadata["decided_by"]) == ("timeout", "late", None)
    assert row.usage == Usage(input=10, output=5)


async def test_a_made_up_reply_of_a_forecast_is_handed_on():
    async def small(prompt):
        value = validate({"nonce": prompt.nonce, "reason": "", "score": 1}, prompt.reply, prompt.nonce)
        return Reply(text="", value=value, usage=Usage(calls=0), latency_s=0.0, cost_usd=None)

    big = Saying({"score": 0})
    await judged(small, big)
    assert big.n_asked == 1


async def test_three_steps_stop_where_one_is_sure():
    judge = whole("cascade", Member(judge="containment", unsure=(0, 0)), CHEAP, DEAR)
    big = Saying({"score": 0})
    row = await judged(Saying({"score": 90}), big, judge)
    assert (row.score, big.n_asked) == (1.0, 0)
    assert [said["judge"] for said in row.metadata["members"]] == [
        "containment",
        "correctness by openai/small",
    ]


async def test_a_dear_judge_whose_endpoint_is_down_fails_the_row_and_not_the_command(says):
    row = await judged(Saying({"score": 50}), Saying(ModelError("nobody there")))
    assert (row.status, row.score) == ("error", None)
    says(row.error)
    assert row.metadata["decided_by"] is None


async def test_a_first_judge_whose_endpoint_is_down_ends_the_command_and_is_named(says):
    big = Saying({"score": 90})
    with pytest.raises(ModelError) as error:
        await judged(Saying(ModelError("nobody there")), big)
    says(error.value)
    assert big.n_asked == 0
