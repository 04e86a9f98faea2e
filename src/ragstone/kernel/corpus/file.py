"""What a user may choose about reading files, what that may take, and the files that gave none."""

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from ragstone.kernel.errors import ConfigError, nearest


class Skipped(msgspec.Struct, frozen=True):
    """A file, or a row of one, that gave no document, and why."""

    path: str
    reason: str


PASSAGE = 1000  # characters of an assistant's passage, at most
Field = Literal["id", "text", "title", "lang", "source"]


class IngestOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How files and folders are read. Each is a key of `[documents]` in ragstone.toml too.

    glob: of folders and archives, only files that match one of these patterns (`*.py`, `guide/**/*.md`); such
    a file is read as text whatever its ending. tables: a document for each row of CSV, XLSX and JSONL
    files, or for each table as a `whole`. columns: field of a document -> the column, or columns, that it is
    taken from. duplicates: documents that repeat an earlier one are reported, or dropped as well,
    or not looked for (`ignore`, which ragstone.toml does not know): then documents need not fit into memory.
    max_file_mb: larger files are skipped. without_extras: so are those that need a package which is not
    installed; else that is an error, before anything is read. processes: how many read side by side; by
    default as many as there are cores where there is enough to do, else none but this one. Raises ConfigError
    for other values.
    """

    glob: Sequence[str] = ()
    tables: Literal["rows", "whole"] = "rows"
    columns: Mapping[Field, str | list[str]] = {}
    duplicates: Literal["report", "drop", "ignore"] = "report"
    max_file_mb: int = 200
    without_extras: bool = False
    processes: int | None = None

    def __post_init__(self) -> None:
        known = {"tables": ("rows", "whole"), "duplicates": ("report", "drop", "ignore")}
        for name, values in known.items():
            if getattr(self, name) not in values:
                raise ConfigError(f"{name}: there is no {getattr(self, name)!r}. {nearest('', values)}")
        for name in ("max_file_mb", "processes"):
            number = getattr(self, name)
            if number is not None and number < 1:
                raise ConfigError(f"{name} = {number}: give 1 or more.")


class ReadingLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What reading one file may take: seconds of computing, three times as many by the clock, and bytes of
    memory. What takes more is a bomb, or as good as one. passages: that it may give, of PASSAGE letters."""

    cpu_s: int = 60
    n_bytes: int = 2_000_000_000
    passages: int | None = None


def limits_of(n_bytes: int, passages: int | None = None) -> ReadingLimits:
    """Return the limits for a file of so many bytes of the user's own: long ones may take longer."""
    return ReadingLimits(
        cpu_s=60 + n_bytes // 200_000, n_bytes=2_000_000_000 + 10 * n_bytes, passages=passages
    )


def too_many(n_passages: int, most: int) -> str:
    """Return why a file is not taken in that gives so many passages."""
    return (
        f"it gives {n_passages:,} passages or more, but a file may give {most:,}: split it, or raise "
        "max_passages of [assistant]"
    )
