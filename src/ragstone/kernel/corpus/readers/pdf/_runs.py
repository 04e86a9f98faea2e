"""A page of a PDF -> its runs: pieces of text with a place, a size and a style.

A run is what the PDF draws with one text object, mostly a line, a cell, or the part of a line in one font.
PDFium is asked about runs and not about characters: one foreign call costs as much as PDFium needs to
extract several characters. A page needs several hundred calls all the same, so they go without the checks of
`pypdfium2`; handles are addresses, and live as long as the text page that they were taken from.
"""

import ctypes
import re
from collections.abc import Callable, Iterable, Iterator
from ctypes import addressof, c_char_p, c_double, c_float, c_int, c_size_t, c_void_p, sizeof
from functools import cache
from itertools import accumulate
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

Box = tuple[float, float, float, float]  # left, bottom, right, top in the page's own coordinates
Span = tuple[int, int, int]  # start and end of a drawing in the text, and its handle
NAME_BYTES = 100


class DrawingPlace(NamedTuple):
    """Where a drawing stands: its box, its font's handle and size in points, its origin and quarter turns."""

    box: Box
    font: int | None
    size: float
    x: float
    y: float
    quarter: int


class PdfiumCalls(NamedTuple):
    """PDFium's functions, with the plainest types that they accept."""

    text_object: Callable[..., int | None]
    font_of: Callable[..., int | None]
    font_name: Callable[..., int]
    font_size: Callable[..., float]
    matrix: Callable[..., int]
    count_rects: Callable[..., int]
    rect: Callable[..., int]
    char_box: Callable[..., int]
    origin: Callable[..., int]
    char_index: Callable[..., int]


@cache
def calls() -> PdfiumCalls:
    """Return the functions, bound once in a process."""
    import pypdfium2.raw as pdfium

    four = [c_void_p] * 4
    return PdfiumCalls(
        _bind(pdfium.FPDFText_GetTextObject, c_void_p, c_void_p, c_int),
        _bind(pdfium.FPDFTextObj_GetFont, c_void_p, c_void_p),
        _bind(pdfium.FPDFFont_GetBaseFontName, c_size_t, c_void_p, c_char_p, c_size_t),
        _bind(pdfium.FPDFText_GetFontSize, c_double, c_void_p, c_int),
        _bind(pdfium.FPDFText_GetMatrix, c_int, c_void_p, c_int, c_void_p),
        _bind(pdfium.FPDFText_CountRects, c_int, c_void_p, c_int, c_int),
        _bind(pdfium.FPDFText_GetRect, c_int, c_void_p, c_int, *four),
        _bind(pdfium.FPDFText_GetCharBox, c_int, c_void_p, c_int, *four),
        _bind(pdfium.FPDFText_GetCharOrigin, c_int, c_void_p, c_int, *four[:2]),
        _bind(pdfium.FPDFText_GetCharIndexFromTextIndex, c_int, c_void_p, c_int),
    )


def _bind(function: Callable[..., object], result: type, *arguments: type) -> Any:  # noqa: ANN401 - a function of ctypes
    address = ctypes.cast(function, c_void_p).value  # type: ignore[arg-type]
    return ctypes.CFUNCTYPE(result, *arguments)(address)  # type: ignore[arg-type]


