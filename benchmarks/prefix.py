"""What a provider's prompt cache and grammars make of the judges' requests: `python -m benchmarks.prefix`.

A local endpoint does what hosted ones say that they do. It puts the reply's schema before the messages, keeps
prefixes in blocks of 128 tokens from 1,024 on, and charges for what it has not seen; it compiles a grammar
for each distinct schema, which takes 2 s, and whoever asks with that schema waits. What it did is in `usage`.
A token is four bytes here.

First each judge by itself: `head` is what comes before the row (schema and system message), `same` the share
of it that every row after the first has byte for byte, `cached` the share of its whole blocks that came from
the cache. A head of less than 1,024 tokens is too short for such a cache: it has no `cached`, and `same`
shows that nothing else is in the way. `in one call` are judges that share a call, whose head is long. Then
one judge on many rows, timed beside the same run on an endpoint that makes no grammars.

`--layout` asks three judges that read contexts about the rows of RAGTruth with the longest ones, as their
files say and by `@layout=contexts_first`. `alike` is the share of what judges two and three send of a row
that begins as the first one's request did; `cached` the share of all that is sent which the cache had. With
`--model llamacpp/...` a model in this process is asked too, and timed; `cached` is then what llama.cpp tells.
"""

import argparse
import asyncio
import hashlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

import ragstone
from ragstone.kernel.config import Settings
from ragstone.kernel.judging import judge_names, load_judge

sys.path.insert(0, str(Path(__file__).parents[1]))  # this file is no part of the package

from tests.support.every_judge import answer_in_any_form, rows_with_every_field
from tests.support.fake_openai import FakeOpenAI, serving
from tests.support.scripts import Body, Said, schema_in

BLOCK, SHORTEST, BYTES_A_TOKEN = 128, 1_024, 4
COMPILE_S, LATENCY_S, IN_FLIGHT = 2.0, 0.5, 8
ROWS_A_JUDGE, ROWS_TIMED, TIMED = 6, 600, "correctness"
ONE_CALL = ("correctness", "rubric", "answered", "relevance")
LEAST_CACHED, MOST_WALL = 0.95, 1.1
LEAST_ALIKE = 0.7  # of judges two and three, in the layout
DATA = Path("../shared/data/ragtruth/summary.jsonl")  # from the top folder of the project
LAYOUT_ROWS = 20
LAYOUT = "@layout=contexts_first"
READERS = {
    "supported": "Is every statement of {answer}, the reply to {question}, supported by {contexts}?",
    "complete": "Does {answer}, the reply to {question}, hold the main points of {contexts}?",
    "plain": "Is {answer}, the reply to {question}, plainer than {contexts}?",
}
READER = """name = "{name}"
version = 1
kind = "boolean"
inputs = ["question", "answer", "contexts"]
scale = [0, 1]
source = "benchmarks/prefix.py"
max_tokens = 48
prompt = "{prompt}"
"""


class Request(NamedTuple):
    """A request as the cache sees it. head, whole: its bytes before the user's message, and all of them."""

    head: bytes
    whole: bytes
    cached_tokens: int


class CachingEndpoint(FakeOpenAI):
    """An endpoint that keeps prefixes and compiles grammars.

    compile_s: how long a grammar takes. requests: what was asked, in order. compiled: grammar -> how often.
    """

    def __init__(self, compile_s: float = 0.0) -> None:
        super().__init__()
        self.compile_s = compile_s
        self.requests: list[Request] = []
        self.compiled: Counter[bytes] = Counter()
        self._seen: set[bytes] = set()
        self._ready: dict[bytes, asyncio.Event] = {}
        self.script = self._answer

    async def _reply(self, request: web.BaseRequest, content: bytes, latency_s: float) -> web.StreamResponse:
        schema = schema_in(msgspec.json.decode(content))
        if schema is not None:
            await self._grammar(msgspec.json.encode(schema))
        return await super()._reply(request, content, latency_s)

    async def _grammar(self, schema: bytes) -> None:
        if schema in self._ready:
            await self._ready[schema].wait()
            return
        self._ready[schema] = asyncio.Event()
        self.compiled[schema] += 1
        await asyncio.sleep(self.compile_s)
        self._ready[schema].set()

    def _answer(self, body: Body) -> Said:
        said = answer_in_any_form(body)
        if isinstance(said, Said):  # a verdict of one token: it asks for no schema
            return said
        one = self._look_up(body)
        self.requests.append(one)
        usage = {
            "prompt_tokens": n_tokens(one.whole),
            "completion_tokens": len(said) // BYTES_A_TOKEN + 1,
            "prompt_tokens_details": {"cached_tokens": one.cached_tokens},
        }
        return Said(text=said, usage=usage)

    def _look_up(self, body: Body) -> Request:
        """Return the request, and keep its prefixes."""
        schema = msgspec.json.encode(schema_in(body))
        told = [f"{one['role']}\n{one['content']}\n".encode() for one in body["messages"]]
        head, whole = schema + told[0], schema + b"".join(told)
        prefixes = {
            n: hashlib.blake2b(whole[: n * BYTES_A_TOKEN], digest_size=16).digest()
            for n in range(SHORTEST, n_tokens(whole) + 1, BLOCK)
        }
        cached = max((n for n, prefix in prefixes.items() if prefix in self._seen), default=0)
        self._seen.update(prefixes.values())
        return Request(head, whole, cached)


