"""What sending judgements to a collector costs, and taking log events: events a second, and memory.

200,000 judgements with a rationale of some 40 words go to a collector on this machine that reads each
request and throws it away, in protobuf and in JSON, packed with gzip; then a request of 10,000 events of
models' calls is masked as `serve --otlp` does, and read. Texts are made up; nine in ten are different.

Run: python -m benchmarks.events [JUDGEMENTS]
"""

import gzip
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ragstone.features.watch.collector import mask_events
from ragstone.kernel.config import OtlpSection
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows

WORDS = ("plant", "maize", "in", "march", "when", "the", "rain", "comes", "and", "keep", "weeds", "out")
SEND = """
import resource, sys, time, ragstone
began, cpu = time.perf_counter(), time.process_time()
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
outcome = ragstone.send_judgements(sys.argv[1], sys.argv[2], anew=True)
print(outcome.sent, time.perf_counter() - began, time.process_time() - cpu,
      resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def judgements(path: Path, n: int, rng: random.Random) -> None:
    with path.open("w") as file:
        for number in range(n):
            why = " ".join(rng.choices(WORDS, k=40)) if number % 10 else "The answer agrees with its context."
            scored = number % 50 != 0
            row = {
                "question_id": f"q{number}",
                "system": f"rag-{number % 3}",
                "judge": "faithfulness",
                "metric": "faithfulness",
                "status": "scored" if scored else "unparsable",
                "model": "openai/gpt-4o-mini",
                "prompt_version": 2,
                "rationale": why,
                "metadata": {"trace_id": f"{number + 1:032x}", "span_id": f"{number + 1:016x}"},
            }
            file.write(json.dumps(row | ({"score": 0.5, "scale": [0, 1]} if scored else {})) + "\n")


class Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    n_bytes = 0

    def do_POST(self) -> None:
        Sink.n_bytes += len(gzip.decompress(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_arguments: object) -> None:
        pass


def details(rng: random.Random, number: int) -> dict[str, object]:
    asked, answered = (" ".join(rng.choices(WORDS, k=k)) for k in (12, 40))

    def messages(role: str, text: str) -> dict[str, object]:
        said = json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])
        return {"stringValue": said}

    known = {
        "gen_ai.operation.name": {"stringValue": "chat"},
        "gen_ai.request.model": {"stringValue": "m"},
        "gen_ai.input.messages": messages("user", asked),
        "gen_ai.output.messages": messages("assistant", answered),
    }
    return {
        "timeUnixNano": str(1_760_000_000_000_000_000 + number * 1_000_000),
        "eventName": "gen_ai.client.inference.operation.details",
        "traceId": f"{number + 1:032x}",
        "spanId": f"{number + 1:016x}",
        "attributes": [{"key": name, "value": value} for name, value in known.items()],
    }


def send(n: int, folder: Path, rng: random.Random) -> None:
    file = folder / "judgements.jsonl"
    judgements(file, n, rng)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    for protocol in ("http/protobuf", "http/json"):
        Sink.n_bytes = 0
        environment = {**os.environ, "OTEL_EXPORTER_OTLP_PROTOCOL": protocol}
        command = [sys.executable, "-c", SEND, str(file), url]
        ran = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True)
        sent, seconds, cpu, peak_mb = map(float, ran.stdout.split())
        print(
            f"{protocol}: {sent:,.0f} events in {seconds:.1f} s ({sent / seconds:,.0f} a second), "
            f"CPU {1e6 * cpu / sent:.0f} µs an event, {Sink.n_bytes / sent:.0f} bytes an event, "
            f"peak memory {peak_mb:.0f} MB"
        )
    server.shutdown()


def take(folder: Path, rng: random.Random, n: int = 10_000) -> None:
    scoped = {"scope": {"name": "bench"}, "logRecords": [details(rng, number) for number in range(n)]}
    body = json.dumps({"resourceLogs": [{"scopeLogs": [scoped]}]}).encode()
    cpu = time.process_time()
    line = mask_events(body, "json", OtlpSection(), None, b"s" * 32).line
    masked = time.process_time() - cpu
    file = folder / "events.jsonl"
    file.write_bytes(line + b"\n")
    cpu = time.process_time()
    rows = sum(1 for _ in read_rows(file, Answer))
    read = time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{n:,} events of calls ({len(body) / 1e6:.1f} MB): masked in {1e6 * masked / n:.0f} µs CPU each, "
        f"read as {rows:,} answers in {1e6 * read / n:.0f} µs each, peak memory {peak:.0f} MB"
    )


def main(n: int = 200_000) -> None:
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as made:
        send(n, Path(made), rng)
        take(Path(made), rng)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
