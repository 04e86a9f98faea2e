"""Folders that hold rows: of Hugging Face's `save_to_disk` (datasets 5.2), and the log of an assistant."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError, explaining, optional_package
from ragstone.kernel.records import Answer, Label

_STATE, _SPLITS = "state.json", "dataset_dict.json"


def is_saved(path: Path) -> bool:
    """Say whether a path is such a folder, of one data set or of several splits."""
    return (path / _STATE).is_file() or (path / _SPLITS).is_file()


def read_saved(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows, numbered from 1. Of a folder with one split that one is read.

    Raises DataError for several splits, naming them, and where the folder cannot be read; MissingExtra
    without pyarrow.
    """
    with optional_package(f"reading {path}", "parquet"):
        import pyarrow as pa
    if not (path / _STATE).is_file():
        splits = _json(path / _SPLITS).get("splits") or []
        if len(splits) != 1:
            names = ", ".join(map(str, splits))
            raise DataError(f"{path}: a folder of several splits. Name one of them: {names}.")
        path = path / str(splits[0])
    number = 0
    for file in [
        path / str(file_entry["filename"]) for file_entry in _json(path / _STATE).get("_data_files") or []
    ]:
        with (
            explaining(
                f"{file}: cannot be read as Arrow", "Save the data set again.", pa.ArrowInvalid, OSError
            ),
            pa.memory_map(str(file)) as source,
            pa.ipc.open_stream(source) as batches,
        ):
            for batch in batches:
                for row in batch.to_pylist():
                    number += 1
                    yield number, row


def _json(path: Path) -> dict[str, Any]:
    with explaining(f"{path}: cannot be read", "Save the data set again.", msgspec.DecodeError, OSError):
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])


LOG_NAMES: dict[type, str] = {Answer: "exchanges", Label: "feedback"}
"""What the files of a log begin with: `exchanges-20261121T233005-1.jsonl`."""

_NAME = re.compile(r"-(\d{8}T\d{6})-(\d+)\.jsonl$")


def logged_files(folder: Path, row_type: type) -> list[Path]:
    """Return the files of a log that hold such rows, in the order in which they were begun; often none."""
    name = LOG_NAMES.get(row_type)
    matches = {path: _NAME.search(path.name) for path in folder.glob(f"{name}-*.jsonl")} if name else {}
    dated = [(match[1], int(match[2]), path) for path, match in matches.items() if match]
    return [path for _, _, path in sorted(dated)]


def read_logged(files: list[Path]) -> Iterator[tuple[int, Any]]:
    """Yield (line number, decoded object or DecodeError) for every row, numbered through all files.

    A last line without an end is passed over: it is being written, or its writer was killed.
    """
    decode = msgspec.json.Decoder().decode
    number = 0
    for path in files:
        with path.open("rb") as file:
            for line_no, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                number += 1
                try:
                    yield number, decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
                    yield number, msgspec.DecodeError(f"{path.name}, line {line_no}: {mistake}")
