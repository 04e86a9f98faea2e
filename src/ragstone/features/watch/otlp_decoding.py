"""OTLP, requests with spans in protobuf or JSON -> the values of otlp.py."""

import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import msgspec

from ragstone.features.watch.otlp import (
    OtlpAttribute,
    OtlpEvent,
    OtlpFields,
    OtlpLink,
    OtlpList,
    OtlpSource,
    OtlpSpan,
    OtlpStatus,
    OtlpValue,
)
from ragstone.kernel.errors import DataError, MissingExtra

if TYPE_CHECKING:
    from opentelemetry.proto.common.v1.common_pb2 import AnyValue
    from opentelemetry.proto.trace.v1.trace_pb2 import Span

Encoding = Literal["protobuf", "json"]


class StoredSpan(OtlpSpan):
    """A span in a file, which may be anybody's: its ids are as they are."""

    trace_id: Annotated[str, msgspec.Meta(min_length=1)]
    span_id: Annotated[str, msgspec.Meta(min_length=1)]
    parent_span_id: str | None = None


class OtlpScopeSpans(msgspec.Struct, omit_defaults=True, rename="camel"):
    """The spans of one library."""

    scope: OtlpSource | None = None
    spans: list[OtlpSpan] = []


class OtlpResourceSpans(msgspec.Struct, omit_defaults=True, rename="camel"):
    """The spans of one program; `resource` says which."""

    resource: OtlpSource | None = None
    scope_spans: list[OtlpScopeSpans] = []


class OtlpBatch(msgspec.Struct, rename="camel"):
    """A request, and a line of a file of traces."""

    resource_spans: list[OtlpResourceSpans] = []


class _RawScopeSpans(msgspec.Struct, rename="camel"):
    scope: OtlpSource | None = None
    spans: list[msgspec.Raw] = []


class _RawResourceSpans(msgspec.Struct, rename="camel"):
    resource: OtlpSource | None = None
    scope_spans: list[_RawScopeSpans] = []


class _RawBatch(msgspec.Struct, rename="camel"):
    resource_spans: list[_RawResourceSpans] | None = None


class DecodedBatch(NamedTuple):
    """A request, without the spans that are none. refused: why each of those is none."""

    batch: OtlpBatch
    refused: list[str]


WRONG_IDS = "traceId has 32 hexadecimal digits and spanId 16, not all of them zero"
_BROKEN = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}  # as protobuf writes them in JSON
_decode_batch = msgspec.json.Decoder(_RawBatch).decode
_decode_span = msgspec.json.Decoder(OtlpSpan).decode
_decode_stored = msgspec.json.Decoder(StoredSpan).decode


def decode_spans(body: bytes, encoding: Encoding) -> DecodedBatch:
    """Return the spans of a request. Raises DataError for what is no OTLP, MissingExtra without protobuf."""
    return _of_protobuf(body) if encoding == "protobuf" else _of_json(body, _decode_span)


def decode_stored(line: bytes) -> DecodedBatch:
    """Return the spans of a line of a file, or of a whole one. Raises DataError for what is no OTLP."""
    return _of_json(line, _decode_stored)


