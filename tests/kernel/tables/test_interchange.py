"""What other tools found, as answers. The files of tests/fixtures/interchange have the shapes that the tools
write (docs/how-to/interchange.md names the versions), and contents of our own."""

import contextlib
import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Context, Question, Usage
from ragstone.kernel.tables import parse_rows, read_rows
from ragstone.kernel.tables.interchange.values import answer_in, contexts_in, nested, question_in, seconds_at

FIXTURES = Path(__file__).parents[2] / "fixtures" / "interchange"
WHEAT = Context(text="Wheat is sown in October.")
MAIZE = Context(text="Maize seed lies five centimetres deep.")


def read(name: str | Path) -> list[Answer]:
    return list(read_rows(FIXTURES / name, Answer))


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FIXTURES / name).read_text().splitlines()]


class TestInspect:
    def test_a_sample_of_a_log_is_an_answer(self) -> None:
        first, _, third = read("inspect-log.json")
        assert first.question is not None
        assert first.question.startswith("Is the following statement something you would say?")
        assert (first.question_id, first.answer, first.reference) == ("1", "Yes", " Yes")
        assert (first.latency_s, first.usage) == (0.664, Usage(input=64, output=2))
        assert (third.answer, third.reference, third.metadata["inspect_scores"]["match"]["value"]) == (
            "No",
            " Yes",
            "I",
        )

    def test_epochs_are_told_apart_and_a_failed_sample_has_its_error(self, tmp_path: Path) -> None:
        log = json.loads((FIXTURES / "inspect-log.json").read_text())
        sample = log["samples"][0]
        failed = {**sample, "id": 7, "output": {}, "error": {"message": "Timed out"}}
        silent = {**sample, "id": 8, "output": {}}
        rows = [
            sample,
            {**sample, "epoch": 2, "input": [{"role": "user", "content": "Sure?"}]},
            failed,
            silent,
        ]
        found = read(write(tmp_path / "log.json", {**log, "samples": rows}))
        assert [(row.question_id, row.question) for row in found][1] == ("1#2", "Sure?")
        assert [(row.answer, row.error) for row in found][2:] == [("", "Timed out"), ("", None)]
        assert [row.question_id for row in read(write(tmp_path / "rows.jsonl", *rows))] == [
            "1",
            "1#2",
            "7",
            "8",
        ]

    def test_a_log_without_samples_says_so(self, tmp_path: Path) -> None:
        log = write(tmp_path / "log.json", {"version": 2, "eval": {"task": "t"}, "samples": []})
        with pytest.raises(DataError, match="holds no samples"):
            read(log)


