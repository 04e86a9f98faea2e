"""Judgements -> log events `gen_ai.evaluation.result` of OpenTelemetry, and those -> the bytes of OTLP.

The names are those of OpenTelemetry's conventions for generative AI 0.1 (their own repository, on 1.45 of the
general ones), of pydantic_evals 2.62, whose names for the evaluator they lack, and `ragstone.…` for what
neither has. In protobuf the messages are those of the package opentelemetry-proto 1.45, by the numbers of
their fields.
"""

import hashlib
import re
import struct
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import msgspec

from ragstone.kernel.privacy.masking import OwnWords, mask_personal_data
from ragstone.kernel.records import Judgement

EVENT = "gen_ai.evaluation.result"
LONGEST = 32_000  # characters of a text
LAST_WORDS = 8  # of a text that is cut: half an address would not be known as one
INFO, WARN = 9, 13  # severity numbers of OpenTelemetry
_QUIET = ("scored", "not_applicable", "abstained")  # nothing has failed
_TRACE, _SPAN = re.compile(r"(?!0{32})[0-9a-f]{32}"), re.compile(r"(?!0{16})[0-9a-f]{16}")
_SCOPE = "ragstone"

Value = str | int | float


class SpanPlace(msgspec.Struct, frozen=True, gc=False):
    """Where the answer of a judgement was traced, in hexadecimal digits; empty where nobody knows."""

    trace: str = ""
    span: str = ""


NOWHERE = SpanPlace()


class EvaluationEvent(msgspec.Struct, frozen=True, gc=False):
    """A judgement as a log event. target: the system. time_ns: since 1970, 0 where nobody knows.

    n_cut: texts of which only the beginning is sent.
    """

    target: str
    attributes: tuple[tuple[str, Value], ...]
    body: str
    severity: int
    place: SpanPlace
    time_ns: int = 0
    n_cut: int = 0

    @property
    def n_characters(self) -> int:
        """The characters of its texts."""
        return sum(len(value) for _, value in self.attributes if isinstance(value, str))


def span_place(trace: object, span: object) -> SpanPlace:
    """Return a place in a trace; what is no id of OpenTelemetry is left out, and a span without its trace."""
    trace_id = str(trace).lower()
    span_id = str(span).lower()
    if not _TRACE.fullmatch(trace_id):
        return NOWHERE
    return SpanPlace(trace_id, span_id if _SPAN.fullmatch(span_id) else "")


def event_of(
    row: Judgement,
    *,
    version: str,
    own: OwnWords | None = None,
    place: SpanPlace = NOWHERE,
    question_id: str | None = None,
    time_ns: int = 0,
) -> EvaluationEvent:
    """Return the event of a judgement, without personal data. version: that of its evaluator.

    own: words that are masked besides, see own_words. question_id: in place of the row's own.
    """
    known: dict[str, Value | None] = {
        "gen_ai.evaluation.name": row.metric,
        "gen_ai.evaluation.score.value": row.score,
        "gen_ai.evaluation.score.label": None if row.label is None else _masked(row.label, own)[0],
    }
    why = row.explanation
    text, n_cut = (None, 0) if why is None else _masked(why, own)
    known |= {
        "gen_ai.evaluation.explanation": text,
        "error.type": None if row.status == "scored" else row.status,
        "gen_ai.evaluation.target": row.system,
        "gen_ai.evaluation.evaluator.source": _source(row.judge, row.model),
        "gen_ai.evaluation.evaluator.version": version,
        "ragstone.question_id": question_id or row.question_id,
        "ragstone.status": row.status,
        "ragstone.prompt_version": row.prompt_version,
        "ragstone.score.min": None if row.scale is None else float(row.scale[0]),
        "ragstone.score.max": None if row.scale is None else float(row.scale[1]),
    }
    attributes = tuple((name, value) for name, value in known.items() if value is not None)
    body = f"{row.metric}={row.score:g}" if row.score is not None else f"{row.metric}: {row.status}"
    # What a record is known by: the same for the same one, so that a second copy can be removed.
    uid = hashlib.blake2b(msgspec.json.encode((attributes, place)), digest_size=16).hexdigest()
    return EvaluationEvent(
        target=row.system,
        attributes=(*attributes, ("log.record.uid", uid)),
        body=f"evaluation: {body}",
        severity=INFO if row.status in _QUIET else WARN,
        place=place,
        time_ns=time_ns,
        n_cut=n_cut,
    )


@lru_cache(512)
def _source(judge: str, model: str) -> str:
    return msgspec.json.encode({"name": judge, "arguments": {"model": model}}).decode()