def _of_json(body: bytes, decode: Callable[[msgspec.Raw], OtlpSpan]) -> DecodedBatch:
    try:
        raw = _decode_batch(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
        raise DataError(
            f"this is not OTLP in JSON ({mistake}). Send an ExportTraceServiceRequest: an object with "
            "`resourceSpans`."
        ) from None
    if raw.resource_spans is None and body.strip() != b"{}":
        raise DataError(
            "this JSON has no `resourceSpans`. Only traces are accepted here; log events go to /v1/logs."
        )
    refused: list[str] = []
    resources = [
        OtlpResourceSpans(
            resource.resource,
            [OtlpScopeSpans(s.scope, _spans(s.spans, decode, refused)) for s in resource.scope_spans],
        )
        for resource in raw.resource_spans or ()
    ]
    return DecodedBatch(OtlpBatch(resources), refused)


def _spans(
    raw: Iterable[msgspec.Raw], decode: Callable[[msgspec.Raw], OtlpSpan], refused: list[str]
) -> list[OtlpSpan]:
    spans = []
    for span in raw:
        try:
            spans.append(decode(span))
        except UnicodeDecodeError:
            refused.append("a text in it is not UTF-8")
        except (msgspec.DecodeError, RecursionError) as mistake:
            refused.append(WRONG_IDS if "regex '^(?!0+$)" in str(mistake) else str(mistake))
    return spans


@functools.cache
def has_protobuf() -> bool:
    """Return whether the package is installed that reads OTLP in protobuf."""
    try:
        import opentelemetry.proto.collector.trace.v1.trace_service_pb2  # noqa: F401
    except ImportError:
        return False
    return True


def _of_protobuf(body: bytes) -> DecodedBatch:
    if not has_protobuf():
        raise MissingExtra("OTLP in protobuf (JSON works without it)", "telemetry")
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    try:
        request = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        raise DataError("this is not OTLP in protobuf. Send an ExportTraceServiceRequest.") from None
    refused: list[str] = []
    resources = []
    for resource in request.resource_spans:
        scopes = []
        for scope in resource.scope_spans:
            made_by = OtlpSource(
                scope.scope.name, scope.scope.version, proto_attributes(scope.scope.attributes)
            )
            scopes.append(OtlpScopeSpans(made_by, list(_proto_spans(scope.spans, refused))))
        about = OtlpSource(attributes=proto_attributes(resource.resource.attributes))
        resources.append(OtlpResourceSpans(about, scopes))
    return DecodedBatch(OtlpBatch(resources), refused)


def _proto_spans(spans: "Iterable[Span]", refused: list[str]) -> Iterator[OtlpSpan]:
    for span in spans:
        trace, own = span.trace_id, span.span_id
        if len(trace) != 16 or len(own) != 8 or not any(trace) or not any(own):
            refused.append(WRONG_IDS)
            continue
        yield OtlpSpan(
            trace_id=trace.hex(),
            span_id=own.hex(),
            parent_span_id=span.parent_span_id.hex() or None,
            name=span.name,
            kind=int(span.kind),
            start_time_unix_nano=str(span.start_time_unix_nano) if span.start_time_unix_nano else None,
            end_time_unix_nano=str(span.end_time_unix_nano) if span.end_time_unix_nano else None,
            attributes=proto_attributes(span.attributes),
            events=[
                OtlpEvent(
                    time_unix_nano=str(part.time_unix_nano),
                    name=part.name,
                    attributes=proto_attributes(part.attributes),
                )
                for part in span.events
            ],
            links=[
                OtlpLink(
                    trace_id=part.trace_id.hex(),
                    span_id=part.span_id.hex(),
                    attributes=proto_attributes(part.attributes),
                )
                for part in span.links
            ],
            status=OtlpStatus(span.status.message, int(span.status.code))
            if span.HasField("status")
            else None,
        )


def proto_attributes(listed: Any) -> list[OtlpAttribute]:  # noqa: ANN401 - a container of the package
    """Return attributes of protobuf."""
    return [OtlpAttribute(field.key, proto_value(field.value)) for field in listed]


def proto_value(value: "AnyValue") -> OtlpValue | None:
    """Return a value of protobuf; None for one that holds nothing."""
    match value.WhichOneof("value"):
        case "string_value":
            return OtlpValue(string_value=value.string_value)
        case "int_value":
            return OtlpValue(int_value=str(value.int_value))
        case "double_value":
            number = value.double_value
            return OtlpValue(double_value=number if math.isfinite(number) else _BROKEN[str(number)])
        case "bool_value":
            return OtlpValue(bool_value=value.bool_value)
        case "array_value":
            return OtlpValue(
                array_value=OtlpList([proto_value(item) or OtlpValue() for item in value.array_value.values])
            )
        case "kvlist_value":
            return OtlpValue(kvlist_value=OtlpFields(proto_attributes(value.kvlist_value.values)))
        case "bytes_value":
            return OtlpValue(bytes_value="")
        case _:
            return None
