import re
import time
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.dataset.repeats import find_repeats, repeated
from ragstone.kernel.records import Question
from ragstone.kernel.tables import read_rows


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("What year was Oslo founded?", "what year was OSLO founded"),
        ("What year was Oslo founded?", "In which year was Oslo founded?"),
        ("What year was Oslo founded?", "Oslo was founded in what year?"),
        ("What year was Oslo founded?", "Could you please tell me what year Oslo was founded?"),
        ("What is the fee for a transfer?", "What are the fees for transfers?"),
        ("How do I open an account?", "How can I open the account?"),
        ("How do I open an account?", "How to open an account"),
        ("Why can't I log in?", "Why can I not log in?"),
        ("Who did the National Anthem at Super Bowl 50?", "Who did the Super Bowl 50 National Anthem?"),
        ("In summer, how often is wheat watered?", "How often is wheat watered in summer?"),
        ("Wie hoch ist die Gebühr?", "Können Sie mir sagen, wie hoch die Gebühr ist?"),
        ("¿Cuál es la capital de Perú?", "Por favor, ¿cuál es la capital del Perú?"),
        ("Quelle est la capitale du Pérou ?", "Pouvez-vous me dire quelle est la capitale du Pérou ?"),
        ("Сколько стоит билет?", "Скажите, пожалуйста, сколько стоит билет?"),
        ("北京的人口是多少？", "请问北京人口是多少"),
        ("भारत की राजधानी क्या है?", "कृपया बताएं, भारत की राजधानी क्या है?"),
        ("ما هي عاصمة مصر؟", "من فضلك، ما هي عاصمة مصر"),
        ("เมืองหลวงของไทยคืออะไร", "กรุณาบอกเมืองหลวงของไทยคืออะไรครับ"),
    ],
)
def test_a_question_in_nearly_the_same_words_repeats_the_first(first, second):
    assert repeated([first, "Something else?", second]) == [None, None, 0]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("What year was Oslo founded?", "What year was Bergen founded?"),
        ("What happened in 1914?", "What happened in 1941?"),
        ("What is the minimum balance?", "What is the maximum balance?"),
        ("Can I cancel the card?", "Can I not cancel the card?"),
        ("Which crops need water?", "Which crops don't need water?"),
        ("Who is the director?", "Who was the director?"),
        ("Who founded Oslo?", "When was Oslo founded?"),
        ("What is C++?", "What is C#?"),
        ("What does |> do?", "What does <> do?"),
        ("What is the population of the US?", "What is the population?"),
        ("Who was Adam?", "Who was Adams?"),
        ("Did Rome defeat Carthage?", "Did Carthage defeat Rome?"),
        ("How do I move money from savings to the current account?",
         "How do I move money from the current account to savings?"),
        (
            "When was the Latin version of the word Norman first recorded?",
            "When was the Norman version of the word Latin first recorded?",
        ),
        ("How did Norman Latin differ from it in 1066?", "How did Latin Norman differ from it in 1066?"),
        ("What happened before 1914?", "What happened after 1914?"),
        ("How cold is it at -5 degrees?", "How cold is it at 5 degrees?"),
        ("Is 25-36 inch soil drier than 15-25 inch soil?", "Is 25-36 inch soil drier than 15-36 inch soil?"),
        ("Wie hoch ist die Gebühr?", "Wie hoch ist keine Gebühr?"),
        ("北京的人口是多少？", "南京的人口是多少？"),
        ("भारत की राजधानी क्या है?", "नेपाल की राजधानी क्या है?"),
    ],
)  # fmt: skip
def test_a_question_that_asks_for_something_else_repeats_nothing(first, second):
    assert repeated([first, second]) == [None, None]


def test_texts_without_words_are_compared_as_they_are():
    assert repeated(["?!", "", " ?! ", "..."]) == [None, None, 0, None]


@given(
    st.lists(st.text(max_size=12) | st.sampled_from(["What is it?", "what is it", "The US?"]), max_size=12)
)
def test_the_one_repeated_is_earlier_and_repeats_none(texts):
    found = repeated(texts)
    assert len(found) == len(texts)
    for number, of in enumerate(found):
        assert of is None or (of < number and found[of] is None)
    assert repeated(texts * 2)[len(texts) :] == [n if of is None else of for n, of in enumerate(found)]


@given(st.permutations(["what is wheat", "What is Wheat?", "what is rye", "Rye?", "is the rye wheat"]))
def test_which_texts_belong_together_does_not_depend_on_their_order(texts):
    groups = defaultdict(set)
    for number, of in enumerate(repeated(texts)):
        groups[number if of is None else of].add(texts[number])
    assert {frozenset(group) for group in groups.values()} == {
        frozenset({"what is wheat", "What is Wheat?"}),
        frozenset({"what is rye"}),
        frozenset({"Rye?"}),
        frozenset({"is the rye wheat"}),
    }


def test_long_texts_repeat_only_what_is_the_same_throughout():
    long = "Where does the river begin? " * 100
    assert repeated([long, long, long.upper()]) == [None, 0, None]


@pytest.mark.simulation
def test_time_grows_with_the_number_of_questions_not_with_its_square():
    texts = [f"What does number {n} of family {n % 7} cost?" for n in range(4000)]

    def seconds(n_texts):
        started = time.process_time()
        list(find_repeats(texts[:n_texts]))
        return time.process_time() - started

    least = {n_texts: min(seconds(n_texts) for _ in range(3)) for n_texts in (500, 4000)}
    assert least[4000] < 24 * least[500]  # 8 times the questions; 64 times the pairs


@pytest.mark.pack
def test_planted_paraphrases_are_found_and_planted_changes_are_not(shared_data):
    rows = read_rows(shared_data / "squad2" / "questions.jsonl", Question)
    asked = list(dict.fromkeys(row.question for row in rows))[:1000]

    def share_found(change):
        pairs = [(text, change(text)) for text in asked if change(text) != text]
        assert len(pairs) > 80
        return sum(repeated(pair)[1] == 0 for pair in pairs) / len(pairs)

    assert share_found(lambda text: f"Could you please tell me {text[0].lower()}{text[1:]}") > 0.99
    assert share_found(lambda text: re.sub(r"\b(?:the|a|an) ", "", text)) > 0.98
    assert share_found(lambda text: text.replace("What", "Which")) == 1
    assert share_found(lambda text: re.sub(r"\d+", lambda found: str(int(found[0]) + 1), text)) == 0
    assert share_found(lambda text: re.sub(r"\b(is|was|were|did)\b", r"\1 not", text, count=1)) == 0
    assert share_found(lambda text: re.sub(r"(?<=\w )[A-Z][a-z]{3,}", "Palmgren", text, count=1)) == 0


@pytest.mark.pack
@pytest.mark.parametrize(
    ("pack", "lang", "near"),
    [("xquad", "en", 2), ("xquad", "zh", 0), ("squad2", "en", 1), ("bankfaq", "en", 8)],
)
def test_near_duplicates_among_people_s_questions_are_those_that_were_read_and_found_right(
    shared_data, pack, lang, near
):
    rows = read_rows(shared_data / pack / "questions.jsonl", Question)
    found = list(find_repeats([row.question for row in rows if row.lang == lang]))
    assert sum(not repeat.exact for repeat in found) == near
