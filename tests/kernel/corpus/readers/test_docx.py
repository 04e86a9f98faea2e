"""Word files that python-docx writes, and some that nobody should."""

import zipfile

import pytest
from docx import Document as WordFile
from docx.enum.text import WD_BREAK
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls, qn

from ragstone.kernel.corpus.readers.docx import FORMS, Counting, ListLevel, WordList, read_docx
from ragstone.kernel.files.file import File, Unreadable


def read(path):
    (document,) = read_docx(File(path, path.name))
    return document


def saved(word, tmp_path):
    path = tmp_path / "a.docx"
    word.save(path)
    return read(path)


def test_headings_have_their_place_and_level(tmp_path):
    word = WordFile()
    word.add_heading("Guide", 0)
    word.add_paragraph("Intro.")
    word.add_heading("Soil", 1)
    word.add_heading("Clay", 2)
    word.add_paragraph("Heavy.")
    document = saved(word, tmp_path)
    assert document.text == "Guide\n\nIntro.\n\nSoil\n\nClay\n\nHeavy."
    headings = document.metadata["headings"]
    assert [(one["level"], one["title"]) for one in headings] == [(1, "Guide"), (1, "Soil"), (2, "Clay")]
    assert all(document.text[one["start"] :].startswith(one["title"]) for one in headings)
    assert document.title == "Guide"


def test_the_title_is_the_properties_then_the_first_heading_then_the_first_line(tmp_path):
    word = WordFile()
    word.add_paragraph("First line")
    assert saved(word, tmp_path).title == "First line"
    word.add_heading("Heading", 1)
    assert saved(word, tmp_path).title == "Heading"
    word.core_properties.title = "Named"
    assert saved(word, tmp_path).title == "Named"


def test_lists_are_lines_and_numbers_are_those_that_word_shows(tmp_path):
    word = WordFile()
    for text in ("one", "two"):
        word.add_paragraph(text, style="List Number")
    word.add_paragraph("three", style="List Bullet")
    word.add_paragraph("After.")
    assert saved(word, tmp_path).text == "1. one\n2. two\nthree\n\nAfter."


def test_rows_are_lines_and_a_cell_that_spans_rows_stands_in_each(tmp_path):
    word = WordFile()
    table = word.add_table(3, 3)
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"{row}{column}"
    table.cell(1, 0).merge(table.cell(2, 0))
    table.cell(0, 1).merge(table.cell(0, 2))
    table.cell(1, 1).add_table(1, 2).cell(0, 1).text = "inner"
    document = saved(word, tmp_path)
    assert document.text == "00 | 01 02\n10 20 | 11 | inner | 12\n10 20 | 21 | 22"


def test_a_table_that_lays_out_the_page_is_no_table(tmp_path):
    word = WordFile()
    cell = word.add_table(1, 2).cell(0, 1)
    cell.paragraphs[0].text = "News"
    cell.paragraphs[0].style = word.styles["Heading 1"]
    cell.add_paragraph("First.")
    assert saved(word, tmp_path).text == "News\n\nFirst."


def test_pages_are_those_that_word_has_laid_out(tmp_path):
    word = WordFile()
    word.add_paragraph("One.")
    paragraph = word.add_paragraph("Two ")
    run = paragraph.add_run()
    run.add_break(WD_BREAK.PAGE)
    run._r.append(run._r.makeelement(qn("w:lastRenderedPageBreak"), {}))
    paragraph.add_run("three.")
    document = saved(word, tmp_path)
    assert document.text == "One.\n\nTwo three."
    assert document.metadata["page_starts"] == [0, document.text.index("three")]


def test_deleted_and_hidden_text_and_furniture_are_left_out(tmp_path):
    word = WordFile()
    word.sections[0].header.paragraphs[0].text = "Header"
    paragraph = word.add_paragraph("Kept")
    paragraph.add_run(" hidden").font.hidden = True
    w = nsdecls("w")
    paragraph._p.append(parse_xml(f"<w:del {w}><w:r><w:delText>gone</w:delText></w:r></w:del>"))
    paragraph._p.append(parse_xml(f"<w:ins {w}><w:r><w:t> added</w:t></w:r></w:ins>"))
    word.add_paragraph("Kept ..... 3", style=word.styles.add_style("toc 1", 1))
    assert saved(word, tmp_path).text == "Kept added"


def test_text_boxes_follow_and_content_controls_are_read(tmp_path):
    word = WordFile()
    paragraph = word.add_paragraph("Before")
    w, ns = nsdecls("w"), 'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"'
    box = "<w:txbxContent><w:p><w:r><w:t>In the box</w:t></w:r></w:p></w:txbxContent>"
    paragraph._p.append(
        parse_xml(
            f"<w:r {w} {ns}><mc:AlternateContent><mc:Choice Requires='wps'>{box}</mc:Choice>"
            f"<mc:Fallback>{box}</mc:Fallback></mc:AlternateContent></w:r>"
        )
    )
    control = f"<w:sdt {w}><w:sdtContent><w:p><w:r><w:t>Control</w:t></w:r></w:p></w:sdtContent></w:sdt>"
    paragraph._p.addnext(parse_xml(control))
    assert saved(word, tmp_path).text == "Before\n\nIn the box\n\nControl"


