"""OTLP's log records: requests with events of generative AI in protobuf or JSON -> values, and those as JSON.

Of all else that an application logs nothing is taken.
"""

from collections.abc import Iterable

import msgspec

from ragstone.features.watch.otlp import Nanoseconds, OtlpAttribute, OtlpSource, OtlpValue
from ragstone.features.watch.otlp_decoding import Encoding, has_protobuf, proto_attributes, proto_value
from ragstone.kernel.errors import DataError, MissingExtra

EVENTS = "gen_ai."
"""What the names of events begin with that are taken."""


class OtlpLogRecord(msgspec.Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """One log event. Ids that are none are empty: it then belongs to no trace."""

    time_unix_nano: Nanoseconds | None = None
    observed_time_unix_nano: Nanoseconds | None = None
    severity_number: int | str = 0
    severity_text: str = ""
    body: OtlpValue | None = None
    attributes: list[OtlpAttribute] = []
    trace_id: str = ""
    span_id: str = ""
    event_name: str = ""

    @property
    def name(self) -> str:
        """The name of the event; older exporters have it in an attribute."""
        named = (field.value for field in self.attributes if field.key == "event.name" and field.value)
        return self.event_name or next((value.string_value or "" for value in named), "")


class OtlpScopeLogs(msgspec.Struct, omit_defaults=True, rename="camel"):
    """The log events of one library."""

    scope: OtlpSource | None = None
    log_records: list[OtlpLogRecord] = []


class OtlpResourceLogs(msgspec.Struct, omit_defaults=True, rename="camel"):
    """The log events of one program; `resource` says which."""

    resource: OtlpSource | None = None
    scope_logs: list[OtlpScopeLogs] = []


class OtlpLogBatch(msgspec.Struct, rename="camel"):
    """A request, and a line of a file of log events."""

    resource_logs: list[OtlpResourceLogs] = []


class _RawScopeLogs(msgspec.Struct, rename="camel"):
    scope: OtlpSource | None = None
    log_records: list[msgspec.Raw] = []


class _RawResourceLogs(msgspec.Struct, rename="camel"):
    resource: OtlpSource | None = None
    scope_logs: list[_RawScopeLogs] = []


class _RawLogBatch(msgspec.Struct, rename="camel"):
    resource_logs: list[_RawResourceLogs] | None = None


class DecodedLogs(msgspec.Struct):
    """A request without what is not taken. refused: why each of those records is none; n_other: no events."""

    batch: OtlpLogBatch
    refused: list[str]
    n_other: int = 0


_decode_batch = msgspec.json.Decoder(_RawLogBatch).decode
_decode_record = msgspec.json.Decoder(OtlpLogRecord).decode


def decode_logs(body: bytes, encoding: Encoding) -> DecodedLogs:
    """Return the events of a request. Raises DataError for what is no OTLP, MissingExtra without protobuf."""
    return _of_protobuf(body) if encoding == "protobuf" else _of_json(body)


def _of_json(body: bytes) -> DecodedLogs:
    try:
        raw = _decode_batch(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
        raise DataError(
            f"this is not OTLP in JSON ({mistake}). Send an ExportLogsServiceRequest: an object "
            "with `resourceLogs`."
        ) from None
    if raw.resource_logs is None and body.strip() != b"{}":
        raise DataError("this JSON has no `resourceLogs`. Traces go to /v1/traces.")
    decoded = DecodedLogs(OtlpLogBatch(), [])
    for resource in raw.resource_logs or ():
        scopes = []
        for scope in resource.scope_logs:
            records = []
            for record in scope.log_records:
                try:
                    records.append(_decode_record(record))
                except UnicodeDecodeError:
                    decoded.refused.append("a text in it is not UTF-8")
                except (msgspec.DecodeError, RecursionError) as mistake:
                    decoded.refused.append(str(mistake))
            scopes.append(OtlpScopeLogs(scope.scope, _taken(records, decoded)))
        decoded.batch.resource_logs.append(OtlpResourceLogs(resource.resource, scopes))
    return decoded


def _of_protobuf(body: bytes) -> DecodedLogs:
    if not has_protobuf():
        raise MissingExtra("OTLP in protobuf (JSON works without it)", "telemetry")
    from google.protobuf.message import DecodeError
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest

    try:
        request = ExportLogsServiceRequest.FromString(body)
    except DecodeError:
        raise DataError("this is not OTLP in protobuf. Send an ExportLogsServiceRequest.") from None
    decoded = DecodedLogs(OtlpLogBatch(), [])
    for resource in request.resource_logs:
        scopes = []
        for scope in resource.scope_logs:
            records = (
                OtlpLogRecord(
                    time_unix_nano=str(record.time_unix_nano) if record.time_unix_nano else None,
                    observed_time_unix_nano=str(record.observed_time_unix_nano)
                    if record.observed_time_unix_nano
                    else None,
                    severity_number=int(record.severity_number),
                    severity_text=record.severity_text,
                    body=proto_value(record.body),
                    attributes=proto_attributes(record.attributes),
                    trace_id=record.trace_id.hex(),
                    span_id=record.span_id.hex(),
                    event_name=record.event_name,
                )
                for record in scope.log_records
            )
            made_by = OtlpSource(
                scope.scope.name, scope.scope.version, proto_attributes(scope.scope.attributes)
            )
            scopes.append(OtlpScopeLogs(made_by, _taken(records, decoded)))
        about = OtlpSource(attributes=proto_attributes(resource.resource.attributes))
        decoded.batch.resource_logs.append(OtlpResourceLogs(about, scopes))
    return decoded


def _taken(records: Iterable[OtlpLogRecord], decoded: DecodedLogs) -> list[OtlpLogRecord]:
    """Return the events of generative AI among records, with ids that are some; count the others."""
    taken = []
    for record in records:
        if not record.name.startswith(EVENTS):
            decoded.n_other += 1
            continue
        record.trace_id = _id(record.trace_id, 32)
        record.span_id = _id(record.span_id, 16) if record.trace_id else ""
        taken.append(record)
    return taken


def _id(text: str, digits: int) -> str:
    """Return an id; an empty one for what is none, as the protocol wants it to be taken."""
    is_id = (
        len(text) == digits and text.strip("0") and all(digit in "0123456789abcdefABCDEF" for digit in text)
    )
    return text.lower() if is_id else ""
