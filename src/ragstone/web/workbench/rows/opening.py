"""One question of a run, whole: read from the lines of its files where its rows stand."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ragstone.errors import DataError
from ragstone.experiments.blame import Caused
from ragstone.records import Answer, Chunk, Document, Judgement, Question, Ranking
from ragstone.report.embedded import Column
from ragstone.report.joining import Opened, open_question
from ragstone.report.run import SHOWN_RANKS, Run
from ragstone.report.summary import RunSummary
from ragstone.web.workbench.rows.asking import place_of
from ragstone.web.workbench.rows.indexing import KIND_CODES

if TYPE_CHECKING:
    import duckdb

RowT = TypeVar("RowT")
CODED = list(KIND_CODES)
Rows = dict[str, list[bytes]]


def opened_in(
    con: "duckdb.DuckDBPyConnection",
    question_id: str,
    columns: Sequence[Column],
    summary: RunSummary,
    causes: Mapping[str, list[Caused]],
) -> Opened | None:
    """Return a question as the report opens it, with whole texts; None where the run has no such question.

    Raises DataError where a file was changed while it was read.
    """
    place = place_of(con, question_id)
    if place is None:
        return None
    paths = {kind: Path(path) for kind, path in con.execute("SELECT kind, path FROM sources").fetchall()}
    found = con.execute(
        "SELECT kind, start, size FROM spans WHERE place = ? ORDER BY start", [place]
    ).fetchall()
    rows = _lines(paths, found)
    questions, rankings = _all(rows, "questions", Question), _all(rows, "rankings", Ranking)
    answers = _all(rows, "answers", Answer)
    chunks = {row.id: row for row in _named(con, paths, "chunks", _wanted_chunks(rankings, answers), Chunk)}
    wanted = {span.document_id for row in questions for span in row.evidence or []}
    wanted |= {item.document_id for row in rankings for item in row.items[:SHOWN_RANKS]}
    wanted |= {one.document_id or "" for row in answers for one in row.contexts or []}
    wanted |= {chunk.document_id for chunk in chunks.values()}
    documents = {row.id: row for row in _named(con, paths, "documents", wanted, Document)}
    run = Run(
        summary=summary,
        manifest=None,
        questions={row.id: row for row in questions},
        rankings={question_id: rankings},
        answers={question_id: answers},
        judgements={question_id: _all(rows, "judgements", Judgement)},
        chunks=chunks,
        titles={name: row.title for name, row in documents.items() if row.title},
        evidence={row.id: _evidence(row, documents) for row in questions},
        causes={question_id: causes[question_id]} if question_id in causes else {},
    )
    return open_question(run, question_id, columns)


def _evidence(question: Question, documents: Mapping[str, Document]) -> list[tuple[str, str]]:
    return [
        (span.document_id, documents[span.document_id].text[span.start : span.end])
        for span in question.evidence or []
        if span.document_id in documents
    ]


def _wanted_chunks(rankings: Iterable[Ranking], answers: Iterable[Answer]) -> set[str]:
    shown = {item.chunk_id or "" for row in rankings for item in row.items[:SHOWN_RANKS]}
    return shown | {one.id or "" for row in answers for one in row.contexts or []}


def _named(
    con: "duckdb.DuckDBPyConnection",
    paths: Mapping[str, Path],
    kind: str,
    ids: set[str],
    row_type: type[RowT],
) -> list[RowT]:
    """Return the documents or chunks of these ids, as far as there are any."""
    if kind not in paths or not ids:
        return []
    found = con.execute(
        "SELECT kind, start, size FROM named WHERE kind = ? AND id IN (SELECT unnest(?))",
        [KIND_CODES[kind], sorted(ids)],
    ).fetchall()
    return _all(_lines(paths, found), kind, row_type)


def _lines(paths: Mapping[str, Path], found: Iterable[tuple[int, int, int]]) -> Rows:
    """Return the lines that stand at these places, by kind of row."""
    rows: Rows = defaultdict(list)
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for code, start, size in found:
        places[CODED[code]].append((start, size))
    for kind, ours in places.items():
        with paths[kind].open("rb") as file:
            for start, size in ours:
                file.seek(start)
                rows[kind].append(file.read(size))
    return rows


def _all(rows: Rows, kind: str, row_type: type[RowT]) -> list[RowT]:
    try:
        return [msgspec.json.decode(line, type=row_type) for line in rows.get(kind, [])]
    except msgspec.DecodeError as mistake:
        raise DataError(
            f"The {kind} of this run were changed while they were read ({mistake}). Try again."
        ) from None
