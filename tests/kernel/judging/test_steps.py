"""Judges of an agent's steps, on rows worked by hand: tests/fixtures/agents/rows.jsonl.

`right` of a row holds the score of each metric, null where it is not applicable, and `says` a rationale.
"""

import itertools
import json
import time
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge, parse_judge
from ragstone.kernel.judging.summary import summarise
from ragstone.kernel.judging.trajectory import ExpectedCall, in_any_order, in_order, normal, pair_calls
from ragstone.kernel.records import Answer, Step
from ragstone.kernel.tables.reading import parse_rows

FILE = Path(__file__).parents[2] / "fixtures" / "agents" / "rows.jsonl"
ROWS = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
LASTING = "tool_errors_lasting"
JUDGES = [name for name in ROWS[0]["right"] if name != LASTING]
WEATHER = Step(tool="weather", arguments={"place": "Nakuru"}, result="rain")


async def judged(row, name):
    """Return the judge's judgement under its name, and those of its parts under their metrics."""
    [answer] = parse_rows([row], Answer) if isinstance(row, dict) else [row]
    judge = load_judge(name) if isinstance(name, str) else name
    found = await judge_answer(judge, answer, JudgeContext())
    return {judge.name: found[0]} | {one.metric: one for one in found[1:]}


def expecting(calls, *steps, **columns):
    return Answer(
        question_id="q", answer="a", steps=list(steps), metadata={"expected_steps": calls, **columns}
    )


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS, ids=[f"{row['id']} {row['about']}" for row in ROWS])
async def test_a_row_is_judged_as_by_hand(row):
    found = {}
    for name in JUDGES:
        found |= await judged(row, name)
    assert {name: found[name].score for name in row["right"]} == pytest.approx(row["right"])
    assert {found[name].status for name in row["right"]} <= {"scored", "not_applicable"}
    for name, says in row.get("says", {}).items():
        assert says in found[name].rationale


def test_the_rows_have_right_and_wrong_trajectories_for_each_judge():
    for name in ROWS[0]["right"]:
        scores = [row["right"][name] for row in ROWS]
        assert min(sum(score == end for score in scores) for end in (0, 1)) >= 2, name
        assert any(score not in (None, 0, 1) for score in scores), name
        assert scores.count(None) >= 3, name


async def test_each_call_and_each_expected_call_has_its_verdict():
    crops = Step(tool="crops", arguments={"name": "maize"})
    row = expecting(["weather", "price"], crops, WEATHER)
    found = (await judged(row, "tool_choice"))["tool_choice"]
    assert [(one.of, one.id, one.statement, one.supported, one.reason) for one in found.verdicts] == [
        ("steps", 1, 'crops({"name":"maize"})', False, "not expected"),
        ("steps", 2, 'weather({"place":"Nakuru"})', True, None),
        ("expected_steps", 1, "weather", True, None),
        ("expected_steps", 2, "price", False, "never called"),
    ]
    [superset] = (await judged(row, "tool_choice@order=superset")).values()
    assert {one.of for one in superset.verdicts} == {"expected_steps"}
    errors = (await judged(row, "tool_errors"))["tool_errors"]
    assert errors.metadata == {"calls": 2, "failed": 0, "retried": 0}


@pytest.mark.parametrize(
    ("expected", "told"),
    [
        ("weather", "expected_steps must be a list of calls"),
        (7, "expected_steps must be a list of calls"),
        ([{"arguments": {}}], "expected_steps has a call that names no tool"),
        ([["weather"]], "expected_steps has a call that names no tool"),
    ],
)
async def test_a_reference_that_cannot_be_read_is_an_error_and_no_score(expected, told):
    for name in ("tool_choice", "tool_arguments", "step_efficiency"):
        found = (await judged(expecting(expected, WEATHER), name))[name]
        assert found.status == "error"
        assert told in found.error


@pytest.mark.parametrize(
    ("tools", "told"),
    [
        ("weather", "tools of the row must be a list of tools"),
        ([{"description": "x"}], "tools of the row has a tool without a name"),
        ({"weather": {"type": "nothing"}}, "the schema of weather is not a JSON Schema"),
    ],
)
async def test_nor_do_tools_that_cannot_be_read_give_one(tools, told):
    found = (await judged(expecting(None, WEATHER, tools=tools), "tool_arguments"))["tool_arguments"]
    assert (found.status, told in found.error) == ("error", True)


async def test_arguments_without_end_are_an_error_and_no_traceback(says):
    deep: list[object] = []
    for _ in range(2000):
        deep = [deep]
    row = expecting([{"tool": "t", "arguments": {"a": 1}}], Step(tool="t", arguments={"a": deep}))
    for name in ("tool_arguments", "step_efficiency"):
        found = (await judged(row, name))[name]
        assert found.status == "error"
        says(found.error)


