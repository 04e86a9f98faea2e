"""PowerPoint files that python-pptx writes."""

import pytest
from pptx import Presentation
from pptx.util import Inches

from ragstone.kernel.corpus.readers.pptx import read_pptx
from ragstone.kernel.files.file import File, Unreadable


def saved(slides, tmp_path):
    path = tmp_path / "a.pptx"
    slides.save(path)
    (document,) = read_pptx(File(path, "a.pptx"))
    return document


def titled(slides, title, text=""):
    slide = slides.slides.add_slide(slides.slide_layouts[1])
    slide.shapes.title.text = title
    slide.placeholders[1].text = text
    return slide


def test_slides_are_pages_and_their_titles_headings(tmp_path):
    slides = Presentation()
    titled(slides, "Soil", "Clay\nSand")
    slides.slides.add_slide(slides.slide_layouts[6])
    titled(slides, "Water")
    document = saved(slides, tmp_path)
    assert document.text == "Soil\n\nClay\nSand\n\nWater"
    # The second slide is blank: it begins where the third does, at 4 + 2 + 4 + 1 + 4 + 2.
    assert document.metadata == {
        "headings": [
            {"start": 0, "level": 1, "title": "Soil"},
            {"start": 17, "level": 1, "title": "Water"},
        ],
        "page_starts": [0, 17, 17],
    }
    assert document.title == "Soil"


def test_notes_follow_their_slide(tmp_path):
    slides = Presentation()
    titled(slides, "Soil").notes_slide.notes_text_frame.text = "Say hello."
    titled(slides, "Water")
    assert saved(slides, tmp_path).text == "Soil\n\nNotes:\nSay hello.\n\nWater"


def test_tables_groups_and_boxes_are_read(tmp_path):
    slides = Presentation()
    slide = slides.slides.add_slide(slides.slide_layouts[6])
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(2)).table
    for row in range(2):
        for column in range(2):
            table.cell(row, column).text = f"{row}{column}"
    table.cell(0, 0).merge(table.cell(1, 0))
    box = slide.shapes.add_group_shape().shapes.add_textbox(0, 0, 9, 9)
    box.text_frame.text = "In a group"
    assert saved(slides, tmp_path).text == "00 10 | 01\n00 10 | 11\n\nIn a group"


def test_a_hidden_slide_has_its_place_and_no_text(tmp_path):
    slides = Presentation()
    titled(slides, "Shown")
    titled(slides, "Hidden")._element.set("show", "0")
    titled(slides, "Last")
    document = saved(slides, tmp_path)
    assert (document.text, document.metadata["page_starts"]) == ("Shown\n\nLast", [0, 7, 7])


def test_slide_numbers_and_footers_are_left_out(tmp_path):
    slides = Presentation()
    slide = titled(slides, "Soil")
    for kind in ("sldNum", "ftr", "dt"):
        box = slide.shapes.add_textbox(0, 0, 9, 9)
        box.text_frame.text = "furniture"
        properties = box._element.nvSpPr.nvPr
        mark = properties.makeelement(
            "{http://schemas.openxmlformats.org/presentationml/2006/main}ph", {"type": kind}
        )
        properties.append(mark)
    assert saved(slides, tmp_path).text == "Soil"


def test_a_file_without_text_or_slides_is_said(tmp_path, says):
    slides = Presentation()
    slides.slides.add_slide(slides.slide_layouts[6])
    with pytest.raises(Unreadable) as error:
        saved(slides, tmp_path)
    says(error.value)
    with pytest.raises(Unreadable) as error:
        saved(Presentation(), tmp_path)
    says(error.value)
    (tmp_path / "b.pptx").write_bytes(b"PK nothing")
    with pytest.raises(Unreadable) as refused:
        list(read_pptx(File(tmp_path / "b.pptx", "b.pptx")))
    says(refused.value)
