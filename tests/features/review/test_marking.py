import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.features.review._marking import CONTEXT, at_words, marked, show, to_points, to_units, window
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Evidence

TEXTS = st.text(st.sampled_from("ab \n🌾👩‍🌾कि्ष\u0301\u200d🇩🇪🏽é"), max_size=30)


@given(st.text(max_size=40), st.data())
def test_units_and_points_are_each_others_inverse(text, data):
    at = data.draw(st.integers(0, len(text)))
    # JavaScript's own count: one unit a character up to U+FFFF, two beyond.
    assert to_units(text, at) == sum(2 if one > "\uffff" else 1 for one in text[:at])
    assert to_points(text, to_units(text, at)) == at


@given(TEXTS, st.integers(0, 60), st.integers(0, 60))
def test_what_is_marked_is_held_and_no_character_is_torn(text, start, end):
    length = to_units(text, len(text))
    start, end = min(start, length), min(end, length)
    try:
        first, last = marked(text, start, end)
    except DataError:
        low, high = sorted((start, end))
        assert not text[to_points(text, low) : to_points(text, high)].strip() or low == high
        return
    assert 0 <= first < last <= len(text)
    assert not text[first].isspace()
    assert not text[last - 1].isspace()
    wanted = text[to_points(text, min(start, end)) : to_points(text, max(start, end))].strip()
    assert wanted in text[first:last]


@pytest.mark.parametrize(
    ("text", "words", "taken"),
    [
        ("Rust 🌾 grows", "🌾", "🌾"),
        ("a क्षेत्र b", "क", "क्"),
        ("cafe\u0301 noir", "cafe", "cafe\u0301"),
        ("a 👩‍🌾 b", "👩", "👩‍🌾"),
        ("a 👍🏽 b", "👍", "👍🏽"),
        ("a 🇩🇪🇮🇳 b", "🇩", "🇩🇪"),
        ("one two", " two", "two"),
    ],
)
def test_a_mark_takes_whole_characters(text, words, taken):
    start = text.index(words)
    first, last = marked(text, to_units(text, start), to_units(text, start + len(words)))
    assert text[first:last] == taken


def test_half_an_emoji_is_the_whole_one():
    # "a🌾b": a is unit 0, the emoji units 1 and 2, b unit 3.
    assert marked("a🌾b", 2, 3) == (1, 2)
    assert marked("a🌾b", 1, 2) == (1, 2)


@pytest.mark.parametrize(("start", "end"), [(0, 0), (3, 4), (0, 9), (-1, 2)])
def test_nothing_and_what_is_beyond_are_refused(start, end):
    with pytest.raises(DataError, match="Mark"):
        marked("one two", start, end)


@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), max_size=4), st.data())
def test_the_pieces_of_what_is_shown_are_its_text(text, places, data):
    spans = [Evidence(document_id="d", start=min(two), end=max(two)) for two in places if two[0] != two[1]]
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    shown = show("d", text, start, end, [*spans, Evidence(document_id="other", start=0, end=3)])
    assert "".join(one.text for one in shown.pieces) == text[start:end]
    at = start
    for piece in shown.pieces:
        for number in piece.of:
            assert spans[number].start <= at
            assert at + len(piece.text) <= spans[number].end
        at += len(piece.text)


def test_of_a_long_document_the_part_around_the_evidence_is_shown():
    text = "word " * 4000
    start, end = window(text, [Evidence(document_id="d", start=10_000, end=10_004)])
    assert (start, end) == (10_000 - CONTEXT, 10_004 + CONTEXT + 0)
    assert window(text, []) == (0, 2 * CONTEXT)
    assert at_words("one two three", 5, 6) == (4, 7)
