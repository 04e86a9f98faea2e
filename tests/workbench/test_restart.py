"""A server that is killed while it replies: what a client has seen to its end is in the log."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import aiohttp
import pytest
from tests.support.command import ragstone
from tests.support.fake_openai import FakeOpenAI, serving_as

RAGSTONE = Path(sys.executable).with_name("ragstone")
PROJECT = """
[run]
model = "openai/fake"
[documents]
paths = ["documents"]
[assistant]
planner = "words"
embedder = "openai/embedder"
topics = false
[serve]
port = 0
requests_per_minute = 1000000
[models."openai/fake"]
base_url = "{url}"
[models."openai/embedder"]
base_url = "{url}"
"""


async def started(folder):
    """Return a server's process and its address."""
    process = await asyncio.create_subprocess_exec(
        RAGSTONE, "serve", cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    return process, (await process.stdout.readline()).decode().strip()


async def chat(session, seen):
    """Ask until the server is gone; note each exchange whose `[DONE]` has come."""
    try:
        while True:
            question = {"role": "user", "content": "When is maize sown?"}
            body = {"model": "assistant", "stream": True, "messages": [question], "lang": "en"}
            async with session.post("/v1/chat/completions", json=body) as response:
                last = b""
                async for line in response.content:
                    last = line if line.startswith(b"data: {") else last
                    if line == b"data: [DONE]\n":
                        seen.append(json.loads(last[6:])["ragstone"])
    except aiohttp.ClientError:
        return


@pytest.mark.kill
async def test_no_reply_that_a_client_has_seen_is_lost_when_the_server_is_killed(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert FakeOpenAI.model == "openai/fake"
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "maize.txt").write_text("Maize is sown in April, when the soil is warm.\n")
    with serving_as("--piece", "0.005") as url:
        (tmp_path / "ragstone.toml").write_text(PROJECT.format(url=url))
        monkeypatch.chdir(tmp_path)
        built = await asyncio.to_thread(ragstone, "assistant", "build")
        assert built.code == 0
        seen = []
        process, address = await started(tmp_path)
        async with aiohttp.ClientSession(address) as session:
            chats = [asyncio.ensure_future(chat(session, seen)) for _ in range(16)]
            while len(seen) < 40:
                assert process.returncode is None
                await asyncio.sleep(0.01)
            os.kill(process.pid, signal.SIGKILL)
            await asyncio.gather(*chats)
        await process.wait()
        logged = [
            json.loads(line)["question_id"]
            for file in (tmp_path / "logs").glob("exchanges-*.jsonl")
            for line in file.read_text().splitlines()
            if line.endswith("}")
        ]
        assert {one["exchange_id"] for one in seen} <= set(logged)
        assert len(logged) == len(set(logged))

        process, address = await started(tmp_path)
        async with aiohttp.ClientSession(address) as session:
            for one in (seen[0], seen[-1]):
                async with session.get(f"/v1/conversations/{one['conversation_id']}") as response:
                    [_asked, said] = (await response.json())["turns"]
                    assert said["ragstone"] == one
            async with session.get("/health") as response:
                assert (response.status, (await response.json())["status"]) == (200, "ok")
        process.terminate()
        assert await process.wait() == 0
