"""The files of a run -> one DuckDB file: a line a question, its scores, and where its rows stand.

The files are read once, from the first line to the last; texts of documents, contexts and reasons are not
kept, but the places where they stand, so that a question is opened by reading its rows alone.
"""

import unicodedata
from array import array
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
import numpy as np

from ragstone.errors import MissingExtra
from ragstone.records import Answer, Question, Ranking, Status, references
from ragstone.report.blame import read_blame, read_causes
from ragstone.report.embedded import Line
from ragstone.report.joining import first_rank, preview, relevant_documents, worst_rank
from ragstone.retrieval import ranked_documents
from ragstone.web.workbench.rows.files import RunFiles, as_lines, spans, wrong_line

if TYPE_CHECKING:
    import duckdb

RowT = TypeVar("RowT")
ColumnKey = tuple[str, str, str, str]  # system, judge, metric, model


class _Named(msgspec.Struct):
    id: str
    document_id: str | None = None


class _Given(msgspec.Struct):
    id: str | None = None
    document_id: str | None = None


class _Answer(Answer, frozen=True, kw_only=True):
    contexts: list[_Given] | None = None  # type: ignore[assignment]


class _Judged(msgspec.Struct):
    question_id: str
    system: str
    judge: str
    metric: str
    model: str
    status: Status
    score: float | None = None
    scale: tuple[float, float] | None = None


class _Seen(msgspec.Struct):
    """What is known of one question."""

    question: Question | None = None
    answers: list[_Answer] = []
    ranked: list[int | None] = []


def make_index(files: RunFiles, target: Path) -> None:
    """Write the index of these files. Raises DataError for what is no row, MissingExtra without DuckDB."""
    reading = _Reading(files, target.parent)
    reading.read()
    with_tables(target, reading.tables())


def with_tables(target: Path, tables: dict[str, dict[str, Any]]) -> None:
    """Write a DuckDB file of tables, given as columns, in place of one that is there, whole or not at all."""
    unfinished = target.with_suffix(".partial")
    unfinished.unlink(missing_ok=True)
    con = connect(unfinished, read_only=False)
    try:
        for name, columns in tables.items():
            con.register("given", columns)
            con.execute(f"CREATE TABLE {name} AS SELECT * FROM given")  # noqa: S608 - our own names
            con.unregister("given")
    finally:
        con.close()
    unfinished.replace(target)


def connect(path: Path, *, read_only: bool = True) -> "duckdb.DuckDBPyConnection":
    """Return a connection to an index, which reaches no other file and no network."""
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("the workbench", "serve") from None
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 2,
        "memory_limit": "1GB",
        "enable_external_access": False,
        "autoload_known_extensions": False,
    }
    return duckdb.connect(str(path), read_only=read_only, config=config)


