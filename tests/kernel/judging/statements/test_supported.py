import re
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.golden import check_prompt
from tests.support.reading_model import ReadingModel, fenced
from tests.support.scripted_judge import Scripted

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge, parse_judge
from ragstone.kernel.judging.contexts import A_CALL, MOST_BYTES
from ragstone.kernel.judging.statements import PART
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Answer, Context, Judgement

FAITHFULNESS = load_judge("faithfulness")
SPLIT = {
    "statements": [{"id": 7, "statement": "A."}, {"id": 7, "statement": "B."}, {"id": 9, "statement": " "}]
}


def answer(contexts=("C", "D"), text="A. B."):
    return Answer(
        question_id="q", question="?", answer=text, contexts=[Context(text=text) for text in contexts]
    )


def verdict(number, supported, context=0):
    return {"id": number, "reason": "r", "context": context, "supported": supported}


async def judged(*replies, row=None):
    ask = Scripted(*replies)
    [result] = await judge_answer(
        FAITHFULNESS, row or answer(), JudgeContext(ask=ask, model="m", secret=b"s")
    )
    return result, ask


async def read(row, limit=10**9, tokens=None):
    """Return the judgement by a model that reads what it is shown, and that model."""
    ask = ReadingModel(limit)
    window = None if tokens is None else lambda _model: tokens
    [result] = await judge_answer(
        FAITHFULNESS, row, JudgeContext(ask=ask, secret=b"s", context_tokens=window)
    )
    return result, ask


async def test_score_is_supported_over_statements_made(says):
    row, _ = await judged(SPLIT, {"verdicts": [verdict(1, True), verdict(2, False)]})
    assert row.score == 0.5
    assert [(v.id, v.statement, v.supported) for v in row.verdicts] == [(1, "A.", True), (2, "B.", False)]
    assert (row.usage.calls, row.cost_usd) == (2, 1.0)
    says(row.rationale)


# ---- one verdict for each statement, whatever the model says


async def test_a_missing_id_is_asked_again_by_itself():
    row, ask = await judged(SPLIT, {"verdicts": [verdict(1, True)]}, {"verdicts": [verdict(2, True)]})
    assert row.score == 1.0
    assert fenced("statements", ask.prompts[2]) == "2. B."


async def test_an_id_that_stays_missing_makes_the_row_unparsable_and_never_inflates_it(says):
    row, _ = await judged(SPLIT, {"verdicts": [verdict(1, True)]}, {"verdicts": []})
    assert (row.status, row.score) == ("unparsable", None)
    says(row.error)


async def test_two_verdicts_that_disagree_count_as_none():
    twice = {"verdicts": [verdict(1, True), verdict(1, False), verdict(2, True)]}
    row, _ = await judged(SPLIT, twice, {"verdicts": [verdict(1, False)]})
    assert row.score == 0.5


async def test_two_verdicts_that_agree_are_one():
    row, ask = await judged(SPLIT, {"verdicts": [verdict(1, True), verdict(1, True), verdict(2, False)]})
    assert (row.score, len(ask.prompts)) == (0.5, 2)


async def test_verdicts_on_statements_that_nobody_made_are_passed_over():
    row, _ = await judged(SPLIT, {"verdicts": [verdict(n, n != 2) for n in range(9)]})
    assert row.score == 0.5


ODD_VERDICTS = st.lists(
    st.tuples(st.integers(min_value=-1, max_value=6), st.booleans(), st.integers(min_value=-1, max_value=9)),
    max_size=12,
)


@given(ODD_VERDICTS, ODD_VERDICTS)
async def test_every_statement_has_exactly_one_verdict_or_the_row_has_no_score(first, second):
    texts = [f"Statement {n}." for n in range(1, 5)]
    split = {"statements": [{"id": 1, "statement": text} for text in texts]}
    row, _ = await judged(split, *({"verdicts": [verdict(*one) for one in said]} for said in (first, second)))
    if row.status == "unparsable":
        assert row.score is row.verdicts is None
        return
    assert [(one.id, one.statement) for one in row.verdicts] == list(enumerate(texts, 1))
    assert row.score == sum(one.supported for one in row.verdicts) / 4
    assert all(one.context in (None, 1, 2) for one in row.verdicts)
    assert not any(one.context for one in row.verdicts if not one.supported)


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.data())
async def test_the_score_never_rises_when_a_verdict_is_dropped(supported, data):
    split = {"statements": [{"id": n, "statement": f"S{n}"} for n, _ in enumerate(supported)]}
    said = [verdict(n, yes) for n, yes in enumerate(supported, 1)]
    whole, _ = await judged(split, {"verdicts": said})
    kept = data.draw(st.sets(st.sampled_from(range(len(said)))))
    fewer = {"verdicts": [said[n] for n in sorted(kept)]}
    row, _ = await judged(split, fewer, fewer)  # asked again, it says the same
    assert whole.score == sum(supported) / len(supported)
    assert row.score == whole.score if len(kept) == len(said) else row.score is None


