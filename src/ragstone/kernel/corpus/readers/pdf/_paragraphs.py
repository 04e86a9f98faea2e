"""The rows of a column -> its blocks: paragraphs of one line, lists and tables of several."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from statistics import median

import msgspec

from ragstone.kernel.corpus.readers.pdf._rows import PdfRow
from ragstone.kernel.corpus.readers.pdf._runs import BOLD

HYPHENS = "-\u2010\u00ad\ufffe"  # PDFium writes U+FFFE for a hyphen at the end of a line

# Not the first half of a word, which a hyphen follows.
_WORD = re.compile(
    r"(?<![^\W\d_])(?<![^\W\d_][-\u2010\ufffe])[^\W\d_]++(?:[-\u2010\ufffe][^\W\d_]++)*+(?![-\u2010\ufffe])"
)
_LAST = re.compile(r"(?<![^\W_])(?<![^\W_][-\u2010])[^\W_]++(?:[-\u2010][^\W_]++)*+$")
_FIRST = re.compile(r"[^\W_]+")
_OPEN_ADDRESS = re.compile(r"(?:(?:https?://|www\.)\S*[/.?=&_%#-]|\S@)$")
# Scripts that put no space between words: Thai to Khmer, kana, Han, and full-width forms.
_UNSPACED = "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]"
_LETTER_UNSPACED = re.compile(_UNSPACED)
_FIRST_UNSPACED = "\u0e00"
_ADDRESS_ENDS = "/.?=&_%#-@"
_BINDS = "\u2013\u2014/"
_LONG = 300  # characters that are looked at; longer addresses are not


class DocumentWords:
    """The words of a document, to tell a hyphen of a word from one of a line's end. Built at first use."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts: Iterable[str] | None = texts
        self._words: set[str] = set()

    def __contains__(self, word: str) -> bool:
        if self._texts is not None:
            pieces: set[str] = set()  # most words come again and again, and are taken apart once
            for text in self._texts:
                whole = text.replace("-\r\n", "\ufffe").replace("\u2010\r\n", "\ufffe").lower()
                pieces.update(whole.split())
            self._words.update(filter(str.isalpha, pieces))
            self._words.update(_WORD.findall(" ".join(pieces - self._words)))
            self._texts = None
        return word in self._words


def join(before: str, after: str, words: DocumentWords) -> str:
    """Return two pieces of a paragraph as one."""
    if before[-1] in HYPHENS:
        return _joined_at_hyphen(before, after, words)
    if after[0] >= _FIRST_UNSPACED and _LETTER_UNSPACED.match(after) and _LETTER_UNSPACED.match(before[-1]):
        return before + after
    bound = _ends_bound(before) and after[0].isalnum()
    return before + after if bound or _ends_in_address(before) else f"{before} {after}"


def ends_open(text: str) -> bool:
    """Return whether a text breaks off within a word, a number or an address."""
    return text[-1] in HYPHENS or _ends_bound(text) or _ends_in_address(text)


def _ends_bound(text: str) -> bool:
    return text[-1] in _BINDS and text[-2:-1].isalnum()


def _ends_in_address(text: str) -> bool:
    return text[-1] in _ADDRESS_ENDS and bool(_OPEN_ADDRESS.search(text[-_LONG:]))


def _joined_at_hyphen(before: str, after: str, words: DocumentWords) -> str:
    stem, first = before[:-1], _FIRST.match(after)
    last = _LAST.search(stem[-_LONG:])
    if before[-1] == "\u00ad":
        return stem + after
    if _ends_in_address(f"{stem[-_LONG:]}-"):
        return f"{stem}-{after}"
    if last is None or first is None:
        return f"{stem}- {after}"
    return f"{stem}-{after}" if _is_compound(last[0], first[0], words) else stem + after


def _is_compound(left: str, right: str, words: DocumentWords) -> bool:
    """Return whether the hyphen belongs to the word.

    It does before a capital or a figure (Anglo-Saxon, COVID-19), in a word that the document has with a
    hyphen and not without, and between two words of the document that it never has as one (two-column).
    """
    if not (right[0].islower() or (left.isupper() and right.isupper())) or any(
        map(str.isdigit, left + right)
    ):
        return right[0].isupper() or right[0].isdigit() or left[-1].isdigit()
    left, right = left.lower(), right.lower()
    tail = re.split("[-\u2010]", left)[-1]
    if tail + right in words or left + right in words:
        return False
    if f"{left}-{right}" in words or f"{tail}-{right}" in words:
        return True
    return len(tail) > 2 and len(right) > 3 and tail in words and right in words


