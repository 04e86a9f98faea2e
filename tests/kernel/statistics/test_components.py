import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from ragstone.kernel.statistics import Clusters, Floats, MeanComponents, mean_components, mean_estimate
from ragstone.kernel.statistics.components import _student_quantile


def crossed(shape: tuple[int, ...], sds: Sequence[float], seed: int = 0) -> tuple[Any, dict[str, Any]]:
    """Return values and factors: (questions, judges, wordings, verdicts); sds of these four, and of Q x J."""
    rng = np.random.default_rng(seed)
    q, j, w, _ = shape
    drawn = [
        rng.normal(size=size) for size in ((q, 1, 1, 1), (1, j, 1, 1), (1, 1, w, 1), shape, (q, j, 1, 1))
    ]
    values = sum(sd * noise for sd, noise in zip(sds, drawn, strict=True))
    question, judge, wording, _ = (axis.ravel() for axis in np.indices(shape))
    return np.ravel(values), {"questions": question, "judges": judge, "wordings": wording}


def found(values: Floats | Sequence[float], resamples: int = 200, **factors: Clusters) -> MeanComponents:
    components = mean_components(values, resamples=resamples, **factors)
    assert components is not None
    return components


def test_two_questions_by_two_judges_worked_by_hand():
    # Question 1 has 1 and 3, question 2 has 5 and 9: the mean is 4.5, those of questions 2 and 7, of judges
    # 3 and 6. Sums of squares: questions 2 (2.5² + 2.5²) = 25, judges 2 (1.5² + 1.5²) = 9, in all 35, so 1 is
    # left. One degree of freedom each: components 12 = (25 - 1) / 2, 4 = (9 - 1) / 2 and 1. In the mean they
    # are 12 / 2 + 4 / 2 + 1 / 4 = 8.25.
    components = found([1, 3, 5, 9], questions="aabb", judges="xyxy")
    assert components.shares == pytest.approx({"questions": 6 / 8.25, "judges": 2.25 / 8.25})
    # The mean squares in the mean are 6 + 0.25 and 2 + 0.25: df = 8.25² / (6.25² + 2.25²).
    assert components.df == pytest.approx(8.25**2 / (6.25**2 + 2.25**2))
    # The 45 % quantile of chi squared with one degree of freedom is (1 - 2 / 9 - 0.12566 √(2 / 9))³ or so.
    low = (1 - 2 / 9 - 0.12566 * math.sqrt(2 / 9)) ** 3
    variance = 8.25 + 2 * (1 / low - 1)
    half = stats.t.ppf(0.975, components.df) * math.sqrt(variance)
    assert components.half_width == pytest.approx(half, rel=1e-4)
    assert components.estimate.value == 4.5
    assert components.estimate.method == "components"
    assert components.estimate.low == pytest.approx(4.5 - half, rel=1e-4)
    assert components.levels == {"questions": 2, "answers": 1, "judges": 2, "wordings": 1, "repeats": 1}
    # Four questions: 3 + 2 + 0.125; three degrees of freedom for the mean square of questions, 3.125.
    df = 5.125**2 / (3.125**2 / 3 + 2.125**2)
    variance = 5.125 + 2 * (1 / low - 1)
    half = stats.t.ppf(0.975, df) * math.sqrt(variance)
    assert components.doubled["questions"] == pytest.approx(half, rel=1e-4)
    # Four judges: 6 + 1 + 0.125; three degrees of freedom for that of judges, 1.125.
    low = (1 - 2 / 27 - 0.12566 * math.sqrt(2 / 27)) ** 3
    variance, df = 7.125 + 1 * (1 / low - 1), 7.125**2 / (6.125**2 + 1.125**2 / 3)
    half = stats.t.ppf(0.975, df) * math.sqrt(variance)
    assert components.doubled["judges"] == pytest.approx(half, rel=1e-4)


def test_answers_generated_anew_worked_by_hand():
    # Each of two questions has two answers, 0 and 2, 4 and 6: within questions the mean square is 2; means 1
    # and 5: 2 (2² + 2²) / 1 = 16. Components 2 and (16 - 2) / 2 = 7: 7 / 2 + 2 / 4 = 4 in the mean.
    components = found([0, 2, 4, 6], questions="aabb", answers=[1, 2, 1, 2])
    assert components.shares == pytest.approx({"questions": 3.5 / 4, "answers": 0.5 / 4})
    assert components.estimate == components.fixed  # no judge and no wording is drawn
    assert components.questions_instead == {"answers": 1}  # 2 * 4 / 3.75 = 2.13 questions, and fewer by t