def _masked(text: str, own: OwnWords | None) -> tuple[str, int]:
    """Return a text without personal data, and 1 where it was cut before."""
    text = text.encode("utf-8", "replace").decode()
    if len(text) <= LONGEST:
        return mask_personal_data(text, own).text, 0
    beginning = text[:LONGEST].rsplit(None, LAST_WORDS)[0]
    return f"{mask_personal_data(beginning, own).text} [cut: {len(text):,} characters]", 1


Encode = Callable[[Sequence[EvaluationEvent], int], bytes]
"""Events and the time at which they are sent, in nanoseconds -> the body of a request."""


def in_json(events: Sequence[EvaluationEvent], now_ns: int) -> bytes:
    """Return an ExportLogsServiceRequest in OTLP's JSON."""
    resources = [
        {
            "resource": {"attributes": [_json_field("service.name", target)]},
            "scopeLogs": [{"scope": {"name": _SCOPE}, "logRecords": [_record(one, now_ns) for one in some]}],
        }
        for target, some in _by_target(events).items()
    ]
    return msgspec.json.encode({"resourceLogs": resources})


def _record(event: EvaluationEvent, now_ns: int) -> dict[str, object]:
    known = {
        "timeUnixNano": str(event.time_ns) if event.time_ns else "",
        "observedTimeUnixNano": str(now_ns),
        "severityNumber": event.severity,
        "severityText": _severity(event),
        "eventName": EVENT,
        "body": {"stringValue": event.body},
        "attributes": [_json_field(name, value) for name, value in event.attributes],
        "traceId": event.place.trace,
        "spanId": event.place.span,
    }
    return {name: value for name, value in known.items() if value != ""}


def _json_field(name: str, value: Value) -> dict[str, object]:
    if isinstance(value, str):
        return {"key": name, "value": {"stringValue": value}}
    if isinstance(value, float):
        return {"key": name, "value": {"doubleValue": value}}
    return {"key": name, "value": {"intValue": str(value)}}


def _severity(event: EvaluationEvent) -> str:
    return "INFO" if event.severity == INFO else "WARN"


def _by_target(events: Iterable[EvaluationEvent]) -> dict[str, list[EvaluationEvent]]:
    grouped: dict[str, list[EvaluationEvent]] = {}
    for event in events:
        grouped.setdefault(event.target, []).append(event)
    return grouped


def in_protobuf(events: Sequence[EvaluationEvent], now_ns: int) -> bytes:
    """Return an ExportLogsServiceRequest in protobuf; no package is needed for it."""
    resources = []
    for target, some in _by_target(events).items():
        scope = _part(1, _part(1, _SCOPE.encode()))  # ScopeLogs.scope, InstrumentationScope.name
        records = b"".join(_part(2, _proto_record(event, now_ns)) for event in some)
        resource = _part(1, _proto_field(1, "service.name", target))  # ResourceLogs.resource
        resources.append(_part(1, resource + _part(2, scope + records)))
    return b"".join(resources)


def _proto_record(event: EvaluationEvent, now_ns: int) -> bytes:
    """Return a LogRecord: its fields by number, those of a fixed length with their tags written out."""
    time = b"\x09" + struct.pack("<Q", event.time_ns) if event.time_ns else b""
    return b"".join(
        (
            time,
            b"\x10" + _varint(event.severity),
            _part(3, _severity(event).encode()),
            _part(5, _part(1, event.body.encode("utf-8", "replace"))),
            *(_proto_field(6, name, value) for name, value in event.attributes),
            _part(9, bytes.fromhex(event.place.trace)) if event.place.trace else b"",
            _part(10, bytes.fromhex(event.place.span)) if event.place.span else b"",
            b"\x59" + struct.pack("<Q", now_ns),  # 11, the time at which it was observed
            _part(12, EVENT.encode()),
        )
    )


def _proto_field(number: int, name: str, value: Value) -> bytes:
    """Return a KeyValue with its AnyValue, as a field of this number."""
    if isinstance(value, str):
        typed = _part(1, value.encode("utf-8", "replace"))
    elif isinstance(value, float):
        typed = b"\x21" + struct.pack("<d", value)
    else:
        typed = b"\x18" + _varint(value % 2**64)
    return _part(number, _key(name) + _part(2, typed))


@lru_cache(512)
def _key(name: str) -> bytes:
    return _part(1, name.encode("utf-8", "replace"))


def _part(number: int, content: bytes) -> bytes:
    """Return a field whose content has a length: a text, bytes or another message."""
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    if number < 128:
        return bytes((number,))
    groups = bytearray()
    while number > 127:
        groups.append(number & 127 | 128)
        number >>= 7
    groups.append(number)
    return bytes(groups)