class TestPromptfoo:
    def test_each_provider_with_each_prompt_is_a_system(self) -> None:
        assert [(row.system, row.answer) for row in read("promptfoo.json")] == [
            ("openai:gpt-4o-mini/prompt 1", "In November."),
            ("openai:gpt-4o-mini/prompt 2", "October"),
            ("service/prompt 1", ""),
            ("openai:gpt-4o-mini/prompt 1", "Five centimetres."),
            ("openai:gpt-4o-mini/prompt 2", "Five"),
            ("service/prompt 1", "5 cm"),
        ]

    def test_with_one_prompt_the_system_is_the_provider(self, tmp_path: Path) -> None:
        rows = [row for row in lines("promptfoo.jsonl") if row["promptId"] == "p-a"]
        found = read(write(tmp_path / "a.jsonl", *rows))
        assert {row.system for row in found} == {"openai:gpt-4o-mini", "service"}

    def test_prompts_with_short_names_are_told_by_them(self, tmp_path: Path) -> None:
        rows = lines("promptfoo.jsonl")
        for row in rows:
            row["prompt"]["label"] = {"p-a": "plain", "p-b": "terse"}[row["promptId"]]
        found = read(write(tmp_path / "a.jsonl", *rows))
        assert {row.system for row in found} == {
            *("openai:gpt-4o-mini/plain", "openai:gpt-4o-mini/terse", "service/plain")
        }

    def test_lines_say_the_same_as_the_whole_file(self) -> None:
        assert read("promptfoo.jsonl") == read("promptfoo.json")

    def test_question_reference_contexts_and_what_it_took_are_there(self) -> None:
        row = read("promptfoo.json")[1]
        assert row.question == "When is wheat sown?"
        assert row.reference == "In October."  # of the assertion that names a right answer
        assert row.contexts == [WHEAT]
        assert (row.latency_s, row.cost_usd, row.usage) == (1.5, 0.002, Usage(input=40, output=8))

    def test_an_error_is_one_of_the_application_and_a_failed_assertion_is_none(self) -> None:
        failed, missed = read("promptfoo.json")[2], read("promptfoo.json")[0]
        assert (failed.error, failed.answer) == ("HTTP 500", "")
        assert missed.error is None
        assert missed.metadata == {"success": False, "score": 0, "namedScores": {}}

    def test_a_reply_from_its_cache_has_neither_time_nor_tokens(self) -> None:
        assert (read("promptfoo.json")[4].latency_s, read("promptfoo.json")[4].usage) == (None, None)

    def test_passages_are_found_in_an_output_that_is_an_object(self) -> None:
        assert read("promptfoo.json")[5].contexts == [Context(text="Five centimetres.")]

    def test_the_only_text_among_the_variables_is_the_question(self, tmp_path: Path) -> None:
        row = {"vars": {"topic": "rye", "n": 3}, "provider": "echo", "promptIdx": 0, "prompt": "About rye"}
        found = read(write(tmp_path / "a.jsonl", {**row, "response": {"output": "A grain."}}))
        assert (found[0].question, found[0].system) == ("rye", "echo")

    def test_without_one_the_prompt_is(self, tmp_path: Path) -> None:
        row = {"vars": {"a": "1", "b": "2"}, "provider": {"id": "echo"}, "promptIdx": 0, "response": {}}
        found = read(write(tmp_path / "a.jsonl", {**row, "prompt": {"raw": "1 + 2?", "label": "sum"}}))
        assert (found[0].question, found[0].error) == ("1 + 2?", "promptfoo holds no output")

    def test_a_test_that_was_repeated_has_an_id_of_its_own_the_same_for_all_providers(
        self, tmp_path: Path
    ) -> None:
        first = [row for row in lines("promptfoo.jsonl") if row["testIdx"] == 1]
        again = [{**row, "testIdx": 2} for row in first]
        found = read(write(tmp_path / "a.jsonl", *again, *first))
        ids = {row.question_id for row in found}
        assert len(ids) == 2
        assert {(row.question_id, row.system) for row in found} == {
            (one, system) for one in ids for system in {row.system for row in found}
        }

    def test_ids_among_the_variables_are_kept(self, tmp_path: Path) -> None:
        rows = [{**row, "vars": {**row["vars"], "id": row["testIdx"]}} for row in lines("promptfoo.jsonl")]
        assert [row.question_id for row in read(write(tmp_path / "a.jsonl", *rows))] == [*"000111"]

    def test_an_empty_file_of_results_says_so(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "results": []}, "vars": ["q"]}))
        with pytest.raises(DataError, match="holds no rows"):
            read(path)

    def test_its_table_is_refused_with_what_to_do(self, tmp_path: Path, says) -> None:
        path = tmp_path / "a.csv"
        path.write_text(
            "question,[echo] {{question}},Status,Score,[b] {{question}},Status,Score\nq,a,PASS,1,b,PASS,1\n"
        )
        with pytest.raises(DataError) as error:
            read(path)
        says(error.value)

    def test_a_file_that_was_cut_off_says_so(self, tmp_path: Path) -> None:
        for name in ("promptfoo.json", "promptfoo.jsonl"):
            path = tmp_path / name
            path.write_text((FIXTURES / name).read_text()[:-200])
            with pytest.raises(DataError, match="not valid JSON"):
                read(path)