BETWEEN_CELLS = " | "
BETWEEN_BLOCKS = "\n\n"
PITCH = 1.2  # ems between baselines where a column has too few lines to tell
LOOSE_PITCH = 1.6
MANY_LINES = 6
PARAGRAPH_GAP = 1.25  # of the pitch; lines further apart belong to different paragraphs
TABLE_GAP = 2.5  # of the pitch
SAME_SIZE = 0.04
INDENT = 0.7  # ems
RAGGED = 0.25  # of the width of a column; a line that leaves no more need not be a paragraph's last
RAGGED_END = 0.12  # the same where it ends like a sentence
OPEN = (
    0.4  # of the width; a last line that leaves no more, and no sentence's end, may go on in the next column
)
SLACK = 0.35  # ems; a line is full if the next word with so much more would not have fitted

_BULLET = re.compile(
    r"[\u2022\u25cf\u25aa\u25a0\u25e6\u2023\u2043\u2219\uf0a7]\s*\S|[-\u2013\u2014*\u00b7]\s+\S"
)
_COUNTED = re.compile(
    r"(?:\(?(?:\d{1,3}|[a-zA-Z]|[ivx]{2,5})\)|\d{1,3}\.|[a-zA-Z]\.(?=\s+[A-Z])|\[\d{1,3}\])\s+\S"
)
_SURE_BULLETS = "\u2022\u25cf\u25aa\u25a0\u25e6\u2023\u2043\u2219\uf0a7"
_TERMINATORS = frozenset(".!?:;\u2026\u061b\u061f\u06d4\u0964\u3002\uff01\uff1f\uff1a")
_CLOSERS = "\"'\u2019\u201d)]\u00bb\u300d"
_FIRST_WIDE = "\u3000"
_WIDE_LETTER = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


class PdfBlock(msgspec.Struct, frozen=True):
    """A paragraph, or the lines of a list or a table.

    open: its end breaks off, as at the foot of a column; full: its last line goes to the column's edge;
    fresh: it begins like a paragraph and cannot go on one; margin: it stands beside the text; raised: it has
    superscripts.
    """

    text: str
    size: float
    sizes: frozenset[float]
    style: int
    rows: int
    tabular: bool
    open: bool
    full: bool
    fresh: bool
    margin: bool
    raised: bool = False


def joined(blocks: Sequence[PdfBlock]) -> str:
    """Return the text of blocks that stand one below the other."""
    return BETWEEN_BLOCKS.join(block.text for block in blocks)


class _Frame(msgspec.Struct, frozen=True):
    """Where the lines of a column begin and end (mirrored where they run leftwards), and their pitch."""

    start: float
    end: float
    pitch: float
    rtl: bool

    def starts(self, row: PdfRow) -> float:
        return -row.x1 if self.rtl else row.x0

    def room(self, row: PdfRow) -> float:
        return self.end + row.x0 if self.rtl else self.end - row.x1


class _Draft:
    """A block that grows line by line."""

    def __init__(self, row: PdfRow, text: str) -> None:
        self.rows = [row]
        self.text = text
        self.in_paragraph = 1  # lines since the last line end that was kept


def make_blocks(rows: list[PdfRow], words: DocumentWords, *, margin: bool) -> list[PdfBlock]:
    """Return the blocks of a column from top to bottom. words: of the document, for hyphens at line ends."""
    if not rows:
        return []
    frame = _frame(rows)
    drafts = [_Draft(rows[0], _text(rows[0]))]
    for number, row in enumerate(rows[1:], 1):
        draft = drafts[-1]
        after = rows[number + 1] if number + 1 < len(rows) else None
        link = _link(frame, draft, row, after)
        if link == "":
            drafts.append(_Draft(row, _text(row)))
            continue
        draft.text = join(draft.text, row.text, words) if link == " " else f"{draft.text}\n{_text(row)}"
        draft.in_paragraph = draft.in_paragraph + 1 if link == " " else 1
        draft.rows.append(row)
    return [_block(draft, frame, margin=margin) for draft in drafts]


def _text(row: PdfRow) -> str:
    return BETWEEN_CELLS.join(cell.text for cell in row.cells) if row.tabular else row.text


def _frame(rows: list[PdfRow]) -> _Frame:
    plain = [row for row in rows if not row.tabular] or rows
    rtl = 2 * sum(row.rtl for row in rows) > len(rows)
    starts = [-row.x1 if rtl else row.x0 for row in plain]
    ends = [-row.x0 if rtl else row.x1 for row in plain]
    size = median(row.size for row in rows)
    gaps = [
        after.base - row.base
        for row, after in pairwise(rows)
        if abs(after.size - row.size) < SAME_SIZE * size and after.base - row.base < 3 * size
    ]
    pitch = median(gaps) if gaps else PITCH * size
    if len(gaps) < MANY_LINES:
        pitch = min(pitch, LOOSE_PITCH * size)
    return _Frame(min(starts), max(ends), pitch, rtl)


