from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.dataset.languages import language_name, speaks
from ragstone.kernel.records import Question
from ragstone.kernel.tables import read_rows


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("How much water does maize need?", "en"),
        ("Was ist Super Bowl 50?", "de"),
        ("¿Qué es Ecto?", "es-MX"),
        ("Qual é a capital do Brasil?", "pt-BR"),
        ("什麼是鳳凰?", "zh-Hant"),
        ("Phoenix Router 是什么？", "zh_CN"),
        ("東京の人口は？", "ja"),
        ("React Native Hot Module Replacement क्या है?", "hi"),
        ("Phoenix.Router का उपयोग कैसे करें?", "hi"),
        ("Hva er hovedstaden i Norge?", "nb"),
        ("Како се зове главни град?", "sr"),
        ("Kako se zove glavni grad Srbije?", "sr"),
        ("What does `Phoenix.Router.scope/2` do?", "en"),
        ("How do I run mix phx.server on port 4001?", "en"),
    ],
)
def test_a_question_in_its_language_is_recognised(text, lang):
    assert speaks(text, lang)


@pytest.mark.parametrize("lang", ["hi", "ar", "zh", "ru", "th", "ja", "ko", "de", "es", "tr", "vi", "ti"])
def test_an_english_question_is_in_no_other_language(lang):
    assert not speaks("How much water does maize need in summer?", lang)


@pytest.mark.parametrize(
    ("text", "lang"),
    [
        ("What does 春节 mean?", "zh"),
        ("Who is राहुल?", "hi"),
        ("东京的人口是多少？", "ja"),
        ("東京の人口はどのくらいですか", "zh"),
        ("Какая столица Украины?", "uk"),
        ("Qual é a capital do Brasil?", "es"),
        ("Какая столица Украины?", "en"),
    ],
)
def test_a_question_in_another_language_of_like_letters_is_caught(text, lang):
    assert not speaks(text, lang)


@pytest.mark.parametrize("text", ["", "308", "?!", "Denver Broncos", "`mix ecto.migrate`", "Repo.insert/2"])
def test_names_numbers_and_code_are_in_every_language(text):
    assert speaks(text, "hi")
    assert speaks(text, "zh")


@pytest.mark.parametrize(
    "text", ["A `{:error, :expired}` error", "on port 4001", "nitrogen, phosphorus and potassium", "a tuple"]
)
def test_a_few_words_are_rejected_only_where_they_are_clearly_of_another_language(text):
    assert speaks(text, "en")
    assert not speaks("Ende April, nach dem letzten Frost", "en")


def test_without_a_language_or_with_one_that_nobody_knows_nothing_is_rejected():
    assert speaks("How much water?", None)
    assert speaks("How much water does maize need?", "xx")


@given(st.text(max_size=60), st.sampled_from(["en", "hi", "zh", "ja", "sr", "pt-BR", "xx", ""]))
def test_any_text_has_an_answer(text, lang):
    assert speaks(text, lang) in (True, False)
    assert speaks(text, None)


def test_names_of_languages_are_words_with_their_region(says):
    assert language_name("hi") == "Hindi"
    assert language_name("pt_BR") == "Portuguese (pt-BR)"
    says(language_name("xx"))


@pytest.mark.pack
def test_on_xquad_own_questions_pass_and_others_are_caught(shared_data):
    by_lang = defaultdict(list)
    for row in read_rows(shared_data / "xquad" / "questions.jsonl", Question):
        by_lang[row.lang].append(row.question)
    for written, questions in by_lang.items():
        some = questions[::9]
        for lang in by_lang:
            share = sum(speaks(question, lang) for question in some) / len(some)
            assert share >= 0.99 if lang == written else share <= 0.03, (written, lang, share)


def test_nothing_can_be_told_of_a_language_that_is_not_known():
    assert speaks("मक्का कहिया काटल जाइत अछि?", "mai")
    assert speaks("When is maize harvested?", "xx")
