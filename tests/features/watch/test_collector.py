"""What is written of spans that are sent: masked, within limits, in OTLP's own JSON."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.support.spans import TRACE, as_protobuf, asked, request, span

import ragstone
from ragstone.features.watch import otlp_decoding
from ragstone.features.watch.collector import mask_spans
from ragstone.kernel.config import OtlpSection
from ragstone.kernel.errors import DataError, MissingExtra
from ragstone.kernel.privacy.masking import own_words
from ragstone.kernel.privacy.values import digest_of
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows

LIMITS = OtlpSection()
SECRET = b"s" * 32


def written(body: bytes, encoding="json", section=LIMITS, own=None):
    line, receipt = msgspec.structs.astuple(mask_spans(body, encoding, section, own, SECRET))
    spans = [
        one
        for resource in (json.loads(line)["resourceSpans"] if line else ())
        for scope in resource["scopeSpans"]
        for one in scope["spans"]
    ]
    return spans, receipt


def texts(one):
    return {field["key"]: field["value"].get("stringValue") for field in one["attributes"]}


def test_both_encodings_are_written_alike():
    rich = span(
        2,
        parent=1,
        text="grüß",
        n={"intValue": "7"},
        share={"doubleValue": 0.5},
        done={"boolValue": True},
        tags={"arrayValue": {"values": [{"stringValue": "a"}, {"intValue": "1"}]}},
        where={"kvlistValue": {"values": [{"key": "k", "value": {"stringValue": "v"}}]}},
        raw={"bytesValue": "YUBiLm9yZw=="},
    )
    rich["status"] = {"code": 2, "message": "it failed"}
    rich["events"] = [{"timeUnixNano": "5", "name": "exception", "attributes": []}]
    rich["links"] = [{"traceId": TRACE, "spanId": "0000000000000009"}]
    body = request(span(1), rich)
    line, _ = msgspec.structs.astuple(mask_spans(body, "json", LIMITS, None, SECRET))
    assert mask_spans(as_protobuf(body), "protobuf", LIMITS, None, SECRET).line == line
    first, second = written(body)[0]
    assert "parentSpanId" not in first
    assert second["parentSpanId"] == "0000000000000001"
    assert second["status"] == {"message": "it failed", "code": 2}
    assert texts(second)["raw"] == "[bytes]"
    values = {field["key"]: field["value"] for field in second["attributes"]}
    assert (values["n"], values["share"], values["done"]) == (
        {"intValue": "7"},
        {"doubleValue": 0.5},
        {"boolValue": True},
    )


def test_no_text_is_written_unmasked_and_ids_and_numbers_stay():
    mail = "ann@b.org"
    whole = span(
        1,
        plain=f"Write to {mail}",
        phone="5551234",
        json=json.dumps({"to": mail, "n": 12}),
        listed={"arrayValue": {"values": [{"stringValue": mail}]}},
        inner={"kvlistValue": {"values": [{"key": "k", "value": {"stringValue": mail}}]}},
        count={"intValue": "4915123456789"},
    )
    whole |= {"name": f"GET {mail}", "traceState": mail, "status": {"code": 2, "message": mail}}
    whole["events"] = [
        {"name": mail, "attributes": [{"key": "exception.message", "value": {"stringValue": mail}}]}
    ]
    whole["links"] = [{"attributes": [{"key": "why", "value": {"stringValue": mail}}]}]
    raw = json.loads(request(whole))
    raw["resourceSpans"][0]["resource"]["attributes"][0]["value"]["stringValue"] = mail
    line = mask_spans(json.dumps(raw).encode(), "json", LIMITS, own_words(["GET"]), SECRET).line
    assert mail.encode() not in line
    (one,), _ = written(json.dumps(raw).encode(), own=own_words(["GET"]))
    assert (one["traceId"], one["spanId"], one["startTimeUnixNano"]) == tuple(
        whole[name] for name in ("traceId", "spanId", "startTimeUnixNano")
    )
    assert one["name"] == "[masked] [email]"
    assert texts(one)["plain"] == "Write to [email]"
    assert texts(one)["phone"] == "[phone]"
    assert json.loads(texts(one)["json"]) == {"to": "[email]", "n": 12}
    assert one["attributes"][-1]["value"] == {"intValue": "4915123456789"}


def test_one_person_has_one_placeholder_in_a_trace_and_others_are_not_mixed_in():
    other = TRACE[::-1]
    body = request(span(1, a="x@a.org and y@a.org"), span(2, b="y@a.org"), span(3, trace=other, c="y@a.org"))
    first, second, third = written(body)[0]
    assert texts(first)["a"] == "[email-1] and [email-2]"
    assert texts(second)["b"] == "[email-2]"
    assert texts(third)["c"] == "[email]"


@pytest.mark.parametrize(
    ("name", "what"),
    [
        *[("user__id", "user"), ("enduser__id", "user")],
        *[("session__id", "conversation"), ("gen_ai__conversation__id", "conversation")],
    ],
)
def test_who_asked_is_a_digest_that_tells_people_apart(name, what):
    given = ["ann@b.org", "bob@b.org", "ann@b.org", "ann", "5551234567", {"intValue": "5551234567"}, ""]
    body = request(*(span(n, **{name: one}) for n, one in enumerate(given, 1)))
    values = [texts(one)[name.replace("__", ".")] for one in written(body)[0]]
    assert values == [
        *(digest_of(SECRET, one, what) for one in ("ann@b.org", "bob@b.org", "ann@b.org", "ann")),
        *[digest_of(SECRET, "5551234567", what)] * 2,
        "",
    ]
    assert len(set(values)) == 5
    line = mask_spans(as_protobuf(body), "protobuf", LIMITS, None, SECRET).line
    assert b"ann" not in line
    assert b"5551234567" not in line
    other = json.loads(mask_spans(body, "json", LIMITS, None, b"t" * 32).line)
    assert values[0] not in json.dumps(other)


def test_who_asked_of_a_program_is_a_digest_too_and_any_value_becomes_one():
    raw = json.loads(request(span(1, user__id={"arrayValue": {"values": [{"stringValue": "ann"}]}})))
    raw["resourceSpans"][0]["resource"]["attributes"].append(
        {"key": "user.id", "value": {"stringValue": "ann"}}
    )
    line = mask_spans(json.dumps(raw).encode(), "json", LIMITS, None, SECRET).line
    assert b"ann" not in line
    assert digest_of(SECRET, "ann", "user").encode() in line


@pytest.mark.parametrize("encoding", ["json", "protobuf"])
def test_spans_that_are_none_are_told_and_the_others_are_taken(encoding, says):
    body = request(span(1), span(0), span(3))
    spans, receipt = written(as_protobuf(body) if encoding == "protobuf" else body, encoding)
    assert [one["name"] for one in spans] == ["step 1", "step 3"]
    assert (receipt.spans, receipt.rejected) == (2, 1)
    says(receipt.message)


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("startTimeUnixNano", "yesterday", "startTimeUnixNano"),
        ("attributes", [{"key": "x", "value": "a@b.org"}], "got `str`"),
        ("attributes", [{"key": "x", "value": {"intValue": "a@b.org"}}], "attributes"),
        ("parentSpanId", "a@b.org", "parentSpanId"),
        ("kind", "ann", "kind"),
    ],
)
def test_a_field_that_is_wrong_costs_its_span_alone(field, value, why):
    spans, receipt = written(request(span(1) | {field: value}, span(2)))
    assert len(spans) == 1
    assert receipt.rejected == 1
    assert why in receipt.message
    assert "a@b.org" not in json.dumps(spans)


def test_what_is_too_long_is_cut_before_the_last_words_and_the_rest_is_whole(says):
    section = OtlpSection(max_attribute_kb=1)
    body = request(span(1, long="word " * 199 + "a@b.org and more", short="here"))
    (one,), receipt = written(body, section=section)
    # 1,000 characters end in "... word a@b.o"; of those the last eight words go.
    assert texts(one)["long"] == "word " * 191 + "word [cut: 1,011 characters]"
    assert texts(one)["short"] == "here"
    assert receipt.rejected == 0
    says(receipt.message)


def test_twenty_megabytes_in_one_attribute_cost_nothing_else():
    (one, other), receipt = written(request(span(1, long="x" * 20_000_000), span(2, text="y")))
    assert len(texts(one)["long"]) < 257_000
    assert texts(other)["text"] == "y"
    assert "(long)" in receipt.message


def test_a_request_of_too_many_spans_has_its_first_ones_taken(says):
    spans, receipt = written(request(*map(span, range(1, 6))), section=OtlpSection(max_spans=3))
    assert len(spans) == 3
    assert receipt.rejected == 2
    says(receipt.message)


@pytest.mark.parametrize(
    ("body", "encoding", "why"),
    [
        (b"x", "json", "not OTLP in JSON"),
        (b"[]", "json", "not OTLP in JSON"),
        (b"\xff", "json", "not OTLP in JSON"),
        (b"[" * 100_000, "json", "not OTLP in JSON"),
        (b'{"resourceLogs": []}', "json", "events go to /v1/logs"),
        (b'{"resourceSpans": 3}', "json", "resourceSpans"),
        (b"{}", "protobuf", "not OTLP in protobuf"),
    ],
)
def test_what_is_no_otlp_is_told(body, encoding, why):
    with pytest.raises(DataError, match=why):
        mask_spans(body, encoding, LIMITS, None, SECRET)


@pytest.mark.parametrize(("body", "encoding"), [(b"{}", "json"), (b"", "protobuf"), (request(), "json")])
def test_a_request_without_spans_writes_nothing(body, encoding):
    assert mask_spans(body, encoding, LIMITS, None, SECRET).line == b""


def test_without_the_package_json_is_still_taken(monkeypatch):
    monkeypatch.setattr(otlp_decoding, "has_protobuf", lambda: False)
    assert written(request(span(1)))[1].spans == 1
    with pytest.raises(MissingExtra, match=r"pip install 'ragstone\[telemetry\]'"):
        mask_spans(b"", "protobuf", LIMITS, None, SECRET)


def test_what_python_stores_is_read_as_answers(tmp_path: Path, monkeypatch, says):
    monkeypatch.chdir(tmp_path)
    body = asked("I am Mr Ben Lee. When is wheat sown?", "In October, Ben.")
    receipt = ragstone.store_spans(as_protobuf(body), tmp_path / "traces")
    assert receipt == ragstone.SpanReceipt(spans=1)
    (file,) = (tmp_path / "traces").iterdir()
    (row,) = read_rows(file, Answer)
    says(row.question)
    assert row.answer == "In October, [name]."


def test_a_text_that_is_no_utf_8_costs_its_span_alone(says):
    body = request(span(1, text="HERE"), span(2)).replace(b"HERE", b"\xff\xfe")
    spans, receipt = written(body)
    assert [one["name"] for one in spans] == ["step 2"]
    says(receipt.message)


@pytest.mark.parametrize("byte", [b"\xff", b"\xc3", b"\x00", b"\\", b'"', b"\\ud800", b"[" * 3000])
def test_a_wrong_byte_anywhere_is_told_and_never_raises_anything_else(byte):
    body = request(span(1, text="grass"), span(2, n={"intValue": "7"}))
    for at in range(0, len(body), 3):
        try:
            spans, receipt = written(body[:at] + byte + body[at + 1 :])
        except DataError:
            continue
        assert len(spans) + receipt.rejected <= 2