def _link(frame: _Frame, draft: _Draft, row: PdfRow, after: PdfRow | None) -> str:
    """Return what stands between a line and the one before it: " ", a line end, or "" between two blocks."""
    before = draft.rows[-1]
    gap = row.base - before.base
    if before.tabular or row.tabular:
        return _table_link(frame, before, row, after, gap)
    size = row.size
    pitch = max(frame.pitch, 1.05 * size)
    alike = not before.sizes.isdisjoint(row.sizes) or any(
        abs(own - other) <= SAME_SIZE * own for own in before.sizes for other in row.sizes
    )
    if (gap > PARAGRAPH_GAP * pitch and gap > pitch + 0.2 * size) or not alike:
        return ""
    full, ended = _is_full(frame, before, row), _is_terminated(before.text)
    if before.style != row.style and (not full or ended or before.style & BOLD):
        return ""
    if _is_item(row.text, certain=not full or ended):
        return "\n"
    if not full and before.text[-1] not in HYPHENS:
        return _link_after_short_line(frame, draft, row, ended=ended)
    return _link_after_full_line(frame, draft, row, after, ended=ended)


def _table_link(frame: _Frame, before: PdfRow, row: PdfRow, after: PdfRow | None, gap: float) -> str:
    near = gap < TABLE_GAP * max(frame.pitch, row.size)
    if before.tabular and row.tabular:
        return "\n" if near else ""
    if before.tabular:  # a line between rows, such as the heading of a group
        between = after is not None and after.tabular and after.base - row.base < TABLE_GAP * frame.pitch
        return "\n" if near and (between or gap < PARAGRAPH_GAP * frame.pitch) else ""
    short = before.x1 - before.x0 < 0.7 * (row.x1 - row.x0)
    return "\n" if near and gap < LOOSE_PITCH * row.size and short else ""


def _is_terminated(text: str) -> bool:
    return text[-1] in _TERMINATORS or text.rstrip(_CLOSERS)[-1:] in _TERMINATORS


def _is_full(frame: _Frame, row: PdfRow, after: PdfRow) -> bool:
    """Return whether the first word of the next line would not have fitted."""
    text = after.text
    width = (after.x1 - after.x0) / len(text)
    wide = text[0] >= _FIRST_WIDE and _WIDE_LETTER.match(text)
    space = text.find(" ")
    letters = 1 if wide else space if space >= 0 else len(text)
    return frame.room(row) < letters * width + SLACK * row.size


def _is_item(text: str, *, certain: bool) -> bool:
    if text[0] in _SURE_BULLETS:
        return True
    word = text[0].isalpha() and text[0] not in "ivx" and text[1:2] not in ")."  # as nearly all lines begin
    return certain and not word and bool(_BULLET.match(text) or _COUNTED.match(text))


def _link_after_short_line(frame: _Frame, draft: _Draft, row: PdfRow, *, ended: bool) -> str:
    before = draft.rows[-1]
    room = frame.room(before) / (frame.end - frame.start or 1)
    shift = (frame.starts(row) - frame.starts(before)) / row.size
    indented = shift > INDENT or (shift < -INDENT and draft.in_paragraph > 1)
    if ended or indented:
        # Ragged lines are broken early; a paragraph's last line is shorter still, or the next is indented.
        return " " if room < RAGGED_END and not indented else ""
    prose = draft.in_paragraph > 1 or frame.room(row) < RAGGED * (frame.end - frame.start)
    return " " if row.text[0].islower() or (room < RAGGED and prose) else "\n"


def _link_after_full_line(
    frame: _Frame, draft: _Draft, row: PdfRow, after: PdfRow | None, *, ended: bool
) -> str:
    before = draft.rows[-1]
    shift = (frame.starts(row) - frame.starts(before)) / row.size
    if shift > INDENT and ended:
        # Either a paragraph whose first line is indented, or an entry whose others are: the next line tells.
        further = (frame.starts(after) - frame.starts(row)) / row.size if after else 0.0
        hangs = abs(further) < INDENT or (
            after is not None and further < 0 and not _is_full(frame, row, after)
        )
        return " " if hangs and draft.in_paragraph == 1 else ""
    if shift < -INDENT and draft.in_paragraph > 1:
        return ""
    return " "


def _block(draft: _Draft, frame: _Frame, *, margin: bool) -> PdfBlock:
    first, last = draft.rows[0], draft.rows[-1]
    style, letters = first.style, Counter[float]()
    for row in draft.rows:
        style &= row.style
        letters[row.size] += len(row.text)
    room = frame.room(last) / (frame.end - frame.start or 1)
    unfinished = not _is_terminated(draft.text) and (room < OPEN or ends_open(draft.text))
    tabular = any(row.tabular for row in draft.rows)
    indented = frame.starts(first) - frame.start > INDENT * first.size
    sizes = frozenset[float]().union(*(row.sizes for row in draft.rows))
    return PdfBlock(
        text=draft.text,
        size=max(letters, key=letters.__getitem__),
        sizes=sizes,
        style=style,
        rows=len(draft.rows),
        tabular=tabular,
        open=unfinished and not tabular,
        full=room < RAGGED,
        fresh=indented or first.tabular or _is_item(first.text, certain=True),
        margin=margin,
        raised=any(row.raised for row in draft.rows),
    )
