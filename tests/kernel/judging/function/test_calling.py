"""What a function is given, and what becomes of what it does."""

import asyncio
import threading
import time

import msgspec
import numpy as np
import pytest
from tests.support.scripted_judge import Scripted

from ragstone.kernel.judging import JudgeContext, judge_answer
from ragstone.kernel.judging.finding import Finding
from ragstone.kernel.judging.function.judge import judge_of
from ragstone.kernel.judging.function.loading import judge_function
from ragstone.kernel.llm import CallFailed, Reply
from ragstone.kernel.records import Answer, Context, Usage

ROW = Answer(
    question_id="q1",
    question="Which crop grew?",
    reference=["Red clover", "clover"],
    answer="Red clover.",
    contexts=[Context(text="In 2019 red clover grew."), Context(text="The barn was painted.")],
    latency_s=0.0,
    metadata={"persona": "farmer", "notes": ["a"]},
)


async def judged(function, row=ROW, context=None):
    [judgement] = await judge_answer(judge_of(function), row, context or JudgeContext())
    return judgement


def outcome(row):
    return row.status, row.score, row.label, row.rationale


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        (True, 1.0),
        (False, 0.0),
        (1, 1.0),
        (0.25, 0.25),
        (np.float32(0.5), 0.5),
        (np.bool_(True), 1.0),
        (np.array(0.75), 0.75),
        (1 + 1e-12, 1.0),  # a sum of floats
        (Finding(score=0.5), 0.5),
    ],
)
async def test_numbers_and_truths_are_scores(returned, expected):
    row = await judged(named(lambda answer: returned))
    assert (row.status, row.score, row.model, row.judge) == ("scored", expected, "none", "mine")


def named(function, **declared):
    return judge_function(name="mine", **declared)(function)


async def test_true_is_the_highest_score_of_the_scale():
    row = await judged(named(lambda answer: True, scale=(1, 5)))
    assert (row.score, row.scale) == (5, (1, 5))


@pytest.mark.parametrize(
    ("returned", "says"),
    [
        (float("nan"), "returned nan, which is not a number"),
        (float("inf"), "returned inf, which is not a number"),
        (7, r"returned 7, which is not on its scale of 0 to 1: declare the right one, .*scale="),
        (-0.1, "not on its scale"),
        (None, "returned nothing: return a number"),
        ([1], r"returned list \('\[1\]'\)"),
        ("good", "returned the label 'good', and it declares no labels: declare its score"),
        (Finding(score=None), "a Finding of status 'scored' with score None"),
        (Finding(score=1, status="error"), "a Finding of status 'error' with score 1"),
        (Finding(score=None, status="sure"), "a Finding of status 'sure'"),
    ],
)
async def test_what_is_no_score_is_unparsable_and_told_with_file_and_line(returned, says):
    row = await judged(named(lambda answer: returned))
    assert (row.status, row.score) == ("unparsable", None)
    assert row.error is not None
    with pytest.raises(AssertionError, match=says):
        raise AssertionError(row.error)
    assert "(test_calling.py, line" in row.error


async def test_a_label_has_the_score_that_is_declared(says):
    labels = {"friendly": 1, "rude": 0}
    assert outcome(await judged(named(lambda answer: "rude", labels=labels))) == ("scored", 0, "rude", None)
    reasoned = Finding(score=None, label="friendly", rationale="It greets.")
    row = await judged(named(lambda answer: reasoned, labels=labels))
    assert outcome(row) == ("scored", 1, "friendly", "It greets.")
    row = await judged(named(lambda answer: "dry", labels=labels))
    says(row.error)


async def test_a_finding_may_have_another_status():
    row = await judged(named(lambda answer: Finding(score=None, status="abstained", rationale="no idea")))
    assert outcome(row) == ("abstained", None, None, "no idea")


async def test_an_exception_is_the_status_error_with_the_line_of_the_function_and_not_of_a_library(says):
    def reads(answer):
        return msgspec.json.decode(answer)

    row = await judged(reads)
    assert row.status == "error"
    assert row.error.startswith("reads raised msgspec.DecodeError: ")
    says(row.error)
    assert "(test_calling.py, line" in row.error


@pytest.mark.parametrize("kind", [SystemExit, StopIteration, KeyError])
async def test_nothing_that_a_function_raises_ends_the_run(kind):
    def leaves(answer):
        raise kind("now")

    async def leaves_too(answer):
        raise kind("now")

    assert (await judged(leaves)).status == "error"
    if kind is not StopIteration:  # which a coroutine cannot raise
        assert (await judged(leaves_too)).status == "error"


async def test_a_function_that_hangs_is_a_timeout_and_the_next_row_has_its_turn(says):
    go = threading.Event()

    def hangs(answer):
        go.wait()
        return 1

    async def waits(answer):
        await asyncio.Event().wait()

    row = await judged(judge_function(timeout_s=0.5)(hangs))
    assert (row.status, row.score) == ("timeout", None)
    says(row.error.partition(") ")[2])
    assert (await judged(judge_function(timeout_s=0.05)(waits))).status == "timeout"
    go.set()
    assert (await judged(hangs)).status == "scored"


