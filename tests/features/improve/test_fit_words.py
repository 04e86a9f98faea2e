"""The words of what fitted cascades are expected to do."""

import msgspec
import pytest
from tests.support.surfaces import shown as surface

from ragstone.features.improve._fit_words import fit_document
from ragstone.features.improve._thresholds import CascadeFit, FitFigures
from ragstone.kernel.judging.combined import CascadeJudge
from ragstone.kernel.judging.fields import Member
from ragstone.kernel.records import Usage
from ragstone.kernel.statistics import Estimate


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


def test_a_fit_shows_thresholds_agreement_and_what_it_takes(says):
    page = shown(fitted())
    says(page)
    assert "fitted on" in page
    assert "cross-validated" in page
    assert "set apart" not in page


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"tested": FIGURES}, "set apart"),
        ({"n_folds_out": 2}, "In 2 folds of the cross-validation no interval reached 0.95"),
        ({"n_left_out": 3}, "3 labelled answers left out: no score by both judges"),
        ({"n_tuned": 1}, "1 labelled answer to questions that a judge was made with is left out"),
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


def test_one_judge_by_two_models_is_told_apart_by_them(says):
    judge = msgspec.structs.replace(
        fitted().judge,
        members=[
            Member(judge="correctness", model="openai/small", cut=0.5, unsure=(0, 0)),
            Member(judge="correctness", model="openai/big", cut=50),
        ],
    )
    says(shown(fitted(judge=judge)))
