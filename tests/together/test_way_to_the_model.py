"""From a row to the wire: how many functions of ours a reader steps through."""

import traceback
from pathlib import Path

import aiohttp
import pytest

import ragstone
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import read_rows

HOME = str(Path(ragstone.__file__).parent)
MOST_FRAMES = 12  # issue 30; a wrapper of a call is a context manager, which leaves no frame of its own


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
