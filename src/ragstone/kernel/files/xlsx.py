"""An Excel file -> its sheets as tables, read in a stream.

Cells hold what they show: dates are in ISO 8601, percentages have their sign, other numbers are as stored.
"""

import math
import re
import zipfile
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from xml.etree.ElementTree import Element, XMLParser

import msgspec

from ragstone.kernel.files.digits import whole_number
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.files.office import (
    REPEATED,
    attribute,
    child,
    children,
    local,
    open_office,
    refuse_doctype,
)
from ragstone.kernel.files.sheet import FileTable, names_of
from ragstone.kernel.files.zips import DAMAGED, check_entry

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
    own = {
        attribute(element, "numFmtId"): attribute(element, "formatCode") or ""
        for element in children(formats)
    }
    numbers = [attribute(element, "numFmtId") or "0" for element in children(child(styles, "cellXfs"))]
    kinds = [_kind_of_code(own[number]) if number in own else _kind_of_number(number) for number in numbers]
    return Formats(kinds, attribute(child(workbook, "workbookPr"), "date1904") in ("1", "true"))


def _kind_of_number(number: str) -> str:
    code = whole_number(number)
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
    if not math.isfinite(number):
        return value
    if kind in ("date", "time") and 0 <= number <= _LAST_DAY:
        return _moment(number, kind, formats)
    if kind == "duration" and abs(number) <= _LAST_DAY:
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


MOST_CELLS = 5_000_000  # of a sheet; some 2 GB of memory
MOST_CHARACTERS = 500_000_000  # of a sheet: many cells may show one long text of the file
_BLOCK = 1 << 16
_REFERENCE = re.compile(r"([A-Z]{1,3})([0-9]{1,7})")

Grid = dict[int, dict[int, str]]
"""Row number -> column number -> text; both from 1, blank cells absent."""


def read_xlsx(file: File) -> Iterator[FileTable]:
    """Yield a table for each visible sheet that holds anything.

    The first row with two or more filled cells is the header; what stands above it is the caption. Rows are
    counted as Excel counts them. A cell that spans rows stands in each of them. Formulas give the value that
    was stored with them, and where some have none their number is in metadata; dates are in ISO 8601. Charts,
    pictures and comments are left out.

    Raises Unreadable for a damaged, encrypted or old file, and for a sheet of more than MOST_CELLS cells.
    """
    with open_office(file, "xl/workbook.xml") as opened:
        workbook = opened.parsed(opened.main)
        if workbook is None or local(workbook) != "workbook":
            raise Unreadable("it is not an Excel file: it has no workbook")
        relations = opened.relations(opened.main)
        strings = next((each.target for each in relations.values() if each.kind == "sharedStrings"), "")
        shared = _Strings.of(opened.archive, strings)
        formats = formats_of(opened.related(opened.main, "styles"), workbook)
        for sheet in children(child(workbook, "sheets")):
            relation = relations.get(next((v for k, v in sheet.attrib.items() if k.endswith("}id")), ""))
            if relation and relation.kind == "worksheet" and attribute(sheet, "state") in (None, "visible"):
                hearer = _Sheet.of(opened.archive, relation.target, shared, formats)
                table = _table(hearer, attribute(sheet, "name") or "")
                if table is not None:
                    yield table


def _table(sheet: "_Sheet", name: str) -> FileTable | None:
    grid = sheet.grid
    filled = sorted(number for number, cells in grid.items() if cells)
    if not filled:
        return None
    first = next((number for number in filled if len(grid[number]) > 1), filled[0])
    used = sorted(set().union(*(grid[number] for number in filled)))
    names = dict(zip(used, names_of({column: grid[first].get(column, "") for column in used}), strict=True))
    rows = [
        (number, {head: text for column, text in sorted(grid[number].items()) if (head := names[column])})
        for number in filled
        if number > first
    ]
    above = [" ".join(grid[number].values()) for number in filled if number < first]
    notes = {"formulas_without_value": sheet.n_uncalculated} if sheet.n_uncalculated else {}
    columns = [column for column in names.values() if column]
    return FileTable(rows=rows, columns=columns, name=name, caption=" ".join(above) or None, notes=notes)


