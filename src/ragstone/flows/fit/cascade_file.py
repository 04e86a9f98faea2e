"""A cascade with fitted thresholds -> a judge's file."""

import json
import os
from pathlib import Path

from ragstone.config.library import ENDING
from ragstone.errors import ConfigError
from ragstone.judging.combined.expected import CascadeFit
from ragstone.judging.variant import FILE
from ragstone.tables.writing import check_place


def check_cascade_file(path: Path, force: bool) -> None:
    """Raise ConfigError, DataError if a judge's file may not be written there."""
    if path.suffix != ENDING:
        raise ConfigError(f"{path}: a judge's file ends in {ENDING}, e.g. {path.stem}{ENDING}.")
    check_place(path, force)


def write_cascade(fit: CascadeFit, path: Path) -> None:
    """Write the cascade as a judge's file; files of members are named from there."""
    judge, folder = fit.judge, path.absolute().parent
    fields = {
        "name": judge.name,
        "version": judge.version,
        "kind": judge.kind,
        "metric": judge.metric,
        "inputs": judge.inputs,
        "scale": judge.scale,
        "source": judge.source,
    }
    lines = [f"{field:<8} = {_toml(value)}" for field, value in fields.items()]
    digests = (f"  {_toml(digest)}," for digest in judge.tuned_on)
    lines += [
        "# Questions that the thresholds were fitted on: they say nothing about how good it is.",
        "tuned_on = [",
    ]
    lines += [*digests, "]"]
    for member in judge.members:
        found = FILE.fullmatch(member.judge)
        name = f"{os.path.relpath(found[1], folder)}{found[2] or ''}" if found else member.judge
        given = {"judge": name, "model": member.model, "cut": member.cut, "unsure": member.unsure}
        lines += ["", "[[members]]"]
        lines += [f"{field:<6} = {_toml(value)}" for field, value in given.items() if value is not None]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _toml(value: object) -> str:
    """Return a value as TOML writes it: text, numbers and lists of them look as in JSON."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
