import unicodedata
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.dataset.evidence import find_evidence
from ragstone.kernel.records import Document
from ragstone.kernel.tables import read_rows

TEXT = (
    "Maize needs 500 mm of water in a season.  It is sown in **late April**, once the soil is warmer\n"
    "than 8 °C – “never earlier”, as growers say. The yield in 2019 was 9.5 tonnes per hectare; "
    "irrigation by night saves water (see [3])."
)


def found_text(quote, text=TEXT):
    found = find_evidence(quote, text)
    return None if found is None else (found.how, text[found.start : found.end])


def test_the_same_words_are_found_exactly():
    assert found_text("Maize needs 500 mm of water") == ("exact", "Maize needs 500 mm of water")
    assert found_text("  irrigation by night \n") == ("exact", "irrigation by night")


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("MAIZE NEEDS 500 mm", "Maize needs 500 mm"),
        ("in a season. It is sown", "in a season.  It is sown"),
        ("the soil is warmer than 8 °C", "the soil is warmer\nthan 8 °C"),
        ("sown in late April, once", "sown in **late April**, once"),
        ("sown in late April", "sown in **late April**"),
        ('8 °C - "never earlier", as', "8 °C – “never earlier”, as"),
        ('"Maize needs `500` mm"', "Maize needs 500 mm"),
    ],
)
def test_spacing_case_marks_and_dashes_make_no_difference(quote, there):
    assert found_text(quote) == ("spaced", there)


def test_composed_and_decomposed_characters_are_the_same():
    text = "Der Ertrag könnte größer sein."
    assert found_text(unicodedata.normalize("NFD", "könnte größer"), text) == ("spaced", "könnte größer")
    decomposed = unicodedata.normalize("NFD", text)
    assert found_text("könnte", decomposed) == ("spaced", unicodedata.normalize("NFD", "könnte"))


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("Maize needs some 500 mm of water in one season", "Maize needs 500 mm of water in a season"),
        ("irigation by nights saves water", "irrigation by night saves water"),
        ("The yield was 9.5 tonnes per hectare", "The yield in 2019 was 9.5 tonnes per hectare"),
    ],
)
def test_words_that_differ_a_little_are_found_nearly(quote, there):
    assert found_text(quote) == ("fuzzy", there)
    found = find_evidence(quote, TEXT)
    assert 0.75 <= found.similarity < 1


def test_similarity_counts_a_changed_character_once_and_one_left_out_half():
    # 20 characters without spaces, one changed: 1 - 1/20. One of the text left out: 19, 1 - 0.5/19.
    assert find_evidence("abcdefghijklmnopqrsX", "abcdefghijklmnopqrst").similarity == 0.95
    assert find_evidence("abcdefghijlmnopqrst", "abcdefghijklmnopqrst").similarity == round(1 - 0.5 / 19, 4)


def test_another_number_is_another_fact():
    assert found_text("The yield in 2018 was 9.5 tonnes per hectare") is None
    assert found_text("The yield in 2019 was 9.5 tons per hectare")[0] == "fuzzy"


@pytest.mark.parametrize("dots", ["...", " … ", " [...] ", " (…) "])
def test_parts_around_an_ellipsis_are_found_in_order(dots):
    assert found_text(f"It is sown{dots}warmer than 8 °C") == (
        "fuzzy",
        "It is sown in **late April**, once the soil is warmer\nthan 8 °C",
    )
    assert found_text(f"warmer than 8 °C{dots}It is sown") is None


def test_an_ellipsis_at_an_end_is_left_out():
    assert found_text("… irrigation by night…") == ("spaced", "irrigation by night")


def test_sentences_that_are_not_neighbours_are_found_together():
    quote = "Maize needs 500 mm of water in a season. The yield in 2019 was 9.5 tonnes per hectare."
    how, there = found_text(quote)
    assert how == "fuzzy"
    assert there.startswith("Maize needs")
    assert there.endswith("9.5 tonnes per hectare")


@pytest.mark.parametrize(
    "quote", ["", "  ", "…", "---", "**", "ize", "50", "9", "Wheat needs 300 mm", "water Maize"]
)
def test_what_is_not_there_is_not_found(quote):
    assert find_evidence(quote, TEXT) is None


