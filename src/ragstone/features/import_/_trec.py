"""TREC's files: topics, qrels and documents, each told by what it looks like."""

import html
import re
from collections.abc import Iterator

from ragstone.features.import_._rows import (
    Cells,
    Found,
    Grades,
    ImportOptions,
    Source,
    check_columns,
    found_in,
    skipped,
)
from ragstone.features.import_._sheets import line_of, open_text, read_text
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Document
from ragstone.kernel.retrieval import qrels

_ANY_CASE = re.DOTALL | re.IGNORECASE
_NUMBER = r"""\s[^<>]{0,200}?number\s*+=\s*+["'](?P<number>[^"'<>]{0,200}+)["'][^<>]{0,200}+"""
_TOPIC = re.compile(rf"<top(?:ic)?(?:{_NUMBER})?>|</top(?:ic)?>", _ANY_CASE)
_NAMES = "num|title|desc|narr|query|question|narrative|description"
_FIELD = re.compile(rf"<(?P<name>{_NAMES})>(?P<text>.*?)(?=<(?:{_NAMES})>|\Z)", _ANY_CASE)
_LABEL = re.compile(r"\A\s*(?:Number|Topic|Description|Narrative)\s*:\s*", re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][\w.:-]*+(?:[\s/][^<>]*+)?>|<[!?][^<>]++>")
_NO_CHARACTER = re.compile(r"&#\d{8,}+;?")
_DOCNO = re.compile(r"</?DOCNO>", re.IGNORECASE)
_TITLE = re.compile(r"</?(?:TITLE|HEADLINE|HEAD|TI|HL)>", re.IGNORECASE)
_TEXT = re.compile(r"</?TEXT>", re.IGNORECASE)
QUESTION = ("title", "query", "question", "desc", "description")  # what asks, the first that says something


def read_topics(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield topics as questions: the title asks, or what --column question=desc says; the rest is metadata.

    A topic of TREC's later years (`<topic number="1"><query>`) asks with its query. Raises DataError for a
    field that no topic has.
    """
    text = read_text(source.path)
    elements = _elements(_TOPIC, text)
    topics = [_topic(opened["number"], text[opened.end() : closed.start()]) for opened, closed in elements]
    check_columns(options.columns, dict.fromkeys(name for topic in topics for name in topic), source.path)
    lines = [line_of(text, opened.start()) for opened, _ in elements]
    for line, topic in zip(lines, topics, strict=True):
        location = f"{source.path}:{line}"
        asks = next((name for name in QUESTION if topic.get(name)), "title")
        usual = {"id": "num", "question": asks}
        columns = {**{field: name for field, name in usual.items() if name in topic}, **options.columns}
        yield from found_in(topic, columns, location)
    if text.lower().count("<top") > len(topics) + text.lower().count("<topics"):
        yield skipped(str(source.path), "a topic has no end: close it with </top>")


def _elements(tag: re.Pattern[str], text: str) -> list[tuple[re.Match[str], re.Match[str]]]:
    """Return the tags that open and close each element, in order; what is open and not closed is none."""
    elements: list[tuple[re.Match[str], re.Match[str]]] = []
    opened: re.Match[str] | None = None
    for match in tag.finditer(text):
        if match[0].startswith("</"):
            elements += [(opened, match)] if opened else []
            opened = None
        else:
            opened = opened or match
    return elements


def _topic(number: str | None, body: str) -> Cells:
    topic = {"num": number.strip()} if number else {}
    for field in _FIELD.finditer(body):
        text = " ".join(_plain(_LABEL.sub("", field["text"])).split())
        if text:
            topic.setdefault(field["name"].lower(), text)
    return dict(topic)


def read_pairs(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield lines `id<TAB>question` as questions."""
    with open_text(source.path) as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            name, tab, text = line.strip().partition("\t")
            location = f"{source.path}:{number}"
            if number == 1:
                check_columns(options.columns, ("id", "question"), source.path)
            if tab:
                yield from found_in({"id": name.strip(), "question": text.strip()}, options.columns, location)
            else:
                yield skipped(location, "it is not `id<TAB>question`")


def read_qrels(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield what a file of qrels says of each question."""
    for question_id, grades in qrels.read_qrels(source.path).items():
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


def _document(block: str, source: Source, location: str) -> Found:
    name, *_ = [*_insides(_DOCNO, block), ""]
    title, *_ = [*_insides(_TITLE, block), ""]
    parts = _insides(_TEXT, block)
    if not name.strip():
        return skipped(location, "a document has no DOCNO")
    if not parts:
        parts = [re.sub(r"</?DOC>", "", _without(_TITLE, _without(_DOCNO, block)), flags=re.IGNORECASE)]
    text = "\n\n".join(_plain(part).strip() for part in parts)
    heading = " ".join(_plain(title).split())
    return Document(id=name.strip(), text=text, title=heading or None, source=source.path.as_posix())


def _insides(tag: re.Pattern[str], text: str) -> list[str]:
    return [text[opened.end() : closed.start()] for opened, closed in _elements(tag, text)]


def _without(tag: re.Pattern[str], text: str) -> str:
    pieces, last = [], 0
    for opened, closed in _elements(tag, text):
        pieces.append(text[last : opened.start()])
        last = closed.end()
    return "".join([*pieces, text[last:]])


def _plain(marked: str) -> str:
    """Return text without tags and entities."""
    bare = _NO_CHARACTER.sub("\ufffd", _TAG.sub(" ", marked))
    return html.unescape(bare).replace("\r\n", "\n")
