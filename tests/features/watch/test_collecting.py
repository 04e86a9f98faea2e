"""`POST /v1/traces`: who may send, what is refused and how; what was acknowledged outlives a kill."""

import asyncio
import gzip
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest
from tests.support.spans import TRACE, as_protobuf, asked, request, span

from ragstone.features.watch.collecting import open_receiver
from ragstone.kernel.config import OtlpSection, Settings
from ragstone.kernel.config.serving import ServeSection
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.records import Answer
from ragstone.kernel.serve.server import listen
from ragstone.kernel.tables import read_rows
from ragstone.workbench.serving import serve_project

JSON = {"Content-Type": "application/json"}
PROTOBUF = {"Content-Type": "application/x-protobuf"}
KEY = "a-key-of-some-length"


def settings_of(root, host="127.0.0.1", **otlp):
    return Settings(serve=ServeSection(host=host, otlp=OtlpSection(**otlp)), root=str(root))


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """A collector with small limits, whose processes are begun once for all tests."""
    root = tmp_path_factory.mktemp("served")
    app = open_receiver(settings_of(root, max_request_mb=1, max_spans=100))
    yield app
    app.close()


def send(app, body=b"{}", headers=JSON, method="POST", path="/v1/traces"):
    async def once():
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.request(method, path, content=body, headers=headers)

    return asyncio.run(once())


def stored(folder: Path) -> list[str]:
    """Return the ids of the traces in a folder."""
    lines = [
        line for path in sorted(folder.glob("traces-*.jsonl")) for line in path.read_bytes().splitlines()
    ]
    batches = [json.loads(line) for line in lines]
    return [
        one["traceId"]
        for batch in batches
        for resource in batch["resourceSpans"]
        for scope in resource["scopeSpans"]
        for one in scope["spans"]
    ]


@pytest.mark.long
def test_spans_are_taken_in_both_encodings_packed_or_not(served):
    app, collector = served, served.collector
    for number, (body, headers) in enumerate(
        ((asked, JSON), (lambda *it: as_protobuf(asked(*it)), PROTOBUF))
    ):
        trace = f"{number + 1:032x}"
        content = body("Is it?", "It is.", trace)
        response = send(app, content, headers)
        assert (response.status_code, response.content) == (200, b"{}" if headers is JSON else b"")
        assert response.headers["content-type"] == headers["Content-Type"]
        assert send(app, gzip.compress(content), {**headers, "Content-Encoding": "gzip"}).status_code == 200
        assert stored(collector.folder).count(trace) == 2


def test_what_is_not_taken_is_told_as_the_protocol_has_it(served):
    app = served
    body = request(span(1), span(0))
    told = "1 span not accepted: traceId has 32 hexadecimal digits and spanId 16, not all of them zero."
    assert send(app, body).json() == {"partialSuccess": {"rejectedSpans": "1", "errorMessage": told}}
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceResponse

    response = ExportTraceServiceResponse.FromString(send(app, as_protobuf(body), PROTOBUF).content)
    assert (response.partial_success.rejected_spans, response.partial_success.error_message) == (1, told)


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        (b"x", JSON, 400, "not OTLP in JSON"),
        (b"\xff", PROTOBUF, 400, "not OTLP in protobuf"),
        (b"not packed", {**JSON, "Content-Encoding": "gzip"}, 400, "cannot be decompressed"),
        (gzip.compress(b"{}", mtime=0)[:-9], {**JSON, "Content-Encoding": "gzip"}, 400, "cut off"),
        (b"{}", {**JSON, "Origin": "http://127.0.0.1"}, 403, "not from pages"),
        (b" " * 1_000_001, JSON, 413, "1,000,000 bytes. Send"),
        (
            gzip.compress(b" " * 1_000_001, mtime=0),
            {**JSON, "Content-Encoding": "gzip"},
            413,
            "bytes. Send",
        ),
        (b"{}", {"Content-Type": "text/plain"}, 415, "application/x-protobuf, application/json"),
        (b"{}", {**JSON, "Content-Encoding": "zstd"}, 415, "gzip, deflate, or none"),
    ],
)
def test_a_request_that_is_refused_says_why_in_one_sentence(served, body, headers, status, words):
    response = send(served, body, headers)
    assert response.status_code == status
    assert words in response.text
    assert "retry-after" not in response.headers
    if headers["Content-Type"] == "application/json":
        assert set(response.json()) == {"message"}


