import json
import unicodedata
from pathlib import Path

import msgspec
import pytest
from tests.support.label_rows import judgement, label, sheets

from ragstone.kernel.agreement import grading
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Judgement, Label, Status

TQ600 = Path(__file__).parents[4] / "shared" / "data" / "evouna" / "tq600.jsonl"
Threshold = float | dict[str, float] | None


def report_cards(
    judgements: list[Judgement],
    labels: list[Label],
    mapping: dict[float, float] | None = None,
    threshold: Threshold = None,
) -> list[ReportCard]:
    return grading.report_cards(judgements, labels, mapping=mapping, threshold=threshold, resamples=300)


def card_of(human: list[int], scores: list[int], scale: tuple[float, float] = (0, 1)) -> ReportCard:
    (card,) = report_cards(*sheets(human, scores, scale=scale))
    return card


def test_card_worked_by_hand(says):
    # 30 right of 40 by people; the judge says right to 29 of them and to 1 of the 10 wrong.
    card = card_of([1] * 30 + [0] * 10, [1] * 29 + [0] + [0] * 9 + [1])
    assert (card.judge, card.metric, card.model, card.prompt_version) == (
        "rubric",
        "correctness",
        "openai/m",
        1,
    )
    assert (card.n, card.statuses, card.scale) == (40, {"scored": 40}, (0, 1))
    assert card.categories == [0, 1]
    assert card.confusion == [[9, 1], [1, 29]]
    assert card.agreement["exact agreement"].value == 38 / 40
    # chance 0.75 * 0.75 + 0.25 * 0.25 = 0.625
    assert card.agreement["kappa"].value == pytest.approx((0.95 - 0.625) / 0.375)
    assert card.constant is not None
    assert card.constant.exact_agreement.value == 0.75
    assert card.better_than_baseline is True
    says(card.verdict)
    assert (card.no_model, card.humans, card.notes) == (None, None, [])


def test_card_survives_json():
    judgements, labels = sheets([1, 0, 1, 1], [1, 0, 0, 1])
    labels += [label("q0", 1, annotator="second")]
    (card,) = report_cards(judgements, labels)
    assert card.humans is not None
    assert card.humans.n_answers == 1
    assert msgspec.json.decode(msgspec.json.encode(card), type=ReportCard) == card


def test_same_rows_in_another_order_give_the_same_card():
    judgements, labels = sheets([1, 0, 1, 1, 2], [1, 0, 0, 1, 2], scale=(0, 2))
    (card,) = report_cards(judgements, labels)
    (other,) = report_cards(judgements[::-1], labels[::-1])
    assert other == card


def test_every_judge_has_its_own_card():
    judgements = [judgement("a", 1, judge=judge, model=model) for judge in "xy" for model in "mn"]
    cards = report_cards(judgements, [label("a", 1)])
    assert [(card.judge, card.model) for card in cards] == [("x", "m"), ("x", "n"), ("y", "m"), ("y", "n")]


def test_judge_that_no_label_speaks_of_has_no_card():
    judgements = [judgement("a", 1), judgement("a", 1, judge="other", metric="relevance")]
    (card,) = report_cards(judgements, [label("a", 1, metric="correctness")])
    assert card.metric == "correctness"


def test_judge_whose_judgements_all_failed_has_a_card_that_says_so(says):
    failed: list[tuple[str, Status]] = [("a", "timeout"), ("b", "unparsable")]
    rows = [judgement(question, None, status=status) for question, status in failed]
    (card,) = report_cards(rows, [label("a", 1), label("b", 0)])
    assert (card.n, card.agreement, card.better_than_baseline) == (0, {}, None)
    assert card.statuses == {"unparsable": 1, "timeout": 1}
    says(card.verdict)


def test_labels_of_one_grade_cannot_tell_a_judge_from_a_constant(says):
    card = card_of([1] * 30, [1] * 20 + [0] * 10)
    assert card.better_than_baseline is None
    says(card.verdict)
    says("\n".join(card.notes))


def test_model_is_compared_with_the_best_judge_that_asks_none(says):
    human = [1] * 30 + [0] * 30
    model, labels = sheets(human, [1] * 38 + [0] * 22)
    words, _ = sheets(human, [1] * 29 + [0] * 31, judge="containment", model="none")
    overlap, _ = sheets(human, [0.5] * 60, judge="token_f1", model="none")
    card, free, graded = report_cards([*model, *words, *overlap], labels)
    assert card.no_model is not None
    assert card.constant is not None
    assert (card.no_model.name, card.no_model.better) == ("containment", False)
    assert card.constant.better is True
    assert card.better_than_baseline is False
    says(card.verdict)
    assert free.no_model is None
    assert free.better_than_baseline is True
    assert "give a threshold" in graded.notes[0]


