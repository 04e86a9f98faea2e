"""`/v1/logs`: which events are kept, how they are masked and limited; what hostile bodies come to."""

import contextlib
import gzip
import json
import logging

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.features.watch.test_collecting import JSON, PROTOBUF, send, settings_of
from tests.support.spans import TRACE, as_protobuf, details, evaluation, log_request, record, request, span

import ragstone
from ragstone.features.watch.collecting import open_receiver
from ragstone.features.watch.collector import mask_events
from ragstone.kernel.config import OtlpSection
from ragstone.kernel.errors import DataError, MissingExtra
from ragstone.kernel.privacy.masking import own_words
from ragstone.kernel.privacy.values import digest_of
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows

LIMITS, SECRET = OtlpSection(), b"s" * 32


def written(body, encoding="json", section=LIMITS, own=None):
    masked = mask_events(body, encoding, section, own, SECRET)
    raw = json.loads(masked.line) if masked.line else {"resourceLogs": []}
    scopes = [scope for resource in raw["resourceLogs"] for scope in resource["scopeLogs"]]
    return [one for scope in scopes for one in scope["logRecords"]], masked.receipt


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    app = open_receiver(settings_of(tmp_path_factory.mktemp("served"), max_request_mb=1, max_spans=100))
    yield app
    app.close()


def test_both_encodings_are_written_alike():
    rich = record(
        "gen_ai.choice",
        2,
        body={"message": {"content": "grüß", "n": 7, "share": 0.5, "done": True, "tags": ["a", 1]}},
        gen_ai__system="openai",
    )
    rich |= {"severityNumber": 9, "severityText": "INFO", "observedTimeUnixNano": "5"}
    body = log_request(details("When?", "In May."), rich, evaluation("relevance", None, score__value=0.5))
    line = mask_events(body, "json", LIMITS, None, SECRET).line
    assert mask_events(as_protobuf(body), "protobuf", LIMITS, None, SECRET).line == line
    assert [one["eventName"] for one in written(body)[0]] == [
        "gen_ai.client.inference.operation.details",
        "gen_ai.choice",
        "gen_ai.evaluation.result",
    ]


def test_only_events_of_generative_ai_are_kept_and_the_others_counted(says):
    plain = record("") | {"body": {"stringValue": "user anna@example.com logged in"}}
    old = record("") | {"attributes": [{"key": "event.name", "value": {"stringValue": "gen_ai.choice"}}]}
    records, receipt = written(log_request(plain, record("db.query"), old, details("a?", "b")))
    assert len(records) == 2
    assert (receipt.spans, receipt.events, receipt.rejected) == (0, 2, 2)
    says(receipt.message)


def test_personal_data_is_masked_together_in_a_trace_and_people_are_digests():
    body = log_request(
        details("Mail anna@example.com or ben@example.com", "I mail ben@example.com.", user__id="anna"),
        evaluation("tone", explanation="ben@example.com is named; Hofladen too"),
        evaluation("tone", None, explanation="ask carl@example.com"),
    )
    records, _ = written(body, own=own_words(["Hofladen"]))
    stored = json.dumps(records)
    assert "example.com" not in stored
    assert stored.count("[email-2]") == 3  # ben, the same in all of the trace
    assert "[masked] too" in stored
    assert digest_of(SECRET, "anna", "user") in stored
    assert stored.count('"ask [email]"') == 1


def test_too_many_records_and_too_long_texts_are_cut_and_said(says):
    section = OtlpSection(max_spans=2, max_attribute_kb=1)
    long = details("word " * 1000, "b")
    records, receipt = written(log_request(long, *[details("a?", "b")] * 3), section=section)
    assert (len(records), receipt.rejected) == (2, 2)
    assert "[cut: 5,000 characters]" in json.dumps(records[0])
    says(receipt.message)


@pytest.mark.parametrize(
    ("body", "encoding", "why"),
    [
        (b"x", "json", "not OTLP in JSON"),
        (b"[]", "json", "not OTLP in JSON"),
        (b"[" * 100_000, "json", "not OTLP in JSON"),
        (b'{"resourceSpans": []}', "json", "Traces go to /v1/traces"),
        (b'{"resourceLogs": 3}', "json", "resourceLogs"),
        (b"{}", "protobuf", "not OTLP in protobuf"),
    ],
)
def test_what_is_no_otlp_is_told(body, encoding, why):
    with pytest.raises(DataError, match=why):
        mask_events(body, encoding, LIMITS, None, SECRET)


