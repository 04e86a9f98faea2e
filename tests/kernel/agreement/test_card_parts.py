"""What a report card holds beside the measures: groups, ranking, grades, disagreements, tuned rows."""

import msgspec
import numpy as np
import pytest
from sklearn.metrics import precision_score, recall_score
from tests.support.label_rows import judgement, label, sheets

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement, Label


def card_of(judgements: list[Judgement], labels: list[Label], **options: object) -> ReportCard:
    return report_cards(judgements, labels, resamples=300, **options)[0]


def told(rows: list, **metadata: object) -> list:
    return [msgspec.structs.replace(row, metadata=(row.metadata or {}) | metadata) for row in rows]


def several_systems(rates: dict[str, tuple[int, int]], n: int = 40) -> tuple[list[Judgement], list[Label]]:
    """Rows of each system: (answers right by people, right by the judge) of n."""
    judgements, labels = [], []
    for system, (people, judge) in rates.items():
        for i in range(n):
            judgements.append(judgement(f"q{i}", float(i < judge), system=system))
            labels.append(label(f"q{i}", float(i < people), system=system, text=f"question {i}"))
    return judgements, labels


def test_answers_are_grouped_by_language_tags_and_what_is_asked_for():
    judgements, labels = sheets([1, 0, 1, 0, 1, 1], [1, 0, 0, 0, 1, 0])
    labels = [
        *told(labels[:3], lang="en", tags={"crop": "wheat"}, source="a"),
        *told(labels[3:5], lang="de", source="b"),
        *labels[5:],
    ]
    card = card_of(judgements, labels)
    assert list(card.by) == ["lang", "crop"]
    english, german, untold = card.by["lang"]
    assert (english.name, english.n, english.n_questions) == ("en", 3, 3)
    assert (german.name, german.n, untold.name, untold.n) == ("de", 2, "(not given)", 1)
    assert english.agreement["exact agreement"].value == pytest.approx(2 / 3)
    # The judge gives 1 of 3, people 2 of 3.
    assert english.bias is not None
    assert english.bias.value == pytest.approx(-1 / 3)
    assert (english.judge, english.human) == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert list(card_of(judgements, labels, by=["source"]).by) == ["lang", "crop", "source"]


def test_field_that_nobody_has_cannot_be_grouped_by(says):
    with pytest.raises(DataError) as error:
        card_of(*sheets([1, 0], [1, 0]), by=["crop"])
    says(error.value)


def test_tags_of_judgements_count_too_and_a_single_value_makes_no_group():
    judgements, labels = sheets([1, 0], [1, 0])
    judgements = [
        *told(judgements[:1], tags={"topic": "soil"}),
        *told(judgements[1:], tags={"topic": "pest"}),
    ]
    assert list(card_of(judgements, told(labels, lang="en")).by) == ["topic"]


def test_groups_of_scores_without_grades_have_spearman_and_bias_as_if_alone():
    rng = np.random.default_rng(0)
    human = rng.random(60) * 100
    judge = np.clip(human + rng.normal(size=60) * 20 - 5, 0, 100)
    judgements, labels = sheets(human.tolist(), judge.tolist(), scale=(0, 100))
    labels = [*told(labels[:30], lang="en"), *told(labels[30:], lang="hi")]
    english = card_of(judgements, labels).by["lang"][0]
    alone = card_of(judgements[:30], labels[:30])
    assert english.n == 30
    assert english.agreement["Spearman"].value == pytest.approx(alone.agreement["Spearman"].value)
    assert english.bias is not None
    assert english.bias.value == pytest.approx(alone.agreement["signed error"].value)
    low, high = alone.agreement["signed error"].low, alone.agreement["signed error"].high
    assert (english.bias.low, english.bias.high) == pytest.approx((low, high), abs=2)


def test_small_groups_are_named_in_a_note(says):
    judgements, labels = sheets([1, 0] * 15, [1, 0] * 15)
    labels = [*told(labels[:25], lang="en"), *told(labels[25:], lang="fr")]
    says(card_of(judgements, labels).notes)


@pytest.mark.parametrize(("n", "warned"), [(9, True), (10, False)])
def test_a_card_of_fewer_than_ten_questions_says_that_its_intervals_are_too_narrow(n, warned, says):
    notes = card_of(*sheets(([1, 0] * n)[:n], ([1, 0] * n)[:n])).notes
    says("\n".join(notes))


def test_ranking_that_survives(says):
    card = card_of(*several_systems({"a": (30, 28), "b": (20, 19), "c": (5, 6)}))
    assert card.ranking is not None
    assert card.ranking.by_people == card.ranking.by_judge == ["a", "b", "c"]
    assert (card.ranking.tau.value, card.ranking.reversals, card.ranking.n_pairs) == (1, [], 3)
    assert card.ranking.same_best > 0.99
    says(card.verdict)