def test_another_method_is_told_which_one_is_taken(served):
    response = send(served, b"", {}, "GET")
    assert (response.status_code, response.headers["allow"]) == (405, "POST")


def test_too_much_at_once_is_to_be_sent_again(served):
    app, collector = served, served.collector
    with collector.room() as has_room:
        assert has_room(1_999_999)
        response = send(app)
        assert (response.status_code, response.headers["retry-after"]) == (503, "2")
    assert send(app).status_code == 200


def test_a_key_is_taken_in_either_header_and_wrong_ones_are_counted(tmp_path, monkeypatch):
    monkeypatch.setenv("SPAN_KEY", KEY)
    app = open_receiver(settings_of(tmp_path, host="0.0.0.0", key_env="SPAN_KEY"))
    assert send(app, headers={**JSON, "Authorization": f"Bearer {KEY}"}).status_code == 200
    assert send(app, headers={**JSON, "x-api-key": KEY}).status_code == 200
    assert send(app).headers["www-authenticate"] == "Bearer"
    wrong = [send(app, headers={**JSON, "x-api-key": "x"}) for _ in range(30)]
    assert [one.status_code for one in wrong] == [401] * 29 + [429]
    assert int(wrong[-1].headers["retry-after"]) > 0
    assert send(app, headers={**JSON, "x-api-key": KEY}).status_code == 200
    app.close()


@pytest.mark.parametrize(
    ("otlp", "words"),
    [
        ({}, r"holds a key, or listen on 127\.0\.0\.1"),
        ({"key_env": "NO_SUCH_KEY"}, "NO_SUCH_KEY holds no key of at least 16"),
    ],
)
def test_others_need_a_key_to_send(tmp_path, otlp, words):
    with pytest.raises(ConfigError, match=words):
        open_receiver(settings_of(tmp_path, host="0.0.0.0", **otlp))


@pytest.mark.long
def test_a_disk_that_cannot_be_written_is_told_and_tried_again(tmp_path):
    (tmp_path / "traces").write_text("a file")
    app = open_receiver(settings_of(tmp_path, folder="traces"))
    body = asked("Is it?", "It is.")
    response = send(app, body)
    assert (response.status_code, response.headers["retry-after"]) == (503, "2")
    assert "cannot be written" in response.json()["message"]
    (tmp_path / "traces").unlink()
    assert send(app, body).status_code == 200
    assert stored(tmp_path / "traces") == [TRACE]
    app.close()


@pytest.mark.kill
def test_a_process_that_is_killed_costs_one_request(tmp_path):
    app = open_receiver(settings_of(tmp_path))
    assert send(app, asked("Is it?", "It is.")).status_code == 200
    for process in list(app.collector._pool._processes.values()):
        os.kill(process.pid, signal.SIGKILL)
    statuses = [send(app, asked("Is it?", "It is.")).status_code for _ in range(3)]
    assert set(statuses[:-1]) <= {200, 503}
    assert statuses[-1] == 200
    app.close()


@pytest.mark.kill
def test_an_exporter_of_opentelemetry_sends_and_what_it_sent_is_read_as_an_answer(tmp_path):
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    def export(address):
        provider = TracerProvider(shutdown_on_exit=False)
        exporter = OTLPSpanExporter(f"{address}/v1/traces", compression=Compression.Gzip)
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        said = {"openinference.span.kind": "CHAIN", "input.value": "Is it a@b.org?", "output.value": "It is."}
        provider.get_tracer("t").start_span("chat", attributes=said).end()
        provider.shutdown()
        os.kill(os.getpid(), signal.SIGINT)

    def ready(address):
        threading.Thread(target=export, args=(address,)).start()

    async def serve():
        with listen("127.0.0.1", 0) as bound:
            await serve_project(settings_of(tmp_path), bound, ready=ready, otlp=True)

    asyncio.run(serve())
    (file,) = (tmp_path / ".ragstone" / "traces").iterdir()
    assert file.parent.stat().st_mode & 0o077 == 0
    (row,) = read_rows(file, Answer)
    assert (row.question, row.answer) == ("Is it [email]?", "It is.")


