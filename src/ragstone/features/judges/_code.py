"""A judge that names Python code -> what its file says, and the code as text: none of it is imported."""

import ast
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ragstone.kernel.config.python_function import names_function
from ragstone.kernel.judging.judge import read_judge
from ragstone.kernel.judging.variant import options_of

MOST_LINES = 200


class NamedCode(NamedTuple):
    """keys: what the judge's file says. places: the code that it runs. lines: both, for a terminal."""

    keys: dict[str, Any]
    places: list[str]
    lines: list[str]


def code_of(name: str) -> NamedCode | None:
    """Return the code that a judge runs, also as a member; None where it runs none. Raises ConfigError."""
    base = options_of(name)[0]
    if names_function(base):  # whoever names it has it imported, as Python does
        return None
    judge = read_judge(base)
    folder = Path(base).expanduser().absolute().parent
    keys = msgspec.to_builtins(judge.every_key())
    places = _places(base, {base})
    if not places:
        return None
    facts = {
        "judge": f"{judge.name}, version {judge.version}",
        "kind": judge.kind,
        "calls": ", ".join(places),
    }
    facts["members"] = ", ".join(member.judge for member in judge.members)
    lines = [f"{head:9} {value}" for head, value in facts.items() if value]
    return NamedCode(keys, places, [*lines, *(line for call in places for line in _source(call, folder))])


def _places(base: str, seen: set[str]) -> list[str]:
    """Return the code that a judge names, also by its members at any depth."""
    judge = read_judge(base)
    folder = Path(base).expanduser().absolute().parent
    call = msgspec.to_builtins(judge.every_key()).get("call")
    places = [str(folder / call) if ".py:" in call else call] if call else []
    for member in judge.members:
        inner = options_of(member.judge)[0]
        if names_function(inner):
            places.append(inner)
        elif inner not in seen:
            seen.add(inner)
            places += _places(inner, seen)
    return places


def _source(call: str, folder: Path) -> list[str]:
    """Return the lines of a function in a file, as they are there; else where Python will look for it."""
    module, _, function = call.rpartition(":")
    file = folder / (module if module.endswith(".py") else f"{module.replace('.', '/')}.py")
    try:
        text = file.read_text("utf-8")
        tree = ast.parse(text)
    except (OSError, ValueError, SyntaxError, RecursionError):
        return ["", f"--- {call}: its source is not in {folder}; nothing was imported to look for it"]
    named = function.partition(".")[0]
    definition = next(
        (statement for statement in tree.body if getattr(statement, "name", None) == named), None
    )
    first, last = (
        (definition.lineno, definition.end_lineno or definition.lineno)
        if definition
        else (1, len(text.splitlines()))
    )
    lines = text.splitlines()[first - 1 : last]
    more = [f"... and {len(lines) - MOST_LINES:,} more lines"] if len(lines) > MOST_LINES else []
    head = f"--- {file}, line {first} (not run; anything else the file does on import is not shown)"
    return ["", head, *lines[:MOST_LINES], *more]
