"""What a gate lets through: decision 24, case by case."""

import pytest
from tests.support.judged_runs import answers, judged

from ragstone.errors import DataError
from ragstone.experiments.compared import Gate
from ragstone.flows.compare.matching import Judged
from ragstone.flows.compare.paired import compare_judged


def run(scores, **parts) -> Judged:
    return Judged(name="run", judgements=judged(scores), judges={}, **parts)


def gate(ups: int, downs: int, same: int, margin: float | None = None) -> Gate:
    """The gate of questions that become right, become wrong, and stay right."""
    ours = [0.0] * ups + [1.0] * (downs + same)
    theirs = [1.0] * ups + [0.0] * downs + [1.0] * same
    return compare_judged(run(ours), run(theirs), margin=margin).gate


@pytest.mark.parametrize(
    ("ups", "downs", "same", "margin", "outcome", "because"),
    [
        (20, 2, 80, None, "passed", "better"),
        (2, 20, 80, None, "failed", "worse"),
        (5, 6, 80, None, "cannot tell", "neither better nor worse is shown"),
        (0, 0, 20, None, "passed", "no score has changed"),
        # Difference −0.01, interval about −0.08 to +0.06.
        (5, 6, 80, 0.1, "passed", "not worse by more than the margin"),
        (5, 6, 80, 0.02, "cannot tell", "it may be worse by more"),
        # 8 of 1,000 became wrong, surely; and surely less than 3 of 100.
        (0, 8, 992, 0.03, "passed", "not worse by more than the margin"),
        (0, 8, 992, 0.01, "failed", "worse, and not shown to be within the margin"),
        (0, 8, 992, None, "failed", "worse"),
        # A margin lets more pass, never less: 20 questions without a change pass with one as without.
        (0, 0, 20, 0.05, "passed", "no score has changed"),
    ],
)
def test_decision(ups, downs, same, margin, outcome, because):
    found = gate(ups, downs, same, margin)
    assert (found.outcome, found.metrics[0].because) == (outcome, because)


@pytest.mark.parametrize("margin", [None, 0.01])
def test_same_answers_pass_for_ever(margin):
    said = answers(["a", "b"])
    both = (run([1.0, 0.0], answers=said) for _ in "ab")
    found = compare_judged(*both, margin=margin).gate
    assert (found.outcome, found.metrics[0].because) == ("passed", "every answer is the same as before")


def test_least_favourable_metric_decides():
    rows = {"better": ([0.0] * 12, [1.0] * 12), "worse": ([1.0] * 12, [0.0] * 12), "same": ([1.0] * 12,) * 2}
    sides = [
        Judged(
            name="run",
            judgements=[row for name, both in rows.items() for row in judged(both[at], name)],
            judges={},
        )
        for at in (0, 1)
    ]
    assert compare_judged(*sides).gate.outcome == "failed"
    assert compare_judged(*sides, metrics=["better", "same"]).gate.outcome == "passed"


def test_better_on_the_easier_questions_is_not_let_through():
    # 12 that A had right and B cannot be judged on; 10 better among the others.
    ours = [1.0] * 12 + [0.0] * 10 + [1.0] * 30
    theirs = ["timeout"] * 12 + [1.0] * 40
    found = compare_judged(run(ours), run(theirs))
    assert found.metrics[0].verdict == "better"
    assert found.gate.outcome == "cannot tell"
    assert found.gate.metrics[0].because.startswith("12 questions that had a score have none now, against 0")


def test_margin_without_a_scale_has_no_unit():
    a, b = (
        Judged(name="run", judgements=judged([50.0, 60.0, other], scale=None), judges={})
        for other in (70.0, 80.0)
    )
    with pytest.raises(DataError, match="a margin has no unit"):
        compare_judged(a, b, margin=0.1)
    assert compare_judged(a, b).gate.outcome == "cannot tell"
