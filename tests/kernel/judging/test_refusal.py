import pytest

from ragstone.kernel.config import read_library
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.lexical import no_refusal
from ragstone.kernel.records import Answer

LISTED = read_library("ragstone.kernel.judging", "words/refusals.toml")
TEN = {"ar", "de", "en", "es", "hi", "ru", "th", "tr", "vi", "zh"}


@pytest.mark.parametrize(
    ("answer", "score"),
    [
        ("I don't know.", 0.0),
        ("I don’t know.", 0.0),  # a typographic apostrophe
        ("Sorry, I cannot, on this evidence, answer that.", 0.0),  # up to eight words in between
        ("Ich kann diese Frage leider nicht beantworten.", 0.0),
        ("这个问题我无法回答。", 0.0),
        ("ฉันไม่ทราบคำตอบ", 0.0),
        ("", 0.0),
        ("???", 0.0),
        ("In 1912.", 1.0),
        ("The knot is unknotted.", 1.0),  # whole words only
        ("1912年", 1.0),
        # A phrase far down is no refusal: 31 words come before it.
        ("Wheat " * 31 + "and the guide does not mention barley.", 1.0),
        ("Wheat " * 20 + "and the guide does not mention barley.", 0.0),
    ],
)
def test_no_refusal_by_hand(answer, score):
    assert no_refusal(answer) == score


def test_every_phrase_of_the_list_is_found_alone_and_in_a_sentence():
    for table in LISTED.values():
        for phrase in table["phrases"]:
            said = phrase.replace(" * ", " 7 ").replace("*", "")
            assert no_refusal(said) == no_refusal(f"2025: {said} (7).") == 0.0, phrase


def test_ten_languages_have_negations_near_matters_in_either_order():
    assert {lang for lang, table in LISTED.items() if "matters" in table} == TEN
    for lang in TEN:
        for negation in LISTED[lang]["negations"]:
            # a stem such as "*miyor" stands for a whole word
            no, known = negation.replace("*", "xx"), LISTED[lang]["matters"][0].replace("*", "")
            assert no_refusal(f"{no} 7 {known}") == no_refusal(f"{known} 7 {no}") == 0.0, (lang, negation)


@pytest.mark.parametrize(
    "answer",
    [
        "It is taken off the payment and never asked for in cash.\n\nThe answer is: in November.",
        "The keeper may not own land below the weir. The answer is 2.",
    ],
)
def test_what_is_denied_in_one_sentence_says_nothing_of_the_next(answer):
    assert no_refusal(answer) == 1.0


def test_a_refusal_may_come_after_a_sentence():
    assert no_refusal("Thank you for asking. The documents do not answer this question.") == 0.0


def test_a_negation_far_from_what_it_could_deny_is_no_refusal():
    assert no_refusal("No 1 2 3 4 5 6 7 8 answer") == 0.0  # eight words in between
    assert no_refusal("No 1 2 3 4 5 6 7 8 9 answer") == 1.0


async def test_the_baseline_of_answered_reads_the_answer_alone():
    judge = load_judge("no_refusal")
    [row] = await judge_answer(judge, Answer(question_id="q", answer="No idea, sorry."), JudgeContext())
    assert (row.status, row.score, row.metric, row.model) == ("scored", 0.0, "answered", "none")
