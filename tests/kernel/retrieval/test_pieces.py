import string
import unicodedata
from collections import defaultdict
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.corpus.tokens import search_terms, word_terms
from ragstone.kernel.retrieval.bm25 import number_pieces

# What could be cut wrongly: numbers, marks, joiners, dotted capitals, spaces of every kind, several scripts.
TRAPS = (
    "aIiZ1٣0,.=<>_ '\t\n\x00\x1c\x85\xa0\u2003\u3000"
    "\u0301\u0307\u0338\u200b\u00ad\u00b4\u2260İıßﬁ²東タที่हिवال\ud800"
)
WHITE_SPACE = [chr(code) for code in range(0x110000) if chr(code).isspace()]
MARKS = [chr(code) for code in range(0x110000) if unicodedata.category(chr(code))[0] == "M"]

texts = st.text() | st.text(st.sampled_from(TRAPS), max_size=20)


def pieces_of(*texts: str) -> list[list[str]]:
    known: dict[bytes, int] = defaultdict(count().__next__)
    counts, numbers = number_pieces(texts, known)
    named = list(known)
    pieces = iter(named[number].decode("utf-8", "surrogatepass") for number in numbers.tolist())
    return [[next(pieces) for _ in range(n)] for n in counts.tolist()]


def terms_by_pieces(text: str) -> list[str]:
    return [term for piece in pieces_of(text)[0] for term in search_terms(piece)]


def test_pieces_are_numbered_in_the_order_of_the_texts():
    assert pieces_of("The cat, the CAT.", "", "a-b 1,000 internationalisation", "...") == [
        ["the", "cat", "the", "cat"],
        [],
        ["a", "b", "1,000", "internationalisation"],
        [],
    ]
    assert pieces_of() == []


def test_a_piece_keeps_its_number_from_one_call_to_the_next():
    known: dict[bytes, int] = defaultdict(count().__next__)
    first = number_pieces(["maize internationalisation"], known)[1].tolist()
    second = number_pieces(["wheat internationalisation maize"], known)[1].tolist()
    assert second[1:] == first[::-1]
    assert second[0] not in first


@given(texts)
@settings(deadline=None, max_examples=400)
def test_the_terms_of_a_text_are_those_of_its_pieces(text):
    assert terms_by_pieces(text) == search_terms(text)


@given(st.lists(texts, max_size=6))
@settings(deadline=None)
def test_texts_are_cut_together_as_each_by_itself(several):
    assert pieces_of(*several) == [pieces_of(text)[0] for text in several]


@given(texts)
@settings(deadline=None)
def test_a_piece_of_letters_and_digits_is_a_folded_word(text):
    for piece in pieces_of(text)[0]:
        if piece.isascii() and piece.isalnum():
            assert word_terms(piece) == search_terms(piece)


@given(texts, texts, st.sampled_from(WHITE_SPACE))
@settings(deadline=None, max_examples=400)
def test_white_space_separates_terms(first, second, space):
    assert search_terms(first + space + second) == search_terms(first) + search_terms(second)


@pytest.mark.parametrize(
    "separator", sorted(set(map(chr, range(128))) - {*string.ascii_letters, *string.digits})
)
def test_no_mark_makes_an_ascii_separator_something_else(separator):
    text = "".join(f"a{separator}{mark}b " for mark in MARKS)
    assert terms_by_pieces(text) == search_terms(text)


@pytest.mark.parametrize("letter", string.ascii_uppercase)
def test_an_ascii_letter_may_be_folded_before_its_mark_is_joined(letter):
    text = "".join(f"a{letter}{mark}b " for mark in MARKS)
    assert terms_by_pieces(text) == search_terms(text)
