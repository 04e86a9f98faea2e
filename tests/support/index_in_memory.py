"""What an index of a run has to hold, by one that keeps all rows in memory: the peer of rows/indexing.py."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import numpy as np

from ragstone.kernel.records import Ranking, Status, Usage, alternatives
from ragstone.kernel.retrieval.query_measures import ranked_documents
from ragstone.kernel.runs.blamed import read_blame, read_causes
from ragstone.kernel.runs.embedded import LineView
from ragstone.kernel.runs.joining import first_rank, preview, worst_rank
from ragstone.kernel.serve.rows.files import RunFiles, as_lines, decoded
from ragstone.kernel.serve.rows.indexing import CAUSE_TEXTS, CODES, KIND_CODES, NUMBERS, TAG
from ragstone.kernel.tables.where import folded

RowT = TypeVar("RowT")
Table = dict[str, Any]  # name of a column -> array
LINES = {"kind": np.uint8, "start": np.int64, "size": np.int64}
ColumnKey = tuple[str, str, str, str]  # system, judge, metric, model
SHARED = ("question", "reference", "tags")


def tables_of(files: RunFiles, folder: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Return the rows of each table of the index; of `lines` its view and what a search sees."""
    reading = _Reading(files, folder)
    reading.read()
    return {
        name: list(zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True))
        for name, columns in reading.tables().items()
    }


class _RowId(msgspec.Struct, gc=False):
    id: str
    document_id: str | None = None


class _Given(msgspec.Struct, gc=False):
    id: str | None = None
    document_id: str | None = None


class _IndexedText(msgspec.Struct, gc=False):
    """What a line needs of a question, or of an answer that carries its question."""

    question: str | None = None
    reference: str | list[str] | None = None
    tags: dict[str, str] | None = None
    answerable: bool | None = None


class _Question(_IndexedText, gc=False, kw_only=True):
    id: str
    document_ids: list[str] | None = None
    kind: str = "open"
    lang: str | None = None


class _IndexedAnswer(_IndexedText, gc=False, kw_only=True):
    question_id: str
    system: str
    answer: str
    contexts: list[_Given] | None = None
    error: str | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    usage: Usage | None = None


class _IndexedJudgement(msgspec.Struct, gc=False):
    question_id: str
    system: str
    judge: str
    metric: str
    model: str
    status: Status
    score: float | None = None
    scale: tuple[float, float] | None = None


class _Seen(msgspec.Struct, gc=False):
    """What is known of one question."""

    question: _Question | None = None
    answers: list[_IndexedAnswer] = []
    ranked: list[int | None] = []


