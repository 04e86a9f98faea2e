from collections import Counter

import pytest
from hypothesis import given
from hypothesis.strategies import floats, lists, sampled_from
from tests.kernel.judging.combined.sheets import ANSWER, Saying, answered, context_of, whole

from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging import judge_answer
from ragstone.kernel.judging.combined import COMBINED, majority
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.llm.limits import CallsStopped
from ragstone.kernel.records import Usage

YES, NO = {"verdict": True}, {"verdict": False}


async def judged(judge, context, answer=ANSWER):
    [row] = await judge_answer(judge, answer, context)
    return row


def three(combine, **kind):
    """Return a jury of one judge by three models."""
    members = [Member(judge="relevance", model=f"openai/{name}") for name in "abc"]
    return whole("jury", *members, combine=combine, **kind)


async def test_the_mean_is_of_scores_on_the_jurys_scale_and_the_disagreement_shows(says):
    # 80 of 0..100 is 0.8; token F1 of "Early." and "early in the season" is 2*1*(1/3)/(1+1/3) = 0.5 without
    # the article; their mean 0.65, their spread 0.3.
    judge = whole("jury", Member(judge="correctness"), Member(judge="token_f1"))
    row = await judged(judge, context_of(Saying({"score": 80})))
    assert (row.score, row.status, row.model) == (pytest.approx(0.65), "scored", "openai/default")
    assert row.metadata["spread"] == pytest.approx(0.3)
    assert row.metadata["members"] == [
        {
            "judge": "correctness",
            "model": "openai/default",
            "status": "scored",
            "score": 80.0,
            "scale": [0.0, 100.0],
            "rationale": "so it is",
            "usage": {"input": 10, "output": 5},
            "cost_usd": 0.5,
        },
        {"judge": "token_f1", "status": "scored", "score": 0.5, "scale": [0.0, 1.0]},
    ]
    assert (row.usage, row.cost_usd) == (Usage(input=10, output=5), 0.5)
    says(row.rationale)


async def test_a_members_cut_makes_its_score_yes_or_no():
    judge = whole(
        "jury", Member(judge="correctness", cut=80), Member(judge="token_f1", cut=0.6), scale=(0, 10)
    )
    row = await judged(judge, context_of(Saying({"score": 80})))
    assert (row.score, row.metadata["spread"]) == (5.0, 10.0)  # yes is 10, no is 0


async def test_the_median_does_not_move_with_one_outlier():
    context = context_of(a=Saying(YES), b=Saying(YES), c=Saying(NO))
    assert (await judged(three("median"), context)).score == 1.0


async def test_the_majority_decides_and_the_model_is_all_of_theirs(says):
    row = await judged(three("majority"), context_of(a=Saying(YES), b=Saying(NO), c=Saying(NO)))
    assert row.score == 0.0
    says(row.model)
    assert (row.usage.calls, row.cost_usd) == (3, 1.5)
    assert [said["judge"] for said in row.metadata["members"]] == [f"relevance by openai/{x}" for x in "abc"]


async def test_a_tie_is_abstained_with_the_counts(says):
    judge = whole("jury", Member(judge="relevance"), Member(judge="containment"), combine="majority")
    row = await judged(judge, context_of(Saying(YES)))
    assert (row.status, row.score) == ("abstained", None)
    says(row.rationale)


async def test_the_majority_of_labels_keeps_its_label():
    members = [Member(judge="answered", model=f"openai/{name}") for name in "abc"]
    context = context_of(
        a=Saying({"label": "refused"}), b=Saying({"label": "refused"}), c=Saying({"label": "answered"})
    )
    row = await judged(whole("jury", *members, combine="majority"), context)
    assert (row.score, row.label) == (0.0, "refused")


async def test_the_jury_goes_on_without_a_member_that_failed_and_says_so(says):
    failed = Saying(CallFailed("timeout", "did not answer in time"))
    row = await judged(three("majority"), context_of(a=failed, b=Saying(YES), c=Saying(YES)))
    assert (row.score, row.status) == (1.0, "scored")
    says(row.rationale)
    says(row.metadata["members"][0]["error"])
    assert row.cost_usd == 1.0


async def test_with_half_of_its_members_a_jury_has_the_status_of_the_failure(says):
    failed = Saying(CallFailed("rate_limited", "too many"))
    row = await judged(three("mean"), context_of(a=failed, b=Saying(YES), c=failed))
    assert (row.status, row.score, row.error) == ("rate_limited", None, "too many")
    says(row.rationale)
    assert len(row.metadata["members"]) == 3
    assert row.usage == Usage(input=10, output=5)


async def test_a_member_without_its_input_is_no_vote(says):
    judge = whole(
        "jury", Member(judge="relevance"), Member(judge="answered"), Member(judge="context_overlap")
    )
    script = Saying({"verdict": True})

    async def ask(prompt):
        script.said = {"label": "answered"} if "label" in str(prompt.messages[0].content) else YES
        return await script(prompt)

    row = await judged(judge, context_of(ask))
    assert row.score == 1.0
    says(row.rationale)


async def test_members_are_asked_at_the_same_time():
    import asyncio

    under_way = most = 0

    async def ask(prompt):
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        under_way -= 1
        return await Saying(YES)(prompt)

    await judged(three("mean"), context_of(a=ask, b=ask, c=ask))
    assert most == 3


async def test_a_row_without_the_jurys_input_asks_nobody(says):
    asked = Saying(YES)
    row = await judged(three("mean"), context_of(a=asked, b=asked, c=asked), answered(reference=None))
    assert (row.status, asked.n_asked) == ("not_applicable", 0)
    says(row.model)


@given(lists(sampled_from([0.0, 0.5, 1.0, 2.0]), min_size=1, max_size=9))
def test_the_majority_is_what_counting_says(scores):
    counts = Counter(scores)
    most = max(counts.values())
    winners = [score for score, n in counts.items() if n == most]
    assert majority(scores) == (winners[0] if len(winners) == 1 else None)


@given(lists(floats(0, 1), min_size=1, max_size=9), sampled_from(["mean", "median"]))
def test_a_jury_lies_between_its_members(scores, combine):
    combined = COMBINED[combine](scores)
    assert min(scores) - 1e-9 <= combined <= max(scores) + 1e-9


DOWN = ModelError("nobody answers at http://localhost:1/v1")


async def test_a_member_whose_endpoint_is_down_has_failed_and_the_jury_goes_on(says):
    row = await judged(three("majority"), context_of(a=Saying(DOWN), b=Saying(YES), c=Saying(YES)))
    assert (row.score, row.status) == (1.0, "scored")
    assert row.metadata["members"][0]["status"] == "error"
    says(row.metadata["members"][0]["error"])


async def test_a_jury_of_which_no_model_can_be_had_ends_the_command_and_names_one(says):
    judge = whole("jury", Member(judge="containment"), Member(judge="relevance"))
    with pytest.raises(ModelError) as error:
        await judged(judge, context_of(Saying(DOWN)))
    says(error.value)


async def test_a_stopped_run_is_no_failure_of_a_member():
    with pytest.raises(CallsStopped):
        await judged(three("mean"), context_of(a=Saying(CallsStopped("stop")), b=Saying(YES), c=Saying(YES)))
