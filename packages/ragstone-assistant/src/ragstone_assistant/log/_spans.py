"""A row of the log -> OpenTelemetry spans, named after the conventions of OpenInference (0.1).

An exchange is an AGENT span; below it a TOOL span for each step, a RETRIEVER span with the passages under the
step that searched for them, and an LLM span with the tokens of all calls. They are made of the masked row, so
that nothing leaves which the log does not hold.
"""

import logging
import threading
from datetime import datetime
from typing import Any

import msgspec

from ragstone.kernel.errors import optional_package
from ragstone.kernel.llm.schema import HALF_A_PAIR
from ragstone.kernel.records import Answer, Context, Usage

KIND = "openinference.span.kind"
TIMEOUT_S = 2.0  # of one batch, sent more than once if need be
CLOSE_S = 3.0
MOST_ATTRIBUTES = 4096  # of a span: four for each passage
NANO = 1_000_000_000

Attributes = dict[str, str | int | float]
logger = logging.getLogger("ragstone.log")


class SpanSender:
    """Sends rows as spans, in batches and from a thread of their own. A class, since its exporter is."""

    def __init__(self, endpoint: str) -> None:
        """endpoint: takes OTLP over HTTP. Raises MissingExtra."""
        with optional_package(f"sending spans to {endpoint}", "telemetry"):
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import SpanLimits, TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        self._provider = TracerProvider(
            resource=Resource.create({"service.name": "ragstone"}),
            span_limits=SpanLimits(max_span_attributes=MOST_ATTRIBUTES),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(BatchSpanProcessor(_exporter_to(endpoint)))
        self._tracer = self._provider.get_tracer("ragstone.assistant")

    def send(self, row: Answer, now: datetime) -> None:
        """Put the spans of an exchange in the queue; a queue that is full loses them. now: when it began."""
        begun = int(now.timestamp() * NANO)
        ended = begun + int((row.latency_s or 0.0) * NANO)
        root = self._start("assistant", "AGENT", begun, None, _exchange(row))
        below = self._steps(row, begun, root)
        if row.contexts is not None:
            attributes = {"input.value": row.question or "", **_documents(row.contexts)}
            self._start("search", "RETRIEVER", begun, below or root, attributes).end(ended)
        if row.usage is not None and row.usage.calls:
            self._start("model", "LLM", begun, root, _model(row, row.usage)).end(ended)
        if row.error:
            _fail(root, row.error)
        root.end(ended)

    def close(self) -> None:
        """Send what waits, for CLOSE_S at most: a collector that hangs holds up no server that ends."""
        ending = threading.Thread(target=self._provider.shutdown, name="ragstone-spans", daemon=True)
        ending.start()
        ending.join(CLOSE_S)

    def _steps(self, row: Answer, begun: int, root: Any) -> Any:  # noqa: ANN401 - a span of the package
        """Send the steps, one after the other; return the span of the search, if there was one."""
        search = None
        for step in (row.metadata or {}).get("steps", ()):
            ended = begun + int(step["latency_s"] * NANO)
            attributes: Attributes = {
                "tool.name": step["action"],
                "input.value": _json(step["arguments"]),
                "input.mime_type": "application/json",
                "output.value": step["observation"],
                "metadata": _json({"thought": step["thought"], "status": step["status"]}),
            }
            span = self._start(step["action"], "TOOL", begun, root, attributes)
            if step["status"] != "done":
                _fail(span, step["observation"])
            if step["action"] == "search_documents":
                search = span
            span.end(ended)
            begun = ended
        return search

    def _start(self, name: str, kind: str, begun: int, parent: Any, attributes: Attributes) -> Any:  # noqa: ANN401
        from opentelemetry.context import Context as Empty
        from opentelemetry.trace import set_span_in_context

        context = Empty() if parent is None else set_span_in_context(parent, Empty())
        writable = {
            name: HALF_A_PAIR.sub("\ufffd", value) if isinstance(value, str) else value
            for name, value in attributes.items()
        }
        return self._tracer.start_span(
            name, context=context, start_time=begun, attributes={KIND: kind, **writable}
        )


def _exporter_to(endpoint: str) -> Any:  # noqa: ANN401 - a class of the package
    """Return an exporter that says once that the collector is down, and once that it is there again."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult

    class Quiet(SpanExporter):
        """As OTLPSpanExporter, which writes lines about each batch."""

        def __init__(self) -> None:
            self._exporter = OTLPSpanExporter(endpoint=endpoint, timeout=TIMEOUT_S)
            self._failing = False
            for name in ("opentelemetry.exporter", "opentelemetry.sdk.trace"):
                logging.getLogger(name).setLevel(logging.CRITICAL)

        def export(self, spans: Any) -> SpanExportResult:  # noqa: ANN401
            outcome = self._exporter.export(spans)
            failing = outcome is not SpanExportResult.SUCCESS
            if failing != self._failing:
                self._failing = failing
                logger.warning(
                    "%s: %s",
                    endpoint,
                    "takes no spans; the log on disk has everything" if failing else "takes spans again",
                )
            return outcome

        def shutdown(self) -> None:
            self._exporter.shutdown()  # type: ignore[no-untyped-call]

    return Quiet()


def _exchange(row: Answer) -> Attributes:
    metadata = row.metadata or {}
    more = {"exchange_id": row.question_id, **(row.tags or {}), "citations": metadata.get("citations", [])}
    attributes: Attributes = {
        "input.value": row.question or "",
        "metadata": _json(more),
    }
    if not row.error:
        attributes["output.value"] = row.answer
    if "conversation_id" in metadata:
        attributes["session.id"] = metadata["conversation_id"]
    return attributes


def _documents(contexts: list[Context]) -> Attributes:
    attributes: Attributes = {}
    for at, context in enumerate(contexts):
        document = f"retrieval.documents.{at}.document"
        attributes[f"{document}.content"] = context.text
        if context.id is not None:
            attributes[f"{document}.id"] = context.id
        if context.score is not None:
            attributes[f"{document}.score"] = context.score
        attributes[f"{document}.metadata"] = _json({"document_id": context.document_id})
    return attributes


def _model(row: Answer, usage: Usage) -> Attributes:
    attributes: Attributes = {
        "llm.token_count.prompt": usage.input,
        "llm.token_count.completion": usage.output,
        "llm.token_count.total": usage.input + usage.output,
        "llm.token_count.prompt_details.cache_read": usage.cached,
        "llm.token_count.completion_details.reasoning": usage.reasoning,
        "metadata": _json({"calls": usage.calls}),
    }
    if row.tags and "model" in row.tags:
        attributes["llm.model_name"] = row.tags["model"]
    if row.cost_usd is not None:
        attributes["llm.cost.total"] = row.cost_usd
    return attributes


def _fail(span: Any, why: str) -> None:  # noqa: ANN401
    from opentelemetry.trace import Status, StatusCode

    span.set_status(Status(StatusCode.ERROR, HALF_A_PAIR.sub("\ufffd", why)))


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()
