"""A local collector: takes OTLP over HTTP, and gives it back as the JSON form of OTLP."""

import contextlib
import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


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

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    collector.url = f"http://127.0.0.1:{server.server_address[1]}/v1/traces"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
