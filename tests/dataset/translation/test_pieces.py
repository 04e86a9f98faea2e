from hypothesis import given
from hypothesis.strategies import lists, sampled_from, text

from ragstone.dataset.translation.pieces import cut, kept_parts, masked, unmasked

PARTS = [
    "A sentence here. ",
    "Ein Wort",
    "\n",
    "\n\n",
    " \n \n",
    "```py\nx = 1\n```\n",
    "~~~\n",
    "1998",
    "   ",
    "你好。",
]


@given(lists(sampled_from(PARTS)).map("".join))
def test_the_pieces_of_a_text_are_the_text(text):
    pieces = cut(text, 20)
    assert "".join(piece.text for piece in pieces) == text
    assert all(piece.text == piece.text.strip() for piece in pieces if piece.open)


@given(text())
def test_no_character_of_any_text_is_lost(text):
    assert "".join(piece.text for piece in cut(text, 200)) == text


def test_paragraphs_are_open_and_what_stands_between_them_is_not():
    assert cut("# Wheat\n\nIt is sown.\n \nIt grows.\n", 100) == [
        ("# Wheat", True),
        ("\n\n", False),
        ("It is sown.", True),
        ("\n \n", False),
        ("It grows.", True),
        ("\n", False),
    ]


def test_code_in_fences_and_what_has_no_letter_stay():
    text = "Run this:\n\n```sh\nmake all\n\nmake check\n```\n\n---\n\nThen wait."
    assert [piece.text for piece in cut(text, 100) if piece.open] == ["Run this:", "Then wait."]


def test_a_fence_that_is_not_closed_is_code_to_the_end():
    assert [piece.text for piece in cut("Text.\n\n```\ncode\n\nmore code", 100) if piece.open] == ["Text."]


def test_a_long_paragraph_is_cut_between_sentences():
    # "One is here. Two is here." has 25 characters, with the third sentence 40.
    opened = [piece.text for piece in cut("One is here. Two is here. Three is here.", 30) if piece.open]
    assert opened == ["One is here. Two is here.", "Three is here."]


def test_kept_parts_are_code_addresses_tags_and_places():
    said = "Call `run(x)` for {name}, %s and {{ user }}; see https://a.org/b?c=1, or <b>ask</b> me@a.org."
    assert kept_parts(said) == [
        "`run(x)`",
        "{name}",
        "%s",
        "{{ user }}",
        "https://a.org/b?c=1",
        "<b>",
        "</b>",
        "me@a.org",
    ]


def test_prose_has_no_kept_parts():
    assert kept_parts("It costs 5 < 6 dollars (50 % of {all, the rest}) and 3 > 2.") == []


@given(lists(sampled_from(["`a`", "{b}", "https://c.org", "word", "%s"])).map(" ".join))
def test_a_masked_text_comes_back(text):
    hidden, parts = masked(text)
    assert kept_parts(hidden) == []
    assert unmasked(hidden, parts) == text
