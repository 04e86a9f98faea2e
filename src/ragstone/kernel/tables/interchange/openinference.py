"""Spans after the conventions of OpenTelemetry for generative AI (0.1 and before) and of OpenInference (0.1).

Log events of the first too (`resourceLogs`): `gen_ai.client.inference.operation.details`, the events for each
message that there were until 1.36, and `gen_ai.evaluation.result`, also as an event of a span.

Three shapes: the data frame of Phoenix's `get_spans_dataframe` (columns `context.trace_id`,
`attributes.input.value`), the spans of `get_spans` and Phoenix's REST interface (its client 3.5; objects with
`context` and `attributes`), and OTLP JSON (`resourceSpans`), which any collector of OpenTelemetry writes. The
names that OpenLLMetry and Vercel's AI SDK give their attributes are read too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ragstone.kernel.errors import plural
from ragstone.kernel.tables.columns import as_list
from ragstone.kernel.tables.interchange._messages import answered_in, asked_in, calls_of, messages_of
from ragstone.kernel.tables.interchange.trace_steps import Kind, TraceStep
from ragstone.kernel.tables.interchange.traces import answers_of, tool_call
from ragstone.kernel.tables.interchange.values import (
    amount_in,
    content_in,
    context_in,
    count_in,
    decoded,
    fields_in,
    id_in,
    nested,
    notes_in,
    number_in,
    objects_in,
    role_in,
    seconds_at,
    seconds_between,
)

Path = tuple[str, ...]

# Where the attributes of a span tell what it is; the first that is known is taken.
_KIND_AT: tuple[Path, ...] = (
    ("openinference", "span", "kind"),
    ("gen_ai", "operation", "name"),
    ("traceloop", "span", "kind"),
    ("ai", "operationId"),
    ("llm", "request", "type"),
)
_KINDS: Mapping[str, Kind] = {
    **dict.fromkeys(("llm", "chat", "text_completion", "generate_content", "completion"), "model"),
    **dict.fromkeys(("ai.generatetext.dogenerate", "ai.streamtext.dostream"), "model"),
    **dict.fromkeys(("retriever", "retrieval"), "retriever"),
    **dict.fromkeys(("embedding", "embeddings", "ai.embed"), "embedding"),
    **dict.fromkeys(("tool", "execute_tool", "ai.toolcall"), "tool"),
    "reranker": "reranker",
    "evaluator": "evaluator",
}
_DOCUMENTS: Mapping[str, tuple[Path, ...]] = {
    "retriever": (("retrieval", "documents"), ("gen_ai", "retrieval", "documents")),
    "reranker": (("reranker", "output_documents"),),
}
_MESSAGES: Mapping[str, tuple[Path, ...]] = {
    "input": (
        ("llm", "input_messages"),
        ("gen_ai", "input", "messages"),
        ("gen_ai", "prompt"),
        ("ai", "prompt", "messages"),
    ),
    "output": (("llm", "output_messages"), ("gen_ai", "output", "messages"), ("gen_ai", "completion")),
}
_VALUES: Mapping[str, tuple[Path, ...]] = {
    "input": (
        ("input", "value"),
        ("traceloop", "entity", "input"),
        ("gen_ai", "retrieval", "query", "text"),
        ("ai", "prompt"),
    ),
    "output": (("output", "value"), ("traceloop", "entity", "output"), ("ai", "response", "text")),
}
_TOOL: Mapping[str, tuple[Path, ...]] = {
    "tool": (
        ("gen_ai", "tool", "name"),
        ("tool", "name"),
        ("ai", "toolCall", "name"),
        ("traceloop", "entity", "name"),
    ),
    "id": (("gen_ai", "tool", "call", "id"), ("tool_call", "id"), ("tool", "id"), ("ai", "toolCall", "id")),
    "arguments": (
        *(
            ("gen_ai", "tool", "call", "arguments"),
            ("tool_call", "function", "arguments"),
            ("tool_arguments",),
        ),
        *(("ai", "toolCall", "args"), *_VALUES["input"][:2], ("tool", "parameters")),
    ),
    "result": (
        ("gen_ai", "tool", "call", "result"),
        ("tool_response",),
        ("ai", "toolCall", "result"),
        *_VALUES["output"][:2],
    ),
}
_MODEL: tuple[Path, ...] = (
    ("llm", "model_name"),
    ("gen_ai", "request", "model"),
    ("gen_ai", "response", "model"),
)
WHO: Mapping[str, tuple[Path, ...]] = {
    "session_id": (("session", "id"), ("gen_ai", "conversation", "id")),
    "user_id": (("user", "id"), ("enduser", "id")),
}
EVALUATION = "gen_ai.evaluation.result"
"""The name of the event that holds an evaluator's verdict on what a span has done."""
_ROLES = {"system", "user", "assistant", "tool"}


