import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragstone.kernel.corpus.tokens import search_terms, tokenize


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("The cat's 2nd life, isn't it?", ["the", "cat", "s", "2nd", "life", "isn", "t", "it"]),
        ("snake_case and e-mail", ["snake", "case", "and", "e", "mail"]),
        ("1,000 tons, 3.5 % or 1,2", ["1000", "tons", "3", "5", "or", "1", "2"]),
        ("STRASSE Straße ﬁne x²", ["strasse", "strasse", "fine", "x2"]),
        ("İSTANBUL ısı ISI", ["istanbul", "isi", "isi"]),
        ("cafe\u0301 café", ["café", "café"]),
        ("Việt Nam", ["việt", "nam"]),
        ("हिन्दी में क्षेत्र", ["हिन्दी", "में", "क्षेत्र"]),
        ("क्\u200dष soft\u00adhyphen", ["क्ष", "softhyphen"]),
        ("مُحَمَّد أحمد مدرسة", ["محمد", "احمد", "مدرسه"]),
        ("東京タワー", ["東", "京", "タ", "ワ", "ー"]),
        ("2019年GDP", ["2019", "年", "gdp"]),
        ("ที่นี่", ["ที่", "นี่"]),
        ("", []),
        ("!? … 😀", []),
    ],
)
def test_text_of_every_script_is_tokenized(text, tokens):
    assert tokenize(text) == [unicodedata.normalize("NFKC", token) for token in tokens]


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("rain rains raining", ["rain", "rains", "rains*", "raining", "raini*"]),
        ("123456 abc", ["123456", "abc"]),
        ("东京塔", ["东", "京", "塔", "东京", "京塔"]),
        ("والمدرسة", ["مدرسه", "مدرسه*"]),
        ("ال", ["ال"]),
        ("", []),
    ],
)
def test_search_terms_are_words_prefixes_and_pairs(text, terms):
    assert search_terms(text) == terms


@given(st.text())
@settings(deadline=None)
def test_tokens_never_depend_on_case_or_normal_form(text):
    decomposed = unicodedata.normalize("NFD", text)
    assert tokenize(decomposed) == tokenize(unicodedata.normalize("NFC", text))
    assert all(tokenize(text))


@given(st.text(), st.text())
@settings(deadline=None)
def test_a_line_end_separates(first, second):
    assert tokenize(f"{first}\n{second}") == tokenize(first) + tokenize(second)
    assert search_terms(f"{first}\n{second}") == search_terms(first) + search_terms(second)
