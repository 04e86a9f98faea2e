"""Requests of OTLP with spans or log events, in both encodings."""

import json
from typing import Any

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from tests.support.otlp import with_base64

TRACE = "5b8efff798038103d269b633813fc60c"
BEGAN = 1_763_900_000_000_000_000


def span(
    number: int, *, trace: str = TRACE, parent: int | None = None, **attributes: object
) -> dict[str, Any]:
    """Return a span in OTLP's JSON, one second long; the `__` of an attribute's name is a dot."""
    return {
        "traceId": trace,
        "spanId": f"{number:016x}",
        **({"parentSpanId": f"{parent:016x}"} if parent else {}),
        "name": f"step {number}",
        "startTimeUnixNano": str(BEGAN + number * 10**8),
        "endTimeUnixNano": str(BEGAN + number * 10**8 + 10**9),
        "attributes": [
            {
                "key": name.replace("__", "."),
                "value": value if isinstance(value, dict) else {"stringValue": value},
            }
            for name, value in attributes.items()
        ],
    }


def request(*spans: dict[str, Any]) -> bytes:
    """Return a request with these spans in JSON."""
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    scoped = {"scope": {"name": "tests", "version": "1"}, "spans": spans}
    return json.dumps({"resourceSpans": [{"resource": service, "scopeSpans": [scoped]}]}).encode()


def asked(question: str, answer: str, trace: str = TRACE) -> bytes:
    """Return a request with a trace in which one question is asked."""
    kind: dict[str, Any] = {"openinference__span__kind": "CHAIN"}
    return request(span(1, trace=trace, **kind, input__value=question, output__value=answer))


def as_protobuf(body: bytes) -> bytes:
    """Return a request in JSON as one in protobuf."""
    from google.protobuf.json_format import ParseDict

    raw = json.loads(body, object_hook=with_base64)
    kind = ExportLogsServiceRequest if "resourceLogs" in raw else ExportTraceServiceRequest
    return bytes(ParseDict(raw, kind()).SerializeToString())


def typed(value: object) -> dict[str, Any]:
    """Return a value as OTLP's JSON has it."""
    if isinstance(value, dict):
        inside = [{"key": str(name), "value": typed(one)} for name, one in value.items()]
        return {"kvlistValue": {"values": inside}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [typed(one) for one in value]}}
    kinds = {bool: "boolValue", int: "intValue", float: "doubleValue", str: "stringValue"}
    return {kinds[type(value)]: str(value) if type(value) is int else value}


def record(
    name: str, number: int | None = 1, *, trace: str = TRACE, body: object = None, **attributes: object
) -> dict[str, Any]:
    """Return a log event of a span, None for one of none; the `__` of an attribute's name is a dot."""
    ids = {} if number is None else {"traceId": trace, "spanId": f"{number:016x}"}
    return {
        "timeUnixNano": str(BEGAN + (number or 0) * 10**8),
        "eventName": name,
        **ids,
        **({} if body is None else {"body": typed(body)}),
        "attributes": [
            {"key": key.replace("__", "."), "value": typed(value)} for key, value in attributes.items()
        ],
    }


def details(
    question: str, answer: str, number: int | None = 1, *, trace: str = TRACE, **more: object
) -> dict[str, Any]:
    """Return the event of a model's call in which a user asks something."""
    said = [("user", question), ("assistant", answer)]
    messages = [[{"role": role, "parts": [{"type": "text", "content": text}]}] for role, text in said]
    known = {"gen_ai__operation__name": "chat", "gen_ai__request__model": "m"}
    both = {"gen_ai__input__messages": messages[0], "gen_ai__output__messages": messages[1]}
    attributes: dict[str, Any] = {**known, **both, **more}
    return record("gen_ai.client.inference.operation.details", number, trace=trace, **attributes)


def evaluation(metric: str, number: int | None = 1, *, trace: str = TRACE, **more: object) -> dict[str, Any]:
    """Return the event of an evaluator; its attributes are named from `gen_ai.evaluation.` on."""
    named: dict[str, Any] = {"name": metric, **more}
    said = {f"gen_ai__evaluation__{name}": value for name, value in named.items()}
    return record("gen_ai.evaluation.result", number, trace=trace, **said)


def log_request(*records: dict[str, Any], scope: str = "tests") -> bytes:
    """Return a request with these log events in JSON."""
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "shop"}}]}
    scoped = {"scope": {"name": scope, "version": "1"}, "logRecords": records}
    return json.dumps({"resourceLogs": [{"resource": service, "scopeLogs": [scoped]}]}).encode()