class TestTraces:
    @pytest.mark.parametrize("name", ["phoenix-frame.jsonl", "phoenix-spans.json", "otlp.json"])
    def test_spans_in_three_shapes_say_the_same(self, name: str) -> None:
        answered, failed, silent = read(name)
        assert answered == Answer(
            question_id=answered.question_id,
            question="When is wheat sown?",
            answer="In October.",
            system="gpt-4o-mini",
            contexts=[
                Context(text=WHEAT.text, id="d1", score=0.9),
                Context(text=MAIZE.text, id="d2", score=0.2),
            ],
            latency_s=2.5,
            usage=Usage(input=60, output=5, cached=20),
            cost_usd=0.001,
            metadata={"time": "2026-11-01T10:00:00+00:00", "trace_id": "t1"},
        )
        # The index was down: asked as JSON, of the same application, and nothing was found.
        assert (failed.question, failed.error) == (
            "How deep does maize stand?",
            "ConnectionError: index is down",
        )
        assert (failed.system, failed.contexts, failed.latency_s) == ("gpt-4o-mini", [], 1.0)
        assert (silent.question, silent.error) == ("Is rye sown?", "the trace has no output")

    def test_spans_as_a_table_and_as_parquet(self, tmp_path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        rows = lines("phoenix-frame.jsonl")
        names = list(dict.fromkeys(name for row in rows for name in row))
        # As pandas writes a data frame: lists in Python's own notation.
        with (tmp_path / "a.csv").open("w", newline="") as file:
            table = csv.DictWriter(file, names)
            table.writeheader()
            table.writerows(rows)
        pq.write_table(
            pa.table({name: [row.get(name) for row in rows] for name in names if name != "events"}),
            tmp_path / "a.parquet",
        )
        assert read(tmp_path / "a.csv") == read("phoenix-frame.jsonl")
        assert read(tmp_path / "a.parquet") == read("phoenix-frame.jsonl")

    @pytest.mark.parametrize(
        "name", ["langfuse-traces.jsonl", "langfuse-trace.json", "langfuse-observations.jsonl"]
    )
    def test_traces_and_observations_of_langfuse(self, name: str) -> None:
        row = read(name)[0]
        assert (row.question, row.answer, row.system) == (
            *("When is wheat sown?", "In October.", "gpt-4o-mini"),
        )
        assert row.contexts == [WHEAT, MAIZE]
        assert (row.latency_s, row.cost_usd) == (1.5, 0.001)
        assert row.usage == Usage(input=60, output=5, cached=20)

    def test_a_trace_of_langfuse_that_failed(self) -> None:
        row = read("langfuse-traces.jsonl")[1]
        assert (row.question, row.answer, row.error) == ("How deep does maize stand?", "", "index is down")
        assert (row.contexts, row.cost_usd) == ([], None)  # a price of 0 is one that it does not know

    def test_the_table_of_langfuse(self) -> None:
        row = read("langfuse-traces.csv")[0]
        assert (row.question, row.answer, row.contexts) == ("When is wheat sown?", "In October.", None)
        assert (row.latency_s, row.cost_usd, row.usage) == (1.5, 0.001, Usage(input=60, output=5))

    def test_what_the_reranker_left_is_what_the_model_was_given(self, tmp_path: Path) -> None:
        rows = lines("phoenix-frame.jsonl")[:3]
        ranked = {
            **rows[2],
            "span_kind": "RERANKER",
            "context.span_id": "s9",
            "attributes.reranker.output_documents": [{"document.content": MAIZE.text}],
        }
        assert read(write(tmp_path / "a.jsonl", *rows, ranked))[0].contexts == [MAIZE]

    def test_two_retrievers_that_found_the_same_give_it_once(self, tmp_path: Path) -> None:
        rows = lines("phoenix-frame.jsonl")[:3]
        found = read(write(tmp_path / "a.jsonl", *rows, {**rows[2], "context.span_id": "s9"}))
        assert [context.text for context in found[0].contexts or ()] == [WHEAT.text, MAIZE.text]

    def test_a_call_of_a_model_alone_is_asked_by_its_messages(self, tmp_path: Path) -> None:
        model = {**lines("phoenix-frame.jsonl")[0], "parent_id": None}
        row = read(write(tmp_path / "a.jsonl", model))[0]
        assert row.question == "Wheat is sown in October. When is wheat sown?"
        assert (row.answer, row.contexts) == ("In October.", None)

    def test_two_traces_of_one_question_are_two_answers(self, tmp_path: Path) -> None:
        rows = lines("phoenix-frame.jsonl")[:3]
        again = [{**row, "context.trace_id": "t9"} for row in rows]
        first, second = read(write(tmp_path / "a.jsonl", *rows, *again))
        assert second.question_id == f"{first.question_id}-2"

    def test_spans_in_which_nothing_was_asked_are_an_error(self, tmp_path: Path, says) -> None:
        path = write(tmp_path / "a.jsonl", lines("phoenix-frame.jsonl")[5])
        with pytest.raises(DataError) as error:
            read(path)
        says(error.value)

    def test_a_line_that_was_cut_off_is_named(self, tmp_path: Path, says) -> None:
        path = tmp_path / "a.jsonl"
        path.write_text((FIXTURES / "phoenix-frame.jsonl").read_text()[:-40])
        with pytest.raises(DataError) as error:
            read(path)
        says(error.value)

    def test_attributes_are_objects_in_objects(self) -> None:
        assert nested({"a.b.1.c": 2, "a.b.0.c": 1, "d": {"e.f": 3}, "g": None}) == {
            "a": {"b": [{"c": 1}, {"c": 2}]},
            "d": {"e": {"f": 3}},
        }
        assert nested({"a": 1, "a.b": 2}) == {"a": 1}


class TestTestCases:
    def test_a_test_run_of_deepeval(self) -> None:
        row, empty = read("deepeval-run.json")
        assert (row.question, row.answer, row.reference) == (
            *("When is wheat sown?", "In October.", "October"),
        )
        assert row.contexts == [WHEAT, MAIZE]
        assert (row.latency_s, row.cost_usd, row.usage) == (0.8, 0.003, Usage(input=50, output=7))
        assert row.metadata is not None
        assert row.metadata["reference_contexts"] == ["What a person would look up."]
        assert (empty.answer, empty.error) == ("", None)

    def test_a_run_that_is_kept_under_a_key(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        run = json.loads((FIXTURES / "deepeval-run.json").read_text())
        path.write_text(json.dumps({"testRunData": run}))
        assert read(path) == read("deepeval-run.json")

    def test_cases_saved_as_a_table(self) -> None:
        row = read("deepeval-cases.csv")[0]
        assert (row.answer, row.reference, row.contexts) == ("In October.", "October", [WHEAT, MAIZE])

    def test_context_is_what_was_found_where_nothing_else_is(self, tmp_path: Path) -> None:
        case = {"input": "q", "actual_output": "a", "context": ["c"]}
        assert read(write(tmp_path / "a.jsonl", case))[0].contexts == [Context(text="c")]

    def test_a_case_without_an_answer_is_named(self, tmp_path: Path, says) -> None:
        path = tmp_path / "a.json"
        path.write_text(json.dumps({"testCases": [{"name": "x", "input": "q"}], "metricsScores": []}))
        with pytest.raises(DataError) as error:
            read(path)
        says(error.value)

    def test_samples_of_ragas_with_ids_of_passages_and_a_conversation(self) -> None:
        single, turns = read("ragas.jsonl")
        assert single.contexts == [Context(text=WHEAT.text, id="d1"), Context(text=MAIZE.text, id="2")]
        assert single.metadata == {"reference_contexts": ["Looked up."], "faithfulness": 0.5}
        assert (turns.question, turns.answer) == ("How deep does maize stand?", "Five centimetres.")


class TestPlainSheets:
    @pytest.mark.parametrize(
        "row",
        [
            {"id": "1", "input": "q", "output": "a", "user_id": "u", "reference": "r"},
            {"id": "1", "input": "q", "output": "a", "trace_id": "t", "type": "x", "reference": "r"},
            {"id": "1", "query": "q", "response": "a", "context": "c", "reference": "r"},
        ],
    )
    def test_a_sheet_of_ones_own_is_not_taken_for_that_of_a_tool(
        self, row: dict[str, str], tmp_path: Path
    ) -> None:
        found = read(write(tmp_path / "a.jsonl", row))[0]
        assert (found.question_id, found.question, found.answer, found.reference) == ("1", "q", "a", "r")

    def test_questions_are_read_as_ever(self, tmp_path: Path) -> None:
        path = write(tmp_path / "a.jsonl", {"id": "1", "user_input": "q", "reference": "r"})
        assert next(read_rows(path, Question)).question == "q"


class DataSet:
    """Stands in for a data set of Hugging Face or of ragas: not a list, and yields what it likes."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def __iter__(self) -> Iterator[str]:
        return iter("no dicts")

    def to_list(self) -> list[dict[str, Any]]:
        return self.rows


class TestDataSets:
    def test_an_object_that_becomes_a_list(self) -> None:
        rows = parse_rows(DataSet(lines("ragas.jsonl")), Answer)  # type: ignore[arg-type]
        assert rows == read("ragas.jsonl")

    def test_an_object_that_yields_dicts(self) -> None:
        assert parse_rows(iter(lines("promptfoo.jsonl")), Answer) == read("promptfoo.json")

    def saved(self, path: Path, rows: list[dict[str, Any]]) -> Path:
        """Write what `save_to_disk` of datasets 5.2 writes."""
        import pyarrow as pa

        path.mkdir(parents=True)
        table = pa.Table.from_pylist(rows)
        with pa.ipc.new_stream(path / "data-00000-of-00001.arrow", table.schema) as stream:
            stream.write_table(table)
        state = {"_data_files": [{"filename": "data-00000-of-00001.arrow"}], "_split": None}
        (path / "state.json").write_text(json.dumps(state))
        (path / "dataset_info.json").write_text("{}")
        return path

    def test_a_saved_folder(self, tmp_path: Path) -> None:
        rows = [{"user_input": f"q{at}", "response": "a", "retrieved_contexts": ["c"]} for at in range(3)]
        found = read(self.saved(tmp_path / "set", rows))
        assert [row.question for row in found] == ["q0", "q1", "q2"]
        assert found[0].contexts == [Context(text="c")]

    def test_of_several_splits_one_must_be_named(self, tmp_path: Path, says) -> None:
        rows = [{"user_input": "q", "response": "a"}]
        self.saved(tmp_path / "sets" / "train", rows)
        self.saved(tmp_path / "sets" / "test", rows)
        (tmp_path / "sets" / "dataset_dict.json").write_text('{"splits": ["train", "test"]}')
        with pytest.raises(DataError) as error:
            read(tmp_path / "sets")
        says(error.value)
        assert len(read(tmp_path / "sets" / "test")) == 1
        (tmp_path / "sets" / "dataset_dict.json").write_text('{"splits": ["test"]}')
        assert len(read(tmp_path / "sets")) == 1

    def test_a_folder_that_is_not_whole_is_named(self, tmp_path: Path, says) -> None:
        path = self.saved(tmp_path / "set", [{"user_input": "q", "response": "a"}])
        (path / "data-00000-of-00001.arrow").write_bytes(b"half")
        with pytest.raises(DataError, match="cannot be read as Arrow"):
            read(path)
        (path / "data-00000-of-00001.arrow").unlink()
        with pytest.raises(DataError, match="cannot be read as Arrow"):
            read(path)
        (path / "state.json").write_text("{")
        with pytest.raises(DataError) as error:
            read(path)
        says(error.value)


def places_in(value: object, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every value inside."""
    if path:
        yield path
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, one in inside:
        yield from places_in(one, (*path, name))


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_stands_in_place_of_a_value_the_file_is_read_or_refused(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(path.name for path in FIXTURES.glob("*.json*"))))
    text = (FIXTURES / name).read_text()
    rows = lines(name) if name.endswith("l") else [json.loads(text)]
    *path, last = data.draw(st.sampled_from(list(places_in(rows))))
    here: Any = rows
    for part in path:
        here = here[part]
    here[last] = data.draw(JUNK)
    with contextlib.suppress(DataError):
        parse_rows(rows, Answer)


class TestValues:
    @pytest.mark.parametrize(
        ("value", "question"),
        [
            ("q", "q"),
            ('{"query": "q"}', "q"),
            ({"anything": "q", "n": 3}, "q"),
            ({"one": "q", "two": "r"}, None),
            ([{"role": "user", "content": "p"}, {"role": "user", "content": "q"}], "q"),
            ('{"messages": [{"role": "user", "content": [{"type": "text", "text": "q"}]}]}', "q"),
            ("{not JSON", "{not JSON"),
            (None, None),
        ],
    )
    def test_a_question_is_found_in_many_shapes(self, value: object, question: str | None) -> None:
        assert question_in(value) == question

    @pytest.mark.parametrize(
        ("value", "answer"),
        [
            ("a", "a"),
            ("", ""),
            ('"a"', "a"),
            ({"result": "a"}, "a"),
            ({"choices": [{"message": {"role": "assistant", "content": "a"}}]}, "a"),
            ([{"role": "assistant", "content": "a"}], "a"),
            ({"temperature": 3}, '{"temperature":3}'),
            ("[1] says so", "[1] says so"),
            (None, None),
        ],
    )
    def test_an_answer_is_found_in_many_shapes(self, value: object, answer: str | None) -> None:
        assert answer_in(value) == answer

    def test_passages_are_found_in_many_shapes(self) -> None:
        assert contexts_in({"documents": [{"page_content": "a"}, "b", {"n": 1}]}) == [
            {"text": "a"},
            {"text": "b"},
        ]
        assert contexts_in([{"node": {"text": "a", "id": 7}, "score": "0.5"}]) == [
            {"text": "a", "id": "7", "score": 0.5}
        ]
        assert contexts_in({"n": 1}) is None
        assert contexts_in([]) == []

    def test_points_in_time(self) -> None:
        assert seconds_at("1970-01-01T00:00:01Z") == 1
        for digits in (0, 3, 6, 9):
            assert seconds_at(1_793_527_200 * 10**digits) == 1_793_527_200
        assert seconds_at("1793527200000000000") == 1_793_527_200
        assert seconds_at("soon") is None
        assert seconds_at(-62_135_596_801) is seconds_at(1e22) is None  # before year 1, after year 9999


LANGFUSE = {
    "timestamp": "2026-01-01T00:00:00Z",
    "name": "ask",
    "userId": None,
    "input": "How?",
    "output": "So.",
}
SPAN = {"attributes": {"input.value": "How?", "output.value": "So."}}
PROMPTFOO = {"vars": {"question": "How?"}, "provider": "mine", "testIdx": 0, "response": {"output": "So."}}


@pytest.mark.parametrize(
    "rows",
    [
        [LANGFUSE | {"id": None}, LANGFUSE | {"id": None, "input": "Why?"}],
        [LANGFUSE | {"id": "t"}, LANGFUSE | {"id": "t", "input": "Why?"}],
        [SPAN | {"context": {"trace_id": None, "span_id": name}} for name in ("a", "b")],
    ],
)
def test_traces_without_an_id_of_their_own_are_not_one_trace(tmp_path: Path, rows: list[object]) -> None:
    assert len(read(write(tmp_path / "a.jsonl", *rows))) == 2


def test_a_trace_that_stands_twice_is_one_answer(tmp_path: Path) -> None:
    (answer,) = read(write(tmp_path / "a.jsonl", LANGFUSE | {"id": "t"}, LANGFUSE | {"id": "t"}))
    assert answer.metadata == {"time": "2026-01-01T00:00:00+00:00", "trace_id": "t"}


def test_promptfoo_results_that_are_none_are_told_and_not_left_out(tmp_path: Path, says) -> None:
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"results": {"results": [PROMPTFOO, None]}}))
    with pytest.raises(DataError) as error:
        read(file)
    says(error.value)


