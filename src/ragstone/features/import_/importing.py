"""Evaluation sets of others -> questions and documents of ours, in memory or in a folder."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from ragstone.features.import_ import _faq as faq
from ragstone.features.import_ import _trec as trec
from ragstone.features.import_._recognise import recognise
from ragstone.features.import_._rows import (
    Found,
    Grades,
    ImportOptions,
    Reader,
    Source,
    check_fields,
    left_out,
    skipped,
)
from ragstone.features.import_.summary import ImportSummary, ImportTally, Remarked
from ragstone.kernel.dataset.languages import speaks
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments, explaining
from ragstone.kernel.files.language import detect_languages
from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables import (
    check_output,
    check_place,
    keep_sources,
    open_rows,
    partial_path,
    read_rows,
    write_rows,
)
from ragstone.kernel.tables.names import question_key

BATCH = 1024  # rows whose languages are detected together


def with_languages(rows: Iterable[Found]) -> Iterator[Found]:
    """Yield the rows, questions and documents without a language with the one that is detected.

    A question that is too short to tell has its document's language, where it can be in it and that document
    came before.
    """
    batch: list[Found] = []
    languages: dict[str, str] = {}
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield from _detected(batch, languages)
            batch = []
    yield from _detected(batch, languages)


def _detected(batch: list[Found], languages: dict[str, str]) -> Iterator[Found]:
    """Yield the rows of a batch. languages: those of the documents so far; those of the batch are added."""
    unknown = [
        (n, row.question if isinstance(row, Question) else row.text)
        for n, row in enumerate(batch)
        if isinstance(row, Question | Document) and row.lang is None
    ]
    langs = detect_languages([text for _, text in unknown])
    for (number, _), lang in zip(unknown, langs, strict=True):
        batch[number] = msgspec.structs.replace(batch[number], lang=lang)
    for row in batch:
        if isinstance(row, Document) and row.lang:
            languages[row.id] = row.lang
        if isinstance(row, Question) and row.lang is None:
            yield msgspec.structs.replace(row, lang=_of_documents(row, languages))
        else:
            yield row


def _of_documents(question: Question, languages: Mapping[str, str]) -> str | None:
    """Return the language that all documents of a question are in, if the question may be in it too."""
    tempting = (question.metadata or {}).get("tempting")
    names = question.document_ids or ([tempting["document_id"]] if isinstance(tempting, dict) else [])
    langs = {languages.get(name) for name in names}
    lang = langs.pop() if len(langs) == 1 else None
    return lang if lang and speaks(question.question, lang) else None


NO_COLUMNS = frozenset({"squad", "hotpotqa", "beir", "documents"})
TABLES = frozenset({"table", "ragas", "deepeval", "phoenix", "langfuse"})

Known = tuple[Path, str, Reader]


def recognised(sources: Iterable[Path | str], forced: str | None, options: ImportOptions) -> list[Known]:
    """Return each source with its format and reader. Raises DataError and ConfigError."""
    check_fields(options.columns)
    known = [(Path(source), *recognise(Path(source), forced, options.columns)) for source in sources]
    formats = {name for _, name, _ in known}
    if options.split is not None and "beir" not in formats:
        raise ConfigError("--split is for folders in BEIR's form, and none of the sources is one.")
    unnamed = (faq.read_faq_page, trec.read_qrels, trec.read_sgml)
    fixed = [name for _, name, reader in known if name in NO_COLUMNS or reader in unnamed]
    if options.columns and len(fixed) == len(known):
        raise ConfigError(
            f"--column is for tables and topics; the fields of {fixed[0]} are known. Leave it out."
        )
    return known


def read_set(known: Sequence[Known], options: ImportOptions) -> Iterator[Found]:
    """Yield the rows of all sources; of qrels only remarks, what they say stands in the questions.

    The grades of a question, if there are any, come right before it, and go before `document_ids` of its own.
    A question without an id gets one made from its text, the same as in an answer sheet without ids. A second
    row with an id is skipped. `lang` is found where a row does not say it.
    """
    qrels = [source for source in known if source[2] is trec.read_qrels]
    others = [source for source in known if source[2] is not trec.read_qrels]
    names = Counter(path.name for path, _, _ in known)

    def stream(part: Sequence[Known]) -> Iterator[Found]:
        for path, _, reader in part:
            name = path.name if names[path.name] == 1 else path.as_posix()
            yield from reader(Source(path, name), options)

    rows = _labelled(_identified(chain(stream(qrels), stream(others))))
    to_the_end = any(name not in TABLES for _, name, _ in known)
    return with_languages(_limited(rows, options.limit, to_the_end=to_the_end))


def _identified(rows: Iterable[Found]) -> Iterator[Found]:
    """Yield the rows, questions with an id; in place of a second row with an id a remark."""
    seen: set[int] = set()
    again: Counter[str] = Counter()
    for row in rows:
        if isinstance(row, Question) and not row.id:
            made = question_key(row.question)
            name = made
            while hash((Question, name)) in seen:
                again[made] += 1
                name = f"{made}-{again[made] + 1}"
            row = msgspec.structs.replace(row, id=name)
        if isinstance(row, Question | Document):
            key = hash((type(row), row.id))
            if key in seen:
                what = type(row).__name__.lower()
                yield skipped(f"{what} {row.id!r}", f"a {what} with its id came before")
                continue
            seen.add(key)
        yield row


def _labelled(rows: Iterable[Found]) -> Iterator[Found]:
    """Yield the rows, questions with the documents that are graded above 0, right after their grades."""
    grades: dict[str, dict[str, int]] = {}
    used: set[str] = set()
    for row in rows:
        if isinstance(row, Grades):
            grades.setdefault(row.question_id, {}).update(row.grades)
            continue
        if isinstance(row, Question) and row.id in grades:
            used.add(row.id)
            yield Grades(row.id, grades[row.id])
            relevant = [name for name, grade in grades[row.id].items() if grade > 0]
            row = msgspec.structs.replace(row, document_ids=relevant or None)
        yield row
    for name in grades:
        if name not in used:
            yield left_out(f"question {name!r}", "qrels grade it, but it is not among the questions")


def _limited(rows: Iterable[Found], limit: int | None, *, to_the_end: bool) -> Iterator[Found]:
    """Yield the rows without the questions beyond the first so many, and without what is said of those.

    to_the_end: documents may come after the questions; else reading ends with the last question.
    """
    n_questions = n_documents = 0
    for row in rows:
        n_questions += isinstance(row, Question)
        n_documents += isinstance(row, Document)
        # What is said of a question, its grades and remarks, comes before it.
        wanted = limit is None or n_questions + (not isinstance(row, Question)) <= limit
        if wanted or isinstance(row, Document):
            yield row
        elif not n_documents and not to_the_end:
            return


QUESTIONS, DOCUMENTS, QRELS = "questions.jsonl", "documents.jsonl", "qrels.txt"
SPACED = "an id with white space cannot be used in qrels.txt: its grade is left out"


class Imported(msgspec.Struct, frozen=True, kw_only=True):
    """Questions, the documents that their source holds, and what was met on the way.

    qrels: question id -> document id -> grade, where the source grades; as `qrels` of evaluate_rankings.
    """

    questions: list[Question]
    documents: list[Document]
    qrels: dict[str, dict[str, int]] | None
    summary: ImportSummary


@checks_arguments
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
    tally = ImportTally()
    for row in read_set(known, options):
        tally.take(row)
        if isinstance(row, Question):
            questions.append(row)
        elif isinstance(row, Document):
            documents.append(row)
    summary = tally.summary({str(path): name for path, name, _ in known})
    if drop_repeats:
        summary = _without_repeats(summary)
        gone = {row.id for row in summary.repeats}
        questions = [row for row in questions if row.id not in gone]
    ids = {row.id for row in questions}
    qrels = {name: grades for name, grades in tally.grades.items() if name in ids}
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
    tally = ImportTally()
    with _opened(folder, force) as write:
        for row in read_set(known, options):
            tally.take(row)
            write(row)
            if isinstance(row, Question):
                advance()
        summary = tally.summary({str(path): name for path, name, _ in known})
    if drop_repeats and summary.repeats:
        summary = _without_repeats(summary)
        gone = {repeat.id for repeat in summary.repeats}
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
    with explaining(f"{path}: could not be written"):
        with partial_path(path).open("w", encoding="utf-8", newline="\n") as file:
            for question, grades in whole.items():
                file.writelines(f"{question} 0 {document} {grade}\n" for document, grade in grades.items())
        partial_path(path).replace(path)
    if not places:
        return summary
    remark = Remarked(kind="changed", reason=SPACED, n=len(places), places=places[:5])
    return msgspec.structs.replace(summary, remarks=[*summary.remarks, remark])
