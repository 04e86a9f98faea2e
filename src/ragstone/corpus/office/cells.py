"""What a cell of an Excel file shows: numbers as stored, dates in ISO 8601, percentages with their sign."""

import re
from datetime import datetime, timedelta
from xml.etree.ElementTree import Element

import msgspec

from ragstone.corpus.office.package import attribute, child, children

# Formats that every program knows by number (ECMA-376 part 1, 18.8.30): dates and times, percentages.
_DATES = frozenset({*range(14, 18), 22, *range(27, 32), 34, 35, 36, *range(50, 59)})
_TIMES = frozenset({*range(18, 22), 32, 33, 45, 47})
_DURATION = 46
_PERCENT = frozenset({9, 10})
_LITERAL = re.compile(
    r'"[^"]{0,255}+"|\\.|_.|\*.|\[(?!h{1,9}\]|m{1,9}\]|s{1,9}\])[^\]]{0,255}+\]', re.IGNORECASE
)
_ELAPSED = re.compile(r"\[(h{1,9}|m{1,9}|s{1,9})\]", re.IGNORECASE)
_DAY_S = 86_400
_LAST_DAY = 2_958_465  # 9999-12-31


class Formats(msgspec.Struct, frozen=True):
    """What each cell style makes of a number: "date", "time", "duration", "percent" or nothing.

    since_1904: days are counted from 1904, as on old Macs.
    """

    kinds: list[str]
    since_1904: bool


def formats_of(styles: Element | None, workbook: Element) -> Formats:
    """Return the formats of a workbook's cell styles, by the number of the style."""
    formats = child(styles, "numFmts")
    own = {attribute(one, "numFmtId"): attribute(one, "formatCode") or "" for one in children(formats)}
    numbers = [attribute(one, "numFmtId") or "0" for one in children(child(styles, "cellXfs"))]
    kinds = [_kind_of_code(own[number]) if number in own else _kind_of_number(number) for number in numbers]
    return Formats(kinds, attribute(child(workbook, "workbookPr"), "date1904") in ("1", "true"))


def _kind_of_number(number: str) -> str:
    code = int(number) if number.isdecimal() else 0
    if code == _DURATION:
        return "duration"
    return next((kind for kind, codes in _KINDS.items() if code in codes), "")


_KINDS = {"date": _DATES, "time": _TIMES, "percent": _PERCENT}


def _kind_of_code(code: str) -> str:
    bare = _LITERAL.sub("", code.split(";")[0]).lower()
    if _ELAPSED.search(bare):
        return "duration"
    if "%" in bare:
        return "percent"
    if "general" in bare or not set(bare) & set("ymdhs"):
        return ""
    return "date" if set(bare) & set("yd") or not set(bare) & set("hs") else "time"


def shown(value: str, kind: str, formats: Formats) -> str:
    """Return what a number shows under a format; what is no number stays as it is."""
    try:
        number = float(value)
    except ValueError:
        return value
    if kind in ("date", "time") and 0 <= number <= _LAST_DAY:
        return _moment(number, kind, formats)
    if kind == "duration":
        seconds = round(abs(number) * _DAY_S)
        sign = "-" if number < 0 else ""
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    if kind == "percent":
        return f"{number * 100:.12g}%"
    return f"{number:.15g}"


def _moment(number: float, kind: str, formats: Formats) -> str:
    if kind == "time" and number < 1:
        return (datetime(1900, 1, 1) + timedelta(seconds=round(number * _DAY_S) % _DAY_S)).time().isoformat()
    # Excel takes 1900 for a leap year, as Lotus 1-2-3 did, so its first 59 days are one day on.
    first = datetime(1904, 1, 1) if formats.since_1904 else datetime(1899, 12, 31 if number < 60 else 30)
    try:
        moment = first + timedelta(days=int(number), seconds=round(number % 1 * _DAY_S))
    except OverflowError:
        return f"{number:.15g}"
    return moment.date().isoformat() if number == int(number) else moment.isoformat()
