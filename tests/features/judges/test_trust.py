"""Judge files that name Python code: shown without it, and run from outside the project with a yes alone."""

import json

import pytest
from tests.support.command import TO_FILE, ragstone

from ragstone.kernel import trust
from ragstone.kernel.config import load_settings
from ragstone.kernel.console import printing
from ragstone.kernel.judging import load_judge
from ragstone.kernel.records import Answer
from ragstone.kernel.tables import write_rows
from ragstone.kernel.trust import UntrustedCode

FUNCTION = """name = "mine"
kind = "function"
version = 1
call = "pwn.py:judged"
"""
STACK = """name = "mine"
kind = "jury"
version = 1
inputs = ["answer"]
scale = [0, 1]
source = "own"
members = [{judge = "pwn.py:judged"}, {judge = "no_refusal"}]
"""
NESTED = STACK.replace("pwn.py:judged", "inner.toml")


@pytest.fixture(params=["function", "member", "nested"])
def outside(request, tmp_path, monkeypatch):
    """A judge's file outside of the project, whose code leaves a mark when it is imported."""
    there, project = tmp_path / "there", tmp_path / "project"
    there.mkdir()
    project.mkdir()
    monkeypatch.chdir(project)
    monkeypatch.setattr(trust, "_projects", set())  # what other tests have opened in this process
    mark = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}).touch()\n"
    code = f"{mark}\ndef judged(answer):\n    return 1.0\n"
    (there / "pwn.py").write_text(code)
    (there / "inner.toml").write_text(FUNCTION.replace("mine", "inner"))
    text = {"function": FUNCTION, "member": STACK, "nested": NESTED}[request.param]
    (there / "mine.toml").write_text(text)
    write_rows("a.jsonl", [Answer(question_id="1", question="Who?", answer="Ann.")], Answer)
    return there / "mine.toml"


@pytest.fixture
def ran(tmp_path):
    return (tmp_path / "ran").exists


def test_a_file_is_shown_with_its_code_and_none_of_it_is_run(outside, ran):
    shown = ragstone("judges", "show", outside)
    assert (shown.code, ran()) == (0, False), shown.err
    assert "def judged(answer):" in shown.out
    told = json.loads(ragstone("judges", "show", outside, "--json").out)
    assert told["code"] == [str(outside.parent / "pwn.py:judged")]
    assert not ran()


COMMANDS = [
    ("judge", "a.jsonl", "--judge", "FILE", *TO_FILE),
    ("judges", "test", "FILE", "a.jsonl"),
    ("attack", "a.jsonl", "--judge", "FILE", "-o", "rows.jsonl"),
    ("watch", "a.jsonl", "--judge", "FILE"),
    ("try", "a.jsonl", "--judge", "FILE"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: " ".join(one[:2]))
def test_without_a_terminal_code_from_outside_is_refused(command, outside, ran):
    told = ragstone(*(str(outside) if one == "FILE" else one for one in command))
    assert (told.code, ran()) == (2, False), told.err


def test_the_refusal_says_what_to_do_and_trust_does_it(outside, ran):
    told = ragstone("judge", "a.jsonl", "--judge", outside, *TO_FILE)
    assert (told.code, ran()) == (2, False)
    assert "outside this project" in told.err
    assert "--trust" in told.err
    told = ragstone("judge", "a.jsonl", "--judge", outside, *TO_FILE, "--trust")
    assert (told.code, ran()) == (0, True), told.err


@pytest.mark.parametrize("reply", ["y", "n", ""])
def test_on_a_terminal_a_person_is_asked_once(outside, ran, monkeypatch, reply):
    monkeypatch.setattr(printing, "on_terminal", lambda: True)
    told = ragstone("judge", "a.jsonl", "--judge", outside, *TO_FILE, said=f"{reply}\n")
    assert told.err.count("Run it?") == 1
    assert (told.code, ran()) == ((0, True) if reply == "y" else (2, False)), told.err


def test_a_file_of_the_project_runs_as_ever(outside, ran, monkeypatch):
    monkeypatch.chdir(outside.parent)
    assert load_judge("mine.toml").name == "mine"
    assert ran()


def test_a_file_beside_the_ragstone_toml_that_was_named_runs(outside, ran):
    (outside.parent / "ragstone.toml").write_text("")
    load_settings(outside.parent / "ragstone.toml")
    load_judge(outside)
    assert ran()


def test_the_python_interface_refuses_too_and_has_a_keyword(outside, ran):
    with pytest.raises(UntrustedCode, match="trust=True"):
        load_judge(outside)
    assert not ran()
    assert load_judge(outside, trust=True).name == "mine"
    assert ran()