async def test_what_is_expected_of_a_conversation_says_nothing_of_one_reply():
    row = expecting(["weather", "price"], WEATHER, conversation="c", turn=2)
    assert (await judged(row, "tool_choice"))["tool_choice"].status == "not_applicable"
    assert (await judged(row, "tool_errors"))["tool_errors"].score == 0


JUDGE = """
name = "mine"
version = 1
kind = "steps"
inputs = ["steps"]
scale = [0, 1]
source = "own"
"""


async def test_a_judge_of_ones_own_gives_schemas_of_the_tools(tmp_path, says):
    schema = '[tools.weather]\ntype = "object"\nproperties.place.enum = ["Nakuru", "Thika"]'
    judge = parse_judge(f'{JUDGE}measure = "arguments"\n{schema}', tmp_path / "mine.toml")
    other = Step(tool="weather", arguments={"place": "Paris"})
    found = await judged(Answer(question_id="q", answer="a", steps=[WEATHER, other]), judge)
    assert found["mine"].score == 0.5
    says(found["mine"].rationale)
    bare = expecting(None, other, tools=["weather", "now"])  # names alone: the schema is that of the file
    assert (await judged(bare, judge))["mine"].score == 0


@pytest.mark.parametrize(
    ("keys", "told"),
    [
        ('measure = "choices"', "Did you mean 'choice'"),
        ('measure = "errors"\norder = "in_order"', "order means nothing"),
        ('measure = "choice"\ntools.now = {}', "tools means nothing"),
        ('measure = "choice"\norder = "strict"', "order"),
        ('measure = "choice"\nprompt = "x"', "prompt means nothing"),
    ],
)
def test_a_file_that_cannot_work_says_what_to_change(keys, told, tmp_path):
    with pytest.raises(ConfigError, match=told):
        parse_judge(JUDGE + keys, tmp_path / "mine.toml")


NAMES = st.lists(st.sampled_from("abc"), max_size=9)


@given(NAMES, NAMES)
def test_in_order_is_a_longest_common_subsequence(left, right):
    pairs = in_order(left, right)
    assert all(left[at] == right[place] for at, place in pairs)
    assert all(
        first < second
        for one, two in itertools.pairwise(pairs)
        for first, second in zip(one, two, strict=True)
    )
    longest = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for at, place in itertools.product(range(len(left)), range(len(right))):
        same = longest[at][place] + 1 if left[at] == right[place] else 0
        longest[at + 1][place + 1] = max(same, longest[at][place + 1], longest[at + 1][place])
    assert len(pairs) == longest[-1][-1] <= len(in_any_order(left, right))


@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 2)), max_size=8), st.randoms())
def test_no_step_is_paired_twice_and_the_same_calls_in_any_order_are_paired_alike(calls, random):
    steps = [Step(tool=tool, arguments={"n": n}) for tool, n in calls]
    shuffled = random.sample(calls, len(calls))
    paired = pair_calls(steps, [ExpectedCall(tool, {"n": float(n)}) for tool, n in shuffled])
    assert sorted(paired) == list(range(len(calls)))
    assert [calls[at] for at in paired] == shuffled


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
)


@given(JSON)
def test_a_value_means_the_same_after_a_way_through_json(value):
    def turned(one):
        if isinstance(one, dict):
            return {key: turned(inner) for key, inner in reversed(one.items())}
        if isinstance(one, list):
            return [turned(inner) for inner in one]
        return float(one) if type(one) is int else one

    assert normal(value) == normal(turned(msgspec.json.decode(msgspec.json.encode(value))))


def spent(n, name):
    steps = [Step(tool=f"t{at % 7}", arguments={"n": at}, result=f"row {at} of the table") for at in range(n)]
    row = expecting([{"tool": step.tool, "arguments": step.arguments} for step in steps[::-1]], *steps)
    finding = load_judge(name).find(row, {}, JudgeContext())
    start = time.process_time()
    with pytest.raises(StopIteration):
        finding.send(None)
    return time.process_time() - start


@pytest.mark.simulation
@pytest.mark.parametrize("name", JUDGES)
def test_ten_thousand_steps_take_linear_time(name):
    spent(10, name)
    # 10 if it is linear, 100 if it is not
    assert any(spent(10_000, name) / spent(1_000, name) < 40 for _ in range(5))


async def test_a_summary_names_the_step_and_its_fault_however_long_the_call():
    row = expecting(["weather"], Step(tool="search", arguments={"query": "x" * 500}), WEATHER)
    [summary] = summarise([(await judged(row, "tool_choice"))["tool_choice"]])
    assert [(one.of, one.n, one.n_unsupported, one.first) for one in summary.unsupported] == [
        ("steps", 2, 1, (("q", "step 1: search: not expected"),)),
        ("expected_steps", 1, 0, ()),
    ]
