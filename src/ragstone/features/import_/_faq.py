"""Pages and tables of frequent questions -> questions with their answers, and the page as documents."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from ragstone.features.import_._rows import (
    Found,
    ImportOptions,
    RowQuestion,
    Source,
    are_understood,
    changed,
    left_out,
    skipped,
)
from ragstone.features.import_._sheets import first_row, line_of, read_text
from ragstone.features.import_._tables import asked_rows
from ragstone.kernel.corpus.headings import SectionHeading, document_headings
from ragstone.kernel.corpus.reading import READERS
from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.records import Document, Evidence, Question, references

ASKS = re.compile(r"(?<!\W)(?=\W*+\Z)\W*?[?？؟;⸮]|՞")
NOT_ASKED = "the heading is not a question: the text under it is left out"
BEFORE = "it comes before the first question: left out"

# The letters and words that lines begin with, a question's and its answer's.
LABELS = (
    *(("Q", "A"), ("Question", "Answer"), ("F", "A"), ("Frage", "Antwort"), ("P", "R"), ("Q", "R")),
    *(("Pregunta", "Respuesta"), ("Pergunta", "Resposta"), ("Question", "Réponse"), ("Domanda", "Risposta")),
    *(("В", "О"), ("Вопрос", "Ответ"), ("问", "答"), ("問", "答"), ("प्रश्न", "उत्तर"), ("س", "ج")),
)
# A full stop ends capital letters alone: "a. ..." is an item of a list.
_LABEL = (
    r"^[ \t]*+(?:[-*+>#]++[ \t]++)?+(?:\*\*|__)?+(?P<label>{}|{})[ \t]*+\d*+[ \t]*+(?:\*\*|__)?+"
    r"(?:[:：]|(?-i:(?<=[QA])\.))[ \t]*+(?:\*\*|__)?+"
)
_BOLD = re.compile(r"^[ \t]*+(?:\*\*|__)(?P<text>[^*_\n]+?[?？؟])\W{0,20}?(?:\*\*|__)[ \t]*+$", re.MULTILINE)

_UNDERLINE = re.compile(r" {0,3}+(=++|-++)[ \t]*+$", re.MULTILINE)


class FaqEntry(msgspec.Struct, frozen=True):
    """A question, its answer (blank where there is none), the headings above it, and its line."""

    question: str
    answer: str
    section: str
    line: int


class Unasked(msgspec.Struct, frozen=True):
    """Text that answers no question, its line, and why."""

    line: int
    reason: str


def entries_of(page: Document) -> Iterator[FaqEntry | Unasked]:
    """Yield the questions of a page in order: of labelled lines ("Q:", "A:"), else of headings.

    A heading is a question if it ends in a question mark; a line in bold type that ends in one is such a
    heading too. An answer goes up to the next heading of the same level or above, or the next question; so
    headings below it are part of it.
    """
    text = page.text.replace("\r\n", "\n")
    for question, answer in LABELS:
        entries = list(_labelled(text, question, answer))
        if entries:
            yield from entries
            return
    page = msgspec.structs.replace(page, text=text)
    # Lines in bold type that ask are headings below all others.
    bold = [SectionHeading(line.start(), 7, line["text"].strip()) for line in _BOLD.finditer(text)]
    headings = sorted([*document_headings(page), *bold], key=lambda heading: heading.start)
    yield from _under_headings(text, headings)


def _labelled(text: str, question: str, answer: str) -> Iterator[FaqEntry | Unasked]:
    pattern = _LABEL.format(question, answer)
    marks = list(re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE))
    labels = [mark["label"].casefold() for mark in marks]
    if question.casefold() not in labels or answer.casefold() not in labels:
        return
    if text[: marks[0].start()].strip():
        yield Unasked(1, BEFORE)
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    pieces = [text[mark.end() : end].strip() for mark, end in zip(marks, ends, strict=True)]
    # A label in bold type may end with it: **Q:** Who?**
    pieces = [
        piece[:-2].rstrip() if piece.endswith("**") and piece.count("**") == 1 else piece for piece in pieces
    ]
    current: tuple[str, int] | None = None
    answers: list[str] = []
    for mark, label, piece in zip(marks, labels, pieces, strict=True):
        if label == answer.casefold() and current:
            answers.append(piece)
            continue
        if current:
            yield FaqEntry(current[0], "\n\n".join(answers), "", current[1])
        current, answers = (" ".join(piece.split()), line_of(text, mark.start())), []
    if current:
        yield FaqEntry(current[0], "\n\n".join(answers), "", current[1])


def _under_headings(text: str, headings: Sequence[SectionHeading]) -> Iterator[FaqEntry | Unasked]:
    starts = [heading.start for heading in headings]
    if text[: starts[0] if starts else len(text)].strip():
        yield Unasked(1, BEFORE)
    above: list[SectionHeading] = []
    question: SectionHeading | None = None
    begin = 0
    for heading, (start, end) in zip(headings, pairwise([*starts, len(text)]), strict=True):
        asks = bool(ASKS.search(heading.title))
        if question and not asks and heading.level > question.level:
            continue  # a part of the answer
        if question:
            yield _entry(text, question, begin, start, above)
        above = [*(other for other in above if other.level < heading.level)]
        question, begin = (heading, _after_line(text, heading)) if asks else (None, 0)
        if not asks:
            above.append(heading)
            if text[_after_line(text, heading) : end].strip():
                yield Unasked(line_of(text, start), NOT_ASKED)
    if question:
        yield _entry(text, question, begin, len(text), above)


def _entry(
    text: str, question: SectionHeading, begin: int, end: int, above: Sequence[SectionHeading]
) -> FaqEntry:
    section = " > ".join(heading.title for heading in above if heading.title)
    return FaqEntry(question.title, text[begin:end].strip(), section, line_of(text, question.start))


def _after_line(text: str, heading: SectionHeading) -> int:
    """Return where the text under a heading begins: after its line, and after one that underlines it."""
    end = text.find("\n", heading.start)
    if end < 0:
        return len(text)
    underlined = not text.startswith("#", heading.start) and _UNDERLINE.match(text, end + 1)
    return underlined.end() if underlined else end + 1


NO_ANSWER = "it has no answer (name its column with --column reference=COLUMN)"
EMPTY_ANSWER = "its answer is empty"
EMPTY = "a question has no answer under it"
PLAIN = frozenset({"", ".txt", ".text", ".rst"})


def read_faq_table(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield for each row of a table a document (title: the question, text: the answer) and the question.

    Both have the row's id, else the name of the file and the number of the row. The evidence is the whole
    answer. Where a row has several answers, they are paragraphs of the document.
    """
    number = 0
    is_known = True if "reference" in options.columns else None  # whether a column is read as the answer
    for location, row in asked_rows(source, options, {}):
        number += 1
        if not isinstance(row, RowQuestion):
            yield row
            continue
        answers = references(row.question)
        if not answers:
            if is_known is None:
                is_known = are_understood(first_row(source.path, options.columns), "reference")
            yield skipped(location, EMPTY_ANSWER if is_known else NO_ANSWER)
            continue
        is_known = True  # a row with an answer shows that its column is understood
        for misfit in row.misfits:
            yield changed(location, misfit)
        text = "\n\n".join(answers)
        yield from _document_and_question(
            row.question, row.question.id or f"{source.name}#{number}", text, source
        )