def test_records_that_are_none_are_refused_one_by_one_and_wrong_ids_are_left_out(says):
    wrong = details("a?", "b") | {"attributes": 3}
    odd = details("a?", "b") | {"traceId": "zz", "spanId": "1"}
    records, receipt = written(log_request(wrong, odd, details("c?", "d")))
    assert [one.get("traceId") for one in records] == [None, TRACE]
    assert "spanId" not in records[0]
    assert (receipt.events, receipt.rejected) == (2, 1)
    says(receipt.message)


def test_protobuf_without_its_package_is_told(monkeypatch):
    from ragstone.features.watch import _log_records

    monkeypatch.setattr(_log_records, "has_protobuf", lambda: False)
    with pytest.raises(MissingExtra, match=r"ragstone\[telemetry\]"):
        mask_events(b"", "protobuf", LIMITS, None, SECRET)


def test_events_from_python_are_stored_and_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    body = log_request(details("When?", "In May."))
    receipt = ragstone.store_spans(body, tmp_path / "traces", encoding="json", signal="logs")
    assert receipt == ragstone.SpanReceipt(spans=0, events=1)
    (file,) = (tmp_path / "traces").iterdir()
    assert [row.answer for row in read_rows(file, Answer)] == ["In May."]


@pytest.mark.long
def test_the_path_for_logs_answers_in_its_own_words(served, says):
    body = log_request(details("When?", "In May."), record("db.query"))
    response = send(served, body, JSON, path="/v1/logs")
    told = {"rejectedLogRecords": "1", "errorMessage": response.json()["partialSuccess"]["errorMessage"]}
    assert (response.status_code, response.json()) == (200, {"partialSuccess": told})
    packed = {**PROTOBUF, "Content-Encoding": "gzip"}
    response = send(served, gzip.compress(as_protobuf(body)), packed, path="/v1/logs")
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceResponse

    assert ExportLogsServiceResponse.FromString(response.content).partial_success.rejected_log_records == 1
    assert send(served, log_request(details("a?", "b")), JSON, path="/v1/logs").content == b"{}"
    says(send(served, method="GET", path="/v1/logs").text)
    says(send(served, headers={}, path="/v1/logs").text)
    assert send(served, request(span(1)), JSON, path="/v1/logs").status_code == 400
    assert send(served, b" " * 1_000_001, JSON, path="/v1/logs").status_code == 413


PIECES = st.sampled_from(
    b'{ } [ ] : , "resourceLogs" "scopeLogs" "logRecords" "eventName" "gen_ai.choice" "attributes" "key" '
    b'"value" "stringValue" "\\ud800" 1e999 null \xff "a" "body"'.split()
)
SENT = log_request(details("When?", "In May."), evaluation("tone", score__value=0.5))


@st.composite
def hostile(draw):
    """Return a body that is near to a request: pieces of one, or one with some bytes changed or cut away."""
    if draw(st.booleans()):
        return b"".join(draw(st.lists(PIECES, max_size=40)))
    body = bytearray(draw(st.sampled_from([SENT, as_protobuf(SENT)])))
    for _ in range(draw(st.integers(1, 6))):
        body[draw(st.integers(0, len(body) - 1))] = draw(st.integers(0, 255))
    return bytes(body[: draw(st.integers(1, len(body)))])


@pytest.mark.long
@settings(max_examples=300, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(body=hostile(), encoding=st.sampled_from(["json", "protobuf"]))
def test_hostile_bodies_are_refused_or_taken_and_what_is_taken_can_be_read(body, encoding, tmp_path):
    try:
        masked = mask_events(body, encoding, LIMITS, None, SECRET)
    except DataError:
        return
    if masked.line:
        assert masked.receipt.events > 0
        msgspec.json.decode(masked.line)
        (tmp_path / "events.jsonl").write_bytes(masked.line + b"\n")
        with contextlib.suppress(DataError):
            list(read_rows(tmp_path / "events.jsonl", Answer))


@pytest.mark.parametrize("headers", [JSON, PROTOBUF])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x00" * 999,
        b"\xff" * 999,
        b"[" * 99_999,
        b'{"resourceLogs":[{}]}',
        SENT[:-3],
        b"\x0a\x02\x12\x00",
    ],
)
def test_hostile_requests_leave_no_traceback(served, body, headers, caplog):
    with caplog.at_level(logging.DEBUG):
        response = send(served, body, headers, path="/v1/logs")
    assert response.status_code in (200, 400)
    assert "Traceback" not in caplog.text