class TextLayer:
    """The text of a page and the places of its characters.

    `text` is PDFium's, in its own order; positions in it are the arguments of the methods. Usable until the
    text page is closed.
    """

    def __init__(self, layer: "PdfTextPage") -> None:
        self.text: str = layer.get_text_range()
        self._calls = calls()
        self._layer = ctypes.cast(layer.raw, c_void_p).value
        # PDFium counts characters beyond U+FFFF twice, and leaves those without a meaning out of the text.
        self._units = _utf16_places(self.text)
        n_units = self._units[-1] if self._units else len(self.text)
        self._exact = n_units == layer.count_chars()
        self._plain = self._exact and self._units is None  # a character's place in the text is PDFium's
        # What PDFium writes to: four numbers, and a matrix. Addresses cost less than references, slices less
        # than fields.
        self._four = (c_double * 4)()
        self._refs = [addressof(self._four) + n * sizeof(c_double) for n in range(4)]
        self._matrix = (c_float * 6)()

    def _char(self, position: int) -> int:
        unit = self._units[position] if self._units else position
        return unit if self._exact else self._calls.char_index(self._layer, unit)

    def text_object(self, position: int) -> int | None:
        """Return the handle of the drawing that a character belongs to, None for a space PDFium put in."""
        return self._calls.text_object(self._layer, position if self._plain else self._char(position))

    def font_name(self, font: int) -> bytes:
        """Return the name of a font, such as b"ABCDEF+Times-Bold"."""
        buffer = ctypes.create_string_buffer(NAME_BYTES)
        self._calls.font_name(font, buffer, NAME_BYTES)
        return buffer.value

    def places(self, spans: list[Span]) -> list[DrawingPlace]:
        """Return where each drawing stands; spans: all of the page's, in order."""
        one_each = self._calls.count_rects(self._layer, 0, -1) == len(spans) and self._exact
        font_of, matrix_of, size_of = self._calls.font_of, self._calls.matrix, self._calls.font_size
        layer, matrix, rect, four, refs = self._layer, self._matrix, self._calls.rect, self._four, self._refs
        address = addressof(matrix)
        places = []
        for number, (start, end, handle) in enumerate(spans):
            if one_each:
                rect(layer, number, *refs)
                left, top, right, bottom = four[:]
                box = (left, bottom, right, top)
            else:
                box = self.box(start, end)
            char = start if self._plain else self._char(start)
            matrix_of(layer, char, address)
            a, b, c, d, x, y = matrix[:]
            size = size_of(layer, char) * (c * c + d * d) ** 0.5
            quarter = (0 if a >= 0 else 2) if abs(a) >= abs(b) else 1 if b > 0 else 3
            places.append(DrawingPlace(box, font_of(handle), size, x, y, quarter))
        return places

    def box(self, start: int, end: int) -> Box:
        """Return the box of the ink of the characters from start to end."""
        first = self._char(start)
        count = self._calls.count_rects(self._layer, first, self._char(end - 1) + 1 - first)
        return _union(self._rect(number) for number in range(count))

    def _rect(self, number: int) -> Box:
        self._calls.rect(self._layer, number, *self._refs)
        left, top, right, bottom = self._four[:]
        return left, bottom, right, top

    def char_box(self, position: int) -> Box:
        """Return the box of one character's ink."""
        char = position if self._plain else self._char(position)
        self._calls.char_box(self._layer, char, *self._refs)
        left, right, bottom, top = self._four[:]
        return left, bottom, right, top

    def origin(self, position: int) -> tuple[float, float]:
        """Return where a character's origin stands."""
        self._calls.origin(self._layer, self._char(position), *self._refs[:2])
        return self._four[0], self._four[1]


def _utf16_places(text: str) -> list[int] | None:
    """Return the place in UTF-16 of each character and of the end; None where they are the same."""
    if text.isascii() or len(text.encode("utf-16-le", "surrogatepass")) == 2 * len(text):
        return None
    return list(accumulate((1 + (character > "\uffff") for character in text), initial=0))


def _union(boxes: Iterable[Box]) -> Box:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True) if (boxes := list(boxes)) else ((0.0,),) * 4
    return min(lefts), min(bottoms), max(rights), max(tops)


BOLD, ITALIC = 1, 2
CELL_GAP = 1.2  # ems; a run is parted where its own gap is wider, as in a table row drawn at once
FAR = 20_000  # points; a page has at most 14,400
MIN_SIZE = 0.1  # points
USUAL = 0.5  # ems, the width of a character on average at most; more are a sign of gaps, and looked at
LINE_OF_TEXT = 15  # characters
SHORT = 24  # characters


_BOLD = re.compile(rb"bold|black|heavy|demi|CMBX", re.IGNORECASE)
_ITALIC = re.compile(rb"italic|oblique|CMTI", re.IGNORECASE)
_SPACES = re.compile(r"[ \u00a0]+")
_ALEF_LAM = re.compile("[\u0622\u0623\u0625\u0627]\u0644")
RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")


