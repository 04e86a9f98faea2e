import pytest
from tests.support.plain_rows import judgement_row

from ragstone.features.attack._probes import (
    TRANSFORMS,
    comparable_rows,
    effect_of,
    is_own,
    marked_up,
    own_model_effect,
    position_effect,
    probed_rows,
)
from ragstone.kernel.judging import load_judge
from ragstone.kernel.judging.pairwise import pair_answers
from ragstone.kernel.records import Answer, Judgement, Label

ROW = Answer(
    question_id="q",
    system="s",
    question="Who wrote Emma?",
    answer="Jane Austen wrote it.",
    tags={"lang": "en"},
)


def judged(score: float | None, question: str = "q", system: str = "s", **more: object) -> Judgement:
    status = "unparsable" if score is None else "scored"
    return judgement_row(
        question_id=question, system=system, status=status, score=score, scale=(0, 100), **more
    )


def test_each_probe_changes_the_dress_and_keeps_the_words(says):
    dressed = {name: probed_rows(name, [ROW])[0] for name in TRANSFORMS}
    says(dressed["repetition"].changed.answer)
    says(dressed["markdown"].changed.answer)
    says(dressed["length"].changed.answer)
    assert len(dressed["length"].changed.answer) > 160
    says(dressed["tone"].plain.answer)
    says(dressed["tone"].changed.answer)
    assert all(ROW.answer.split()[-1] in one.changed.answer for one in dressed.values())


def test_a_tone_is_said_in_the_language_of_the_row(says):
    row = Answer(question_id="q", question="Wer?", answer="Jane Austen.", tags={"lang": "de"})
    says(probed_rows("tone", [row])[0].changed.answer)


def test_markup_goes_around_sentences_of_any_script(says):
    says(marked_up("One. Two 3.5!"))
    assert marked_up("长江。黄河。").count("\n- ") == 2


def test_an_empty_answer_has_nothing_to_wear():
    assert probed_rows("length", [Answer(question_id="q", answer=" ")]) == []


def test_an_effect_worked_by_hand():
    # differences 20, 0, 40 of 100: mean 0.2; the fourth has no score on one side.
    pairs = [
        (judged(10, "a"), judged(30, "a")),
        (judged(50, "b"), judged(50, "b")),
        (judged(0, "c"), judged(40, "c")),
        (judged(0, "d"), judged(None, "d")),
    ]
    effect = effect_of("length", "x", pairs)
    assert effect.effect is not None
    assert effect.effect.value == pytest.approx(0.2)
    assert (effect.effect.n, effect.n_unpaired) == (3, 1)


def test_an_effect_is_found_where_the_interval_excludes_0():
    up = effect_of("length", "x", [(judged(0, str(n)), judged(20 + n % 3, str(n))) for n in range(30)])
    none = effect_of("length", "x", [(judged(50, str(n)), judged(50 + (-1) ** n, str(n))) for n in range(30)])
    still = effect_of("length", "x", [(judged(50, str(n)), judged(50, str(n))) for n in range(30)])
    assert (up.found, none.found, still.found) == (True, False, None)
    assert still.effect is not None
    assert (still.effect.value, still.effect.low) == (0, None)


def test_without_any_pair_nothing_is_measured(says):
    says(effect_of("length", "x", [(judged(None), judged(1))]).why)


def test_position_worked_by_hand():
    pairwise = load_judge("pairwise")

    def pair(question: str, *orders: str) -> Judgement:
        return judgement_row(
            question_id=question,
            system="A vs B",
            judge="pairwise",
            metric="pairwise",
            score=0.5,
            scale=(0, 1),
            metadata={"orders": list(orders)},
        )

    # A wins in both orders: 0. Whoever is first wins: 1 - 0 = 1. A wins first, then a tie: 1 - 0.5.
    rows = [pair("a", "A", "A"), pair("b", "A", "B"), pair("c", "A", "tie"), judged(0.5, system="A vs B")]
    effect = position_effect(pairwise, rows)
    assert effect.effect is not None
    assert effect.effect.value == pytest.approx(0.5)
    assert effect.n_unpaired == 1
    assert position_effect(load_judge("correctness"), rows).why is not None


def test_answers_to_compare_are_three_a_question():
    rows = comparable_rows(2)
    assert {row.system for row in rows} == {"right", "right, other words", "wrong"}
    assert len(list(pair_answers(rows))) == 2 * 3


@pytest.mark.parametrize(
    ("system", "own"),
    [("gpt-4o-mini", True), ("bm25/plain/gpt-4o-mini", True), ("GPT-4o-mini", True), ("gpt-4o", False)],
)
def test_whose_answers_are_a_models_own(system, own):
    assert is_own(system, "openai/gpt-4o-mini") is own


def test_own_model_preference_worked_by_hand():
    # own: judge 0.9 and 0.7 where people say 0.5: mean 0.3; others: 0.6 and 0.4: mean 0.0; preference 0.3
    rows = [
        judged(90, "a", "gpt"), judged(70, "b", "gpt"), judged(60, "a", "other"), judged(40, "b", "other")
    ]  # fmt: skip
    labels = [Label(question_id=row.question_id, system=row.system, score=50) for row in rows]
    effect = own_model_effect(rows, labels, "openai/gpt")
    assert effect.effect is not None
    assert effect.effect.value == pytest.approx(0.3)


def test_labels_of_0_and_1_stand_for_the_ends_of_the_scale():
    rows = [judged(100, "a", "gpt"), judged(0, "a", "other")]
    labels = [Label(question_id="a", system="gpt", score=1), Label(question_id="a", system="other", score=1)]
    effect = own_model_effect(rows, labels, "openai/gpt")
    assert effect.effect is not None
    assert effect.effect.value == pytest.approx(1.0)  # (1 - 1) - (0 - 1)


def test_own_model_preference_says_what_it_lacks(says):
    rows = [judged(90, "a", "gpt")]
    assert "labels" in (own_model_effect(rows, [], "openai/gpt").why or "")
    label = Label(question_id="a", system="gpt", score=1)
    assert "another one" in (own_model_effect(rows, [label], "openai/gpt").why or "")
    off = Label(question_id="a", system="gpt", score=500)
    says(own_model_effect(rows, [off], "openai/gpt").why or "")