class _Strings:
    """Hears the part of the strings that cells share, and keeps them in order."""

    def __init__(self) -> None:
        self.strings: list[str] = []
        self._pieces: list[str] = []
        self._heard = False
        self._n_phonetic = 0  # how to say it, beside the text, in Japanese files

    @classmethod
    def of(cls, archive: zipfile.ZipFile, part: str) -> list[str]:
        hearer = cls()
        _feed(archive, part, XMLParser(target=hearer))  # noqa: S314 - declarations are refused
        return hearer.strings

    doctype = staticmethod(refuse_doctype)

    def start(self, tag: str, _attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._heard = name == "t" and not self._n_phonetic
        self._n_phonetic += name == "rPh"

    def data(self, text: str) -> None:
        if self._heard:
            self._pieces.append(text)

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        self._heard = False
        self._n_phonetic -= name == "rPh"
        if name == "si":
            self.strings.append("".join(self._pieces))
            self._pieces.clear()

    def close(self) -> None:
        """End of the part."""


class _Sheet:
    """Hears the part of a sheet, and keeps what its cells show."""

    def __init__(self, shared: list[str], formats: Formats) -> None:
        self.grid: Grid = {}
        self.merged: list[str] = []
        self.n_uncalculated = 0
        self._n_cells = 0
        self._n_characters = 0
        self._n_phonetic = 0
        self._formula = False
        self._shared = shared
        self._formats = formats
        self._row = 0
        self._column = 0
        self._cell: Mapping[str, str] = {}
        self._pieces: list[str] = []
        self._heard = False

    @classmethod
    def of(cls, archive: zipfile.ZipFile, part: str, shared: list[str], formats: Formats) -> "_Sheet":
        hearer = cls(shared, formats)
        _feed(archive, part, XMLParser(target=hearer))  # noqa: S314 - declarations are refused
        for area in hearer.merged:
            hearer.fill(area)
        return hearer

    doctype = staticmethod(refuse_doctype)

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        name = tag.rpartition("}")[2]
        self._heard = name in ("v", "t") and not self._n_phonetic
        self._n_phonetic += name == "rPh"
        self._formula = self._formula or name == "f"
        if name == "c":
            self._place(attributes)
        elif name == "row":
            number = attributes.get("r", "")
            self._row = whole_number(number, self._row + 1)
            self._column = 0
        elif name == "mergeCell":
            self.merged.append(attributes.get("ref", ""))

    def _place(self, attributes: Mapping[str, str]) -> None:
        match = _REFERENCE.fullmatch(attributes.get("r", ""))
        self._column = _column_number(match[1]) if match else self._column + 1
        self._cell = attributes
        self._pieces.clear()
        self._formula = False

    def data(self, text: str) -> None:
        if self._heard:
            self._pieces.append(text)

    def end(self, tag: str) -> None:
        name = tag.rpartition("}")[2]
        self._heard = False
        self._n_phonetic -= name == "rPh"
        if name == "c":
            text = self._shown("".join(self._pieces)).strip()
            if text:
                self.keep(self._row, self._column, text)
            self.n_uncalculated += self._formula and not text

    def close(self) -> None:
        """End of the part."""

    def keep(self, row: int, column: int, text: str) -> None:
        self._n_cells += 1
        self._n_characters += len(text)
        if self._n_cells > MOST_CELLS or self._n_characters > MOST_CHARACTERS:
            raise Unreadable(
                f"a sheet has more than {MOST_CELLS:,} cells or much text: save it in parts, as CSV"
            )
        self.grid.setdefault(row, {})[column] = text

    def _shown(self, value: str) -> str:
        kind = self._cell.get("t", "n")
        if kind == "s":
            number = whole_number(value, -1)
            return self._shared[number] if 0 <= number < len(self._shared) else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind != "n" or not value:
            return value
        style = self._cell.get("s", "0")
        number = whole_number(style)
        kinds = self._formats.kinds
        return shown(value, kinds[number] if number < len(kinds) else "", self._formats)

    def fill(self, area: str) -> None:
        """Repeat a cell that spans rows in each of them that holds something else too."""
        first, _, last = area.partition(":")
        begin, end = _REFERENCE.fullmatch(first), _REFERENCE.fullmatch(last)
        if begin is None or end is None:
            return
        column, top, bottom = _column_number(begin[1]), int(begin[2]), int(end[2])
        text = self.grid.get(top, {}).get(column)
        if text and len(text) <= REPEATED:
            for row in range(top + 1, min(bottom, max(self.grid)) + 1):
                if self.grid.get(row):
                    self.keep(row, column, text)


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number


def _feed(archive: zipfile.ZipFile, part: str, parser: XMLParser) -> None:
    """Let a parser hear a part, block by block; nothing where there is no such part."""
    if part not in archive.namelist():
        return
    entry = archive.getinfo(part)
    check_entry(entry)
    try:
        with archive.open(entry) as packed:
            while block := packed.read(_BLOCK):
                parser.feed(block)
    except Unreadable:
        raise
    except DAMAGED as mistake:
        raise Unreadable(f"it is damaged ({mistake})") from None
    parser.close()
