import msgspec
import numpy as np
import pytest
from tests.support.label_rows import judgement, label, sheets

import ragstone
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Label
from ragstone.kernel.statistics import prediction_powered_mean, wilson_interval
from ragstone.kernel.tables import read_rows


def rows(n, n_labelled, *, system="default", seed=0, right=0.8, lenient=0.3, judge="rubric"):
    """Return judgements of n answers by a judge that calls some wrong ones right, and labels of the first."""
    rng = np.random.default_rng(seed)
    human = (rng.random(n) < right).astype(float)
    given = np.where((human == 0) & (rng.random(n) < lenient), 1.0, human)
    judged = [judgement(f"q{i}", float(score), system=system, judge=judge) for i, score in enumerate(given)]
    labels = [label(f"q{i}", float(score), system=system) for i, score in enumerate(human[:n_labelled])]
    return judged, labels


def test_mean_is_that_of_the_statistics_room_with_the_numbers_it_rests_on():
    judged, labels = rows(300, 100)
    [mean] = corrected_means(judged, labels)
    scores = [row.score for row in judged]
    expected = prediction_powered_mean(
        [one.score for one in labels], scores[:100], scores[100:], bounds=(0, 1)
    )
    assert (mean.corrected, mean.human) == (expected.corrected, expected.human)
    assert (mean.n_labelled, mean.n_rows, mean.system) == (100, 300, "default")
    assert mean.raw.value == pytest.approx(np.mean(scores))
    assert mean.same_unit
    assert mean.notes == []


def test_each_judge_and_system_has_a_mean_of_its_own():
    first, some = rows(60, 30, system="A", seed=1)
    second, more = rows(60, 20, system="B", seed=2)
    other, _ = rows(60, 0, system="A", seed=3, judge="other")
    found = corrected_means([*first, *second, *other], [*some, *more])
    assert [(mean.judge, mean.system, mean.n_labelled) for mean in found] == [
        ("rubric", "A", 30),
        ("rubric", "B", 20),
        ("other", "A", 30),
    ]


def test_system_without_a_label_is_named_once_and_stands_uncorrected():
    first, labels = rows(60, 30, system="A", seed=1)
    third, more = rows(60, 30, system="C", seed=4)
    second, _ = rows(60, 0, system="B", seed=2)
    found = corrected_means([*first, *second, *third], [*labels, *more])
    assert [mean.system for mean in found] == ["A", "C"]
    assert [sum("There are no labels for B:" in note for note in mean.notes) for mean in found] == [1, 0]


def test_nothing_to_correct_where_every_answer_has_a_label_or_none_has():
    judged, labels = rows(30, 30)
    assert corrected_means(judged, labels) == []
    assert corrected_means(judged, []) == []


def test_labels_without_a_system_speak_of_the_only_one():
    judged, _ = rows(60, 0, system="A")
    _, labels = rows(60, 25)
    [mean] = corrected_means(judged, labels)
    assert (mean.system, mean.n_labelled, mean.n_rows) == ("A", 25, 60)


def test_failed_tied_and_tuned_answers_are_left_out_and_counted(says):
    judged, labels = rows(100, 40)
    judged[0] = judgement("q0", None, status="timeout")  # labelled, and not scored
    judged[99] = judgement("q99", None, status="timeout")  # neither
    for at in (1, 2, 98):  # two of them labelled
        judged[at] = msgspec.structs.replace(judged[at], metadata={"tuned": True})
    labels[3] = msgspec.structs.replace(labels[3], annotator="a", score=0.0)
    labels.append(msgspec.structs.replace(labels[3], annotator="b", score=1.0))
    [mean] = corrected_means(judged, labels)
    assert (mean.n_labelled, mean.n_rows) == (36, 94)  # 40 - q0 - 2 tuned - 1 tied; + 60 - q99 - q98
    [note] = mean.notes
    says(note)


def test_threshold_cuts_the_scores_of_all_answers():
    judged, labels = rows(200, 60)
    percent = [
        msgspec.structs.replace(row, judge="percent", score=20 + 60 * row.score, scale=(0.0, 100.0))
        for row in judged
    ]
    [cut] = corrected_means(percent, labels, threshold={"percent": 50})
    [plain] = corrected_means(judged, labels)
    assert (cut.raw, cut.corrected, cut.threshold) == (plain.raw, plain.corrected, 50)
    [uncut] = corrected_means(percent, labels)
    assert not uncut.same_unit
    assert uncut.corrected.value == pytest.approx(plain.corrected.value)
    assert "on another scale" in uncut.sentence


def test_mapping_puts_the_mean_on_the_judges_scale(says):
    judged, labels = rows(100, 40)
    graded = [msgspec.structs.replace(row, scale=(0.0, 3.0), score=3 * row.score) for row in judged]
    [mean] = corrected_means(graded, labels, mapping={0.0: 0.0, 1.0: 3.0})
    [plain] = corrected_means(judged, labels)
    assert mean.corrected.value == pytest.approx(3 * plain.corrected.value)
    assert mean.same_unit
    with pytest.raises(DataError) as error:
        corrected_means(graded, labels, mapping={0.0: 0.0})
    says(error.value)


def test_labels_all_alike_have_wilsons_interval_on_their_scale():
    judged, labels = rows(100, 30, right=1.0)
    [mean] = corrected_means(judged, labels)
    assert (mean.corrected.low, mean.corrected.high) == pytest.approx(wilson_interval(30, 30))
    graded = [msgspec.structs.replace(row, scale=(0.0, 3.0), score=2.0) for row in judged]
    [mean] = corrected_means(graded, [msgspec.structs.replace(one, score=3.0) for one in labels])
    assert mean.corrected.low == pytest.approx(3 * wilson_interval(30, 30)[0])


def test_clusters_of_questions_widen_the_interval():
    judged, labels = rows(200, 80)
    documents = {f"q{i}": f"d{i % 10}" for i in range(200)}
    [apart], [together] = (
        corrected_means(judged, labels, clusters=clusters) for clusters in (None, documents)
    )
    assert together.corrected.value == pytest.approx(apart.corrected.value)
    assert together.corrected.high - together.corrected.low > apart.corrected.high - apart.corrected.low


def test_few_labels_are_said_to_be_few(says):
    [mean] = corrected_means(*rows(100, 15))
    says("\n".join(mean.notes))


def test_sentence_says_what_people_would_give_and_what_would_help():
    [mean] = corrected_means(*rows(4000, 400, lenient=0.5, seed=5))
    value, low, high = (
        f"{one:.3f}" for one in (mean.corrected.value, mean.corrected.low, mean.corrected.high)
    )
    assert mean.sentence == (
        f"People would give {value} (95 % interval {low} to {high}); the judge gives {mean.raw.value:.3f}, "
        f"which is too high. With the judge's scores, 400 labels are worth {round(mean.worth):,}. "
        f"Halving the interval takes about {mean.to_halve:,} labels in all."
    )


def test_sentence_of_a_judge_that_does_not_help_and_of_too_few_answers(says):
    judged, labels = rows(60, 40)
    same = [msgspec.structs.replace(row, score=1.0) for row in judged]
    [mean] = corrected_means(same, labels)
    says(mean.sentence)


@pytest.mark.pack
def test_a_hundred_labels_of_real_answers_find_the_mean_that_all_labels_have(shared_data):
    sheet = shared_data / "evouna" / "tq600.jsonl"
    answers = [row for row in read_rows(sheet, Answer) if row.system == "ChatGPT-3.5"]
    labels = [row for row in read_rows(sheet, Label) if row.system == "ChatGPT-3.5"]
    judged = ragstone.judge(answers, judges=["containment"])
    truth = np.mean([one.score for one in labels])
    rng, found = np.random.default_rng(0), []
    for _ in range(200):
        some = [labels[at] for at in rng.permutation(len(labels))[:100]]
        found += corrected_means(judged, some, resamples=10)
    held = np.mean([mean.corrected.low <= truth <= mean.corrected.high for mean in found])
    width, alone = (
        np.mean([one.high - one.low for one in ones])
        for ones in zip(*((mean.corrected, mean.human) for mean in found), strict=True)
    )
    assert held > 0.95
    assert width < 0.76 * alone
    assert abs(np.mean([mean.corrected.value for mean in found]) - truth) < 0.005
    assert abs(np.mean([mean.raw.value for mean in found]) - truth) > 0.07  # the harsh judge's own mean


def test_raw_mean_of_grades_that_happen_to_be_0_or_1_is_no_proportion():
    scores = [0, 1] * 20
    judgements, labels = sheets([0, 1, 2, 3] * 5, scores, scale=(0, 3))
    (mean,) = corrected_means(judgements, labels)
    assert (mean.same_unit, mean.raw.method) == (True, "bootstrap")
    judgements, labels = sheets([0, 1] * 10, scores)
    assert corrected_means(judgements, labels)[0].raw.method == "wilson"
