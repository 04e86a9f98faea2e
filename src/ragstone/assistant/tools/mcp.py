"""The tools of an MCP server -> tools of the assistant: `[assistant.mcp.NAME]`."""

import re
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec

from ragstone.assistant.tool import Observation, Situation, Tool
from ragstone.assistant.tools.mcp_link import McpDown, McpLink, check_server
from ragstone.assistant.tools.schema_struct import given_by, struct_of
from ragstone.assistant.tools.telling import bounded, doing_of, failed, line
from ragstone.config import McpServer
from ragstone.errors import ConfigError, nearest

if TYPE_CHECKING:
    from mcp.types import CallToolResult
    from mcp.types import Tool as Declared

MOST_DESCRIBED = 600
LONGEST_NAME = 64
MOST_TOOLS = 50


@asynccontextmanager
async def open_mcp_tools(name: str, server: McpServer) -> AsyncIterator[list[Tool]]:
    """Give the tools of a server, named `NAME_tool`; the server is left, or ended, at the end of the block.

    Names, descriptions and schemas are the server's: they are untrusted, made plain and cut. Its results
    become text; what it says has failed, a server that has gone and one that takes longer than timeout_s are
    observations that failed. After the server has gone the next call starts or reaches it anew.

    Raises MissingExtra without the SDK; ConfigError for a server that cannot be had, that has no tools or
    more than MOST_TOOLS, or not those that the settings name.
    """
    check_server(name, server)
    link = McpLink(name, server)
    try:
        try:
            declared = _wanted(name, server, await link.tools())
        except McpDown as mistake:
            raise ConfigError(f"[assistant.mcp.{name}]: the server cannot be used: {mistake}.") from None
        taken: set[str] = set()
        yield [_tool(link, one, taken) for one in declared]
    finally:
        await link.close()


def _wanted(name: str, server: McpServer, declared: "Sequence[Declared]") -> "list[Declared]":
    known = {one.name: one for one in declared}
    for wanted in server.tools:
        if wanted not in known:
            hint = nearest(wanted, known) if known else "It has none."
            raise ConfigError(f"[assistant.mcp.{name}]: the server has no tool {wanted!r}. {hint}")
    chosen = [known[one] for one in dict.fromkeys(server.tools)] if server.tools else list(known.values())
    if not 0 < len(chosen) <= MOST_TOOLS:
        raise ConfigError(
            f"[assistant.mcp.{name}]: the server has {len(chosen)} tools; a model can choose among 1 to "
            f"{MOST_TOOLS}. Name those that are wanted: tools = [...]."
        )
    return chosen


def _tool(link: McpLink, declared: "Declared", taken: set[str]) -> Tool:
    name = _name(link.name, declared.name, taken)
    described = declared.description or declared.title or declared.name
    description = bounded(line(described, MOST_DESCRIBED), MOST_DESCRIBED + 20)

    async def call(arguments: msgspec.Struct, _situation: Situation) -> Observation:
        given = given_by(arguments)
        try:
            result = await link.call(declared.name, given if isinstance(given, dict) else {})
        except McpDown as mistake:
            return failed(f"{name} failed: {mistake}. Do not guess what it would have said.")
        return _observation(name, result)

    return Tool(
        name=name,
        description=description,
        arguments=struct_of(declared.input_schema, name, description),
        call=call,
        doing=doing_of(name),
    )


def _name(server: str, tool: str, taken: set[str]) -> str:
    """Return `server_tool` as a name that any model's protocol takes, none of those that are taken."""
    plain = re.sub(r"[^A-Za-z0-9_]+", "_", f"{server}_{tool}").strip("_")[:LONGEST_NAME]
    plain = plain if plain.isidentifier() else f"tool_{plain}"
    name, number = plain, 2
    while name in taken:
        name, number = f"{plain}_{number}", number + 1
    taken.add(name)
    return name


def _observation(name: str, result: "CallToolResult") -> Observation:
    """Return the text parts of a result; its structured content where it has no text."""
    parts = [one.text if one.type == "text" else f"[{one.type}: not shown]" for one in result.content]
    text = "\n".join(part for part in parts if part.strip())
    if not text and result.structured_content is not None:
        text = msgspec.json.encode(result.structured_content).decode()
    told = bounded(text) or f"{name} returned nothing."
    return failed(f"{name} failed: {told}") if result.is_error else Observation(text=told)