class TextRun(msgspec.Struct, frozen=True, gc=False):
    """Text from `start` to `end` of the page's text, its ink from (x0, y0) to (x1, y1), on a baseline.

    Points; y grows downwards, and the page is turned so that its text is upright.
    """

    start: int
    end: int
    x0: float
    y0: float
    x1: float
    y1: float
    base: float
    size: float
    style: int


class PageRuns(msgspec.Struct, frozen=True):
    """The runs of a page in the order of the file; `turned` are those that stand on their side.

    has_rtl: some of its text is written from right to left; rtl: most of it is.
    """

    text: str
    width: float
    height: float
    runs: list[TextRun]
    turned: list[TextRun]
    has_rtl: bool
    rtl: bool


EMPTY = PageRuns("", 0.0, 0.0, [], [], has_rtl=False, rtl=False)  # of a page that cannot be read


def read_page(page: "PdfPage") -> PageRuns:
    """Return the runs of a page; without any for a page that has no text."""
    layer = page.get_textpage()
    try:
        text = TextLayer(layer)
        has_rtl = not text.text.isascii() and RTL.search(text.text) is not None
        characters = _mend_ligatures(text) if has_rtl else text.text
        spans = [span for line in _lines(text.text) for span in _objects(text, *line)]
        places = text.places(spans)
        quarters = [0] * 4  # turns -> characters
        for (start, end, _), drawn in zip(spans, places, strict=True):
            quarters[drawn.quarter] += end - start
        upright = quarters.index(max(quarters))
        bounds = left, bottom, right, top = page.get_bbox()
        width, height = (right - left, top - bottom)
        turned_page = (height, width) if upright % 2 else (width, height)
        runs: list[TextRun] = []
        others: list[TextRun] = []
        for run, drawn in zip(_runs(text, spans, places, upright, bounds), places, strict=True):
            # Damaged files have text at 1e9 points, or nowhere.
            if -FAR < run.x0 <= run.x1 < FAR and -FAR < run.y0 <= run.y1 < FAR and -FAR < run.base < FAR:
                (runs if drawn.quarter == upright else others).append(run)
        runs = list(_parted(text, runs, upright))
    finally:
        layer.close()
    rtl = has_rtl and 2 * len(RTL.findall(characters)) > len(characters)
    return PageRuns(characters, *turned_page, runs, others, has_rtl, rtl)


def _runs(
    layer: TextLayer, spans: list[Span], places: list[DrawingPlace], quarter: int, bounds: Box
) -> Iterator[TextRun]:
    """Yield the runs in the coordinates of the page turned upright."""
    left, bottom, right, top = bounds
    styles: dict[int | None, int] = {}
    for (start, end, _), ((x0, y0, x1, y1), font, size, x, y, _) in zip(spans, places, strict=True):
        if font not in styles:
            name = layer.font_name(font) if font else b""
            styles[font] = (BOLD if _BOLD.search(name) else 0) | (ITALIC if _ITALIC.search(name) else 0)
        if not MIN_SIZE < size < FAR:
            size = MIN_SIZE
        if quarter == 0:
            box = (x0 - left, top - y1, x1 - left, top - y0, top - y)
        elif quarter == 1:
            box = (y0 - bottom, x0 - left, y1 - bottom, x1 - left, x - left)
        elif quarter == 2:
            box = (right - x1, y0 - bottom, right - x0, y1 - bottom, y - bottom)
        else:
            box = (top - y1, right - x1, top - y0, right - x0, right - x)
        yield TextRun(start, end, *box, size, styles[font])


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in text.split("\r\n"):
        if line and not line.isspace():
            yield at + len(line) - len(line.lstrip()), at + len(line.rstrip())
        at += len(line) + 2


def _objects(layer: TextLayer, at: int, end: int) -> Iterator[Span]:
    """Yield start, end and handle of each drawing in a line, without spaces around it."""
    text, last = layer.text, layer.text_object(end - 1)
    while at < end:
        handle = layer.text_object(at)
        stop = end if handle == last else _end_of(layer, handle, at, end)
        if handle is not None:
            yield at, at + len(text[at:stop].rstrip()), handle
        at = stop
        while at < end and text[at].isspace():
            at += 1


