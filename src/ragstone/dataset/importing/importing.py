"""Evaluation sets of others -> questions and documents of ours, in memory or in a folder."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from ragstone.dataset.importing.found import Found, ImportOptions
from ragstone.dataset.importing.reading import read_set, recognised
from ragstone.dataset.importing.tally import ImportSummary, Remarked, Tally
from ragstone.errors import DataError
from ragstone.records import Document, Question
from ragstone.retrieval.trec import write_grades
from ragstone.tables import (
    check_output,
    check_place,
    keep_sources,
    open_rows,
    partial_path,
    read_rows,
    write_rows,
)

QUESTIONS, DOCUMENTS, QRELS = "questions.jsonl", "documents.jsonl", "qrels.txt"
SPACED = "an id with white space cannot stand in qrels.txt: its grade is left out"


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """Questions, the documents that their source holds, and what was met on the way.

    qrels: question id -> document id -> grade, where the source grades; as `qrels` of evaluate_rankings.
    """

    questions: list[Question]
    documents: list[Document]
    qrels: dict[str, dict[str, int]] | None
    summary: ImportSummary


def import_set(
    source: Path | str | Iterable[Path | str],
    format: str | None = None,  # noqa: A002 - the name of the option of `ragstone import`
    columns: Mapping[str, str] | None = None,
    *,
    split: str | None = None,
    limit: int | None = None,
    drop_repeats: bool = False,
) -> Imported:
    """Return the questions of one or more files or folders of others, with their documents.

    format: one of `FORMATS`; found by content where it is left out. columns: field -> column, e.g.
    `{"question": "Frage", "tags.topic": "Thema"}`. split: of a BEIR folder. limit: the first so many
    questions; documents are all read. drop_repeats: leave out questions that repeat an earlier one of their
    language.

    Rows that cannot be imported are skipped, and counted in the summary with their reasons. Raises DataError
    for a source that is missing, empty, broken or of no known form, for a column that is not there, and where
    not one question comes out; ConfigError for a format, a field or an option that does not fit.
    """
    sources = [source] if isinstance(source, str | Path) else list(source)
    options = ImportOptions(columns=columns or {}, split=split, limit=limit)
    known = recognised(sources, format, options)
    questions: list[Question] = []
    documents: list[Document] = []
    tally = Tally()
    for row in read_set(known, options):
        tally.take(row)
        if isinstance(row, Question):
            questions.append(row)
        elif isinstance(row, Document):
            documents.append(row)
    summary = tally.summary({str(path): name for path, name, _ in known})
    if drop_repeats:
        summary = _without_repeats(summary)
        gone = {one.id for one in summary.repeats}
        questions = [one for one in questions if one.id not in gone]
    asked = {one.id for one in questions}
    qrels = {name: grades for name, grades in tally.grades.items() if name in asked}
    return Imported(questions=questions, documents=documents, qrels=qrels or None, summary=summary)


def import_to_folder(
    sources: Iterable[Path | str],
    folder: Path,
    options: ImportOptions,
    *,
    format: str | None = None,  # noqa: A002 - as above
    drop_repeats: bool = False,
    force: bool = False,
    advance: Callable[[], None] = lambda: None,
) -> ImportSummary:
    """Write what `import_set` returns to questions.jsonl, documents.jsonl and qrels.txt, as it is read.

    A file that would hold nothing is not written; with `force` one that stands there becomes NAME.old.
    qrels.txt is written where grades say more than that a document is relevant. advance: called for each
    question.
    Raises DataError and ConfigError as `import_set` does, and where files exist and `force` is not given.
    """
    sources = list(sources)
    keep_sources([folder / name for name in (QUESTIONS, DOCUMENTS, QRELS)], sources)
    for name in (QUESTIONS, DOCUMENTS):
        check_output(folder / name, force)
    check_place(folder / QRELS, force)
    known = recognised(sources, format, options)
    tally = Tally()
    with _opened(folder, force) as write:
        for row in read_set(known, options):
            tally.take(row)
            write(row)
            if isinstance(row, Question):
                advance()
        summary = tally.summary({str(path): name for path, name, _ in known})
    if drop_repeats and summary.repeats:
        summary = _without_repeats(summary)
        gone = {one.id for one in summary.repeats}
        path = folder / QUESTIONS
        write_rows(
            path, (row for row in read_rows(path, Question) if row.id not in gone), Question, force=True
        )
        tally.grades = {name: grades for name, grades in tally.grades.items() if name not in gone}
    output = [folder / QUESTIONS, *([folder / DOCUMENTS] if summary.n_documents else [])]
    if summary.graded:
        summary = _with_qrels(summary, folder / QRELS, tally.grades)
        output.append(folder / QRELS)
    earlier = [path for path in (folder / DOCUMENTS, folder / QRELS) if path not in output and path.exists()]
    for path in earlier:  # of another set, or the user's own: beside these questions it would mislead
        path.replace(path.with_name(f"{path.name}.old"))
    return msgspec.structs.replace(
        summary, output=[str(path) for path in output], set_aside=[str(path) for path in earlier]
    )


@contextlib.contextmanager
def _opened(folder: Path, force: bool) -> Iterator[Callable[[Found], None]]:
    """Give a function that writes rows to their files; after an error none of them is there."""
    documents: list[Callable[[Document], None]] = []
    try:
        with contextlib.ExitStack() as files:
            questions = files.enter_context(open_rows(folder / QUESTIONS, Question, force=force))

            def write(row: Found) -> None:
                if isinstance(row, Question):
                    questions(row)
                elif isinstance(row, Document):
                    if not documents:
                        opened = open_rows(folder / DOCUMENTS, Document, force=force)
                        documents.append(files.enter_context(opened))
                    documents[0](row)

            yield write
    except DataError:  # nothing was paid for: half a set is worth nothing
        for name in (QUESTIONS, DOCUMENTS):
            partial_path(folder / name).unlink(missing_ok=True)
        raise


def _without_repeats(summary: ImportSummary) -> ImportSummary:
    n_dropped = len(summary.repeats)
    return msgspec.structs.replace(summary, n_questions=summary.n_questions - n_dropped, n_dropped=n_dropped)


def _with_qrels(summary: ImportSummary, path: Path, qrels: Mapping[str, Mapping[str, int]]) -> ImportSummary:
    """Write the grades that a file of qrels can hold; return the summary with a remark on the others."""
    whole: dict[str, dict[str, int]] = {}
    places: list[str] = []
    for question, grades in qrels.items():
        for document, grade in grades.items():
            if question.split() == [question] and document.split() == [document]:
                whole.setdefault(question, {})[document] = grade
            else:
                places.append(f"question {question!r}, document {document!r}")
    write_grades(path, whole)
    if not places:
        return summary
    remark = Remarked(kind="changed", reason=SPACED, n=len(places), places=places[:5])
    return msgspec.structs.replace(summary, remarks=[*summary.remarks, remark])
