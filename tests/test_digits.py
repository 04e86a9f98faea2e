"""Digits without end, of other scripts, or that are no decimals: no routine stumbles over them.

Python reads no whole number of more than 4,300 digits, and "²" is a digit for `isdigit` and none for `int`.
"""

import re
import zipfile
from pathlib import Path

import openpyxl
import pytest
from docx import Document as WordFile
from docx.enum.style import WD_STYLE_TYPE
from pptx import Presentation
from tests.support.outside import ROUTINES

from ragstone.kernel.corpus.reading import READERS
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.files.file import File, Unreadable

LONG = "9" * 5_000
TEXTS = (
    LONG,
    f"{LONG}. first\n{LONG}. second",
    f"Maize [{LONG}] is sown [{LONG}-{LONG}], see [email-{LONG}].",
    f"It costs {LONG} kg in {LONG}, or {LONG}%, or {LONG}.{LONG}, or {LONG} - {LONG}.",
    ",".join(["999"] * 2_000),
    f"&#{LONG}; &#x{LONG};",
    f"1e{LONG}",
    f"try again in {LONG}s",
    f'<table><tr><td colspan="{LONG}" rowspan="{LONG}">a</td></tr></table><ol start="{LONG}"><li>',
    f'{{"a": {LONG}, "b": "{LONG}"}}',
    f"q 0 d {LONG}",
    "It is ² of ³ and ①, [²] and [³-①]. ² kg",
    "٣" * 5_000,
    "\U0001d7d7" * 5_000,
)


@pytest.mark.simulation
@pytest.mark.parametrize("name", ROUTINES)
def test_routine_takes_digits_of_any_kind_and_length(name):
    for text in TEXTS:
        try:
            ROUTINES[name](text)
        except RagstoneError:
            continue


def write_docx(path: Path) -> None:
    word = WordFile()
    for style in [style for style in word.styles if style.type == WD_STYLE_TYPE.TABLE]:
        style.delete()  # most of the file; no reader looks at them
    word.add_heading("Soil", 1)
    for text in ("one", "two"):
        word.add_paragraph(text, style="List Number")
    table = word.add_table(3, 3)
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(1, 0).merge(table.cell(2, 0))
    for number, cell in enumerate(table.columns[2].cells):
        cell.text = f"cell {number}"
    word.save(path)


def write_pptx(path: Path) -> None:
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = "Soil"
    slide.placeholders[1].text_frame.add_paragraph().level = 2
    table = slide.shapes.add_table(2, 2, 0, 0, 100, 100).table
    table.cell(0, 0).merge(table.cell(0, 1))
    table.cell(1, 1).text = "Clay"
    slides.save(path)


def write_xlsx(path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["crop", "yield"], ["maize", 4.5], ["rice", 3]):
        book.active.append(row)
    book.active["B2"].number_format = "0.0%"
    book.active.merge_cells("A2:A3")
    book.save(path)


WRITERS = {".docx": write_docx, ".pptx": write_pptx, ".xlsx": write_xlsx}
NUMBER = re.compile(rb'(?P<name>[\w:]+=)"\d+"|<v>\d+</v>')


@pytest.mark.parametrize("digits", [LONG, "²"], ids=["long", "raised"])
@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.simulation
def test_office_files_are_read_or_refused_whatever_their_numbers_are(tmp_path, ending, digits):
    path, spoiled = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    WRITERS[ending](path)
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    xml = {name: part for name, part in parts.items() if name.endswith((".xml", ".rels"))}
    names = sorted({found["name"] or b"" for part in xml.values() for found in NUMBER.finditer(part)})
    assert len(names) > 10
    for name in names:
        before = rb"(?<![\w:])" + re.escape(name) + rb'"' if name else rb"<v>"
        numbers = re.compile(rb"(" + before + rb')\d+(?=["<])')
        with zipfile.ZipFile(spoiled, "w") as archive:
            for part, content in parts.items():
                if part in xml and name in content:
                    content = numbers.sub(lambda found: found[1] + digits.encode(), content)
                archive.writestr(part, content)
        reason = ""
        try:
            list(READERS[ending](File(spoiled, "b")))
        except Unreadable as mistake:
            reason = str(mistake)
        assert "set_int_max_str_digits" not in reason
