from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.corpus import CHUNKERS, chunk_documents
from ragstone.errors import ConfigError, DataError
from ragstone.records import Document

NASTY = [
    "a",
    "é",
    "e\u0301",
    "👩‍👩‍👧‍👦",
    "🇮🇳",
    "𐍈",
    "\r\n",
    "\n\n",
    "\n",
    " ",
    "\u00a0",
    "\u2028",
    "\0",
    ". ",
    "# ",
    "```\n",
    "| a | b |\n|---|---|\n",
    "สวัสดีชาวโลก",
    "नमस्ते दुनिया। ",
    "क्‍ष",
    "東京は日本の首都。",
    "مَرحَبًا",
    "\ufeff",
    "\ufffd",
]
texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=5)), max_size=40).map("".join)


@given(
    text=texts,
    method=st.sampled_from(sorted(CHUNKERS)),
    source=st.sampled_from(["a.txt", "a.md"]),
    size=st.integers(1, 60),
    overlap=st.integers(0, 20),
)
@settings(deadline=None)
def test_a_chunk_is_the_slice_of_its_document_that_it_says(text, method, source, size, overlap):
    document = Document(id="d", text=text, source=source)
    chunks = list(chunk_documents([document], method, size, min(overlap, size - 1)))
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)
    assert all(chunk.text.strip() for chunk in chunks)
    assert [chunk.id for chunk in chunks] == [f"d#{n}" for n in range(len(chunks))]
    if method == "recursive":
        assert all(len(chunk.text) <= size for chunk in chunks)


@given(text=texts, size=st.integers(1, 60))
@settings(deadline=None)
def test_without_overlap_chunks_leave_out_nothing_but_white_space(text, size):
    chunks = list(chunk_documents([Document(id="d", text=text)], "recursive", size))
    ends = [0, *(chunk.end for chunk in chunks)]
    starts = [*(chunk.start for chunk in chunks), len(text)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    assert not "".join(gaps).strip()


def cut(text: str, size: int, overlap: int = 0, source: str | None = None) -> list[str]:
    document = Document(id="d", text=text, source=source)
    return [chunk.text for chunk in chunk_documents([document], "recursive", size, overlap)]


def test_paragraphs_are_kept_whole_where_they_fit():
    assert cut("One two.\n\nThree four five.", 17) == ["One two.", "Three four five."]


def test_a_long_paragraph_is_cut_between_sentences_then_words():
    assert cut("One two. Three four five.", 17) == ["One two.", "Three four five."]
    assert cut("one two three", 8) == ["one two", "three"]


def test_hindi_sentences_end_at_the_danda():
    assert cut("यह एक है। वह दो है।", 10) == ["यह एक है।", "वह दो है।"]


def test_thai_words_are_not_cut_apart():
    assert cut("สวัสดีชาวโลก", 6) == ["สวัสดี", "ชาวโลก"]


def test_an_accent_stays_with_its_letter():
    assert cut("e\u0301" * 3, 3) == ["e\u0301"] * 3


def test_chunks_overlap_by_no_more_than_asked():
    text = " ".join(f"w{n}" for n in range(100))
    chunks = list(chunk_documents([Document(id="d", text=text)], "recursive", 40, 10))
    shared = [a.end - b.start for a, b in pairwise(chunks)]
    assert max(shared) <= 10
    assert max(shared) > 0


def test_markdown_is_cut_at_its_headings():
    text = "# One\n\nalpha beta.\n\n## Two\n\ngamma delta."
    assert cut(text, 25, source="guide.md") == ["# One\n\nalpha beta.", "## Two\n\ngamma delta."]


def test_whole_ignores_the_size():
    document = Document(id="d", text="x" * 5000)
    assert [len(chunk.text) for chunk in chunk_documents([document], "whole", 10)] == [5000]


def test_a_blank_document_gives_no_chunk():
    blank = [Document(id="a", text=""), Document(id="b", text=" \n\t")]
    assert [list(chunk_documents(blank, method)) for method in CHUNKERS] == [[]] * len(CHUNKERS)


def test_the_title_goes_along():
    titled, untitled = chunk_documents([Document(id="a", text="x", title="T"), Document(id="b", text="y")])
    assert titled.metadata == {"title": "T"}
    assert untitled.metadata is None


def test_an_unknown_method_names_the_nearest():
    with pytest.raises(ConfigError, match=r"unknown chunk method 'recursiv'\. Did you mean 'recursive'"):
        chunk_documents([], "recursiv")


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1)])
def test_sizes_that_cannot_be_are_named(size, overlap):
    with pytest.raises(ConfigError, match="overlap must be from 0 to size - 1"):
        chunk_documents([], "recursive", size, overlap)


def test_half_a_surrogate_pair_is_named_with_its_document():
    with pytest.raises(DataError, match="document 'bad' is no valid text"):
        list(chunk_documents([Document(id="bad", text="a\ud800b")], "recursive"))
