"""Two versions of a set -> rows added, changed and dropped, and which figures of which runs still compare."""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from ragstone.kernel.dataset.certificate import Certificate, digests_of
from ragstone.kernel.dataset.placing import SOURCES
from ragstone.kernel.engine.digests import hexdigest
from ragstone.kernel.errors import DataError, checks_arguments
from ragstone.kernel.records import Document, Question, references
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.runs.folders import MANIFEST, SUMMARY
from ragstone.kernel.runs.run import CERTIFICATE, read_certificate, read_manifest
from ragstone.kernel.tables import read_rows
from ragstone.kernel.tables.formats import ending_of
from ragstone.kernel.tables.reading import columns_in

Kind = Literal["questions", "documents"]
Version = Literal["A", "B", "A and B", "neither", "unknown"]
QUESTIONS = "questions.jsonl"
# Columns that only rows of another kind have, in the order in which they are looked at.
OTHERS = {
    "judgements": {"judge", "status"},
    "answers": {"question_id", "answer"},
    "rankings": {"question_id", "items"},
    "labels": {"question_id", "score"},
    "chunks": {"document_id", "start", "end"},
}
DERIVED = (SOURCES, "refresh")  # notes of Ragstone on where evidence is


class ChangedField(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A field that differs; absent on the side that has none. Of metadata by key: `metadata.KEY`."""

    field: str
    a: Any = None
    b: Any = None


class ChangedRow(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A row of both, by its id in A. id_b: its id in B, where that is another one: the text is the same."""

    id: str
    changes: list[ChangedField] = []
    id_b: str | None = None


class RunStanding(msgspec.Struct, frozen=True, kw_only=True):
    """A run, and how far it compares with runs made from the other version of its questions.

    version: whose questions it has; `unknown` where its questions were changed since, or are not there.
    n_questions: of the run. n_scores: of them, those whose text and references are the same in A and B, on
    which scores compare; n_ranks: of these, those that have the same evidence and documents, in the run too,
    on which measures of retrieval compare too.
    """

    run: str
    version: Version
    n_questions: int
    n_scores: int
    n_ranks: int


class SetDiff(msgspec.Struct, frozen=True, kw_only=True):
    """What differs between two versions of a set.

    same: rows that are equal in every field. added, dropped: ids. changed: rows of both that differ; fields:
    field -> how many rows differ in it, most first. digest_a, digest_b: SHA-256 of the questions, as a
    certificate has it; empty of documents. other_documents: whether certificates beside the files say that
    they were built from other documents; None where one has none. runs: every run folder that was looked at.
    """

    a: str
    b: str
    kind: Kind
    n_a: int
    n_b: int
    same: int
    added: list[str]
    dropped: list[str]
    changed: list[ChangedRow]
    fields: dict[str, int]
    digest_a: str = ""
    digest_b: str = ""
    other_documents: bool | None = None
    runs: list[RunStanding] = []


@checks_arguments
def diff_sets(a: Path | str, b: Path | str, *, runs: Path | str | None = None) -> SetDiff:
    """Return what differs between two files of questions, or of documents.

    a, b: files that read_rows reads, or run folders, whose questions are taken. Rows are paired by id; those
    that are left, by their text, where it is the only one of its kind on either side. Notes of Ragstone on
    where evidence is (`evidence_sources`, `refresh`) are not compared. runs: a folder of run folders, to be
    told which of their figures still compare; of questions only. Raises DataError for a file that cannot be
    read, for two ids that are the same, and for files of other or of different kinds.
    """
    paths = [_file_of(Path(a)), _file_of(Path(b))]
    kinds = [_kind_of(path) for path in paths]
    if kinds[0] != kinds[1]:
        raise DataError(
            f"{paths[0]} holds {kinds[0]} and {paths[1]} holds {kinds[1]}. Give two versions of the same set."
        )
    kind = kinds[0]
    sides: list[list[Question] | list[Document]] = [
        list(read_rows(path, Question)) if kind == "questions" else list(read_rows(path, Document))
        for path in paths
    ]
    before, after = sides
    pairs, dropped, added = _paired(before, after)
    rows = [(one, two, _changes(one, two)) for one, two in pairs]
    changed = [
        ChangedRow(id=one.id, changes=changes, id_b=two.id if two.id != one.id else None)
        for one, two, changes in rows
        if changes or one.id != two.id
    ]
    questions = [[row for row in side if isinstance(row, Question)] for side in sides]
    asked = kind == "questions"
    return SetDiff(
        a=str(a),
        b=str(b),
        kind=kind,
        n_a=len(before),
        n_b=len(after),
        same=len(pairs) - len(changed),
        added=[row.id for row in added],
        dropped=[row.id for row in dropped],
        changed=changed,
        fields=dict(Counter(change.field for row in changed for change in row.changes).most_common()),
        digest_a=digests_of(questions[0])[0] if asked else "",
        digest_b=digests_of(questions[1])[0] if asked else "",
        other_documents=_other_documents(paths),
        runs=_runs_in(Path(runs), questions) if runs is not None and asked else [],
    )


def _file_of(path: Path) -> Path:
    if (path / SUMMARY).is_file() and not (path / QUESTIONS).is_file():
        raise DataError(
            f"{path}: this run has no file of questions. Give the file of questions that it judged."
        )
    return path / QUESTIONS if (path / MANIFEST).is_file() else path


def _kind_of(path: Path) -> Kind:
    """Return what a file holds. Raises DataError where that is neither questions nor documents."""
    columns = set(_columns(path))
    other = next((kind for kind, needed in OTHERS.items() if needed <= columns), None)
    if other is not None and not {"id", "question"} <= columns:
        advice = "`ragstone compare` compares runs" if other != "chunks" else "compare their documents"
        raise DataError(f"{path} holds {other}. Give two files of questions or of documents; {advice}.")
    return "documents" if "text" in columns and "question" not in columns else "questions"


def _columns(path: Path) -> list[str]:
    """Return the columns of a file, of JSONL those of its first row; none where only reading it can tell."""
    if not path.is_file():
        return []
    if ending_of(path) in (".jsonl", ".ndjson"):
        with path.open("rb") as file:
            first = next((line for line in file if line.strip()), b"{}")
        try:
            row = json.loads(first)
        except ValueError:
            return []
        return [*row] if isinstance(row, dict) else []
    return columns_in(path)


Rows = Sequence[Question | Document]


def _paired(
    before: Rows, after: Rows
) -> tuple[
    list[tuple[Question | Document, Question | Document]],
    list[Question | Document],
    list[Question | Document],
]:
    """Return the rows that both have, in pairs, and what is only in the one or the other."""
    by_id = {row.id: row for row in after}
    ids = {row.id for row in before}
    alone = [row for row in before if row.id not in by_id]
    new = [row for row in after if row.id not in ids]
    texts: list[dict[str, list[Question | Document]]] = [defaultdict(list), defaultdict(list)]
    for side, rows in zip(texts, (alone, new), strict=True):
        for row in rows:
            side[_plain(row.question if isinstance(row, Question) else row.text)].append(row)
    renamed = {
        rows[0].id: texts[1][text][0]
        for text, rows in texts[0].items()
        if len(rows) == len(texts[1].get(text, ())) == 1
    }
    partner = {row.id: by_id.get(row.id) or renamed.get(row.id) for row in before}
    pairs = [(row, other) for row in before if (other := partner[row.id]) is not None]
    taken = {row.id for row in renamed.values()}
    return pairs, [row for row in alone if row.id not in renamed], [row for row in new if row.id not in taken]


def _plain(text: str) -> str:
    return " ".join(text.split())


def _changes(one: Question | Document, two: Question | Document) -> list[ChangedField]:
    """Return the fields in which two rows differ, but for their ids."""
    ours, theirs = _fields(one), _fields(two)
    return [
        ChangedField(field=name, a=ours.get(name), b=theirs.get(name))
        for name in dict.fromkeys((*ours, *theirs))
        if ours.get(name) != theirs.get(name)
    ]


def _fields(row: Question | Document) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(row)
    notes = fields.pop("metadata", None) or {}
    fields.pop("id")
    if isinstance(fields.get("reference"), str):
        fields["reference"] = [fields["reference"]]  # as a file of columns has it
    return fields | {f"metadata.{name}": value for name, value in notes.items() if name not in DERIVED}


def _other_documents(paths: Sequence[Path]) -> bool | None:
    """Return whether the certificates beside two files speak of other documents; None where one has none."""
    certificates: list[Certificate] = [
        read_certificate(path.parent) for path in paths if (path.parent / CERTIFICATE).is_file()
    ]
    if len(certificates) < len(paths) or paths[0].parent == paths[1].parent:
        return None
    return certificates[0].documents_digest != certificates[1].documents_digest


Said = tuple[str, tuple[str, ...]]


def _said(question: Question) -> Said:
    return _plain(question.question), tuple(map(_plain, references(question)))


def _runs_in(folder: Path, versions: Sequence[Sequence[Question]]) -> list[RunStanding]:
    """Return every run of a folder, in the order of names."""
    if not folder.is_dir():
        raise DataError(f"{folder}: no such folder. Give --runs a folder of runs, such as runs.")
    sides = [{row.id: row for row in rows} for rows in versions]
    return [_standing(place, sides) for place in sorted(folder.iterdir()) if (place / MANIFEST).is_file()]


def _standing(place: Path, sides: Sequence[Mapping[str, Question]]) -> RunStanding:
    rows = _questions_of(place)
    if rows is None:
        return RunStanding(run=str(place), version="unknown", n_questions=0, n_scores=0, n_ranks=0)
    held = [[row for row in rows if row.id in side and _said(side[row.id]) == _said(row)] for side in sides]
    both = [row for row in held[0] if row.id in sides[1] and _said(sides[1][row.id]) == _said(row)]
    # Where the texts are those of both, the evidence tells.
    n_a, n_b = (
        (len(of), sum(_where(row) == _where(side[row.id]) for row in of))
        for of, side in zip(held, sides, strict=True)
    )
    version: Version = "neither"
    if n_a > (0, 0) or n_b > (0, 0):
        version = "A" if n_a > n_b else "B" if n_b > n_a else "A and B"
    ranked = [row for row in both if _where(row) == _where(sides[0][row.id]) == _where(sides[1][row.id])]
    return RunStanding(
        run=str(place), version=version, n_questions=len(rows), n_scores=len(both), n_ranks=len(ranked)
    )


def _where(question: Question) -> Any:  # noqa: ANN401 - compared, never read
    return relevant_documents(question), question.evidence


def _questions_of(place: Path) -> list[Question] | None:
    """Return the questions of a run; None where they are not there, or were changed since."""
    path, manifest = place / QUESTIONS, read_manifest(place / MANIFEST) or {}
    files = manifest.get("files")
    made = files.get(QUESTIONS) if isinstance(files, dict) else None
    if not path.is_file() or made is None or hexdigest(path.read_bytes()) != made:
        return None
    return list(read_rows(path, Question))
