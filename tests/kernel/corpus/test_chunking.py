from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.corpus import splitting
from ragstone.kernel.corpus.chunking import CHUNKERS, chunk_documents
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Document

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
    "! ",
    "هل؟ ",
    "\u2029",
    "\x1c",
    "\ufffd",
]
texts = st.lists(st.one_of(st.sampled_from(NASTY), st.text(max_size=5)), max_size=40).map("".join)


SIZED = sorted(CHUNKERS.keys() - {"whole"})
OVERLAPPING = sorted(CHUNKERS.keys() - {"whole", "semantic"})
HEADINGS = [{"start": 0, "level": 1, "title": "A"}, {"start": 7, "level": 2, "title": "B"}]


def embed(texts, role):
    """Count characters: enough to tell texts apart, and the same for the same text."""
    counts = np.zeros((len(texts), 64), dtype=np.float32)
    for row, text in enumerate(texts):
        for character in text:
            counts[row, ord(character) % 64] += 1
    return counts / np.maximum(np.linalg.norm(counts, axis=1, keepdims=True), 1)


@pytest.mark.long
@given(
    text=texts,
    method=st.sampled_from(sorted(CHUNKERS)),
    source=st.sampled_from(["a.txt", "a.md", None]),
    headings=st.sampled_from([None, HEADINGS]),
    size=st.integers(1, 60),
    overlap=st.integers(0, 20),
)
@settings(deadline=None, max_examples=400)
def test_a_chunk_is_the_slice_of_its_document_that_it_says(text, method, source, headings, size, overlap):
    overlap = min(overlap, size - 1)
    document = Document(id="d", text=text, source=source, metadata=headings and {"headings": headings})
    chunks = list(chunk_documents([document], method, size, overlap, embed=embed))
    assert all(chunk.text == text[chunk.start : chunk.end] for chunk in chunks)
    assert all(chunk.text.strip() for chunk in chunks)
    assert [chunk.id for chunk in chunks] == [f"d#{n}" for n in range(len(chunks))]
    assert all(a.start < b.start and a.end < b.end for a, b in pairwise(chunks))
    if method in SIZED:
        assert all(len(chunk.text) <= size for chunk in chunks)
        assert all(a.end - b.start <= overlap for a, b in pairwise(chunks))


@pytest.mark.long
@given(
    text=texts,
    method=st.sampled_from(SIZED),
    source=st.sampled_from(["a.txt", "a.md"]),
    size=st.integers(1, 60),
)
@settings(deadline=None, max_examples=300)
def test_without_overlap_chunks_leave_out_nothing_but_white_space(text, method, source, size):
    document = Document(id="d", text=text, source=source)
    chunks = list(chunk_documents([document], method, size, embed=embed))
    ends = [0, *(chunk.end for chunk in chunks)]
    starts = [*(chunk.start for chunk in chunks), len(text)]
    gaps = [text[end:start] for end, start in zip(ends, starts, strict=True)]
    assert all(end <= start for end, start in zip(ends, starts, strict=True))
    assert not "".join(gaps).strip()


@pytest.mark.parametrize("method", SIZED)
@pytest.mark.parametrize("line", ["x", "東", "ก", "é", "e\u0301", "👩‍👩‍👧‍👦", "а", "ن"])
def test_an_endless_line_without_spaces_is_cut_all_the_same(method, line):
    text = line * 700
    chunks = list(chunk_documents([Document(id="d", text=text)], method, 100, embed=embed))
    assert "".join(chunk.text for chunk in chunks) == text
    assert max(len(chunk.text) for chunk in chunks) <= 100


def cut(
    text: str, size: int, overlap: int = 0, source: str | None = None, method: str = "recursive"
) -> list[str]:
    document = Document(id="d", text=text, source=source)
    return [chunk.text for chunk in chunk_documents([document], method, size, overlap)]


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


@pytest.mark.parametrize("method", OVERLAPPING)
def test_chunks_overlap_by_no_more_than_asked(method):
    text = " ".join(f"W{n}." for n in range(100))
    chunks = list(chunk_documents([Document(id="d", text=text)], method, 40, 10))
    shared = [a.end - b.start for a, b in pairwise(chunks)]
    assert max(shared) <= 10
    assert max(shared) > 0


def test_markdown_is_cut_at_its_headings():
    text = "# One\n\nalpha beta.\n\n## Two\n\ngamma delta."
    assert cut(text, 25, source="guide.md") == ["# One\n\nalpha beta.", "## Two\n\ngamma delta."]


def test_fixed_chunks_have_one_length_and_begin_before_the_last_one_ends():
    assert cut("abcdefghij", 4, 1, method="fixed") == ["abcd", "defg", "ghij"]


def test_fixed_chunks_do_not_tear_a_letter_from_its_accent():
    assert cut("abe\u0301d", 3, method="fixed") == ["ab", "e\u0301d"]
    assert cut("e" + "\u0301" * 5, 2, method="fixed") == ["e\u0301", "\u0301\u0301", "\u0301\u0301"]


def test_sentences_are_kept_whole_and_packed_to_the_size():
    text = "One two. Three four. Five six seven. Eight."
    assert cut(text, 21, method="sentence") == ["One two. Three four.", "Five six seven.", "Eight."]


def test_sentences_overlap_by_whole_sentences():
    text = "One two. Three. Four five six. Seven."
    # "Three." (6 characters) is repeated, for it fits 10 and leaves room; "Four five six." is longer than 10.
    assert cut(text, 24, 10, method="sentence") == ["One two. Three.", "Three. Four five six.", "Seven."]


