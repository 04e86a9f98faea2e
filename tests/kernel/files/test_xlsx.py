"""Excel files that openpyxl writes; what it reads of them is the peer."""

import datetime
import zipfile
from unittest import mock

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.corpus.file import IngestOptions
from ragstone.kernel.corpus.readers.table import documents_of
from ragstone.kernel.files import xlsx
from ragstone.kernel.files.file import File, Unreadable
from ragstone.kernel.files.xlsx import Formats, read_xlsx, shown


def tables(book, tmp_path):
    path = tmp_path / "a.xlsx"
    book.save(path)
    return list(read_xlsx(File(path, "a.xlsx")))


def book_of(*rows, title="Crops"):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    return book


def test_a_row_is_a_document_with_its_sheet_and_its_number_in_excel(tmp_path):
    book = book_of(["crop", "answer"], ["maize", "Sow in May."], [], ["rice", "Flood it."])
    (table,) = tables(book, tmp_path)
    first, second = documents_of(table, File(tmp_path / "a.xlsx", "a.xlsx"), IngestOptions())
    assert (first.id, first.text) == ("a.xlsx#Crops#2", "Sow in May.")
    assert (second.id, second.metadata) == ("a.xlsx#Crops#4", {"crop": "rice", "sheet": "Crops"})


def test_a_sheet_as_a_whole_is_a_document(tmp_path):
    book = book_of(["crop", "t/ha"], ["maize", 4.5])
    book.create_sheet("Blank")
    (table,) = tables(book, tmp_path)
    (document,) = documents_of(table, File(tmp_path / "a.xlsx", "a.xlsx"), IngestOptions(tables="whole"))
    assert (document.id, document.title, document.text) == (
        "a.xlsx#Crops",
        "Crops",
        "crop | t/ha\nmaize | 4.5",
    )


def test_what_stands_above_the_header_is_the_caption(tmp_path):
    (table,) = tables(book_of(["Yields of 2024"], [], ["crop", "t/ha"], ["maize", 4]), tmp_path)
    assert (table.caption, table.columns, table.rows) == (
        "Yields of 2024",
        ["crop", "t/ha"],
        [(4, {"crop": "maize", "t/ha": "4"})],
    )


def test_dates_times_percentages_and_truth_are_shown(tmp_path):
    values = [
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 8, 30),
        datetime.time(8, 30),
        datetime.timedelta(hours=30, minutes=5),
        0.125,
        True,
        0.1 + 0.2,
        12345678901,
    ]
    book = book_of([f"c{n}" for n in range(8)], values)
    book.active["E2"].number_format = "0.0%"
    (table,) = tables(book, tmp_path)
    assert list(table.rows[0][1].values()) == [
        "2024-02-29",
        "2024-02-29T08:30:00",
        "08:30:00",
        "30:05:00",
        "12.5%",
        "TRUE",
        "0.3",
        "12345678901",
    ]


def test_formats_that_only_look_like_dates_are_none(tmp_path):
    book = book_of(["a", "b", "c"], [45000, 45000, 45000])
    for cell, code in (("A2", '0 "days"'), ("B2", "[Red]0.00"), ("C2", "General")):
        book.active[cell].number_format = code
    assert list(tables(book, tmp_path)[0].rows[0][1].values()) == ["45000"] * 3


@given(st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(9999, 12, 30)))
def test_every_day_is_the_one_that_openpyxl_reads(moment):
    from openpyxl.utils.datetime import from_excel, to_excel

    serial = to_excel(moment.replace(microsecond=0))
    expected = from_excel(serial)
    expected = (expected + datetime.timedelta(microseconds=500_000)).replace(microsecond=0)
    found = shown(repr(serial), "date", Formats([], False))
    assert datetime.datetime.fromisoformat(found) == expected


def test_days_since_1904(tmp_path):
    book = book_of(["a", "b"], [datetime.date(2024, 2, 29), 1])
    book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
    assert tables(book, tmp_path)[0].rows[0][1]["a"] == "2024-02-29"


def test_a_cell_that_spans_rows_stands_in_each(tmp_path):
    book = book_of(["region", "crop"], ["North", "maize"], [None, "rice"])
    book.active.merge_cells("A2:A3")
    assert tables(book, tmp_path)[0].rows[1] == (3, {"region": "North", "crop": "rice"})


def test_hidden_sheets_are_left_out_and_rich_text_is_read(tmp_path):
    from openpyxl.cell.rich_text import CellRichText, TextBlock
    from openpyxl.cell.text import InlineFont

    book = book_of(["a", "b"], [CellRichText("plain ", TextBlock(InlineFont(b=True), "bold")), "x"])
    hidden = book.create_sheet("Secret")
    hidden.append(["a", "b"])
    hidden.sheet_state = "hidden"
    (table,) = tables(book, tmp_path)
    assert table.rows[0][1]["a"] == "plain bold"


def test_a_formula_gives_its_stored_value_and_one_without_is_counted(tmp_path):
    book = book_of(["a", "b"], [1, "=A2*2"])
    path = tmp_path / "a.xlsx"
    (table,) = tables(book, tmp_path)
    assert (table.rows, table.notes) == ([(2, {"a": "1"})], {"formulas_without_value": 1})
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"<v></v>", b"<v>2</v>").replace(b"<v />", b"<v>2</v>")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    (table,) = read_xlsx(File(path, "a.xlsx"))
    assert (table.rows[0][1], table.notes) == ({"a": "1", "b": "2"}, {})


def test_a_cell_in_the_last_corner_costs_nothing(tmp_path):
    book = book_of(["a", "b"], ["c", "d"])
    book.active["XFD1048576"] = "far"
    (table,) = tables(book, tmp_path)
    assert table.rows[-1] == (1048576, {"column 16384": "far"})


def test_sheets_beyond_the_limits_are_refused(tmp_path, says):
    with mock.patch.object(xlsx, "MOST_CELLS", 3), pytest.raises(Unreadable) as error:
        tables(book_of(["a", "b"], ["c", "d"]), tmp_path)
    says(error.value)


@pytest.mark.parametrize("content", [b"", b"PK", b"a,b\n1,2\n"])
def test_what_is_no_excel_file_is_said(tmp_path, content, says):
    path = tmp_path / "a.xlsx"
    path.write_bytes(content)
    with pytest.raises(Unreadable) as error:
        list(read_xlsx(File(path, "a.xlsx")))
    says(error.value)


def test_entities_in_a_sheet_are_refused(tmp_path):
    path = tmp_path / "a.xlsx"
    book_of(["a", "b"]).save(path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    bomb = b'<!DOCTYPE w [<!ENTITY a "aa"><!ENTITY b "&a;&a;">]><worksheet'
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b"<worksheet", bomb, 1)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(Unreadable, match="it declares entities"):
        list(read_xlsx(File(path, "a.xlsx")))


@given(st.floats() | st.sampled_from(["1e400", "-1e308", "1e307", "nan"]), st.booleans())
@pytest.mark.parametrize("kind", ["", "date", "time", "duration", "percent"])
def test_every_number_is_shown_under_every_format(kind, number, since_1904):
    assert shown(str(number), kind, Formats([kind], since_1904))
