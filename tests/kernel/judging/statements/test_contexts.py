import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.reading_model import ReadingModel, fenced
from tests.support.scripted_judge import Scripted

from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.contexts import (
    A_CALL,
    LABEL,
    LEAST_BYTES,
    MOST_BYTES,
    ContextPassage,
    cut_contexts,
    cut_text,
    room,
    show,
    take_best,
    take_next,
)
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Answer, Context

FAITHFULNESS = load_judge("faithfulness")
SUFFICIENCY = load_judge("context_sufficiency")
MOST = 200
CONTEXTS = st.lists(st.text(alphabet="ab.! \n।。é字", max_size=700), max_size=5)


@given(st.text(max_size=400), st.integers(min_value=1, max_value=60))
def test_cutting_a_text_loses_no_character_and_gives_no_part_too_long(text, most):
    parts = cut_text(text, most)
    assert "".join(parts) == text
    assert all(len(part) <= most for part in parts)


@given(CONTEXTS)
def test_every_character_of_every_context_that_is_not_blank_is_in_a_passage(texts):
    passages = cut_contexts(texts, MOST)
    for number, text in enumerate(texts, 1):
        parts = [passage for passage in passages if passage.number == number]
        assert "".join(part.text for part in parts) == (text if text.strip() else "")
        assert all(text[part.start :].startswith(part.text) for part in parts)
    assert all(len(passage.text) + LABEL <= MOST for passage in passages)


@given(CONTEXTS)
async def test_calls_show_every_passage_once_and_none_shows_more_than_fits(texts):
    left = passages = cut_contexts(texts, MOST)
    taken = []
    while left:
        now, left = await take_best(left, "a b", MOST)
        assert now
        assert len(show(now)) <= MOST
        taken += now
    assert sorted(taken, key=passages.index) == passages


@given(CONTEXTS)
def test_contexts_in_their_order_are_shown_once_as_well(texts):
    left = passages = cut_contexts(texts, MOST)
    taken = []
    while left:
        now, left = take_next(left, MOST)
        assert len(show(now)) <= MOST
        taken += now
    assert taken == passages


def test_no_call_asks_about_more_contexts_than_a_reply_has_room_for():
    now, left = take_next([ContextPassage(n, 0, "x") for n in range(1, 40)], 10_000)
    assert (len(now), len(left)) == (A_CALL, 39 - A_CALL)


def test_a_cut_stands_where_a_sentence_ends():
    assert cut_text("One is here. Two is there. Three.", 15) == ["One is here. ", "Two is there. ", "Three."]


def test_neighbouring_parts_of_a_context_are_shown_as_one_text_and_others_apart(says):
    parts = [
        ContextPassage(1, 0, "ab"),
        ContextPassage(1, 2, "cd"),
        ContextPassage(1, 9, "yz"),
        ContextPassage(2, 0, "e"),
    ]
    says(show(parts[::-1]))
    assert show(parts[:2], numbered=False) == "abcd"


async def test_what_has_most_in_common_with_the_statements_comes_first():
    passages = [ContextPassage(n, 0, f"filler {n} " * 8) for n in range(1, 6)]
    passages.append(ContextPassage(6, 0, "Rust is treated with fungicide. " * 2))
    first, left = await take_best(passages, "Rust is treated with oil.", 200)
    assert first[0].number == 6
    assert {passage.number for passage in left} == {1, 2, 3, 4, 5} - {passage.number for passage in first}


def test_room_is_what_the_window_leaves_and_no_more_than_the_default():
    text = "x" * 30_000
    context = JudgeContext(
        context_tokens=lambda model: {"small": 4096, "large": 100_000}[model], model="small"
    )
    # 4096 - 1200 (reply) - 300 (frame) = 2596 tokens of 3 bytes = 7788, less both prompts and 10 of question
    told = len(FAITHFULNESS.prompt.encode()) + len(FAITHFULNESS.verify.encode())
    assert room(FAITHFULNESS, context, [text], [FAITHFULNESS.verify, "y" * 10]) == 7788 - told - 10
    assert room(FAITHFULNESS, JudgeContext(), [text]) == MOST_BYTES
    large = JudgeContext(context_tokens=context.context_tokens, model="large")
    assert room(FAITHFULNESS, large, [text]) == MOST_BYTES
    assert room(FAITHFULNESS, large, [text], most_bytes=None) > 100_000
    tiny = JudgeContext(context_tokens=lambda _model: 10)
    assert room(FAITHFULNESS, tiny, [text]) == LEAST_BYTES


