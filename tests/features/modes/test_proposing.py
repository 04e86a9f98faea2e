import math

import numpy as np
import pytest
from tests.support.moded_run import planted_answers

from ragstone.features.modes import proposing
from ragstone.features.modes.proposing import fisher_p, propose_signs


@pytest.mark.parametrize(
    ("k", "n", "n_wrong", "total", "p"),
    [
        (3, 3, 3, 6, 1 / 20),  # one of C(6, 3) ways
        (2, 3, 3, 6, 10 / 20),
        (0, 3, 3, 6, 1.0),
        (2, 2, 4, 5, 6 / 10),  # C(4, 2) / C(5, 2)
        (3, 4, 4, 5, 1.0),  # three of four are wrong whatever is drawn
    ],
)
def test_the_exact_test_is_worked_by_hand(k, n, n_wrong, total, p):
    assert fisher_p(k, n, n_wrong, total) == pytest.approx(p)


def test_the_exact_test_agrees_with_enumeration():
    rng = np.random.default_rng(1)
    for total, n, n_wrong in ((20, 6, 8), (40, 10, 30), (15, 15, 4)):
        hits = [int((rng.permutation(total)[:n] < n_wrong).sum()) for _ in range(4000)]
        for k in range(0, n + 1, 2):
            share = sum(hit >= k for hit in hits) / len(hits)
            assert fisher_p(k, n, n_wrong, total) == pytest.approx(share, abs=4 * math.sqrt(0.25 / len(hits)))


@pytest.mark.long
def test_failures_at_random_are_not_named():
    # 5 % at most by the correction; benchmarks/modes.py counts 200 runs.
    rows = planted_answers()
    named = 0
    for seed in range(20):
        wrong = np.random.default_rng(seed).random(len(rows)) < 0.3
        found = propose_signs(rows, wrong.tolist(), [row.question_id for row in rows], seed=seed)
        named += bool(found.signs)
    assert named <= 3  # P(4 or more of 20 at 5 %) = 1.6 %


def test_a_mode_that_is_one_document_is_not_named():
    # All twelve are in one cluster, so that the other half has none to confirm it on.
    rows = planted_answers(refusing=range(0))
    wrong = ["Rice" in row.answer for row in rows]
    clusters = ["rice" if bad else row.question_id for bad, row in zip(wrong, rows, strict=True)]
    assert propose_signs(rows, wrong, [row.question_id for row in rows]).signs
    assert not propose_signs(rows, wrong, clusters).signs


def test_of_many_answers_a_sample_is_read(monkeypatch):
    monkeypatch.setattr(proposing, "MOST_READ", 150)
    rows = planted_answers() * 3
    found = propose_signs(rows, ["sorry" in row.answer for row in rows], [f"{at}" for at in range(len(rows))])
    assert (found.n_read, found.signs[0].sign.measure) == (150, "refuses")
