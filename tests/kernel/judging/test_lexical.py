import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ragstone
from ragstone.kernel.judging import JudgeContext, judge_answer, load_judge
from ragstone.kernel.judging.finding import NOTHING_TO_COMPARE
from ragstone.kernel.judging.lexical import (
    MEASURES,
    alternatives,
    chrf,
    containment,
    context_overlap,
    coverage,
    grounding,
    rouge_l,
    statement_verdicts,
    token_f1,
    truth_of,
)
from ragstone.kernel.judging.matching import words
from ragstone.kernel.records import Answer, Context


def test_words_have_no_case_no_punctuation_and_no_english_articles():
    assert words("The  Quick, brown—Fox’s “den”!") == ("quick", "brown", "fox", "s", "den")


def test_hindi_vowel_signs_stay_within_their_word():
    assert words("सिंचाई की विधि") == ("सिंचाई", "की", "विधि")


def test_a_letter_of_a_script_without_spaces_is_a_word():
    assert words("灌溉3次") == ("灌", "溉", "3", "次")


def test_full_width_and_composed_forms_are_one():
    assert words("Ｃａｆé") == words("cafe\N{COMBINING ACUTE ACCENT}")


@pytest.mark.parametrize(
    ("answer", "reference", "score"),
    [
        ("It was in Paris, France.", "paris", 1.0),
        ("It was in Parisian style.", "paris", 0.0),  # whole words only
        ("The runoff or the deep percolation.", "runoff or deep percolation", 1.0),  # articles do not count
        ("deep percolation or runoff", "runoff or deep percolation", 0.0),  # the order does
        ("首都是北京市", "北京", 1.0),
        ("", "Paris", 0.0),
        ("C is a letter, ++ is none", "++", 1.0),  # no word in the reference: compared as it is
    ],
)
def test_containment_by_hand(answer, reference, score):
    assert containment(answer, reference) == score


def test_token_f1_by_hand():
    # common {irrigate, early} = 2; precision 2/3, recall 2/2; 2 * (2/3 * 1) / (2/3 + 1) = 0.8
    assert token_f1("irrigate very early", "irrigate early") == pytest.approx(0.8)


def test_rouge_l_by_hand():
    # longest common subsequence of "a b c d" and "a c b d" is 3 (b, c as x, y): P = R = 3/4
    assert rouge_l("w x y z", "w y x z") == pytest.approx(0.75)


def test_chrf_by_hand():
    # "ab" against "abc". n=1: common 2, P 2/2, R 2/3; n=2: common 1, P 1/1, R 1/2; n=3: the answer has none.
    # P = 1, R = (2/3 + 1/2) / 2 = 7/12; F2 = 5 * 7/12 / (4 + 7/12) = (35/12) / (55/12) = 7/11
    assert chrf("ab", "abc") == pytest.approx(7 / 11)


def test_context_overlap_by_hand():
    assert context_overlap("apply water early", "Water is applied; apply it.") == pytest.approx(2 / 3)
    assert context_overlap("...", "anything") == 0.0


@pytest.mark.parametrize(
    ("answer", "reference", "score"),
    [
        ("Bronze is tin with copper.", "copper and tin", 2 / 3),  # in any order; "and" is missing
        (
            "Bronze is old.",
            "bronze of copper",
            0.0,
        ),  # "bronze" is the question's; of "of copper" none is there
        ("Bronze.", "bronze", 1.0),  # nothing but the question's words: all of them count
        ("...", "++", 0.0),  # no word in the reference: compared as it is
        ("C++", "++", 1.0),
    ],
)
def test_coverage_by_hand(answer, reference, score):
    assert coverage(answer, reference, "What is bronze made from?") == score


async def test_coverage_takes_the_best_alternative_and_needs_the_question(says):
    judge = load_judge("coverage")
    answer = Answer(question_id="q", question="Who won?", answer="Ann won.", reference="Ben/Ann")
    [row] = await judge_answer(judge, answer, JudgeContext())
    assert (row.score, row.metric) == (1.0, "correctness")
    [without] = await judge_answer(judge, msgspec.structs.replace(answer, question=None), JudgeContext())
    says(without.rationale)
    [nothing] = await judge_answer(judge, msgspec.structs.replace(answer, reference=[" "]), JudgeContext())
    assert nothing.status == "not_applicable"
    says(nothing.rationale)


def test_grounding_by_hand():
    # 2 of 3 words stand there, 1 does not: 2/3 / (1 + 1/10) = 20/33
    assert grounding("apply water early", "Water is applied; apply it.") == pytest.approx(20 / 33)
    assert grounding("water", "Water is applied.") == 1.0
    # of two answers with the same share the longer one has more without support: 20/30 / (1 + 10/10) = 1/3
    assert grounding("apply water early " * 10, "Water is applied; apply it.") == pytest.approx(1 / 3)


CONTEXTS = [Context(text="Zorb quix."), Context(text="Flam zorb drov 7.")]


def verdicts(
    answer: str, contexts: list[Context] = CONTEXTS
) -> list[tuple[bool, float, int | None, str | None]]:
    found = statement_verdicts(Answer(question_id="q", answer=answer, contexts=contexts))
    assert [one.id for one in found] == list(range(1, len(found) + 1))
    return [(one.supported, pytest.approx(one.score), one.context, one.reason) for one in found]


