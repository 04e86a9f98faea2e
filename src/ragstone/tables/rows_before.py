"""The rows of a file that its command writes again: none may be lost, and what became of them is told."""

import contextlib
from collections.abc import Callable
from pathlib import Path

from ragstone.errors import DataError
from ragstone.records import Row
from ragstone.tables.outputs import OUTPUTS
from ragstone.tables.reading import read_rows


class RowsBefore:
    """The rows of a file that the same command writes again: none of them may be lost."""

    def __init__(self, path: Path, row_type: type) -> None:
        """Read what stands there, if this command may write it again without having been forced to."""
        self._path, self._outputs = path, OUTPUTS.get()
        self._failed: dict[tuple[str, ...], bool] = {}
        self._n_new = self._n_mended = self._n_failed = 0
        if self._outputs is not None and self._outputs.is_again(path):
            with contextlib.suppress(DataError):  # a file may hold no row: all were lost
                self._failed = {_key(row): _has_failed(row) for row in read_rows(path, row_type)}
        self._missing = {*self._failed}

    def watched(self, write: Callable[[Row], None]) -> Callable[[Row], None]:
        """Return a function that writes a row, and looks whether it stood there."""

        def written(row: Row) -> None:
            key = _key(row)
            self._n_new += key not in self._failed
            self._missing.discard(key)
            if self._failed.get(key):
                self._n_failed += _has_failed(row)
                self._n_mended += not _has_failed(row)
            write(row)

        return written if self._failed else write

    def check(self) -> None:
        """Raise DataError where a row would be lost; else keep what has become of them."""
        if self._missing and self._outputs is not None and not self._outputs.may_lose(self._path):
            raise DataError(
                f"{self._path} exists and was not touched: it holds {_rows(len(self._missing))} that this "
                f"command does not make now, such as {' '.join(min(self._missing))!r}. Give another name "
                "with -o, or --force to replace it."
            )
        counts = {
            "added": self._n_new,
            "that had failed and now succeeded": self._n_mended,
            "failed again": self._n_failed,
        }
        told = [f"{_rows(n)} {what}" for what, n in counts.items() if n]
        if self._outputs is not None and told:
            self._outputs.tell(self._path, ", ".join(told))


def _rows(n: int) -> str:
    return "1 row" if n == 1 else f"{n:,} rows"


def _key(row: Row) -> tuple[str, ...]:
    """Return what tells a row from the others of its file."""
    names = ("id", "question_id", "system", "retriever", "judge", "metric")
    return tuple(str(value) for name in names if (value := getattr(row, name, None)) is not None)


def _has_failed(row: Row) -> bool:
    return getattr(row, "error", None) is not None