async def test_a_row_that_is_changed_is_an_error_and_stays_as_it_was(says):
    def spoils(row):
        row.metadata["notes"].append("b")
        return 1

    def sorts(contexts):
        contexts.sort(key=len)
        return 1

    def replaces(row):
        row.answer = "other"
        return 1

    before = msgspec.json.encode(ROW)
    assert "spoils (test_calling.py, line" in (await judged(spoils)).error
    says((await judged(spoils)).error)
    assert (await judged(sorts)).status == "error"
    assert "AttributeError: immutable type" in (await judged(replaces)).error
    assert msgspec.json.encode(ROW) == before


async def test_parts_of_the_row_are_given_by_name():
    given = {}

    def takes(question, answer, reference, references, contexts, metadata, persona, latency_s, row):
        given.update(locals())
        return 1

    assert (await judged(takes)).status == "scored"
    assert given.pop("row") == ROW
    del given["given"]
    assert given == {
        "question": "Which crop grew?",
        "answer": "Red clover.",
        "reference": ["Red clover", "clover"],
        "references": ["Red clover", "clover"],
        "contexts": ["In 2019 red clover grew.", "The barn was painted."],
        "metadata": {"persona": "farmer", "notes": ["a"]},
        "persona": "farmer",
        "latency_s": 0.0,
    }


async def test_a_part_that_is_missing_makes_the_row_not_applicable_unless_it_has_a_default(says):
    def strict(answer, guidelines):
        return 1

    def lenient(answer, guidelines="be kind"):
        return guidelines == "be kind"

    row = await judged(strict)
    assert outcome(row)[:3] == ("not_applicable", None, None)
    says(outcome(row)[3])
    assert (await judged(lenient)).score == 1
    bare = Answer(question_id="q", answer="x", answerable=False)
    assert (await judged(lambda_of("reference"), bare)).status == "not_applicable"
    says((await judged(lambda_of("question"), bare)).rationale)


def lambda_of(name):
    return named(eval(f"lambda {name}: 1"))


async def test_an_answer_that_failed_is_no_fault_of_the_judge():
    row = await judged(lambda_of("answer"), Answer(question_id="q", answer="", error="HTTP 500"))
    assert (row.status, row.error) == ("app_error", "HTTP 500")


async def test_calls_through_ask_are_paid_for_in_the_judgement():
    def twice(answer, ask):
        first, second = ask(f"Is it kind? {answer}"), ask("Really?")
        return Finding(score=1, rationale=f"{first} {second}")

    async def once(answer, ask):
        return (await ask("How kind?", reply=Grade)).score

    context = JudgeContext(ask=says, model="openai/test", secret=b"s")
    row = await judged(twice, context=context)
    assert (row.model, row.usage.input, row.cost_usd) == ("openai/test", 20, 1.0)
    assert row.rationale == "So you ask: Is it kind? Red clover. So you ask: Really?"
    row = await judged(once, context=JudgeContext(ask=Scripted({"score": 1}), model="m", secret=b"s"))
    assert (row.score, row.usage.calls) == (1, 1)


class Grade(msgspec.Struct):
    score: int


async def says(prompt):
    words = f"So you ask: {prompt.messages[0].content}"
    return Reply(text=words, value=None, usage=Usage(input=10, output=5), latency_s=0.1, cost_usd=0.5)


async def test_a_call_that_fails_gives_the_row_its_status_even_where_the_function_wraps_it():
    def wraps(answer, ask):
        try:
            ask("Is it kind?")
        except Exception as mistake:
            raise RuntimeError("asking failed") from mistake

    async def refuses(_prompt):
        raise CallFailed("rate_limited", "too many")

    context = JudgeContext(ask=refuses, model="m", secret=b"s")
    row = await judged(wraps, context=context)
    assert (row.status, row.error) == ("rate_limited", "too many")


@pytest.mark.long
async def test_time_in_which_it_waits_for_a_model_is_not_its_own():
    async def slow(prompt):
        await asyncio.sleep(0.6)
        return await says(prompt)

    def asks(answer, ask):
        ask("?")
        return 1

    context = JudgeContext(ask=slow, model="m", secret=b"s")
    assert (await judged(judge_function(timeout_s=0.5)(asks), context=context)).status == "scored"


async def test_retriever_and_embedder_are_given_to_whom_they_are_named():
    async def retrieve(query, k):
        return [Context(text=f"{query} {k}")]

    async def embed(texts, role):
        return [np.array([1.0, 0.0], dtype=np.float32) for _ in texts]

    def looks(answer, retriever, embedder):
        [found] = retriever(answer, 2)
        one, other = embedder([answer, found.text])
        return Finding(score=float(one @ other), rationale=found.text)

    row = await judged(looks, context=JudgeContext(retrieve=retrieve, embed=embed))
    assert outcome(row) == ("scored", 1.0, None, "Red clover. 2")


async def test_plain_functions_run_one_at_a_time_unless_they_say_otherwise():
    running, most, one_at_a_time, together = 0, 0, threading.Lock(), threading.Barrier(1)

    def counts(answer):
        nonlocal running, most
        with one_at_a_time:
            running += 1
            most = max(most, running)
        together.wait()
        time.sleep(0.01)
        with one_at_a_time:
            running -= 1
        return 1

    async def most_of(function, n=1):
        nonlocal most, together
        most, together = 0, threading.Barrier(n)
        judge = judge_of(function)
        await asyncio.gather(*(judge_answer(judge, ROW, JudgeContext()) for _ in range(6)))
        return most

    assert await most_of(counts) == 1
    assert await most_of(judge_function(at_once=3)(counts), 3) == 3
