"""The folder of an assistant's log -> the rows of its files, as if they were one."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ragstone.records import Answer, Label

LOG_NAMES: dict[type, str] = {Answer: "exchanges", Label: "feedback"}
"""What the files of a log begin with: `exchanges-20261121T233005-1.jsonl`."""

_NAME = re.compile(r"-(\d{8}T\d{6})-(\d+)\.jsonl$")


def logged_files(folder: Path, row_type: type) -> list[Path]:
    """Return the files of a log that hold such rows, in the order in which they were begun; often none."""
    name = LOG_NAMES.get(row_type)
    found = {path: _NAME.search(path.name) for path in folder.glob(f"{name}-*.jsonl")} if name else {}
    dated = [(match[1], int(match[2]), path) for path, match in found.items() if match]
    return [path for _, _, path in sorted(dated)]


def read_logged(files: list[Path]) -> Iterator[tuple[int, Any]]:
    """Yield (line number, decoded object or DecodeError) for every row, numbered through all files.

    A last line without an end is passed over: it is being written, or its writer was killed.
    """
    decode = msgspec.json.Decoder().decode
    number = 0
    for path in files:
        with path.open("rb") as file:
            for place, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                number += 1
                try:
                    yield number, decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
                    yield number, msgspec.DecodeError(f"{path.name}, line {place}: {mistake}")
