"""Frequently asked questions: each is a document, and a question that this document answers."""

from collections.abc import Iterator

import msgspec

from ragstone.corpus.file import File, Unreadable
from ragstone.corpus.reading import READERS
from ragstone.dataset.importing.faq_page import Entry, entries_of
from ragstone.dataset.importing.found import Found, ImportOptions, Source, changed, left_out, skipped
from ragstone.dataset.importing.mapping import Asked
from ragstone.dataset.importing.tables import asked_rows
from ragstone.dataset.importing.text import read_text
from ragstone.errors import DataError
from ragstone.records import Document, Evidence, Question, references

NO_ANSWER = "it has no answer (name its column with --column reference=COLUMN)"
EMPTY = "a question has no answer under it"
PLAIN = frozenset({"", ".txt", ".text", ".rst"})


def read_faq_table(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield for each row of a table a document (title: the question, text: the answer) and the question.

    Both have the row's id, else the name of the file and the number of the row. The evidence is the whole
    answer. Where a row has several answers, they are paragraphs of the document.
    """
    number = 0
    for place, row in asked_rows(source, options, {}):
        number += 1
        if not isinstance(row, Asked):
            yield row
            continue
        answers = references(row.question)
        if not answers:
            yield skipped(place, NO_ANSWER)
            continue
        for misfit in row.misfits:
            yield changed(place, misfit)
        text = "\n\n".join(answers)
        yield from _entry(row.question, row.question.id or f"{source.name}#{number}", text, source)


def read_faq_page(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield the same of a page: of headings that are questions, or of lines "Q: ..." and "A: ...".

    The headings above a question are its tag `section`. Text that answers no question is left out and told.
    """
    page = _page(source)
    n_entries = 0
    for number, entry in enumerate(entries_of(page), 1):
        place = f"{source.path}:{entry.line}"
        if not isinstance(entry, Entry):
            yield left_out(place, entry.reason)
        elif not entry.answer:
            yield skipped(place, EMPTY)
        else:
            n_entries += 1
            tags = {"section": entry.section} if entry.section else None
            question = Question(id="", question=entry.question, reference=entry.answer, tags=tags)
            yield from _entry(question, f"{source.name}#{number}", entry.answer, source)
    if not n_entries:
        raise DataError(
            f"{source.path}: no question with an answer. Headings that end in a question mark are questions, "
            'and so are lines that begin with "Q:", each followed by its answer.'
        )


def _page(source: Source) -> Document:
    """Return a page as `ragstone ingest` reads it."""
    ending = source.path.suffix.lower()
    if ending in PLAIN or ending not in READERS:
        return Document(id=source.name, text=read_text(source.path))
    try:
        found = next(iter(READERS[ending](File(path=source.path, id=source.name))))
    except (OSError, Unreadable) as mistake:
        raise DataError(f"{source.path}: cannot be read ({mistake}).") from None
    if not isinstance(found, Document):
        raise DataError(
            f"{source.path}: it is a table, not a page. Leave --format out, or give --format faq."
        )
    return found


def _entry(question: Question, name: str, text: str, source: Source) -> Iterator[Found]:
    yield Document(
        id=name,
        text=text,
        title=question.question,
        lang=question.lang,
        source=str(source.path),
        metadata=question.metadata,
    )
    yield msgspec.structs.replace(
        question,
        id=name,
        document_ids=[name],
        evidence=[Evidence(document_id=name, start=0, end=len(text))],
        answerable=True,
        metadata=None,
    )
