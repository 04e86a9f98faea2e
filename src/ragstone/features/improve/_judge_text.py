"""A judge that was fitted, or changed -> the text of its file."""

import os
from collections.abc import Mapping
from pathlib import Path

import msgspec

from ragstone.kernel.config import to_toml
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.judging.judge import LOADED
from ragstone.kernel.judging.variant import FILE

IN_A_ROW = 5
# Keys whose values fill several lines, and what stands above them.
LONG = {
    "curve": "# [what the members make of it, probability]: straight between points, level beyond the ends.",
    "tuned_on": "# Questions that it was fitted on: they say nothing about how good it is.",
}


def judge_text(judge: JudgeFields, folder: Path) -> str:
    """Return the file of a judge; files of members are named as seen from the folder.

    Keys with their default are left out.
    """
    plain = msgspec.to_builtins(judge, enc_hook=str)
    usual = {field.name: _usual(field) for field in msgspec.structs.fields(judge)}
    own = {key: plain[key] for key in plain if key not in ("kind", *LOADED) and plain[key] != usual[key]}
    own.pop("members", None)
    long = {key: own.pop(key, []) for key in LONG}
    named = {key: own.pop(key) for key in ("name", "version")}
    tables = {key: own.pop(key) for key in [*own] if _is_table(own[key])}
    lines = _table(named | {"kind": judge.kind} | own)
    for key, values in long.items():
        if values:
            rows = [values[at : at + IN_A_ROW] for at in range(0, len(values), IN_A_ROW)]
            rows = ["  " + " ".join(f"{toml_value(value)}," for value in row) for row in rows]
            lines += [LONG[key], f"{key} = [", *rows, "]"]
    for key, table in tables.items():
        for entry in table if isinstance(table, list) else [table]:
            lines += ["", f"[[{key}]]" if isinstance(table, list) else f"[{key}]", *_table(entry)]
    for member in judge.members:
        match = FILE.fullmatch(member.judge)
        name = f"{os.path.relpath(match[1], folder)}{match[2] or ''}" if match else member.judge
        keys = msgspec.to_builtins(msgspec.structs.replace(member, judge=name, loaded=msgspec.UNSET))
        lines += ["", "[[members]]", *_table(keys)]
    return "\n".join(lines) + "\n"


def _usual(field: msgspec.structs.FieldInfo) -> object:
    """Return the default of a field, as plain values."""
    made = field.default if field.default_factory is msgspec.NODEFAULT else field.default_factory()
    return None if made is msgspec.NODEFAULT else made


def _is_table(value: object) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)
    )


def _table(values: Mapping[str, object]) -> list[str]:
    """Return the lines of a table, aligned, without keys that have no value."""
    width = max(len(toml_key(key)) for key in values)
    return [
        f"{toml_key(key):<{width}} = {toml_value(value)}"
        for key, value in values.items()
        if value is not None
    ]


def toml_key(key: str) -> str:
    return key if key.replace("_", "a").replace("-", "a").isalnum() and key.isascii() else to_toml(key)


def toml_value(value: object) -> str:
    """Return a value as TOML writes it: a text of several lines stands as it is read."""
    if isinstance(value, Mapping):
        inside = ", ".join(
            f"{toml_key(key)} = {toml_value(inner_value)}"
            for key, inner_value in value.items()
            if inner_value is not None
        )
        return f"{{ {inside} }}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, str) and "\n" in value and "\r" not in value:
        inner = "\n".join(map(_line, value.split("\n")))
        return f'"""\n{inner}"""'
    return to_toml(value)


def _line(line: str) -> str:
    """Return a line within three quotes; its own quotes are escaped only where they could end the text."""
    inside = to_toml(line)[1:-1]
    return inside if '""' in line or line.endswith('"') else inside.replace('\\"', '"')
