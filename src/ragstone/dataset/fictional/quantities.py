"""Other numbers for the numbers of a text: the same for the same, in the same form, in the same order."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from ragstone.dataset.fictional.names import LEFT_ALONE, months

# 4 is a divisor, so that the 29th of February stays a day; 10 is one, so that "the 1930s" stay a decade.
YEAR_SHIFTS = (-40, -20, 20)
FIRST_YEAR, LAST_YEAR = 1000, 2099
THIS_CENTURY = 2029  # no year is moved beyond it
SMALLEST = 10  # below, a number is as often a part of the language ("two kinds")
MOST_DIGITS = 12

_DATE = re.compile(r"(?<![\w.])(?:(\d{4})([-/.])\d{1,2}\2\d{1,2}|\d{1,2}([-/.])\d{1,2}\3(\d{4}))(?!\w)")
_YEARS = re.compile(r"(?<![\w.,:/])(\d{4})([-–—/])(\d{2})(?![\w:/-])")
_VERSION = re.compile(r"(?<!\d)\d++(?:[.:]\d++){2,}+|\d{1,2}:\d{2}|(?<!\d)\d++/\d++")
_NUMBER = re.compile(r"\d+(?:,\d{2,3})*(?![\d])|\d+")
_PERCENT = re.compile(
    r"\s?(?:[%٪％]|per ?cent|prozent|pour ?cent|por ?ciento|por ?cento|procent|процент|відсот|yüzde|persen|"
    r"phần trăm|प्रतिशत|শতাংশ|بالمئة|بالمائة|درصد|パーセント|퍼센트|เปอร์เซ็นต์|τοις εκατό)",
    re.IGNORECASE,
)
_RANGE = re.compile(r"[.,]?\d*\s?(?:[-–—]|to|and|or|bis|und|à|et|a|y|e)\s?\d+(?:[.,]\d+)?")
_WORD_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]++)\.?+,?+\s*+$")
_WORD_AFTER = re.compile(r"(?:st|nd|rd|th|er|º|ª|\.)?(?: (?:de|of|d[eo]l))?[\s\u00a0]*([^\W\d_]+)")


class Edit(NamedTuple):
    """`text[start:end]` is replaced by `new`."""

    start: int
    end: int
    new: str


class Quantities(NamedTuple):
    """How the numbers of a corpus are moved. added: to the second digit of a number."""

    year_shift: int
    added: int


def draw_quantities(texts: Iterable[str], seed: int) -> Quantities:
    """Return how the numbers of these texts are moved, drawn by the seed; no year goes beyond 2029."""
    years = [int(found[0]) for text in texts for found in re.finditer(r"(?<![\d.,])\d{4}(?![\d.,]\d)", text)]
    last = max((year for year in years if FIRST_YEAR <= year <= THIS_CENTURY), default=FIRST_YEAR)
    rng = np.random.default_rng([seed, 1])
    shifts = [shift for shift in YEAR_SHIFTS if last + shift <= THIS_CENTURY]
    return Quantities(shifts[int(rng.integers(len(shifts)))], int(rng.integers(2, 8)))


def number_edits(text: str, quantities: Quantities) -> Iterator[Edit]:
    """Yield the edits that give a text other numbers.

    Years (1000 to 2099) all move by the same 20 or 40 years, so that their order and what lies between them
    stay; so do those of dates, whose days and months stay. Other numbers from 10 on get 2 to 7 more in their
    second digit, the same for all: their order stays, and the differences of those of one length. Percentages
    stay below 100. Left alone: numbers below 10 and what follows their decimal point, 100 %, ordinals, days
    beside a month, times, fractions, versions, numbers that touch letters ("MP3", "COVID-19"), those of more
    than 12 digits, and everything in code and addresses.
    """
    taken = [found.span() for found in LEFT_ALONE.finditer(text)]
    for found in _DATE.finditer(text):
        group = 1 if found[1] else 4
        taken.append(found.span())
        yield Edit(*found.span(group), _moved_year(found[group], quantities))
    for found in _YEARS.finditer(text):
        if FIRST_YEAR <= int(found[1]) <= LAST_YEAR:
            taken.append(found.span())
            year = _moved_year(found[1], quantities)
            until = _moved_year(found[1][:2] + found[3], quantities)[-2:]
            yield Edit(*found.span(), f"{year}{found[2]}{until}")
    taken += [found.span() for found in _VERSION.finditer(text)]
    covered = cover(text, taken)
    for found in _NUMBER.finditer(text):
        if not any(covered[found.start() : found.end()]):
            new = _moved(text, found, quantities)
            if new is not None and new != found[0]:
                yield Edit(*found.span(), new)


def cover(text: str, spans: Iterable[tuple[int, int]]) -> bytearray:
    """Return for each character of a text 1 where a span covers it, else 0."""
    covered = bytearray(len(text))
    for start, end in spans:
        covered[start:end] = b"\1" * (end - start)
    return covered


def _moved(text: str, found: re.Match[str], quantities: Quantities) -> str | None:
    """Return what a number becomes where it stands, None where it is left alone."""
    before, after = text[max(0, found.start() - 30) : found.start()], text[found.end() : found.end() + 40]
    digits = found[0].replace(",", "")
    if len(digits) > MOST_DIGITS or digits[0] in "0٠०০0" or int(digits) < SMALLEST:
        return None
    if _is_decade(digits, after) or not (_is_part(before, after) or _is_day(digits, before, after)):
        if len(digits) == 4 and "," not in found[0] and FIRST_YEAR <= int(digits) <= LAST_YEAR:
            return _moved_year(digits, quantities)
        if _is_percentage(after):
            return _moved_percentage(digits, quantities)
        return _grouped_as(found[0], _in_digits_of(digits, _grown(int(digits), quantities)))
    return None


def _moved_year(year: str, quantities: Quantities) -> str:
    return _in_digits_of(year, int(year) + quantities.year_shift)


def _moved_percentage(digits: str, quantities: Quantities) -> str:
    """Return a percentage from 10 to 99 for one; 100 and more stay."""
    share = int(digits)
    if share >= 100:
        return digits
    return _in_digits_of(digits, SMALLEST + (share - SMALLEST + 3 * quantities.added) % 90)


def _grown(number: int, quantities: Quantities) -> int:
    step: int = 10 ** (len(str(number)) - 2)
    return number + quantities.added * step


def _is_decade(digits: str, after: str) -> bool:
    return len(digits) == 4 and re.match(r"['’]?s(?!\w)", after) is not None


def _is_part(before: str, after: str) -> bool:
    """Return whether a number is part of a word, an ordinal, a longer number or the decimals of one."""
    if before and (_is_spaced_letter(before[-1]) or before[-1] in "_#@"):
        return True
    if re.search(r"[^\W\d][-.'’]$|\d[.:/]$|(?<!\w)\d\.$", before):
        return True
    if re.match(r"['’]s(?!\w)", after):  # "the 60's"
        return True
    return bool(after) and (
        _is_spaced_letter(after[0]) or after[0] == "_" or re.match(r"[:/]\d", after) is not None
    )


def _is_spaced_letter(character: str) -> bool:
    return character.isalpha() and character < "\u0e00"


def _is_day(digits: str, before: str, after: str) -> bool:
    """Return whether a number is the day of a month that is named beside it."""
    if int(digits) > 31:
        return False
    beside = _WORD_BEFORE.search(before), _WORD_AFTER.match(after)
    return any(one is not None and one[1].casefold() in months() for one in beside)


def _is_percentage(after: str) -> bool:
    decimals = re.match(r"[.,]\d+", after)
    rest = after[decimals.end() :] if decimals else after
    if _PERCENT.match(rest):
        return True
    ranged = _RANGE.match(after)
    return ranged is not None and _PERCENT.match(after[ranged.end() :]) is not None


def _in_digits_of(original: str, number: int) -> str:
    """Return a number in the digits of the original's script."""
    zero = ord(original[0]) - unicodedata.decimal(original[0])
    return "".join(chr(zero + int(digit)) for digit in str(number))


def _grouped_as(original: str, digits: str) -> str:
    """Return digits with commas between thousands where the original has commas."""
    if "," not in original:
        return digits
    last = len(original) - original.rindex(",") - 1
    head, tail = digits[:-last], digits[-last:]
    step = 2 if re.search(r",\d{2},", original) else 3
    parts = [tail]
    while head:
        parts.insert(0, head[-step:])
        head = head[:-step]
    return ",".join(parts)