def test_components_are_those_of_the_analysis_of_variance():
    shape = (40, 3, 2, 2)
    values, factors = crossed(shape, (0.3, 0.1, 0.1, 0.2, 0.2))
    table = values.reshape(shape)
    components = found(values, **factors)

    def effect(*axes: int) -> Floats:
        others = tuple(axis for axis in range(4) if axis not in axes)
        return table.mean(others, keepdims=True) - table.mean()

    q, j, w = effect(0), effect(1), effect(2)
    qj, qw, jw = effect(0, 1) - q - j, effect(0, 2) - q - w, effect(1, 2) - j - w
    cell = effect(0, 1, 2) - q - j - w - qj - qw - jw
    sizes = {"q": (q, 39), "j": (j, 2), "w": (w, 1), "qj": (qj, 78), "qw": (qw, 39), "jw": (jw, 2)}
    square = {
        name: float((part**2).sum()) * table.size / part.size / df / table.size
        for name, (part, df) in {**sizes, "c": (cell, 78)}.items()
    }
    rest = float(((table - table.mean(3, keepdims=True)) ** 2).sum()) / (240 * table.size)
    parts = {
        "q": square["q"] - square["qj"] - square["qw"] + square["c"],
        "j": square["j"] - square["qj"] - square["jw"] + square["c"],
        "w": square["w"] - square["qw"] - square["jw"] + square["c"],
        "qj": square["qj"] - square["c"],
        "qw": square["qw"] - square["c"],
        "jw": square["jw"] - square["c"],
        "c": square["c"] - rest,
        "e": rest,
    }
    kept = {name: max(0.0, part) for name, part in parts.items()}
    total = sum(kept.values())
    shares = {
        "questions": kept["q"],
        "judges": kept["j"] + kept["qj"] + kept["jw"] + kept["c"],
        "wordings": kept["w"] + kept["qw"],
        "repeats": kept["e"],
    }
    assert components.shares == pytest.approx({name: part / total for name, part in shares.items()})


def test_components_are_those_of_restricted_maximum_likelihood():
    from statsmodels.regression.mixed_linear_model import MixedLM

    shape = (15, 4, 1, 2)
    values, factors = crossed(shape, (0.5, 0.4, 0, 0.3, 0.3), seed=3)
    frame: dict[str, Any] = {"y": values, "q": factors["questions"], "j": factors["judges"]}
    frame["qj"] = frame["q"] * 10 + frame["j"]
    effects = {
        name: [(frame[name][:, None] == np.unique(frame[name])).astype(float)] for name in ("q", "j", "qj")
    }
    from statsmodels.regression.mixed_linear_model import VCSpec

    spec = VCSpec(list(effects), [[["x"] * m[0].shape[1]] for m in effects.values()], list(effects.values()))
    model = MixedLM(values, np.ones((values.size, 1)), groups=np.ones(values.size), exog_vc=spec)
    fit = model.fit(reml=True, method="powell")
    q, j, qj = (float(fit.vcomp[list(effects).index(name)]) for name in ("q", "j", "qj"))
    parts = {"questions": q / 15, "judges": j / 4 + qj / 60, "repeats": float(fit.scale) / 120}
    total = sum(parts.values())
    components = found(values, **factors)
    assert components.shares == pytest.approx({name: part / total for name, part in parts.items()}, abs=2e-3)


def test_missing_cells_leave_the_shares_as_they_are():
    # Of the full table: questions 0.09 / 60, judges 0.01 / 30 + 0.04 / 1800, verdicts 0.04 / 3600.
    parts = np.array([0.09 / 60, 0.01 / 30 + 0.04 / 1800, 0.04 / 3600])
    rng, shares = np.random.default_rng(5), []
    for seed in range(20):
        values, factors = crossed((60, 30, 1, 2), (0.3, 0.1, 0, 0.2, 0.2), seed)
        there = rng.random(values.size) < 0.3 + 0.6 * (factors["judges"] % 2)  # every other judge lacks more
        components = found(values[there], resamples=2, **{name: of[there] for name, of in factors.items()})
        assert not components.balanced
        shares.append([components.shares[name] for name in ("questions", "judges", "repeats")])
    # 30 judges of unequal numbers of rows weigh as 25 or so: their share is a little larger.
    assert np.mean(shares, axis=0) == pytest.approx(parts / parts.sum(), abs=0.06)


