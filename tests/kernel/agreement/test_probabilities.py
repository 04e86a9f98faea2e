"""What a card says of probabilities: read from scores and from outcomes, and no more than they bear."""

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.label_rows import judgement, label
from tests.support.sentences import forbidden, said

from ragstone.kernel.agreement._probability_sentence_table import (
    OF_CALIBRATION,
    OF_LEAN,
    OF_SUREST,
    OF_VERDICT,
    SENTENCES,
    ProbabilitiesBesidePeople,
)
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.grading import report_cards
from ragstone.kernel.agreement.probabilities import estimates_of
from ragstone.kernel.records import Judgement, Label, Usage
from ragstone.kernel.sentences import say
from ragstone.kernel.statistics import Calibration, Estimate, SelectiveAccuracy
from ragstone.kernel.statistics.calibration import ReliabilityBin, calibration_of
from ragstone.kernel.statistics.selective import SelectivePoint


def with_chances(row: Judgement, chances: dict[str, float]) -> Judgement:
    return msgspec.structs.replace(row, metadata={"probabilities": chances})


def simulated(
    n: int, slope: float = 1.0, shift: float = 0.0, seed: int = 0, threshold: float | None = 0.5
) -> ReportCard:
    """Return the card of a judge whose true log odds are slope x its own + shift; sure of most answers."""
    rng = np.random.default_rng(seed)
    likely = np.clip(rng.beta(0.5, 0.5, n), 0.001, 0.999)
    true = 1 / (1 + np.exp(-(slope * np.log(likely / (1 - likely)) + shift)))
    yes = rng.random(n) < true
    judgements = [
        with_chances(judgement(f"q{at}", float(p), scale=(0, 1)), {"true": float(p), "false": 1 - float(p)})
        for at, p in enumerate(likely)
    ]
    labels = [label(f"q{at}", float(y)) for at, y in enumerate(yes)]
    return report_cards(judgements, labels, threshold=threshold, resamples=400)[0]


def codes(card: ReportCard) -> list[str]:
    return [code for note in card.probability_notes for code in said(note)]


def test_a_calibrated_judge_and_an_overconfident_one_on_many_labels():
    assert codes(simulated(3000)) == ["probabilities-hold", "surest-more-often-right"]
    assert codes(simulated(400, slope=0.3)) == ["probabilities-off", "surest-more-often-right"]
    too_high = codes(simulated(600, shift=-2.0))
    assert too_high[:2] == ["probabilities-off", "probabilities-too-high"]
    assert "probabilities-too-low" in codes(simulated(600, shift=2.0))


def test_nothing_is_said_of_too_few_labels_or_questions(says):
    assert codes(simulated(49)) == ["probabilities-few-labels"]
    rows = [judgement("q", 0.1 + 0.8 * (at % 2), system=f"s{at}", scale=(0, 1)) for at in range(60)]
    labels = [label("q", float(at % 2), system=f"s{at}") for at in range(60)]
    card = report_cards(rows, labels, threshold=0.5, resamples=100)[0]
    assert codes(card) == ["probabilities-few-labels"]
    says(card.probability_notes)


def test_a_constant_judge_is_not_praised_for_its_calibration(says):
    rows = [judgement(f"q{at}", 0.75, scale=(0, 1)) for at in range(200)]
    labels = [label(f"q{at}", float(at % 4 > 0)) for at in range(200)]
    card = report_cards(rows, labels, threshold=0.5, resamples=100)[0]
    assert card.calibration is not None
    assert card.calibration.error.value == 0
    assert codes(card) == ["probabilities-constant"]
    says(card.probability_notes)


def test_a_judge_that_only_knows_the_rate_is_not_praised(says):
    rng = np.random.default_rng(0)
    rows = [judgement(f"q{at}", float(rng.uniform(0.73, 0.77)), scale=(0, 1)) for at in range(2000)]
    labels = [label(f"q{at}", float(rng.random() < 0.75)) for at in range(2000)]
    card = report_cards(rows, labels, threshold=0.5, resamples=400)[0]
    assert codes(card)[0] == "probabilities-tell-no-more"
    assert "surest-more-often-right" not in codes(card)
    says(card.probability_notes)


