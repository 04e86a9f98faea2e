"""The server as an agent meets it: over standard input, over HTTP with a key, under hostile calls."""

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

import pytest
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server.mcpserver.exceptions import ToolError
from mcp.shared._httpx_utils import create_mcp_http_client
from tests.mcp.conftest import SECRET

from mcp import Client
from ragstone.kernel.config import load_settings
from ragstone.mcp.project import AgentProject
from ragstone.mcp.replies import MOST_BYTES
from ragstone.mcp.server import OPTIONS, READING, SPENDING, create_server
from ragstone.mcp.tools import Tools


def test_every_tool_says_what_it_does_and_whether_it_writes(tools):
    listed = asyncio.run(create_server(tools).list_tools())
    assert [tool.name for tool in listed] == [*READING, *SPENDING]
    for tool in listed:
        assert tool.description
        assert tool.annotations.read_only_hint == (tool.name in READING)
        # What it takes is explained, but for what its name says.
        explained = [
            name for name in tool.input_schema["properties"] if name not in ("page", "run", "a", "b", "n")
        ]
        assert all(f"{name}" in tool.description for name in explained), tool.name


def test_options_that_no_tool_takes_are_said_to_be_of_the_command_line(tools):
    server = create_server(tools)
    reasons = []
    for name, values in (
        ("compare_runs", {"a": "before", "b": "before"}),
        ("read_report", {"run": "nope"}),
    ):
        with pytest.raises(ToolError) as mistake:
            asyncio.run(server.call_tool(name, values))
        reasons.append(str(mistake.value))
    assert [reason.endswith(OPTIONS) for reason in reasons] == [True, False]


@pytest.mark.server
def test_an_agent_reads_over_standard_input(folder):
    async def work():
        server = StdioServerParameters(
            command=sys.executable, args=["-m", "ragstone", "mcp"], cwd=folder, env=dict(os.environ)
        )
        async with Client(stdio_client(server)) as client:
            runs = await client.call_tool("list_runs", {})
            wrong = await client.call_tool("read_report", {"run": "/etc"})
        return runs, wrong

    runs, wrong = asyncio.run(work())
    assert "- after: " in runs.content[0].text
    assert wrong.is_error


WORDS = [
    "before",
    "after",
    "starter",
    "outside",
    "../elsewhere",
    "/etc/passwd",
    "people.jsonl",
    "after.jsonl",
    "linked.jsonl",
    "../elsewhere/labels.jsonl",
    "containment",
    "correctness",
    "q3",
    "containment < 0.5",
    "answer ~ rules and not flips",
    "(((",
    "a = " * 500,
    "question_id in (" + "'x', " * 400,
    "\0",
    "\ud800",
    "{{ 7*7 }}",
    "' OR 1=1 --",
    "$(touch /tmp/owned)",
    "é" * 5_000,
    "file:///etc/passwd",
    "http://169.254.169.254/latest",
    "",
]
FIT = {
    "run": ["before", "after", "starter"],
    "a": ["before"],
    "b": ["after", "before"],
    "judgements": ["after", "after.jsonl"],
    "labels": ["people.jsonl", ""],
    "where": ["containment < 0.5", 'answer ~ "rules"', ""],
    "question": ["q3", "q39", "s1"],
    "columns": [["answer"], ["reference", "containment"]],
    "page": [1, 2],
    "n": [1, 10],
    "margin": [0.1],
    "judges": [["containment"], ["correctness"]],
}
"""What fits; the other half of the values is anything at all."""
VALUES = [
    *WORDS,
    *WORDS,
    0,
    1,
    2,
    -1,
    10**30,
    0.5,
    float("1e308"),
    True,
    None,
    [],
    {},
    ["right"],
    [["x"]],
    {"a": 1},
]


@pytest.mark.simulation
@pytest.mark.parametrize("part", range(5))
def test_a_thousand_hostile_calls_read_nothing_outside_and_end_in_words(folder, part):
    """Five parts of 1,000 calls, so that they may go on beside each other."""
    chance = random.Random(part)
    server = create_server(Tools(AgentProject(load_settings(folder / "ragstone.toml"))))
    opened: list[str] = []
    watching = True

    def watch(event, arguments):
        if watching and event == "open" and isinstance(arguments[0], str | bytes):
            opened.append(os.fsdecode(arguments[0]))

    sys.addaudithook(watch)
    names = {tool.name: list(tool.input_schema["properties"]) for tool in asyncio.run(server.list_tools())}

    async def call():
        name = chance.choice(list(names))
        takes = [each for each in names[name] if chance.random() < 0.7]
        fits = [each for each in takes if each in FIT and chance.random() < 0.8]
        values = {each: chance.choice(FIT[each] if each in fits else VALUES) for each in takes}
        return await server.call_tool(name, values)

    async def work():
        n_given = 0
        for _ in range(1_000):
            try:
                result = await call()
                text = "".join(part.text for part in result.content)
                n_given += 1
            except Exception as mistake:
                text = str(mistake)
            assert len(text.encode("utf-8", "replace")) <= MOST_BYTES
            assert SECRET not in text
            assert "Traceback" not in text
            assert "unforeseen" not in text, text
        return n_given

    n_given = asyncio.run(work())
    watching = False
    assert n_given > 100
    elsewhere = str(folder.parent / "elsewhere")
    assert not [path for path in opened if path.startswith((elsewhere, "/etc/passwd"))]


@pytest.fixture
def served(folder):
    """The address of a server over HTTP, and its key."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ragstone", "mcp", "--http", "--port", "0"],
        cwd=folder,
        stderr=subprocess.PIPE,
        text=True,
    )
    said = [process.stderr.readline() for _ in range(2)]
    yield re.search(r"http://\S+", said[1])[0], said[0].rpartition(" ")[2].strip()
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    process.stderr.close()


@pytest.mark.server
def test_an_agent_reads_over_http_with_the_key_alone(served):
    address, key = served

    async def call(header):
        async with (
            create_mcp_http_client(headers=header) as http,
            Client(streamable_http_client(address, http_client=http)) as client,
        ):
            return await client.call_tool("list_runs", {})

    found = asyncio.run(call({"Authorization": f"Bearer {key}"}))
    assert "- after: " in found.content[0].text
    for header in ({}, {"Authorization": f"Bearer {key}x"}, {"Authorization": f"Basic {key}"}):
        with pytest.raises(BaseExceptionGroup):
            asyncio.run(call(header))
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(urllib.request.Request(address, b"{}", header))
