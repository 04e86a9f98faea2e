import random

from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.corpus.duplicates import NEAR, Duplicate, drop_duplicates, find_duplicates
from ragstone.kernel.records import Document

LONG = " ".join(f"{word}{letter}" for letter in "abcdefghij" for word in ("soil", "crop", "water", "field"))


def documents(*texts):
    return [Document(id=f"d{n}", text=text) for n, text in enumerate(texts)]


def test_the_same_words_in_other_case_spaces_and_punctuation_are_a_duplicate_of_the_first():
    found = find_duplicates(documents("Sow in May.", "Other.", "sow  in\nMAY", "Sow in May!"))
    assert found == [Duplicate("d2", "d0", 1.0), Duplicate("d3", "d0", 1.0)]


def test_nearly_the_same_text_is_a_near_duplicate():
    (found,) = find_duplicates(documents(LONG, LONG + " end"))
    assert (found.id, found.of) == ("d1", "d0")


def test_texts_that_differ_by_a_number_are_none():
    assert find_duplicates(documents(f"{LONG} fee 500", f"{LONG} fee 600")) == []


def test_other_texts_and_short_ones_that_differ_are_none():
    assert find_duplicates(documents(LONG, LONG[::-1], "Sow in May.", "Sow in Mai.", "...", "!!!")) == []


def test_scripts_without_spaces_are_compared():
    text = "".join(chr(0x4E00 + n * 7) for n in range(300))
    # 300 characters, all different: 296 shingles; the other text has one more.
    assert find_duplicates(documents(text, text + "a")) == [Duplicate("d1", "d0", round(296 / 297, 4))]


def test_the_kept_document_names_those_that_were_dropped():
    rows = documents("Same.", "Other.", "same", "SAME")
    kept = drop_duplicates(rows, find_duplicates(rows))
    assert [(one.id, one.metadata) for one in kept] == [("d0", {"duplicates": ["d2", "d3"]}), ("d1", None)]
    again = [*kept, Document(id="d9", text="same!")]
    assert drop_duplicates(again, find_duplicates(again))[0].metadata == {"duplicates": ["d2", "d3", "d9"]}


@given(st.lists(st.text(max_size=40), max_size=12))
def test_what_is_dropped_repeats_something_that_is_kept(texts):
    rows = documents(*texts)
    found = find_duplicates(rows)
    kept = {one.id for one in drop_duplicates(rows, found)}
    assert kept | {one.id for one in found} == {one.id for one in rows}
    assert all(one.of in kept and one.id not in kept for one in found)
    assert all(one.similarity >= NEAR for one in found)


def test_near_duplicates_are_those_that_all_pairs_give():
    draw = random.Random(3)
    words = [f"w{chr(97 + n % 26)}{chr(97 + n // 26)}x" for n in range(400)]
    texts = []
    for _ in range(40):
        base = draw.choices(words, k=120)
        texts.append(" ".join(base))
        base[60] = "changed"
        texts.append(" ".join(base))

    def shingles(text):
        return {text[n : n + 5] for n in range(len(text) - 4)}

    sets = [shingles(text) for text in texts]
    pairs = set()
    for n, one in enumerate(sets):
        near = [m for m in range(n) if len(one & sets[m]) / len(one | sets[m]) >= NEAR]
        pairs |= {(f"d{n}", f"d{near[0]}")} if near else set()
    assert len(pairs) == 40
    assert {(one.id, one.of) for one in find_duplicates(documents(*texts))} == pairs
