"""A Word file -> a document: paragraphs, headings, lists with their numbers, tables as rows, notes.

The number that Word shows before a paragraph of a list ("3.", "b)", "2.1.4") is not stored but counted here.
"""

import re
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

import msgspec

from ragstone.kernel.corpus.readers._outline import PAGE, OutlineBlock, lay_out, outline_notes
from ragstone.kernel.corpus.readers.text import first_line
from ragstone.kernel.files.digits import MOST_DIGITS, whole_number
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.files.office import REPEATED, OfficeFile, attribute, child, children, local, open_office
from ragstone.kernel.records import Document

_PLACE = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"))
_ROMANS = (*_ROMAN, (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_LONGEST = 1000  # Roman numbers and letters grow with the number


class ListLevel(msgspec.Struct, frozen=True):
    """How one level of a list is counted. text: a template such as "%1.%2"."""

    form: str
    text: str
    start: int


class WordList(msgspec.Struct, frozen=True):
    """The levels of a list; `counter` names the count that it shares with others of the same kind."""

    counter: str
    levels: dict[int, ListLevel]
    restarts: dict[int, int]


def lists_of(numbering: Element | None) -> dict[str, WordList]:
    """Return the lists that a numbering part defines, by number."""
    if numbering is None:
        return {}
    abstract = {
        attribute(element, "abstractNumId") or "": dict(_levels(element))
        for element in _all(numbering, "abstractNum")
    }
    lists = {}
    for number in _all(numbering, "num"):
        counter = attribute(child(number, "abstractNumId"), "val") or ""
        overrides = list(_all(number, "lvlOverride"))
        restarts = {
            _int(attribute(element, "ilvl")): _int(attribute(child(element, "startOverride"), "val"), 1)
            for element in overrides
            if child(element, "startOverride") is not None
        }
        levels = abstract.get(counter, {}) | {
            n: level for element in overrides for n, level in _levels(element)
        }
        lists[attribute(number, "numId") or ""] = WordList(counter, levels, restarts)
    return lists


def _levels(parent: Element) -> Iterator[tuple[int, ListLevel]]:
    for level in _all(parent, "lvl"):
        form = attribute(child(level, "numFmt"), "val") or "decimal"
        text = attribute(child(level, "lvlText"), "val") or ""
        yield (
            _int(attribute(level, "ilvl")),
            ListLevel(form, text, _int(attribute(child(level, "start"), "val"), 1)),
        )


class Counting:
    """The counts of a document's lists as they stand while it is read from the top."""

    def __init__(self, lists: dict[str, WordList]) -> None:
        self._lists = lists
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def label(self, number: str, depth: int) -> str:
        """Count a paragraph and return what Word shows before it; nothing for bullets and unknown lists."""
        word_list = self._lists.get(number)
        if word_list is None or depth not in word_list.levels:
            return ""
        counts = self._counts.setdefault(word_list.counter, {})
        if number not in self._begun:
            self._begun.add(number)
            counts.update({level: start - 1 for level, start in word_list.restarts.items()})
        level = word_list.levels[depth]
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]
        if level.form in ("bullet", "none"):
            return ""
        return _PLACE.sub(lambda match: _shown(word_list.levels, counts, int(match[1]) - 1), level.text)


def _shown(levels: dict[int, ListLevel], counts: dict[int, int], depth: int) -> str:
    level = levels.get(depth, ListLevel("decimal", "", 1))
    count = counts.get(depth, level.start)
    return FORMS.get(level.form, str)(count) if 0 < count < _LONGEST else str(count)


def _letters(count: int) -> str:
    return chr(ord("a") + (count - 1) % 26) * ((count - 1) // 26 + 1)


def _roman(count: int) -> str:
    written = ""
    for value, letters in _ROMANS:
        written += letters * (count // value)
        count %= value
    return written


FORMS: dict[str, Callable[[int], str]] = {
    "lowerLetter": _letters,
    "upperLetter": lambda count: _letters(count).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda count: _roman(count).upper(),
    "decimalZero": lambda count: f"{count:02}",
}


def _all(parent: Element, name: str) -> Iterator[Element]:
    return (element for element in parent if local(element) == name)


def _int(value: str | None, default: int = 0) -> int:
    try:
        return int(value) if value and len(value) <= MOST_DIGITS else default
    except ValueError:
        return default


# Deleted text, what is shown only to old programs, phonetic guides, properties.
DROPPED = frozenset({"del", "moveFrom", "Fallback", "rt", "pPr", "rPr", "tblPr", "trPr", "tcPr", "sdtPr"})
INSIDE = frozenset(
    {"sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag", "AlternateContent", "Choice"}
)
CHARACTERS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "lastRenderedPageBreak": PAGE}
NOTES = {"footnoteReference": "footnotes", "endnoteReference": "endnotes"}

_HEADING = re.compile(r"heading ([1-9])")
_CONTENTS = re.compile(r"toc [1-9]|table of figures|toc heading")  # they repeat the headings
_TITLE = "title"


class ParagraphStyle(msgspec.Struct, frozen=True):
    """What a paragraph style means: its built-in name, the level of a heading, its list and depth."""

    name: str = ""
    level: int = 0
    number: str | None = None
    depth: int = 0


class Word(msgspec.Struct, frozen=True):
    """What is known of a file while its body is read."""

    styles: dict[str, ParagraphStyle]
    default: ParagraphStyle
    counting: Counting
    notes: dict[str, dict[str, Element]]
    cited: list[tuple[str, Element]]


def read_docx(file: File) -> Iterator[Document]:
    """Yield the one document of a Word file, titled by its Title, its properties or its first heading.

    Headings are those of the styles and outline levels; numbered paragraphs begin with the number that Word
    shows; rows of tables are lines, cells separated by " | ", a cell that spans rows stands in each. Text
    boxes follow their paragraph, footnotes and endnotes the whole text. Left out: headers and footers,
    tables of contents, deleted text, comments. Pages are known where Word has stored where they begin.

    Raises Unreadable for a damaged, encrypted or old file.
    """
    with open_office(file, "word/document.xml") as opened:
        body = child(opened.parsed(opened.main), "body")
        if body is None:
            raise Unreadable("it is not a Word file: it has no body")
        word = _word(opened)
        blocks = [OutlineBlock(PAGE), *_blocks(body, word)]
        blocks += [
            OutlineBlock(f"{mark} {_inline_text(note, word)}", kind="note") for mark, note in word.cited
        ]
        title = opened.title()
    outline = lay_out(blocks)
    named = _styled_title(body, word)
    first = outline.headings[0]["title"] if outline.headings else first_line(outline.text)
    notes = outline_notes(outline)
    if len(outline.page_starts) < 2:  # one page, or a file whose pages nobody has laid out
        notes.pop("page_starts", None)
    yield Document(
        id=file.id,
        text=outline.text,
        title=named or title or first,
        source=file.source,
        metadata=notes or None,
    )


def _word(opened: OfficeFile) -> Word:
    styles, default = _styles(opened.related(opened.main, "styles"))
    notes = {}
    for kind in NOTES.values():
        part = opened.related(opened.main, kind)
        notes[kind] = {attribute(note, "id") or "": note for note in children(part)}
    counting = Counting(lists_of(opened.related(opened.main, "numbering")))
    return Word(styles, default, counting, notes, [])


def _styles(part: Element | None) -> tuple[dict[str, ParagraphStyle], ParagraphStyle]:
    """Return the paragraph styles by id, each with what it inherits, and the default one."""
    declared = {attribute(element, "styleId") or "": element for element in children(part)}
    styles: dict[str, ParagraphStyle] = {}

    def resolve(name: str, below: frozenset[str]) -> ParagraphStyle:
        if name in styles or name not in declared or name in below:
            return styles.get(name, ParagraphStyle())
        element = declared[name]
        base = resolve(attribute(child(element, "basedOn"), "val") or "", below | {name})
        called = (attribute(child(element, "name"), "val") or "").lower()
        heading = _HEADING.fullmatch(called)
        style = _with_properties(msgspec.structs.replace(base, name=called), child(element, "pPr"))
        level = int(heading[1]) if heading else 1 if called == _TITLE else style.level
        styles[name] = msgspec.structs.replace(style, level=level)
        return styles[name]

    for name in declared:
        resolve(name, frozenset())
    usual = (
        n
        for n, element in declared.items()
        if attribute(element, "default") == "1" and attribute(element, "type") == "paragraph"
    )
    return styles, styles.get(next(usual, ""), ParagraphStyle())


def _with_properties(style: ParagraphStyle, properties: Element | None) -> ParagraphStyle:
    """Return a style with what a paragraph or a further style says itself."""
    outline = attribute(child(properties, "outlineLvl"), "val")
    number = attribute(child(properties, "numPr", "numId"), "val")
    depth = attribute(child(properties, "numPr", "ilvl"), "val")
    if outline and outline.isdecimal():
        style = msgspec.structs.replace(style, level=(whole_number(outline) + 1) % 10)  # 9 means body text
    if number is not None:
        style = msgspec.structs.replace(style, number=number, depth=0)
    if depth and depth.isdecimal():
        style = msgspec.structs.replace(style, depth=whole_number(depth))
    return style


def _style_of(paragraph: Element, word: Word) -> ParagraphStyle:
    named = attribute(child(paragraph, "pPr", "pStyle"), "val")
    return _with_properties(word.styles.get(named or "", word.default), child(paragraph, "pPr"))


def _blocks(parent: Element, word: Word) -> Iterator[OutlineBlock]:
    for element in parent:
        name = local(element)
        if name == "p":
            yield from _paragraph(element, word)
        elif name == "tbl":
            yield from _table(element, word)
        elif name in INSIDE:
            yield from _blocks(element, word)


def _paragraph(paragraph: Element, word: Word) -> Iterator[OutlineBlock]:
    style = _style_of(paragraph, word)
    if _CONTENTS.fullmatch(style.name):
        return
    boxes: list[Element] = []
    text = "".join(_runs(paragraph, word, boxes))
    label = word.counting.label(style.number or "", style.depth) if text.replace(PAGE, "").strip() else ""
    kind = "" if style.level or not style.number or style.number == "0" else "list"
    yield OutlineBlock(f"{label} {text}" if label else text, level=style.level, kind=kind)
    for box in boxes:
        yield from _blocks(box, word)


def _runs(parent: Element, word: Word, boxes: list[Element]) -> Iterator[str]:
    """Yield the text in an element; text boxes are put aside."""
    for element in parent:
        name = local(element)
        if name == "t":
            yield element.text or ""
        elif name in CHARACTERS:
            yield "" if attribute(element, "type") == "page" else CHARACTERS[name]
        elif name in NOTES:
            yield _cite(element, word, NOTES[name])
        elif name == "txbxContent":
            boxes.append(element)
        elif name not in DROPPED and not _hidden(element):
            yield from _runs(element, word, boxes)


def _hidden(run: Element) -> bool:
    mark = child(run, "rPr", "vanish") if local(run) == "r" else None
    return mark is not None and attribute(mark, "val") not in ("0", "false")


def _cite(reference: Element, word: Word, kind: str) -> str:
    note = word.notes[kind].get(attribute(reference, "id") or "")
    if note is None:
        return ""
    mark = f"[{len(word.cited) + 1}]"
    word.cited.append((mark, note))
    return mark


def _table(table: Element, word: Word) -> Iterator[OutlineBlock]:
    """Yield the rows of a table; the blocks of its cells where it only lays out the page."""
    rows = [(row, list(_inner(row, "tc"))) for row in _inner(table, "tr")]
    paragraphs = (one for _, cells in rows for cell in cells for one in _inner(cell, "p"))
    is_layout = len(rows) == 1 and len(rows[0][1]) == 1
    if is_layout or any(_style_of(one, word).level for one in paragraphs):
        for _, cells in rows:
            for cell in cells:
                yield from _blocks(cell, word)
        return
    above: dict[int, str] = {}  # column -> text of a cell that may go on in the next row
    for row, cells in rows:
        texts: list[str] = []
        column = _count(child(row, "trPr", "gridBefore"), 0)
        for cell in cells:
            merge = child(cell, "tcPr", "vMerge")
            goes_on = merge is not None and attribute(merge, "val") != "restart"
            text = above.get(column, "") if goes_on else _inline_text(cell, word)
            above[column] = text if len(text) <= REPEATED else ""
            texts.append(text)
            column += _count(child(cell, "tcPr", "gridSpan"), 1)
        if any(text.replace(PAGE, "").strip() for text in texts):
            yield OutlineBlock(" | ".join(texts), kind=f"row {id(table)}")


def _count(element: Element | None, default: int) -> int:
    return whole_number(attribute(element, "val"), default)


def _inner(parent: Element, name: str) -> Iterator[Element]:
    """Yield the children of a name, also those that a content control holds."""
    for element in parent:
        if local(element) == name:
            yield element
        elif local(element) in INSIDE:
            yield from _inner(element, name)


def _inline_text(parent: Element, word: Word) -> str:
    """Return everything in an element on one line."""
    return " ".join(" ".join(block.text for block in _blocks(parent, word)).split())


def _styled_title(body: Element, word: Word) -> str | None:
    for paragraph in _inner(body, "p"):
        if _style_of(paragraph, word).name == _TITLE:
            text = " ".join("".join(_runs(paragraph, word, [])).replace(PAGE, "").split())
            if text:
                return text
    return None