def test_negative_and_odd_amounts_are_unknown(tmp_path: Path) -> None:
    spent = {"output": "So.", "cost": "free", "tokenUsage": {"prompt": -1, "completion": 5}}
    deepeval = {"input": "How?", "actualOutput": "So.", "completionTime": -1, "tokenCost": -1}
    (one,) = read(write(tmp_path / "a.jsonl", PROMPTFOO | {"response": spent, "latencyMs": -3}))
    (other,) = read(write(tmp_path / "b.jsonl", deepeval))
    assert (one.cost_usd, one.latency_s, one.usage) == (None, None, Usage(output=5))
    assert (other.cost_usd, other.latency_s) == (None, None)


def test_reply_of_a_conversation_counts_where_the_response_is_null(tmp_path: Path) -> None:
    turns = [{"type": "human", "content": "How?"}, {"type": "ai", "content": "So."}]
    (answer,) = read(write(tmp_path / "a.jsonl", {"user_input": turns, "response": None, "reference": "So"}))
    assert answer.answer == "So."


def test_text_that_is_nested_beyond_reading_is_a_text(tmp_path: Path, says) -> None:
    deep = "[" * 100_000
    row = {"user_input": "How?", "response": deep, "retrieved_contexts": deep, "reference": "So"}
    (answer,) = read(write(tmp_path / "a.jsonl", row))
    assert answer.contexts == [Context(text=deep)]
    (tmp_path / "b.jsonl").write_text(deep + "]" * 100_000)
    with pytest.raises(DataError) as error:
        read(tmp_path / "b.jsonl")
    says(error.value)


