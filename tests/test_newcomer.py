"""What a newcomer does, in order, after a plain `pip install`: README's commands, then their own files.

Each command is a process of the installed program, in the folder in which a reader would stand. It works,
or it names the extra that it lacks in one sentence; a traceback never ends it. What `Next:` proposes is run.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.support.command import ragstone
from tests.support.fake_openai import serving
from tests.support.once import made_once
from tests.support.pdf import lines, write_pdf
from tests.support.reader import build, write_csv, write_jsonl, write_xlsx
from tests.support.scripted_facts import write_facts
from tests.support.scripted_writer import writer
from tests.support.scripts import schema_in
from tests.test_docs import blocks_of, save

pytestmark = pytest.mark.docs

ROOT = Path(__file__).parents[1]
PROGRAMS = "Scripts" if os.name == "nt" else "bin"
DONE = {0, 1, 3}  # a gate that is not passed and "cannot tell" are answers
EXTRA = re.compile(
    r"^ragstone: .* needs? .*: pip install '?(?:ragstone\[[\w,-]+\]|--no-deps [\w-]+)'?$", re.MULTILINE
)
NO_NETWORK = re.compile(
    r"(?i)no matching distribution|connection|network|temporary failure|timed out|resolve"
)
COMMAND = re.compile(r"(?:\S*/)?ragstone |cd ")
PROSE = re.compile(r" (?:writes|shows|measures|takes) .*")  # where a sentence goes on after its command


class Process(NamedTuple):
    """What became of a command. cwd: where it was run."""

    cwd: Path
    words: tuple[str, ...]
    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """All that it printed, without the line breaks that a narrow terminal makes."""
        return re.sub(r"\s+", " ", self.out + " " + self.err)

    def told(self) -> str:
        return f"{shlex.join(self.words)}: exit code {self.code}\n{self.out[-600:]}\n{self.err[-1500:]}"


class Newcomer:
    """Somebody at a terminal. cwd: where they stand. processes: what they have run."""

    def __init__(self, program: Path, folder: Path, base_url: str) -> None:
        self.program, self.cwd = program, folder
        self.processes: list[Process] = []
        home = folder / ".home"
        home.mkdir()
        kept = {"PATH", "LANG", "TMPDIR", "SYSTEMROOT"}
        self.variables = {name: os.environ[name] for name in kept & os.environ.keys()}
        self.variables |= {"HOME": str(home), "COLUMNS": "200", "OPENAI_API_KEY": "test"}
        self.variables |= {"OPENAI_BASE_URL": base_url, "OPENAI_MODEL": "gpt-4o-mini"}

    def python(self, code: str) -> Process:
        return self._run([str(self.program.with_name("python")), "-c", code], ("python",))

    def ragstone(self, *words: str) -> Process:
        return self._run([str(self.program), *words], ("ragstone", *words))

    def _run(self, command: Sequence[str], words: tuple[str, ...]) -> Process:
        ended = subprocess.run(
            command, cwd=self.cwd, env=self.variables, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, encoding="utf-8", timeout=60, check=False,
        )  # fmt: skip
        process = Process(self.cwd, words, ended.returncode, ended.stdout, ended.stderr)
        self.processes.append(process)
        assert "Traceback" not in process.out + process.err, process.told()
        return process

    def works(self, *words: str, says: Sequence[str], code: int = 0) -> Process:
        """Run a command that must end so, and say all of this."""
        process = self.ragstone(*words)
        assert process.code == code, process.told()
        missing = [text for text in says if text not in process.text]
        assert not missing, f"it does not say {missing}: {process.told()}"
        return process

    def works_or_names_its_extra(self, words: Sequence[str]) -> Process:
        process = self.ragstone(*words)
        names_it = process.code == 2 and len(EXTRA.findall(process.err)) == 1
        assert process.code in DONE or names_it, process.told()
        return process


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The command of an environment of its own, into which this tree was installed without an extra."""
    return made_once(tmp_path_factory, "plain", install) / PROGRAMS / "ragstone"