def test_scripts_of_several_bytes_a_character_have_room_for_fewer_characters():
    # each of these characters has three bytes in UTF-8
    assert room(FAITHFULNESS, JudgeContext(), ["字" * 9]) == MOST_BYTES // 3


# ---- yes or no, on contexts of any length


def sheet(*texts):
    contexts = None if texts == (None,) else [Context(text=text) for text in texts]
    return Answer(question_id="q", question="When is wheat sown?", answer="x", contexts=contexts)


async def sufficient(ask, *texts, tokens=None):
    context = JudgeContext(
        ask=ask, secret=b"s", context_tokens=None if tokens is None else lambda _model: tokens
    )
    [row] = await judge_answer(SUFFICIENCY, sheet(*texts), context)
    return row


async def test_contexts_that_fit_are_judged_in_one_call():
    row = await sufficient(ReadingModel(), "ENOUGH", "more")
    assert (row.score, row.usage.calls, row.metadata) == (1.0, 1, None)


async def test_longer_ones_suffice_if_a_part_of_them_does():
    ask = ReadingModel(limit=MOST_BYTES)
    texts = [f"Filler number {n}. " * 300 for n in range(6)]
    row = await sufficient(ask, *texts, "Wheat is sown in October: ENOUGH.")
    # it shares words with the question, so it is in the first call
    assert (row.score, row.usage.calls, row.metadata) == (1.0, 1, {"context_parts": 1})
    row = await sufficient(ask, *texts)
    assert (row.score, row.usage.calls, row.cost_usd) == (
        0.0,
        len(ask.prompts) - 1,
        0.5 * (len(ask.prompts) - 1),
    )
    assert row.metadata == {"context_parts": len(ask.prompts) - 1}


async def test_yes_or_no_uses_the_whole_window_of_the_model():
    row = await sufficient(ReadingModel(), *["Filler. " * 700] * 6, tokens=32_768)
    assert row.usage.calls == 1


async def test_where_nothing_was_retrieved_nothing_suffices_and_nobody_is_asked():
    row = await sufficient(Scripted())
    assert (row.score, row.rationale, row.usage.calls) == (0.0, "nothing was retrieved", 0)


async def test_a_judge_of_the_answer_is_asked_also_without_contexts():
    from pathlib import Path

    from ragstone.kernel.judging import parse_judge

    text = """
name = "grounded"
version = 1
kind = "boolean"
inputs = ["answer", "contexts"]
scale = [0, 1]
source = "ours"
prompt = "Does {answer} go beyond {contexts}?"
"""
    ask = Scripted({"reason": "r", "verdict": True})
    [row] = await judge_answer(parse_judge(text, Path("g.toml")), sheet(), JudgeContext(ask=ask, secret=b"s"))
    assert (row.score, len(ask.prompts)) == (1.0, 1)


async def test_a_part_that_fails_fails_the_row():
    row = await sufficient(Scripted(CallFailed("timeout", "slow")), "x")
    assert (row.status, row.score) == ("timeout", None)


@pytest.mark.parametrize("seed", range(3))
async def test_every_character_is_shown_to_some_call_where_no_part_suffices(seed):
    draw = random.Random(seed)
    words = [f"w{n}" for n in range(6000)]
    texts = [" ".join(words[start : start + 1500]) + "." for start in range(0, 6000, 1500)]
    draw.shuffle(texts)
    ask = ReadingModel(limit=MOST_BYTES)
    await sufficient(ask, *texts)
    shown = {word.strip(".") for prompt in ask.prompts for word in fenced("contexts", prompt).split()}
    assert shown.issuperset(words)
