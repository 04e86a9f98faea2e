"""Do models that think before they reply work as judges? `python benchmarks/reasoning.py`.

An endpoint that behaves like today's reasoning models (it takes `max_completion_tokens`, no temperature, and
thinks for 700 tokens, for 3,000 at one prompt in ten) is asked by every judge that ships and asks a model.
Then a run is made that an endpoint cuts off at 200 tokens, whatever it is asked for, and once more after that
is mended. Last, 300 prompts are asked at once of endpoints of many kinds, each of which refuses or cuts off
the usual request in its own way: how many requests that takes of an unknown model, and of a known one.
"""

import argparse
import asyncio
import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ragstone.features.judge._sheet import AnswerSheet
from ragstone.features.judge.judging import judge_sheet
from ragstone.kernel.config import ModelSettings, Price, Settings, choose
from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging import judge_names
from ragstone.kernel.judging.variant import load_judges
from ragstone.kernel.llm import Reply, open_door
from ragstone.kernel.llm.learnt import learnt_in_folder
from ragstone.kernel.llm.providers import providers
from ragstone.kernel.llm.response_store import MemoryLedger
from ragstone.kernel.records import Answer, Context, Judgement
from ragstone.kernel.tables import read_rows, write_rows

sys.path.insert(0, str(Path(__file__).parents[1]))  # this file is no part of the package

from tests.support.dialects import DIALECTS
from tests.support.dialects.server import KEY, Bench, Dialect, serving_dialects
from tests.support.doors import prompt
from tests.support.fake_openai import FakeOpenAI, serving
from tests.support.scripts import Said, fail, fit_schema, prompt_of

OFTEN, SELDOM = 700, 3000
SETTLED = ("correctness", "answered", "faithfulness")


