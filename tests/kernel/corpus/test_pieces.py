import string
import unicodedata
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.corpus._pieces import KeySlots, PieceTable
from ragstone.kernel.corpus.tokens import search_terms, word_terms

# What could be cut wrongly: numbers, marks, joiners, dotted capitals, spaces of every kind, several scripts.
TRAPS = (
    "aIiZ1٣0,.=<>_ '\t\n\x00\x1c\x85\xa0\u2003\u3000"
    "\u0301\u0307\u0338\u200b\u00ad\u00b4\u2260İıßﬁ²東タที่हिवال\ud800"
)
WHITE_SPACE = [*filter(str.isspace, map(chr, range(0x110000)))]

texts = st.text() | st.text(st.sampled_from(TRAPS), max_size=20)


@cache
def marks() -> list[str]:
    return [char for char in map(chr, range(0x110000)) if unicodedata.category(char)[0] == "M"]


def pieces_of(*texts: str, table: PieceTable | None = None) -> list[list[str]]:
    table = table or PieceTable(sum(map(len, texts)))
    counts, numbers = table.number(texts)
    named = list(table.known)
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
    table = PieceTable(100)
    first = table.number(["maize internationalisation"])[1].tolist()
    second = table.number(["wheat internationalisation maize"])[1].tolist()
    assert second[1:] == first[::-1]
    assert second[0] not in first


# Of one length each and near each other, so that they share slots and differ in the first or last byte.
alike = st.sampled_from([1, 7, 8, 9, 16, 17, 31, 32, 33, 70]).flatmap(
    lambda n: st.builds("{}{}{}".format, st.sampled_from("ab"), st.just("x" * (n - 1)), st.sampled_from("ab"))
)


@pytest.mark.long
@given(st.lists(st.lists(alike, max_size=8).map(" ".join), max_size=6), st.integers(0, 40))
@settings(deadline=None)
def test_pieces_of_any_length_are_told_apart_however_few_slots_there_are(several, n_characters):
    table = PieceTable(n_characters)
    for text in several:
        assert pieces_of(text, table=table) == [text.split()]
    assert len(table.known) == len({piece for text in several for piece in text.split()})


@given(st.lists(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 2)), max_size=9), max_size=5))
@settings(deadline=None)
def test_slots_give_each_key_the_number_that_was_looked_up(calls):
    slots = KeySlots(2, 1)

    def number_of(key):
        return 3 * key[0] + key[1]

    for keys in calls:
        columns = np.array(keys, dtype=np.uint64).reshape(-1, 2).T

        def look_up(missing, keys=keys):
            return [number_of(keys[at]) for at in missing]

        assert slots.number(list(columns), look_up).tolist() == [number_of(key) for key in keys]


def test_a_key_at_its_slot_is_not_looked_up_again():
    slots, asked = KeySlots(1, 100), []

    def look_up(missing):
        asked.append(missing.tolist())
        return [7 for _ in missing]

    for _ in range(2):
        assert slots.number([np.array([5, 5, 5], dtype=np.uint64)], look_up).tolist() == [7, 7, 7]
    assert asked == [[0, 1, 2], []]


@pytest.mark.long
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


@pytest.mark.long
@given(texts, texts, st.sampled_from(WHITE_SPACE))
@settings(deadline=None, max_examples=400)
def test_white_space_separates_terms(first, second, space):
    assert search_terms(first + space + second) == search_terms(first) + search_terms(second)


@pytest.mark.long
@pytest.mark.parametrize(
    "separator", sorted(set(map(chr, range(128))) - {*string.ascii_letters, *string.digits})
)
def test_no_mark_makes_an_ascii_separator_something_else(separator):
    text = "".join(f"a{separator}{mark}b " for mark in marks())
    assert terms_by_pieces(text) == search_terms(text)


@pytest.mark.long
@pytest.mark.parametrize("letter", string.ascii_uppercase)
def test_an_ascii_letter_may_be_folded_before_its_mark_is_joined(letter):
    text = "".join(f"a{letter}{mark}b " for mark in marks())
    assert terms_by_pieces(text) == search_terms(text)
