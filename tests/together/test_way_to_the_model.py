"""From a row to the wire, and of a run without a model: how many functions of ours a reader steps through."""

import json
import subprocess
import sys
import traceback
from pathlib import Path

import aiohttp
import pytest

import ragstone
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows

HOME = str(Path(ragstone.__file__).parent)
MOST_FRAMES = 12  # issue 30; a wrapper of a call is a context manager, which leaves no frame of its own
# What runs when three rows are judged without a model, from the first import of the command on, class bodies
# of what it imports among them: 556 in 96 files when it was first counted so. What the command itself had
# imported, settings and tables, was left out before, and was 129 of them.
MOST_FUNCTIONS, MOST_FILES = 522, 89
COUNTED = """
import sys
seen, home = set(), sys.argv[1]
def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(home) and not code.co_name.startswith("<"):
        seen.add((code.co_filename, code.co_firstlineno))
sys.argv = ["ragstone", *sys.argv[2:]]
sys.setprofile(note)
from ragstone.cli.app import main
try:
    main()
except SystemExit:
    pass
sys.setprofile(None)
print("counted", len(seen), len({file for file, _ in seen}))
"""


@pytest.mark.long
def test_a_run_without_a_model_takes_few_functions(tmp_path: Path) -> None:
    row = {"question": "What is one and one?", "reference": "two", "answer": "It is two."}
    rows = [row | {"question_id": f"q{number}", "system": "s"} for number in range(3)]
    (tmp_path / "three.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ["judge", "three.jsonl", "--judge", "containment", "-o", "judgements.jsonl"]
    ran = subprocess.run(
        [sys.executable, "-c", COUNTED, HOME, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    n_functions, n_files = map(int, ran.stdout.rpartition("counted")[2].split())
    assert (tmp_path / "judgements.jsonl").exists()
    assert n_functions <= MOST_FUNCTIONS
    assert n_files <= MOST_FILES


def test_the_way_to_the_model_is_short(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ways: list[list[str]] = []
    request = aiohttp.ClientSession._request

    async def recorded(self: aiohttp.ClientSession, *arguments: object, **options: object) -> object:
        stack = traceback.extract_stack()
        task = max(n for n, frame in enumerate(stack) if frame.filename.endswith("asyncio/events.py"))
        ways.append([frame.name for frame in stack[task:] if frame.filename.startswith(HOME)])
        return await request(self, *arguments, **options)

    monkeypatch.setattr(aiohttp.ClientSession, "_request", recorded)
    settings = ragstone.load_settings("ragstone.toml")
    answers = read_rows(project / "answers.jsonl", Answer)
    ragstone.judge(answers, judges=["correctness"], model="openai/fake", settings=settings)
    assert ways[0][0] == "judge_row"
    assert max(map(len, ways)) <= MOST_FRAMES
