"""How fast the workbench lists 100,000 traces: `python -m benchmarks.trace_list [TRACES]`.

Traces of three or four spans in files of 8 MB, as `ragstone serve --otlp` writes them: a question, a search
with three passages, sometimes a tool, a model. The first look reads the newest files and gives a page; then
all is read once; then pages by several filters and orders (the median of 5, as the browser waits for them), a
trace, a session, and the list again by another server, with 100 traces that came meanwhile.
"""

import json
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path
from random import Random

FILE_BYTES = 8_000_000
WORDS = (Path(__file__).parent.parent / "docs" / "how-to" / "report.md").read_text(encoding="utf-8").split()
CROPS = ("maize", "wheat", "beans", "cassava")
BEGAN_S = 1_764_000_000
PAGES = {
    "the newest": "",
    "the slowest first": "order=duration",
    "the last page": "at=2000",
    "a service": "service=farm",
    "an error, 7 days": "outcome=failed&where=time+%3E%3D+2025-12-01",
    "service = farm and cost > 0.01 and failed and text ~ maize": (
        "where=service+%3D+farm+and+cost+%3E+0.01+and+failed+and+text+~+maize"
    ),
    "two words": "text=maize+cassava",
    "a word that is nowhere": "text=zzzz",
    "one session": "session=s-77",
}


def field(name: str, value: str | int | float) -> dict[str, object]:
    kind = {str: "stringValue", int: "intValue", float: "doubleValue"}[type(value)]
    return {"key": name, "value": {kind: str(value) if isinstance(value, int) else value}}


def trace(number: int, draw: Random) -> bytes:
    """Return a line with one trace."""
    begun, took = BEGAN_S + number * 10, draw.lognormvariate(0.5, 0.7)
    question = f"When is {CROPS[number % 4]} {' '.join(draw.choices(WORDS, k=12))}?"
    answer, failed = " ".join(draw.choices(WORDS, k=60)), draw.random() < 0.08
    spans: list[dict[str, object]] = []

    def span(
        name: str, share: tuple[float, float], more: dict[str, str | int | float], *, error: bool = False
    ) -> None:
        at = len(spans) + 1
        spans.append(
            {
                "traceId": f"{number + 1:032x}",
                "spanId": f"{at:016x}",
                **({"parentSpanId": f"{1:016x}"} if at > 1 else {}),
                "name": name,
                "startTimeUnixNano": str(int((begun + took * share[0]) * 1e9)),
                "endTimeUnixNano": str(int((begun + took * share[1]) * 1e9)),
                "attributes": [field(key, value) for key, value in more.items()],
                "status": {"code": 2, "message": "the model did not answer in time"} if error else {},
            }
        )

    who = {"session.id": f"s-{number % 20_000}", "user.id": f"u-{number % 5_000}"}
    kind = "openinference.span.kind"
    said = {} if failed else {"output.value": answer}
    span("ask", (0, 1), {kind: "CHAIN", "input.value": question, **said, **who}, error=failed)
    passages = {
        f"retrieval.documents.{at}.document.content": " ".join(draw.choices(WORDS, k=120)) for at in range(3)
    }
    span("search", (0.02, 0.2), {kind: "RETRIEVER", "input.value": question, **passages})
    if number % 3 == 0:
        tool = {"input.value": '{"place": "Nakuru"}', "output.value": '{"rain_mm": 4}'}
        span("weather", (0.2, 0.3), {kind: "TOOL", **tool})
    model: dict[str, str | int | float] = {
        kind: "LLM",
        "llm.model_name": ("gpt-4o", "gpt-4o-mini")[number % 2],
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": question,
        "llm.token_count.prompt": draw.randrange(500, 2500),
        "llm.token_count.completion": draw.randrange(20, 300),
        "llm.cost.total": round(draw.random() * 0.02, 5),
    }
    span("chat", (0.3, 0.98), model)
    service = {"attributes": [field("service.name", ("farm", "shop", "farm", "advice")[number % 4])]}
    return json.dumps({"resourceSpans": [{"resource": service, "scopeSpans": [{"spans": spans}]}]}).encode()


def write(folder: Path, first: int, n: int) -> int:
    """Write traces from a number on; return their bytes."""
    draw, size, part = Random(first), 0, 0
    file = (folder / f"traces-{first:07}-{part:04}.jsonl").open("wb")
    for number in range(first, first + n):
        size += file.write(trace(number, draw) + b"\n")
        if file.tell() > FILE_BYTES:
            file.close()
            part += 1
            file = (folder / f"traces-{first:07}-{part:04}.jsonl").open("wb")
    file.close()
    return size


def main(n: int) -> None:
    """Print the table."""
    from litestar.testing import TestClient

    from ragstone.kernel.config import load_settings
    from ragstone.workbench.app import create_workbench

    with tempfile.TemporaryDirectory() as place:
        project = Path(place)
        (project / "ragstone.toml").write_text('[run]\nname = "traces"\n')
        folder = project / ".ragstone" / "traces"
        folder.mkdir(parents=True)
        size = write(folder, 0, n)
        print(f"| {n:,} traces, {size / 1e6:,.0f} MB | s |\n| --- | ---: |")
        for look in ("first", "second"):
            app = create_workbench(load_settings(project / "ragstone.toml"))
            with TestClient(app, base_url="http://127.0.0.1") as client:

                def get(path: str) -> tuple[float, str]:
                    began = time.perf_counter()
                    page = client.get(f"/workbench/traces{path}")
                    page.raise_for_status()
                    return time.perf_counter() - began, page.text

                def told(name: str, *paths: str) -> None:
                    worked = time.process_time()
                    seconds = statistics.median(get(path)[0] for path in paths)
                    worked = (time.process_time() - worked) / len(paths)
                    print(f"| {name} | {seconds:.3f} ({worked:.3f} of CPU) |")

                began, worked = time.perf_counter(), time.process_time()
                seconds, _ = get("")
                print(f"| the list, {look} server | {seconds:.2f} |")
                if look == "second":
                    break
                while "left. <a" in get("")[1]:
                    time.sleep(0.5)
                wall, worked = time.perf_counter() - began, time.process_time() - worked
                print(f"| all is read, behind the scenes | {wall:.0f} ({worked:.0f} of CPU) |")
                for name, query in PAGES.items():
                    told(name, *[f"?{query}"] * 5)
                told("a trace", *(f"/{number + 1:032x}" for number in range(0, n, max(1, n // 5))))
                told("a session as a conversation", *["/session?session=s-77"] * 5)
                text = get("")[1]
                print(f"| the list, kB | {len(text.encode()) / 1000:.0f} |")
            index = project / ".ragstone" / "workbench" / "traces" / "traces.sqlite"
            print(f"| the index, MB | {index.stat().st_size / 1e6:.0f} |")
            write(folder, n, 100)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
        print(f"| memory, MB at most | {peak:.0f} |")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
