import pytest
from hypothesis import given
from hypothesis.strategies import lists, text

from ragstone.kernel.corpus.tokens import function_words
from ragstone.kernel.retrieval.extracting import best_sentences

SOIL = "Clay holds water well. Sandy soil needs 12 mm of water a week in May. Farmers like it."
PUMPS = "A pump lifts water. Its filter is cleaned once a month."


def test_the_sentence_that_holds_the_question_is_found_at_its_place():
    found = best_sentences("How much water does sandy soil need in May?", [PUMPS, SOIL])
    assert found[0].text == "Sandy soil needs 12 mm of water a week in May."
    assert found[0].passage == 1
    assert SOIL[found[0].start : found[0].end] == found[0].text


def test_a_question_about_something_else_gets_nothing():
    assert best_sentences("Who composed the opera Fidelio?", [PUMPS, SOIL]) == []
    assert best_sentences("How much water does sandy soil need?", []) == []
    assert best_sentences("?", [SOIL]) == []


def test_a_name_that_no_passage_holds_is_not_answered_with_what_is_said_of_another():
    deploy = "Deploy the application to the cloud server with one command."
    assert best_sentences("How do I deploy the application to Kubernetes with Helm?", [deploy, PUMPS]) == []
    assert best_sentences("How do I deploy the application to the cloud server?", [deploy, PUMPS]) != []


def test_words_of_the_title_make_an_answer_more_probable():
    question, passage = "How often is the filter of the pump cleaned?", "Its filter is cleaned once a month."
    (bare,) = best_sentences(question, [passage], threshold=0)
    (titled,) = best_sentences(question, [passage], titles=["The pump"], threshold=0)
    assert bare.score < titled.score < 1


def test_among_equals_the_first_passage_goes_before():
    passages = ["Sandy soil dries in May.", "Sandy soil warms in May."]
    found = best_sentences("sandy soil in May", passages, threshold=0)
    assert [one.passage for one in found] == [0, 1]
    assert len(best_sentences("sandy soil in May", [SOIL, SOIL, SOIL], most=1)) == 1


def test_questions_headings_without_their_list_and_echoes_are_no_answers():
    passage = (
        "When is the filter cleaned?\nThe filter is cleaned:\n\nThe filter is cleaned.\nMonthly is best."
    )
    assert best_sentences("when is the filter cleaned", [passage], threshold=0)[0].text == "Monthly is best."


def test_a_list_belongs_to_the_line_before_it():
    steps = "Clean the filter in these steps:\n- Close the valve. Wait.\n- Rinse the mesh."
    found = best_sentences("What are the steps to clean the filter?", [f"{steps}\nBuy spare parts early."])
    assert found[0].text == steps


@pytest.mark.parametrize(
    ("question", "passage", "answer"),
    [
        (
            "Wann wird der Filter im Sommer gereinigt?",
            "Pumpen heben Wasser. Der Filter wird im Sommer monatlich gereinigt.",
            "Der Filter wird im Sommer monatlich gereinigt.",
        ),
        ("过滤器什么时候清洗？", "水泵提水。过滤器每月清洗一次。", "过滤器每月清洗一次。"),
        ("متى ينظف المرشح؟", "المضخة ترفع الماء. ينظف المرشح كل شهر.", "ينظف المرشح كل شهر."),
    ],
)
def test_other_languages_are_served_alike(question, passage, answer):
    assert best_sentences(question, [passage])[0].text == answer


@given(text(max_size=60), lists(text(max_size=120), max_size=4))
def test_what_is_found_stands_where_it_says(question, passages):
    for one in best_sentences(question, passages, threshold=0):
        assert passages[one.passage][one.start : one.end] == one.text
        assert 0 <= one.score <= 1


def test_function_words_are_those_of_the_languages_that_are_named():
    assert {"how", "wie"} <= function_words()
    assert "how" in function_words(("en", "fr"))
    assert "wie" not in function_words(("en", "fr"))
