"""Requests of OTLP, in both encodings."""

import json
from typing import Any

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
    return bytes(ParseDict(raw, ExportTraceServiceRequest()).SerializeToString())
