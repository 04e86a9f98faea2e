"""A run folder -> its rows, and what the report shows beside them: documents, certificate, manifest."""

from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec

from ragstone.kernel.dataset.certificate import Certificate, Fit, fit
from ragstone.kernel.dataset.placing import place_evidence
from ragstone.kernel.errors import checks_arguments, explaining
from ragstone.kernel.records import Document, Question
from ragstone.kernel.runs.folders import NOT_JSON
from ragstone.kernel.runs.run_rows import RunRows, read_run_rows, rows_of
from ragstone.kernel.runs.summary import read_numbers

CERTIFICATE = "certificate.json"


class Certified(msgspec.Struct, frozen=True):
    """The certificate of a run's questions, and how far it speaks of them."""

    certificate: Certificate
    fit: Fit


class Run(RunRows, frozen=True, kw_only=True):
    """What a run folder holds; a file that is absent leaves its part empty.

    titles: document id -> title. evidence: question id -> the passages that hold its answer, as (document id,
    text). certified: the certificate of the questions, None where none stood beside them.
    """

    manifest: dict[str, Any] | None
    titles: dict[str, str]
    evidence: dict[str, list[tuple[str, str]]]
    certified: Certified | None = None


def read_run(folder: Path) -> Run:
    """Return the run in a folder. Raises DataError as read_run_rows does, and for any other file."""
    rows = read_run_rows(folder)
    titles, evidence = _from_documents(folder, rows.questions)
    return Run(
        **msgspec.structs.asdict(rows),
        manifest=read_manifest(folder / "manifest.json"),
        titles=titles,
        evidence=evidence,
        certified=certified_in(folder, rows.questions.values()),
    )


def read_manifest(path: Path) -> dict[str, Any] | None:
    """Return what manifest.json holds, None without one. Raises DataError."""
    if not path.is_file():
        return None
    with explaining(f"{path}: not a JSON object", "Restore it, or delete it.", *NOT_JSON):
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


def _from_documents(
    folder: Path, questions: dict[str, Question]
) -> tuple[dict[str, str], dict[str, list[tuple[str, str]]]]:
    """Return the titles, and the passages of evidence where they stand now; no other document is kept."""
    named = {span.document_id for question in questions.values() for span in question.evidence or ()}
    titles: dict[str, str] = {}
    held: dict[str, Document] = {}
    for document in rows_of(folder, Document):
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