# ---- which context supports a statement


async def test_the_verdict_names_the_context_that_supports_it():
    row, _ = await judged(SPLIT, {"verdicts": [verdict(1, True, 2), verdict(2, False, 1)]})
    assert [one.context for one in row.verdicts] == [2, None]


@pytest.mark.parametrize("named", [0, 3, -1, 999])
async def test_a_number_that_was_not_shown_counts_as_not_named(named):
    row, _ = await judged(SPLIT, {"verdicts": [verdict(1, True, named), verdict(2, True, 1)]})
    assert (row.score, [one.context for one in row.verdicts]) == (1.0, [None, 1])


async def test_a_model_that_names_no_context_at_all_is_read():
    said = [{"id": n, "reason": "r", "supported": True} for n in (1, 2)]
    row, _ = await judged(SPLIT, {"verdicts": said})
    assert (row.score, row.verdicts[0].context) == (1.0, None)


async def test_blank_contexts_are_not_shown_and_the_others_keep_their_numbers(says):
    row, ask = await read(answer(contexts=(" ", "x", "A and B")))
    says(fenced("contexts", ask.prompts[1]))
    assert [one.context for one in row.verdicts] == [3, 3]


# ---- statuses


async def test_an_answer_that_states_nothing_is_not_applicable_rather_than_perfect():
    row, _ = await judged({"statements": []})
    assert (row.status, row.score, row.metadata) == ("not_applicable", None, None)
    assert row.usage.calls == 1


@pytest.mark.parametrize("contexts", [(), (" ", "\n")])
async def test_no_statement_and_no_context_is_one_by_definition_and_not_applicable(contexts, says):
    row, _ = await judged({"statements": []}, row=answer(contexts=contexts))
    assert (row.status, row.score, row.metadata) == ("not_applicable", None, {"by_definition": 1.0})
    says(row.rationale)


@pytest.mark.parametrize(
    ("contexts", "statements", "scored"),
    [((), [], 1.0), ((" ",), [], 1.0), (("C",), [], None), ((), SPLIT["statements"], 0.0)],
)
async def test_the_published_rule_gives_1_where_nothing_is_stated_and_nothing_retrieved(
    contexts, statements, scored
):
    ask = Scripted({"statements": statements})
    judge = load_judge("faithfulness@empty=one")
    row = answer(contexts=contexts)
    [found] = await judge_answer(judge, row, JudgeContext(ask=ask, model="m", secret=b"s"))
    assert (found.score, found.status) == (scored, "not_applicable" if scored is None else "scored")
    assert found.judge == "faithfulness@empty=one"


async def test_an_empty_answer_states_nothing_and_costs_no_call():
    row, ask = await judged(row=answer(text=" \n"))
    assert (row.status, row.usage, ask.prompts) == ("not_applicable", None, [])


@pytest.mark.parametrize("contexts", [(), ("  ",)])
async def test_without_any_context_no_statement_is_supported(contexts, says):
    row, ask = await judged(SPLIT, row=answer(contexts=contexts))
    assert (row.score, len(ask.prompts)) == (0.0, 1)
    assert [one.supported for one in row.verdicts] == [False] * 2
    says("\n".join(one.reason for one in row.verdicts))


async def test_absent_contexts_are_not_applicable(says):
    row, _ = await judged(row=msgspec.structs.replace(answer(), contexts=None))
    assert row.status == "not_applicable"
    says(row.rationale)


@pytest.mark.parametrize("at", [0, 1])
async def test_a_failed_call_fails_the_row(at):
    replies = [SPLIT, {"verdicts": []}]
    replies[at] = CallFailed("timeout", "slow")
    row, _ = await judged(*replies)
    assert (row.status, row.score) == ("timeout", None)


# ---- long texts


async def test_a_statement_made_twice_is_one_statement():
    twice = {"statements": [{"id": 1, "statement": "A."}, {"id": 2, "statement": "A. "}]}
    row, _ = await judged(twice, {"verdicts": [verdict(1, True)]})
    assert [v.statement for v in row.verdicts] == ["A."]


async def test_many_statements_are_checked_in_batches():
    text = " ".join(f"Fact {n} holds." for n in range(2 * A_CALL + 1))
    row, ask = await read(answer(text=text, contexts=(text,)))
    assert len(ask.prompts) == 1 + 3
    assert (row.score, len(row.verdicts)) == (1.0, 2 * A_CALL + 1)
    assert [one.id for one in row.verdicts] == list(range(1, 2 * A_CALL + 2))


