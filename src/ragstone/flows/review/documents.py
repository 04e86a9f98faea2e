"""The documents that an evaluation set speaks of: which file they are in, and their texts."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ragstone.config import Settings
from ragstone.errors import DataError
from ragstone.records import Document
from ragstone.tables import parse_row, read_rows

NAMES = ("documents.jsonl", "documents.parquet", "documents.csv")
ROWS = (".jsonl", ".parquet")
KEPT = 256  # documents in memory


def find_documents(questions: Path, settings: Settings) -> Path | None:
    """Return the file of documents that questions speak of: beside them, as declared, or one folder above.

    None where there is none: `[documents] paths` counts where it names rows, for files are read anew by each
    `ragstone ingest`.
    """
    here = [questions.parent / name for name in NAMES]
    declared = [settings.path(name) for name in settings.documents.paths]
    above = [questions.absolute().parent.parent / name for name in NAMES]
    candidates = [*here, *(path for path in declared if path.suffix in ROWS), *above]
    return next((path for path in candidates if path.is_file()), None)


class _Named(msgspec.Struct):
    id: str | None = None


class Texts:
    """The texts of a file of documents. Of JSONL only the places of the rows are kept in memory.

    n: how many there are.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._places: dict[str, tuple[int, int]] = {}
        self._texts: dict[str, str] = {}
        if path.suffix not in (".jsonl", ".ndjson") or not self._index():
            self._texts = {row.id: row.text for row in read_rows(path, Document)}
        self.n = len(self._texts) or len(self._places)
        self._read = lru_cache(KEPT)(self._read_at)

    def text_of(self, name: str) -> str | None:
        """Return the text of a document, None where there is no such document."""
        if name in self._places:
            return self._read(name)
        return self._texts.get(name)

    def _index(self) -> bool:
        """Note where the rows are; say no where one has no `id`, as in files of other tools."""
        decoder = msgspec.json.Decoder(_Named)
        at = 0
        with self.path.open("rb") as file:
            for line in file:
                if line.strip():
                    try:
                        name = decoder.decode(line).id
                    except msgspec.DecodeError:
                        name = None
                    if name is None:
                        self._places.clear()
                        return False
                    self._places[name] = (at, len(line))
                at += len(line)
        return True

    def _read_at(self, name: str) -> str:
        start, length = self._places[name]
        with self.path.open("rb") as file:
            file.seek(start)
            line = file.read(length)
        try:
            raw: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError:
            raw = {}
        if raw.get("id") != name:
            raise DataError(f"{self.path} has changed while it was read: load the page anew.")
        return parse_row(raw, Document).text
