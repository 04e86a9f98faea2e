"""A file of questions and the log of its review -> the reviewed set, its certificate, its files."""

import contextlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import msgspec

from ragstone.features.build import CERTIFICATE_PAGE, SIDES, part_path, write_certificate
from ragstone.features.review._certified import candidates_of, recertify, review_numbers
from ragstone.features.review.applying import ReviewedQuestion, TextOf, left_out, read_whole, review_items
from ragstone.features.review.decisions import log_path, read_decisions
from ragstone.kernel.config import BuildSection, Settings, load_settings
from ragstone.kernel.dataset.certificate import Certificate, ReviewNumbers, fit
from ragstone.kernel.dataset.split import Side
from ragstone.kernel.errors import DataError, checks_arguments
from ragstone.kernel.records import Document, Question
from ragstone.kernel.runs.run import CERTIFICATE, read_certificate
from ragstone.kernel.tables import check_output, check_place, open_rows, parse_row, read_rows

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


class _DocumentId(msgspec.Struct):
    id: str | None = None


class DocumentTexts:
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
        decoder = msgspec.json.Decoder(_DocumentId)
        at = 0
        with self.path.open("rb") as file:
            for line in file:
                if line.strip():
                    try:
                        name = decoder.decode(line).id
                    except (msgspec.DecodeError, UnicodeDecodeError):
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
        except (msgspec.DecodeError, UnicodeDecodeError):
            raw = {}
        if raw.get("id") != name:
            raise DataError(f"{self.path} changed while it was being read: reload the page.")
        return parse_row(raw, Document).text


class ReviewOutput(msgspec.Struct, frozen=True, kw_only=True):
    """What `ragstone review --json` prints. certificate: None where the set has none."""

    review: ReviewNumbers
    certificate: Certificate | None
    files: list[str]


class ReviewedSet(msgspec.Struct, frozen=True, kw_only=True):
    """A set that people have reviewed.

    questions: of the reviewed set; items: every question and what became of it. certificate: renewed, None
    where the set has none. documents: the file in which evidence was looked for. files: those written.
    """

    questions: list[Question]
    items: list[ReviewedQuestion]
    numbers: ReviewNumbers
    certificate: Certificate | None
    documents: Path | None
    files: list[Path] = []


@checks_arguments
def review_questions(
    questions: Path | str,
    decisions: Path | str | None = None,
    *,
    output: Path | str | None = None,
    documents: Path | str | None = None,
    only_decided: bool = False,
    settings: Settings | None = None,
    force: bool = False,
) -> ReviewedSet:
    """Return the reviewed set of a file of questions.

    decisions: the log, by default that beside the questions. documents: a file of documents, by default the
    one that `find_documents` finds. only_decided: leaves out what nobody has decided. output: where the set
    is written, and beside it every question (`.all`), the splits and the certificate, as of a build; the
    questions themselves only with `force`. Raises DataError for a log that cannot be applied, and where a
    file cannot be written.
    """
    questions = Path(questions)
    decisions = Path(decisions) if decisions else log_path(questions)
    if not decisions.is_file():
        raise DataError(f"{decisions}: no such log. Review the set in the workbench: `ragstone serve`.")
    corpus = Path(documents) if documents else find_documents(questions, settings or load_settings())
    if output is not None:
        _check_outputs(questions, decisions, Path(output), force)
    texts = DocumentTexts(corpus) if corpus else None
    certificate = _certificate_of(questions)
    items = review_items(read_whole(questions), read_decisions(decisions), texts.text_of if texts else None)
    if only_decided:
        items = [left_out(item) if item.outcome is None and item.in_set else item for item in items]
    threshold = (certificate.declared if certificate else BuildSection()).threshold
    made = ReviewedSet(
        questions=[item.question for item in items if item.in_set],
        items=items,
        numbers=review_numbers(items, threshold),
        certificate=recertify(certificate, items, texts.text_of if texts else None) if certificate else None,
        documents=corpus,
    )
    if output is None:
        return made
    files = _write(made, questions, Path(output), texts.text_of if texts else None, force=force)
    return msgspec.structs.replace(made, files=files)


def _certificate_of(questions: Path) -> Certificate | None:
    """Return the certificate beside questions, None without one or where it is of another set."""
    file = questions.parent / CERTIFICATE
    if not file.is_file():
        return None
    certificate = read_certificate(file)
    return certificate if fit(certificate, read_rows(questions, Question)).n_certified else None


def _check_outputs(questions: Path, decisions: Path, output: Path, force: bool) -> None:
    """Check that the files may be written, before anything is read. Raises DataError."""
    certificate = output.parent / CERTIFICATE
    if certificate.exists() and not part_path(output, "all").exists():
        raise DataError(
            f"{certificate} is the certificate of another set. Give the reviewed set its own "
            f"folder, e.g. -o {output.parent / 'reviewed' / output.name}"
        )
    if output.resolve() == decisions.resolve():
        raise DataError(f"{output} is the log of the review. Give -o another name.")
    if output.resolve() == questions.resolve() and not force:
        raise DataError(
            f"{output} is the set under review. Give -o another name, or --force to replace it: the log "
            "stays."
        )
    check_output(output, force)
    for path in (part_path(output, "all"), output.parent / CERTIFICATE, output.parent / CERTIFICATE_PAGE):
        check_place(path, force)


def _write(
    made: ReviewedSet, questions: Path, output: Path, text_of: TextOf | None, *, force: bool
) -> list[Path]:
    """Write the set, every question of it, the sides of its split, the certificate; return the paths."""
    parts = {output: made.questions, part_path(output, "all"): [item.question for item in made.items]}
    parts |= {
        part_path(output, side): rows for side, rows in _sides(questions, made.questions).items() if rows
    }
    with contextlib.ExitStack() as stack:
        for path, rows in parts.items():
            write = stack.enter_context(open_rows(path, Question, force=force))
            for row in rows:
                write(row)
    if made.certificate is None:
        return list(parts)
    candidates = candidates_of(made.items, text_of)
    return [*parts, *write_certificate(output.parent, made.certificate, candidates, force=force)]


def _sides(questions: Path, rows: Sequence[Question]) -> dict[Side, list[Question]]:
    """Return the reviewed questions of each side of the split, where the set has one.

    A question that the build had lost goes to the side of its document, or to `dev`.
    """
    files = {side: part_path(questions, side) for side in SIDES}
    if not all(path.exists() for path in files.values()):
        return {}
    side_of: dict[str, Side] = {}
    documents: dict[str, Side] = {}
    for side, path in files.items():
        for row in read_rows(path, Question):
            side_of[row.id] = side
            documents |= dict.fromkeys(row.document_ids or (), side)
    usual: Side = "dev"
    sides: dict[Side, list[Question]] = {side: [] for side in SIDES}
    for row in rows:
        near = (documents[name] for name in row.document_ids or () if name in documents)
        side = side_of[row.id] if row.id in side_of else next(near, usual)
        sides[side].append(row)
    return sides
