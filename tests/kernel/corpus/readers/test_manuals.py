"""Manuals in six formats: the text that a reader sees, and its headings. SOURCES.md there has the origin."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.golden import check_golden

from ragstone.kernel.corpus.headings import document_headings
from ragstone.kernel.corpus.ingest import ingest
from ragstone.kernel.corpus.readers._outline import lay_out
from ragstone.kernel.corpus.readers.asciidoc import AsciiDocText
from ragstone.kernel.corpus.readers.rst import RstText

MANUALS = Path(__file__).parents[3] / "fixtures" / "manuals"
KINDS = [RstText, AsciiDocText]


NAMES = [
    str(path.relative_to(MANUALS))
    for path in sorted(MANUALS.rglob("*.*"))
    if path.name not in {"SOURCES.md", "LICENSE.md"}
]


@pytest.mark.parametrize("name", NAMES)
def test_the_text_of_a_manual_is_what_its_reader_sees(name):
    [document] = ingest([MANUALS / f"{name}*"])  # a pattern: code is read only where one names it
    check_golden(f"manuals/{name}.txt", f"{document.title}\n---\n{document.text}\n")


@pytest.mark.parametrize("name", [name for name in NAMES if not name.endswith((".ex", ".md"))])
def test_headings_are_where_their_titles_are(name):
    [document] = ingest([MANUALS / name])
    for heading in document_headings(document):
        assert document.text[heading.start :].startswith(heading.title)


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("pump.rst", [(1, "The solar pump"), (2, "Install"), (3, "Limits")]),
        ("valve.adoc", [(1, "The Valve: a short guide"), (2, "Limits")]),
        ("hose.md", [(1, "Lengths")]),
    ],
)
def test_headings_keep_their_levels(name, titles):
    [document] = ingest([MANUALS / name])
    assert [(heading.level, heading.title) for heading in document_headings(document)] == titles


@given(st.text(" \n.:*`_|=+-<>[]{}ab1\\#/", max_size=300), st.sampled_from(KINDS))
def test_any_text_is_read(text, kind):
    lay_out(kind(text).blocks())


@given(st.lists(st.text("abc äß", min_size=1).filter(str.strip), min_size=1), st.sampled_from(KINDS))
def test_plain_paragraphs_stay_as_they_are(paragraphs, kind):
    paragraphs = [" ".join(text.split()) for text in paragraphs]
    assert lay_out(kind("\n\n".join(paragraphs)).blocks()).text == "\n\n".join(paragraphs)
