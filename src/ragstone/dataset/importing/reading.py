"""Sources -> their rows in one stream: labelled, with ids and languages, each id once."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

import msgspec

from ragstone.dataset.importing import faq, trec
from ragstone.dataset.importing.found import (
    Found,
    Grades,
    ImportOptions,
    Reader,
    Source,
    left_out,
    skipped,
)
from ragstone.dataset.importing.language import with_languages
from ragstone.dataset.importing.mapping import check_fields
from ragstone.dataset.importing.recognise import recognise
from ragstone.errors import ConfigError
from ragstone.records import Document, Question
from ragstone.tables.reading import question_key

NO_COLUMNS = frozenset({"squad", "hotpotqa", "beir", "documents"})
TABLES = frozenset({"table", "ragas", "deepeval", "phoenix", "langfuse"})

Known = tuple[Path, str, Reader]


def recognised(sources: Iterable[Path | str], forced: str | None, options: ImportOptions) -> list[Known]:
    """Return each source with its format and reader. Raises DataError and ConfigError."""
    check_fields(options.columns)
    known = [(Path(source), *recognise(Path(source), forced)) for source in sources]
    formats = {name for _, name, _ in known}
    if options.split is not None and "beir" not in formats:
        raise ConfigError("--split is for folders of BEIR's form, and there is none among the sources.")
    unnamed = (faq.read_faq_page, trec.read_qrels, trec.read_sgml)
    fixed = [name for _, name, reader in known if name in NO_COLUMNS or reader in unnamed]
    if options.columns and len(fixed) == len(known):
        raise ConfigError(
            f"--column is for tables and topics; of the form {fixed[0]} the fields are known. Leave it out."
        )
    return known


def read_set(known: Sequence[Known], options: ImportOptions) -> Iterator[Found]:
    """Yield the rows of all sources; of qrels only remarks, what they say stands in the questions.

    The grades of a question, if there are any, come right before it, and go before `document_ids` of its own.
    A question without an id gets one made from its text, the same as in an answer sheet without ids. A second
    row with an id is skipped. `lang` is found where a row does not say it.
    """
    qrels = [one for one in known if one[2] is trec.read_qrels]
    others = [one for one in known if one[2] is not trec.read_qrels]
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
            yield left_out(f"question {name!r}", "qrels grade it, and it is not among the questions")


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
