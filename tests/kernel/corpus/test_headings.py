import pytest

from ragstone.kernel.corpus.headings import (
    SectionHeading,
    document_headings,
    markdown_headings,
    merge_sections,
    path_of,
    sections_of,
)
from ragstone.kernel.records import Document


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# One\ntext\n## Two", [(0, 1, "One"), (11, 2, "Two")]),
        ("One\n===\n\nTwo\n---\n", [(0, 1, "One"), (9, 2, "Two")]),
        ("One\r\n===\r\n# Two", [(0, 1, "One"), (10, 1, "Two")]),
        ("   ### Three ###", [(0, 3, "Three")]),
        ("## `code` and [a link](b) *here*", [(0, 2, "code and a link here")]),
        ("# 中文标题\n## नमस्ते", [(0, 1, "中文标题"), (7, 2, "नमस्ते")]),
        ("#", [(0, 1, "")]),
        ("####### seven", []),
        ("#hashtag", []),
        ("    # code", []),
        ("```sh\n# comment\n```\n# Real", [(20, 1, "Real")]),
        ("````\n```\n# comment\n````\n# Real", [(24, 1, "Real")]),
        ("~~~\n# comment\n```\n~~~\n", []),
        ("```\n# never closed", []),
        ("---\ntitle: x\n# no heading\n---\n# Real", [(30, 1, "Real")]),
        ("a line\nanother line\n---", []),
        ("- an item\n---", []),
        ("text\n\n---\n\nmore", []),
        ("| a | b |\n|---|---|", []),
        ("# A\nB\n===", [(0, 1, "A"), (4, 1, "B")]),
        ("", []),
    ],
)
def test_headings_of_markdown(text, found):
    assert [(one.start, one.level, one.title) for one in markdown_headings(text)] == found


def test_headings_that_the_reader_noted_go_before_those_of_markdown():
    noted = [{"start": 4, "level": 2, "title": "B"}, {"start": 0, "level": 1, "title": "A"}]
    document = Document(id="d", text="# X\nB", source="a.md", metadata={"headings": noted})
    assert document_headings(document) == [SectionHeading(0, 1, "A"), SectionHeading(4, 2, "B")]


@pytest.mark.parametrize(
    ("source", "n"), [("a.md", 1), (None, 1), ("rows.jsonl", 1), ("a.py", 0), ("a.txt", 0)]
)
def test_markdown_is_looked_for_where_the_ending_does_not_say_otherwise(source, n):
    assert len(document_headings(Document(id="d", text="# X", source=source))) == n


def test_a_heading_outside_the_text_is_left_out():
    noted = [{"start": 9, "level": 1, "title": "A"}]
    assert document_headings(Document(id="d", text="abc", metadata={"headings": noted})) == []


TEXT = "intro\n# A\na\n## B\nb\n### C\nc\n## D\nd\n# E\ne"


def test_sections_have_the_path_of_the_headings_above_them():
    sections = sections_of(TEXT, list(markdown_headings(TEXT)))
    assert [section.path for section in sections] == [
        (),
        ("A",),
        ("A", "B"),
        ("A", "B", "C"),
        ("A", "D"),
        ("E",),
    ]
    assert "".join(TEXT[section.start : section.end] for section in sections) == TEXT


def test_a_span_stands_under_the_headings_that_all_of_it_shares():
    sections = sections_of(TEXT, list(markdown_headings(TEXT)))
    at = {letter: TEXT.index(f" {letter}") for letter in "ABCDE"}
    assert path_of((at["C"], at["C"] + 2), sections) == ("A", "B", "C")
    assert path_of((at["B"], at["D"]), sections) == ("A",)
    assert path_of((at["D"], at["E"] + 2), sections) == ()
    assert path_of((0, 3), sections) == ()
    assert path_of((0, 3), []) == ()


def test_tiny_sections_are_merged_within_their_parent_and_up_to_the_size():
    def merged(size: int, tiny: int) -> list[str]:
        sections = sections_of(TEXT, list(markdown_headings(TEXT)))
        return [TEXT[start:end] for start, end in merge_sections(TEXT, sections, size, tiny)]

    assert merged(100, 1) == ["intro\n", "# A\na\n", "## B\nb\n", "### C\nc\n", "## D\nd\n", "# E\ne"]
    # C goes with B, its parent; D, C's uncle, does not.
    assert merged(15, 8) == ["intro\n# A\na\n", "## B\nb\n### C\nc\n", "## D\nd\n", "# E\ne"]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("# **Sow** *now* and `dig`", "Sow now and dig"),
        ("# 10*10 plots, 2 * 3 kg, 5* hotels", "10*10 plots, 2 * 3 kg, 5* hotels"),
        ("# The Spitfire`s wings", "The Spitfire`s wings"),
    ],
)
def test_a_sign_that_marks_nothing_stays_in_a_heading(line, title):
    assert [one.title for one in document_headings(Document(id="a", text=f"{line}\n\nText."))] == [title]
