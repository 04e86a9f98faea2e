"""OTLP, the protocol of OpenTelemetry: its messages with spans, as values.

The fields have OTLP's own names: a value encodes to what the protocol calls its JSON form, which every reader
of traces here understands. What the protocol does not know is dropped, as it asks.
"""

from collections.abc import Iterable, Iterator
from typing import Annotated

import msgspec

_Hex16 = Annotated[str, msgspec.Meta(pattern=r"^(?!0+$)[0-9a-fA-F]{16}$")]
_Hex32 = Annotated[str, msgspec.Meta(pattern=r"^(?!0+$)[0-9a-fA-F]{32}$")]
_Hex = Annotated[str, msgspec.Meta(pattern="^[0-9a-fA-F]{0,32}$")]
_Whole = Annotated[str, msgspec.Meta(pattern=r"^-?\d{1,20}$")] | int
_Broken = Annotated[str, msgspec.Meta(pattern=r"^(?:NaN|-?Infinity|-?[\d.eE+-]{1,40})$")] | float
_Member = Annotated[str, msgspec.Meta(pattern="^[A-Z_]{0,40}$")] | int
Nanoseconds = Annotated[str, msgspec.Meta(pattern=r"^\d{1,20}$")] | Annotated[int, msgspec.Meta(ge=0)]


class OtlpValue(msgspec.Struct, kw_only=True, omit_defaults=True, gc=False, rename="camel"):
    """The value of an attribute: one of these. Not frozen: masking puts another text in its place.

    There are many of them and no circles among them, so no garbage is looked for here.
    """

    string_value: str | None = None
    bool_value: bool | None = None
    int_value: _Whole | None = None
    double_value: _Broken | None = None
    array_value: "OtlpList | None" = None
    kvlist_value: "OtlpFields | None" = None
    bytes_value: str | None = None


class OtlpList(msgspec.Struct, omit_defaults=True, gc=False, rename="camel"):
    """Values in their order."""

    values: list[OtlpValue] = []


class OtlpAttribute(msgspec.Struct, omit_defaults=True, gc=False, rename="camel"):
    """A name and its value."""

    key: str
    value: OtlpValue | None = None


class OtlpFields(msgspec.Struct, omit_defaults=True, gc=False, rename="camel"):
    """Names and values in a value."""

    values: list[OtlpAttribute] = []


class OtlpEvent(msgspec.Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """What happened during a span, an exception for one."""

    time_unix_nano: Nanoseconds | None = None
    name: str = ""
    attributes: list[OtlpAttribute] = []


class OtlpLink(msgspec.Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """Another span that this one has to do with."""

    trace_id: _Hex = ""
    span_id: _Hex = ""
    attributes: list[OtlpAttribute] = []


class OtlpStatus(msgspec.Struct, omit_defaults=True, rename="camel"):
    """How a span ended; code 2 is an error."""

    message: str = ""
    code: _Member = 0


class OtlpSpan(msgspec.Struct, kw_only=True, omit_defaults=True, rename="camel"):
    """One step of a trace. Times are nanoseconds since 1970; one without a parent is the top of its trace."""

    trace_id: _Hex32
    span_id: _Hex16
    parent_span_id: _Hex | None = None
    name: str = ""
    kind: _Member = 0
    start_time_unix_nano: Nanoseconds | None = None
    end_time_unix_nano: Nanoseconds | None = None
    attributes: list[OtlpAttribute] = []
    events: list[OtlpEvent] = []
    links: list[OtlpLink] = []
    status: OtlpStatus | None = None


class OtlpSource(msgspec.Struct, omit_defaults=True, rename="camel"):
    """What made spans: a library, or the program (`resource`), which has `attributes` alone."""

    name: str = ""
    version: str = ""
    attributes: list[OtlpAttribute] = []


def texts_in(attributes: Iterable[OtlpAttribute]) -> Iterator[tuple[str, OtlpValue]]:
    """Yield the values that are texts, each with the name under which it stands. Bytes become a text too."""
    for field in attributes:
        if field.value is not None:
            yield from _texts_of(field.key, field.value)


def _texts_of(name: str, value: OtlpValue) -> Iterator[tuple[str, OtlpValue]]:
    if value.bytes_value is not None:  # nobody could see what is in them
        value.bytes_value, value.string_value = None, "[bytes]"
    if value.string_value is not None:
        yield name, value
    if value.array_value is not None:
        for item in value.array_value.values:
            yield from _texts_of(name, item)
    if value.kvlist_value is not None:
        yield from texts_in(value.kvlist_value.values)