class _Reading:
    """One pass over the files."""

    def __init__(self, files: RunFiles, folder: Path) -> None:
        self.paths = {kind: as_lines(path, kind, folder) for kind, path in files.paths.items()}
        self.causes = read_causes(files.folder) if read_blame(files.folder) else {}
        self.places: dict[str, int] = {}
        self.seen: list[_Seen] = []
        self.columns: dict[ColumnKey, int] = {}
        self.scales: list[tuple[float, float] | None] = []
        self.cells: list[Table] = []
        self.spans: list[Table] = []
        self.named: list[Table] = []
        self.of_chunk: dict[str, str | None] = {}

    def read(self) -> None:
        """Read every file, in an order in which each finds what it needs of the others."""
        for documents, lines in self._rows("documents", _RowId):
            self.named.append({"id": _texts([row.id for row in documents]), **lines})
        for chunks, lines in self._rows("chunks", _RowId):
            self.named.append({"id": _texts([row.id for row in chunks]), **lines})
            self.of_chunk.update((row.id, row.document_id) for row in chunks)
        for questions, lines in self._rows("questions", _Question):
            places = self._places([row.id for row in questions], lines)
            for at, question in zip(places, questions, strict=True):
                self.seen[at].question = question
        for answers, lines in self._rows("answers", _IndexedAnswer):
            places = self._places([row.question_id for row in answers], lines)
            for at, answer in zip(places, answers, strict=True):
                self.seen[at].answers.append(answer)
        for judged, lines in self._rows("judgements", _IndexedJudgement):
            self._judged(judged, self._places([row.question_id for row in judged], lines))
        for rankings, lines in self._rows("rankings", Ranking):
            self._ranked(rankings, lines)

    def _rows(self, kind: str, row_type: type[RowT]) -> Iterator[tuple[list[RowT], Table]]:
        """Yield rows by the block, and where their lines stand."""
        if kind not in self.paths:
            return
        for rows, start, size in decoded(self.paths[kind], row_type):
            yield rows, {"kind": np.full(len(rows), KIND_CODES[kind], np.uint8), "start": start, "size": size}

    def _places(self, ids: list[str], lines: Table) -> list[int]:
        """Return the place of each question, those seen for the first time after all others."""
        known = self.places
        for name in ids:
            if name not in known:
                known[name] = len(known)
                self.seen.append(_Seen())
        places = [known[name] for name in ids]
        self.spans.append({"place": np.array(places, dtype=np.int32), **lines})
        return places

    def _judged(self, rows: list[_IndexedJudgement], places: list[int]) -> None:
        columns = [self._column(row) for row in rows]
        nan = float("nan")
        self.cells.append(
            {
                "place": np.array(places, dtype=np.int32),
                "col": np.array(columns, dtype=np.int16),
                "status": np.array([CODES[row.status] for row in rows], dtype=np.uint8),
                "score": np.array(
                    [nan if row.score is None else row.score for row in rows], dtype=np.float64
                ),
            }
        )

    def _column(self, row: _IndexedJudgement) -> int:
        key = (row.system, row.judge, row.metric, row.model)
        column = self.columns.get(key)
        if column is None:
            column = self.columns[key] = len(self.columns)
            self.scales.append(None)
        if row.scale is not None and self.scales[column] is None:
            self.scales[column] = row.scale
        return column

    def _ranked(self, rankings: list[Ranking], lines: Table) -> None:
        """Take the rankings of questions that were asked or judged."""
        places = [self.places.get(row.question_id, -1) for row in rankings]
        self.spans.append({"place": np.array(places, dtype=np.int32), **lines})
        for at, ranking in zip(places, rankings, strict=True):
            if at >= 0:
                rank = first_rank(ranked_documents(ranking), _relevant(self.seen[at].question))
                self.seen[at].ranked.append(rank)

    def tables(self) -> dict[str, Table]:
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
            **self._pairs(),
            "groups": _of_lines(lines, groups_of, ("name", "value")),
            "causes": _of_lines(lines, lambda line: [(cause,) for cause in line.causes or []], ("cause",)),
            "columns": self._columns(),
            "cells": self._cells(),
            "spans": _joined(self.spans, {"place": np.int32, **LINES}),
            "named": _joined(self.named, {"id": "U1", **LINES}),
            "sources": {
                "kind": _texts(list(self.paths)),
                "path": _texts([str(path) for path in self.paths.values()]),
            },
        }

    def _pairs(self) -> dict[str, Table]:
        """Return what filters ask of each question and system, see filtering.py.

        pairs: the numbers, NaN for none. texts: name, value; folded; system is null for what holds of the
        question whoever answered it.
        """
        systems: list[dict[str, _IndexedAnswer | None]] = [
            {row.system: row for row in reversed(seen.answers)} for seen in self.seen
        ]
        of_column = [key[0] for key in self.columns]
        for cells in self.cells:
            for at, column in zip(cells["place"].tolist(), cells["col"].tolist(), strict=True):
                systems[at].setdefault(of_column[column])
        numbers: list[tuple[int, str, *tuple[float, ...]]] = []
        texts: list[tuple[int, str | None, str, str]] = []
        for at, (question_id, of_question) in enumerate(zip(self.places, systems, strict=True)):
            seen = self.seen[at]
            of_all = _question_texts(seen.question, question_id)
            texts += [(at, None, name, folded(value)) for name, value in of_all]
            causes = {each.system: each for each in reversed(self.causes.get(question_id, []))}
            for system, answer in of_question.items():
                numbers.append((at, system, *self._numbers(seen, answer)))
                pairs = [("system", system), *_answer_texts(seen.question, answer)]
                if system in causes:
                    pairs += [(name, getattr(causes[system], name)) for name in CAUSE_TEXTS]
                texts += [(at, system, name, folded(value)) for name, value in pairs]
        names = ("place", "system", *NUMBERS)
        kinds = (np.int32, object, *(np.float64 for _ in NUMBERS))
        return {
            "pairs": _table(numbers, names, kinds),
            "texts": _table(texts, ("place", "system", "name", "value"), (np.int32, object, object, object)),
        }

    def _numbers(self, seen: _Seen, answer: _IndexedAnswer | None) -> list[float]:
        """Return the numbers of an answer, as NUMBERS names them; NaN for none."""
        usage = answer.usage if answer else None
        answerable = next(
            (row.answerable for row in (seen.question, answer) if row and row.answerable is not None), None
        )
        if answer is None or answer.contexts is None:  # as joined.py does: else by the only ranking
            found_rank = seen.ranked[0] if len(seen.ranked) == 1 else None
        else:
            found_rank = first_rank(self._documents(answer), _relevant(seen.question))
        found = {
            "answerable": answerable,
            "found_rank": found_rank,
            "latency_s": answer.latency_s if answer else None,
            "input_tokens": usage.input if usage else None,
            "output_tokens": usage.output if usage else None,
            "cost_usd": answer.cost_usd if answer else None,
        }
        return [np.nan if found[name] is None else float(found[name] or 0) for name in NUMBERS]

    def _documents(self, answer: _IndexedAnswer) -> list[str | None]:
        return [each.document_id or self.of_chunk.get(each.id or "") for each in answer.contexts or ()]

    def _columns(self) -> Table:
        names = ("system", "judge", "metric", "model")
        cells = list(zip(*self.columns, strict=True)) or [()] * len(names)
        return {
            "col": np.arange(len(self.columns), dtype=np.int16),
            **{name: _texts(list(texts)) for name, texts in zip(names, cells, strict=True)},
            **self._ends(),
        }

    def _ends(self) -> Table:
        """Return the lowest and the highest score of each column's scale; NaN where it is not known."""
        unknown = (np.nan, np.nan)
        ends = np.array([scale or unknown for scale in self.scales], dtype=np.float64).reshape(-1, 2)
        return {"low": ends[:, 0].copy(), "high": ends[:, 1].copy()}

    def _cells(self) -> Table:
        """Return the cells with their share of the scale, 0 to 1; the score itself where it is not known."""
        cells = _joined(
            self.cells, {"place": np.int32, "col": np.int16, "status": np.uint8, "score": np.float64}
        )
        ends = self._ends()
        low, width = ends["low"][cells["col"]], (ends["high"] - ends["low"])[cells["col"]]
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.where(width > 0, (cells["score"] - low) / width, cells["score"])
        return {**cells, "share": share}

    def _line(self, question_id: str, seen: _Seen) -> tuple[LineView, str]:
        """Return the line of a question, without its cells, and the words that a search looks through."""
        question = seen.question
        sources: list[_IndexedText] = [*([question] if question else []), *seen.answers]
        text = next((row.question for row in sources if row.question), None)
        tags = next((row.tags for row in sources if row.tags), None)
        first = seen.answers[0] if seen.answers else None
        documents = [self._documents(answer) for answer in seen.answers if answer.contexts is not None]
        line = LineView(
            id=question_id,
            cells=[],
            question=text,
            preview=preview(first.answer or first.error or "") if first else None,
            tags=tags,
            lang=question.lang if question else None,
            found=worst_rank(documents, seen.ranked, _relevant(question)),
            causes=list(dict.fromkeys(each.cause for each in self.causes.get(question_id, []))) or None,
        )
        given_references = next((right for row in sources if (right := alternatives(row.reference))), [])
        groups = [part for pair in groups_of(line) for part in pair]
        texts = [question_id, text or "", *groups, *given_references]
        return line, folded("\n".join(texts))


