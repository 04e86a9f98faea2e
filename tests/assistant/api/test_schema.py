"""schemathesis asks the server what its OpenAPI document allows, and what it does not."""

import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.support.served_assistant import PASSAGE, Scripted, ask, served

from ragstone.config.serve import ServeSection

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


@pytest.mark.real
def test_the_server_is_as_its_openapi_document_says(tmp_path):
    with served(Scripted(), ServeSection(requests_per_minute=1_000_000), tmp_path / "store") as address:
        with httpx.Client(base_url=address) as client:
            begun = ask(client).json()["ragstone"]["conversation_id"]
        config = tmp_path / "schemathesis.toml"
        config.write_text(CONFIG.format(conversation=begun, chunk=PASSAGE.chunk_id))
        command = [
            *(str(Path(sys.executable).parent / "schemathesis"), "--config-file", str(config), "run"),
            *("--max-examples=8", "--seed=1", "--workers=2", "--no-color", f"{address}/openapi.json"),
        ]
        ran = subprocess.run(command, capture_output=True, text=True, timeout=240, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr
