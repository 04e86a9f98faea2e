"""The numbers that Word shows before paragraphs of a list and does not store: "3.", "b)", "2.1.4"."""

import re
from collections.abc import Callable, Iterator
from xml.etree.ElementTree import Element

import msgspec

from ragstone.corpus.office.package import attribute, child, local

_PLACE = re.compile(r"%([1-9])")
_ROMAN = ((1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"))
_ROMANS = (*_ROMAN, (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))
_LONGEST = 1000  # Roman numbers and letters grow with the number


class Level(msgspec.Struct, frozen=True):
    """How one level of a list is counted. text: a template such as "%1.%2"."""

    form: str
    text: str
    start: int


class List(msgspec.Struct, frozen=True):
    """The levels of a list; `counter` names the count that it shares with others of the same kind."""

    counter: str
    levels: dict[int, Level]
    restarts: dict[int, int]


def lists_of(numbering: Element | None) -> dict[str, List]:
    """Return the lists that a numbering part defines, by number."""
    if numbering is None:
        return {}
    abstract = {
        attribute(one, "abstractNumId") or "": dict(_levels(one)) for one in _all(numbering, "abstractNum")
    }
    found = {}
    for number in _all(numbering, "num"):
        counter = attribute(child(number, "abstractNumId"), "val") or ""
        overrides = list(_all(number, "lvlOverride"))
        restarts = {
            _int(attribute(one, "ilvl")): _int(attribute(child(one, "startOverride"), "val"), 1)
            for one in overrides
            if child(one, "startOverride") is not None
        }
        levels = abstract.get(counter, {}) | {n: level for one in overrides for n, level in _levels(one)}
        found[attribute(number, "numId") or ""] = List(counter, levels, restarts)
    return found


def _levels(parent: Element) -> Iterator[tuple[int, Level]]:
    for level in _all(parent, "lvl"):
        form = attribute(child(level, "numFmt"), "val") or "decimal"
        text = attribute(child(level, "lvlText"), "val") or ""
        yield (
            _int(attribute(level, "ilvl")),
            Level(form, text, _int(attribute(child(level, "start"), "val"), 1)),
        )


class Counting:
    """The counts of a document's lists as they stand while it is read from the top."""

    def __init__(self, lists: dict[str, List]) -> None:
        self._lists = lists
        self._counts: dict[str, dict[int, int]] = {}
        self._begun: set[str] = set()

    def label(self, number: str, depth: int) -> str:
        """Count a paragraph and return what Word shows before it; nothing for bullets and unknown lists."""
        one = self._lists.get(number)
        if one is None or depth not in one.levels:
            return ""
        counts = self._counts.setdefault(one.counter, {})
        if number not in self._begun:
            self._begun.add(number)
            counts.update({level: start - 1 for level, start in one.restarts.items()})
        level = one.levels[depth]
        counts[depth] = counts.get(depth, level.start - 1) + 1
        for deeper in [other for other in counts if other > depth]:
            del counts[deeper]
        if level.form in ("bullet", "none"):
            return ""
        return _PLACE.sub(lambda place: _shown(one.levels, counts, int(place[1]) - 1), level.text)


def _shown(levels: dict[int, Level], counts: dict[int, int], depth: int) -> str:
    level = levels.get(depth, Level("decimal", "", 1))
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
    return (one for one in parent if local(one) == name)


def _int(value: str | None, default: int = 0) -> int:
    try:
        return int(value or default)
    except ValueError:
        return default
