import pytest

from ragstone.config import read_library
from ragstone.judging import Means, judge_answer, load_judge
from ragstone.judging.refusal import no_refusal
from ragstone.records import Answer


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
    listed = read_library("ragstone.judging", "words/refusals.toml")
    assert {"ar", "de", "en", "es", "hi", "ru", "th", "tr", "vi", "zh"} <= set(listed)
    for phrases in listed.values():
        for phrase in phrases:
            said = phrase.replace("*", "7")
            assert no_refusal(said) == no_refusal(f"2025: {said} (7).") == 0.0, phrase


async def test_the_baseline_of_answered_reads_the_answer_alone():
    judge = load_judge("no_refusal")
    [row] = await judge_answer(judge, Answer(question_id="q", answer="No idea, sorry."), Means())
    assert (row.status, row.score, row.metric, row.model) == ("scored", 0.0, "answered", "none")
