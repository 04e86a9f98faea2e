"""What reading traces costs: 100,000 spans of retrieval, and as many of agents that call tools.

A trace is a line of OTLP JSON with five spans: a chain, an embedding, a retriever, a reranker and a model; or
an agent, two calls of a model and two of tools, with their messages. Texts are made up.

Run: python -m benchmarks.spans [TRACES]
"""

import json
import random
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows

WORDS = ("plant", "maize", "in", "march", "when", "the", "rain", "comes", "and", "keep", "weeds", "out")
NANO = 1_000_000_000
Attributes = dict[str, str | int]
SpanTold = tuple[str, str | None, Attributes]
"""Id, parent and attributes."""


def texts(rng: random.Random, *lengths: int) -> list[str]:
    return [" ".join(rng.choices(WORDS, k=n)) for n in lengths]


def retrieval(rng: random.Random) -> Iterator[SpanTold]:
    kind = "openinference.span.kind"
    asked, answered, first, second = texts(rng, 12, 40, 60, 60)
    document = "documents.{}.document.content"
    found = {f"retrieval.{document.format(at)}": text for at, text in enumerate((first, second))}
    messages = {
        "input_messages": ("user", f"{first} {second} {asked}"),
        "output_messages": ("assistant", answered),
    }
    said = {
        f"llm.{side}.0.message.{part}": text
        for side, both in messages.items()
        for part, text in zip(("role", "content"), both, strict=True)
    }
    counts = {"llm.token_count.prompt": 200, "llm.token_count.completion": 60}
    yield "e", "r", {kind: "EMBEDDING"}
    yield "s", "r", {kind: "RETRIEVER", "input.value": asked, **found}
    yield "k", "r", {kind: "RERANKER", f"reranker.output_{document.format(0)}": first}
    yield "m", "r", {kind: "LLM", "llm.model_name": "m", **said, **counts}
    yield "r", None, {kind: "CHAIN", "input.value": asked, "output.value": answered}


def agent(rng: random.Random) -> Iterator[SpanTold]:
    asked, answered, *rest = texts(rng, 12, 40, 5, 5, 60, 60)
    given, brought = [{"q": text} for text in rest[:2]], rest[2:]
    user = _message("user", {"type": "text", "content": asked})
    done = _message("assistant", {"type": "text", "content": answered})
    calls: list[dict[str, object]] = [
        {"type": "tool_call", "id": f"c{at}", "name": "search", "arguments": given[at]} for at in (0, 1)
    ]
    told = [
        _message("tool", {"type": "tool_call_response", "id": f"c{at}", "response": brought[at]})
        for at in (0, 1)
    ]
    chosen = _message("assistant", *calls)
    yield "m1", "r", _asked("chat", [user], chosen)
    for at in (0, 1):
        call = {"name": "search", "call.id": f"c{at}", "call.arguments": json.dumps(given[at])}
        named = {f"gen_ai.tool.{name}": value for name, value in {**call, "call.result": brought[at]}.items()}
        yield f"t{at}", "r", {"gen_ai.operation.name": "execute_tool", **named}
    yield "m2", "r", _asked("chat", [user, chosen, *told], done)
    yield "r", None, _asked("invoke_agent", [user], done)


def _message(role: str, *parts: dict[str, object]) -> dict[str, object]:
    return {"role": role, "parts": parts}


def _asked(operation: str, given: list[dict[str, object]], said: dict[str, object]) -> Attributes:
    messages = {"gen_ai.input.messages": json.dumps(given), "gen_ai.output.messages": json.dumps([said])}
    return {"gen_ai.operation.name": operation, "gen_ai.usage.input_tokens": 80, **messages}


def line(number: int, spans: Iterator[SpanTold]) -> str:
    """Return a trace as a line of OTLP JSON; its spans begin a tenth of a second after one another."""
    begun = (1_793_527_200 + number) * NANO
    listed = [
        {
            "traceId": f"t{number}",
            "spanId": f"{number}-{name}",
            "parentSpanId": parent and f"{number}-{parent}",
            "name": name,
            "startTimeUnixNano": str(begun + (at + 1) % 5 * NANO // 10),
            "endTimeUnixNano": str(begun + NANO),
            "attributes": [
                {
                    "key": key,
                    "value": {"intValue": value} if isinstance(value, int) else {"stringValue": value},
                }
                for key, value in attributes.items()
            ],
        }
        for at, (name, parent, attributes) in enumerate(spans)
    ]
    return json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": listed}]}]}) + "\n"


def main() -> None:
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    print(f"{'':<12}{'MB':>8}{'answers':>9}{'steps':>9}{'s of CPU':>10}{'spans/s':>10}{'MB held':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for kind in (retrieval, agent):
            rng, path = random.Random(3), Path(folder, f"{kind.__name__}.jsonl")
            with path.open("w") as file:
                file.writelines(line(number, kind(rng)) for number in range(n))
            began = time.process_time()
            steps = [len(row.steps or ()) for row in read_rows(path, Answer)]
            took = time.process_time() - began
            tracemalloc.start()
            sum(1 for _ in read_rows(path, Answer))
            held = tracemalloc.get_traced_memory()[1] / 1e6
            tracemalloc.stop()
            size = path.stat().st_size / 1e6
            print(
                f"{kind.__name__:<12}{size:>8.0f}{len(steps):>9,}{sum(steps):>9,}{took:>10.1f}"
                f"{5 * n / took:>10,.0f}{held:>9.0f}"
            )


if __name__ == "__main__":
    main()