def test_reversed_pairs_are_named_with_both_differences(says):
    # People: a 30, b 20, c 5 of 40. Judge: b before a. Of three pairs one is reversed: tau (2 - 1) / 3.
    card = card_of(*several_systems({"a": (30, 20), "b": (20, 28), "c": (5, 6)}))
    assert card.ranking is not None
    assert card.ranking.by_judge == ["b", "a", "c"]
    assert card.ranking.tau.value == pytest.approx(1 / 3)
    (one,) = card.ranking.reversals
    assert (one.better, one.worse) == ("a", "b")
    assert (one.human.value, one.judge.value) == (pytest.approx(10 / 40), pytest.approx(-8 / 40))
    assert card.ranking.same_best < 0.05
    says(card.verdict)


def test_a_single_system_has_no_ranking():
    assert card_of(*sheets([1, 0], [1, 0])).ranking is None


def test_best_of_two_systems_that_are_alike_is_the_same_in_about_half_of_the_resamples():
    rng = np.random.default_rng(0)
    rows = [(f"q{i}", system, *rng.integers(0, 2, 2)) for i in range(200) for system in "ab"]
    judgements = [judgement(question, float(score), system=system) for question, system, score, _ in rows]
    labels = [label(question, float(grade), system=system) for question, system, _, grade in rows]
    ranking = card_of(judgements, labels).ranking
    assert ranking is not None
    assert 0.05 < ranking.same_best < 0.95


def test_recall_and_precision_of_each_grade_agree_with_scikit_learn():
    rng = np.random.default_rng(0)
    human = rng.integers(0, 3, 90)
    judge = np.clip(human + rng.integers(-1, 2, 90), 0, 2)
    found = card_of(*sheets(human.tolist(), judge.tolist(), scale=(0, 2))).per_grade
    recalls = [one.recall.value for one in found if one.recall]
    precisions = [one.precision.value for one in found if one.precision]
    assert recalls == pytest.approx(list(recall_score(human, judge, average=None)))
    assert precisions == pytest.approx(list(precision_score(human, judge, average=None)))
    assert [one.n_human for one in found] == np.bincount(human).tolist()


def test_grade_that_nobody_gave_has_neither_recall_nor_precision():
    found = card_of(*sheets([0, 2], [0, 2], scale=(0, 2))).per_grade
    assert (found[1].n_human, found[1].recall, found[1].precision) == (0, None, None)


def test_grades_are_called_what_the_judge_calls_them():
    judgements, labels = sheets([0, 1], [0, 1])
    rows = [
        msgspec.structs.replace(row, label=name, metric="answered")
        for row, name in zip(judgements, ("refused", "answered"), strict=True)
    ]
    assert card_of(rows, labels).names == ["refused", "answered"]
    assert card_of(judgements, labels).names == ["wrong", "right"]


def test_words_for_wrong_and_right_are_not_those_of_grades_0_and_1_of_a_wider_scale():
    card = card_of(*sheets([0, 1, 1, 3], [0, 1, 2, 3], scale=(0, 3)))
    assert card.names == ["0", "1", "2", "3"]
    assert card.constant is not None
    assert card.constant.name == "always answering '1'"
    halves = card_of(*sheets([0, 0.5, 1, 1], [0, 0.5, 1, 0]))
    assert halves.names == ["0", "0.5", "1"]


def test_scores_cut_at_a_threshold_are_not_called_what_the_judge_calls_its_grades():
    judgements, labels = sheets([0, 0, 1, 1], [0, 1, 2, 3], scale=(0, 3))
    rows = [
        msgspec.structs.replace(row, label=name, metric="help")
        for row, name in zip(judgements, ("none", "little", "some", "much"), strict=True)
    ]
    assert card_of(rows, labels, threshold=2).names == ["0", "1"]
    assert card_of(judgements, labels, threshold=2).names == ["wrong", "right"]


def test_calibration_worked_by_hand_without_a_threshold():
    # 80 said of forty answers, thirty right; 20 said of forty, ten right. Usual error 0.05; Brier as below.
    card = card_of(*sheets([1, 1, 1, 0, 1, 0, 0, 0] * 10, ([80] * 4 + [20] * 4) * 10, scale=(0, 100)))
    found = card.calibration
    assert found is not None
    assert found.usual_error == pytest.approx(0.05)
    assert found.error.value < 0.05
    assert found.brier.value == pytest.approx((3 * 0.04 + 0.64 + 0.64 + 3 * 0.04) / 8)
    assert found.rate_brier == 0.25
    assert [(one.low, one.mean, one.high, one.right.value) for one in found.bins] == [
        (0.2, pytest.approx(0.2), 0.2, 0.25),
        (0.8, pytest.approx(0.8), 0.8, 0.75),
    ]
    # Without a threshold a verdict is right from 50 on: 60 of 80 are people's.
    assert card.selective is not None
    assert card.selective.right.value == 0.75


