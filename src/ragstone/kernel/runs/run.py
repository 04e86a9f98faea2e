"""A run folder -> its summary and its rows, as far as the report shows them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from ragstone.kernel.dataset.certificate import Certificate, Fit, fit
from ragstone.kernel.dataset.placing import place_evidence
from ragstone.kernel.errors import DataError, checks_arguments, explaining
from ragstone.kernel.records import Answer, Chunk, Document, Judgement, Question, Ranking, split_repeat
from ragstone.kernel.runs.blamed import BlameSummary, read_blame, read_causes
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.runs.notes import Note, read_notes
from ragstone.kernel.runs.summary import RunSummary, read_numbers
from ragstone.kernel.tables import read_rows

RowT = TypeVar("RowT", Document, Chunk, Question, Ranking, Answer, Judgement)

CERTIFICATE = "certificate.json"
SHOWN_RANKS = 10  # places of a ranking that the page shows


class Certified(msgspec.Struct, frozen=True):
    """The certificate of a run's questions, and how far it speaks of them."""

    certificate: Certificate
    fit: Fit


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What a run folder holds. Rows are kept by question id; a file that is absent leaves its part empty.

    titles: document id -> title. chunks: chunk id -> chunk, of those that a shown ranking or a context
    without text names. evidence: question id -> the passages that hold its answer, as (document id, text).
    certified: the certificate of the questions, None where none stood beside them. blamed: where the lost
    points went, None where `ragstone blame` has not seen these rows; causes: by question id. notes: people's,
    in the order in which they were written.
    """

    summary: RunSummary
    manifest: dict[str, Any] | None
    questions: dict[str, Question]
    rankings: dict[str, list[Ranking]]
    answers: dict[str, list[Answer]]
    judgements: dict[str, list[Judgement]]
    chunks: dict[str, Chunk]
    titles: dict[str, str]
    evidence: dict[str, list[tuple[str, str]]]
    certified: Certified | None = None
    blamed: BlameSummary | None = None
    causes: dict[str, list[Caused]] = {}
    notes: list[Note] = []


def read_run(folder: Path) -> Run:
    """Return the run in a folder.

    Raises DataError when the folder, summary.json or judgements.jsonl is missing, when a file cannot be
    read, and when summary.json was not made from these judgements.
    """
    summary = read_summary(folder)
    judgements = by_question(_rows(folder, Judgement, needed=True))
    _check_same_run(folder, summary, judgements)
    questions = {row.id: row for row in _rows(folder, Question)}
    rankings = by_question(_rows(folder, Ranking))
    answers = by_question(_rows(folder, Answer))
    titles, evidence = _from_documents(folder, questions)
    blamed = read_blame(folder)
    ids = {item.chunk_id for rows in rankings.values() for row in rows for item in row.items[:SHOWN_RANKS]}
    ids |= {context.id for rows in answers.values() for row in rows for context in row.contexts or []}
    return Run(
        summary=summary,
        manifest=read_manifest(folder / "manifest.json"),
        questions=questions,
        rankings=rankings,
        answers=answers,
        judgements=judgements,
        chunks={row.id: row for row in _rows(folder, Chunk) if row.id in ids},
        titles=titles,
        evidence=evidence,
        certified=certified_in(folder, questions.values()),
        blamed=blamed,
        causes=read_causes(folder) if blamed else {},
        notes=read_notes(folder),
    )


@checks_arguments
def read_summary(folder: Path | str) -> RunSummary:
    """Return what summary.json of a run folder holds.

    Raises DataError when the folder or the file is missing, or holds something else.
    """
    folder = Path(folder)
    path = folder / "summary.json"
    if not folder.is_dir():
        raise DataError(
            f"{folder}: no such run folder. Name one that `ragstone run` wrote, such as runs/starter."
        )
    if not path.is_file():
        raise DataError(
            f"{path}: no such file, so there are no numbers to report. "
            "Run `ragstone judge` or `ragstone run` to the end: they write it last."
        )
    with explaining(
        f"{path}: not a summary that this version of Ragstone understands",
        "Run the command that wrote it again: no call in the ledger is paid for twice.",
        msgspec.DecodeError,
    ):
        return msgspec.json.decode(path.read_bytes(), type=RunSummary)


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return what manifest.json holds, None without one. Raises DataError."""
    if not path.is_file():
        return None
    with explaining(f"{path}: not a JSON object", "Restore it, or delete it.", msgspec.DecodeError):
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Any])