class HeadFigures(NamedTuple):
    """What became of one kind of request of a judge: its head in tokens, and shares of it, see above."""

    tokens: int
    n_requests: int
    same: float
    cached: float | None


def n_tokens(text: bytes) -> int:
    """Return the tokens of a text."""
    return len(text) // BYTES_A_TOKEN


def heads_of(requests: Sequence[Request]) -> list[HeadFigures]:
    """Return the figures of each kind of request: those whose system messages begin alike are of one kind."""
    kinds: dict[bytes, list[Request]] = {}
    for one in requests:
        kinds.setdefault(one.head.partition(b"}system\n")[2][:60], []).append(one)
    return [_figures(kind) for kind in kinds.values()]


def _figures(kind: Sequence[Request]) -> HeadFigures:
    first, later = kind[0], kind[1:]
    n = n_tokens(first.head)
    blocks = n // BLOCK * BLOCK
    same = min((_shared(first.head, one.whole) / len(first.head) for one in later), default=1.0)
    cached = None
    if blocks >= SHORTEST and later:
        cached = min(min(one.cached_tokens, blocks) / blocks for one in later)
    return HeadFigures(n, len(kind), same, cached)


def _shared(one: bytes, other: bytes) -> int:
    """Return how many bytes two texts begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))


def many_rows(n: int) -> list[dict[str, Any]]:
    """Return n rows with every field, no two alike."""
    base, rows = rows_with_every_field(), []
    for number in range(n):
        row = dict(base[number % len(base)])
        row["question_id"] = f"q{number // 2}"
        row["question"] = f"Field {number}: {row['question']}"
        row["answer"] = f"{row['answer']} This is said of field {number}."
        rows.append(row)
    return rows


def asking_judges() -> list[str]:
    """Return the judges that ask a model and need nothing else."""
    loaded = {name: load_judge(name) for name in judge_names()}
    return [name for name, judge in loaded.items() if judge.needs_model and not judge.needs_embedder]


def judge_all(fake: FakeOpenAI, names: Sequence[str], n_rows: int, *, one_call: bool = False) -> float:
    """Judge so many rows by these judges in a new project; return the seconds that it took."""
    with tempfile.TemporaryDirectory() as folder:
        settings = fake.settings(folder, max_concurrency=IN_FLIGHT)
        started = time.perf_counter()
        rows = many_rows(n_rows)
        ragstone.judge(rows, judges=names, model=fake.model, settings=settings, one_call=one_call)
        return time.perf_counter() - started


def table(names: Sequence[str], n_rows: int) -> Iterator[tuple[str, list[HeadFigures], int]]:
    """Yield each judge with its heads and how many grammars it made; last the judges that share a call."""
    for name, asked in {**{name: [name] for name in names}, "in one call": list(ONE_CALL)}.items():
        fake = CachingEndpoint()
        with serving(fake):
            judge_all(fake, asked, n_rows, one_call=len(asked) > 1)
        if fake.requests:
            yield name, heads_of(fake.requests), len(fake.compiled)


def timed(compile_s: float, n_rows: int) -> float:
    """Return the seconds that many rows of one judge take where a grammar takes so long."""
    fake = CachingEndpoint(compile_s)
    fake.latency_s = LATENCY_S
    with serving(fake):
        return judge_all(fake, [TIMED], n_rows)


class LayoutFigures(NamedTuple):
    """What became of one layout: see above."""

    alike: float
    cached: float
    n_scored: int


def long_rows(n: int, data: Path = DATA) -> list[dict[str, Any]]:
    """Return the rows of RAGTruth with the longest contexts, one of each source."""
    sources: dict[str, dict[str, Any]] = {}
    for line in data.read_bytes().splitlines():
        row = msgspec.json.decode(line)
        sources.setdefault(row["source_id"], row)
    longest = sorted(sources.values(), key=lambda row: (-len(row["context"]), row["id"]))[:n]
    return [
        {
            "question_id": row["id"],
            "question": row["question"],
            "answer": row["answer"],
            "contexts": [{"text": row["context"]}],
        }
        for row in longest
    ]


def judge_in_layout(
    rows: Sequence[dict[str, Any]], layout: str, model: str = "", fake: FakeOpenAI | None = None
) -> tuple[float, float, int]:
    """Judge rows by READERS in a new project; return CPU seconds, the share cached, and scored rows."""
    with tempfile.TemporaryDirectory() as folder:
        for name, prompt in READERS.items():
            (Path(folder) / f"{name}.toml").write_text(READER.format(name=name, prompt=prompt))
        judges = [f"{folder}/{name}.toml{layout}" for name in READERS]
        # One call at a time, so that a request may find what the one before it has left.
        settings = fake.settings(folder, max_concurrency=1) if fake else Settings(root=folder)
        started = time.process_time()  # of all threads: others on the machine do not count
        judged = ragstone.judge(rows, judges=judges, model=model or "openai/fake", settings=settings)
        seconds = time.process_time() - started
    usage = [row.usage for row in judged if row.usage is not None]
    cached = sum(each.cached for each in usage) / max(1, sum(each.input for each in usage))
    return seconds, cached, sum(row.status == "scored" for row in judged)


def layout_figures(rows: Sequence[dict[str, Any]], layout: str) -> LayoutFigures:
    """Return what the endpoint above makes of a layout."""
    fake = CachingEndpoint()
    with serving(fake):
        _seconds, cached, n_scored = judge_in_layout(rows, layout, fake=fake)
    of_row: dict[str, list[bytes]] = {}
    for request in fake.requests:
        row = next(row["question_id"] for row in rows if row["answer"].encode() in request.whole)
        of_row.setdefault(row, []).append(request.whole)
    pairs = [(first, other) for first, *others in of_row.values() for other in others]
    alike = sum(_shared(first, other) for first, other in pairs) / sum(len(other) for _, other in pairs)
    return LayoutFigures(alike, cached, n_scored)


def layouts(model: str, n_rows: int) -> int:
    """Print the table of both layouts; 1 where the layout shares less than its goal."""
    rows = long_rows(n_rows)
    n_context = sum(len(row["contexts"][0]["text"]) for row in rows) // len(rows)
    print(f"{len(READERS)} judges, {len(rows)} rows of RAGTruth, contexts of {n_context:,} characters\n")
    print(f"{'layout':16}{'asked':34}{'alike':>7}{'cached':>8}{'CPU s':>9}{'scored':>8}")
    found = {}
    for name, layout in (("as the files", ""), ("contexts_first", LAYOUT)):
        found[name] = one = layout_figures(rows, layout)
        print(f"{name:16}{'the endpoint above':34}{one.alike:7.0%}{one.cached:8.0%}{'':9}{one.n_scored:8}")
    for name, layout in (("as the files", ""), ("contexts_first", LAYOUT)) if model else ():
        seconds, cached, n_scored = judge_in_layout(rows, layout, model)
        print(f"{name:16}{model:34}{'':7}{cached:8.0%}{seconds:9.1f}{n_scored:8}", flush=True)
    return found["contexts_first"].alike < LEAST_ALIKE


def main() -> int:
    """Print the tables; 1 where a figure misses its goal."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=ROWS_TIMED, help="of the run that is timed")
    parser.add_argument("--layout", action="store_true", help="the layout contexts_first alone, see above")
    parser.add_argument("--model", default="", help="llamacpp/..., timed in both layouts")
    parser.add_argument("--layout-rows", type=int, default=LAYOUT_ROWS)
    options = parser.parse_args()
    if options.layout:
        return layouts(options.model, options.layout_rows)
    rows = options.rows
    missed = []
    print(f"{'judge':22}{'head':>7}{'requests':>10}{'same':>7}{'cached':>10}{'grammars':>10}")
    for name, heads, n_grammars in table(asking_judges(), ROWS_A_JUDGE):
        for head in heads:
            cached = "too short" if head.cached is None else f"{head.cached:.0%}"
            print(f"{name:22}{head.tokens:7,}{head.n_requests:10}{head.same:7.0%}{cached:>10}{n_grammars:10}")
            if head.same < 1 or (head.cached or 1) < LEAST_CACHED:
                missed.append(name)
        missed += [name] * (n_grammars > len(heads))
    bare, compiling = timed(0.0, rows), timed(COMPILE_S, rows)
    ratio = compiling / bare
    print(
        f"\n{TIMED}, {rows} rows, {LATENCY_S:g} s a call, {IN_FLIGHT} in flight: {bare:.1f} s without "
        f"grammars, {compiling:.1f} s where each takes {COMPILE_S:g} s ({ratio:.2f} x)"
    )
    if ratio > MOST_WALL:
        missed.append(f"wall {ratio:.2f} x")
    print(f"Missed: {', '.join(dict.fromkeys(missed))}" if missed else "Every figure reaches its goal.")
    return bool(missed)


if __name__ == "__main__":
    sys.exit(main())