def test_a_span_tears_no_word_and_no_character():
    assert found_text("irrigation by night saves wat") == ("fuzzy", "irrigation by night saves water")
    assert found_text("308", "They scored 1308 points, and 308 more.") == ("exact", "308")
    hindi = "मक्का अप्रैल में बोया जाता है"
    assert found_text("मक", hindi) is None  # the first letter without its sign and the half of the second
    assert found_text("अप्रैल", hindi) == ("exact", "अप्रैल")


def test_scripts_without_spaces_have_no_words_to_tear():
    assert found_text("四月播种", "玉米在四月播种，需要水。") == ("exact", "四月播种")
    assert found_text("玉米在五月播种，需要许多水", "玉米在四月播种，需要许多水。") == (
        "fuzzy",
        "玉米在四月播种，需要许多水",
    )


def test_code_is_found_with_other_indentation():
    code = 'def sign(context, salt) do\n    key = get(context)\n    |> Crypto.sign(salt, "x")\n  end\n'
    assert found_text("key = get(context)\n|> Crypto.sign(salt, 'x')", code) == (
        "spaced",
        'key = get(context)\n    |> Crypto.sign(salt, "x")',
    )


def test_a_long_text_of_the_same_characters_takes_no_forever():
    assert find_evidence("a" * 50_000, "a" * 100_000 + "b") is None
    assert find_evidence("a … " * 300, "b a " * 30_000) is not None


WORDS = st.text(min_size=0, max_size=12)
TEXTS = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)


@given(TEXTS, TEXTS)
def test_whatever_is_found_lies_in_the_text_and_holds_something(quote, text):
    found = find_evidence(quote, text)
    if found is None:
        return
    assert 0 <= found.start < found.end <= len(text)
    there = text[found.start : found.end]
    assert any(map(str.isalnum, there))
    if found.how == "exact":
        assert there == quote.strip()
    else:
        assert found.similarity >= 0.8
    assert (found.similarity == 1) or found.how == "fuzzy"


@given(TEXTS, st.data())
def test_a_whole_word_copy_is_always_found_as_it_is(text, data):
    ends = [0, *(at for at in range(1, len(text)) if text[at].isspace()), len(text)]
    start, end = sorted(data.draw(st.tuples(st.sampled_from(ends), st.sampled_from(ends))))
    quote = text[start:end]
    found = find_evidence(quote, text)
    if any(map(str.isalnum, quote)) and found is not None and found.how == "exact":
        assert text[found.start : found.end] == quote.strip()
    if quote.isascii() and any(map(str.isalnum, quote)):
        assert found is not None
        assert found.how == "exact"


@given(
    st.lists(st.from_regex("[a-zäßéА-яअ-ह一-龥]{2,9}", fullmatch=True), min_size=3, max_size=40), st.data()
)
def test_a_spaced_find_holds_the_same_letters_as_the_quotation(words, data):
    text = "  ".join(words)
    first = data.draw(st.integers(0, len(words) - 2))
    last = data.draw(st.integers(first + 2, len(words)))
    quote = "\n".join(words[first:last]).upper()
    found = find_evidence(quote, text)
    assert found is not None
    if found.how != "fuzzy":
        there = text[found.start : found.end]
        assert "".join(there.split()).casefold() == "".join(quote.split()).casefold()


def typing_mistakes(text):
    """Return a text with every 25th character, if it is no digit, written twice."""
    return "".join(
        character * (1 + (n % 25 == 7 and not character.isdigit())) for n, character in enumerate(text)
    )


@pytest.mark.pack
def test_sentences_are_found_in_their_paragraph_and_not_in_others(shared_data):
    documents = list(read_rows(shared_data / "xquad" / "documents.jsonl", Document))[::25]
    counts = Counter()
    for number, document in enumerate(documents):
        other = documents[(number + 1) % len(documents)]
        spans = [span for span in sentence_spans(document.text) if span[1] - span[0] > 30]
        for start, end in spans[:2]:
            quote = document.text[start:end]
            near = find_evidence(typing_mistakes(quote), document.text)
            counts["asked"] += 1
            counts["exact"] += find_evidence(quote, document.text) is not None
            counts["near"] += near is not None and abs(near.start - start) + abs(near.end - end) < 15
            counts["false"] += find_evidence(quote, other.text) is not None
    assert counts["asked"] > 100
    assert counts["exact"] == counts["asked"]
    assert counts["near"] >= 0.98 * counts["asked"]
    assert counts["false"] == 0
