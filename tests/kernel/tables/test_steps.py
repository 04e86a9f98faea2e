"""What agents did, as other tools keep it: traces and messages of one run, in the shapes that they write.

The run: asked once, a model chooses two tools with one call of 60 + 15 tokens; `weather` takes 0.5 s and
answers, `field_map` takes 0.25 s and fails; a second call of 90 + 10 tokens answers.
"""

import json
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Step, Usage
from ragstone.kernel.tables import parse_rows, read_rows

FIXTURES = Path(__file__).parents[2] / "fixtures" / "interchange"
ASKED = "Will it rain in Nakuru, and how large is field 7?"
SAID = "12 mm of rain; nobody knows field 7."
WHY = "Look at both."
WEATHER = Step(
    tool="weather", arguments={"place": "Nakuru"}, result="rain, 12 mm", seconds=0.5, tokens=75, thought=WHY
)
MAP = Step(tool="field_map", arguments={"id": 7}, error="no field 7", seconds=0.25, tokens=75, thought=WHY)
CALL = {"id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"place": "Nakuru"}'}}
BEGUN = 1793527200


def span(
    name: str, parent: str | None = None, at: float | None = 0.0, **attributes: object
) -> dict[str, Any]:
    """Return a span of one second, of the trace `t`, whose id is its name; `__` in attributes are dots."""
    times = {} if at is None else {"start_time": BEGUN + at, "end_time": BEGUN + at + 1}
    dotted = {name.replace("__", "."): value for name, value in attributes.items()}
    ids = {"context": {"trace_id": "t", "span_id": name}, "parent_id": parent}
    return {"name": name.rstrip("0123456789"), **ids, **times, "attributes": dotted}


def tool(name: str, parent: str | None = None, at: float | None = 0.0, **more: object) -> dict[str, Any]:
    given = {"gen_ai__operation__name": "execute_tool", "gen_ai__tool__name": name.rstrip("0123456789")}
    return span(name, parent, at, **given, **more)


def agent(name: str, asked: str, at: float = 0.0, parent: str | None = None) -> dict[str, Any]:
    return span(name, parent, at, input__value=asked, output__value=f"{asked}!")


def read(*spans: dict[str, Any]) -> list[Answer]:
    return parse_rows([*spans], Answer)


def tools_of(row: Answer) -> list[str]:
    return [step.tool for step in row.steps or ()]


@pytest.mark.parametrize(
    "name",
    [
        "agent-otlp.jsonl",
        "agent-otlp-events.jsonl",
        "agent-phoenix.jsonl",
        "agent-langfuse.jsonl",
        "agent-langsmith.json",
        "agent-openai.jsonl",
    ],
)
def test_a_trace_of_an_agent_says_the_same_whoever_wrote_it(name: str) -> None:
    [row] = read_rows(FIXTURES / name, Answer)
    assert row.steps == [WEATHER, MAP]
    assert (row.question, row.answer, row.system, row.error) == (ASKED, SAID, "gpt-4o-mini", None)
    assert (row.latency_s, row.usage) == (3.0, Usage(input=150, output=25, cached=60, calls=2))
    assert row.metadata is not None
    assert (row.metadata["trace_id"], row.metadata["session_id"]) == ("a1", "s-1")


@pytest.mark.parametrize(
    "place", range(5), ids=["LangGraph", "LangChain", "Agents SDK", "Anthropic", "GenAI"]
)
def test_messages_of_an_agent_say_the_same_whoever_wrote_them(place: int) -> None:
    row = list(read_rows(FIXTURES / "agent-states.jsonl", Answer))[place]
    assert (row.question, row.answer) == (ASKED, SAID)
    plain = [msgspec.structs.replace(step, thought=None) for step in row.steps or ()]
    results = [(step.tool, step.arguments, step.result or step.error) for step in plain]
    assert results == [
        ("weather", {"place": "Nakuru"}, "rain, 12 mm"),
        ("field_map", {"id": 7}, "no field 7"),
    ]
    assert [turn.role for turn in row.turns or ()][-3:] == ["tool", "tool", "assistant"]


def test_steps_survive_a_file_of_ours(tmp_path: Path) -> None:
    from ragstone.kernel.tables import write_rows

    rows = list(read_rows(FIXTURES / "agent-otlp.jsonl", Answer))
    write_rows(tmp_path / "sheet.jsonl", rows, Answer)
    assert list(read_rows(tmp_path / "sheet.jsonl", Answer)) == rows


ROOT_RUN = {
    "id": "r",
    "trace_id": "r",
    "run_type": "chain",
    "inputs": {"question": "Is it wet?"},
    "outputs": {"answer": "Yes."},
    "prompt_tokens": 150,
    "completion_tokens": 25,
    "total_cost": 0.004,
}
MODEL_RUN = {
    "trace_id": "r",
    "parent_run_id": "r",
    "run_type": "llm",
    "inputs": {"prompt": "wet?"},
    "outputs": {"text": "Yes."},
}


def test_a_root_run_of_langsmith_tells_what_the_runs_below_it_took() -> None:
    [row] = read(ROOT_RUN)
    assert (row.usage, row.cost_usd) == (Usage(input=150, output=25, calls=1), 0.004)
    [row] = read(ROOT_RUN, {**MODEL_RUN, "id": "c"})
    assert (row.usage, row.cost_usd) == (Usage(input=150, output=25, calls=1), 0.004)


def test_calls_that_tell_their_tokens_count_once() -> None:
    told = {"prompt_tokens": 75, "completion_tokens": 10, "total_cost": 0.001}
    [row] = read(ROOT_RUN, *({**MODEL_RUN, "id": name, **told} for name in "cd"))
    assert (row.usage, row.cost_usd) == (Usage(input=150, output=20, calls=2), 0.002)


def test_a_message_in_the_output_of_a_chain_is_one_call_of_several_and_no_sum() -> None:
    message = {"type": "ai", "content": "Yes.", "usage_metadata": {"input_tokens": 9, "output_tokens": 1}}
    bare = {name: ROOT_RUN[name] for name in ("id", "trace_id", "run_type", "inputs")}
    [row] = read({**bare, "outputs": {"messages": [message]}})
    assert row.usage is None


class TestSpans:
    def test_order_is_that_of_time_and_a_span_without_one_stays_where_it_was(self) -> None:
        [row] = read(agent("a", "q"), tool("y", "a", 3), tool("x", "a", 1), tool("z", "a", None))
        assert tools_of(row) == ["x", "z", "y"]

    def test_a_tool_without_a_parent_or_with_one_that_is_not_there_keeps_its_place(self) -> None:
        [row] = read(agent("a", "q"), tool("x", None, 1), tool("y", "gone", 2))
        assert tools_of(row) == ["x", "y"]

    def test_spans_that_are_each_others_parents_are_read(self) -> None:
        [row] = read(agent("a", "q", parent="b"), tool("b", "c", 1), tool("c", "b", 2), tool("d", "d", 3))
        assert (row.question, tools_of(row)) == ("q", ["b", "c", "d"])

    def test_spans_without_ids_are_all_read(self) -> None:
        nameless = [{**tool("x", None, at), "context": {"trace_id": "t"}} for at in (1, 2)]
        [row] = read(agent("a", "q"), *nameless)
        assert tools_of(row) == ["x", "x"]

    def test_a_span_that_was_sent_twice_counts_once(self) -> None:
        [row] = read(agent("a", "q"), tool("x", "a", 1), tool("x", "a", 1))
        assert tools_of(row) == ["x"]

    def test_a_call_that_the_protocol_traced_too_counts_once(self) -> None:
        [row] = read(agent("a", "q"), tool("x1", "a", 1), tool("x2", "x1", 1.1), tool("x3", "a", 2))
        assert tools_of(row) == ["x", "x"]

    def test_calls_without_spans_are_taken_from_what_models_were_told(self) -> None:
        given = [
            {"role": "user", "content": "earlier"},
            {"role": "assistant", "tool_calls": [{**CALL, "id": "c0"}]},
            {"role": "user", "content": "q"},
            {"role": "assistant", "tool_calls": [CALL]},
            {"role": "tool", "tool_call_id": "c1", "content": "dry"},
        ]
        model = span(
            "m",
            gen_ai__operation__name="chat",
            gen_ai__input__messages=json.dumps(given),
            gen_ai__output__messages=json.dumps([{"role": "assistant", "content": "It is dry."}]),
        )
        [row] = read(model)
        assert (row.question, row.answer) == ("q", "It is dry.")
        assert row.steps == [Step(tool="weather", arguments={"place": "Nakuru"}, result="dry")]

    def test_the_same_call_made_twice_is_two_steps(self) -> None:
        given = json.dumps([{"role": "assistant", "tool_calls": [{**CALL, "id": None}]}])
        chat = {"gen_ai__operation__name": "chat", "gen_ai__output__messages": given}
        place = '{"place": "Nakuru"}'
        rows = read(
            agent("a", "q"),
            span("m1", "a", 1, **chat),
            tool("weather1", "a", 2, gen_ai__tool__call__arguments=place, gen_ai__tool__call__result="dry"),
            span("m2", "a", 3, **chat),
            tool("weather2", "a", 4, gen_ai__tool__call__arguments=place, gen_ai__tool__call__result="wet"),
        )
        assert [step.result for step in rows[0].steps or ()] == ["dry", "wet"]

    def test_a_model_that_only_calls_tools_has_not_answered(self) -> None:
        chosen = json.dumps([{"role": "assistant", "tool_calls": [CALL]}])
        chat = {
            "gen_ai__operation__name": "chat",
            "gen_ai__input__messages": json.dumps([{"role": "user", "content": "q"}]),
        }
        [row] = read(span("m", **chat, gen_ai__output__messages=chosen))
        assert (row.answer, row.error, tools_of(row)) == ("", "the trace has no output", ["weather"])

    def test_arguments_and_results_of_any_shape_are_kept(self) -> None:
        [row] = read(
            agent("a", "q"),
            tool(
                "x",
                "a",
                1,
                gen_ai__tool__call__arguments={"a.b": {"0": 1}},
                gen_ai__tool__call__result={"rows": [1]},
            ),
            tool("y", "a", 2, gen_ai__tool__call__arguments="Nakuru"),
        )
        assert [step.arguments for step in row.steps or ()] == [{"a.b": {"0": 1}}, {"input": "Nakuru"}]
        assert [step.result for step in row.steps or ()] == ['{"rows":[1]}', None]

    def test_20_megabytes_of_a_result_are_kept_whole(self) -> None:
        large = "x" * 20_000_000
        [row] = read(agent("a", "q"), tool("x", "a", 1, gen_ai__tool__call__result=large))
        assert row.steps is not None
        assert row.steps[0].result == large

    @pytest.mark.skipif(sys.version_info >= (3, 14), reason="Python reads 800 levels there")
    def test_a_span_too_deep_to_read_is_told_and_the_others_are_read(self, says) -> None:
        deep: dict[str, Any] = {}
        for _ in range(800):
            deep = {"a": deep}
        with pytest.raises(DataError) as error:
            read(agent("a", "q"), tool("x", "a", 1, metadata=deep))
        says(error.value)

    @pytest.mark.simulation
    def test_ten_thousand_calls_of_one_tool_are_ten_thousand_steps(self) -> None:
        rows = read(agent("a", "q"), *(tool(f"x{at}", "a", at / 1000) for at in range(10_000)))
        assert len(rows[0].steps or ()) == 10_000


class TestSessions:
    def test_exchanges_without_parents_are_rows_with_steps_of_their_own(self) -> None:
        spans = [
            agent("a1", "q1"),
            tool("x", "a1", 0.5),
            agent("a2", "q2", 5),
            tool("y", "a2", 5.5),
            tool("z", None, 6),
        ]
        first, second = read(*spans)
        assert [(row.question, row.answer, tools_of(row)) for row in (first, second)] == [
            ("q1", "q1!", ["x"]),
            ("q2", "q2!", ["y", "z"]),
        ]
        assert (first.metadata, second.metadata) == (
            {"time": "2026-11-01T10:00:00+00:00", "trace_id": "t"},
            {"time": "2026-11-01T10:00:05+00:00", "trace_id": "t", "exchange": 2},
        )

    def test_exchanges_below_a_session_that_was_asked_nothing(self) -> None:
        session = span("session", None, 0, session__id="s")
        rows = read(
            session, agent("a1", "q1", 1, "session"), tool("x", "a1", 1.5), agent("a2", "q2", 3, "session")
        )
        assert [(row.question, tools_of(row), row.latency_s) for row in rows] == [
            ("q1", ["x"], 1.0),
            ("q2", [], 1.0),
        ]
        assert all(row.metadata and row.metadata["session_id"] == "s" for row in rows)

    @pytest.mark.parametrize(
        "spans",
        [
            [agent("plan", "q"), agent("write", "q2", 2)],
            [agent("a1", "q1"), agent("a2", "q2", 0.5)],
            [agent("top", "q", 0), agent("a1", "q1", 1, "top"), agent("a2", "q2", 3, "top")],
        ],
        ids=["other names", "at the same time", "of a top that was asked"],
    )
    def test_parts_of_one_exchange_are_one_row(self, spans: list[dict[str, Any]]) -> None:
        assert len(read(*spans)) == 1

    def test_runs_of_the_agents_sdk_in_one_trace(self) -> None:
        def generation(name: str, parent: str, asked: str, second: int) -> dict[str, Any]:
            data = {
                "type": "generation",
                "input": [{"role": "user", "content": asked}],
                "output": [{"role": "assistant", "content": f"{asked}!"}],
            }
            return row(name, parent, second, data)

        def row(name: str, parent: str | None, second: int, data: dict[str, Any]) -> dict[str, Any]:
            times = {
                f"{when}_at": f"2026-11-01T10:00:0{second + late}Z"
                for late, when in enumerate(("started", "ended"))
            }
            return {
                "object": "trace.span",
                "id": name,
                "trace_id": "t",
                "parent_id": parent,
                "span_data": data,
                **times,
            }

        farmer = {"type": "agent", "name": "farmer"}
        found = read(
            {"object": "trace", "id": "t", "workflow_name": "farm"},
            row("a1", None, 0, farmer),
            generation("g1", "a1", "q1", 0),
            row("a2", None, 3, farmer),
            generation("g2", "a2", "q2", 3),
        )
        assert [(one.question, one.answer) for one in found] == [("q1", "q1!"), ("q2", "q2!")]


def test_traces_in_which_nothing_was_asked_say_so(says) -> None:
    with pytest.raises(DataError) as error:
        read(tool("x"))
    says(error.value)


class TestPartsOfTraces:
    """What has come of a trace: a batch of spans, without the top."""

    def test_without_its_top_a_model_was_asked_and_not_the_retriever_before_it(self) -> None:
        spans = [
            span("r", "lost", openinference__span__kind="RETRIEVER", input__value="lime"),
            span("m", "lost", 2, openinference__span__kind="LLM", input__value="Is lime needed?"),
        ]
        [row] = read(*spans)
        # From 0 to 3 seconds, of which the model's span has one.
        assert (row.question, row.latency_s) == ("Is lime needed?", 3.0)

    def test_the_only_span_without_its_parent_has_the_time(self) -> None:
        [row] = read(span("a", "elsewhere", input__value="q", output__value="yes"), tool("x", "a", 3))
        assert row.latency_s == 1.0

    @pytest.mark.parametrize("kind", ["EMBEDDING", "RETRIEVER", "RERANKER"])
    def test_what_was_only_looked_up_is_no_answer(self, kind: str) -> None:
        looked = span("r", openinference__span__kind=kind, input__value="lime")
        other = agent("a", "q")
        other["context"]["trace_id"] = "t2"
        assert [row.question for row in read(looked, other)] == ["q"]

    def test_a_retriever_that_failed_alone_is_a_failure(self) -> None:
        failed = span("r", openinference__span__kind="RETRIEVER", input__value="lime")
        failed |= {"status_code": "ERROR", "status_message": "index is down"}
        assert [(row.question, row.error) for row in read(failed)] == [("lime", "index is down")]
