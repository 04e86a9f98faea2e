"""`ragstone serve`: what it says before it listens, and when it does."""

import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.support.command import ragstone
from tests.support.golden import sentence_in


def settings(tmp_path, serve):
    path = tmp_path / "ragstone.toml"
    path.write_text(
        f'[run]\nmodel = "openai/fake"\n[assistant]\nembedder = "openai/fake"\n[serve]\n{serve}\n'
    )
    return path


def test_a_public_address_without_keys_is_refused(tmp_path):
    ran = ragstone("serve", "--config", settings(tmp_path, 'host = "0.0.0.0"'))
    assert ran.code == 2
    assert "keys_file" in ran.err
    ran = ragstone("serve", "--config", settings(tmp_path, ""), "--host", "0.0.0.0")
    assert (ran.code, "keys_file" in ran.err) == (2, True)


def test_a_keys_file_that_is_missing_is_told_before_anything_is_opened(tmp_path, says):
    ran = ragstone("serve", "--config", settings(tmp_path, 'keys_file = "keys.toml"\nport = 0'))
    assert ran.code == 2
    says(sentence_in(ran.err, "keys.toml: cannot"))
    assert "Getting ready" not in ran.err


@pytest.mark.parametrize(
    ("serve", "words"),
    [
        ('[serve.otlp]\nkey_env = "NO_SUCH_KEY"', "NO_SUCH_KEY holds no key"),
        ('host = "0.0.0.0"\nkeys_file = "keys.toml"', "holds a key, or listen on 127.0.0.1"),
    ],
)
def test_who_may_send_traces_is_checked_before_anything_is_opened(tmp_path, serve, words):
    ran = ragstone("serve", "--otlp", "--config", settings(tmp_path, serve))
    assert (ran.code, words in ran.err) == (2, True)
    assert "Getting ready" not in ran.err


def test_a_port_that_is_taken_is_told(tmp_path, says):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = ragstone("serve", "--config", settings(tmp_path, f"port = {port}"))
        assert ran.code == 2
        says(ran.err.replace(str(port), "PORT"))
        ran = ragstone("serve", "--config", settings(tmp_path, "port = 0"), "--port", port)
        assert ran.code == 2


def test_the_model_may_be_named_on_the_command_line(tmp_path):
    ran = ragstone("serve", "--config", settings(tmp_path, "port = 0"), "--model", "nonsense")
    assert ran.code == 2
    assert "'nonsense'" in ran.err


@pytest.mark.kill
def test_in_an_empty_folder_it_serves_the_workbench_and_says_what_to_do_next(tmp_path, says):
    code, address, told = served(tmp_path, "--port", "0", visit="/workbench/")
    assert code == 200
    assert address in told
    says(sentence_in(told, "workbench is at"))
    says(sentence_in(told, "There are no"))
    assert "invite" not in told


@pytest.mark.kill
def test_without_a_model_the_assistant_is_served_all_the_same(tmp_path, says):
    (tmp_path / "ragstone.toml").write_text("[assistant]\n[serve]\nport = 0\n")
    code, address, told = served(tmp_path, visit="/")
    assert code == 200
    assert address in told
    says(sentence_in(told, "chat page is"))
    says(sentence_in(told, "Getting ready"))


@pytest.mark.kill
def test_the_first_start_for_others_prints_a_link_for_the_first_owner(tmp_path, says):
    code, address, told = served(tmp_path, "--port", "0", "--host", "0.0.0.0", visit="/workbench/")
    assert code == 303
    assert f"  {address}/workbench/invite/" in told
    says(sentence_in(told, "There are no accounts"))


def served(folder, *options, visit):
    """Return what a page of a server answers, the address, and what was said until Ctrl-C."""
    command = [Path(sys.executable).with_name("ragstone"), "serve", *options]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=folder, **pipes) as server:
        address = server.stdout.readline().strip()
        code = httpx.get(address + visit).status_code
        server.send_signal(signal.SIGINT)
        _, told = server.communicate(timeout=60)
        assert server.returncode == 0, told
    return code, address, told