def read_faq_page(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield the same of a page: of headings that are questions, or of lines "Q: ..." and "A: ...".

    The headings above a question are its tag `section`. Text that answers no question is left out and told.
    """
    page = _page(source)
    n_entries = 0
    for number, entry in enumerate(entries_of(page), 1):
        location = f"{source.path}:{entry.line}"
        if not isinstance(entry, FaqEntry):
            yield left_out(location, entry.reason)
        elif not entry.answer:
            yield skipped(location, EMPTY)
        else:
            n_entries += 1
            tags = {"section": entry.section} if entry.section else None
            question = Question(id="", question=entry.question, reference=entry.answer, tags=tags)
            yield from _document_and_question(question, f"{source.name}#{number}", entry.answer, source)
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
    with explaining(f"{source.path}: cannot be read", "", OSError, Unreadable):
        page = next(iter(READERS[ending](File(path=source.path, id=source.name))))
    if not isinstance(page, Document):
        raise DataError(
            f"{source.path}: it is a table, not a page. Leave --format out, or give --format faq."
        )
    return page


def _document_and_question(question: Question, name: str, text: str, source: Source) -> Iterator[Found]:
    yield Document(
        id=name,
        text=text,
        title=question.question,
        lang=question.lang,
        source=source.path.as_posix(),
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
