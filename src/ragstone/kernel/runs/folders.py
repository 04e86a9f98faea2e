"""What makes a folder a run: other tools write files named summary.json and manifest.json too."""

import os
from pathlib import Path

import msgspec

SUMMARY, MANIFEST = "summary.json", "manifest.json"
NOT_JSON = msgspec.DecodeError, UnicodeDecodeError  # of bytes that are no UTF-8 msgspec raises the second


class _SummaryMarks(msgspec.Struct, frozen=True):
    """What every summary of a run has, of any version."""

    counts: dict[str, msgspec.Raw]
    metrics: list[msgspec.Raw]


class _ManifestMarks(msgspec.Struct, frozen=True):
    """What every manifest of a run has, of any version."""

    judges: dict[str, msgspec.Raw]


MARKS: dict[str, type[msgspec.Struct]] = {SUMMARY: _SummaryMarks, MANIFEST: _ManifestMarks}


def is_run(folder: Path) -> bool:
    """Return whether Ragstone wrote the summary or the manifest of a folder."""
    return any(is_ours(folder / name) for name in MARKS)


def is_ours(path: Path) -> bool:
    """Return whether a summary or a manifest is one of a run. One that is cut off or unreadable may be."""
    try:
        msgspec.json.decode(path.read_bytes(), type=MARKS[path.name])
    except (msgspec.ValidationError, RecursionError):
        return False
    except (OSError, *NOT_JSON):
        return os.path.isfile(path)  # noqa: PTH113 - False, too, where the folder may not be looked into
    return True
