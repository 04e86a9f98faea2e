import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.dataset.fictional.invented import SOUNDS, invent, script_of

ORIGINALS = {
    "LATIN": "Oslo", "CYRILLIC": "Осло", "GREEK": "Όσλο", "ARABIC": "أوسلو", "DEVANAGARI": "ओस्लो",
    "BENGALI": "অসলো", "CJK": "奥斯陆", "KATAKANA": "オスロ", "HANGUL": "오슬로", "THAI": "ออสโล",
}  # fmt: skip


@pytest.mark.parametrize("script", SOUNDS)
def test_an_invented_name_is_in_the_script_of_the_original(script):
    original = ORIGINALS[script]
    assert script_of(original) == script
    name = invent(original, "1", lambda _: True)
    assert {unicodedata.name(one).split()[0] for one in name} == {script}
    assert name[0].isupper() == original[0].isupper()


@given(st.text(max_size=10))
def test_a_key_gives_one_name(key):
    assert invent("Oslo", key, lambda _: True) == invent("Oslo", key, lambda _: True)


def test_a_taken_name_is_not_given_again_and_thousands_can_be_had():
    taken = set()
    for n in range(5000):
        name = invent("Oslo", str(n), lambda one: one not in taken)
        assert name not in taken
        taken.add(name)


def test_no_free_word_is_an_error():
    with pytest.raises(ValueError, match="no word is free for 'Oslo'"):
        invent("Oslo", "1", lambda _: False)