def reasoner(most: int | None = None) -> Callable[[dict[str, Any]], Said]:
    """Return the script of a reasoning model; most: a limit of the endpoint's own."""

    def script(body: dict[str, Any]) -> Said:
        if "max_tokens" in body:
            return fail(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        if "temperature" in body:
            return fail(400, "Unsupported value: 'temperature' does not support 0 with this model.")
        limit = min(body["max_completion_tokens"], most or 1_000_000)
        drawn = hashlib.blake2b(prompt_of(body).encode("utf-8", "replace"), digest_size=4).digest()
        thought = SELDOM if int.from_bytes(drawn, "big") % 10 == 0 else OFTEN
        text = fit_schema(body)
        room = max(0, limit - thought)
        whole = len(text) // 4 + 1 <= room
        said = text if whole else text[: 4 * room]
        n_output = min(limit, thought + len(said) // 4 + 1)
        counts = {
            "prompt_tokens": len(prompt_of(body)) // 4,
            "completion_tokens": n_output,
            "completion_tokens_details": {"reasoning_tokens": min(thought, limit)},
        }
        return Said(text=said, finish_reason="stop" if whole else "length", usage=counts)

    return script


def settings_in(folder: Path, fake: FakeOpenAI) -> Settings:
    """Return settings that name the endpoint, at a price that shows what thought costs."""
    (folder / ".ragstone").mkdir(parents=True, exist_ok=True)
    (folder / ".ragstone" / "secret").write_text("00" * 32)
    model = ModelSettings(base_url=fake.base_url, price_usd_per_million=Price(input=0.25, output=2.0))
    settings = Settings(root=str(folder), models={"openai/thinker": model})
    return choose(settings, "judge", model="openai/thinker")


def sheet_of(folder: Path, n_rows: int) -> Path:
    """Return a sheet of answers that every judge can read; two systems, so that they can be compared."""
    rows = [
        Answer(
            question_id=f"q{number // 2}",
            system=f"system {number % 2}",
            question=f"When is field {number // 2} watered?",
            answer=f"Field {number // 2} is watered in the morning. That saves {number} litres.",
            reference=f"In the morning, {number // 2} litres.",
            contexts=[Context(text=f"Field {number // 2} is watered in the morning.")],
        )
        for number in range(n_rows)
    ]
    write_rows(folder / "sheet.jsonl", rows, Answer)
    return folder / "sheet.jsonl"


def judges_table(folder: Path, fake: FakeOpenAI, n_rows: int) -> None:
    """Print how much every judge scores in its first run, and what its thoughts cost."""
    fake.script = reasoner()
    sheet = sheet_of(folder, n_rows)
    asking = [
        judge for judge in load_judges(judge_names()) if judge.needs_model and judge.kind != "embedding"
    ]
    print(f"{'judge':22}{'calls':>8}{'scored':>12}{'others':>24}{'reasoning':>12}{'of cost':>9}")
    total: Counter[str] = Counter()
    for judge in asking:
        own = folder / judge.name
        settings = settings_in(own, fake)
        try:
            summary = judge_sheet(AnswerSheet(sheet), own / "out.jsonl", [judge], settings)
        except ModelError as mistake:  # it reads probabilities of tokens, which such models lack
            print(f"{judge.name:22}cannot be asked: {str(mistake)[:80]}...")
            continue
        statuses: Counter[str] = Counter()
        for metric in summary.metrics:
            statuses.update(metric.statuses)
        scored = statuses.pop("scored", 0)
        total.update(scored=scored, rows=scored + statuses.total())
        calls = summary.calls
        share = (calls.reasoning_cost_usd or 0.0) / (calls.cost_usd or 1.0)
        others = ", ".join(f"{n} {status}" for status, n in statuses.items())
        told = f"{scored} of {scored + statuses.total()}"
        print(
            f"{judge.name:22}{calls.made:>8,}{told:>12}{others:>24}{calls.usage.reasoning:>12,}{share:>8.0%}"
        )
    print(f"{'all':22}{'':8}{total['scored'] / total['rows']:>12.1%}   (target: 99 %)")


def mended_table(folder: Path, fake: FakeOpenAI, n_rows: int) -> None:
    """Print what a run asks that failed for length, after the endpoint was mended."""
    sheet, judges = sheet_of(folder, n_rows), load_judges(SETTLED)

    def run(where: Path, name: str) -> str:
        before = fake.n_requests
        summary = judge_sheet(AnswerSheet(sheet), where / name, judges, settings_in(where, fake))
        rows = list(read_rows(where / name, Judgement))
        scored = sum(row.status == "scored" for row in rows)
        asked = fake.n_requests - before
        return f"{scored:>4} of {len(rows)} scored, {asked:>4} requests, {summary.calls.cost_usd:.4f} USD"

    first, clean = folder / "first", folder / "clean"
    fake.script = reasoner(most=200)
    print(f"cut off at 200 tokens    {run(first, 'cut.jsonl')}")
    fake.script = reasoner()
    print(f"mended, run again        {run(first, 'mended.jsonl')}")
    print(f"and once more            {run(first, 'again.jsonl')}")
    print(f"a clean run elsewhere    {run(clean, 'clean.jsonl')}")
    same = (first / "mended.jsonl").read_bytes() == (clean / "clean.jsonl").read_bytes()
    print(f"the files of the mended and the clean run are {'the same' if same else 'NOT THE SAME'}")
    error = json.loads((first / "cut.jsonl").read_text().splitlines()[0])["error"]
    print(f"what the first run said: {error}")


async def ask_all(bench: Bench, dialect: Dialect, folder: Path, n_rows: int) -> tuple[int, int]:
    """Return how many requests one command makes for so many prompts, and how many of them have a reply."""
    bench.requests.clear()
    ledger = MemoryLedger()
    async with open_door(
        dialect.model, bench.settings(dialect), ledger, memory=learnt_in_folder(folder)
    ) as door:
        asked = (door.ask(prompt(f"Judge row one {n}.")) for n in range(n_rows))
        replies = await asyncio.gather(*asked, return_exceptions=True)
    return len(bench.requests), sum(isinstance(reply, Reply) for reply in replies)


def requests_table(folder: Path, n_rows: int) -> None:
    """Print how many requests so many prompts take, of each kind of endpoint."""
    for provider in providers().values():
        for name in provider.keys[:1]:
            os.environ[name] = KEY
    print(f"{'requests for ' + str(n_rows) + ' prompts':34}{'unknown':>10}{'known':>8}{'replies':>9}")
    with serving_dialects() as bench:
        for dialect in DIALECTS:
            if dialect.status != "scored" or dialect.ask:
                continue
            own = folder / dialect.name
            n_first, n_replies = asyncio.run(ask_all(bench, dialect, own, n_rows))
            n_again, n_more = asyncio.run(ask_all(bench, dialect, own, n_rows))
            print(f"{dialect.name:34}{n_first:>10}{n_again:>8}{min(n_replies, n_more):>9}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=60)
    parser.add_argument("--prompts", type=int, default=300)
    options = parser.parse_args()
    with serving() as fake, tempfile.TemporaryDirectory() as folder, contextlib.suppress(KeyboardInterrupt):
        judges_table(Path(folder) / "judges", fake, options.rows)
        print()
        mended_table(Path(folder) / "mended", fake, options.rows)
        print()
        requests_table(Path(folder) / "requests", options.prompts)


if __name__ == "__main__":
    main()
