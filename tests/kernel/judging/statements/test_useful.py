import pytest
from tests.support.reading_model import ReadingModel, fenced
from tests.support.scripted_judge import Scripted

from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.contexts import A_CALL, MOST_BYTES
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Answer, Context

JUDGE = load_judge("context_relevance")


async def judged(texts, ask=None):
    ask = ask or ReadingModel()
    row = Answer(question_id="q", question="?", answer="x", contexts=[Context(text=text) for text in texts])
    [result] = await judge_answer(JUDGE, row, JudgeContext(ask=ask, secret=b"s"))
    return result, ask


def said(*verdicts):
    return {"verdicts": [{"id": n, "reason": "r", "useful": useful} for n, useful in verdicts]}


async def test_score_is_the_share_of_contexts_that_are_of_use(says):
    row, ask = await judged(["a USEFUL one", "b", "c", "USEFUL too"])
    assert row.score == 0.5
    says(row.rationale)
    assert len(ask.prompts) == 1
    assert [(one.id, one.context, one.of, one.supported) for one in row.verdicts] == [
        (1, 1, "contexts", True),
        (2, 2, "contexts", False),
        (3, 3, "contexts", False),
        (4, 4, "contexts", True),
    ]
    assert row.verdicts[0].statement == "a USEFUL one"


async def test_a_verdict_shows_the_beginning_of_its_context_in_one_line():
    row, _ = await judged(["word\n" * 100])
    assert row.verdicts[0].statement == "word " * 31 + "word…"


async def test_where_nothing_was_retrieved_it_does_not_apply(says):
    row, ask = await judged([])
    assert row.status == "not_applicable"
    says(row.rationale)
    assert not ask.prompts


async def test_a_blank_context_is_of_no_use_and_not_shown(says):
    row, ask = await judged(["USEFUL", "  "])
    assert row.score == 0.5
    says(row.verdicts[1].reason)
    assert fenced("contexts", ask.prompts[0]) == "[1] USEFUL"
    row, ask = await judged([" ", ""])
    assert (row.score, row.usage.calls) == (0.0, 0)


async def test_a_missing_context_is_asked_again_by_itself():
    ask = Scripted(said((1, True)), said((2, False)))
    row, _ = await judged(["a", "b"], ask)
    assert row.score == 0.5
    assert fenced("contexts", ask.prompts[1]) == "[2] b"


@pytest.mark.parametrize("again", [said(), said((1, True)), said((2, True), (2, False)), said((7, True))])
async def test_a_context_without_a_verdict_of_its_own_makes_the_row_unparsable(again, says):
    row, _ = await judged(["a", "b"], Scripted(said((1, True)), again))
    assert row.status == "unparsable"
    says(row.error)


async def test_many_contexts_take_several_calls():
    row, ask = await judged(["USEFUL"] * (A_CALL + 1))
    assert (row.score, len(ask.prompts)) == (1.0, 2)


async def test_a_long_context_is_of_use_if_any_part_is_and_its_other_parts_are_not_asked_about():
    filler = " ".join(f"Sentence {n} of filler." for n in range(800))
    ask = ReadingModel(limit=MOST_BYTES)
    row, _ = await judged(["short", f"{filler} USEFUL. {filler}", filler], ask)
    assert [one.supported for one in row.verdicts] == [False, True, False]
    assert len(ask.prompts) > 2
    shown = "".join(fenced("contexts", prompt) for prompt in ask.prompts)
    assert shown.count("Sentence 799 of filler.") == 2  # before USEFUL and in the third; not after USEFUL


async def test_a_failed_call_fails_the_row():
    row, _ = await judged(["a"], Scripted(CallFailed("timeout", "slow")))
    assert (row.status, row.score) == ("timeout", None)
