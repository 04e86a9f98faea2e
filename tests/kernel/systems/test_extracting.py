import pytest
from hypothesis import given
from hypothesis.strategies import lists, text

from ragstone.kernel.corpus.tokens import function_words
from ragstone.kernel.systems.extracting import best_sentences

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


def test_score_is_the_share_of_the_weighed_words():
    # Of the two sentences one holds `filter`, one `cleaned`, none `often`: they weigh ln(1 + 3 / 2) = 0.916,
    # the same, and ln(1 + 3 / 1) = 1.386. The second sentence holds 1.833 of 3.219.
    found = best_sentences("filter cleaned often", [PUMPS])
    assert [one.text for one in found] == ["Its filter is cleaned once a month."]
    assert found[0].score == pytest.approx(0.5693, abs=1e-4)


def test_words_of_the_title_and_of_the_sentence_before_count_a_part():
    question = "pump filter cleaned"
    (bare,) = best_sentences(question, ["Its filter is cleaned once a month."])
    (before,) = best_sentences(question, [PUMPS])[:1]
    (titled,) = best_sentences(question, ["Its filter is cleaned once a month."], titles=["The pump"])
    assert bare.score < titled.score < 1
    assert before.text == bare.text


def test_among_equals_the_first_passage_goes_before():
    found = best_sentences("sandy soil in May", ["Sandy soil dries in May.", "Sandy soil warms in May."])
    assert [one.passage for one in found] == [0, 1]
    assert len(best_sentences("sandy soil in May", [SOIL, SOIL, SOIL], most=1)) == 1


def test_questions_headings_without_their_list_and_echoes_are_no_answers():
    passage = (
        "When is the filter cleaned?\nThe filter is cleaned:\n\nThe filter is cleaned.\nMonthly is best."
    )
    assert best_sentences("when is the filter cleaned", [passage], threshold=0)[0].text == "Monthly is best."


def test_the_line_around_code_is_no_answer():
    passage = "To stop the server, we hit ctrl-c twice.\n\n```console\nstop\n```"
    found = best_sentences("How do I stop the server?", [passage], threshold=0, most=5)
    assert [row.text for row in found] == ["To stop the server, we hit ctrl-c twice."]


def test_code_belongs_to_the_line_before_it_if_that_has_a_colon_or_no_end():
    code = "```console\n$ gigalixir logs\n```"
    for line in ("To see the logs, run:", "Check the logs of your app"):
        passage = f"Your app is up.\n\n{line}\n\n{code}\n\nNow look at it."
        found = best_sentences("How do I see the logs of my app?", [passage], threshold=0, most=9)
        assert found[0].text == f"{line}\n\n{code}"
        assert "$ gigalixir logs" not in [row.text for row in found]


def test_a_line_before_code_that_is_too_long_or_cut_off_is_quoted_without_its_mark():
    for code in ("$ x\n" * 200 + "```", "$ x\n"):
        passage = f"Check the logs of your app\n```console\n{code}"
        found = best_sentences("How do I check the logs?", [passage], threshold=0)
        assert found[0].text == "Check the logs of your app"


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


def test_words_that_only_ask_count_less():
    # Three sentences. One holds seeds and hole, ln(1 + 4 / 2) = 1.099 each. No sentence holds the other seven
    # words: 7 * 0.3 * ln(1 + 4) = 3.380. So 2.197 of 5.577 is held; at full weight it were 2.197 of 13.463.
    (found,) = best_sentences(
        "How many seeds should there be in each hole?", [PUMPS, "A hole holds two seeds."]
    )
    assert found.score == pytest.approx(0.394, abs=1e-3)
    assert found.text == "A hole holds two seeds."


def test_function_words_are_those_of_the_languages_that_are_named():
    assert {"how", "wie"} <= function_words()
    assert "how" in function_words(("en", "fr"))
    assert "wie" not in function_words(("en", "fr"))
