import pytest

from ragstone.kernel.files.language import base_language, detect_language, detect_languages, language_odds
from ragstone.kernel.records import Question
from ragstone.kernel.tables import read_rows


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Wie viel Wasser braucht der Mais im Sommer?", "de"),
        ("How much water does maize need in summer?", "en"),
        ("मक्के को गर्मियों में कितना पानी चाहिए?", "hi"),
        ("玉米在夏天需要多少水？", "zh"),
        ("ข้าวโพดต้องการน้ำเท่าไรในฤดูร้อน", "th"),
    ],
)
def test_sentences_are_recognised(text, language):
    assert detect_language(text) == language


@pytest.mark.parametrize("text", ["", "   ", "12 345", "!?", "ok"])
def test_what_cannot_be_told_is_none(text):
    assert detect_language(text) is None


@pytest.mark.pack
def test_many_texts_are_recognised_as_each_alone(shared_data):
    rows = list(read_rows(shared_data / "xquad" / "questions.jsonl", Question))[::40]
    texts = ["", "12", *(row.question for row in rows), "ÉTÉ CHAUD ET SEC"]
    assert detect_languages(texts) == [detect_language(text) for text in texts]
    assert detect_languages(texts[:3]) == [detect_language(text) for text in texts[:3]]


def test_odds_are_of_all_languages_and_the_likeliest_is_the_one_that_is_recognised():
    odds = language_odds("Wie viel Wasser braucht der Mais im Sommer?")
    assert max(odds, key=odds.get) == "de"
    assert sum(odds.values()) == pytest.approx(1, abs=1e-3)
    assert language_odds("12 345") == {}


@pytest.mark.parametrize(
    ("lang", "base"),
    [("en", "en"), ("pt-BR", "pt"), ("zh_Hans", "zh"), ("NB", "no"), ("nn", "no"), ("xx", "xx")],
)
def test_codes_of_one_language_have_one_base(lang, base):
    assert base_language(lang) == base
