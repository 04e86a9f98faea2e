from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.matching import focus, match, missing, spoken, word_weight
from ragstone.kernel.records import Answer

TEXTS = st.text(alphabet=st.sampled_from("abcdefg 12,.-éßא灌ก"), max_size=60)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Twenty-one; 21; XX", ("21", "21", "20")),
        ("the 2nd, the second, II", ("2", "2", "2")),
        ("two hundred and five million", ("200", "and", "5000000")),
        ("5 million, 5,000,000", ("5000000", "5000000")),
        ("twenty 5", ("20", "5")),  # digits are a number of their own
        ("seven eleven", ("7", "11")),
        ("zweite, dritten", ("2", "3")),
        ("الثاني من القاهرة", ("2", "من", "قاهره")),
        ("тысяча, двадцать пять", ("тысяча", "25")),
        ("9" * 5000, ("9" * 5000,)),  # longer than Python reads a number
        ("million " * 9, ("1000000000000000000", "1000000000000000000", "1000000000000000000")),
    ],
)
def test_numbers_are_read_alike(text, said):
    assert spoken(text) == said


def test_a_rare_word_counts_more_than_one_that_most_texts_hold():
    assert word_weight("of") == 0.1
    assert 0.1 < word_weight("company") < word_weight("scorpio") == 1
    # "of" weighs 0.1 and "wroclaw" 1: 1 / 1.1
    assert match("It is Wroclaw.", "of Wroclaw", "?") == pytest.approx(1 / 1.1)


@pytest.mark.parametrize(
    ("answer", "reference", "share"),
    [
        ("Skorpio", "Scorpio", 8 / 12),  # ko or rp pi io of six pairs each: 2 x 4 / 12 (or, rp, pi, io)
        ("the Chinese", "China", 0.0),  # ch hi in of 4 and 6: 2 x 3 / 10 = 0.6, too little
        ("irrigating", "irrigation", 0.85),  # irrig is more than seven of nine pairs: 14 / 18
        (
            "yananan",
            "xanana",
            8 / 11,
        ),  # an na twice each, of six and five pairs: a pair counts as often as it is there
        ("yanan", "xanana", 6 / 9),  # an na an, of four and five
        ("Hydrangeas", "hydro", 0.0),  # hydra and hydro differ in the fifth letter
        ("in 1913", "1912", 0.0),
        ("in 1912", "1912", 1.0),
        ("the Second World War", "World War II", 1.0),
        ("cat", "car", 0.0),  # words of three letters are not forgiven
        ("灌", "灌溉", 0.5),
        ("", "Ann", 0.0),
        ("no word at all", "?!", 0.0),
        ("what?!", "?!", 1.0),
    ],
)
def test_words_in_another_form_count_for_what_they_share(answer, reference, share):
    assert match(answer, reference, "") == pytest.approx(share)


def test_words_of_the_question_are_left_out_but_where_there_are_no_others():
    assert match("It is Ann.", "Ann Smith", "Is it Smith?") == 1.0
    assert match("It is Ann.", "Ann Smith", "Ann Smith or Bob Jones?") == 0.5


def test_an_answer_that_names_the_reference_among_much_else_has_little_focus():
    # asked: who, wrote, it. Of the answer, ann counts 1 of ann, bob and cid with a weight of 1 each.
    assert focus("Ann", "Ann", "Who wrote it?") == 1.0
    assert focus("Ann wrote it", "Ann", "Who wrote it?") == 1.0
    assert focus("Annabel Bobby Cidric", "Annabel", "Who?") == pytest.approx(1 / 3)
    assert focus("", "Ann", "Who?") == 0.0
    assert focus("Ann", " ".join(["word"] * 11), "Who?") is None
    assert focus("Ann", "?!", "Who?") is None


def test_what_is_missing_is_named_the_rarest_first():
    assert missing("It sank.", "of the Titanic in 1912", "") == ["titanic", "1912", "of", "in"]
    assert missing("titanics of 1912, in", "of the Titanic in 1912", "") == []


async def test_the_judge_says_what_is_missing_from_the_best_of_the_alternatives(says):
    answer = Answer(
        question_id="q", question="When did it sink?", reference="15 April 1912/1912", answer="1913"
    )
    [row] = await judge_answer(load_judge("match"), answer, JudgeContext())
    assert row.score == 0.0
    says(row.rationale)
    long = Answer(question_id="q", question="Why?", reference="word " * 11, answer="So.")
    [row] = await judge_answer(load_judge("focus"), long, JudgeContext())
    assert (row.status, row.score) == ("not_applicable", None)


@given(TEXTS, TEXTS, TEXTS)
def test_both_lie_between_0_and_1_and_whatever_is_said_again_matches(answer, reference, question):
    assert 0 <= match(answer, reference, question) <= 1 + 1e-9
    assert 0 <= (focus(answer, reference, question) or 0) <= 1 + 1e-9
    assert match(f"{answer} {reference} {answer}", reference, question) == pytest.approx(1)


@given(st.text("abc", min_size=4, max_size=12), st.text("abc", min_size=4, max_size=12))
def test_two_words_are_as_alike_as_their_pairs_of_letters(word, other):
    own, theirs = (Counter(map("".join, pairwise(one))) for one in (word, other))
    dice = 2 * (own & theirs).total() / (own.total() + theirs.total())
    expected = max(dice if dice >= 0.65 else 0.0, 0.85 * (len(word) > 4 and word[:5] == other[:5]))
    assert match(other, word, "") == pytest.approx(1.0 if word == other else expected)


@given(TEXTS, TEXTS)
def test_a_longer_answer_never_matches_less(answer, reference):
    assert match(f"{answer} . more of it", reference, "") >= match(answer, reference, "") - 1e-9