def install(folder: Path) -> None:
    """Install the tree: by uv where `make test` put one, for that takes a fifth of pip's time."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    uv, python = Path(sys.executable).with_name("uv"), folder / PROGRAMS / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--no-compile", "--retries", "1"]
    command = [uv, "pip", "install", "--python", python] if uv.exists() else pip
    installed = subprocess.run([*command, "--quiet", ROOT], capture_output=True, text=True, check=False)
    if installed.returncode and NO_NETWORK.search(installed.stderr):
        pytest.skip(f"nothing can be installed here: {installed.stderr.strip().splitlines()[-1]}")
    assert installed.returncode == 0, installed.stderr


@pytest.fixture
def newcomer(program: Path, tmp_path: Path) -> Iterator[Newcomer]:
    others = writer(critic=lambda question: 4 + len(question) % 2)
    with serving() as fake:
        fake.script = lambda body: (
            write_facts if "facts" in (schema_in(body) or {}).get("properties", {}) else others
        )(body)
        yield Newcomer(program, tmp_path, fake.base_url)


def next_commands(process: Process) -> list[list[str]]:
    """Return the commands that stand after `Next`: on its line, or on the lines below it."""
    found = []
    lines = process.err.splitlines() + process.out.splitlines()
    at = next((at for at, line in enumerate(lines) if re.search(r"\bNext\b.*:", line)), len(lines))
    for line in lines[at:]:
        for part in re.split(r"; (?=ragstone )|\. Next: |Next: | && ", line.partition("    #")[0]):
            found += [shlex.split(PROSE.sub("", part).rstrip("."))] if COMMAND.match(part) else []
    assert found or at == len(lines), f"a line `Next` without a command: {process.told()}"
    return found


def follow(person: Newcomer, labels: str) -> int:
    """Run what the commands so far have proposed and nobody has run, where they were run. Return how many."""
    known = {"LABELS": labels, "labels.jsonl": labels, "MODEL": "openai/gpt-4o-mini"}
    seen = {(one.cwd, one.words[1:]) for one in person.processes}
    n_run = 0
    for one in [*person.processes]:
        person.cwd = one.cwd
        for words in next_commands(one):
            arguments = tuple(known.get(word, word) for word in words[1:])
            if words[0] == "cd":
                person.cwd = one.cwd / words[1]
                assert person.cwd.is_dir(), one.told()
            elif (person.cwd, arguments) not in seen:
                seen.add((person.cwd, arguments))
                process = person.ragstone(*arguments)
                n_run += 1
                lacks = EXTRA.search(process.err) or "a model, and none is named" in process.text
                assert process.code in DONE or lacks, f"after {shlex.join(one.words)}:\n{process.told()}"
    return n_run


README = (ROOT / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| [^|]+ \| `(ragstone [^`]+)` \|", re.MULTILINE)


def commands_of(page: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each command of a page as (program, arguments); a piece of Python as ("python", [code]).

    What is to be saved under a name is written there.
    """
    for block in blocks_of(page):
        save(block)
        if block.kind == "python":
            yield "python", [block.text]
        for line in block.text.splitlines() if block.kind in ("sh", "console") else ():
            program, *words = shlex.split(line, comments=True)
            yield program, words


def test_after_a_plain_install_every_command_of_readme_works(newcomer, monkeypatch):
    monkeypatch.chdir(newcomer.cwd)
    for program, words in commands_of(README):
        if program == "python":
            process = newcomer.python(words[0])
            assert process.code == 0, process.told()
        elif program == "ragstone":
            process = newcomer.ragstone(*words)
            assert process.code in DONE, process.told()
        else:
            assert (program, words) == ("pip", ["install", "ragstone"])
    assert EXTRA.search(newcomer.works("people", "list", code=2, says=["ragstone[serve]"]).err)
    newcomer.works("doctor", says=["MISSING serve: the workbench -> pip install 'ragstone[serve]'"])
    assert follow(newcomer, "labels.csv") >= 4


