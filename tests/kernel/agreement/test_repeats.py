"""People and a judge on repeated answers: repeats of a system are one system."""

import numpy as np
import pytest
from tests.kernel.judging.test_repeated import repeats

from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.records import Label, name_repeat

RNG = np.random.default_rng(4)
HUMAN = RNG.integers(0, 2, (3, 40)).astype(float)
JUDGE = np.where(RNG.random((3, 40)) < 0.15, 1 - HUMAN, HUMAN)


def labels(system, numbers, n):
    return [
        Label(
            question_id=f"q{at}",
            system=name_repeat(system, number),
            score=float(HUMAN[number - 1, at]),
            metric="correctness",
        )
        for number in numbers
        for at in range(n)
    ]


def test_a_corrected_mean_is_of_all_answers_and_lacks_labels_of_none():
    rows = repeats(*JUDGE.tolist())
    [mean] = corrected_means(rows, labels("rag", [1], 20))
    assert (mean.system, mean.n_labelled, mean.n_rows) == ("rag", 20, 120)
    assert mean.raw.value == pytest.approx(JUDGE.mean())
    assert not any("no labels" in note for note in mean.notes)
    [more] = corrected_means(rows, labels("rag", [1, 3], 20))
    assert more.n_labelled == 40


def test_its_interval_is_not_that_of_as_many_independent_answers():
    same = repeats(*[JUDGE[0].tolist()] * 3)
    [often] = corrected_means(same, labels("rag", [1], 20))
    [once] = corrected_means(repeats(JUDGE[0].tolist()), labels("rag", [1], 20))
    width = often.corrected.high - often.corrected.low
    assert width > 0.95 * (once.corrected.high - once.corrected.low)


def test_a_system_is_not_put_in_order_with_its_own_repeats():
    rows = repeats(*JUDGE.tolist())
    [card] = report_cards(rows, labels("rag", [1, 2, 3], 40))
    assert card.ranking is None
    assert [group.name for group in card.by_system] == ["rag"]
    other = [*rows, *repeats(*JUDGE[:2].tolist(), system="other")]
    [card] = report_cards(other, [*labels("rag", [1, 2], 40), *labels("other", [1, 2], 40)])
    assert set(card.ranking.by_people) == {"rag", "other"}
