"""The words of what cascades save and of what fitted ones are expected to do."""

import pytest
from tests.support.surfaces import shown as surface

from ragstone.features.judge.cascade_words import fit_document, savings_line
from ragstone.kernel.judging.combined import CascadeJudge
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.judging.fitting import CascadeFit, FitFigures
from ragstone.kernel.judging.savings import CascadeSavings, MemberWork
from ragstone.kernel.records import Usage
from ragstone.kernel.statistics import Estimate


def work(name, n_asked, n_decided):
    return MemberWork(name=name, n_asked=n_asked, n_decided=n_decided, usage=Usage(calls=0), cost_usd=None)


def saved(**changes):
    given = {
        "judge": "steps",
        "n_rows": 1000,
        "n_undecided": 0,
        "members": [work("containment", 1000, 750), work("correctness", 250, 250)],
        "spent": Usage(input=90_000, output=10_000, calls=250),
        "spent_usd": 2.5,
        "last_alone": Usage(input=360_000, output=40_000, calls=1000),
        "last_alone_usd": 10.0,
    }
    return CascadeSavings(**(given | changes))


def test_a_cascade_says_who_decided_and_what_was_saved(says):
    says(savings_line(saved()))


def test_without_a_price_tokens_are_compared(says):
    line = savings_line(saved(spent_usd=None, last_alone_usd=None))
    says(line)


def test_a_cascade_that_costs_more_says_so(says):
    line = savings_line(saved(spent_usd=11.0))
    says(line)


def test_rows_without_a_score_are_named(says):
    says(savings_line(saved(n_undecided=5)))


def test_what_was_never_asked_has_no_price(says):
    never = [work("containment", 1000, 1000), work("correctness", 0, 0)]
    line = savings_line(saved(members=never, last_alone=None, last_alone_usd=None))
    says(line)


def test_a_cascade_of_baselines_has_nothing_to_save(says):
    line = savings_line(saved(spent=Usage(calls=0), spent_usd=0.0, last_alone=None, last_alone_usd=None))
    says(line)


def estimate(value):
    return Estimate(value=value, low=value - 0.02, high=value + 0.02, n=500, method="bootstrap")


FIGURES = FitFigures(
    n_answers=500,
    n_questions=100,
    n_decided=380,
    cascade=estimate(0.96),
    decided=estimate(0.97),
    cheap=estimate(0.91),
    dear=estimate(0.95),
    cascade_minus_cheap=estimate(0.05),
    cascade_minus_dear=estimate(0.01),
)


def fitted(**changes):
    given = {
        "judge": CascadeJudge(
            name="steps",
            version=1,
            inputs=["answer"],
            scale=(0, 1),
            source="a test",
            members=[
                Member(judge="containment", cut=0.5, unsure=(0, 0)),
                Member(judge="correctness", model="openai/big", cut=50),
            ],
        ),
        "agreement": 0.95,
        "in_sample": FIGURES,
        "cross_validated": FIGURES,
        "n_folds_out": 0,
        "tested": None,
        "n_left_out": 0,
        "spent": Usage(input=1000, output=200, calls=120),
        "spent_usd": 0.12,
        "dear_alone": Usage(input=4000, output=800, calls=500),
        "dear_alone_usd": 0.5,
    }
    return CascadeFit(**(given | changes))


def shown(fit):
    return surface(fit_document(fit))


def test_a_fit_shows_thresholds_agreement_and_what_it_takes():
    page = shown(fitted())
    assert "containment says yes from 0.5 on and passes on scores from 0 to 0." in page
    assert "correctness says yes from 50 on." in page
    lines = [" ".join(line.split()) for line in page.splitlines()]
    assert "the cascade 0.960 (0.940 to 0.980) 0.960 (0.940 to 0.980)" in lines
    assert "cheap, where sure 0.970 (0.950 to 0.990) 0.970 (0.950 to 0.990)" in lines
    assert "decided by the cheap 76 % 76 %" in lines
    assert "fitted on" in page
    assert "cross-validated" in page
    assert "set apart" not in page
    assert (
        "All these answers take 120 calls, 1,200 tokens, 0.1200 USD; 500 calls, 4,800 tokens, 0.5000 USD with"
        in " ".join(page.split())
    )


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tested": FIGURES}, "set apart"),
        ({"n_folds_out": 2}, "In 2 folds of the cross-validation no interval reached 0.95"),
        ({"n_left_out": 3}, "3 labelled answers without a score by both judges left out"),
    ],
)
def test_a_fit_says_what_to_know_of_it(changes, says):
    assert says in " ".join(shown(fitted(**changes)).split())


def test_the_table_is_not_folded_with_all_three_columns():
    page = shown(fitted(tested=FIGURES))
    assert next(line for line in page.splitlines() if "where sure" in line).count("0.970") == 3


def test_a_judge_that_hands_nothing_on_is_told(says):
    members = [Member(judge="containment", cut=0.5, unsure=(0.5, 0.5)), Member(judge="correctness", cut=50)]
    judge = CascadeJudge(name="s", version=1, inputs=["answer"], scale=(0, 1), source="t", members=members)
    says(shown(fitted(judge=judge)))