def test_the_first_report_on_own_answers_takes_five_commands_at_most(newcomer, monkeypatch):
    monkeypatch.chdir(newcomer.cwd)
    _, _, section = README.partition("\n## Your own answers")
    n_commands = 1  # pip install
    for program, words in commands_of(section):
        assert program == "ragstone"
        n_commands += 1
        process = newcomer.ragstone(*words)
        assert process.code == 0, process.told()
        if words[0] == "report":
            break
    assert n_commands <= 5
    summary = json.loads((newcomer.cwd / "runs/answers/summary.json").read_text("utf-8"))
    [metric] = summary["metrics"]
    assert (metric["judge"], metric["statuses"]) == ("right", {"scored": 3})
    page = (newcomer.cwd / "runs/answers/report.html").read_text("utf-8")
    assert f"{metric['estimate']['value']:.2f}" in page
    assert "Charlotte Brontë wrote it." in page


def test_every_command_of_readmes_table_works_or_names_its_extra(newcomer):
    build(newcomer.cwd, newcomer.variables["OPENAI_BASE_URL"])
    (newcomer.cwd / "manual" / "handbook").rename(newcomer.cwd / "handbook")
    shutil.copy(newcomer.cwd / "manual" / "questions.csv", newcomer.cwd)
    write_jsonl(newcomer.cwd / "traces.jsonl", [*langsmith_runs()])
    newcomer.works("judge", "labelled.jsonl", "--judge", "containment", "-o", "verdicts.jsonl", says=[])
    for made in ("runs/answers", "questions"):
        shutil.rmtree(newcomer.cwd / made)
    (newcomer.cwd / "answers.jsonl").unlink()
    commands = ROW.findall(README)
    assert len(commands) >= 12
    lack = set()
    for command in commands:
        process = newcomer.works_or_names_its_extra(shlex.split(command)[1:])
        lack |= {process.words[1]} if EXTRA.search(process.err) else set()
    assert lack == {"mcp"}


DRONES = [
    {
        "Frage des Kunden": f"Wie hoch darf die Drohne Nummer {at} fliegen?",
        "Antwort des Bots": "120 Meter" if at % 3 else "Größere Höhen sind möglich.",
        "Musterlösung": "120 Meter",
        "Fundstelle": "Drohnen dürfen 120 Meter hoch fliegen, überall in der Gemeinde.",
        "Dauer (s)": f"{at},5",
    }
    for at in range(1, 13)
]
CHAT = [
    {"role": "user", "content": "When is wheat sown?"},
    {"role": "assistant", "content": "In October."},
    {"role": "user", "content": "And maize?"},
    {"role": "assistant", "content": "I cannot help with that."},
]


def langsmith_runs() -> Iterator[dict[str, object]]:
    """Yield four runs of LangSmith, each a chain with the retriever that it called."""
    for at in range(1, 5):
        common = {"trace_id": f"r{at}", "start_time": f"2026-11-20T10:00:0{at}"}
        chain = {"id": f"r{at}", "name": "RAG", "run_type": "chain", "parent_run_id": None}
        asked = {"question": f"How high may drone {at} fly?"}
        yield {**common, **chain, "inputs": asked, "outputs": {"output": "Drones may fly 120 m high."}}
        found = {"documents": [{"page_content": "Drones may fly 120 m high."}]}
        retriever = {"id": f"s{at}", "name": "Search", "run_type": "retriever", "parent_run_id": f"r{at}"}
        yield {**common, **retriever, "inputs": {"query": "How high?"}, "outputs": found}


@pytest.fixture
def own_files(newcomer: Newcomer) -> Path:
    """A folder with the files that people have, as their programs write them."""
    folder = newcomer.cwd
    right = [row["Antwort des Bots"] == row["Musterlösung"] for row in DRONES]
    asked = [row["Frage des Kunden"] for row in DRONES]
    write_csv(folder / "latin.csv", DRONES, delimiter=";", encoding="latin-1")
    write_csv(folder / "excel.csv", DRONES, delimiter=";", encoding="utf-8-sig")
    marks = [
        ["Frage des Kunden", "Urteil"],
        *zip(asked, ["richtig" if one else "falsch" for one in right], strict=True),
    ]
    write_xlsx(folder / "labels.xlsx", marks)
    grades = [
        {"Frage des Kunden": q, "score": "0,9" if one else "0,125"}
        for q, one in zip(asked, right, strict=True)
    ]
    write_csv(folder / "grades.csv", grades, delimiter=";", encoding="latin-1")
    write_jsonl(folder / "langsmith.jsonl", [*langsmith_runs()])
    write_jsonl(folder / "chats.jsonl", [{"id": f"c{at}", "messages": CHAT} for at in range(3)])
    turns = [("Will it rain?", "Where?"), ("In Thika.", "Yes, tomorrow.")]
    log = [{"question": q, "answer": a, "conversation_id": f"a{at}"} for at in range(2) for q, a in turns]
    write_jsonl(folder / "exchanges.jsonl", log)
    write_xlsx(folder / "manuals" / "sowing.xlsx", [["Kultur", "Aussaat"], ["Weizen", "Oktober"]])
    page = "<html><head><title>Mais</title></head><body><h1>Mais</h1><p>Aussaat im April.</p></body></html>"
    (folder / "manuals" / "maize.html").write_text(page, "utf-8")
    printed = write_pdf([lines(72, 700, "Gerste", "Gerste wird im September ausgebracht.")], title="Gerste")
    (folder / "manuals" / "barley.pdf").write_bytes(printed)
    return folder


