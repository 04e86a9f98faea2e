"""A local collector: takes OTLP over HTTP, and gives it back as the JSON form of OTLP.

Log events too: in protobuf or JSON, with replies to be chosen, as real collectors give them.
"""

import base64
import contextlib
import gzip
import json
import threading
from collections.abc import Callable, Iterable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf.json_format import MessageToDict, ParseDict
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import KeyValue


class Collector:
    """received: the requests, decoded. status: what they are answered with."""

    def __init__(self) -> None:
        self.received: list[dict[str, Any]] = []
        self.status = 200
        self.n_requests = 0
        self.url = ""

    def spans(self) -> list[dict[str, Any]]:
        """Return all spans, in the order of their beginning."""
        found = [
            span
            for request in self.received
            for resource in request["resourceSpans"]
            for scope in resource["scopeSpans"]
            for span in scope["spans"]
        ]
        return sorted(found, key=lambda span: (span["startTimeUnixNano"], "parentSpanId" in span))


@contextlib.contextmanager
def _served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Answer requests on this machine; give the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(60)


@contextlib.contextmanager
def collecting() -> Iterator[Collector]:
    """Give a collector that listens on this machine."""
    collector = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.n_requests += 1
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            if collector.status == 200:
                collector.received.append(MessageToDict(ExportTraceServiceRequest.FromString(body)))
            self.send_response(collector.status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_arguments: object) -> None:
            pass

    with _served(Handler) as url:
        collector.url = f"{url}/v1/traces"
        yield collector


class LogCollector:
    """Takes log events. records: those of all requests that were taken, as LogRecord with its resource.

    reply: gives status, headers and body for a request by its number and its records; by default 200. go:
    cleared, it replies when this is set. headers, sizes: of the requests.
    """

    def __init__(self) -> None:
        self.records: list[tuple[dict[str, str], Any]] = []
        self.headers: list[dict[str, str]] = []
        self.sizes: list[int] = []
        self.paths: list[str] = []
        self.go = threading.Event()
        self.go.set()
        self.url = ""
        self.reply: Callable[[int, int], tuple[int, dict[str, str], bytes]] = lambda _number, _n: (
            200,
            {},
            b"",
        )

    def attributes(self) -> list[dict[str, Any]]:
        """Return the attributes of all records, by name."""
        return [values(record.attributes) for _, record in self.records]


def values(attributes: Iterable[KeyValue]) -> dict[str, Any]:
    """Return attributes of a message by name."""
    return {one.key: getattr(one.value, str(one.value.WhichOneof("value"))) for one in attributes}


def rejecting(n: int, why: str) -> bytes:
    """Return the reply of a collector that takes all but n."""
    response = ExportLogsServiceResponse()
    response.partial_success.rejected_log_records = n
    response.partial_success.error_message = why
    return bytes(response.SerializeToString())


@contextlib.contextmanager
def collecting_logs() -> Iterator[LogCollector]:
    """Give a collector of log events that listens on this machine."""
    collector = LogCollector()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            collector.sizes.append(len(body))
            collector.headers.append({name.lower(): value for name, value in self.headers.items()})
            collector.paths.append(self.path)
            if self.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
            request = _logs_in(body, self.headers["Content-Type"])
            here = [
                (values(resource.resource.attributes), record)
                for resource in request.resource_logs
                for scope in resource.scope_logs
                for record in scope.log_records
            ]
            status, headers, reply = collector.reply(len(collector.sizes), len(here))
            if 200 <= status < 300:
                collector.records += here
            collector.go.wait()
            with contextlib.suppress(OSError):
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)

        def log_message(self, *_arguments: object) -> None:
            pass

    with _served(Handler) as url:
        collector.url = url
        try:
            yield collector
        finally:
            collector.go.set()


def _logs_in(body: bytes, kind: str) -> ExportLogsServiceRequest:
    request = ExportLogsServiceRequest()
    if kind == "application/x-protobuf":
        request.ParseFromString(body)
    else:
        ParseDict(json.loads(body, object_hook=with_base64), request)
    return request


def with_base64(fields: dict[str, Any]) -> dict[str, Any]:
    """Return an object with its ids as the package reads them; OTLP's own JSON has them in hexadecimal."""
    ids = {name: fields[name] for name in ("traceId", "spanId", "parentSpanId") if fields.get(name)}
    return fields | {name: base64.b64encode(bytes.fromhex(one)).decode() for name, one in ids.items()}
