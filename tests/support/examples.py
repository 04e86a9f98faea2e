"""Examples of commands' help, and what runs one in a reader's folder (reader.py)."""

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.command import Ran, every_command, ragstone
from tests.support.reader import ctrl_c, inside
from tests.support.scripted_facts import wants_facts, write_facts
from tests.support.scripted_writer import writer
from tests.support.scripts import Body, Said, Script

EXAMPLE = re.compile(r"^- `ragstone (.+)`$", re.MULTILINE)
# Commands that write a file which a reader has only after them.
WRITES = {
    "ingest": ["documents.jsonl"],
    "chunk": ["chunks.jsonl"],
    "import vendor": ["judgements.jsonl"],
    "answer": ["answers.jsonl"],
    "judge answers": ["runs/answers"],
    "judges new": ["tone.toml"],
    "run": ["runs/mine"],
    "build": ["questions"],
    "ledger export": ["backup.jsonl"],
}
# What nobody can be asked here, and a size where every row is asked about a hundred times.
WITH = {"ledger prune": ["--yes"], "demo": ["--yes"], "attack": ["--limit", "4"]}
WRITER: Script = writer(critic=lambda question: 4 + len(question) % 2)


def reply(body: Body) -> Said | str:
    """Return what the model of the folder says: facts, else questions and verdicts."""
    answer: Said | str = WRITER(body) if not wants_facts(body) else write_facts(body)  # type: ignore[assignment]
    return answer


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:  # noqa: ANN401 - of typer's own click
    """Yield every command with its whole name."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def examples() -> list[tuple[str, str]]:
    """Return each example with its command's whole name."""
    every = dict(commands(every_command()))
    return [(name, words) for name, command in every.items() for words in EXAMPLE.findall(command.help or "")]


def place(folder: Path, words: str) -> Path:
    """Return the folder, of those in the reader's, whose files the example is about."""
    if words.startswith("bench languages"):
        return folder / "farm"
    return folder / "manual" if "handbook/" in words else folder


def ready(folder: Path, words: str) -> list[str]:
    """Take away what the command is about to make; return its arguments."""
    for start, names in WRITES.items():
        for name in names if words.startswith(start) else ():
            shutil.rmtree(folder / name, ignore_errors=True)
            (folder / name).unlink(missing_ok=True)
    more = next((more for start, more in WITH.items() if words.startswith(start)), [])
    return [*shlex.split(words), *more]


def run_example(folder: Path, words: str) -> Ran:
    arguments = ready(folder, words)
    with inside(folder), ctrl_c(arguments):
        return ragstone(*arguments)
