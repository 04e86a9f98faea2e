import msgspec
import pytest
from tests.support.scripted_judge import Scripted

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Answer, Context, Usage

ANSWER = Answer(
    question_id="q1",
    question="The harbour opened in 1901.",
    answer="In 1901.",
    reference="1901",
    contexts=[Context(text="The harbour opened in 1910.")],
)


def context(*replies):
    return JudgeContext(ask=Scripted(*replies), model="openai/test", secret=b"s")


def said(*verdicts):
    return [{"reason": f"reason {n}", "verdict": verdict} for n, verdict in enumerate(verdicts)]


def judge_of(name, n=3):
    return load_judge(f"{name}@temperature=0.7,samples={n}")


async def test_a_boolean_is_the_share_of_true_with_the_frequency_of_each():
    asked = context(*said(False, True, True))
    [row] = await judge_answer(judge_of("true_false"), ANSWER, asked)
    assert (row.status, row.score, row.rationale) == ("scored", pytest.approx(2 / 3), "reason 1")
    assert row.metadata == {
        "samples": {"asked": 3, "failed": 0, "scores": [0.0, 1.0, 1.0]},
        "frequencies": {"true": 2, "false": 1},
    }
    assert (row.usage, row.cost_usd) == (Usage(input=30, output=15, calls=3), 1.5)
    assert [(prompt.sample, prompt.temperature) for prompt in asked.ask.prompts] == [
        (n, 0.7) for n in range(3)
    ]


async def test_a_label_is_the_commonest_and_a_tie_goes_to_the_first_of_the_file():
    labels = ("refused", "asked_back", "asked_back", "refused")
    asked = context(*({"reason": label, "label": label} for label in labels))
    [row] = await judge_answer(judge_of("answered", 4), ANSWER, asked)
    assert (row.label, row.score, row.rationale) == ("refused", 0.0, "refused")
    assert row.metadata["frequencies"] == {"answered": 0, "refused": 2, "asked_back": 2}


async def test_a_graded_judge_gives_the_mean_and_the_reason_nearest_to_it():
    # mean of 0, 60, 90 is 50: the second is nearest
    asked = context(*({"reason": f"r{score}", "score": score} for score in (0, 60, 90)))
    [row] = await judge_answer(judge_of("correctness"), ANSWER, asked)
    assert (row.score, row.rationale, row.label) == (pytest.approx(50), "r60", None)
    assert row.metadata == {"samples": {"asked": 3, "failed": 0, "scores": [0, 60, 90]}}


async def test_each_criterion_has_its_mean():
    judge = judge_of("rubric", 2)
    names = judge.metrics[1:]
    replies = [
        {f"{name}_{what}": value for name in names for what, value in (("reason", "r"), ("score", grade))}
        for grade in (1, 3)
    ]
    rows = await judge_answer(judge, ANSWER, context(*replies))
    assert [row.score for row in rows] == [2.0] * (1 + len(names))


async def test_failed_samples_are_counted_and_half_are_enough():
    failure = CallFailed("unparsable", "no JSON", raw="?", usage=Usage(input=1, output=1))
    asked = context(failure, *said(True), failure, *said(True))
    [row] = await judge_answer(judge_of("true_false", 4), ANSWER, asked)
    assert (row.status, row.score) == ("scored", 1.0)
    assert row.metadata["samples"] == {"asked": 4, "failed": 2, "scores": [1, 1]}
    assert row.usage == Usage(input=22, output=12, calls=4)


async def test_with_fewer_than_half_the_row_has_the_commonest_failure(says):
    lost, late = CallFailed("unparsable", "no JSON", raw="?"), CallFailed("timeout", "too late")
    [row] = await judge_answer(judge_of("true_false", 4), ANSWER, context(*said(True), late, lost, lost))
    assert (row.status, row.score, row.metadata) == ("unparsable", None, {"raw": "?"})
    says(row.error)


async def test_a_row_with_nothing_to_check_in_most_samples_is_not_applicable():
    nothing = {"statements": []}
    judge = msgspec.structs.replace(load_judge("faithfulness"), temperature=0.7, samples=2)
    [row] = await judge_answer(judge, ANSWER, context(nothing, nothing))
    assert (row.status, row.score) == ("not_applicable", None)
    assert row.usage.calls == 2


def test_samples_at_temperature_0_are_refused(says):
    with pytest.raises(ConfigError) as error:
        load_judge("true_false@samples=3")
    says(error.value)