def test_own_files_are_judged_labelled_imported_and_ingested_as_the_docs_say(newcomer, own_files):
    works, turns = newcomer.works, ["--each-turn"]
    judges = ["--judge", "containment", "--judge", "right"]
    mean = "containment: correctness 0.67 0.39 to 0.86 12 of 12"
    works("judge", "latin.csv", *judges, says=["read as cp1252", mean, "`Musterlösung` as the reference"])
    works("judge", "excel.csv", *judges, "-o", "excel.jsonl", says=[mean, "24 scored"])
    works(
        "agree", "runs/latin", "labels.xlsx", "--all", says=["12 labelled answers", "exact agreement 1.000"]
    )
    works(
        "agree", "excel.jsonl", "labels.xlsx", "--all", says=["12 labelled answers", "exact agreement 1.000"]
    )
    mapping = ["--map", "0,9=1;0,125=0"]
    works(
        "agree",
        "runs/latin",
        "grades.csv",
        *mapping,
        "--all",
        says=["12 labelled answers", "agreement 1.000"],
    )
    works("blame", "runs/latin", says=["4 of 12 points lost"])
    works("report", "runs/latin", says=["runs/latin/report.html"])
    works("compare", "runs/latin", "excel.jsonl", says=["No score differs"])
    works("judge", "langsmith.jsonl", "--judge", "grounding", says=["faithfulness 1.00", "4 of 4"])
    works("judge", "chats.jsonl", "--judge", "no_refusal", *turns, says=["answered 0.50", "6 of 6"])
    works("import", "exchanges.jsonl", "--conversations", "-o", "gathered", says=["2 conversations in"])
    gathered = ["judge", "gathered/conversations.jsonl", "--judge", "no_refusal"]
    works(*gathered, *turns, says=["4 of 4"])
    works(
        "import", "latin.csv", "-o", "asked", says=["12 questions from", "`Frage des Kunden` as the question"]
    )
    reference = ["--column", "reference=Musterlösung"]  # `Antwort des Bots` is as near
    works("import", "latin.csv", *reference, "-o", "set", says=["12 questions", "12 with a reference"])
    works("ingest", "manuals", code=2, says=["pip install 'ragstone["])
    works("ingest", "manuals", "--without-extras", "-o", "d.jsonl", says=["1 document in", "1 .xlsx"])
    works("new", "mine", says=["Next: cd mine && ragstone run"])
    works("judges", "new", "tone.toml", "--kind", "rubric", says=["Next: ragstone judges test tone.toml"])
    assert follow(newcomer, "labels.xlsx") >= 8


def test_the_same_folder_with_its_extras_is_ingested_whole(newcomer, own_files, monkeypatch):
    monkeypatch.chdir(own_files)
    ran = ragstone("ingest", "manuals", "-o", "documents.jsonl")
    assert (ran.code, "3 documents in documents.jsonl" in ran.out + ran.err) == (0, True), ran.err
    texts = [
        json.loads(line)["text"] for line in (own_files / "documents.jsonl").read_text("utf-8").splitlines()
    ]
    assert [crop for crop in ("Weizen", "Aussaat im April", "September") if crop not in " ".join(texts)] == []
