"""schemathesis against a server: all its checks, with the document that the server's routes give.

with served_as(settings, "reader") as (address, document, headers):
    checked(folder, document, address, headers)

The fuller run, with 20 examples for each route and all phases, prints how many requests there were:

    RAGSTONE_EXAMPLES=20 pytest -s --timeout 3600 tests/*/test_schema.py packages/*/*/api/test_schema.py
"""

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import uvicorn
from litestar import Litestar
from litestar.openapi import OpenAPIConfig
from tests.support.served_assistant import PASSAGE
from tests.support.workbench import peopled

from ragstone.kernel.config import Settings
from ragstone.kernel.config.serving import Role
from ragstone.kernel.serve.server import address_of, listen
from ragstone.workbench import app as workbench_app
from ragstone.workbench.app import side_by_side
from ragstone.workbench.pages import PAGES

TABLES = Path(__file__).parents[2] / ".hypothesis"
"""Where Hypothesis keeps its tables of Unicode, which take seconds to make."""
FULL = int(os.environ.get("RAGSTONE_EXAMPLES", "0"))
ALL = "examples,coverage,fuzzing,stateful"
ANSWER = {"description": "a page, a file, or JSON", "content": {"*/*": {"schema": {}}}}
"""Of every route: a browser gets HTML, a script JSON."""
BY_TYPES = ("positive_data_acceptance",)
"""What a document made of types alone cannot say: which ids there are, and which texts are names."""
ROLES: dict[Role, tuple[str, ...]] = {
    "reader": (*BY_TYPES, "unsupported_method"),  # turned away before being told which methods there are
    "annotator": BY_TYPES,
    "owner": BY_TYPES,
}
"""Role -> the checks that are left out for it."""
# What a JSON Schema cannot say: that a file must be what its name says.
CONFIG = """
[[operations]]
include-path = "/v1/documents"
include-method = "POST"
checks.positive_data_acceptance.enabled = false

[parameters]
"path.conversation_id" = {conversation!r}
"path.chunk_id" = {chunk!r}
"""
LEAVES = "/workbench/logout"  # which ends the session that the other requests need


def document_of(settings: Settings) -> dict[str, Any]:
    """Return the OpenAPI document of the workbench's routes; their answers are told as any page or JSON."""
    config = OpenAPIConfig(title="workbench", version="1")
    routes = [route for name in PAGES for route in import_module(f"ragstone.{name}").ROUTES]
    for route in routes:
        route.include_in_schema = True
    try:
        with mock.patch.object(
            workbench_app, "Litestar", lambda *a, **k: Litestar(*a, **{**k, "openapi_config": config})
        ):
            found: dict[str, Any] = workbench_app.create_workbench(settings).openapi_schema.to_schema()
    finally:
        for route in routes:
            route.include_in_schema = False
    for methods in found["paths"].values():
        for operation in methods.values():
            operation["responses"] = {"default": ANSWER}
    found["paths"] = {path: told for path, told in found["paths"].items() if not path.startswith(LEAVES)}
    return found


def config_for(address: str, headers: Mapping[str, str]) -> str:
    """Return the configuration for an assistant, in which a conversation is begun."""
    body = {"model": "assistant", "messages": [{"role": "user", "content": "When is maize sown?"}]}
    told = httpx.post(f"{address}/v1/chat/completions", json=body, headers=dict(headers)).json()
    return CONFIG.format(conversation=told["ragstone"]["conversation_id"], chunk=PASSAGE.chunk_id)


@contextlib.contextmanager
def workbench_as(settings: Settings, role: Role) -> Iterator[tuple[str, dict[str, str]]]:
    """Give the address of a workbench with accounts, and the headers of somebody in it."""
    with peopled(settings) as people:
        client = people.person("Rea", role)
        people.person("Olga", "owner")
        cookie = "; ".join(f"{name}={value}" for name, value in client.cookies.items())
        headers = {"Cookie": cookie, "X-CSRF-Token": client.headers["X-CSRF-Token"]}
        bound = listen("127.0.0.1", 0)
        server = uvicorn.Server(
            uvicorn.Config(side_by_side(people.app, None), log_level="error", lifespan="off")
        )
        thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
        thread.start()
        while not server.started and thread.is_alive():
            thread.join(0.01)
        try:
            yield address_of(bound), headers
        finally:
            server.should_exit = True
            thread.join(60)
            bound.close()


def checked(
    folder: Path,
    document: Mapping[str, Any] | str,
    address: str,
    headers: Mapping[str, str],
    *,
    config: str = "",
    without: tuple[str, ...] = (),
    phases: str = ALL,
) -> int:
    """Return how many requests were made. Raises AssertionError with what schemathesis says of a failure.

    document: the OpenAPI document, or its address. config: of schemathesis, as TOML.
    """
    if not isinstance(document, str):
        (folder / "openapi.json").write_text(json.dumps(document))
        document = str(folder / "openapi.json")
    (folder / "schemathesis.toml").write_text(config)
    command = [
        *(
            str(Path(sys.executable).parent / "schemathesis"),
            "--config-file",
            str(folder / "schemathesis.toml"),
        ),
        *(
            "run",
            f"--max-examples={FULL or 2}",
            "--seed=1",
            "--workers=2",
            "--no-color",
            "--generation-deterministic",
        ),
        *("--suppress-health-check=all", f"--url={address}", f"--phases={ALL if FULL else phases}"),
        *(part for name, value in headers.items() for part in ("-H", f"{name}: {value}")),
        *((f"--exclude-checks={','.join(without)}",) if without else ()),
        document,
    ]
    kept = {**os.environ, "HYPOTHESIS_STORAGE_DIRECTORY": str(TABLES)}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=1800, cwd=folder, env=kept)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    n = int(next(iter(re.findall(r"(\d+) generated", ran.stdout)), "0"))
    if FULL:
        print(f"{address}: {n:,} requests")
    return n
