"""TREC's files: topics, qrels and documents, each told by what it looks like."""

import html
import re
from collections.abc import Iterator, Mapping

from ragstone.dataset.importing.found import Found, Grades, ImportOptions, Source, changed, skipped
from ragstone.dataset.importing.mapping import Cells, asked, check_columns
from ragstone.dataset.importing.qrels import read_graded
from ragstone.dataset.importing.text import open_text, read_text
from ragstone.errors import DataError
from ragstone.records import Document

_ANY_CASE = re.DOTALL | re.IGNORECASE
_NUMBER = r"""\s[^>]*?number\s*=\s*["'](?P<number>[^"']*)["'][^>]*"""
_TOPIC = re.compile(rf"<top(?:ic)?(?:{_NUMBER})?>(?P<body>.*?)</top(?:ic)?>", _ANY_CASE)
_NAMES = "num|title|desc|narr|query|question|narrative|description"
_FIELD = re.compile(rf"<(?P<name>{_NAMES})>(?P<text>.*?)(?=<(?:{_NAMES})>|\Z)", _ANY_CASE)
_LABEL = re.compile(r"\A\s*(?:Number|Topic|Description|Narrative)\s*:\s*", re.IGNORECASE)
_TAG = re.compile(r"<[^>]+>")
_DOCNO = re.compile(r"<DOCNO>(.*?)</DOCNO>", _ANY_CASE)
_TITLE = re.compile(r"<(TITLE|HEADLINE|HEAD|TI|HL)>(.*?)</\1>", _ANY_CASE)
_TEXT = re.compile(r"<TEXT>(.*?)</TEXT>", _ANY_CASE)
QUESTION = ("title", "query", "question", "desc", "description")  # what asks, the first that says something


def read_topics(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield topics as questions: the title asks, or what --column question=desc says; the rest is metadata.

    A topic of TREC's later years (`<topic number="1"><query>`) asks with its query. Raises DataError for a
    field that no topic has.
    """
    text = read_text(source.path)
    topics = [_topic(found) for found in _TOPIC.finditer(text)]
    check_columns(options.columns, dict.fromkeys(name for topic in topics for name in topic), source.path)
    lines = [text.count("\n", 0, found.start()) + 1 for found in _TOPIC.finditer(text)]
    for line, topic in zip(lines, topics, strict=True):
        place = f"{source.path}:{line}"
        asks = next((name for name in QUESTION if topic.get(name)), "title")
        usual = {"id": "num", "question": asks}
        columns = {**{field: name for field, name in usual.items() if name in topic}, **options.columns}
        yield from _question(topic, columns, place)
    if text.lower().count("<top") > len(topics) + text.lower().count("<topics"):
        yield skipped(str(source.path), "a topic has no end: close it with </top>")


def _topic(found: re.Match[str]) -> Cells:
    topic = {"num": found["number"].strip()} if found["number"] else {}
    for field in _FIELD.finditer(found["body"]):
        words = " ".join(_plain(_LABEL.sub("", field["text"])).split())
        if words:
            topic.setdefault(field["name"].lower(), words)
    return dict(topic)


def read_pairs(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield lines `id<TAB>question` as questions."""
    with open_text(source.path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            name, tab, text = line.strip().partition("\t")
            place = f"{source.path}:{number}"
            if number == 1:
                check_columns(options.columns, ("id", "question"), source.path)
            if tab:
                yield from _question({"id": name.strip(), "question": text.strip()}, options.columns, place)
            else:
                yield skipped(place, "it is no `id<TAB>question`")


def _question(row: Cells, columns: Mapping[str, str], place: str) -> Iterator[Found]:
    try:
        made = asked(row, columns)
    except ValueError as mistake:
        yield skipped(place, str(mistake))
        return
    for misfit in made.misfits:
        yield changed(place, misfit)
    yield made.question


def read_qrels(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield what a file of qrels says of each question."""
    for question_id, grades in read_graded(source.path).items():
        yield Grades(question_id, grades)


def read_sgml(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield the documents of a file of TREC's `<DOC>`s: `DOCNO` is the id, the headline the title."""
    lines: list[str] = []
    began = 0
    with open_text(source.path) as file:
        for number, line in enumerate(file, 1):
            if line.lstrip()[:5].upper() == "<DOC>":
                lines, began = [], number
            lines.append(line)
            if line.rstrip()[-6:].upper() == "</DOC>":
                yield _document("".join(lines), source, f"{source.path}:{began}")
                lines, began = [], 0
    if began:
        raise DataError(f"{source.path}:{began}: this document has no end. Close it with </DOC>.")


def _document(block: str, source: Source, place: str) -> Found:
    name = _DOCNO.search(block)
    title = _TITLE.search(block)
    parts = _TEXT.findall(block)
    if not name or not name[1].strip():
        return skipped(place, "a document has no DOCNO")
    if not parts:
        parts = [re.sub(r"</?DOC>", "", _TITLE.sub("", _DOCNO.sub("", block)), flags=re.IGNORECASE)]
    text = "\n\n".join(_plain(part).strip() for part in parts)
    shown = " ".join(_plain(title[2]).split()) if title else ""
    return Document(id=name[1].strip(), text=text, title=shown or None, source=str(source.path))


def _plain(marked: str) -> str:
    """Return text without tags and entities."""
    return html.unescape(_TAG.sub(" ", marked)).replace("\r\n", "\n")
