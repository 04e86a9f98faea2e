"""Traces as rows: their system is the program that sent them, and a filter chooses among them."""

import json

import pytest
from tests.support.command import ragstone
from tests.support.spans import TRACE, request, span

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.interchange.trace_filter import TRACE_COLUMNS, trace_cells
from ragstone.kernel.tables.interchange.trace_steps import TraceStep
from ragstone.kernel.tables.interchange.traces import answers_with_spans

MODEL = {"openinference__span__kind": "LLM"}
ABOUT_MAIZE = "Will maize grow in Nakuru?"


def trace(number, question, model, *, service="shop", failed=False, **more):
    """Return the body of a request with a trace: a question at the top, and a model that answers it."""
    top = span(1, trace=f"{number:032x}", input__value=question, output__value=f"So {number}.", **more)
    below = span(2, trace=f"{number:032x}", parent=1, llm__model_name=model, **MODEL)
    if failed:
        below |= {"status": {"code": 2, "message": "no route"}}
    body = json.loads(request(top, below))
    named = [{"key": "service.name", "value": {"stringValue": service}}] if service else []
    body["resourceSpans"][0]["resource"] = {"attributes": named}
    return json.dumps(body).encode()


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log").mkdir()
    bodies = [
        trace(1, "Is it?", "a", session__id="s"),
        trace(2, "Was it?", "b", failed=True),
        trace(3, ABOUT_MAIZE, "b", service="farm"),
        trace(4, "Could it?", "b", service="unknown_service:python"),
    ]
    (tmp_path / "log" / "a.jsonl").write_bytes(b"\n".join(bodies) + b"\n")
    return tmp_path / "log" / "a.jsonl"


def test_the_system_is_the_program_and_the_model_is_in_the_metadata(log):
    rows = {row.question: row for row in read_rows(log, Answer)}
    assert {text: row.system for text, row in rows.items()} == {
        "Is it?": "shop",
        "Was it?": "shop",  # one application with two models is one system
        ABOUT_MAIZE: "farm",
        "Could it?": "b",  # an SDK's word for no name is none: as ever, the model
    }
    notes = {text: (row.metadata.get("service"), row.metadata.get("model")) for text, row in rows.items()}
    assert notes == {
        "Is it?": ("shop", "a"),
        "Was it?": ("shop", "b"),
        ABOUT_MAIZE: ("farm", "b"),
        "Could it?": (None, None),
    }


def test_the_model_can_be_the_system_as_before(log):
    ran = ragstone(
        "judge", log, "--judge", "no_refusal", "--column", "system=metadata.model", "-o", "j.jsonl"
    )
    assert ran.code == 0
    assert {row.system for row in read_rows("j.jsonl", Judgement)} == {"a", "b"}


def test_a_column_that_answers_of_traces_do_not_have_is_refused(log, says):
    ran = ragstone("judge", log, "--judge", "no_refusal", "--column", "system=modell", "-o", "j.jsonl")
    assert ran.code == 2
    says(ran.err)


@pytest.mark.parametrize(
    ("where", "n"),
    [
        ("service = SHOP", 2),
        ("failed", 1),
        ("errors = 1 and error ~ route", 1),
        ("not failed and model = b", 2),
        ("text ~ 'will maize'", 1),
        ("session = s or service = farm", 2),
        ("spans = 2 and time >= 2025-11-23", 4),
        ("duration > 1.05 and duration < 1.2", 4),
        (f"trace = {1:032x}", 1),
        ("service = none", 1),
    ],
)
def test_judge_takes_of_traces_what_a_filter_leaves(log, where, n):
    ran = ragstone("judge", log, "--judge", "no_refusal", "--where", where, "-o", "j.jsonl")
    assert ran.code == 0
    assert len(list(read_rows("j.jsonl", Judgement))) == n


def test_sample_and_import_take_them_too_and_folders(log, tmp_path):
    assert ragstone("sample", log.parent, "--where", "service = farm", "-o", "q.jsonl").code == 0
    [row] = read_rows(tmp_path / "q.jsonl", Question)
    assert (row.question, row.reference, row.metadata["answer"]) == (ABOUT_MAIZE, None, "So 3.")
    assert ragstone("import", log, "--where", "failed", "-o", "in").code == 0
    assert [row.question for row in read_rows(tmp_path / "in" / "answers.jsonl", Answer)] == ["Was it?"]


@pytest.mark.parametrize(
    "given",
    [
        ("judge", "log", "--judge", "no_refusal", "--where", "servce = farm"),
        ("judge", "log/a.jsonl", "--judge", "no_refusal", "--where", "service = nothing"),
        ("judge", "sheet.jsonl", "--judge", "no_refusal", "--where", "failed"),
        ("sample", "log", "--where", "service = nothing"),
        ("sample", "sheet.jsonl", "--where", "failed"),
        ("import", "log/a.jsonl", "--where", "service = nothing"),
        ("import", "sheet.jsonl", "--where", "failed"),
        ("import", "log/a.jsonl", "--where", "time > yesterday"),
    ],
)
def test_a_filter_that_cannot_be_met_is_refused_and_nothing_is_written(log, given, tmp_path, says):
    (tmp_path / "sheet.jsonl").write_text('{"question": "Is it?", "answer": "It is."}\n')
    ran = ragstone(*given)
    assert ran.code == 2
    says(ran.err)
    written = {path.name for path in tmp_path.rglob("*.jsonl")}
    assert written == {"a.jsonl", "sheet.jsonl"}


def test_a_trace_in_which_nothing_was_asked_has_columns_too():
    step = TraceStep(number=1, trace=TRACE, id="1", name="ingest", started=5.0, latency_s=2.0, service="x")
    cells = trace_cells({}, [step])
    assert cells.keys() == TRACE_COLUMNS.keys()
    told = {name: value for name, value in cells.items() if value is not None}
    assert told == {
        "service": "x",
        "name": "ingest",
        "text": ["ingest"],
        "failed": False,
        "time": 5.0,
        "duration": 2.0,
        "spans": 1,
        "errors": 0,
        "trace": TRACE,
    }


def test_the_service_of_the_top_is_that_of_a_trace_of_several():
    top = TraceStep(number=1, trace="t", id="1", asked="Is it?", answered="It is.", service="front")
    below = TraceStep(number=2, trace="t", id="2", parent="1", kind="model", model="m", service="back")
    [(row, _)] = answers_with_spans([below, top])
    assert (row["system"], row["metadata"]["model"]) == ("front", "m")


def test_a_filter_in_python_holds_for_one_file(log):
    assert [row.question for row in read_rows(log, Answer, where="failed")] == ["Was it?"]
    assert len(list(read_rows(log, Answer))) == 4
    for where in ("servce = farm", "service = nothing"):
        with pytest.raises(DataError):
            list(read_rows(log, Answer, where=where))
    sheet = log.with_name("sheet.jsonl")
    sheet.write_text('{"question": "Is it?", "answer": "It is."}\n')
    with pytest.raises(DataError):
        list(read_rows(sheet, Answer, where="failed"))