def test_one_judge_once_has_nothing_to_add():
    assert mean_components([0, 1, 1], "abc") is None
    assert mean_components([0, 1, 1], "abc", judges="xxx", wordings="www", answers="111") is None


def test_one_question_one_document_or_one_value_has_no_components():
    assert mean_components([0, 1, 1, 0], "aaaa", judges="xxyy") is None
    assert mean_components([0, 1, 1, 0], "aabb", judges="xyxy", documents="dddd") is None
    assert mean_components([1, 1, 1, 1], "aabb", judges="xyxy") is None
    assert mean_components([], []) is None


def test_wordings_that_only_one_judge_was_asked_in_are_judges():
    values, factors = crossed((20, 2, 1, 1), (0.3, 0.2, 0, 0.1, 0))
    same = found(values, questions=factors["questions"], judges=factors["judges"], wordings=factors["judges"])
    assert same.shares == found(values, **factors).shares
    assert same.shares.keys() == {"questions", "judges"}


def test_questions_of_one_document_vary_together():
    values, factors = crossed((40, 3, 1, 1), (0.3, 0.05, 0, 0.1, 0))
    values = values + 0.5 * np.random.default_rng(1).normal(size=4)[factors["questions"] // 10]
    alone = found(values, **factors)
    within = found(values, **factors, documents=factors["questions"] // 10)
    assert within.half_width > 1.5 * alone.half_width
    assert within.fixed == mean_estimate(values, factors["questions"] // 10, resamples=200)


def test_the_interval_ends_at_the_ends_of_the_scale_and_holds_that_of_these_judges():
    values, factors = crossed((30, 2, 2, 1), (0.1, 0.5, 0.5, 0.1, 0))
    values = np.clip(values + 0.5, 0, 1)
    components = found(values, **factors, bounds=(0, 1))
    assert (components.estimate.low, components.estimate.high) == (0, 1)
    assert components.half_width > 0.5
    assert components.fixed.low is not None
    assert components.fixed.low > 0


def test_a_value_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match="a finite number"):
        mean_components([0.0, math.nan], "ab")


@given(seed=st.integers(0, 50), missing=st.floats(0, 0.4), unit=st.sampled_from((1.0, 100.0)))
@settings(max_examples=25, deadline=None)
def test_neither_order_nor_names_nor_unit_matter(seed: int, missing: float, unit: float) -> None:
    values, factors = crossed((12, 3, 2, 1), (0.3, 0.1, 0.1, 0.2, 0.1), seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(values.size)[: int((1 - missing) * values.size)]
    first = found(values[np.sort(order)], **{name: of[np.sort(order)] for name, of in factors.items()})
    named = {name: [f"{name} {9 - at}" for at in of[order]] for name, of in factors.items()}
    second = found(unit * values[order], **named)
    assert second.shares == pytest.approx(first.shares, abs=1e-8)
    assert second.half_width == pytest.approx(unit * first.half_width)
    assert sum(first.shares.values()) == pytest.approx(1)
    assert all(half <= first.half_width * (1 + 1e-12) for half in first.doubled.values())


@given(df=st.floats(1, 29.9), probability=st.floats(0.9, 0.995))
def test_student_quantile_of_any_degrees_of_freedom(df: float, probability: float) -> None:
    assert _student_quantile(probability, df) == pytest.approx(stats.t.ppf(probability, df), rel=1e-3)


@pytest.mark.simulation
def test_the_interval_holds_what_judges_like_these_would_say():
    held, usual = [], []
    for seed in range(750):  # the error of a share of 0.95 is 0.008, less than half of what is allowed
        values, factors = crossed((60, 3, 2, 2), (0.3, 0.08, 0.04, 0.15, 0.12), seed)
        components = found(values, resamples=400, **factors)
        for estimate, into in ((components.estimate, held), (components.fixed, usual)):
            assert estimate.low is not None
            assert estimate.high is not None
            into.append(estimate.low <= 0 <= estimate.high)
    assert 0.935 < np.mean(held) < 0.975
    assert np.mean(usual) < 0.85