def read_openinference(rows: Iterable[tuple[int, Any]], where: str) -> Iterator[tuple[int, Any]]:
    """Yield an answer for each trace, see traces.answers_of; what is no object as it is."""
    steps: list[TraceStep] = []
    wrong = False
    for number, step in steps_in(rows):
        if isinstance(step, TraceStep):
            steps.append(step)
        else:
            wrong = True
            yield number, step
    if steps or not wrong:  # else what is wrong says more than that nothing was asked
        yield from answers_of(steps, where)


def steps_in(rows: Iterable[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield the spans of rows as TraceStep; what is no object as it is."""
    for number, raw in rows:
        if not isinstance(raw, dict):
            yield number, raw
            continue
        for span in spans_in(raw):
            try:
                yield number, ValueError(span["problem"]) if "problem" in span else step_in(number, span)
            except RecursionError:
                yield number, ValueError("a span has attributes that are nested too deeply.")


def spans_in(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield spans in one shape: the fields of Phoenix, with `trace_id` and `attributes` in objects.

    told: the events of each, as (name, attributes, time).
    """
    if "resourceSpans" in raw or "scopeSpans" in raw:
        yield from _otlp(raw)
        return
    if "resourceLogs" in raw or "scopeLogs" in raw:
        yield from _logs(raw)
        return
    ids = fields_in(raw.get("context"))
    flat = {name[11:]: value for name, value in raw.items() if name.startswith("attributes.")}
    given = fields_in(decoded(raw.get("attributes")))
    events = objects_in(decoded(raw.get("events")))
    yield {
        **raw,
        "trace_id": ids.get("trace_id", raw.get("context.trace_id")),
        "span_id": ids.get("span_id", raw.get("context.span_id")),
        "attributes": {
            **given,
            **flat,
            **_told((one.get("name"), fields_in(one.get("attributes"))) for one in events),
        },
        "told": [(one.get("name"), fields_in(one.get("attributes")), one.get("timestamp")) for one in events],
    }


def _otlp(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for resource in objects_in(raw.get("resourceSpans")) or [raw]:
        service = _service(resource)
        for scope in objects_in(resource.get("scopeSpans")):
            for span in objects_in(scope.get("spans")):
                status = fields_in(span.get("status"))
                events = [
                    (event.get("name"), _attributes(event.get("attributes")), event.get("timeUnixNano"))
                    for event in objects_in(span.get("events"))
                ]
                thrown = (said.get("exception.message") for _, said, _ in events)
                ids = {"trace_id": span.get("traceId"), "parent_id": span.get("spanId")}
                for name, said, _ in events:
                    if name == EVALUATION:
                        yield {**ids, "evaluation": _evaluation(said, fields_in(scope.get("scope")))}
                yield {
                    "name": span.get("name"),
                    "trace_id": span.get("traceId"),
                    "span_id": span.get("spanId"),
                    "parent_id": span.get("parentSpanId") or None,
                    "start_time": span.get("startTimeUnixNano"),
                    "end_time": span.get("endTimeUnixNano"),
                    "status_code": "ERROR" if str(status.get("code")) in ("2", "STATUS_CODE_ERROR") else "OK",
                    "status_message": status.get("message") or next((text for text in thrown if text), None),
                    "attributes": _attributes(span.get("attributes"))
                    | _told((name, said) for name, said, _ in events),
                    "told": events,
                    "service": service,
                }


UNNAMED = "unknown_service"
"""What an SDK of OpenTelemetry calls a program that has no `service.name`, or begins it with."""


def _service(resource: Mapping[str, Any]) -> str | None:
    """Return what a program calls itself in the resource of its spans; None where nobody has named it."""
    name = _attributes(fields_in(resource.get("resource")).get("attributes")).get("service.name")
    return name if isinstance(name, str) and name.strip() and not name.startswith(UNNAMED) else None


class LogEvent(NamedTuple):
    """A record of OTLP's logs. body: its fields, where it has any; earlier conventions have them there.

    trace, span: ids as they are, zeros where there is none. scope: the library. service: the program.
    """

    name: object
    attributes: dict[str, Any]
    body: Mapping[str, Any]
    trace: object
    span: object
    at: object
    scope: Mapping[str, Any]
    service: str | None = None


def log_events_in(raw: Mapping[str, Any]) -> Iterator[LogEvent]:
    """Yield the log records of a batch of OTLP in JSON."""
    for resource in objects_in(raw.get("resourceLogs")) or [raw]:
        service = _service(resource)
        for scope in objects_in(resource.get("scopeLogs")):
            for record in objects_in(scope.get("logRecords")):
                yield LogEvent(
                    name=record.get("eventName"),
                    attributes=_attributes(record.get("attributes")),
                    body=fields_in(decoded(_value(record.get("body")))),
                    trace=record.get("traceId"),
                    span=record.get("spanId"),
                    at=record.get("timeUnixNano") or record.get("observedTimeUnixNano"),
                    scope=fields_in(scope.get("scope")),
                    service=service,
                )


_DETAILS = "gen_ai.client.inference.operation.details"


def _logs(raw: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what log events tell of spans, those of one span together; then a `problem`, if there is one."""
    said: dict[tuple[str | None, str | None], list[tuple[object, Mapping[str, Any]]]] = {}
    begun: dict[tuple[str | None, str | None], tuple[Any, str | None]] = {}
    for event in log_events_in(raw):
        attributes = event.attributes
        name = event.name or attributes.get("event.name")
        span = _valid_id(event.trace), _valid_id(event.span)
        ids = {
            "trace_id": span[0],
            "start_time": event.at,
            "logged": True,
            "service": event.service,
        }
        if name == EVALUATION:
            reply = {"parent_id": span[1], "reply": attributes.get("gen_ai.response.id")}
            yield {**ids, **reply, "evaluation": _evaluation({**event.body, **attributes}, event.scope)}
        elif name == _DETAILS:
            failed = attributes.get("error.type")
            status = {"status_code": "ERROR", "status_message": failed} if failed else {}
            yield {**ids, "span_id": span[1], **status, "attributes": {**event.body, **attributes}}
        elif str(name).startswith("gen_ai.") and (str(name).endswith(".message") or name == "gen_ai.choice"):
            said.setdefault(span, []).append((name, event.body))
            begun.setdefault(span, (event.at, event.service))
    for span, messages in said.items():
        if span[1] is not None:
            told = {**_told(messages), "gen_ai.operation.name": "chat"}
            at, service = begun[span]
            ids = {"trace_id": span[0], "start_time": at, "logged": True, "service": service}
            yield {**ids, "span_id": span[1], "attributes": told}
    alone = sum(len(messages) for span, messages in said.items() if span[1] is None)
    if alone:
        problem = (
            f"{plural(alone, 'event')} of messages without a span, so it is unknown which answer belongs to "
            "which question. Let the application trace its calls, or send "
            "gen_ai.client.inference.operation.details."
        )
        yield {"problem": problem}


def _valid_id(value: object) -> str | None:
    """Return the id of a trace or a span; None for none, and for zeros, which stand for none."""
    text = str(value or "")
    return text if text.strip("0") else None


def _evaluation(said: Mapping[str, Any], scope: Mapping[str, Any]) -> dict[str, Any]:
    """Return what an evaluator says, as far as it tells it. evaluator: its name, else that of its library.

    `scope` is that library. The score is on a scale that nobody tells; its ends are there in our own alone.
    """
    source = decoded(said.get("gen_ai.evaluation.evaluator.source"))
    name = fields_in(source).get("name") or (source if isinstance(source, str) else None)
    found = {
        "name": said.get("gen_ai.evaluation.name"),
        "score": number_in(said.get("gen_ai.evaluation.score.value")),
        "label": said.get("gen_ai.evaluation.score.label"),
        "explanation": said.get("gen_ai.evaluation.explanation"),
        "error": said.get("error.type"),
        "evaluator": name or scope.get("name"),
        "version": said.get("gen_ai.evaluation.evaluator.version"),
        "scope": scope.get("name"),
    }
    return {key: value if key == "score" else str(value) for key, value in found.items() if value is not None}


def _attributes(listed: object) -> dict[str, Any]:
    """Return the attributes of OTLP, which are a list of keys and typed values."""
    return {str(one["key"]): _value(one.get("value")) for one in objects_in(listed) if "key" in one}


def _value(typed: object) -> Any:
    fields = fields_in(typed)
    if "arrayValue" in fields:
        return [_value(one) for one in objects_in(fields_in(fields["arrayValue"]).get("values"))]
    if "kvlistValue" in fields:
        return _attributes(fields_in(fields["kvlistValue"]).get("values"))
    return next(iter(fields.values()), None)


def _told(events: Iterable[tuple[object, Mapping[str, Any]]]) -> dict[str, Any]:
    """Return the attributes that older conventions wrote as events of a span: messages and prompts."""
    told: dict[str, Any] = {}
    for name, said in events:
        *_, kind, last = f".{name}".rsplit(".", 2)
        if last == "message" and kind in _ROLES:
            told.setdefault("gen_ai.input.messages", []).append({"role": kind, **said})
        elif last == "choice":
            message = fields_in(decoded(said.get("message"))) or said
            told.setdefault("gen_ai.output.messages", []).append({"role": "assistant", **message})
        elif str(name).startswith("gen_ai.") and name != EVALUATION:
            told |= {key: value for key, value in said.items() if key.startswith("gen_ai.")}
    return told


def _at(attributes: Mapping[str, Any], path: Path) -> Any:
    here: Any = attributes
    for part in path:
        if type(here) is not dict:  # which nested made; a check for any mapping takes several times as long
            return None
        here = here.get(part)
    return here


def _first(attributes: Mapping[str, Any], paths: Sequence[Path]) -> Any:
    for path in paths:
        if path[0] in attributes and (value := _at(attributes, path)) is not None:
            return value
    return None


def step_in(number: int, span: Mapping[str, Any]) -> TraceStep:
    """Return a span as spans_in yields it as a step of its trace."""
    if "evaluation" in span:
        return TraceStep(
            number=number,
            trace=id_in(span.get("trace_id")),
            parent=id_in(span.get("parent_id")),
            started=seconds_at(span.get("start_time")),
            evaluation=span["evaluation"],
            reply=id_in(span.get("reply")),
        )
    attributes = nested(span["attributes"])
    kind = _kind(attributes, span)
    begun, ended = seconds_at(span.get("start_time")), seconds_at(span.get("end_time"))
    latency = seconds_between(begun, ended)
    failed = str(span.get("status_code")).upper().endswith("ERROR")
    error = str(span.get("status_message") or "the span failed, and does not say why") if failed else None
    model = _first(attributes, _MODEL)
    said = {side: _messages(attributes, side) for side in _MESSAGES}
    is_tool = kind == "tool"
    return TraceStep(
        number=number,
        trace=id_in(span.get("trace_id")),
        id=id_in(span.get("span_id")),
        parent=id_in(span.get("parent_id")),
        name=id_in(span.get("name")),
        kind=kind,
        asked=None if is_tool else asked_in(_first(attributes, _VALUES["input"]), said["input"]),
        answered=None if is_tool else answered_in(_first(attributes, _VALUES["output"]), said["output"]),
        call=_call(attributes, span, error, latency) if is_tool else None,
        calls=calls_of(said["input"] if kind == "model" else messages_of(_told_of_tools(attributes))),
        chosen=calls_of(said["output"]) if kind == "model" else (),
        contexts=_documents(attributes, kind),
        started=ended if begun is None else begun,
        latency_s=latency,
        tokens=_tokens(attributes),
        cost_usd=amount_in(_at(attributes, ("llm", "cost", "total"))),
        model=model if isinstance(model, str) else None,
        error=error,
        notes=_notes(attributes),
        logged="logged" in span,
        service=span.get("service"),
        reply=id_in(_at(attributes, ("gen_ai", "response", "id"))),
    )


class SpanMessage(NamedTuple):
    """A message to or of a model. role: `system`, `user`, `assistant`, `tool` or `other`; calls: of tools."""

    role: str
    text: str | None
    thought: object
    calls: list[Mapping[str, Any]]


class SpanParts(NamedTuple):
    """What a person reads of a span. given, made: messages to a model, and of it.

    documents: as the span has them, best first, with `text`, and `id`, `score`, `title` and `source` as far
    as they are told.
    """

    kind: Kind
    given: list[SpanMessage]
    made: list[SpanMessage]
    documents: list[dict[str, Any]]


_TITLES = ("title", "name", "file_name", "filename")
_SOURCES = ("source", "url", "uri", "file_path", "path")


def parts_in(raw: Mapping[str, Any], trace: str) -> Iterator[tuple[str, SpanParts]]:
    """Yield the id and the parts of each span of a trace. trace: its id, in small letters."""
    for span in spans_in(raw):
        if str(span.get("trace_id")).lower() == trace and "attributes" in span and span.get("span_id"):
            yield str(span["span_id"]), _parts_of(span)


def _parts_of(span: Mapping[str, Any]) -> SpanParts:
    attributes = nested(span["attributes"])
    kind = _kind(attributes, span)
    listed = _first(attributes, _DOCUMENTS[kind]) if kind in _DOCUMENTS else None
    documents = [
        context | _described(item)
        for item in (as_list(listed) if listed is not None else ())
        if (context := context_in(item))
    ]
    is_model = kind == "model"
    return SpanParts(
        kind=kind,
        given=[*map(_message, _messages(attributes, "input"))] if is_model else [],
        made=[*map(_message, _messages(attributes, "output"))] if is_model else [],
        documents=documents,
    )


def _message(message: Mapping[str, Any]) -> SpanMessage:
    return SpanMessage(
        role=role_in(message) or "other",
        text=content_in(message),
        thought=message.get("thought"),
        calls=[call for call in message.get("tool_calls") or () if isinstance(call, Mapping)],
    )


def _described(item: object) -> dict[str, str]:
    """Return the title and the source that a document tells of itself, or in its metadata."""
    fields = {str(name).removeprefix("document."): value for name, value in fields_in(decoded(item)).items()}
    for name in ("document", "node"):
        fields |= fields_in(fields.get(name))
    facts = {**fields_in(decoded(fields.get("metadata"))), **fields}
    named = {"title": _TITLES, "source": _SOURCES}
    texts = {
        name: next((facts[key] for key in keys if isinstance(facts.get(key), str) and facts[key]), None)
        for name, keys in named.items()
    }
    return {name: text for name, text in texts.items() if text}


def _kind(attributes: Mapping[str, Any], span: Mapping[str, Any]) -> Kind:
    told = [*(_at(attributes, path) for path in _KIND_AT), span.get("span_kind")]
    known = (_KINDS.get(str(one).casefold()) for one in told)
    return next((kind for kind in known if kind), "other")


def _call(
    attributes: Mapping[str, Any], span: Mapping[str, Any], error: str | None, seconds: float | None
) -> dict[str, Any]:
    """Return the call of a tool that a span is of."""
    call = {name: _first(attributes, paths) for name, paths in _TOOL.items()}
    given = call["arguments"]
    if isinstance(given, str) and given.startswith("{'"):  # as LangChain has Python write them
        call["arguments"] = as_list(f"[{given}]")[0] if len(as_list(f"[{given}]")) == 1 else given
    call["tool"] = call["tool"] or span.get("name")
    return tool_call(call, error=error, seconds=seconds)


def _notes(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Return the metadata and the tags that a span was given, who asked, and the version of its prompt."""
    version = _at(attributes, ("llm", "prompt_template", "version"))
    given = {"prompt_version": version} if isinstance(version, str | int | float) else {}
    who = {
        name: str(one) for name, paths in WHO.items() if (one := _first(attributes, paths)) not in (None, "")
    }
    return {
        **notes_in(_at(attributes, ("tag", "tags"))),
        **notes_in(attributes.get("metadata")),
        **given,
        **who,
    }


def _messages(attributes: Mapping[str, Any], side: str) -> list[Any]:
    """Return the messages of one side of a model's call, in one shape."""
    given = decoded(_first(attributes, _MESSAGES[side]))
    if isinstance(given, str):
        given = [{"role": "user" if side == "input" else "assistant", "content": given}]
    return messages_of(as_list(given)) if given is not None else []


def _told_of_tools(attributes: Mapping[str, Any]) -> object:
    """Return the output of a span that is no model's, where messages with calls of tools may be in it."""
    value = _first(attributes, _VALUES["output"])
    return value if isinstance(value, str) and "tool_call" in value else None


def _documents(attributes: Mapping[str, Any], kind: Kind) -> list[dict[str, Any]] | None:
    if kind not in _DOCUMENTS:
        return None
    listed = _first(attributes, _DOCUMENTS[kind])
    return [] if listed is None else [one for item in as_list(listed) if (one := context_in(item))]


def _tokens(attributes: Mapping[str, Any]) -> tuple[int, int, int] | None:
    counts, usage = (
        fields_in(_at(attributes, ("llm", "token_count"))),
        fields_in(_at(attributes, ("gen_ai", "usage"))),
    )
    if not counts and not usage:
        return None
    given = count_in({**usage, **counts}, ["prompt", "input_tokens", "prompt_tokens"])
    made = count_in({**usage, **counts}, ["completion", "output_tokens", "completion_tokens"])
    cached = count_in(fields_in(counts.get("prompt_details")), ["cache_read"])
    if cached is None:
        cached = count_in(fields_in(usage.get("cache_read")), ["input_tokens"])
    return None if given is None and made is None else (given or 0, made or 0, cached or 0)