def test_a_bench_shows_no_error_of_calibration_where_every_probability_is_the_same():
    rows = [with_chances(judgement(f"q{at}", 0.7, scale=(0, 1)), {"true": 0.7}) for at in range(4)]
    spread = [with_chances(row, {"true": p}) for row, p in zip(rows, (0.2, 0.4, 0.6, 0.8), strict=True)]
    true = np.array([0.0, 0.0, 1.0, 1.0])

    def shown(likely: list[float], rows: list[Judgement]) -> list[str]:
        measured = calibration_of(np.array(likely), true, list("abcd"), seed=0, resamples=100)
        return [*estimates_of(measured, rows)]

    assert shown([0.2, 0.4, 0.6, 0.8], spread) == ["calibration error", "Brier score"]
    assert shown([0.7] * 4, rows) == ["Brier score"]
    assert shown([0.7] * 4, [judgement(f"q{at}", 0.7, scale=(0, 1)) for at in range(4)]) == []
    assert estimates_of(None, rows) == {}


def test_scores_that_are_not_meant_as_probabilities_are_called_scores(says):
    rng = np.random.default_rng(0)
    rows = [judgement(f"q{at}", float(rng.random()), scale=(0, 1)) for at in range(300)]
    labels = [label(f"q{at}", float(rng.random() < 0.9)) for at in range(300)]
    says(report_cards(rows, labels, threshold=0.5, resamples=100)[0].probability_notes)


def graded(chances: list[dict[str, float]], people: list[float]) -> ReportCard:
    rows = [
        with_chances(
            judgement(f"q{at}", sum(float(grade) * share for grade, share in each.items()), scale=(0, 2)),
            each,
        )
        for at, each in enumerate(chances)
    ]
    labels = [label(f"q{at}", grade) for at, grade in enumerate(people)]
    return report_cards(rows, labels, resamples=100)[0]


def test_of_grades_the_likeliest_one_is_held_against_people():
    # Forty times 0.7 for grade 2, of which 28 are right; forty times 0.6 for grade 0, of which 12 are.
    first, second = {"0": 0.1, "1": 0.2, "2": 0.7}, {"0": 0.6, "1": 0.3, "2": 0.1}
    people = [2.0] * 28 + [1.0] * 12 + [0.0] * 12 + [1.0] * 28
    card = graded([first] * 40 + [second] * 40, people)
    assert card.probability_of == "its grade"
    assert card.calibration is not None
    assert [(one.mean, one.right.value) for one in card.calibration.bins] == [
        (pytest.approx(0.6), pytest.approx(0.3)),
        (pytest.approx(0.7), pytest.approx(0.7)),
    ]
    assert card.calibration.usual_error == pytest.approx(0.15)
    assert card.selective is not None
    assert card.selective.right.value == 0.5


@pytest.mark.parametrize("chances", [{"good": 0.5, "bad": 0.5}, {"0": float("inf"), "1": 0.5}, {"0": "x"}])
def test_outcomes_that_are_no_grades_have_no_calibration(chances):
    card = graded([{"0": 0.5, "1": 0.5}] * 30, [0.0, 1.0, 2.0] * 10)
    assert card.calibration is not None
    rows = [with_chances(judgement(f"q{at}", 1.0, scale=(0, 2)), chances) for at in range(30)]
    labels = [label(f"q{at}", float(at % 3)) for at in range(30)]
    card = report_cards(rows, labels, resamples=100)[0]
    assert (card.calibration, card.selective, card.probability_notes) == (None, None, [])


def test_price_of_1000_verdicts_is_their_mean_and_unknown_where_one_is():
    rows = [judgement(f"q{at}", float(at % 2)) for at in range(20)]
    labels = [label(f"q{at}", float(at % 2)) for at in range(20)]
    paid = [msgspec.structs.replace(row, cost_usd=0.001 * (at % 2 + 1)) for at, row in enumerate(rows)]
    assert report_cards(paid, labels, resamples=50)[0].usd_per_1000 == pytest.approx(1.5)
    unknown = [*paid[:-1], msgspec.structs.replace(paid[-1], cost_usd=None)]
    assert report_cards(unknown, labels, resamples=50)[0].usd_per_1000 is None
    free = [msgspec.structs.replace(row, model="none", cost_usd=None) for row in rows]
    assert report_cards(free, labels, resamples=50)[0].usd_per_1000 == 0


