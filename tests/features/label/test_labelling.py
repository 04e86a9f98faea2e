from collections import Counter

import msgspec
import numpy as np
import pytest
from tests.support.label_rows import judgement, label

from ragstone.features.label.labelling import next_to_label
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer


def judged(n, *, score=lambda i: float(i % 2), system="default", model="openai/m", judge="rubric"):
    return [judgement(f"q{i}", score(i), system=system, model=model, judge=judge) for i in range(n)]


def ids(rows):
    return [row.question_id for row in rows]


def test_answers_are_spread_evenly_over_scores_and_systems():
    # 80 of A, 60 of them scored 1, and 40 of B, all 0: of 12 rows, 6 + 2 + 4.
    rows = judged(80, score=lambda i: float(i % 4 > 0), system="A") + judged(
        40, score=lambda i: 0.0, system="B"
    )
    scores = {(row.question_id, row.system): row.score for row in rows}
    for seed in range(20):
        chosen = next_to_label(rows, n=12, seed=seed)
        drawn = Counter((row.system, scores[row.question_id, row.system]) for row in chosen)
        assert drawn == {("A", 1.0): 6, ("A", 0.0): 2, ("B", 0.0): 4}


@pytest.mark.simulation
def test_every_answer_has_the_same_chance():
    rows = judged(50, score=lambda i: float(i % 3))
    drawn = Counter(name for seed in range(2000) for name in ids(next_to_label(rows, n=7, seed=seed)))
    # 2,000 * 7 / 50 = 280 of each, standard error 15.5.
    assert min(drawn.values()) > 215
    assert max(drawn.values()) < 345


def test_the_first_of_them_are_a_random_sample_too():
    rows = judged(100, score=lambda i: float(i >= 50))
    first = Counter(ids(next_to_label(rows, n=20, seed=seed))[0] for seed in range(300))
    assert 110 < sum(n for name, n in first.items() if int(name[1:]) >= 50) < 190


def test_same_seed_same_rows_and_another_seed_others():
    rows = judged(100)
    assert next_to_label(rows, n=10) == next_to_label(rows, n=10, seed=0)
    assert next_to_label(rows, n=10) != next_to_label(rows, n=10, seed=1)


def test_labelled_and_tuned_answers_are_not_chosen_again():
    rows = judged(10)
    rows[4] = msgspec.structs.replace(rows[4], metadata={"tuned": True})
    chosen = next_to_label(rows, [label("q0", 1), label("q1", 0, metric="correctness")], n=100)
    assert sorted(ids(chosen)) == ["q2", "q3", "q5", "q6", "q7", "q8", "q9"]
    other = next_to_label(rows, [label("q0", 1, metric="style")], n=100)
    assert "q0" in ids(other)


def test_labels_that_name_no_system_count_for_the_only_one():
    chosen = next_to_label(judged(4, system="A"), [label("q0", 1)], n=9)
    assert sorted(ids(chosen)) == ["q1", "q2", "q3"]
    assert {row.system for row in chosen} == {"A"}


def test_answers_without_a_score_are_chosen_in_proportion():
    rows = judged(40, score=lambda i: 1.0)
    rows[:20] = [msgspec.structs.replace(row, status="timeout", score=None) for row in rows[:20]]
    chosen = next_to_label(rows, n=10)
    assert sum(int(name[1:]) < 20 for name in ids(chosen)) == 5


def test_the_judge_that_asks_a_model_leads():
    rows = judged(8, model="none", judge="containment") + [
        judgement(f"q{i}", 1.0, judge="tone", metric="tone") for i in range(8)
    ]
    assert {row.metric for row in next_to_label(rows, n=3)} == {"tone"}


def test_texts_come_from_the_sheet_and_the_score_is_empty():
    sheet = [Answer(question_id="q0", answer="Rome", question="Capital?", reference=["Rome", "Roma"])]
    [row] = next_to_label(judged(1), n=1, answers=sheet)
    assert (row.question, row.answer, row.reference, row.score) == (
        "Capital?",
        "Rome",
        ["Rome", "Roma"],
        None,
    )
    assert b'"score":null' in msgspec.json.encode(row)


def test_nothing_to_choose_from_says_so(says):
    with pytest.raises(DataError) as error:
        next_to_label([], n=5)
    says(error.value)
    with pytest.raises(DataError) as error:
        next_to_label(judged(2), [label("q0", 1), label("q1", 1)], n=5)
    says(error.value)


@pytest.mark.simulation
def test_rows_chosen_this_way_give_surer_means_than_plain_chance():
    rng = np.random.default_rng(0)
    quality = rng.random(600)
    human = (rng.random(600) < quality).astype(float)
    rows = judged(600, score=lambda i: float(quality[i]))
    errors = {"spread": [], "chance": []}
    for seed in range(150):
        chosen = {
            "spread": [int(name[1:]) for name in ids(next_to_label(rows, n=60, seed=seed))],
            "chance": rng.permutation(600)[:60],
        }
        for how, places in chosen.items():
            labels = [label(f"q{i}", float(human[i])) for i in places]
            [mean] = corrected_means(rows, labels, resamples=10)
            errors[how].append(mean.corrected.value - human.mean())
            assert mean.n_labelled == 60
    spread, chance = (np.sqrt(np.mean(np.square(errors[how]))) for how in ("spread", "chance"))
    assert spread < 0.97 * chance
    assert abs(np.mean(errors["spread"])) < 0.015