def test_a_trace_tells_its_time_its_prompt_its_metadata_and_peoples_feedback(tmp_path: Path) -> None:
    noted = {
        "tags": ["crop:maize", "beta"],
        "metadata": {"region": "north", "nested": {"not": "one value"}},
        "version": "v2",
        "scores": [{"name": "faithfulness", "value": 0.5}, {"name": "user-feedback", "value": 1}],
    }
    (answer,) = read(write(tmp_path / "a.jsonl", LANGFUSE | {"id": "t"} | noted))
    assert answer.metadata == {
        "crop": "maize",
        "region": "north",
        "prompt_version": "v2",
        "feedback": 1,
        "time": "2026-01-01T00:00:00+00:00",
        "trace_id": "t",
    }


def test_a_time_without_a_zone_is_utc() -> None:
    assert seconds_at("2026-01-01T00:00:00") == seconds_at("2026-01-01T01:00:00+01:00") == 1_767_225_600


def test_a_span_tells_its_metadata_and_the_version_of_its_prompt(tmp_path: Path) -> None:
    noted = {"metadata": '{"region": "north"}', "llm.prompt_template.version": "7", "tag.tags": ["crop:rice"]}
    span = {"context": {"trace_id": "t", "span_id": "s"}, "attributes": SPAN["attributes"] | noted}
    (answer,) = read(write(tmp_path / "a.jsonl", span))
    assert answer.metadata == {"crop": "rice", "region": "north", "prompt_version": "7", "trace_id": "t"}