def test_the_price_of_requests_that_asked_other_judges_too_is_no_price_of_one_judge():
    rows = [judgement(f"q{at}", float(at % 2)) for at in range(20)]
    labels = [label(f"q{at}", float(at % 2)) for at in range(20)]
    paid = [msgspec.structs.replace(row, usage=Usage(input=9), cost_usd=0.001) for row in rows]
    beside = [msgspec.structs.replace(row, judge="another") for row in rows]
    prices = [card.usd_per_1000 for card in report_cards([*paid, *beside], labels, resamples=50)]
    assert prices == [None, None]
    elsewhere = [msgspec.structs.replace(row, model="another/model") for row in beside]
    own = [msgspec.structs.replace(row, usage=Usage(input=9)) for row in beside]  # asked alone, price unknown
    for others in (elsewhere, own):
        cards = report_cards([*paid, *others], labels, resamples=50)
        assert [card.usd_per_1000 for card in cards] == [pytest.approx(1.0), None]


def test_a_verdict_that_nobody_set_a_threshold_for_says_where_it_is_cut():
    cut, uncut = simulated(400), simulated(400, threshold=None)
    assert "verdict-from-half" not in codes(cut)
    assert codes(uncut) == [*codes(cut), "verdict-from-half"]
    assert "verdict-from-half" not in codes(simulated(49, threshold=None))


Rows = tuple[list[Judgement], list[Label]]


@st.composite
def judged(draw: st.DrawFn) -> Rows:
    """Return scores and labels of few or many answers, by judges of every kind."""
    n = draw(st.sampled_from([5, 49, 50, 120, 400]))
    each = draw(st.sampled_from([1, 1, 4, 20]))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    kind = draw(st.sampled_from(["knows", "sure", "constant", "rate", "wrong", "few"]))
    yes = rng.random(n) < draw(st.sampled_from([0.3, 0.5, 0.9]))
    noise = rng.normal(0, 1, n)
    likely = {
        "knows": 1 / (1 + np.exp(-(3 * (2 * yes - 1) + 2 * noise))),
        "sure": 1 / (1 + np.exp(-10 * (2 * yes - 1 + noise))),
        "constant": np.full(n, 0.7),
        "rate": np.clip(0.5 + 0.01 * noise, 0, 1),
        "wrong": 1 / (1 + np.exp(2 * (2 * yes - 1) + noise)),
        "few": np.where(yes, 0.9, 0.4),
    }[kind]
    keys = [(f"q{at // each}", f"s{at % each}") for at in range(n)]
    judgements = [
        judgement(question, float(p), system=system, scale=(0, 1))
        for (question, system), p in zip(keys, likely, strict=True)
    ]
    labels = [label(key[0], float(y), system=key[1]) for key, y in zip(keys, yes, strict=True)]
    return judgements, labels


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(judged())
def test_no_card_says_more_of_probabilities_than_its_rows_bear(rows: Rows):
    card = report_cards(*rows, threshold=0.5, resamples=100)[0]
    found = codes(card)
    if card.calibration is None:
        assert not found
        return
    likely = np.array([row.score for row in rows[0]])
    yes = np.array([row.score for row in rows[1]])
    right = (likely >= 0.5) == yes
    n, questions = len(yes), len({row.question_id for row in rows[1]})
    sure = np.maximum(likely, 1 - likely)
    brier = float(((likely - yes) ** 2).mean())
    share = float(yes.mean() * (1 - yes.mean()))
    top = sure >= np.quantile(sure, 0.3)  # the surest 70 % at least
    off = abs(float(np.mean(likely - yes)))
    conditions = {
        "probabilities-few-labels": n < 50 or questions < 10,
        "probabilities-constant": len({*likely}) == 1,
        # The mean distance of single probabilities from labels bounds what a bin can be off.
        "probabilities-off": float(np.abs(likely - yes).mean()) > 0.05,
        # With few questions the interval of the difference is wide.
        "probabilities-tell-no-more": brier > 0.2 * share,
        "probabilities-hold": off <= 0.05 and brier < share,
        "probabilities-cannot-tell": brier < share,
        "probabilities-too-high": float(np.mean(likely - yes)) > 0,
        "probabilities-too-low": float(np.mean(likely - yes)) < 0,
        "surest-more-often-right": not right.all() and right[top].mean() >= right.mean() - 0.01,
        "surest-less-often-right": right[top].mean() <= right.mean() + 0.01,
        "surest-not-shown": True,
        "verdict-from-half": False,  # all of these have a threshold
    }
    for code in found:
        assert conditions[code], (code, card.probability_notes)
        if code != "probabilities-few-labels":
            assert n >= 50
            assert questions >= 10
    assert not forbidden(found)
    assert ("probabilities-few-labels" in found) is (n < 50 or questions < 10)
    enough = n >= 50 and questions >= 10
    assert ("probabilities-constant" in found) is (enough and len({*likely}) == 1)


