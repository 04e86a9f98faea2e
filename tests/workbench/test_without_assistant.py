"""Ragstone without the distribution of the assistant: the workbench is served, what is absent is named."""

import re
import signal
import subprocess
import sys

import httpx
import pytest
from tests.support.command import ragstone

HIDDEN = """
from importlib.machinery import PathFinder

find = PathFinder.find_spec
PathFinder.find_spec = lambda name, *rest: None if name == "ragstone_assistant" else find(name, *rest)
"""
MAIN = f"{HIDDEN}from ragstone.cli.app import main; main()"


def run(folder, *arguments, code=MAIN):
    """Return what became of a program that cannot import the assistant."""
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)


@pytest.mark.kill
def test_a_project_without_an_assistant_is_served(tmp_path):
    command = [sys.executable, "-c", MAIN, "serve", "--port", "0"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, **pipes) as server:
        address = server.stdout.readline().strip()
        pages = ("", "label", "judges", "data", "cards", "monitor", "traces", "compare")
        codes = {httpx.get(f"{address}/workbench/{page}").status_code for page in pages}
        server.send_signal(signal.SIGINT)
        _, text = server.communicate(timeout=60)
    assert (codes, server.returncode) == ({200}, 0), text


@pytest.mark.long
@pytest.mark.parametrize(
    "arguments", [("serve", "--port", "0"), ("assistant", "rebuild")], ids=["serve", "assistant"]
)
def test_a_command_of_the_assistant_names_the_extra(tmp_path, arguments, says):
    (tmp_path / "ragstone.toml").write_text("[assistant]\n")
    ended = run(tmp_path, *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    says(" ".join(ended.stderr.split()))


def test_the_public_class_names_the_extra(tmp_path, says):
    code = f"""{HIDDEN}
import ragstone
from ragstone.kernel.errors import MissingExtra
try:
    ragstone.Assistant
except MissingExtra as mistake:
    print(mistake)
"""
    ended = run(tmp_path, code=code)
    assert ended.returncode == 0, ended.stderr
    says(ended.stdout.strip())


@pytest.mark.long
@pytest.mark.parametrize("name", ["ragstone_assistant.api.app", "ragstone.workbench.app"])
def test_a_module_of_ours_that_lacks_is_no_missing_extra(folder, monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(sys.modules, "ragstone.workbench.chat", raising=False)  # it imports the other
    (folder / "ragstone.toml").write_text("[assistant]\n")
    with pytest.raises(ModuleNotFoundError, match=f"import of {re.escape(name)} halted"):
        ragstone("serve", "--port", "0")
