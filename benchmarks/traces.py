"""What `ragstone serve --otlp` takes: `python -m benchmarks.traces [SECONDS] [RATE]`.

Three kinds of processes on one machine: the server with those that mask for it, and the sender, which has
encoded everything before the clock starts. A trace has five spans (the chat, an embedding, a search, a tool,
a model's call) with questions, answers and documents of agxqa (../shared/data); in one of ten somebody gives
a name, an address and a telephone. 100 traces are a request in protobuf, as many as an exporter's batch has.

Rows: at that rate, by default 1,000 a second for 30 s; as fast as four connections can; and killed with
SIGKILL in the middle of the latter. A trace is lost where it was acknowledged and is not in the files. CPU is
of the server's processes, for a trace; memory is of all of them together, after 5 s and at its peak.
"""

import asyncio
import collections
import contextlib
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import aiohttp
from benchmarks.monitor_log import read_pack
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

BATCH, CONNECTIONS = 100, 4
KILL_AFTER_S = 4.0
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1] / "src")}
PERSONAL = " I am Mr Ben Lee, ben.lee@example.org or +1 555 234 9999."


def trace(request: Any, name: int, rng: random.Random, pack: tuple[list[Any], list[Any]]) -> None:  # noqa: ANN401
    """Add a trace to a request."""
    questions, documents = pack
    row = rng.choice(questions)
    question = row["question"] + (PERSONAL if name % 10 == 0 else f" It is plot {name}.")
    answer = row["reference_answer"] or "The documents do not say."
    found = [rng.choice(documents) for _ in range(3)]
    passages = "\n\n".join(one["text"] for one in found)
    began = 1_763_900_000_000_000_000 + name * 1_000_000
    spans: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("chat", "CHAIN", {"input.value": question, "output.value": answer, "session.id": f"s{name // 3}"}),
        ("embed", "EMBEDDING", {"embedding.embeddings.0.embedding.text": question}),
        (
            "search",
            "RETRIEVER",
            {"input.value": question}
            | {f"retrieval.documents.{at}.document.content": one["text"] for at, one in enumerate(found)}
            | {f"retrieval.documents.{at}.document.id": one["id"] for at, one in enumerate(found)},
        ),
        (
            "weather",
            "TOOL",
            {"tool.name": "weather", "input.value": json.dumps({"place": "north", "plot": name})}
            | {"output.value": '{"rain_mm": 12.5, "days": 3}'},
        ),
        (
            "model",
            "LLM",
            {
                "llm.model_name": "gpt-4o-mini",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": f"Answer from these.\n\n{passages}\n\n{question}",
                "llm.output_messages.0.message.content": answer,
                "llm.token_count.prompt": 900,
                "llm.token_count.completion": 80,
            },
        ),
    )
    for at, (called, kind, attributes) in enumerate(spans):
        span = request.add(
            trace_id=(name + 1).to_bytes(16),
            span_id=(name * 8 + at + 1).to_bytes(8),
            parent_span_id=(name * 8 + 1).to_bytes(8) if at else b"",
            name=called,
            start_time_unix_nano=began + at * 100_000_000,
            end_time_unix_nano=began + at * 100_000_000 + 90_000_000,
        )
        for key, value in {"openinference.span.kind": kind, **attributes}.items():
            one = span.attributes.add(key=key)
            if isinstance(value, int):
                one.value.int_value = value
            else:
                one.value.string_value = value


def bodies(first: int, n: int) -> list[bytes]:
    """Return requests of BATCH traces each, the first of which has this number."""
    pack = (read_pack("questions.jsonl"), read_pack("documents.jsonl"))
    rng = random.Random(first)
    made = []
    for start in range(first, first + n * BATCH, BATCH):
        request = ExportTraceServiceRequest()
        spans = request.resource_spans.add().scope_spans.add().spans
        for name in range(start, start + BATCH):
            trace(spans, name, rng, pack)
        made.append(request.SerializeToString())
    return made


class Sent(NamedTuple):
    """acknowledged: first names of requests. latencies_s: of those. cpu_s: of the sender."""

    acknowledged: list[int]
    latencies_s: list[float]
    wall_s: float
    cpu_s: float


async def send(address: str, first: int, requests: list[bytes], rate: float | None) -> Sent:
    """Send requests, so many traces a second, or as fast as they are taken; end where the server does."""
    acknowledged, latencies = [], []
    headers = {"Content-Type": "application/x-protobuf"}
    began, cpu = time.perf_counter(), time.process_time()
    waiting = iter(list(enumerate(requests)))

    async def work(session: aiohttp.ClientSession) -> None:
        for at, body in waiting:
            if rate is not None:
                await asyncio.sleep(max(0.0, began + at * BATCH / rate - time.perf_counter()))
            before = time.perf_counter()
            status = 503
            while status == 503:
                async with session.post(f"{address}/v1/traces", data=body, headers=headers) as response:
                    status = response.status
                if status == 503:
                    await asyncio.sleep(float(response.headers["Retry-After"]))
            response.raise_for_status()
            acknowledged.append(first + at * BATCH)
            latencies.append(time.perf_counter() - before)

    timeout = aiohttp.ClientTimeout(total=120)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        with contextlib.suppress(aiohttp.ClientError):
            await asyncio.gather(*(work(session) for _ in range(CONNECTIONS)))
    return Sent(acknowledged, latencies, time.perf_counter() - began, time.process_time() - cpu)


