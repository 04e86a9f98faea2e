import pytest
from tests.support.scripted_judge import Scripted

from ragstone.kernel.judging import JudgeContext, judge_answer, judge_names, load_judge
from ragstone.kernel.llm import DEADLINE, CallFailed
from ragstone.kernel.records import Answer, Context, Usage

ANSWER = Answer(
    question_id="q1",
    system="mine",
    question="When should sensors be installed?",
    reference="early in the season",
    answer="Early.",
    contexts=[Context(text="Install sensors early.", document_id="d1")],
)


def context(*replies):
    return JudgeContext(ask=Scripted(*replies), model="openai/test", secret=b"secret")


async def test_percentage_gives_the_score_with_its_reason():
    [row] = await judge_answer(
        load_judge("correctness"), ANSWER, context({"reason": "The one point.", "score": 100})
    )
    assert (row.status, row.score, row.scale, row.rationale) == ("scored", 100.0, (0, 100), "The one point.")
    assert (row.question_id, row.system, row.judge, row.metric) == (
        "q1",
        "mine",
        "correctness",
        "correctness",
    )
    assert (row.model, row.prompt_version, row.usage, row.cost_usd) == (
        "openai/test",
        2,
        Usage(input=10, output=5),
        0.5,
    )


async def test_boolean_gives_1_or_0():
    [yes] = await judge_answer(load_judge("relevance"), ANSWER, context({"reason": "x", "verdict": True}))
    [no] = await judge_answer(load_judge("relevance"), ANSWER, context({"reason": "x", "verdict": False}))
    assert (yes.score, no.score) == (1.0, 0.0)


async def test_a_label_has_the_score_of_its_table():
    [row] = await judge_answer(
        load_judge("answered"), ANSWER, context({"reason": "x", "label": "asked_back"})
    )
    assert (row.label, row.score) == ("asked_back", 0.0)


async def test_a_baseline_asks_no_model_and_takes_the_best_alternative():
    answer = Answer(question_id="q", answer="It is Skorpio", reference=["Leo", "Scorpio/Skorpio"])
    [row] = await judge_answer(load_judge("containment"), answer, JudgeContext())
    assert (row.score, row.model, row.metric) == (1.0, "none", "correctness")


async def test_similarity_is_the_cosine_with_the_nearest_reference():
    import numpy as np

    vectors = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.6, 0.8]}

    async def embed(texts, _role):
        return [np.array(vectors[text], dtype=np.float32) for text in texts]

    answer = Answer(question_id="q", answer="a", reference=["b", "c"])
    [row] = await judge_answer(load_judge("similarity"), answer, JudgeContext(embed=embed))
    assert row.score == pytest.approx(0.6)


@pytest.mark.parametrize(
    "status", ["timeout", "rate_limited", "over_budget", "refused", "unparsable", "error"]
)
async def test_a_failed_call_is_a_status_and_never_a_score(status):
    failure = CallFailed(status, "it went wrong", raw="what it said")
    [row] = await judge_answer(load_judge("correctness"), ANSWER, context(failure))
    assert (row.status, row.score, row.error) == (status, None, "it went wrong")
    assert row.metadata == {"raw": "what it said"}


@pytest.mark.parametrize("name", judge_names())
async def test_a_row_whose_system_failed_is_app_error_for_every_judge(name):
    judge = load_judge(name)
    rows = await judge_answer(judge, Answer(question_id="q", answer="", error="HTTP 500"), context())
    assert [row.metric for row in rows] == judge.metrics
    assert {(row.status, row.score, row.error) for row in rows} == {("app_error", None, "HTTP 500")}


async def test_a_row_that_the_budget_cut_off_is_over_budget():
    answer = Answer(question_id="q", answer="", error="over_budget: the budget of 5 calls")
    assert (await judge_answer(load_judge("containment"), answer, context()))[0].status == "over_budget"


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (f"timeout: {DEADLINE} (60 s) came before a reply", "timeout"),
        ("timeout: did not answer in time", "app_error"),
    ],
)
async def test_a_row_that_the_deadline_of_the_run_cut_off_is_no_failure_of_the_application(error, status):
    answer = Answer(question_id="q", answer="", error=error)
    assert (await judge_answer(load_judge("containment"), answer, context()))[0].status == status


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        ("correctness", "reference"),
        ("containment", "reference"),
        ("similarity", "reference"),
        ("relevance", "question"),
        ("faithfulness", "contexts"),
        ("context_overlap", "contexts"),
    ],
)
async def test_a_row_that_lacks_an_input_is_not_applicable_and_says_which(name, missing, says):
    import msgspec

    answer = msgspec.structs.replace(ANSWER, **{missing: None})
    [row] = await judge_answer(
        load_judge(name), answer, JudgeContext(embed=lambda *_: None) if name == "similarity" else context()
    )
    assert (row.status, row.score) == ("not_applicable", None)
    says(row.rationale)


async def test_an_unanswerable_question_has_a_reference_that_says_so(says):
    import msgspec

    answer = msgspec.structs.replace(ANSWER, reference=None, answerable=False)
    asked = context({"reason": "x", "score": 0})
    [row] = await judge_answer(load_judge("correctness"), answer, asked)
    assert row.status == "scored"
    says(asked.ask.prompts[0].messages[-1].content)
    assert (await judge_answer(load_judge("containment"), answer, JudgeContext()))[
        0
    ].status == "not_applicable"


async def test_without_a_model_a_judge_that_needs_one_is_a_mistake_of_the_caller():
    with pytest.raises(ValueError, match="asks a model"):
        await judge_answer(load_judge("correctness"), ANSWER, JudgeContext())


@pytest.mark.parametrize("asked", [{"ask": Scripted()}, {"others": {"openai/b": Scripted()}}])
def test_whoever_gives_a_model_to_ask_gives_the_secret(asked, says):
    with pytest.raises(ValueError) as error:
        JudgeContext(**asked)
    says(error.value)
    assert JudgeContext(**asked, secret=b"s").secret == b"s"
