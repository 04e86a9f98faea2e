"""The text of a page of frequently asked questions -> its questions and answers."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import msgspec

from ragstone.corpus.headings import Heading, document_headings
from ragstone.dataset.importing.text import line_of
from ragstone.records import Document

ASKS = re.compile(r"(?<!\W)(?=\W*+\Z)\W*?[?？؟;⸮]|՞")
NOT_ASKED = "its heading is no question: the text under it is left out"
BEFORE = "it stands before the first question: left out"

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


class Entry(msgspec.Struct, frozen=True):
    """A question, its answer (blank where there is none), the headings above it, and its line."""

    question: str
    answer: str
    section: str
    line: int


class Unasked(msgspec.Struct, frozen=True):
    """Text that answers no question, its line, and why."""

    line: int
    reason: str


def entries_of(page: Document) -> Iterator[Entry | Unasked]:
    """Yield the questions of a page in order: of labelled lines ("Q:", "A:"), else of headings.

    A heading is a question if it ends in a question mark; a line in bold type that ends in one is such a
    heading too. An answer goes up to the next heading of the same level or above, or the next question; so
    headings below it are part of it.
    """
    text = page.text.replace("\r\n", "\n")
    for question, answer in LABELS:
        found = list(_labelled(text, question, answer))
        if found:
            yield from found
            return
    yield from _under_headings(text, _headings(msgspec.structs.replace(page, text=text)))


def _labelled(text: str, question: str, answer: str) -> Iterator[Entry | Unasked]:
    pattern = _LABEL.format(question, answer)
    marks = list(re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE))
    labels = [mark["label"].casefold() for mark in marks]
    if question.casefold() not in labels or answer.casefold() not in labels:
        return
    if text[: marks[0].start()].strip():
        yield Unasked(1, BEFORE)
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    pieces = [_bare(text[mark.end() : end]) for mark, end in zip(marks, ends, strict=True)]
    asked: tuple[str, int] | None = None
    answers: list[str] = []
    for mark, label, piece in zip(marks, labels, pieces, strict=True):
        if label == answer.casefold() and asked:
            answers.append(piece)
            continue
        if asked:
            yield Entry(asked[0], "\n\n".join(answers), "", asked[1])
        asked, answers = (" ".join(piece.split()), line_of(text, mark.start())), []
    if asked:
        yield Entry(asked[0], "\n\n".join(answers), "", asked[1])


def _bare(piece: str) -> str:
    """Return the text after a label without the bold type that may end with it."""
    piece = piece.strip()
    return piece[:-2].rstrip() if piece.endswith("**") and piece.count("**") == 1 else piece


def _headings(page: Document) -> list[Heading]:
    """Return the headings of a page, lines in bold type that ask among them, below all others."""
    headings = document_headings(page)
    bold = [Heading(found.start(), 7, found["text"].strip()) for found in _BOLD.finditer(page.text)]
    return sorted([*headings, *bold], key=lambda heading: heading.start)


def _under_headings(text: str, headings: Sequence[Heading]) -> Iterator[Entry | Unasked]:
    starts = [heading.start for heading in headings]
    if text[: starts[0] if starts else len(text)].strip():
        yield Unasked(1, BEFORE)
    above: list[Heading] = []
    asked: Heading | None = None
    begin = 0
    for heading, (start, end) in zip(headings, pairwise([*starts, len(text)]), strict=True):
        asks = bool(ASKS.search(heading.title))
        if asked and not asks and heading.level > asked.level:
            continue  # a part of the answer
        if asked:
            yield _entry(text, asked, begin, start, above)
        above = [*(one for one in above if one.level < heading.level)]
        asked, begin = (heading, _after_line(text, heading)) if asks else (None, 0)
        if not asks:
            above.append(heading)
            if text[_after_line(text, heading) : end].strip():
                yield Unasked(line_of(text, start), NOT_ASKED)
    if asked:
        yield _entry(text, asked, begin, len(text), above)


def _entry(text: str, asked: Heading, begin: int, end: int, above: Sequence[Heading]) -> Entry:
    section = " > ".join(one.title for one in above if one.title)
    return Entry(asked.title, text[begin:end].strip(), section, line_of(text, asked.start))


def _after_line(text: str, heading: Heading) -> int:
    """Return where the text under a heading begins: after its line, and after one that underlines it."""
    end = text.find("\n", heading.start)
    if end < 0:
        return len(text)
    underlined = not text.startswith("#", heading.start) and _UNDERLINE.match(text, end + 1)
    return underlined.end() if underlined else end + 1