class _Reading:
    """One pass over the files."""

    def __init__(self, files: RunFiles, folder: Path) -> None:
        self.paths = {kind: as_lines(path, kind, folder) for kind, path in files.paths.items()}
        self.causes = read_causes(files.folder) if read_blame(files.folder) else {}
        self.places: dict[str, int] = {}
        self.seen: list[_Seen] = []
        self.columns: dict[ColumnKey, int] = {}
        self.scales: list[tuple[float, float] | None] = []
        self.cells: dict[str, Any] = {
            "place": array("i"),
            "col": array("h"),
            "status": [],
            "score": array("d"),
        }
        self.spans: dict[str, Any] = {
            "place": array("i"),
            "kind": [],
            "start": array("q"),
            "size": array("q"),
        }
        self.named: dict[str, Any] = {"kind": [], "id": [], "start": array("q"), "size": array("q")}
        self.of_chunk: dict[str, str | None] = {}

    def read(self) -> None:
        """Read every file, in an order in which each finds what it needs of the others."""
        for row, start, size in self._rows("documents", _Named):
            self._name("documents", row.id, start, size)
        for row, start, size in self._rows("chunks", _Named):
            self._name("chunks", row.id, start, size)
            self.of_chunk[row.id] = row.document_id
        for question, start, size in self._rows("questions", Question):
            self._seen("questions", question.id, start, size).question = question
        for answer, start, size in self._rows("answers", _Answer):
            self._seen("answers", answer.question_id, start, size).answers.append(answer)
        for judged, start, size in self._rows("judgements", _Judged):
            self._seen("judgements", judged.question_id, start, size)
            self._judged(judged)
        for ranking, start, size in self._rows("rankings", Ranking):
            if ranking.question_id in self.places:
                self._ranked(ranking, self._seen("rankings", ranking.question_id, start, size))

    def _rows(self, kind: str, row_type: type[RowT]) -> Iterator[tuple[RowT, int, int]]:
        if kind not in self.paths:
            return
        path = self.paths[kind]
        decode: Callable[[bytes], RowT] = msgspec.json.Decoder(row_type).decode
        for start, line in spans(path):
            try:
                yield decode(line), start, len(line)
            except msgspec.DecodeError as mistake:
                raise wrong_line(path, start, mistake) from None

    def _name(self, kind: str, name: str, start: int, size: int) -> None:
        for column, value in zip(self.named.values(), (kind, name, start, size), strict=True):
            column.append(value)

    def _seen(self, kind: str, question_id: str, start: int, size: int) -> _Seen:
        place = self.places.setdefault(question_id, len(self.seen))
        if place == len(self.seen):
            self.seen.append(_Seen())
        for column, value in zip(self.spans.values(), (place, kind, start, size), strict=True):
            column.append(value)
        return self.seen[place]

    def _judged(self, row: _Judged) -> None:
        column = self.columns.setdefault((row.system, row.judge, row.metric, row.model), len(self.columns))
        if column == len(self.scales):
            self.scales.append(None)
        if self.scales[column] is None:
            self.scales[column] = row.scale
        score = float("nan") if row.score is None else row.score
        for cells, value in zip(
            self.cells.values(), (self.places[row.question_id], column, row.status, score), strict=True
        ):
            cells.append(value)

    def _ranked(self, ranking: Ranking, seen: _Seen) -> None:
        seen.ranked.append(first_rank(ranked_documents(ranking), relevant_documents(seen.question)))

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return the tables of the index, as columns."""
        lines = [
            self._line(question_id, seen) for question_id, seen in zip(self.places, self.seen, strict=True)
        ]
        return {
            "lines": {
                "place": np.arange(len(lines), dtype=np.int32),
                "id": _texts(list(self.places)),
                "line": _texts([msgspec.json.encode(line).decode() for line, _ in lines]),
                "found": np.array(
                    [-1 if line.found is None else line.found for line, _ in lines], dtype=np.int32
                ),
                "haystack": _texts([haystack for _, haystack in lines]),
            },
            "groups": _of_lines(lines, groups_of, ("name", "value")),
            "causes": _of_lines(lines, lambda line: [(cause,) for cause in line.causes or []], ("cause",)),
            "columns": self._columns(),
            "cells": self._cells(),
            "spans": _arrays(self.spans),
            "named": _arrays(self.named),
            "sources": {
                "kind": _texts(list(self.paths)),
                "path": _texts([str(path) for path in self.paths.values()]),
            },
        }

    def _columns(self) -> dict[str, Any]:
        names = ("system", "judge", "metric", "model")
        cells = list(zip(*self.columns, strict=True)) or [()] * len(names)
        return {
            "col": np.arange(len(self.columns), dtype=np.int16),
            **{name: _texts(list(found)) for name, found in zip(names, cells, strict=True)},
            **self._ends(),
        }

    def _ends(self) -> dict[str, Any]:
        """Return the lowest and the highest score of each column's scale; NaN where it is not known."""
        unknown = (np.nan, np.nan)
        ends = np.array([scale or unknown for scale in self.scales], dtype=np.float64).reshape(-1, 2)
        return {"low": ends[:, 0].copy(), "high": ends[:, 1].copy()}

    def _cells(self) -> dict[str, Any]:
        """Return the cells with their share of the scale, 0 to 1; the score itself where it is not known."""
        cells, ends = _arrays(self.cells), self._ends()
        low, width = ends["low"][cells["col"]], (ends["high"] - ends["low"])[cells["col"]]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(width > 0, (cells["score"] - low) / width, cells["score"])
        return {**cells, "share": share}

    def _line(self, question_id: str, seen: _Seen) -> tuple[Line, str]:
        """Return the line of a question, without its cells, and the words that a search looks through."""
        question = seen.question
        sources: list[Question | Answer] = [*([question] if question else []), *seen.answers]
        text = next((row.question for row in sources if row.question), None)
        tags = next((row.tags for row in sources if row.tags), None)
        first = seen.answers[0] if seen.answers else None
        given = [
            [one.document_id or self.of_chunk.get(one.id or "") for one in answer.contexts]
            for answer in seen.answers
            if answer.contexts is not None
        ]
        line = Line(
            id=question_id,
            cells=[],
            question=text,
            preview=preview(first.answer or first.error or "") if first else None,
            tags=tags,
            lang=question.lang if question else None,
            found=worst_rank(given, seen.ranked, relevant_documents(question)),
            causes=list(dict.fromkeys(one.cause for one in self.causes.get(question_id, []))) or None,
        )
        alternatives = next((found for row in sources if (found := references(row))), [])
        words = [question_id, text or "", *(part for pair in groups_of(line) for part in pair), *alternatives]
        return line, plain("\n".join([*words, *(row.answer for row in seen.answers)]))


def groups_of(line: Line) -> list[tuple[str, str]]:
    """Return the tags of a question and, first, its language, which may be a tag as well."""
    tags = list((line.tags or {}).items())
    known = line.lang is None or ("lang", line.lang) in tags
    return tags if known else [("lang", line.lang or ""), *tags]


def plain(text: str) -> str:
    """Return a text as searches compare it."""
    return unicodedata.normalize("NFKC", text).lower()


def _texts(texts: list[str]) -> Any:  # noqa: ANN401 - an array of objects
    return np.array(texts, dtype=object) if texts else np.array([], dtype="U1")


def _arrays(columns: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _texts(cells) if isinstance(cells, list) else np.array(cells) for name, cells in columns.items()
    }


def _nothing(*names: str) -> dict[str, Any]:
    return {name: np.array([], dtype="U1") for name in names}


def _of_lines(
    lines: list[tuple[Line, str]], of: Callable[[Line], Sequence[tuple[str, ...]]], names: tuple[str, ...]
) -> dict[str, Any]:
    """Return a table of what lines have several of."""
    found = [(place, each) for place, (line, _) in enumerate(lines) for each in of(line)]
    columns = {name: _texts([each[at] for _, each in found]) for at, name in enumerate(names)}
    return {"place": np.array([place for place, _ in found], dtype=np.int32), **columns}