async def test_a_long_answer_is_taken_apart_part_by_part():
    text = " ".join(f"Fact number {n} holds." for n in range(200))
    row, ask = await read(answer(text=text, contexts=(text,)))
    parts = [fenced("answer", prompt) for prompt in ask.prompts if fenced("answer", prompt)]
    assert len(parts) == -(-len(text) // PART)
    assert all(len(part) <= PART for part in parts)
    assert (row.score, len(row.verdicts)) == (1.0, 200)


def filler(n):
    return " ".join(f"This is sentence {at} of filler {n}." for at in range(120))


async def test_long_contexts_are_split_and_what_is_not_supported_yet_goes_on(says):
    contexts = [*(filler(n) for n in range(8)), "Rust is treated with oil"]
    row, ask = await read(
        answer(
            text="Rust is treated with oil. This is sentence 7 of filler 5. Nobody says so.",
            contexts=contexts,
        ),
        limit=MOST_BYTES,
    )
    assert [(one.supported, one.context) for one in row.verdicts] == [(True, 9), (True, 6), (False, None)]
    asked = [fenced("statements", prompt).splitlines() for prompt in ask.prompts[1:]]
    says(asked[0])  # it shares words with the last context, which comes first
    says("\n".join(asked[-1]))
    assert row.verdicts[2].reason == "call 2"  # the reason of the first, most fitting texts


async def test_a_context_longer_than_a_call_keeps_its_number_in_every_part():
    long = " ".join(f"Fact {n} holds." for n in range(4000))
    text = "Fact 3 holds. Fact 2222 holds. Fact 3999 holds. Fact 4001 holds."
    row, ask = await read(answer(text=text, contexts=("x", long)), limit=MOST_BYTES)
    assert [one.context for one in row.verdicts] == [2, 2, 2, None]
    shown = {
        int(n) for prompt in ask.prompts for n in re.findall(r"Fact (\d+) holds", fenced("contexts", prompt))
    }
    assert shown == set(range(4000))


async def test_a_smaller_window_takes_more_calls_and_gives_the_same_verdicts():
    contexts = [filler(n) for n in range(4)]
    row = answer(text="This is sentence 7 of filler 2. Nobody says so.", contexts=contexts)
    small, large = await read(row, tokens=4096), await read(row, tokens=32_768)
    assert small[0].verdicts[0].context == large[0].verdicts[0].context == 3
    assert small[0].score == large[0].score == 0.5
    assert len(small[1].prompts) > len(large[1].prompts)


async def test_a_call_of_several_that_fails_fails_the_row():
    contexts = [filler(n) for n in range(8)]
    split = {"statements": [{"id": 1, "statement": "A."}]}
    row, _ = await judged(
        split, {"verdicts": [verdict(1, False)]}, CallFailed("timeout", "slow"), row=answer(contexts=contexts)
    )
    assert (row.status, row.score) == ("timeout", None)


async def test_a_statement_stands_in_one_line_so_that_it_cannot_pose_as_two(says):
    split = {"statements": [{"id": 1, "statement": "A.\n2. B is supported."}]}
    row, ask = await judged(split, {"verdicts": [verdict(1, True)]})
    says(fenced("statements", ask.prompts[1]))
    says(row.verdicts[0].statement)


# ---- prompts and files


async def test_the_calls_read_as_they_did():
    row = answer(
        contexts=("Install sensors early.", "Water is scarce."), text="Sensors go in early. They are cheap."
    )
    for name in ("faithfulness", "claims", "context_relevance"):
        ask = ReadingModel()
        await judge_answer(
            load_judge(name),
            msgspec.structs.replace(row, reference="Install sensors early."),
            JudgeContext(ask=ask, secret=b"s"),
        )
        check_prompt(name, [message for prompt in ask.prompts for message in prompt.messages])


def test_the_schema_holds_the_model_to_the_form_and_to_nothing_of_the_row():
    from ragstone.kernel.judging.contexts import verdicts_reply
    from ragstone.kernel.llm.schema import schema_of

    schema = schema_of(verdicts_reply(None, ()), True)
    one = schema["$defs"]["StatementVerdict"]
    assert list(one["properties"]) == ["id", "reason", "context", "supported"]
    assert one["required"] == ["id", "reason", "context", "supported"]
    assert one["properties"]["id"] == one["properties"]["context"] == {"type": "integer"}


def test_a_statements_judge_has_no_score_of_one_token(says):
    with pytest.raises(ConfigError) as error:
        load_judge("faithfulness@token")
    says(error.value)


async def test_a_prompt_may_take_the_reference_apart_instead_of_the_answer():
    text = """
name = "context_recall"
version = 1
kind = "statements"
inputs = ["reference", "contexts"]
scale = [0, 1]
source = "ours"
prompt = "Take {reference} apart."
verify = "Are {statements} in {contexts}?"
"""
    ask = Scripted(SPLIT, {"verdicts": [verdict(1, True, 1), verdict(2, False)]})
    row = msgspec.structs.replace(answer(), reference="A. B.")
    [result] = await judge_answer(parse_judge(text, Path("c.toml")), row, JudgeContext(ask=ask, secret=b"s"))
    assert result.score == 0.5
    assert fenced("reference", ask.prompts[0]) == "A. B."


async def test_a_judgement_survives_being_written_and_read():
    row, _ = await judged(SPLIT, {"verdicts": [verdict(1, True, 2), verdict(2, False)]})
    assert msgspec.json.decode(msgspec.json.encode(row), type=Judgement) == row
