import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.dataset.dangling import dangle, words_in

TEN = ("ar", "de", "en", "es", "hi", "ru", "th", "tr", "vi", "zh")


@pytest.mark.parametrize(
    ("lang", "question", "text", "dangling"),
    [
        # The longest name, with its article, and the short word between two names.
        ("en", "Who led the Battle of Hastings in 1066?", "", "Who led it in 1066?"),
        ("de", "Wann gewann Polonia Warschau das Spiel?", "", "Wann gewann dies?"),
        ("es", "¿Quién fundó la Universidad de Chicago?", "", "¿Quién fundó esto?"),
        ("tr", "Bugün Polonia Varşova nerede oynuyor?", "", "Bugün bu nerede oynuyor?"),
        ("vi", "Ai là Thủ tướng cuối cùng của Đông Đức?", "", "Ai là Thủ tướng cuối cùng của nó?"),
        ("ru", "Когда появился Джон Элвей в команде?", "", "Когда появился это в команде?"),
        # Without a name, or in a script without capitals, what the text speaks of too.
        ("en", "what limits the water supply of maize?", "Water supply is low.", "what limits it of maize?"),
        ("ar", "من أسس شركة أوراكل؟", "شركة أوراكل كبيرة", "من أسس ذلك؟"),
        ("hi", "न्यूकैसल में कितने यात्री हैं?", "वहाँ यात्री आते हैं", "न्यूकैसल में कितने यह हैं?"),
        ("zh", "加那利群岛在哪个大陆沿岸？", "关于加那利群岛的说明", "它在哪个大陆沿岸？"),
        ("th", "ถนนเคียนีย์ตั้งชื่อตามใคร", "เดินถนนเคียนีย์ไป", "สิ่งนี้ตั้งชื่อตามใคร"),
    ],
)
def test_a_pronoun_stands_for_what_is_asked_about(lang, question, text, dangling):
    assert dangle(question, text, lang) == dangling


def test_the_name_goes_wherever_it_stands_as_a_word():
    question = "When did Tesla sell Tesla, and who paid Teslas?"
    assert dangle(question, "", "en") == "When did Tesla sell Tesla, and who paid it?"
    question = "Why was Hastings lost, and who fled Hastings?"
    assert dangle(question, "", "en") == "Why was it lost, and who fled it?"


def test_a_question_that_begins_with_a_name_begins_with_a_capital_still():
    assert dangle("Tesla was born where?", "There Nikola Tesla lived.", "en") == "It was born where?"


def test_the_first_word_of_a_question_is_no_name_for_its_capital():
    assert dangle("Which was paid by whom?", "Which, one asks.", "en").endswith("above?")


@pytest.mark.parametrize(
    ("lang", "question", "pointing"),
    [
        ("en", "What is done?", "What is done, according to the passage above?"),
        ("de", "Was tut man?", "Was tut man, laut dem Abschnitt oben?"),
        ("zh", "做什么？", "根据上文做什么？"),
        ("ar", "ما هو؟", "ما هو, وفقًا للفقرة أعلاه؟"),
        ("en", "what is done", "what is done, according to the passage above?"),
    ],
)
def test_without_a_subject_the_question_points_at_the_passage(lang, question, pointing):
    assert dangle(question, "", lang) == pointing


def test_a_latin_word_in_a_chinese_question_is_not_cut():
    found = dangle("Ergänzungsschulen是如何获得资金的?", "schulen是如何获得的", "zh")
    assert found.startswith("Ergänzungsschulen")


def test_a_language_without_words_of_its_own_has_those_of_english():
    assert words_in("pl") == words_in(None) == words_in("en")


@pytest.mark.parametrize("lang", TEN)
def test_each_of_ten_languages_has_words_of_its_own(lang):
    words = words_in(lang)
    assert lang == "en" or words != words_in("en")
    assert "{title}" in words.language[0]
    assert "{title}" in words.title
    assert "{answer}" in words.given


@given(question=st.text(min_size=1), text=st.text(), lang=st.sampled_from([*TEN, None]))
def test_any_text_whatever_gives_another_text(question, text, lang):
    found = dangle(question, text, lang)
    assert found
    assert found != question or words_in(lang).it in question.casefold()


@pytest.mark.pack
@pytest.mark.parametrize("lang", TEN)
def test_nearly_every_question_of_xquad_loses_its_subject(lang, shared_data):
    lines = (shared_data / "xquad" / "documents.jsonl").read_text(encoding="utf-8").splitlines()
    texts = {row["id"]: row["text"] for row in map(json.loads, lines)}
    lines = (shared_data / "xquad" / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [row for row in map(json.loads, lines) if row["lang"] == lang][::10]
    made = [dangle(row["question"], texts[row["document_id"]], lang) for row in questions]
    assert all(one != row["question"] for one, row in zip(made, questions, strict=True))
    n_pointing = sum(words_in(lang).above in one for one in made)
    assert n_pointing <= 0.15 * len(questions)
