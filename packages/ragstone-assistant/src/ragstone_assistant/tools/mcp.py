"""The tools of an MCP server -> tools of the assistant: `[assistant.mcp.NAME]`."""

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ragstone.kernel.config import McpServer
from ragstone.kernel.errors import ConfigError, RagstoneError, nearest, optional_package
from ragstone.kernel.llm.keys import without_password
from ragstone_assistant.tool import Observation, Situation, Tool
from ragstone_assistant.tools._schema_struct import given_by, struct_of
from ragstone_assistant.tools.plain_text import bounded, doing_of, failed, line

if TYPE_CHECKING:
    from mcp.types import CallToolResult, ListToolsResult
    from mcp.types import Tool as Declared

    from mcp import Client


MOST_PAGES = 20  # of the list of tools
CLOSING_S = 5.0
STARTING_S = 20.0  # at least: a program takes longer to start than to answer

T = TypeVar("T")


class McpDown(RagstoneError):
    """The server did not do what it was asked; the message says why."""


class McpLink:
    """A server, started or reached when it is first needed, and again after it has gone.

    The SDK's connection lives in the task that opened it, which is here one of its own: whose task asks for
    a call, and how that ends, does not matter to the others.
    """

    def __init__(self, name: str, server: McpServer) -> None:
        self.name, self._server = name, server
        self._opening = asyncio.Lock()
        self._holder: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._enough = asyncio.Event()
        self._in_flight = 0

    async def tools(self) -> "list[Declared]":
        """Return the tools that the server declares. Raises McpDown."""
        declared: list[Declared] = []
        cursor: str | None = None
        for _ in range(MOST_PAGES):
            page = await self._asked(partial(_list_tools, cursor))
            declared += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        return declared

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> "CallToolResult":
        """Return what a tool returns, which may say that it failed. Raises McpDown."""
        return await self._asked(lambda client: client.call_tool(tool, dict(arguments)))

    async def close(self) -> None:
        """End the connection, and the server where we started it."""
        holder, client = self._holder, self._client
        self._holder = self._client = None
        if holder is None:
            return
        self._enough.set()
        if client is not None:  # one that is not connected yet does not look at `enough`
            await asyncio.wait({holder}, timeout=CLOSING_S)
        if not holder.done():
            holder.cancel()
            await asyncio.wait({holder}, timeout=CLOSING_S)
        if holder.done() and not holder.cancelled():
            holder.exception()  # it is looked at: what goes wrong while a server ends is no news

    async def _asked(self, ask: "Callable[[Client], Coroutine[Any, Any, T]]") -> T:
        client = await self._open()
        self._in_flight += 1
        try:
            ended = await _ended(ask(client), self._server.timeout_s)
        finally:
            self._in_flight -= 1
        if ended is None:
            if not self._in_flight:  # one that hangs is begun anew, unless it serves others meanwhile
                await self.close()
            raise McpDown(f"it did not answer within {self._server.timeout_s:g} s")
        if (mistake := ended.exception()) is not None:
            if _has_gone(mistake):
                await self.close()
            raise McpDown(_reason(mistake))
        return ended.result()

    async def _open(self) -> "Client":
        async with self._opening:
            if self._holder is not None and self._holder.done():
                await self.close()
            if self._client is None:
                self._enough = asyncio.Event()
                opened: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
                self._holder = asyncio.create_task(self._hold(opened, self._enough))
                either: tuple[asyncio.Future[Any], ...] = (self._holder, opened)
                most_s = max(STARTING_S, self._server.timeout_s)
                try:
                    await asyncio.wait(either, timeout=most_s, return_when=asyncio.FIRST_COMPLETED)
                except asyncio.CancelledError:  # whoever waited has gone: what is half open is given up
                    self._holder.cancel()
                    self._holder = None
                    raise
                if not opened.done():
                    why = _why_not(self._holder, most_s)
                    await self.close()
                    raise McpDown(why)
                self._client = opened.result()
            return self._client

    async def _hold(self, opened: "asyncio.Future[Client]", enough: asyncio.Event) -> None:
        async with _client(self._server) as client:
            opened.set_result(client)
            await enough.wait()