def test_a_sentence_longer_than_the_size_is_cut_between_words():
    assert cut("Yes. One two three four. No.", 11, method="sentence") == [
        "Yes.",
        "One two",
        "three four.",
        "No.",
    ]


def test_sections_are_chunks_with_the_path_of_their_headings():
    text = (
        "# Guide\n\n"
        + "Intro. " * 20
        + "\n\n## Sowing\n\n"
        + "Sow. " * 20
        + "\n\n### Depth\n\n"
        + "5 cm. " * 20
    )
    chunks = list(chunk_documents([Document(id="d", text=text, source="g.md")], "heading", 200))
    assert [chunk.metadata["headings"] for chunk in chunks] == [
        "Guide",
        "Guide > Sowing",
        "Guide > Sowing > Depth",
    ]
    assert [chunk.text[:8] for chunk in chunks] == ["# Guide\n", "## Sowin", "### Dept"]


def test_tiny_sections_are_joined_to_neighbours_under_the_same_parent_and_share_its_path():
    text = "# A\n\n## One\n\nx.\n\n## Two\n\ny.\n\n# B\n\n" + "z. " * 30
    chunks = list(chunk_documents([Document(id="d", text=text, source="g.md")], "heading", 120))
    assert [chunk.text for chunk in chunks] == [
        text[: text.index("\n\n# B")],
        text[text.index("# B") :].strip(),
    ]
    assert [chunk.metadata["headings"] for chunk in chunks] == ["A", "B"]


def test_a_section_longer_than_the_size_is_cut_and_each_part_keeps_the_path():
    text = "# A\n\n" + "word " * 100
    chunks = list(chunk_documents([Document(id="d", text=text)], "heading", 100))
    assert len(chunks) > 4
    assert {chunk.metadata["headings"] for chunk in chunks} == {"A"}


def test_headings_that_a_reader_noted_are_sections():
    text = "Sowing\n" + "a " * 50 + "\nHarvest\n" + "b " * 50
    noted = [
        {"start": 0, "level": 1, "title": "Sowing"},
        {"start": text.index("Harvest"), "level": 1, "title": "Harvest"},
    ]
    document = Document(id="d", text=text, source="g.pdf", metadata={"headings": noted})
    assert [chunk.metadata for chunk in chunk_documents([document], "heading", 200)] == [
        {"headings": "Sowing"},
        {"headings": "Harvest"},
    ]


def test_a_chunk_has_the_page_that_it_begins_on():
    document = Document(id="d", text="aaaa\nbbbb\ncccc", metadata={"page_starts": [0, 5, 10]})
    assert [chunk.metadata["page"] for chunk in chunk_documents([document], "fixed", 5)] == [1, 2, 3]


def test_columns_of_the_user_that_are_called_headings_or_page_starts_do_no_harm():
    document = Document(id="d", text="a", metadata={"headings": ["x"], "page_starts": "none"})
    assert [chunk.metadata for chunk in chunk_documents([document])] == [None]


def test_language_topic_and_tags_go_along():
    metadata = {"topic": "water", "tags": {"crop": ["maize", "wheat"]}, "other": 1}
    (chunk,) = chunk_documents([Document(id="d", text="a", lang="en", metadata=metadata)])
    assert chunk.metadata == {"lang": "en", "topic": "water", "tags": {"crop": ["maize", "wheat"]}}


def test_whole_ignores_the_size():
    document = Document(id="d", text="x" * 5000)
    assert [len(chunk.text) for chunk in chunk_documents([document], "whole", 10)] == [5000]


def test_a_blank_document_gives_no_chunk():
    blank = [Document(id="a", text=""), Document(id="b", text=" \n\t")]
    assert [list(chunk_documents(blank, method, embed=embed)) for method in CHUNKERS] == [[]] * len(CHUNKERS)


def test_the_title_goes_along():
    titled, untitled = chunk_documents([Document(id="a", text="x", title="T"), Document(id="b", text="y")])
    assert titled.metadata == {"title": "T"}
    assert untitled.metadata is None


def test_an_unknown_method_names_the_nearest(says):
    with pytest.raises(ConfigError) as error:
        chunk_documents([], "recursiv")
    says(error.value)


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1)])
def test_sizes_that_cannot_be_are_named(size, overlap, says):
    with pytest.raises(ConfigError) as error:
        chunk_documents([], "recursive", size, overlap)
    says(error.value)


@pytest.mark.parametrize("method", sorted(CHUNKERS))
def test_half_a_surrogate_pair_is_named_with_its_document(method, says):
    with pytest.raises(DataError) as error:
        list(chunk_documents([Document(id="bad", text="a\ud800b")], method, embed=embed))
    says(error.value)


def test_a_very_long_text_goes_to_the_splitter_in_blocks_to_a_blank_line(monkeypatch):
    text = "Sow maize.\n\nWater it. Weed it.\n\nHarvest it in June.\n\n" + "x" * 60
    document = Document(id="a", text=text)
    monkeypatch.setattr(splitting, "MOST_AT_ONCE", 40)
    # Blocks: up to 32, the blank line before "Harvest"; 53, before the x; 40 of them; the rest.
    assert [chunk.start for chunk in chunk_documents([document], "recursive", 200)] == [0, 32, 53, 93]
    monkeypatch.setattr(splitting, "MOST_AT_ONCE", 4000)
    assert [chunk.start for chunk in chunk_documents([document], "recursive", 200)] == [0]