@checks_arguments
def read_certificate(path: Path | str) -> Certificate:
    """Return the certificate that a file, or a folder's certificate.json, holds. Raises DataError."""
    path = Path(path)
    file = path / CERTIFICATE if path.is_dir() else path
    return read_numbers(file, Certificate, "certificate", "ragstone build questions")


def certified_in(folder: Path, questions: Iterable[Question]) -> Certified | None:
    """Return the certificate of a run's folder, None without one or without questions. Raises DataError."""
    rows = list(questions)
    if not rows or not (folder / CERTIFICATE).is_file():
        return None
    certificate = read_certificate(folder)
    return Certified(certificate, fit(certificate, rows))


FILES: dict[type, str] = {
    Document: "documents.jsonl",
    Chunk: "chunks.jsonl",
    Question: "questions.jsonl",
    Ranking: "rankings.jsonl",
    Answer: "answers.jsonl",
    Judgement: "judgements.jsonl",
}


def _rows(folder: Path, row_type: type[RowT], *, needed: bool = False) -> Iterator[RowT]:
    path = folder / FILES[row_type]
    if needed and not path.is_file():
        raise DataError(
            f"{path}: no such file, so there is nothing to report. "
            "Run `ragstone judge` on the answer sheet of this run first."
        )
    return read_rows(path, row_type) if path.is_file() else iter(())


KeyedT = TypeVar("KeyedT", Ranking, Answer, Judgement)


def by_question(rows: Iterable[KeyedT]) -> dict[str, list[KeyedT]]:
    """Return the rows of each question."""
    grouped: dict[str, list[KeyedT]] = defaultdict(list)
    for row in rows:
        grouped[row.question_id].append(row)
    return dict(grouped)


def _check_same_run(folder: Path, summary: RunSummary, judgements: dict[str, list[Judgement]]) -> None:
    """Refuse to show numbers beside rows that they were not computed from."""
    counted: dict[tuple[str, str, str, str], int] = defaultdict(int)
    for rows in judgements.values():
        for row in rows:
            counted[split_repeat(row.system)[0], row.judge, row.metric, row.model] += 1
    summarised = {(m.system, m.judge, m.metric, m.model): m.n_rows for m in summary.metrics}
    for key in summarised.keys() | counted.keys():
        n_rows, n_summarised = counted.get(key, 0), summarised.get(key, 0)
        if n_rows != n_summarised:
            raise DataError(
                f"{folder}: summary.json counts {n_summarised} judgements by {key[1]} ({key[3]}) of system "
                f"{key[0]!r}, judgements.jsonl holds {n_rows}. They are not from the same run: judge again, "
                "so that both are written together."
            )


def _from_documents(
    folder: Path, questions: dict[str, Question]
) -> tuple[dict[str, str], dict[str, list[tuple[str, str]]]]:
    """Return the titles, and the passages of evidence where they stand now; no other document is kept."""
    named = {span.document_id for question in questions.values() for span in question.evidence or ()}
    titles: dict[str, str] = {}
    held: dict[str, Document] = {}
    for document in _rows(folder, Document):
        if document.title:
            titles[document.id] = document.title
        if document.id in named:
            held[document.id] = document
    placed = place_evidence([*questions.values()], held.values())
    evidence: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for question in placed.questions:
        for span in question.evidence or () if question.id not in placed.unplaced else ():
            if span.document_id in held:
                text = held[span.document_id].text[span.start : span.end]
                evidence[question.id].append((span.document_id, text))
    return titles, dict(evidence)
