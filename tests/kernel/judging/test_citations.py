import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.golden import check_prompt
from tests.support.reading_model import ReadingModel, fenced

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge, parse_judge
from ragstone.kernel.judging.citation_marks import cited_statements
from ragstone.kernel.judging.citations import word_support
from ragstone.kernel.records import Answer, Context

CLOVER, MAIZE, WHEAT = (
    "Clover fixes nitrogen in the soil.",
    "Maize is sown in May.",
    "Wheat is sown in October and needs water.",
)
CONTEXTS = [
    Context(text=CLOVER, id="soil-7"),
    Context(text=f"# Maize guide\n{MAIZE}", document_id="maize.pdf"),
    Context(text=WHEAT, id="4711"),
]


def marks(text, contexts=CONTEXTS):
    return [(one.cited, one.dangling) for one in cited_statements(text, contexts)]


async def judged(text, contexts=CONTEXTS, *, name="citations", ask=None):
    context = JudgeContext(ask=ask, model="m", secret=b"s") if ask else JudgeContext()
    row = Answer(question_id="q", question="?", answer=text, contexts=contexts)
    return await judge_answer(load_judge(name), row, context)


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("Clover fixes it [1].", (1,)),
        ("Clover fixes it.[1]", (1,)),
        ("Clover fixes it. [1]", (1,)),
        ("Clover fixes it [1, 3].", (1, 3)),
        ("Clover fixes it [1][3][1].", (1, 3)),
        ("Clover fixes it [1-3].", (1, 2, 3)),
        ("Clover fixes it [3-1].", (3, 1)),
        ("Clover fixes it [1 and 3].", (1, 3)),
        ("Clover fixes it [1, 2, and 3].", (1, 2, 3)),
        ("El trébol lo fija [fuentes 1 y 3].", (1, 3)),
        ("البرسيم يثبت النيتروجين [المصدر 1 و2].", (1, 2)),
        ("Clover fixes it¹ and more².", (1, 2)),
        ("Clover fixes it.¹,³", (1, 3)),
        ("Clover fixes it [^2].\n\n[^2]: A note.", (2,)),
        ("Clover fixes it [^b].\n\n[^b]: maize.pdf", (2,)),
        ("Clover fixes it [^1].\n\n[^1]: Maize guide", (2,)),
        ("Clover fixes it (Maize Guide).", (2,)),
        ("Clover fixes it [Source: soil-7].", (1,)),
        ("Clover fixes it (passage 3).", (3,)),
        ("Clover fixes it [Document 3].", (3,)),
        ("Clover fixes it [4711].", (3,)),
        ("Clover fixes it [[1]](https://farm.example/a).", (1,)),
        ("Clover fixes it [see [2]].", (2,)),
        ("Clover fixes it 【2†source】.", (2,)),
        ("三叶草固氮［１］。", (1,)),
        ("البرسيم يثبت النيتروجين [٢].", (2,)),
        ("तिपतिया घास नाइट्रोजन देती है [१]।", (1,)),
        ("Take vitamin C[1] with it.", (1,)),
    ],
)
def test_a_mark_in_any_form_cites_its_contexts(text, cited):
    assert marks(text) == [(cited, ())]


@pytest.mark.parametrize(
    "text",
    [
        "The value of `rows[1]` is kept here.",
        "The value of a[1] is kept here.",
        "The value of a[1][2] is kept here.",
        "The value of row_ids[1] is kept here.",
        "Then we set rows[1] = 7 and go.",
        "Sown in spring [2019] by all (2020).",
        "The field has 10 km² and 10⁶ plants.",
        "It was sown [sic] in May (1) [1e3].",
        "It was sown in May [] and [ ].",
    ],
)
def test_what_only_looks_like_a_mark_is_none(text):
    assert marks(text) == [((), ())]


def test_code_blocks_headings_questions_and_short_words_need_no_source():
    text = (
        "# How maize grows\nYes.\nWhen is it sown?\nHere is how:\n```\nx = a[1] # b c d\n```\nMaize is sown."
    )
    assert [one.text for one in cited_statements(text, CONTEXTS)] == ["Maize is sown."]


def test_marks_belong_to_their_own_sentence():
    text = "Clover fixes it. [1] Maize is sown. [2]\n[3] Wheat needs water.\n- Rice needs more [9]."
    found = cited_statements(text, CONTEXTS)
    assert [(one.text, one.cited, one.dangling) for one in found] == [
        ("Clover fixes it.", (1,), ()),
        ("Maize is sown.", (2,), ()),
        ("Wheat needs water.", (3,), ()),
        ("Rice needs more.", (), ("9",)),
    ]


async def test_precision_and_recall_worked_by_hand(says):
    # Statements: the first is supported by [1]; the second by [2], and [1] adds nothing; the third cites
    # nothing; the fourth cites no context. Recall 2/4; of the citations 1, 1, 2 and 9 two are of use: 2/4.
    text = (
        "Clover fixes nitrogen [1]. Maize is sown in May [1][2]. Wheat needs water. Rice is sown in June [9]."
    )
    whole, precision, recall = await judged(text)
    assert [row.metric for row in (whole, precision, recall)] == [
        "citations", "citation_precision", "citation_recall",
    ]  # fmt: skip
    assert (whole.score, precision.score, recall.score) == (0.5, 0.5, 0.5)
    assert [(one.supported, one.context, one.reason) for one in whole.verdicts] == [
        (True, 1, None),
        (True, 2, None),
        (False, None, "cites nothing"),
        (False, None, "[9] points to no context"),
    ]
    says(whole.rationale)
    assert whole.metadata == {"citations": 4, "dangling": 1}


