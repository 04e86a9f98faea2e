"""A commented ragstone.toml for documents and questions that a user has already."""

import os
import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from ragstone.features.new.starter import starter_settings, write_agents
from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.records import Question
from ragstone.kernel.tables import read_rows

# Tables of the starter that speak of its own files, or of what its texts are about.
OF_THE_STARTER = ("agree", "agree.thresholds", "build")


def write_own_settings(
    folder: Path, model: str | None, documents: Sequence[Path], questions: Path | None
) -> Path:
    """Write the starter's ragstone.toml with these files in place of the starter's, and return its path.

    Paths in it are relative to the folder. Raises DataError for a file that is missing or cannot be read, and
    for a ragstone.toml that exists; nothing is written then.
    """
    for path in documents:
        if not path.exists():
            raise DataError(f"--documents {path}: there is no such file or folder. Check the path.")
    if questions is not None:
        list(islice(read_rows(questions, Question), 1))  # whether it can be read, before anything is written
    target = folder / "ragstone.toml"
    if target.exists():
        raise DataError(f"{target} exists and was not touched. Choose another folder.")
    text = starter_settings(model)
    for table in OF_THE_STARTER:
        text = _commented(text, table)
    text = _set(text, "name", _quoted(folder.absolute().name))
    text = text.replace("runs/starter/", f"runs/{folder.absolute().name}/")
    text = _set(text, "paths", f"[{', '.join(_quoted(seen_from(folder, path)) for path in documents)}]")
    if questions is None:
        text = _commented(text, "questions")
    else:
        text = _set(text, "path", _quoted(seen_from(folder, questions)))
    with explaining(f"{folder}: cannot be written", "Choose another folder."):
        folder.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        write_agents(folder)
    return target


def _set(text: str, key: str, value: str) -> str:
    """Return the file with another value of a key, the first of this name; its comment stays."""
    pattern = re.compile(rf"^({key} = )(\[.*?\]|\"[^\"]*\")", re.MULTILINE)
    return pattern.sub(lambda match: match[1] + value, text, count=1)


def _commented(text: str, table: str) -> str:
    """Return the file with a table as comments."""
    head, name, rest = text.partition(f"\n[{table}]")
    body, blank, after = rest.partition("\n\n")
    lines = f"[{table}]{body}".splitlines()
    commented = "\n".join(line if line.startswith("#") else f"# {line}" for line in lines)
    return f"{head}\n{commented}{blank}{after}" if name else text


def seen_from(folder: Path, path: Path) -> str:
    """Return a path as it is written in a file of the folder."""
    return Path(os.path.relpath(path.absolute(), folder.absolute())).as_posix()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
