import pytest

from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.retrieval._phrases import asked_kind, contrary_words, is_leaning, shown_kinds


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many seeds are in a hole?", "number"),
        ("In what year was it built?", "date"),
        ("Who was there when it began?", "person"),
        ("What should I do when it rains?", "thing"),  # the first phrase decides
        ("How do I charge it?", "manner"),
        ("Wie viel Wasser braucht Mais?", "number"),
        ("¿Cuándo se siembra el maíz?", "date"),
        ("Pourquoi les feuilles jaunissent ?", "reason"),
        ("过滤器什么时候清洗？", "date"),
        ("كم يحتاج القمح من الماء؟", "number"),
        ("मक्का कब बोएं?", "date"),
        ("Mbegu bora ni ipi?", "thing"),
        ("Nitrogen for maize", ""),
    ],
)
def test_kind_of_answer_that_a_question_asks_for(question, kind):
    assert asked_kind(tokenize(question)) == kind


def test_kinds_that_a_sentence_shows_by_its_words():
    assert shown_kinds(tokenize("In March, because two of them died")) == {"date", "reason", "number"}
    assert shown_kinds(tokenize("Clay is heavy")) == set()


def test_a_sentence_leans_by_its_first_words_alone():
    assert is_leaning(tokenize("For example, clay holds it."))
    assert not is_leaning(tokenize("Clay holds it."))


def test_words_that_make_the_contrary_are_counted():
    assert contrary_words(tokenize("It is not without salt")) == 2
