"""The calls into PDFium that `pypdfium2` has no cheap form of.

Each is one foreign call without the checks of `pypdfium2`, because a page needs several hundred of them.
Handles are addresses; they live as long as the text page that they were taken from.
"""

import ctypes
from collections.abc import Callable, Iterable
from ctypes import addressof, c_char_p, c_double, c_float, c_int, c_size_t, c_void_p, sizeof
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pypdfium2 import PdfTextPage

Box = tuple[float, float, float, float]  # left, bottom, right, top in the page's own coordinates
Span = tuple[int, int, int]  # start and end of a drawing in the text, and its handle
NAME_BYTES = 100


class Place(NamedTuple):
    """Where a drawing stands: its box, its font's handle and size in points, its origin and quarter turns."""

    box: Box
    font: int | None
    size: float
    x: float
    y: float
    quarter: int


class Calls(NamedTuple):
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
def calls() -> Calls:
    """Return the functions, bound once in a process."""
    import pypdfium2.raw as pdfium

    four = [c_void_p] * 4
    return Calls(
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

    def places(self, spans: list[Span]) -> list[Place]:
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
            places.append(Place(box, font_of(handle), size, x, y, quarter))
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