@pytest.mark.kill
def test_an_exporter_of_log_events_sends_and_what_it_sent_is_read_as_an_answer(tmp_path):
    from opentelemetry._logs import LogRecord
    from opentelemetry.exporter.otlp.proto.http import Compression
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
    from opentelemetry.trace import NonRecordingSpan, SpanContext, set_span_in_context

    def messages(role, text):
        return [{"role": role, "parts": [{"type": "text", "content": text}]}]

    def export(address):
        provider = LoggerProvider(shutdown_on_exit=False)
        exporter = OTLPLogExporter(f"{address}/v1/logs", compression=Compression.Gzip)
        provider.add_log_record_processor(BatchLogRecordProcessor(exporter))
        context = set_span_in_context(NonRecordingSpan(SpanContext(7, 9, is_remote=True)))
        said = {
            "gen_ai.operation.name": "chat",
            "gen_ai.input.messages": messages("user", "Is it a@b.org?"),
            "gen_ai.output.messages": messages("assistant", "It is."),
        }
        name = "gen_ai.client.inference.operation.details"
        logger = provider.get_logger("t")
        logger.emit(LogRecord(event_name=name, context=context, attributes=said))
        found = {"gen_ai.evaluation.name": "tone", "gen_ai.evaluation.score.value": 0.5}
        logger.emit(LogRecord(event_name="gen_ai.evaluation.result", context=context, attributes=found))
        provider.shutdown()
        os.kill(os.getpid(), signal.SIGINT)

    def ready(address):
        threading.Thread(target=export, args=(address,)).start()

    async def serve():
        with listen("127.0.0.1", 0) as bound:
            await serve_project(settings_of(tmp_path), bound, ready=ready, otlp=True)

    asyncio.run(serve())
    (file,) = (tmp_path / ".ragstone" / "traces").iterdir()
    (row,) = read_rows(file, Answer)
    assert (row.question, row.answer) == ("Is it [email]?", "It is.")
    assert (row.metadata["trace_id"], row.metadata["span_id"]) == (f"{7:032x}", f"{9:016x}")
    assert [one["score"] for one in row.metadata["evaluations"]] == [0.5]


@pytest.mark.kill
def test_a_server_that_is_killed_loses_no_span_that_it_acknowledged(tmp_path):
    command = [sys.executable, "-m", "ragstone", "serve", "--otlp", "--port", "0"]
    acknowledged: set[str] = set()
    for turn in range(2):
        server = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert server.stdout is not None
        address = server.stdout.readline().strip()

        def work(first: int, address: str = address) -> None:
            with httpx.Client(timeout=60) as client:
                for number in range(first, first + 10_000):
                    body = asked("Is it?", "It is.", f"{number:032x}")
                    try:
                        client.post(f"{address}/v1/traces", content=body, headers=JSON).raise_for_status()
                    except httpx.TransportError:
                        return
                    acknowledged.add(f"{number:032x}")

        threads = [threading.Thread(target=work, args=(10_000 * (8 * turn + n) + 1,)) for n in range(8)]
        for thread in threads:
            thread.start()
        enough = len(acknowledged) + 100
        while len(acknowledged) < enough and any(thread.is_alive() for thread in threads):
            time.sleep(0.01)
        children = _children(server.pid)
        server.kill()
        for thread in threads:
            thread.join()
        server.wait()
        server.stdout.close()
        assert children
        _await_end(children)
    assert len(acknowledged) >= 200
    files = sorted((tmp_path / ".ragstone" / "traces").iterdir())
    whole = [
        line for file in files for line in file.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")
    ]
    kept = re.findall(r'"traceId":"(\w+)"', b"".join(whole).decode())
    assert acknowledged <= set(kept)


def _children(pid: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def _await_end(pids: list[int]) -> None:
    """Wait until these processes have ended: none that masks outlives its server."""
    until = time.monotonic() + 60
    while any(Path(f"/proc/{pid}/cmdline").exists() and _lives(pid) for pid in pids):
        assert time.monotonic() < until
        time.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
