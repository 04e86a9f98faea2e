"""Facts of 1,764 rows with a scripted model: `python benchmarks/facts.py [bankfaq/documents.jsonl]`.

`ragstone build facts` in a process of its own against a fake endpoint in another, 50 ms a reply, 3 % of them
HTTP 429. Of the texts 2 % get a reply that is cut off, 1 % prose, 2 % the same statement each time; drawn by
the text, so that builds can be compared byte by byte. Needs the development data, or another file.
"""

import json
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # this file is no part of the package

from tests.support.fake_openai import running, stats  # noqa: E402

DOCUMENTS = ROOT.parent / "shared" / "data" / "bankfaq" / "documents.jsonl"
ENDPOINT = (
    *("--latency", "0.05", "--rate-limited", "0.03", "--retry-after", "0.1", "--lifetime", "1800"),
    *("--script", "tests.support.scripted_facts:faulty"),
)
CHANGES = ("--falsify", "number,entity,negation,relation")
IN_FLIGHT = 64


def make_project(folder: Path, base_url: str) -> Path:
    """Return a new folder with settings that name the endpoint, and a secret that all of them share."""
    (folder / ".ragstone").mkdir(parents=True)
    (folder / ".ragstone" / "secret").write_text("5a" * 32)
    (folder / "ragstone.toml").write_text(
        f'[build]\nmodel = "openai/fake"\n[models."openai/fake"]\nbase_url = "{base_url}"\n'
        f"max_concurrency = {IN_FLIGHT}\n"
    )
    return folder


def start(folder: Path, documents: Path, *options: str) -> subprocess.Popen[str]:
    """Start a build of facts in a folder."""
    command = [
        sys.executable,
        "-m",
        "ragstone",
        "build",
        "facts",
        str(documents),
        "--yes",
        "--json",
        *options,
    ]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def built(folder: Path, documents: Path, *options: str) -> tuple[float, dict[str, dict[str, int]]]:
    """Build facts, and return how long it took in seconds and the funnel of the certificate."""
    began = time.perf_counter()
    process = start(folder, documents, *options)
    out, said = process.communicate()
    took = time.perf_counter() - began
    if process.returncode:
        sys.exit(said)
    return took, json.loads(out)["certificate"]["funnel"]


def show_funnel(name: str, took: float, funnel: dict, n_calls: int, folder: Path) -> None:  # type: ignore[type-arg]
    """Print what became of what was asked for; the numbers must add up."""
    lost = {one["reason"]: one["n"] for one in funnel["losses"]}
    n_in_failed = funnel["n_asked"] - funnel["n_written"]
    n_failed = sum(funnel["failed_calls"].values())
    rows = [json.loads(line) for line in (folder / "facts" / "facts.jsonl").read_text().splitlines()]
    counts = Counter(row["reference"] for row in rows)
    print(f"{name}: {took:.1f} s, {n_calls:,} requests")
    print(f"  {funnel['n_asked']:6,} asked for")
    print(f"  {funnel['n_accepted']:6,} accepted: {counts['true']:,} true, {counts['false']:,} false")
    for reason, n in sorted(lost.items(), key=lambda item: -item[1]):
        print(f"  {n:6,} {reason}")
    print(f"  {n_in_failed:6,} in {n_failed} calls that failed: {funnel['failed_calls']}")
    total = funnel["n_accepted"] + sum(lost.values()) + n_in_failed
    print(f"  {total:6,} in all: {'adds up' if total == funnel['n_asked'] else 'DOES NOT ADD UP'}")


def n_kept(folder: Path) -> int:
    """Return how many answers the ledger of a folder holds."""
    ledger = sqlite3.connect(f"file:{folder}/.ragstone/ledger.sqlite?mode=ro", uri=True)
    try:
        return int(ledger.execute("SELECT count(*) FROM responses").fetchone()[0])
    finally:
        ledger.close()


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a build."""
    return {path.name: path.read_bytes() for path in sorted((folder / "facts").iterdir())}


def show_build(name: str, folder: Path, documents: Path, base_url: str, *options: str) -> None:
    """Build and print what came of it."""
    before = stats(base_url)["n_requests"]
    took, funnel = built(folder, documents, *options)
    show_funnel(name, took, funnel, stats(base_url)["n_requests"] - before, folder)


def show_kill(killed: Path, quiet: Path, documents: Path, base_url: str) -> None:
    """Kill a build in the midst, build again twice, and print what was asked again; quiet: not killed."""
    start_requests, n_all = stats(base_url)["n_requests"], n_kept(quiet)
    first = start(killed, documents, *CHANGES)
    while stats(base_url)["n_requests"] - start_requests < n_all // 2:
        time.sleep(0.05)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    n_held, before = n_kept(killed), stats(base_url)
    took, _ = built(killed, documents, *CHANGES)
    after, kept = stats(base_url), files(killed)
    n_again = after["n_answered"] - before["n_answered"] - (n_all - n_held)
    print(f"killed after {before['n_requests'] - start_requests:,} requests, {n_held:,} answers kept")
    print(f"  again: {took:.1f} s, {n_all - n_held:,} calls; {n_again} kept answers asked for again (0)")
    print(f"  the files of a build that nobody killed: {kept == files(quiet)}")
    took, _ = built(killed, documents, *CHANGES, "--force")
    n_more = stats(base_url)["n_requests"] - after["n_requests"]
    print(f"a second build: {took:.1f} s, {n_more} requests; the same files: {files(killed) == kept}")


def main() -> None:
    """Build, kill and build again; print what was asked and whether the files are the same."""
    documents = Path(sys.argv[1]).absolute() if len(sys.argv) > 1 else DOCUMENTS
    with tempfile.TemporaryDirectory() as place, running(*ENDPOINT) as base_url:
        show_build("true statements", make_project(Path(place) / "true", base_url), documents, base_url)
        quiet = make_project(Path(place) / "quiet", base_url)
        show_build("true and false statements", quiet, documents, base_url, *CHANGES)
        show_kill(make_project(Path(place) / "killed", base_url), quiet, documents, base_url)


if __name__ == "__main__":
    main()