def check_server(name: str, server: McpServer) -> None:
    """Raise MissingExtra without the SDK, ConfigError for settings that name no server, or two."""
    with optional_package(f"[assistant.mcp.{name}]", "mcp"):
        import mcp  # noqa: F401 - whether it is there
    if bool(server.command) == bool(server.url):
        raise ConfigError(
            f"[assistant.mcp.{name}]: give `command`, which starts a server, or the `url` of one; not both."
        )
    if server.url and not server.url.startswith(("http://", "https://")):
        address = without_password(server.url)
        raise ConfigError(
            f"[assistant.mcp.{name}]: url = {address!r} is not an address. Write e.g. http://localhost:8000/mcp"
        )


async def _list_tools(cursor: str | None, client: "Client") -> "ListToolsResult":
    return await client.list_tools(cursor=cursor)


def _client(server: McpServer) -> "Client":
    """Return what connects to a server. One that we start is given PATH and its like, no keys."""
    from mcp import Client, StdioServerParameters, stdio_client

    if server.url:
        return Client(server.url, cache=None)
    program, *arguments = server.command
    # Its standard error goes where ours goes: whoever runs the assistant reads there why a server ends.
    started = StdioServerParameters(command=program, args=arguments)
    return Client(stdio_client(started, errlog=sys.__stderr__ or sys.stderr), cache=None)


async def _ended(work: Coroutine[Any, Any, T], timeout_s: float) -> "asyncio.Task[T] | None":
    """Return the task when it has ended in some way; None where it takes too long, and is given up."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.wait({task}, timeout=timeout_s)
    finally:
        if not task.done():
            task.cancel()
    if not task.done():
        return None
    if task.cancelled():
        raise McpDown("the connection was closed meanwhile")
    return task


def _why_not(holder: "asyncio.Task[None]", timeout_s: float) -> str:
    if not holder.done():
        return f"it did not answer within {timeout_s:g} s"
    mistake = None if holder.cancelled() else holder.exception()
    return _reason(mistake) if mistake is not None else "it ended at once"


def _has_gone(mistake: BaseException) -> bool:
    """Return whether a call failed with its connection, not by an answer of the server's."""
    from mcp.types import CONNECTION_CLOSED

    from mcp import MCPError

    return not isinstance(mistake, MCPError) or mistake.error.code == CONNECTION_CLOSED


def _reason(mistake: BaseException) -> str:
    """Return the words of the first single exception in it, on one line."""
    while isinstance(mistake, BaseExceptionGroup):
        mistake = mistake.exceptions[0]
    return " ".join(str(mistake).split())[:300] or type(mistake).__name__


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
        yield [_tool(link, tool, taken) for tool in declared]
    finally:
        await link.close()


def _wanted(name: str, server: McpServer, declared: "Sequence[Declared]") -> "list[Declared]":
    known = {tool.name: tool for tool in declared}
    for wanted in server.tools:
        if wanted not in known:
            hint = nearest(wanted, known) if known else "It has none."
            raise ConfigError(f"[assistant.mcp.{name}]: the server has no tool {wanted!r}. {hint}")
    chosen = [known[tool] for tool in dict.fromkeys(server.tools)] if server.tools else list(known.values())
    if not 0 < len(chosen) <= MOST_TOOLS:
        raise ConfigError(
            f"[assistant.mcp.{name}]: the server has {len(chosen)} tools; a model can choose among "
            f"1 to {MOST_TOOLS}. Name the ones you want: tools = [...]."
        )
    return chosen


def _tool(link: McpLink, declared: "Declared", taken: set[str]) -> Tool:
    name = _name(link.name, declared.name, taken)
    described = declared.description or declared.title or declared.name
    description = bounded(line(described, MOST_DESCRIBED), MOST_DESCRIBED + 20)

    async def call(arguments: msgspec.Struct, _situation: Situation) -> Observation:
        fields = given_by(arguments)
        try:
            result = await link.call(declared.name, fields if isinstance(fields, dict) else {})
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
    parts = [item.text if item.type == "text" else f"[{item.type}: not shown]" for item in result.content]
    text = "\n".join(part for part in parts if part.strip())
    if not text and result.structured_content is not None:
        text = msgspec.json.encode(result.structured_content).decode()
    output = bounded(text) or f"{name} returned nothing."
    return failed(f"{name} failed: {output}") if result.is_error else Observation(text=output)