def estimate(value: float, low: float | None = None, high: float | None = None, n: int = 400) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=n, method="bootstrap")


def facts(
    error: Estimate, skill: Estimate, lean: Estimate, more: Estimate | None, **numbers: object
) -> ProbabilitiesBesidePeople:
    right = estimate(0.94, 0.91, 0.96, 320)
    point = SelectivePoint(coverage=0.8, sure=0.83, right=right, more=more)
    calibration = Calibration(
        bins=[ReliabilityBin(low=0.7, high=0.7, mean=0.7, right=right)],
        error=error,
        brier=estimate(0.1, 0.08, 0.12),
        rate_brier=0.2,
        skill=skill,
        lean=lean,
        distinct=int(numbers.pop("distinct", 300)),  # type: ignore[call-overload]
    )
    selective = SelectiveAccuracy(
        right=estimate(0.88, 0.85, 0.91), points=[point], area=estimate(0.05), gain=estimate(0.07)
    )
    known = {"n": 400, "n_clusters": 200} | numbers
    return ProbabilitiesBesidePeople(calibration=calibration, selective=selective, **known)  # type: ignore[arg-type]


KINDS = (OF_CALIBRATION, OF_LEAN, OF_SUREST, OF_VERDICT)
NONE = estimate(0.0, -0.01, 0.01)
INFORMED = estimate(0.1, 0.08, 0.12)
CASES = {
    "few": facts(estimate(0.0, 0, 0.04), INFORMED, INFORMED, INFORMED, n=49),
    "few questions": facts(estimate(0.0, 0, 0.04), INFORMED, INFORMED, INFORMED, n_clusters=9),
    "constant": facts(estimate(0.0, 0, 0.01), NONE, NONE, None, distinct=1),
    "off and too high": facts(estimate(0.12, 0.07, 0.17), INFORMED, INFORMED, INFORMED),
    "off and too low": facts(estimate(0.12, 0.07, 0.17), NONE, estimate(-0.1, -0.12, -0.08), NONE),
    "no more than the rate": facts(estimate(0.01, 0, 0.03), NONE, NONE, NONE),
    "holds": facts(estimate(0.02, 0, 0.04), INFORMED, NONE, INFORMED),
    "at the bound": facts(estimate(0.02, 0, 0.05), INFORMED, NONE, estimate(-0.03, -0.05, -0.01)),
    "cannot tell": facts(estimate(0.04, 0, 0.08), INFORMED, NONE, estimate(0.0), given=False),
    "no interval": facts(estimate(0.04), INFORMED, NONE, None),
    "no threshold": facts(estimate(0.02, 0, 0.04), INFORMED, NONE, INFORMED, middle=True),
}


@pytest.mark.parametrize("case", CASES)
def test_each_state_has_at_most_one_sentence_of_each_kind(case: str, says):
    for kind in KINDS:
        assert sum(sentence.holds(CASES[case]) for sentence in kind) <= 1
        says(f"{case}: {say(CASES[case], *kind) or 'nothing'}")


def test_each_sentence_is_said_somewhere():
    spoken = {code for case in CASES.values() for kind in KINDS for code in said(say(case, *kind))}
    assert spoken == {sentence.code for sentence in SENTENCES}