def rewritten(path, part, change):
    """The file with one part changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts[part] = change(parts[part])
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


BOMB = b"""<!DOCTYPE a [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">]>"""


@pytest.mark.parametrize("part", ["word/document.xml", "word/styles.xml", "_rels/.rels"])
def test_a_part_that_declares_entities_is_refused(tmp_path, part):
    path = tmp_path / "a.docx"
    WordFile().save(path)
    rewritten(path, part, lambda xml: xml.replace(b"?>", b"?>" + BOMB, 1))
    with pytest.raises(Unreadable, match="it declares entities"):
        read(path)


def test_what_is_no_word_file_or_a_damaged_one_is_said(tmp_path, says):
    path = tmp_path / "a.docx"
    path.write_bytes(b"")
    with pytest.raises(Unreadable) as refused:
        read(path)
    says(refused.value)
    path.write_bytes(b"\xd0\xcf\x11\xe0rest")
    with pytest.raises(Unreadable) as error:
        read(path)
    says(error.value)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "text")
    with pytest.raises(Unreadable) as error:
        read(path)
    says(error.value)
    WordFile().save(path)
    rewritten(path, "word/document.xml", lambda xml: xml[: len(xml) // 2])
    with pytest.raises(Unreadable, match="it is damaged"):
        read(path)
    WordFile().save(path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(Unreadable) as refused:
        read(path)
    says(refused.value)


def test_tables_nested_beyond_reason_are_refused(tmp_path):
    path = tmp_path / "a.docx"
    WordFile().save(path)
    deep = b"<w:tbl><w:tr><w:tc>" * 2000 + b"<w:p/>" + b"</w:tc></w:tr></w:tbl>" * 2000
    rewritten(path, "word/document.xml", lambda xml: xml.replace(b"<w:body>", b"<w:body>" + deep))
    with pytest.raises(Unreadable, match="nested too deeply"):
        read(path)


def test_notes_stand_at_the_end_with_their_marks(tmp_path):
    word = WordFile()
    paragraph = word.add_paragraph("Sow early")
    w = nsdecls("w")
    paragraph._p.append(parse_xml(f'<w:r {w}><w:footnoteReference w:id="2"/></w:r>'))
    path = tmp_path / "a.docx"
    word.save(path)
    kind = b"http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    relation = b'<Relationship Id="f" Type="' + kind + b'" Target="footnotes.xml"/></Relationships>'
    rewritten(path, "word/_rels/document.xml.rels", lambda xml: xml.replace(b"</Relationships>", relation))
    note = '<w:footnote w:id="2"><w:p><w:r><w:t>In March.</w:t></w:r></w:p></w:footnote>'
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("word/footnotes.xml", f"<w:footnotes {w}>{note}</w:footnotes>")
    assert read(path).text == "Sow early[1]\n\n[1] In March."


def test_levels_count_on_their_own_and_begin_anew_below_a_higher_one():
    levels = {0: ListLevel("decimal", "%1.", 1), 1: ListLevel("lowerLetter", "%1.%2)", 1)}
    counting = Counting({"1": WordList("a", levels, {})})
    shown = [counting.label("1", depth) for depth in (0, 1, 1, 0, 1)]
    # 1. / 1.a) / 1.b) / 2. / 2.a)
    assert shown == ["1.", "1.a)", "1.b)", "2.", "2.a)"]


def test_a_list_that_restarts_begins_at_its_number_and_others_of_its_kind_go_on():
    levels = {0: ListLevel("decimal", "%1.", 1)}
    counting = Counting({"1": WordList("a", levels, {}), "2": WordList("a", levels, {0: 5})})
    assert [counting.label(name, 0) for name in "1122"] == ["1.", "2.", "5.", "6."]


def test_bullets_and_unknown_lists_have_no_number():
    counting = Counting({"1": WordList("a", {0: ListLevel("bullet", "•", 1)}, {})})
    assert [counting.label("1", 0), counting.label("1", 3), counting.label("9", 0)] == ["", "", ""]


@pytest.mark.parametrize(
    ("form", "count", "shown"),
    [
        ("upperRoman", 1994, "MCMXCIV"),
        ("lowerRoman", 4, "iv"),
        ("lowerLetter", 28, "bb"),
        ("upperLetter", 26, "Z"),
        ("decimalZero", 7, "07"),
    ],
)
def test_numbers_are_written_as_word_writes_them(form, count, shown):
    assert FORMS[form](count) == shown
