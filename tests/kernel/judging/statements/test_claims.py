from pathlib import Path

import msgspec
import pytest
from tests.support.reading_model import ReadingModel, fenced
from tests.support.scripted_judge import Scripted

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge, parse_judge
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Answer, Judgement

CLAIMS = load_judge("claims")
ROW = Answer(question_id="q", question="?", answer="A. B. C", reference="A. B. D. E")


async def judged(row=ROW, ask=None):
    ask = ask or ReadingModel()
    return await judge_answer(CLAIMS, row, JudgeContext(ask=ask, secret=b"s")), ask


async def test_score_is_the_harmonic_mean_of_precision_and_recall(says):
    rows, ask = await judged()
    # A and B of A, B, C stand in the reference: 2/3; A and B of A, B, D, E stand in the answer: 2/4.
    # F1 = 2 * 2/3 * 1/2 / (2/3 + 1/2) = (2/3) / (7/6) = 4/7
    assert [(row.metric, row.score) for row in rows] == [
        ("claims", pytest.approx(4 / 7)),
        ("claim_precision", pytest.approx(2 / 3)),
        ("claim_recall", 0.5),
    ]
    assert len(ask.prompts) == rows[0].usage.calls == 4
    assert rows[1].usage is rows[2].usage is None
    says(rows[1].rationale)
    says(rows[2].rationale)


async def test_every_verdict_says_which_text_the_statement_is_of_and_has_a_number_of_its_own():
    [row, *_], _ = await judged()
    assert [(one.id, one.of, one.statement, one.supported) for one in row.verdicts] == [
        (1, "answer", "A", True),
        (2, "answer", "B", True),
        (3, "answer", "C", False),
        (4, "reference", "A", True),
        (5, "reference", "B", True),
        (6, "reference", "D", False),
        (7, "reference", "E", False),
    ]
    assert all(one.context is None for one in row.verdicts)
    assert msgspec.json.decode(msgspec.json.encode(row), type=Judgement) == row


async def test_answer_and_reference_change_places_and_are_read_by_the_same_prompts():
    _, ask = await judged()
    splits, checks = ask.prompts[:2], ask.prompts[2:]
    assert [fenced("answer", prompt) for prompt in splits] == [ROW.reference, ROW.answer]
    assert [fenced("reference", prompt) for prompt in checks] == [ROW.reference, ROW.answer]
    assert splits[0].messages[0] == splits[1].messages[0]
    assert checks[0].messages[0] == checks[1].messages[0]


async def test_swapping_answer_and_reference_swaps_precision_and_recall():
    swapped = msgspec.structs.replace(ROW, answer=ROW.reference, reference=ROW.answer)
    one, other = [[row.score for row in (await judged(row))[0]] for row in (ROW, swapped)]
    assert one == [other[0], other[2], other[1]]


async def test_nothing_in_common_is_zero_in_every_respect():
    rows, _ = await judged(msgspec.structs.replace(ROW, answer="X. Y"))
    assert [row.score for row in rows] == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("said", ["", "."])
async def test_a_refusal_recalls_nothing_and_has_no_precision(said, says):
    [whole, precision, recall], ask = await judged(msgspec.structs.replace(ROW, answer=said))
    assert (whole.score, recall.score) == (0.0, 0.0)
    assert (precision.status, precision.score) == ("not_applicable", None)
    says(whole.rationale)
    says("\n".join({one.reason for one in whole.verdicts}))
    assert len(ask.prompts) == 1 + bool(said)  # an empty answer is not shown to anybody


async def test_a_reference_that_states_nothing_is_not_applicable(says):
    rows, ask = await judged(msgspec.structs.replace(ROW, reference="..."))
    assert [row.status for row in rows] == ["not_applicable"] * 3
    says("\n".join(row.rationale for row in rows))
    assert len(ask.prompts) == 1


async def test_an_unanswerable_question_is_not_applicable_and_costs_no_call(says):
    rows, ask = await judged(msgspec.structs.replace(ROW, reference=None, answerable=False))
    assert {row.status for row in rows} == {"not_applicable"}
    assert "cannot be answered" in rows[0].rationale
    assert not ask.prompts
    missing, _ = await judged(msgspec.structs.replace(ROW, reference=None))
    says(missing[0].rationale)


async def test_of_several_references_the_nearest_counts():
    rows, _ = await judged(msgspec.structs.replace(ROW, reference=["X. Y. Z", "A. B. C", "A"]))
    assert [row.score for row in rows] == [1.0, 1.0, 1.0]


async def test_long_references_are_split_too():
    reference = ". ".join(f"Fact {n} holds" for n in range(3000))
    row = msgspec.structs.replace(ROW, answer="Fact 2999 holds. Fact 3001 holds", reference=reference)
    ask = ReadingModel(limit=12_000)
    rows, _ = await judged(row, ask)
    assert rows[1].score == 0.5
    assert rows[2].score == pytest.approx(1 / 3000)


async def test_a_statement_without_a_verdict_makes_all_three_unparsable():
    made = {"statements": [{"id": 1, "statement": "A"}]}
    rows, _ = await judged(ask=Scripted(made, made, {"verdicts": []}, {"verdicts": []}))
    assert [(row.status, row.score) for row in rows] == [("unparsable", None)] * 3


async def test_a_failed_call_fails_all_three():
    rows, _ = await judged(ask=Scripted(CallFailed("rate_limited", "later")))
    assert {row.status for row in rows} == {"rate_limited"}


async def test_samples_give_precision_the_mean_of_those_draws_that_have_one():
    made = {"statements": [{"id": 1, "statement": "A"}]}
    yes = {"verdicts": [{"id": 1, "reason": "r", "supported": True}]}
    no = {"verdicts": [{"id": 2, "reason": "r", "supported": False}]}
    draws = {0: [made, made, yes, no], 1: [made, {"statements": []}]}

    class Drawn:
        async def __call__(self, prompt):
            return await Scripted(draws[prompt.sample].pop(0))(prompt)

    judge = load_judge("claims@temperature=0.7,samples=2")
    rows = await judge_answer(judge, ROW, JudgeContext(ask=Drawn(), secret=b"s"))
    assert {row.metric: row.score for row in rows} == {
        "claims": 0.0,
        "claim_precision": 1.0,
        "claim_recall": 0.0,
    }


@pytest.mark.parametrize(
    ("inputs", "prompt", "verify", "says"),
    [
        ('"answer"', "{answer}", "{statements}", "checks against contexts, or answer and reference"),
        ('"answer", "contexts"', "{answer}", "{contexts}", r"verify does not name \{statements\}"),
        ('"contexts"', "{contexts}", "{statements}", "of contexts alone has no verify"),
        ('"answer", "contexts"', "{answer} {contexts}", "", "needs a verify"),
    ],
)
def test_a_judge_that_could_not_check_anything_is_refused(inputs, prompt, verify, says):
    text = f"""
name = "mine"
version = 1
kind = "statements"
inputs = [{inputs}]
scale = [0, 1]
source = "ours"
prompt = "{prompt}"
verify = "{verify}"
"""
    with pytest.raises(ConfigError, match=says):
        parse_judge(text, Path("mine.toml"))
