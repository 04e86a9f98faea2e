import pytest
from tests.kernel.judging.combined.sheets import ANSWER, Saying, answered, context_of, whole

from ragstone.kernel.judging import judge_answer
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.savings import cascade_savings
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Usage

STEPS = whole(
    "cascade", Member(judge="containment", unsure=(0, 0)), Member(judge="correctness", cut=50), name="steps"
)
RIGHT = answered(answer="early in the season")


async def rows_of(*answers, ask=None):
    context = context_of(ask or Saying({"score": 80}))
    return [row for answer in answers for row in await judge_answer(STEPS, answer, context)]


async def test_what_the_last_member_alone_would_have_taken_is_estimated_by_its_own_rows():
    [saved] = cascade_savings(await rows_of(RIGHT, RIGHT, RIGHT, ANSWER))
    cheap, dear = saved.members
    assert (cheap.name, cheap.n_asked, cheap.n_decided, cheap.cost_usd) == ("containment", 4, 3, None)
    assert (dear.name, dear.n_asked, dear.n_decided, dear.cost_usd) == ("correctness", 1, 1, 0.5)
    # One call of 10 + 5 tokens and 0.5 USD for one of four rows: for all four, four times that.
    assert (saved.n_rows, saved.spent, saved.spent_usd) == (4, Usage(input=10, output=5), 0.5)
    assert (saved.last_alone, saved.last_alone_usd) == (Usage(input=40, output=20, calls=4), 2.0)


async def test_without_a_row_of_the_last_member_nothing_is_guessed():
    [saved] = cascade_savings(await rows_of(RIGHT))
    assert (saved.last_alone, saved.last_alone_usd, saved.spent_usd) == (None, None, 0)
    assert [member.name for member in saved.members] == ["containment", "correctness"]


async def test_a_row_without_a_score_is_counted_as_undecided():
    rows = await rows_of(ANSWER, ask=Saying(CallFailed("timeout", "late")))
    [saved] = cascade_savings(rows)
    assert (saved.n_rows, saved.n_undecided, saved.members[1].n_decided) == (1, 1, 0)


async def test_rows_that_nobody_was_asked_about_and_other_judges_count_for_nothing():
    rows = await rows_of(answered(error="HTTP 500"))
    assert cascade_savings(rows) == []


async def test_an_unknown_price_is_not_zero():
    class Free(Saying):
        async def __call__(self, prompt):
            import msgspec

            return msgspec.structs.replace(await super().__call__(prompt), cost_usd=None)

    [saved] = cascade_savings(await rows_of(ANSWER, ask=Free({"score": 80})))
    assert (saved.spent_usd, saved.last_alone_usd) == (None, None)
    assert saved.last_alone.calls == 1


@pytest.mark.parametrize("n", [1, 3])
async def test_each_cascade_stands_alone(n):
    rows = await rows_of(*[RIGHT] * n)
    assert [one.n_rows for one in cascade_savings(rows)] == [n]
