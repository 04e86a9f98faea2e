import asyncio

import pytest
from hypothesis import given
from hypothesis.strategies import sampled_from, text
from tests.kernel.judging.combined.sheets import answered, context_of
from tests.support.golden import check_prompt

from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging import judge_answer, load_judge, parse_judge
from ragstone.kernel.judging.pairwise import judge_pair, pair_answers, unpaired_notes
from ragstone.kernel.llm import CallFailed, Reply
from ragstone.kernel.llm.schema import validate
from ragstone.kernel.records import Answer, Usage

PAIRWISE = load_judge("pairwise")
ONE, OTHER = answered(system="A", answer="In May."), answered(system="B", answer="In June.")


class Comparing:
    """A model that says which of two places is better, by the answer that is shown first."""

    def __init__(self, when_a_first, when_b_first, a="In May."):
        self.said, self.a = (when_a_first, when_b_first), a
        self.prompts = []

    async def __call__(self, prompt):
        self.prompts.append(prompt)
        shown = prompt.messages[-1].content
        first = shown[shown.index("<answer_1") : shown.index("</answer_1")]
        said = self.said[0] if self.a in first else self.said[1]
        if isinstance(said, Exception):
            raise said
        value = validate(
            {"nonce": prompt.nonce, "reason": f"{said}.", "better": said}, prompt.reply, prompt.nonce
        )
        return Reply(text="", value=value, usage=Usage(input=10, output=5), latency_s=0.1, cost_usd=0.5)


async def compared(first, second, ask):
    [row] = await judge_pair(PAIRWISE, first, second, context_of(ask))
    return row


@pytest.mark.parametrize(
    ("when_a_first", "when_b_first", "score", "label", "orders", "flip"),
    [
        ("1", "2", 1.0, "A", ["A", "A"], False),
        ("2", "1", 0.0, "B", ["B", "B"], False),
        ("tie", "tie", 0.5, "tie", ["tie", "tie"], False),
        ("1", "tie", 0.5, "tie", ["A", "tie"], False),
        ("tie", "1", 0.5, "tie", ["tie", "B"], False),
        ("1", "1", 0.5, "tie", ["A", "B"], True),  # the first place wins, whoever stands there
        ("2", "2", 0.5, "tie", ["B", "A"], True),
    ],
)
async def test_only_who_wins_in_both_orders_wins(
    when_a_first, when_b_first, score, label, orders, flip, says
):
    row = await compared(ONE, OTHER, Comparing(when_a_first, when_b_first))
    assert (row.system, row.metric, row.score, row.label) == ("A vs B", "preference", score, label)
    assert row.metadata == {"orders": orders, "flip": flip}
    assert (row.usage, row.cost_usd) == (Usage(input=20, output=10, calls=2), 1.0)
    says(row.rationale)


async def test_a_reply_of_an_earlier_command_that_says_nothing_is_asked_for_anew():
    prompts = []

    async def ask(prompt):
        prompts.append(prompt)
        if not prompt.renew:
            raise CallFailed("unparsable", "no JSON", kept=True)
        return await Comparing("1", "2")(prompt)

    assert (await compared(ONE, OTHER, ask)).label == "A"
    assert [prompt.renew for prompt in prompts] == [False, False, True, True]


@given(sampled_from(["1", "2", "tie"]), sampled_from(["1", "2", "tie"]))
def test_swapping_the_systems_mirrors_the_score_and_a_flip_is_always_a_tie(when_a_first, when_b_first):
    ask = Comparing(when_a_first, when_b_first)
    row = asyncio.run(compared(ONE, OTHER, ask))
    mirrored = asyncio.run(compared(OTHER, ONE, ask))
    assert row.score + mirrored.score == 1
    assert (row.label, mirrored.system) == (mirrored.label, "B vs A")
    if row.metadata["flip"]:
        assert (row.score, row.label) == (0.5, "tie")


async def test_the_prompt_reads_as_it_did():
    ask = Comparing("1", "2")
    await compared(ONE, OTHER, ask)
    check_prompt("pairwise", ask.prompts[0].messages)


async def test_both_answers_are_fenced_and_stand_once_in_each_place():
    ask = Comparing("1", "2")
    await compared(ONE, OTHER, ask)
    shown = [prompt.messages[-1].content for prompt in ask.prompts]
    for prompt, (first, second) in zip(
        ask.prompts, [("In May.", "In June."), ("In June.", "In May.")], strict=True
    ):
        words = prompt.messages[-1].content
        assert f"<answer_1 {prompt.nonce}>\n{first}\n</answer_1 {prompt.nonce}>" in words
        assert f"<answer_2 {prompt.nonce}>\n{second}\n</answer_2 {prompt.nonce}>" in words
        assert prompt.messages[0].content == ask.prompts[0].messages[0].content
    assert len(set(shown)) == 2
    await compared(OTHER, ONE, ask)
    assert {prompt.messages[-1].content for prompt in ask.prompts} == set(shown)  # the ledger has them


async def test_the_same_answer_twice_is_a_tie_and_nobody_is_asked():
    ask = Comparing("1", "1")
    row = await compared(ONE, answered(system="B", answer=" In May.\n"), ask)
    assert (row.score, row.label, ask.prompts) == (0.5, "tie", [])