def groups_of(line: LineView) -> list[tuple[str, str]]:
    """Return the tags of a question and, first, its language, which may be a tag as well."""
    tags = list((line.tags or {}).items())
    known = line.lang is None or ("lang", line.lang) in tags
    return tags if known else [("lang", line.lang or ""), *tags]


def _question_texts(question: _Question | None, question_id: str) -> Iterator[tuple[str, str]]:
    """Yield name and text of what holds of a question whoever answers it."""
    yield "question_id", question_id
    if question is not None:
        yield "kind", question.kind
        if question.lang is not None:
            yield "lang", question.lang
        for name in SHARED:
            yield from _shared_texts(name, question)


def _answer_texts(question: _Question | None, answer: _IndexedAnswer | None) -> Iterator[tuple[str, str]]:
    """Yield what an answer says, and of its question what the file of questions does not."""
    if answer is None:
        return
    yield "answer", answer.answer
    if answer.error is not None:
        yield "error", answer.error
    for name in SHARED:
        if question is None or getattr(question, name) is None:
            yield from _shared_texts(name, answer)


def _shared_texts(name: str, row: _IndexedText) -> Iterator[tuple[str, str]]:
    value = getattr(row, name)
    if isinstance(value, dict):
        yield from ((f"{TAG}{key}", text) for key, text in value.items())
    elif value is not None:
        yield from ((name, text) for text in (value if isinstance(value, list) else [value]))


def _table(rows: Sequence[tuple[Any, ...]], names: Sequence[str], kinds: Sequence[Any]) -> Table:
    """Return rows as a table of columns of these types."""
    cells = list(zip(*rows, strict=True)) or [()] * len(names)
    return {
        name: np.array(column, dtype=kind if column or kind is not object else "U1")
        for name, column, kind in zip(names, cells, kinds, strict=True)
    }


def _texts(texts: list[str]) -> Any:  # noqa: ANN401 - an array of objects
    return np.array(texts, dtype=object) if texts else np.array([], dtype="U1")


def _joined(parts: list[Table], columns: dict[str, Any]) -> Table:
    """Return the parts of a table as one. columns: their types, for a table without any part."""
    empty = {name: np.array([], dtype=kind) for name, kind in columns.items()}
    return {name: np.concatenate([part[name] for part in parts] or [empty[name]]) for name in columns}


def _relevant(question: _Question | None) -> set[str]:
    """Return what joining.relevant_documents does, of what is kept of a question."""
    return set() if question is None or question.answerable is False else set(question.document_ids or ())


def _of_lines(
    lines: list[tuple[LineView, str]],
    of: Callable[[LineView], Sequence[tuple[str, ...]]],
    names: tuple[str, ...],
) -> Table:
    """Return a table of what lines have several of."""
    pairs = [(at_line, each) for at_line, (line, _) in enumerate(lines) for each in of(line)]
    columns = {name: _texts([each[at] for _, each in pairs]) for at, name in enumerate(names)}
    return {"place": np.array([at_line for at_line, _ in pairs], dtype=np.int32), **columns}
