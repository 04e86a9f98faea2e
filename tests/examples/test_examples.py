"""The five examples: their files and commands fit, and each runs as its reader would run it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.browser import Tab
from tests.support.command import every_command
from tests.support.scripted_writer import write_questions

from ragstone.kernel.config import load_settings

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(path.parent for path in EXAMPLES.glob("*/run.sh"))
MODEL = 'model = "llamacpp/smollm2-135m"'
NO_MODEL = '# model = "openai/gpt-4o-mini"'
QUOTING = re.compile('^system = "extractive".*\n', re.MULTILINE)  # what a reader with a model deletes
MOST_S = 600  # of one example, on two cores

each_example = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)

EVERY_RETRIEVER = '["bm25", "dense", "hybrid"]'

# What a reader must find on the pages: page -> words that stand on it.
WORDS = {
    "rubric-judge": {
        # Which verdict always: what its model leaves unread, of 5 answers, decides on each processor.
        "grades-judges/report.html": ["grade", "containment", "always '"],
        "grades/report.html": ["ChatGPT-4", "text-davinci-003", "Is it right?"],
        "grades/agreement.html": ["grade", "coverage"],
    },
    "component-lab": {
        "lab-retrievers/report.html": ["bm25", "dense", "hybrid"],
        "lab-answerers/report.html": ["extractive", "daring"],
        "lab-judges/report.html": ["coverage", "always 'wrong'"],
        "lab/report.html": ["What is to blame?"],
    },
    "true-false": {"statements-languages/report.html": ["bm25", "hi", "zh"]},
    # Not its critics: whether a question reaches them is its model's to decide, on each processor anew.
    "codebase": {
        "questions/certificate.html": ["What was lost, and why", "Every question", "How it was made"]
    },
    "choosing-a-model": {
        "assistant-answerers/report.html": ["extractive", "quote"],
        "assistant/report.html": ["coverage"],
        "quote/report.html": ["coverage"],
    },
}

# The examples whose story is a model's work, and what makes them ask the packaged one a quarter and less:
# what takes a reader minutes would be half of CI. With RAGSTONE_WHOLE_EXAMPLES=1 they run as they are; with
# every answer, scale and critic they run above, on an endpoint.
FEWER = {
    "rubric-judge": {
        "[bench.judges]  ": "[bench.judges]\nlimit = 3\n#",
        "[answer]  ": "[answer]\nlimit = 3\n#",
        'scales     = ["own", "0-10"]': 'scales = ["own"]\n#',
        ', "grade@scale=0-10" = 8, "grade@scale=0-10,shots=2" = 8': "",
    },
    "codebase": {
        'critics      = ["groundedness", "stand_alone"]': 'critics = ["stand_alone"]',
        "= 4 ": "= 2 ",
    },
}
# Files, or rows of them, that are left out. Two modules remain, of five that take a call each. The
# first three answers then are of two questions, for the search to leave fewer, and of two systems.
LEFT_OUT = {
    "codebase": {f"seedbed/{name}.py": slice(None) for name in ("soil", "sowing", "watering")},
    "rubric-judge": {"answers.jsonl": slice(1, 4, 2)},
}


def test_there_are_five():
    assert [folder.name for folder in FOLDERS] == sorted(WORDS)


def commands_of(folder: Path) -> list[list[str]]:
    """Return the words of each `ragstone` line of run.sh, without it and what follows a failure."""
    lines = (folder / "run.sh").read_text(encoding="utf-8").splitlines()
    return [shlex.split(line.partition(" || ")[0])[1:] for line in lines if line.startswith("ragstone ")]


def values(table: object) -> Iterator[str]:
    """Yield every text that stands somewhere in a table of TOML."""
    if isinstance(table, dict):
        for value in table.values():
            yield from values(value)
    elif isinstance(table, list):
        for value in table:
            yield from values(value)
    elif isinstance(table, str):
        yield table


@each_example
def test_settings_load_and_every_file_that_they_name_is_there(folder):
    for file in sorted(folder.glob("*.toml")):
        table = tomllib.loads(file.read_text(encoding="utf-8"))
        if "run" not in table:  # a judge or a prompt
            continue
        load_settings(file)
        named = [value.partition("@")[0] for value in values(table)]
        made = [value for value in named if value.endswith((".jsonl", ".toml", ".csv"))]
        for value in made:
            assert (folder / value).exists() or value.startswith("runs/"), f"{file}: {value} is not there"


@each_example
def test_the_model_stands_in_one_line(folder):
    text = (folder / "ragstone.toml").read_text(encoding="utf-8")
    assert text.count("smollm2") == (folder.name in FEWER)
    assert text.count(MODEL if folder.name in FEWER else NO_MODEL) == 1


@each_example
def test_every_command_is_one_that_ragstone_knows(folder):
    commands = commands_of(folder)
    assert commands
    for words in commands:
        command, rest = every_command(), list(words)
        while hasattr(command, "commands"):
            command = command.commands[rest.pop(0)]
        command.make_context(words[0], rest)  # raises for an option or argument that it does not know


@each_example
def test_its_story_tells_what_is_run_and_where_the_data_are_from(folder):
    story = (folder / "README.md").read_text(encoding="utf-8")
    assert "./run.sh" in story
    for words in commands_of(folder):
        name = " ".join(words[:2] if words[0] in ("bench", "build") else words[:1])
        assert f"ragstone {name}" in story, f"{folder.name}/README.md does not speak of ragstone {name}"
    assert (folder / "SOURCES.md").exists()


@pytest.mark.long
@each_example
def test_any_endpoint_does_with_one_line_changed(folder, tmp_path, monkeypatch, fake_openai):
    copy = shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("runs", ".ragstone"))
    settings = copy / "ragstone.toml"
    text = settings.read_text(encoding="utf-8")
    text = text.replace(MODEL, 'model = "openai/any"').replace(NO_MODEL, 'model = "openai/any"')
    text = QUOTING.sub("", text)
    if folder.name == "component-lab":  # loading the packaged embedder takes longer than all the rest
        text = text.replace(EVERY_RETRIEVER, '["bm25"]')
    settings.write_text(text, encoding="utf-8")
    monkeypatch.setenv("OPENAI_BASE_URL", fake_openai.base_url)
    monkeypatch.chdir(copy)
    if folder.name == "codebase":
        fake_openai.script = write_questions
    run_commands(copy)
    assert fake_openai.n_requests


def run_commands(folder: Path, *options: str) -> None:
    """Run the commands of run.sh in this process, with these options too; each must end well."""
    for words in commands_of(folder):
        with pytest.raises(SystemExit) as end:
            every_command()(args=[*words, *options], prog_name="ragstone")
        assert end.value.code in (0, None), shlex.join(words)


@pytest.mark.docs
@pytest.mark.parametrize(
    "folder", [folder for folder in FOLDERS if folder.name not in FEWER], ids=lambda folder: folder.name
)
def test_its_story_shows_what_is_printed_without_a_model(folder, tmp_path, monkeypatch, capsys):
    copy = shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("runs", ".ragstone"))
    monkeypatch.chdir(copy)
    run_commands(copy, "--all")
    printed = {" ".join(line.split()) for line in capsys.readouterr().out.splitlines()}
    story = (folder / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"^```text checked\n(.*?)^```", story, re.MULTILINE | re.DOTALL)
    lines = [" ".join(line.split()) for line in "".join(shown).splitlines()]
    assert len(lines) > 5
    assert [line for line in lines if not any(other.startswith(line) for other in printed)] == []


@pytest.mark.browser
@pytest.mark.timeout(MOST_S + 60)
@pytest.mark.parametrize(
    "folder",
    [
        pytest.param(folder, id=folder.name, marks=pytest.mark.model if folder.name in FEWER else ())
        for folder in FOLDERS
    ],
)
def test_it_runs_as_it_stands_and_its_pages_open(folder, tmp_path, tab):
    copy = shutil.copytree(folder, tmp_path / folder.name, ignore=shutil.ignore_patterns("runs", ".ragstone"))
    if folder.name in FEWER and "RAGSTONE_WHOLE_EXAMPLES" not in os.environ:
        ask_less(copy)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {"PATH": path, "HOME": str(tmp_path), "LANG": "C.UTF-8"}
    done = subprocess.run(
        ["./run.sh"], cwd=copy, env=environment, capture_output=True, text=True, timeout=MOST_S, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert folder.name in FEWER or "No model was called." in done.stdout
    pages = sorted(path.relative_to(copy / "runs").as_posix() for path in (copy / "runs").rglob("*.html"))
    assert set(WORDS[folder.name]) <= set(pages)
    for page in pages:
        tab.open(copy / "runs" / page)
        shown = tab.run("document.body.innerText")
        for words in WORDS[folder.name].get(page, []):
            assert words in shown, f"{page} lacks {words!r}"
        if tab.run("!!document.getElementById('tool-search')"):
            look_for_a_question(tab)
        tab.run("dispatchEvent(new Event('beforeprint'))")  # else charts are drawn when they come into view
        tab.page.screenshot(path=tmp_path / f"{page.replace('/', '-')}.png", full_page=True)
        assert tab.complaints == [], page
        assert tab.requests == [], page


def ask_less(copy: Path) -> None:
    """Put limits into the settings of an example, and leave out some of its answers."""
    for file in copy.glob("*.toml"):
        text = file.read_text(encoding="utf-8")
        for line, shorter in FEWER[copy.name].items():
            assert line in text or file.name != "ragstone.toml", (
                f"{copy.name}: {line!r} is not there any more"
            )
            text = text.replace(line, shorter, 1)
        file.write_text(text, encoding="utf-8")
    for name, rows in LEFT_OUT[copy.name].items():
        lines = (copy / name).read_text(encoding="utf-8").splitlines(keepends=True)
        del lines[rows]
        (copy / name).write_text("".join(lines), encoding="utf-8")


def look_for_a_question(tab: Tab) -> None:
    """Filter the list by the text of its last question, and open what is left."""
    n_all = tab.page.locator(".question").count()
    asked = tab.page.locator(".question .asked").last.inner_text()
    tab.page.fill("#tool-search", asked)
    tab.page.locator(".question").nth(n_all - 1).wait_for(state="detached")  # fewer are left
    assert asked in tab.page.locator(".question .asked").all_inner_texts()
    tab.page.locator(".question summary").first.click()
    tab.page.wait_for_selector(".question .opened")