def test_rival_of_another_metric_is_held_against_the_labels_of_this_one():
    labels = [label(f"q{i}", i % 2, metric="faithfulness") for i in range(40)]
    model = [judgement(f"q{i}", 1, metric="faithfulness") for i in range(40)]
    words = [judgement(f"q{i}", i % 2, judge="overlap", metric="overlap", model="none") for i in range(40)]
    (card,) = report_cards(model + words, labels)
    assert card.no_model is not None
    assert (card.no_model.name, card.no_model.exact_agreement.value) == ("overlap", 1)


def test_threshold_reaches_judges_that_need_it_and_no_other():
    human = [1] * 20 + [0] * 20
    percent, labels = sheets(human, [80] * 20 + [30] * 20, scale=(0, 100))
    words, _ = sheets(human, human, judge="containment", model="none")
    cut, free = report_cards(percent + words, labels, threshold=50)
    assert (cut.threshold, cut.agreement["exact agreement"].value) == (50, 1)
    assert (free.threshold, free.agreement["exact agreement"].value) == (None, 1)


def test_each_judge_may_have_a_threshold_of_its_own():
    human = [1] * 20 + [0] * 20
    percent, labels = sheets(human, [80] * 20 + [30] * 20, judge="percent", scale=(0, 100))
    share, _ = sheets(human, [0.8] * 20 + [0.3] * 20, judge="share")
    other, _ = sheets(human, [0.8] * 20 + [0.3] * 20, judge="other")
    cards = report_cards(percent + share + other, labels, threshold={"percent": 50, "share": 0.5})
    assert [card.threshold for card in cards] == [50, 0.5, None]


def test_the_threshold_of_the_judges_file_holds_where_none_is_given():
    human = [1] * 20 + [0] * 20
    bare, labels = sheets(human, [0.8] * 20 + [0.6] * 20)
    rows = [msgspec.structs.replace(row, metadata={"threshold": 0.7}) for row in bare]
    (card,) = report_cards(rows, labels)
    assert (card.threshold, card.agreement["exact agreement"].value) == (0.7, 1)
    (card,) = report_cards(rows, labels, threshold=0.5)
    assert (card.threshold, card.agreement["exact agreement"].value) == (0.5, 0.5)
    (card,) = report_cards([*rows[1:], bare[0]], labels)
    assert card.threshold is None  # files that say different things were used


def test_without_threshold_there_is_no_accuracy_and_the_card_says_why():
    card = card_of([1, 0, 1, 0], [80, 20, 60, 70], scale=(0, 100))
    assert list(card.agreement) == ["Pearson", "Spearman", "Kendall tau-b", "ROC AUC"]
    assert (card.categories, card.confusion, card.per_grade, card.constant) == ([], [], [], None)
    assert card.by_system[0].bias is None
    assert card.better_than_baseline is None
    assert "give a threshold" in card.notes[0]


def test_labels_on_another_scale_are_an_error_that_asks_for_a_mapping(says):
    judgements, labels = sheets([1, 3, 5], [0, 1, 2], scale=(0, 2))
    with pytest.raises(DataError) as error:
        report_cards(judgements, labels)
    says(error.value)
    (card,) = report_cards(judgements, labels, mapping={1: 0, 3: 1, 5: 2})
    assert card.agreement["exact agreement"].value == 1


def test_labels_off_the_scale_of_one_judge_of_several_leave_it_rank_correlation():
    judgements, labels = sheets([0, 1, 2], [0, 1, 1], scale=(0, 2))
    words, _ = sheets([0, 1, 2], [0, 1, 1], judge="containment", model="none")
    card, free = report_cards(judgements + words, labels)
    assert "exact agreement" in card.agreement
    assert list(free.agreement) == ["Pearson", "Spearman", "Kendall tau-b"]
    assert card.no_model is None


def test_bias_is_shown_for_each_system():
    # People: both systems half right. The judge calls all of `big` right, `small` as people do.
    rows, labels = [], []
    for i in range(20):
        for system in ("big", "small"):
            human = i % 2
            rows.append(judgement(f"q{i}", 1 if system == "big" else human, system=system))
            labels.append(label(f"q{i}", human, system=system, text=f"question {i}"))
    (card,) = report_cards(rows, labels)
    big, small = card.by_system
    assert (big.name, big.n, big.judge, big.human, big.bias.value) == ("big", 20, 1, 0.5, 0.5)
    assert big.bias.low is not None
    assert big.bias.low > 0
    assert (small.name, small.bias.value) == ("small", 0)


