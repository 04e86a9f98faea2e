"""Where an answer stands in a text, from an offset that may be wrong."""

from typing import Literal, NamedTuple

How = Literal["exact", "utf-16", "utf-8", "nearest"]


class Spot(NamedTuple):
    """The span of an answer, in code points, and how it was found."""

    start: int
    end: int
    how: How


def locate(text: str, answer: str, start: object) -> Spot | None:
    """Return where an answer stands that is said to begin at `start`; None where the text does not hold it.

    In this order: at `start`; at `start` counted in UTF-16 units, or in bytes of UTF-8, as tools in other
    languages count; the occurrence that is nearest. The answer is compared without the white space around it.
    """
    answer = answer.strip()
    if not answer:
        return None
    at = start if isinstance(start, int) and start >= 0 else 0
    for place, how in _readings(text, at):
        begin = place + _blank(text, place)
        if text.startswith(answer, begin):
            return Spot(begin, begin + len(answer), how)
    begin = _nearest(text, answer, at)
    return None if begin < 0 else Spot(begin, begin + len(answer), "nearest")


def _readings(text: str, at: int) -> list[tuple[int, How]]:
    readings: list[tuple[int, How]] = [(at, "exact")]
    if not text.isascii():
        in_utf16 = text.encode("utf-16-le", "surrogatepass")[: 2 * at]
        in_utf8 = text.encode("utf-8", "surrogatepass")[:at]
        readings += [
            (len(in_utf16.decode("utf-16-le", "ignore")), "utf-16"),
            (len(in_utf8.decode("utf-8", "ignore")), "utf-8"),
        ]
    return readings


def _blank(text: str, place: int) -> int:
    """Return how many characters of white space begin at a place: an answer may have them in front."""
    end = place
    while end < len(text) and text[end].isspace():
        end += 1
    return end - place


def _nearest(text: str, answer: str, at: int) -> int:
    before = text.rfind(answer, 0, min(at, len(text)) + len(answer))
    after = text.find(answer, min(at, len(text)))
    if min(before, after) < 0:
        return max(before, after)
    return before if at - before <= after - at else after