@pytest.mark.parametrize(
    ("human", "scores", "scale"),
    [([1, 0, 1], [1, 0, 0], (0, 1)), ([2, 0, 1], [2, 1, 0], (0, 2)), ([1, 0, 1], [3, 1, 2], (1, 5))],
)
def test_scores_that_are_no_probabilities_have_no_calibration(human, scores, scale):
    assert card_of(*sheets(human, scores, scale=scale)).calibration is None


def test_rows_that_the_judge_was_tuned_on_are_no_test_rows(says):
    judgements, labels = sheets([1, 0, 1, 0], [1, 0, 0, 1])
    card = card_of([*told(judgements[2:], tuned=True), *judgements[:2]], labels)
    assert (card.n, card.n_tuned, card.n_unjudged, card.agreement["exact agreement"].value) == (2, 2, 0, 1)
    says("\n".join(card.notes))


def test_nothing_but_tuned_rows_is_an_error_that_says_why(says):
    judgements, labels = sheets([1, 0], [1, 0])
    with pytest.raises(DataError) as error:
        card_of(told(judgements, tuned=True), labels)
    says(error.value)


def test_one_tuned_judge_of_several_has_a_card_that_says_so(says):
    judgements, labels = sheets([1, 0], [1, 0])
    other, _ = sheets([1, 0], [1, 0], judge="other")
    card = card_of([*told(judgements, tuned=True), *other], labels)
    assert (card.n, card.n_tuned) == (0, 2)
    says(card.verdict)


def test_largest_distances_come_first_and_systems_take_turns():
    judgements, labels = [], []
    for system in "ab":
        for i, (human, score) in enumerate([(3, 0), (3, 0), (3, 2), (1, 1)]):
            judgements.append(judgement(f"{system}{i}", score, system=system, metric="m", scale=(0, 3)))
            labels.append(label(f"{system}{i}", human, system=system))
    found = card_of(judgements, labels).disagreements
    assert [(one.system, one.human - one.judge) for one in found] == [
        ("a", 3),
        ("b", 3),
        ("a", 3),
        ("b", 3),
        ("a", 1),
        ("b", 1),
    ]


def test_disagreement_has_both_reasons_the_texts_and_says_where_people_differ():
    row = msgspec.structs.replace(judgement("q", 0, scale=(0, 2), metric="m"), rationale="Off topic.")
    labels = [
        Label(question_id="q", score=2, annotator="x", rationale="Helps.", metadata={"question": "Why?"}),
        Label(question_id="q", score=1, annotator="y", metadata={"answer": "So.", "reference": ["A", "B"]}),
        Label(question_id="q", score=2, annotator="z"),
    ]
    (one,) = card_of([row], labels).disagreements
    assert (one.question, one.answer, one.reference) == ("Why?", "So.", "A / B")
    assert (one.human_reasons, one.judge_reason) == (["Helps."], "Off topic.")
    assert (one.grades, one.divided, one.human, one.judge) == ([2, 1, 2], True, 2, 0)


def test_at_most_ten_disagreements_and_each_question_once_while_there_are_others():
    judgements, labels = several_systems({"a": (12, 0), "b": (12, 0)}, n=12)
    found = card_of(judgements, labels).disagreements
    assert len(found) == 10
    assert len({one.question for one in found}) == 10
    assert [one.system for one in found].count("a") == 5


def test_without_a_threshold_disagreements_are_scores_on_the_wrong_side_of_the_middle():
    card = card_of(*sheets([1, 0, 1, 0], [5, 90, 95, 10], scale=(0, 100)))
    assert {one.question_id for one in card.disagreements} == {"q0", "q1"}


def test_people_have_an_alpha_of_their_own():
    judgements, labels = sheets([1, 0, 1, 0], [1, 0, 1, 1])
    second = [label(f"q{i}", score, annotator="second") for i, score in enumerate([1, 0, 0, 0])]
    humans = card_of(judgements, labels + second).humans
    assert humans is not None
    # Pairs 1-1 0-0 1-0 0-0: of 8 values three 1, five 0. Observed 2 / 8, expected 2 * 15 / 56.
    assert humans.alpha["alpha"].value == pytest.approx(1 - 0.25 / (30 / 56))


def test_preferences_are_graded_with_ties_and_rank_no_systems():
    rows = [
        judgement(f"q{i}", score, system=system, metric="preference", judge="pairwise")
        for i, (score, system) in enumerate([(1, "a vs b"), (0.5, "a vs b"), (0, "a vs c"), (1, "a vs c")])
    ]
    labels = [
        label(f"q{i}", score, system=row.system)
        for i, (score, row) in enumerate(zip([1, 1, 0, 1], rows, strict=True))
    ]
    card = card_of(rows, labels)
    assert card.categories == [0, 0.5, 1]
    assert card.names == ["the second", "a tie", "the first"]
    assert card.agreement["exact agreement"].value == 0.75
    assert card.ranking is None
    assert [group.name for group in card.by_system] == ["a vs b", "a vs c"]
