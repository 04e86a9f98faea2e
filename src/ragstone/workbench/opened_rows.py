"""One question of a run, whole: its rows, and what was asked of models for it."""

import zlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

from ragstone.kernel.errors import explaining
from ragstone.kernel.persistence.journal import held
from ragstone.kernel.persistence.private import make_folder
from ragstone.kernel.records import Answer, Chunk, Document, Judgement, Question, Ranking
from ragstone.kernel.runs.asked import CALLS_FILE, AskedCall, read_asked
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.runs.embedded import ColumnView
from ragstone.kernel.runs.joining import OpenedRows, open_question
from ragstone.kernel.runs.run import Run
from ragstone.kernel.runs.run_rows import SHOWN_RANKS
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.serve.rows.asking import RowIndex

RowT = TypeVar("RowT")
Rows = dict[str, list[bytes]]


def opened_in(
    index: RowIndex,
    question_id: str,
    columns: Sequence[ColumnView],
    summary: RunSummary,
    causes: Mapping[str, list[Caused]],
) -> OpenedRows | None:
    """Return a question as the report opens it, with whole texts; None where the run has no such question.

    Raises DataError where a file was changed while it was read.
    """
    at = index.place_of(question_id)
    if at is None:
        return None
    rows = _lines(index.files(), index.spans([at]))
    questions, rankings = _all(rows, "questions", Question), _all(rows, "rankings", Ranking)
    answers = _all(rows, "answers", Answer)
    wanted = {item.chunk_id or "" for row in rankings for item in row.items[:SHOWN_RANKS]}
    wanted |= {context.id or "" for row in answers for context in row.contexts or []}
    chunks = {row.id: row for row in _named(index, "chunks", wanted, Chunk)}
    wanted = {span.document_id for row in questions for span in row.evidence or []}
    wanted |= {item.document_id for row in rankings for item in row.items[:SHOWN_RANKS]}
    wanted |= {context.document_id or "" for row in answers for context in row.contexts or []}
    wanted |= {chunk.document_id for chunk in chunks.values()}
    documents = {row.id: row for row in _named(index, "documents", wanted, Document)}
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


def text_of(index: RowIndex, question_id: str) -> bytes | None:
    """Return the lines of a question's rows, as its files have them; None where there is no such question."""
    at = index.place_of(question_id)
    if at is None:
        return None
    rows = _lines(index.files(), index.spans([at]))
    return b"\n".join(b"\n".join([f"{kind}.jsonl".encode(), *lines, b""]) for kind, lines in rows.items())


def rows_at(index: RowIndex, places: Sequence[int], kind: str, row_type: type[RowT]) -> list[RowT]:
    """Return the rows of one kind that belong to some questions, in the order of their file.

    Raises DataError where a file was changed while it was read.
    """
    return _all(_lines(index.files(), index.spans(places, kind)), kind, row_type)


def _evidence(question: Question, documents: Mapping[str, Document]) -> list[tuple[str, str]]:
    return [
        (span.document_id, documents[span.document_id].text[span.start : span.end])
        for span in question.evidence or []
        if span.document_id in documents
    ]


def _named(
    index: RowIndex,
    kind: str,
    ids: set[str],
    row_type: type[RowT],
) -> list[RowT]:
    """Return the documents or chunks of these ids, as far as there are any."""
    files = index.files()
    if kind not in files or not ids:
        return []
    return _all(_lines(files, index.spans_named(kind, sorted(ids))), kind, row_type)


def _lines(paths: Mapping[str, Path], spans: Iterable[tuple[str, int, int]]) -> Rows:
    """Return the lines that stand at these places, by kind of row."""
    rows: Rows = defaultdict(list)
    places: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for kind, start, size in spans:
        places[kind].append((start, size))
    for kind, ours in places.items():
        with paths[kind].open("rb") as file:
            for start, size in ours:
                file.seek(start)
                rows[kind].append(file.read(size))
    return rows


def _all(rows: Rows, kind: str, row_type: type[RowT]) -> list[RowT]:
    what = f"The {kind} of this run were changed while they were read"
    with explaining(what, "Try again.", msgspec.DecodeError):
        return [msgspec.json.decode(line, type=row_type) for line in rows.get(kind, [])]


PIECE_BYTES = 1 << 20
CUT_S = 600.0  # that another one may take to cut them
QUICK = 1  # the level of compression


class _Piece(NamedTuple):
    start: int
    size: int


class _Pieces(msgspec.Struct):
    """Where the conversations of a question stand: the numbers of its pieces."""

    stamp: tuple[int, int, int]
    pieces: list[_Piece]
    of: dict[str, list[int]]


def conversations(run: Path, question_id: str, folder: Path) -> list[AskedCall]:
    """Return the conversations of one question, in the order of the run. kept: a folder for the pieces.

    The first call for a run takes a second or two for each 100,000 conversations. Raises DataError for a
    file that cannot be read, OSError where the pieces cannot be written.
    """
    if not (run / CALLS_FILE).is_file():
        return []
    pieces = _pieces_kept(run, folder)
    if pieces is None:
        make_folder(folder)
        with held(folder / "calls", CUT_S):  # two people who open the same run at once
            pieces = _pieces_kept(run, folder) or _cut(run, folder)
    asked_calls = []
    with (folder / "calls").open("rb") as file:
        for number in pieces.of.get(question_id, []):
            start, size = pieces.pieces[number]
            file.seek(start)
            lines = zlib.decompress(file.read(size)).splitlines()
            asked_calls += [msgspec.json.decode(line, type=AskedCall) for line in lines]
    return [call for call in asked_calls if call.question_id == question_id]


def _stamp(run: Path) -> tuple[int, int, int]:
    stat = (run / CALLS_FILE).stat()
    return stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns


def _pieces_kept(run: Path, folder: Path) -> _Pieces | None:
    try:
        pieces = msgspec.json.decode((folder / "calls.json").read_bytes(), type=_Pieces)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return pieces if pieces.stamp == _stamp(run) else None


def _cut(run: Path, folder: Path) -> _Pieces:
    pieces = _Pieces(stamp=_stamp(run), pieces=[], of={})
    (folder / "calls.json").unlink(missing_ok=True)  # never beside the pieces of another state
    unfinished = folder / "calls.partial"
    with unfinished.open("wb") as file:
        for ids, lines in _in_pieces(run):
            packed = zlib.compress(b"\n".join(lines), QUICK)
            for question_id in dict.fromkeys(ids):
                pieces.of.setdefault(question_id, []).append(len(pieces.pieces))
            pieces.pieces.append(_Piece(file.tell(), len(packed)))
            file.write(packed)
    unfinished.replace(folder / "calls")
    (folder / "calls.json").write_bytes(msgspec.json.encode(pieces))
    return pieces


def _in_pieces(run: Path) -> Iterator[tuple[list[str], list[bytes]]]:
    ids: list[str] = []
    lines: list[bytes] = []
    size = 0
    for call in read_asked(run):
        line = msgspec.json.encode(call)
        ids.append(call.question_id)
        lines.append(line)
        size += len(line)
        if size > PIECE_BYTES:
            yield ids, lines
            ids, lines, size = [], [], 0
    if lines:
        yield ids, lines
