"""How much a page shows of texts from outside: so much of each, and so much of all of them together.

Every value that a template prints goes through `fit`, so that no page has to think of it.
"""

from collections.abc import Callable
from contextvars import ContextVar
from html import escape
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from ragstone.kernel.errors import harmless

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

MOST_A_TEXT = 20_000  # characters of a page, for one text
MOST_A_PAGE = 1_000_000
MOST_TIMES = 3  # what a text may take of a page, times its length
SHORT = 160  # characters that are shown of each text, however many there are
MOST_PROSE = 4_000  # characters of a text that may hold commands; a longer one is no sentence of ours
LONGEST_ESCAPE = 6  # of one character, on a page and in JSON

Length = Callable[[str], int]
ValueT = TypeVar("ValueT")


def length_on_page(text: str) -> int:
    """Return the characters that a text takes in HTML."""
    return len(escape(text))


def length_in_json(text: str) -> int:
    """Return the characters that a text takes in JSON."""
    return len(msgspec.json.encode(text).decode()) - 2


def shortened(text: str, most: int, length: Length = length_on_page) -> tuple[str, bool]:
    """Return the beginning of a text that takes at most so many characters of a page; and whether it is cut.

    A quote or a bracket takes up to six: so a text of nothing else gets a sixth of it.
    """
    start = harmless(text[:most])
    if length(start) > most:
        start = start[: most // LONGEST_ESCAPE]
    is_cut = len(text) > most or len(start) < len(harmless(text))
    return (f"{start}…", True) if is_cut else (start, False)


class PageRoom:
    """What texts may still take of one page. is_cut: a text of it was shortened."""

    def __init__(self, length: Length = length_on_page) -> None:
        self.left = MOST_A_PAGE
        self.is_cut = False
        self._length = length

    def shown(self, text: str, most: int = MOST_A_TEXT) -> str:
        """Return as much of a text as there is room for, and no more than `most`."""
        most = min(most, max(self.left, SHORT), SHORT + MOST_TIMES * len(text))
        short, is_cut = shortened(text, most, self._length)
        self.left -= self._length(short)
        self.is_cut |= is_cut
        return short

    def fitted(self, value: ValueT) -> ValueT:
        """Return a value for JSON with the texts in it shortened. An `id` is an address, and stays whole."""
        return msgspec.convert(self._fitted(msgspec.to_builtins(value)), type(value))

    def _fitted(self, value: Any) -> Any:  # noqa: ANN401
        match value:
            case str() if len(value) > SHORT:
                return self.shown(value)
            case list() | tuple():
                return [self._fitted(part) for part in value]
            case dict():
                return {key: part if key == "id" else self._fitted(part) for key, part in value.items()}
        return value


_ROOM: ContextVar[PageRoom] = ContextVar("room")


def fit(value: object) -> object:
    """Return what a template prints of a value: a long text as far as the page has room for it."""
    if type(value) is str and len(value) > SHORT and (room := _ROOM.get(None)):
        return room.shown(value)
    return value


def is_shortened() -> bool:
    """Return whether a text of the page that is being made was shortened so far."""
    room = _ROOM.get(None)
    return room is not None and room.is_cut


def whole(text: str) -> "Markup":
    """Return a text of ours, or one that is edited, escaped and whole."""
    from markupsafe import escape as escaped

    return escaped(text)


def capped_template() -> "type[Template]":
    """Return the class of templates each of whose renderings has room for so much text."""
    from jinja2 import Template

    class CappedTemplate(Template):
        def render(self, *args: Any, **values: Any) -> str:  # noqa: ANN401
            before = _ROOM.set(PageRoom())
            try:
                return super().render(*args, **values)
            finally:
                _ROOM.reset(before)

    return CappedTemplate