def test_nothing_paired_is_an_error_that_shows_both_sides(says):
    with pytest.raises(DataError) as error:
        report_cards([judgement("a", 1)], [label("1", 1)])
    says(error.value)


def test_labels_of_another_metric_are_nothing_paired(says):
    with pytest.raises(DataError) as error:
        report_cards([judgement("a", 1)], [label("a", 1, metric="tone")])
    says(error.value)


def test_empty_files_are_an_error(says):
    with pytest.raises(DataError) as error:
        report_cards([], [label("a", 1)])
    says(error.value)
    with pytest.raises(DataError) as error:
        report_cards([judgement("a", 1)], [])
    says(error.value)


def _words(text: str) -> str:
    """NFKC, case folded, punctuation to spaces, articles dropped, a space at both ends."""
    plain = unicodedata.normalize("NFKC", text).casefold()
    plain = "".join(" " if unicodedata.category(c)[0] == "P" else c for c in plain)
    return f" {' '.join(word for word in plain.split() if word not in ('a', 'an', 'the'))} "


@pytest.mark.pack
def test_containment_on_trivia_questions_agrees_with_people_as_published():
    rows = [json.loads(line) for line in TQ600.read_text(encoding="utf-8").splitlines()]
    judgements, labels = [], []
    for row in rows:
        references = [_words(part) for part in row["reference"].split("/")]
        found = any(part.strip() and part in _words(row["answer"]) for part in references)
        answer, system = row["id"], row["system"]
        judgements.append(judgement(answer, float(found), judge="containment", model="none", system=system))
        labels.append(label(answer, float(row["human_label"]), text=row["question"], system=system))
    (card,) = report_cards(judgements, labels)
    assert card.n == 3000
    assert card.agreement["exact agreement"].value == pytest.approx(0.912, abs=0.002)
    assert card.agreement["kappa"].value == pytest.approx(0.735, abs=0.005)
    assert card.better_than_baseline is True
    assert len(card.by_system) == 5


@pytest.mark.parametrize("measure", [grading.report_cards, corrected_means])
@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"threshold": {"rubric": 5000}}, "threshold 5000 of judge 'rubric': its scale is 0 to 100.*above 0"),
        ({"threshold": {"rubric": 0}}, "threshold 0 of judge 'rubric'.*above 0 and at most 100"),
        ({"threshold": {"rubric": float("nan")}}, "threshold nan of judge 'rubric': its scale is 0 to 100"),
        ({"threshold": float("nan")}, "threshold nan is not a finite number"),
        ({"threshold": float("inf")}, "threshold inf is not a finite number"),
        ({"mapping": {1: float("nan"), 0: 0}}, "mapping of label 1 to nan: both must be finite"),
    ],
)
def test_thresholds_and_mappings_that_mean_nothing_are_refused(measure, options, says):
    judgements, labels = sheets([1, 0, 1, 0], [80, 20, 60, 70], scale=(0, 100))
    with pytest.raises(DataError, match=says):
        measure(judgements, labels, **options)


def test_named_threshold_has_to_fit_one_metric_of_its_judge(says):
    judgements, labels = sheets([1, 0, 1, 0], [80, 20, 60, 70], scale=(0, 100))
    criterion = [
        msgspec.structs.replace(row, metric="complete", scale=(0, 3), score=1.0) for row in judgements
    ]
    first, second = report_cards(judgements + criterion, labels, threshold={"rubric": 50})
    assert (first.threshold, second.threshold) == (50, None)
    says(second.notes[0])


def test_one_threshold_for_all_leaves_judges_of_other_scales_their_order(says):
    judgements, labels = sheets([1, 0, 1, 0], [0.8, 0.2, 0.6, 0.7])
    (card,) = report_cards(judgements, labels, threshold=50)
    says(card.notes[0])
    assert "Spearman" in card.agreement


def test_a_judge_with_shares_is_not_graded_for_three_labels_that_happen_to_be_zero_and_one():
    labels = [label(f"q{n}", score) for n, score in enumerate((0, 0, 1))]
    shares = [judgement(f"q{n}", score) for n, score in enumerate((0, 0, 1, 0.4, 0.7))]
    [card] = report_cards(shares, labels)
    assert ("kappa" in card.agreement, card.categories) == (False, [])
    [mean] = corrected_means(shares, labels)
    assert not mean.same_unit
    verdicts = [judgement(f"q{n}", score) for n, score in enumerate((0, 0, 1, 1, 0))]
    [card] = report_cards(verdicts, labels)
    assert ("kappa" in card.agreement, card.categories) == (True, [0, 1])
    [mean] = corrected_means(verdicts, labels)
    assert mean.same_unit