async def test_contexts_that_support_only_together_are_both_of_use():
    text = "Wheat is sown in October while clover fixes nitrogen [1][3]."
    _, precision, recall = await judged(text)
    assert (precision.score, recall.score) == (1.0, 1.0)
    assert (await judged(text.replace("[3]", "")))[2].score == 0.0


async def test_by_a_model_the_same_counts_and_no_call_more_than_needed():
    text = (
        f"{CLOVER[:-1]} [1]. {MAIZE[:-1]} [1][2]. Rice needs water. Beans need poles [3]. Oats need sun [9]."
    )
    ask = ReadingModel()
    whole, precision, recall = await judged(text, name="citations_asked", ask=ask)
    # Supported: the first two of five. Citations 1, 1, 2, 3, 9: of use are 1 of the first, 2 of the second.
    assert (precision.score, recall.score) == (2 / 5, 2 / 5)
    assert [one.context for one in whole.verdicts] == [1, 2, None, None, None]
    # [1], [1][2] and [3]; then the second statement with [1] alone and [2] alone. Without [1] is [2] alone.
    assert whole.usage.calls == len(ask.prompts) == 5
    assert [fenced("contexts", prompt).count("[") for prompt in ask.prompts] == [1, 2, 1, 1, 1]


async def test_the_prompt_reads_as_it_did():
    ask = ReadingModel()
    await judged("Clover fixes nitrogen [1]. It is sown in May [1].", name="citations_asked", ask=ask)
    check_prompt("citations_asked", ask.prompts[0].messages)


async def test_by_a_model_no_context_that_could_support_costs_no_call(says):
    ask = ReadingModel()
    [whole, *_] = await judged(
        "Clover fixes it [1] and [9].", [Context(text=" ")], name="citations_asked", ask=ask
    )
    assert whole.score == 0.0
    says(whole.verdicts[0].reason)  # fmt: skip
    assert not ask.prompts


async def test_without_marks_recall_is_0_and_precision_does_not_apply(says):
    whole, precision, recall = await judged("Clover fixes nitrogen.")
    assert (whole.score, recall.score, precision.status) == (0.0, 0.0, "not_applicable")
    says(whole.rationale)


@pytest.mark.parametrize(
    ("text", "why"), [("I do not know.", "refuses"), ("", "no statement"), ("When?", "no statement")]
)
async def test_refusals_and_what_states_nothing_are_not_applicable(text, why):
    rows = await judged(text)
    assert {row.status for row in rows} == {"not_applicable"}
    assert why in rows[0].rationale


async def test_a_refusal_that_cites_is_judged():
    assert (await judged("I do not know, yet wheat needs water [3]."))[0].status == "scored"


async def test_marks_without_any_context_point_nowhere():
    whole, precision, recall = await judged("Clover fixes nitrogen [1].", [])
    assert (whole.score, precision.score, recall.score) == (0.0, 0.0, 0.0)
    assert (await judged("Clover fixes nitrogen [1].", None))[0].rationale == "the row has no contexts"


async def test_another_number_is_another_statement():
    assert (await judged("Wheat is sown on 3 October [1].", [Context(text="Wheat is sown on 9 October.")]))[
        0
    ].score == 0
    assert word_support((), set()) == 0.0


@given(st.lists(st.sampled_from([CLOVER, MAIZE, WHEAT]), min_size=1, max_size=6), st.data())
async def test_precision_and_recall_are_shares_and_right_marks_get_one(said, data):
    number = {CLOVER: 1, MAIZE: 2, WHEAT: 3}
    right = " ".join(f"{one[:-1]} [{number[one]}]." for one in said)
    assert [row.score for row in await judged(right)] == [1.0, 1.0, 1.0]
    wrong = " ".join(f"{one[:-1]} [{data.draw(st.integers(0, 5))}]." for one in said)
    assert all(0 <= row.score <= 1 for row in await judged(wrong))


async def test_ten_thousand_marks_take_no_time_and_none_is_lost():
    began = time.thread_time()
    whole, *_ = await judged("Clover fixes nitrogen [1]. " * 5000 + "[9] " * 5000)
    assert whole.metadata == {"citations": 5001, "dangling": 1}
    assert time.thread_time() - began < 20


HEAD = 'name = "a"\nversion = 1\nkind = "citations"\nscale = [0, 1]\nsource = "ours"\n'


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ('inputs = ["answer"]\nthreshold = 0.5', "add both to inputs"),
        ('inputs = ["answer", "contexts"]', "give one of the two"),
        ('inputs = ["answer", "contexts"]\nthreshold = 0', r"threshold = 0: give a share above 0"),
        (
            'inputs = ["answer", "contexts"]\nprompt = "Is {answer} in {contexts}?"',
            "does not name {statements}",
        ),
        (
            'inputs = ["answer", "contexts"]\nthreshold = 0.5\nsamples = 3',
            "samples means nothing where words",
        ),
    ],
)
def test_a_judge_that_cannot_work_says_why(keys, says):
    with pytest.raises(ConfigError, match=says):
        parse_judge(HEAD + keys, Path("a.toml"))