def _end_of(layer: TextLayer, handle: int | None, at: int, end: int) -> int:
    """Return where the drawing that holds `at` ends: at the next space, or by doubling and halving steps."""
    inside, step, outside = at, 1, end
    space = layer.text.find(" ", at + 1, end)
    if space > 0:
        after = space + 1
        while after < end and layer.text[after].isspace():
            after += 1
        if after < end and layer.text_object(after) == handle:
            inside, step = after, after - at
        elif layer.text_object(space - 1) == handle:
            return after
        else:
            outside = space
    while outside - inside > 1:
        probe = inside + step if inside + step < outside else (inside + outside) // 2
        spot = probe
        while spot < outside and layer.text[spot].isspace():
            spot += 1
        if spot < outside and layer.text_object(spot) == handle:
            inside, step = spot, step * 2
        else:
            outside, step = probe, end
    return outside


def _parted(layer: TextLayer, runs: list[TextRun], quarter: int) -> Iterator[TextRun]:
    """Yield the runs, those with a gap as wide as between cells in parts."""
    usual = _usual_widths(runs)
    for run in runs:
        width = usual.get((run.size, run.style), USUAL)
        spare = run.x1 - run.x0 - width * run.size * (run.end - run.start)
        if spare > CELL_GAP * run.size or layer.text.find("   ", run.start, run.end) >= 0:
            yield from _parts(layer, run, quarter)
        else:
            yield run


def _usual_widths(runs: list[TextRun]) -> dict[tuple[float, int], float]:
    """Return the usual width of a character in ems for each size and style that has a line of text."""
    widths: dict[tuple[float, int], list[float]] = {}
    for run in runs:
        n = run.end - run.start
        if n >= LINE_OF_TEXT and run.size:
            widths.setdefault((run.size, run.style), []).append((run.x1 - run.x0) / n / run.size)
    return {kind: min(median(sizes), USUAL) for kind, sizes in widths.items()}


def _parts(layer: TextLayer, run: TextRun, quarter: int) -> Iterator[TextRun]:
    axis = quarter % 2
    sign = -1 if quarter > 1 else 1
    start, x0 = run.start, run.x0
    position, after = -1, (0.0,) * 4
    for end, after_gap in _breaks(layer.text, run):
        before = after if position == end - 1 else layer.char_box(end - 1)
        position, after = after_gap, layer.char_box(after_gap)
        # To the far edge of the character before and the near edge of the one after, along the line.
        far = before[axis + 2] if sign > 0 else before[axis]
        near = after[axis] if sign > 0 else after[axis + 2]
        gap = (near - far) * sign
        if gap > CELL_GAP * run.size:
            box = layer.char_box(run.start)
            edge = run.x0 + abs(far - (box[axis] if sign > 0 else box[axis + 2]))
            yield msgspec.structs.replace(run, start=start, end=end, x0=x0, x1=edge)
            start, x0 = after_gap, edge + gap
    yield msgspec.structs.replace(run, start=start, x0=x0)


def _breaks(text: str, run: TextRun) -> Iterator[tuple[int, int]]:
    """Yield where a run may have a gap: at its spaces, and in a short one between any two characters.

    PDFium puts no space between two numbers that a wide gap parts, if the PDF draws them as one.
    """
    short = run.end - run.start <= SHORT
    at = run.start
    for space in [*_SPACES.finditer(text, run.start, run.end), None]:
        stop = space.start() if space else run.end
        if short:
            yield from ((position, position) for position in range(at + 1, stop))
        if space:
            yield stop, space.end()
            at = space.end()


def _mend_ligatures(layer: TextLayer) -> str:
    """Return the text with Arabic lam-alef in its order.

    PDFium turns a right-to-left line around character by character, and with it the two letters of a
    ligature; they are told from alef and lam by their common origin.
    """
    text = layer.text
    swaps = [
        match.start()
        for match in _ALEF_LAM.finditer(text)
        if layer.origin(match.start()) == layer.origin(match.start() + 1)
    ]
    if not swaps:
        return text
    letters = list(text)
    for at in swaps:
        letters[at], letters[at + 1] = letters[at + 1], letters[at]
    return "".join(letters)