def _sender(address: str, first: int, n: int, rate: float | None, pipe: Any) -> None:  # noqa: ANN401
    requests = bodies(first, n)
    pipe.send(sum(map(len, requests)) / (n * BATCH))
    pipe.recv()
    pipe.send(asyncio.run(send(address, first, requests, rate)))


class Server:
    """A server in a folder, until the block ends."""

    def __init__(self, folder: Path) -> None:
        command = [sys.executable, "-m", "ragstone", "serve", "--otlp", "--port", "0"]
        self.process = subprocess.Popen(
            command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=ENVIRONMENT
        )
        assert self.process.stdout is not None
        self.address = self.process.stdout.readline().strip()

    def measure(self) -> tuple[float, float]:
        """Return the CPU seconds and the MB of the server and its processes."""
        pid = self.process.pid
        pids = [pid, *map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())]
        cpu = memory = 0.0
        for one in pids:
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            cpu += (int(fields[11]) + int(fields[12])) / TICKS
            memory += int(fields[21]) * PAGE / 1e6
        return cpu, memory


def stored(folder: Path) -> collections.Counter[int]:
    """Return how many spans of each trace are in the files, by its name; a torn last line is none."""
    found: collections.Counter[int] = collections.Counter()
    for path in (folder / ".ragstone" / "traces").iterdir():
        for line in path.read_bytes().splitlines(keepends=True):
            if line.endswith(b"\n"):
                spans = json.loads(line)["resourceSpans"][0]["scopeSpans"][0]["spans"]
                found.update(int(one["traceId"], 16) - 1 for one in spans)
    return found


def measured(name: str, folder: Path, first: int, n: int, rate: float | None, *, kill: bool = False) -> None:
    """Send n requests to a server, and print what it took."""
    server = Server(folder)
    ours, theirs = multiprocessing.Pipe()
    sender = multiprocessing.Process(target=_sender, args=(server.address, first, n, rate, theirs))
    sender.start()
    theirs.close()
    size = ours.recv()  # EOFError: it has failed, and says why
    warm = bodies(first + n * BATCH, 4)
    asyncio.run(send(server.address, first + n * BATCH, warm, None))
    before, _ = server.measure()
    ours.send(None)
    seen = list(_watched(server, ours, KILL_AFTER_S if kill else None))
    sent: Sent = ours.recv()
    sender.join()
    server.process.send_signal(signal.SIGINT)
    server.process.wait()
    assert server.process.stdout is not None
    server.process.stdout.close()
    kept = stored(folder)
    names = [one + at for one in sent.acknowledged for at in range(BATCH)]
    lost = sum(kept[one] < 5 for one in names)
    slow = sorted(sent.latencies_s)
    cpu = (seen[-1][0] - before) / len(names)
    print(
        f"{name:>10} {len(names) / sent.wall_s:8,.0f} /s {len(names):8,} traces of {size / 1000:.1f} kB"
        f" {lost:4} lost {cpu * 1e3:6.2f} ms CPU ({sent.cpu_s / len(names) * 1e3:.2f} the sender)"
        f" {slow[len(slow) // 2] * 1e3:6.0f} ms half, {slow[int(len(slow) * 0.99)] * 1e3:6.0f} ms 99 %"
        f" {seen[min(5, len(seen) - 1)][1]:5.0f} MB, peak {max(memory for _, memory in seen):.0f}",
        flush=True,
    )


def _watched(server: Server, pipe: Any, kill_after_s: float | None) -> Iterator[tuple[float, float]]:  # noqa: ANN401
    """Yield CPU and memory once a second until the sender has ended; kill the server meanwhile."""
    began = time.perf_counter()
    while True:
        yield server.measure()
        if kill_after_s is not None and time.perf_counter() - began > kill_after_s:
            server.process.kill()
            pipe.poll(60)
            return
        if pipe.poll(1.0):
            yield server.measure()
            return


def main() -> None:
    """Print the rows."""
    seconds, rate = (int(sys.argv[at]) if len(sys.argv) > at else (30, 1000)[at - 1] for at in (1, 2))
    n = seconds * rate // BATCH
    multiprocessing.set_start_method("spawn")
    for name, pace, kill in (("at a rate", rate, False), ("as fast", None, False), ("killed", None, True)):
        with tempfile.TemporaryDirectory() as folder:
            measured(name, Path(folder), 0, n, pace, kill=kill)


if __name__ == "__main__":
    main()