@given(text(max_size=20))
def test_whatever_an_answer_holds_stays_in_its_fence(said):
    ask = Comparing("1", "2", a="Marked A.")
    row = asyncio.run(compared(answered(system="A", answer=f"Marked A. {said}"), OTHER, ask))
    assert (row.score, row.label) == (1.0, "A")


async def test_an_error_of_either_system_is_app_error_and_a_budget_is_said():
    broken = answered(system="B", answer="", error="HTTP 500")
    for pair in ((ONE, broken), (broken, ONE)):
        row = await compared(*pair, Comparing("1", "2"))
        assert (row.status, row.error) == ("app_error", "HTTP 500")
    cut = answered(system="B", answer="", error="over_budget: the budget of 5 calls")
    assert (await compared(ONE, cut, Comparing("1", "2"))).status == "over_budget"


@pytest.mark.parametrize("failing", [0, 1])
async def test_a_failure_in_one_order_is_the_rows_and_what_the_other_took_is_counted(failing):
    said = ["1", "1"]
    said[failing] = CallFailed("timeout", "late", usage=Usage(input=1))
    row = await compared(ONE, OTHER, Comparing(*said))
    assert (row.status, row.score, row.error) == ("timeout", None, "late")
    assert row.usage == Usage(input=11, output=5, calls=2)


async def test_question_and_reference_may_stand_with_either(says):
    row = await compared(answered(system="A", answer="In May.", question=None), OTHER, Comparing("1", "2"))
    assert row.status == "scored"
    bare = [answered(system=name, question=None) for name in "AB"]
    says((await compared(*bare, Comparing("1", "2"))).rationale)


async def test_a_pairwise_judge_of_single_answers_says_what_it_needs(says):
    with pytest.raises(ConfigError) as error:
        await judge_answer(PAIRWISE, ONE, context_of(Comparing("1", "2")))
    says(error.value)


def row(question, system):
    return Answer(question_id=question, system=system, answer="x")


def test_every_two_systems_meet_on_each_question_in_order_of_appearance(says):
    rows = [row("q2", "B"), row("q1", "A"), row("q1", "C"), row("q1", "B"), row("q2", "A"), row("q3", "A")]
    pairs = [(one.question_id, one.system, two.system) for one, two in pair_answers(rows)]
    assert pairs == [("q2", "B", "A"), ("q1", "B", "A"), ("q1", "B", "C"), ("q1", "A", "C")]
    says("\n".join(unpaired_notes([PAIRWISE], rows)))
    assert unpaired_notes([PAIRWISE], rows[:-1]) == unpaired_notes([load_judge("containment")], rows) == []


def test_a_sheet_of_one_system_and_one_without_common_questions_have_no_pairs(says):
    with pytest.raises(DataError) as error:
        list(pair_answers([row("q1", "A"), row("q2", "A")]))
    says(error.value)
    with pytest.raises(DataError) as error:
        list(pair_answers([row("q1", "A"), row("q2", "B")]))
    says(error.value)
    assert list(pair_answers([])) == []


def test_a_system_that_answers_twice_is_told(says):
    with pytest.raises(DataError) as error:
        list(pair_answers([row("q1", "A"), row("q1", "A")]))
    says(error.value)


@pytest.mark.parametrize(
    ("inputs", "prompt", "more", "says"),
    [
        ('["question", "answer"]', "{question} {answer_1}", "", r"does not name \{answer_2\}"),
        ('["question"]', "{question} {answer_1} {answer_2}", "", r"names \{answer\}, which inputs"),
        (
            '["answer", "contexts"]',
            "{contexts} {answer_1} {answer_2}",
            "",
            "each answer has its own contexts",
        ),
        ('["answer"]', "{answer_1} {answer_2}", "temperature = 0.5\nsamples = 2", "leave out samples"),
    ],
)
def test_a_pairwise_file_that_is_wrong_is_told(tmp_path, inputs, prompt, more, says):
    given = (
        f'name = "mine"\nversion = 1\nkind = "pairwise"\ninputs = {inputs}\nscale = [0, 1]\n'
        f'source = "ours"\nprompt = "{prompt}"\n{more}\n'
    )
    with pytest.raises(ConfigError, match=says):
        parse_judge(given, tmp_path / "mine.toml")


def test_repeats_are_paired_by_their_number_and_never_with_each_other(says):
    names = ("A", "A@repeat=2", "A@repeat=3", "B", "B@repeat=2")
    rows = [answered(system=name, answer=f"By {name}.") for name in names]
    pairs = [(first.system, second.system) for first, second in pair_answers(rows)]
    assert pairs == [("A", "B"), ("A@repeat=2", "B@repeat=2")]
    assert unpaired_notes([PAIRWISE], rows) == []
    with pytest.raises(DataError) as error:
        list(pair_answers(rows[:3]))
    says(error.value)


async def test_a_repeated_pair_is_a_repeat_of_the_pair():
    first = answered(system="A@repeat=2", answer="In May.")
    second = answered(system="B@repeat=2", answer="In June.")
    row = await compared(first, second, Comparing("1", "2"))
    assert (row.system, row.label) == ("A vs B@repeat=2", "A")
