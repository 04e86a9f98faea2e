"""The rows: frozen, honest, and as DESIGN.md lists them."""

import math

import msgspec
import pytest
from tests.support.plain_rows import judgement_row

from ragstone.kernel.records import (
    STATUSES,
    Answer,
    Chunk,
    Document,
    Judgement,
    Label,
    Question,
    Ranking,
    Status,
    Usage,
    count_statuses,
    name_repeat,
    references,
    split_repeat,
)


def judgement(status: Status = "scored", score: float | None = None) -> Judgement:
    return judgement_row(judge="j", metric="m", status=status, score=score, model="none")


# As in DESIGN.md section 2, `?` for what may be absent.
DESIGN = {
    Document: "id text title? lang? source? metadata?",
    Chunk: "id document_id text start end metadata?",
    Question: "id question reference? evidence? document_ids? answerable? kind lang? tags? scores? metadata?",
    Ranking: "question_id retriever items metadata?",
    Answer: "question_id system answer contexts? latency_s? usage? cost_usd? error? metadata? question? "
    "reference?",
    Judgement: "question_id system judge metric status score? scale? label? rationale? verdicts? model "
    "prompt_version usage? cost_usd? error? metadata?",
    Label: "question_id system metric? score annotator? rationale? metadata?",
}


@pytest.mark.parametrize("kind", DESIGN, ids=lambda kind: kind.__name__)
def test_every_row_has_the_fields_of_the_design(kind):
    fields = {field.name: field.default is None for field in msgspec.structs.fields(kind)}
    for name in DESIGN[kind].split():
        assert fields[name.rstrip("?")] == name.endswith("?"), name


@pytest.mark.parametrize("status", [status for status in STATUSES if status != "scored"])
def test_a_score_is_present_if_and_only_if_the_status_is_scored(status, says):
    assert judgement(status).score is None
    assert judgement("scored", 0.0).score == 0
    with pytest.raises(ValueError) as error:
        judgement(status, 0.0)
    says(error.value)
    with pytest.raises(ValueError) as error:
        judgement("scored")
    says(error.value)


@pytest.mark.parametrize("score", [math.nan, math.inf, -math.inf])
def test_no_score_is_nan_or_infinite(score, says):
    with pytest.raises(ValueError) as error:
        judgement("scored", score)
    says(error.value)
    with pytest.raises(ValueError) as error:
        Label(question_id="q", score=score)
    says(error.value)


def test_an_unknown_status_is_refused_on_reading():
    encoded = msgspec.json.encode(judgement("scored", 1.0)).replace(b'"scored"', b'"fine"')
    with pytest.raises(msgspec.ValidationError, match="Invalid enum value 'fine'"):
        msgspec.json.decode(encoded, type=Judgement)


def test_a_chunk_is_as_long_as_its_span_in_code_points(says):
    Chunk(id="c", document_id="d", text="नमस्ते 👍", start=5, end=13)
    with pytest.raises(ValueError) as error:
        Chunk(id="c", document_id="d", text="नमस्ते 👍", start=5, end=14)
    says(error.value)


def test_rows_are_frozen_and_absent_fields_are_not_written():
    row = Document(id="d", text="t")
    with pytest.raises(AttributeError):
        row.text = "other"  # type: ignore[misc]
    assert msgspec.json.encode(row) == b'{"id":"d","text":"t"}'


def test_fields_that_the_design_lists_as_always_present_are_written_though_they_have_a_default():
    assert b'"kind":"open"' in msgspec.json.encode(Question(id="q", question="?"))
    assert b'"system":"default"' in msgspec.json.encode(Answer(question_id="q", answer=""))
    assert b'"system":"default"' in msgspec.json.encode(Label(question_id="q", score=1))


def test_usage_adds_up_with_its_calls():
    total = Usage(input=10, output=2, cached=4) + Usage(input=1, output=1)
    assert total == Usage(input=11, output=3, cached=4, calls=2)
    assert Usage(calls=0) + total == total


@pytest.mark.parametrize(
    ("reference", "expected"),
    [(None, []), ("", []), (" \n", []), ("a", ["a"]), (["a", "", "b"], ["a", "b"]), ([], [])],
)
def test_references_are_the_alternatives_that_say_something(reference, expected):
    assert references(Question(id="q", question="?", reference=reference)) == expected
    assert references(Answer(question_id="q", answer="a", reference=reference)) == expected


def test_statuses_are_counted_in_their_order_without_zeros():
    rows = [judgement("timeout"), judgement("scored", 1.0), judgement("timeout"), judgement("unparsable")]
    assert list(count_statuses(rows).items()) == [("scored", 1), ("unparsable", 1), ("timeout", 2)]
    assert count_statuses([]) == {}


@pytest.mark.parametrize(
    ("system", "expected"),
    [
        ("rag", ("rag", 1)),
        ("rag@repeat=2", ("rag", 2)),
        ("rag@repeat=999999", ("rag", 999999)),
        ("hr/rag v1.2@repeat=10", ("hr/rag v1.2", 10)),
        ("rag@repeat=2@repeat=3", ("rag@repeat=2", 3)),
        *(
            (plain, (plain, 1))
            for plain in (
                "rag@repeat=1",
                "rag@repeat=0",
                "rag@repeat=02",
                "rag@repeat=-2",
                "rag@repeat=٣",
                "rag@repeat=2 ",
                "rag@repeat=x",
                "rag@repeat=1000000",
                "@repeat=2",
                "",
            )
        ),
    ],
)
def test_a_repeat_is_named_after_its_system_and_other_names_are_left_alone(system, expected):
    assert split_repeat(system) == expected
    assert name_repeat(*expected) == system