def test_each_statement_is_looked_for_in_all_contexts_together():
    # No language has these words, so all weigh 1. The first three are held, by both contexts; the second has
    # two of three words of the statement, the first too: the first of them is named.
    assert verdicts("Zorb quix flam.") == [(True, 1.0, 1, None)]
    assert verdicts("Drov flam quix.") == [(True, 1.0, 2, None)]
    # 3 of 5 held, 2 lost: (3/5) / (1 + 2/10) = 1/2. 2 of 5, 3 lost: (2/5) / (1 + 3/10) = 4/13, below 0.4.
    [half, less] = verdicts("Zorb quix flam pelk nard. Zorb quix pelk nard gron [1].")
    assert half == (True, 1 / 2, 1, None)
    assert less == (False, 4 / 13, None, "not in the contexts: pelk, nard, gron")


def test_a_statement_with_a_number_that_no_context_holds_is_not_supported():
    assert verdicts("Zorb quix flam drov 7. Zorb quix flam drov 8.") == [
        (True, 1.0, 2, None),
        (False, 0.0, None, "not in the contexts: 8"),
    ]


def test_numbers_of_passages_are_no_numbers_of_the_statement():
    assert verdicts("Passages 1, 3 and 12: zorb quix drov. Source 5 zorb flam.") == [
        (True, 1.0, 1, None),
        (True, 1.0, 2, None),
    ]


def test_headings_questions_and_sentences_that_refuse_are_no_statements():
    assert verdicts("## Zorb and quix\n\nIs zorb quix? Yes. Here it is:") == []
    assert verdicts("I do not know the answer. Zorb quix flam.") == [(True, 1.0, 1, None)]
    assert verdicts("Zorb quix flam. The passages do not say more of it.") == [(True, 1.0, 1, None)]


@pytest.mark.parametrize("contexts", [[], [Context(text=" ")]])
def test_without_a_context_no_statement_is_supported(contexts):
    assert verdicts("Zorb quix flam.", contexts) == [
        (False, 0.0, None, "not in the contexts: zorb, quix, flam")
    ]


def test_grounding_gives_verdicts_beside_its_score_and_other_measures_give_none():
    row = Answer(question_id="q", answer="Zorb quix flam. Pelk nard gron.", contexts=CONTEXTS)
    found = ragstone.judge([row], judges=["grounding", "context_overlap"])
    assert [one.score for one in found] == [pytest.approx(3 / 6 / 1.3), 0.5]
    assert [verdict.supported for verdict in found[0].verdicts] == [True, False]
    assert found[1].verdicts is None
    [nothing] = ragstone.judge(
        [Answer(question_id="q", answer="Yes.", contexts=CONTEXTS)], judges=["grounding"]
    )
    assert nothing.verdicts is None


def test_alternatives_are_parted_at_the_separator_and_the_whole_is_kept():
    assert alternatives(["Scorpio/Skorpio"], "/") == ["Scorpio/Skorpio", "Scorpio", "Skorpio"]
    assert alternatives(["Scorpio/Skorpio"], None) == ["Scorpio/Skorpio"]


@pytest.mark.parametrize("text", ["9/11", "30 lb/acre", "5kg/ha", "farm and/or garden"])
def test_dates_rates_and_and_or_are_not_parted(text):
    assert alternatives([text], "/") == [text]


@pytest.mark.parametrize("text", ["https://example.org/a/b", "/etc/hosts", "see http://x.org/", "yes/", "//"])
def test_an_address_or_a_path_is_no_list_of_alternatives(text):
    assert alternatives([text], "/") == [text]


def test_a_part_without_a_word_is_no_alternative_for_every_answer_would_hold_it():
    assert alternatives(["Skorpio//Scorpio"], "/") == ["Skorpio//Scorpio", "Skorpio", "Scorpio"]


def test_a_date_among_alternatives_stays_whole():
    assert alternatives(["The road from 9/11/Chain of Command"], "/")[1:] == [
        "The road from 9/11",
        "Chain of Command",
    ]


@given(st.sampled_from(sorted(MEASURES)), st.text(), st.text())
def test_every_measure_lies_between_0_and_1(name, answer, reference):
    assert 0.0 <= MEASURES[name](answer, reference) <= 1.0


@given(st.text())
def test_a_text_equals_itself(text):
    assert rouge_l(text, text) == token_f1(text, text) == pytest.approx(1.0)
    assert chrf(text, text) == pytest.approx(1.0)
    assert containment(text, text) == 1.0


async def test_an_unanswerable_question_has_nothing_to_compare_words_with():
    answer = Answer(question_id="q", question="Who won?", answer="Ann won.", answerable=False)
    for name in ("containment", "token_f1"):
        [row] = await judge_answer(load_judge(name), answer, JudgeContext())
        assert (row.status, row.rationale) == ("not_applicable", NOTHING_TO_COMPARE)


def test_references_are_true_or_false_only_if_they_are_that_word():
    references = [["true"], [" False"], ["true", "True"], ["true", "false"], ["True Grit"], ["yes"], []]
    assert list(map(truth_of, references)) == [True, False, True, None, None, None, None]
