"""Knowledge gaps -> a work list for those who write documents: JSON lines, or a table for a spreadsheet."""

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from ragstone.errors import DataError
from ragstone.monitor.gaps import Gap
from ragstone.tables.cells import open_table
from ragstone.tables.writing import check_place, partial_path

COLUMNS = (
    *("rank", "gap", "people", "exchanges judged", "exchanges estimated", "unanswered", "unfaithful"),
    *("languages", "first day", "last day", "example questions", "nearest documents", "exchange ids"),
    *("who writes it", "done"),
)
"""Of the table. The last two are for the readers to fill."""


def check_gap_list(path: Path, *, force: bool) -> Path:
    """Return the path if a work list may be written there. Raises DataError."""
    if path.suffix.lower() not in WRITERS:
        raise DataError(
            f"{path}: cannot tell the format from {path.suffix!r}. Use one of: {' '.join(WRITERS)}. Excel "
            "opens .csv."
        )
    return check_place(path, force)


def write_gaps(path: Path, gaps: Sequence[Gap], *, force: bool = False) -> Path:
    """Write the gaps, the most wanted first, whole or not at all, and return the path. Raises DataError."""
    path = check_gap_list(path, force=force)
    partial = partial_path(path)
    try:
        WRITERS[path.suffix.lower()](partial, gaps)
        partial.replace(path)
    except OSError as mistake:
        partial.unlink(missing_ok=True)
        raise DataError(f"{path}: could not be written ({mistake.strerror}). Make room, run again.") from None
    return path


def _write_jsonl(path: Path, gaps: Sequence[Gap]) -> None:
    with path.open("wb") as file:
        for rank, gap in enumerate(gaps, 1):
            file.write(msgspec.json.encode({"rank": rank, **msgspec.structs.asdict(gap)}) + b"\n")


def _write_csv(path: Path, gaps: Sequence[Gap]) -> None:
    with open_table(path, COLUMNS, bom=True) as write:
        for rank, gap in enumerate(gaps, 1):
            write(dict(zip(COLUMNS, _cells(rank, gap), strict=True)))


def _cells(rank: int, gap: Gap) -> list[object]:
    return [
        rank,
        gap.name,
        gap.n_people,
        gap.n_questions,
        round(gap.estimated, 1),
        gap.unanswered,
        gap.unfaithful,
        ", ".join(f"{lang} {n}" for lang, n in gap.langs.items()),
        gap.first and gap.first.isoformat(),
        gap.last and gap.last.isoformat(),
        "\n".join(one.question for one in gap.examples),
        "\n".join(one.document_id for one in gap.nearest),
        " ".join(name for one in gap.examples for name in one.ids[:SHOWN_IDS]),
        "",
        "",
    ]


SHOWN_IDS = 3  # of an example

WRITERS: dict[str, Callable[[Path, Sequence[Gap]], None]] = {".jsonl": _write_jsonl, ".csv": _write_csv}
