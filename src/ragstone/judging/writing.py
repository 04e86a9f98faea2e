"""A judge that was fitted -> the text of its file."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from ragstone.judging.combined import CombinedJudge
from ragstone.judging.variant import FILE

IN_A_ROW = 5
FITTED = "# Questions that its numbers were fitted on: they say nothing about how good it is."


def judge_text(judge: CombinedJudge, folder: Path) -> str:
    """Return the file of a judge that is made of others; files of members are named as seen from the folder.

    Keys with their default are left out.
    """
    given = msgspec.to_builtins(judge)
    usual = {field.name: field.default for field in msgspec.structs.fields(judge)}
    own = {key: given[key] for key in given if key != "kind" and given[key] != usual[key]}
    tuned_on, _members = own.pop("tuned_on", []), own.pop("members", [])
    named = {key: own.pop(key) for key in ("name", "version")}
    lines = _table(named | {"kind": judge.kind} | own)
    if tuned_on:
        lines += [FITTED, "tuned_on = [", *_rows(tuned_on), "]"]
    for member in judge.members:
        found = FILE.fullmatch(member.judge)
        name = f"{os.path.relpath(found[1], folder)}{found[2] or ''}" if found else member.judge
        keys = msgspec.to_builtins(msgspec.structs.replace(member, judge=name, loaded=msgspec.UNSET))
        lines += ["", "[[members]]", *_table(keys)]
    return "\n".join(lines) + "\n"


def _rows(digests: Sequence[str]) -> list[str]:
    return [
        "  " + " ".join(f"{_toml(digest)}," for digest in digests[at : at + IN_A_ROW])
        for at in range(0, len(digests), IN_A_ROW)
    ]


def _table(values: Mapping[str, object]) -> list[str]:
    """Return the lines of a table, aligned, without keys that have no value."""
    width = max(map(len, values))
    return [f"{key:<{width}} = {_toml(value)}" for key, value in values.items() if value is not None]


def _toml(value: object) -> str:
    """Return a value as TOML writes it: text, numbers and lists of them look as in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
