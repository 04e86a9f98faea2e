"""What a release promises by name: `python -m tests.support.released` records it for the version in version.py.

Commands with their options, keys of ragstone.toml, fields of rows, judges, extras and public names of Python.
tests/test_deprecations.py holds every record against what there is.
"""

import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.command import every_command

import ragstone
from ragstone.features.schema.schemas import schema_of
from ragstone.kernel.judging import judge_names

ROOT = Path(__file__).parents[2]
RECORDS = ROOT / "tests" / "fixtures" / "released"
ROWS = ("answer", "judgement", "label", "question", "ranking", "chunk", "document")


def options(command: Any, name: str = "") -> Iterator[str]:
    """Yield `judge` and `judge --budget` for every command that is no group, and each of its options."""
    for word, each in getattr(command, "commands", {}).items():
        yield from options(each, f"{name} {word}".strip())
    if not getattr(command, "commands", None):
        yield name
        for parameter in command.params:
            yield from (f"{name} {option}" for option in parameter.opts if option.startswith("--"))


def keys(schema: dict[str, Any], definitions: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the dotted keys of a JSON Schema; NAME stands for a key that users choose."""
    for part in (schema, *schema.get("anyOf", ()), *schema.get("oneOf", ())):
        own = definitions.get(part.get("$ref", "").rpartition("/")[2], part)
        if own is not schema and own is not part:
            yield from keys(own, definitions, prefix)
        for name, inner in own.get("properties", {}).items() if own is part else ():
            yield f"{prefix}{name}"
            yield from keys(inner, definitions, f"{prefix}{name}.")
        values = part.get("additionalProperties")
        if isinstance(values, dict):
            yield from keys(values, definitions, f"{prefix}NAME.")
        if isinstance(part.get("items"), dict):
            yield from keys(part["items"], definitions, prefix)


def promised() -> dict[str, list[str]]:
    """Return what there is now, sorted, by kind."""
    settings = schema_of("settings")
    rows = {name: schema_of(name) for name in ROWS}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    found = {
        "commands": options(every_command()),
        "settings": keys(settings, settings.get("$defs", {})),
        "rows": (
            f"{name}.{key}" for name, schema in rows.items() for key in keys(schema, schema.get("$defs", {}))
        ),
        "judges": judge_names(),
        "extras": set(project["optional-dependencies"]) - {"dev"},
        "python": ragstone.__all__,
    }
    return {kind: sorted(set(names)) for kind, names in found.items()}


if __name__ == "__main__":
    place = RECORDS / f"{ragstone.__version__}.json"
    place.write_text(json.dumps(promised(), indent=1) + "\n", "utf-8")
    sys.stdout.write(f"{place.relative_to(ROOT)}\n")
