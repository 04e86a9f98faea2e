"""`ragstone mcp`: the project for coding agents."""

from typing import Annotated

import typer

from ragstone.kernel.console.options import Config
from ragstone.kernel.console.printing import say

Budget = Annotated[
    str | None,
    typer.Option(
        "--budget", help="Let agents judge, up to this total cost, e.g. 2usd; without it, they only read."
    ),
]
Http = Annotated[bool, typer.Option("--http", help="Serve over HTTP, with a key, instead of standard input.")]


def mcp(
    *,
    budget: Budget = None,
    http: Http = False,
    host: Annotated[str | None, typer.Option(help="Address to listen on; default: [serve] host.")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; default: 8089.")] = None,
    config: Config = None,
) -> None:
    """Let a coding agent read this project's runs, reports and rows over the Model Context Protocol.

    Examples:

    - `ragstone mcp`
    - `ragstone mcp --budget 2usd`
    - `ragstone mcp --http --port 0`
    """
    from ragstone.kernel.config import load_settings
    from ragstone.kernel.errors import ConfigError, optional_package
    from ragstone.kernel.llm.budget import parse_caps

    caps = parse_caps(budget)
    if budget is not None and (caps.usd is None or caps.calls or caps.tokens):
        raise ConfigError(
            f"--budget {budget}: give the limit in US dollars only, e.g. 2usd, because agents spend money."
        )
    if not http and (host is not None or port is not None):
        raise ConfigError("--host and --port need --http. Add it, or leave them out.")
    settings = load_settings(config)
    with optional_package("the server for agents", "mcp"):
        from ragstone.mcp.server import create_server
    from ragstone.mcp.project import AgentProject
    from ragstone.mcp.tools import Tools

    server = create_server(Tools(AgentProject(settings, config), caps.usd))
    if http:
        from ragstone.mcp.http import serve_http

        serve_http(server, settings, host, port, say)
    else:
        server.run("stdio")
