"""Two runs compared: by hand, as a property, and beside scipy."""

import msgspec
import numpy as np
import pytest
from benchmarks.comparing import KINDS, found, stated
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, permutation_test
from tests.support.golden import sentence_in
from tests.support.judged_runs import answers, judged, questions, rankings

from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.paired import compare_judged
from ragstone.features.compare.values import Gate
from ragstone.features.compare.words import (
    comparison_document,
    gate_told,
    metric_told,
    noise_lines,
    outcome,
    unknown_told,
)
from ragstone.kernel.document.markdown import render_markdown
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.records import Answer, Context, Judgement
from ragstone.kernel.runs.settings import JudgeVersion, RunManifest

RIGHT_TO_WRONG, WRONG_TO_RIGHT, STAY = (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)


def run(rows, **parts) -> JudgedRun:
    return JudgedRun(**({"name": "run", "judgements": rows, "judges": {}} | parts))


def pairs(*scores) -> tuple[JudgedRun, JudgedRun]:
    ours, theirs = zip(*scores, strict=True)
    return run(judged(ours)), run(judged(theirs))


def test_ten_flips_of_twenty_by_hand():
    # 9 questions become right, 1 becomes wrong, 10 stay: +8 of 20. McNemar: 2 (1 + 10) / 2^10 = 0.0215.
    a, b = pairs(*[WRONG_TO_RIGHT] * 9, RIGHT_TO_WRONG, *[STAY] * 10)
    row = compare_judged(a, b).metrics[0]
    assert row.difference.value == pytest.approx(0.4)
    assert (row.a.mean.value, row.b.mean.value) == (pytest.approx(11 / 20), pytest.approx(19 / 20))
    assert (row.test, row.p, row.verdict) == ("McNemar", pytest.approx(22 / 1024), "better")
    assert (row.n, row.n_changed, len(row.wrong_to_right), len(row.right_to_wrong)) == (20, 10, 9, 1)
    assert row.right_to_wrong[0].question_id == "q9"


def test_p_value_of_yes_and_no_is_scipys():
    a, b = pairs(*[WRONG_TO_RIGHT] * 13, *[RIGHT_TO_WRONG] * 5, *[STAY] * 40)
    assert compare_judged(a, b).metrics[0].p == pytest.approx(binomtest(5, 18).pvalue)


def test_p_value_of_grades_is_scipys_permutation_test():
    rng = np.random.default_rng(3)
    ours, theirs = rng.integers(0, 4, 12).astype(float), rng.integers(1, 4, 12).astype(float)
    a, b = (run(judged(one.tolist(), scale=(0, 3))) for one in (ours, theirs))
    theirs_p = permutation_test(
        (theirs, ours), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    ).pvalue
    assert compare_judged(a, b).metrics[0].p == pytest.approx(theirs_p)


def test_questions_of_one_document_are_flipped_together():
    # 20 questions of 4 documents, all better: of the 2^4 ways to flip documents 2 are as extreme.
    a, b = run(judged([0.0] * 20), questions=questions(20, a_document=5)), run(judged([1.0] * 20))
    row = compare_judged(a, b).metrics[0]
    assert (row.test, row.p, row.verdict, row.n_clusters) == ("sign-flip", 2 / 16, "cannot tell", 4)
    assert compare_judged(run(judged([0.0] * 20)), b).metrics[0].verdict == "better"


def test_holm_counts_every_metric_that_is_compared():
    # 6 flips of one kind give p = 2 / 2^6 = 0.031: found alone, not beside another metric.
    ours = [*judged([0.0] * 6), *judged([1.0] * 6, "exact")]
    theirs = [*judged([1.0] * 6), *judged([1.0] * 6, "exact")]
    both = compare_judged(run(ours), run(theirs)).metrics[0]
    assert (both.p, both.p_holm) == (pytest.approx(1 / 32), pytest.approx(1 / 16))
    assert both.verdict == "cannot tell"
    alone = compare_judged(run(ours), run(theirs), metrics=["containment"]).metrics
    assert [(row.family, row.verdict) for row in alone] == [(1, "better")]


def test_rows_that_one_side_scored_are_left_out_and_counted():
    a, b = pairs((1.0, 1.0), (0.0, "app_error"), ("unparsable", 1.0), (1.0, 0.0))
    row = compare_judged(a, b).metrics[0]
    assert (row.n, row.lost, row.gained, row.difference.value) == (2, 1, 1, -0.5)
    assert (row.a.statuses, row.b.statuses) == (
        {"scored": 3, "unparsable": 1},
        {"scored": 3, "app_error": 1},
    )
    assert not row.loses_more


def test_system_that_fails_more_does_not_look_better_for_it(says):
    # It fails on the 10 that A had wrong: without them both have 1.0.
    a, b = pairs(*[(0.0, "app_error")] * 10, *[STAY] * 30)
    found = compare_judged(a, b)
    row = found.metrics[0]
    assert (row.n, row.difference.value, row.loses_more, row.by_application) == (30, 0.0, True, True)
    assert found.gate.outcome == "failed"
    says(found.gate.metrics[0].because)


def test_judgements_that_are_not_there_are_lost_too():
    a, b = pairs(*[STAY] * 20)
    few = run([*b.judgements[:8], *judged(dict.fromkeys((f"q{n}" for n in range(20)), 1.0), "exact")])
    ours = run([*a.judgements, *judged([1.0] * 20, "exact")])
    row = compare_judged(ours, few).metrics[0]
    assert (row.n, row.lost, row.loses_more, row.by_application) == (8, 12, True, False)


def test_nothing_scored_by_both_is_told(says):
    ours = [*judged([1.0, "timeout"]), *judged([1.0, 1.0], "exact")]
    theirs = [*judged(["timeout", 1.0]), *judged([1.0, 1.0], "exact")]
    found = compare_judged(run(ours), run(theirs))
    assert [row.judge for row in found.metrics] == ["exact"]
    says(found.notes)


def test_runs_without_a_score_in_both_say_what_became_of_their_answers(says):
    a, b = run(judged([1.0, 0.0]), name="may"), run(judged(["app_error", "app_error"]), name="july")
    for first, second in ((a, b), (b, b), (run(judged([1.0, "timeout"])), run(judged(["timeout", 1.0])))):
        with pytest.raises(DataError) as raised:
            compare_judged(first, second)
        says(raised.value)


def test_what_cannot_be_told_says_what_could_be():
    a, b = pairs(*[WRONG_TO_RIGHT] * 12, *[RIGHT_TO_WRONG] * 8, *[STAY] * 80)
    row = compare_judged(a, b).metrics[0]
    assert row.verdict == "cannot tell"
    outlook = row.outlook
    assert outlook is not None
    # 20 of 100 differ. Connor's formula, for 4 points: ((1.96 sqrt .2 + .8416 sqrt(.2 - .0016)) / .04)^2 =
    # 978; the exact test takes a little more.
    assert outlook.for_observed == pytest.approx(978, rel=0.06)
    # ((1.96 sqrt .2 + .8416 sqrt(.2 - d^2)) / d)^2 = 100 at d = 0.123; the exact test takes a little more.
    assert outlook.smallest == pytest.approx(0.13, abs=0.01)
    assert outlook.effect == 0.02
    assert outlook.for_effect > outlook.for_observed


def test_smallest_effect_is_a_share_of_the_scale():
    a, b = (
        run(judged(one, scale=(0, 4))) for one in ([0.0, 4, 1, 2, 3, 0, 2] * 4, [4.0, 0, 2, 2, 1, 1, 2] * 4)
    )
    outlook = compare_judged(a, b, effect=0.05).metrics[0].outlook
    assert outlook is not None
    assert outlook.effect == pytest.approx(0.2)
    assert outlook.for_effect < compare_judged(a, b, effect=0.02).metrics[0].outlook.for_effect


def test_equal_scores_bound_the_difference():
    # None of 100 differs: Wilson's upper end of 0 of 100, 1.96^2 / (100 + 1.96^2) = 0.037.
    a, b = pairs(*[STAY] * 100)
    row = compare_judged(a, b).metrics[0]
    assert row.within == pytest.approx(1.96**2 / (100 + 1.96**2), rel=1e-3)
    assert (row.difference.low, row.p, row.verdict) == (None, 1.0, "cannot tell")


def test_lost_scores_can_hide_more_than_the_bound_of_those_that_are_left(says):
    # 20 of 30 are scored in both, and the same: the ten that B lost may all have been right in A alone.
    a, b = run(judged([1.0] * 30)), run(judged([1.0] * 20 + ["unparsable"] * 10))
    comparison = compare_judged(a, b)
    says(f"{outcome(comparison)}\n{metric_told(comparison.metrics[0])}")


@pytest.mark.parametrize(
    ("scale", "told"),
    [
        ((0, 1), "at most 3.7 points, with 95"),
        ((0, 100), " of 100, with 95"),
        ((1, 5), " on the scale of 1 to 5"),
        ((-1, 1), " on the scale of −1 to 1"),
    ],
)
def test_a_bound_of_the_difference_is_told_with_its_unit(scale, told):
    a, b = (run(judged([1.0] * 100, scale=scale)) for _ in "ab")
    text = render_markdown(comparison_document(compare_judged(a, b)))
    (bound,) = [line for line in text.splitlines() if "The true difference is at most" in line]
    assert told in bound


def test_flips_carry_texts_where_there_are_any():
    a, b = pairs(WRONG_TO_RIGHT, STAY)
    a = msgspec.structs.replace(a, answers=answers(["no", "1"]), questions=questions(2))
    b = msgspec.structs.replace(b, answers=answers(["0", "1"]))
    flip = compare_judged(a, b).metrics[0].wrong_to_right[0]
    assert (flip.question, flip.answer_a, flip.answer_b) == ("What is 0?", "no", "0")


def test_middle_of_the_scale_is_right():
    a, b = run(judged([0.0, 1.0], scale=(0, 2))), run(judged([1.0, 2.0], scale=(0, 2)))
    assert [flip.question_id for flip in compare_judged(a, b).metrics[0].wrong_to_right] == ["q0"]


def test_what_answers_took_is_paired():
    texts = ["x"] * 30
    a, b = pairs(*[STAY] * 30)
    a = msgspec.structs.replace(a, answers=answers(texts, seconds=1.0))
    b = msgspec.structs.replace(
        b, answers=[*answers(texts, seconds=1.5)[:-1], Answer(question_id="q29", system="mine", answer="x")]
    )
    seconds, tokens, usd = compare_judged(a, b).spent
    assert seconds.mean is not None
    assert (seconds.what, seconds.n, seconds.mean.difference.value) == ("seconds", 29, pytest.approx(0.5))
    assert seconds.median is not None
    # q0 to q28 take 1.00 to 1.28 s: the one in the middle, q14, took 1.14 s, and 1.64 s in B.
    assert [seconds.median.a.value, seconds.median.b.value] == pytest.approx([1.14, 1.64])
    assert tokens.mean is not None
    assert (tokens.what, tokens.mean.difference.value, tokens.median) == ("tokens", 0, None)
    assert usd.what == "usd"


def test_what_answers_took_more_is_not_shown_as_nothing(says):
    a, b = (run(judged([0.0] * 30)) for _ in "ab")
    a = msgspec.structs.replace(a, answers=answers(["x"] * 30))
    dearer = [
        msgspec.structs.replace(row, latency_s=row.latency_s + 0.001 * (1 + at % 3), cost_usd=0.000_100_01)
        for at, row in enumerate(a.answers)
    ]
    page = render_markdown(comparison_document(compare_judged(a, msgspec.structs.replace(b, answers=dearer))))
    says(page.partition("An answer took")[2].partition("Compared")[0].partition("| Tok")[0])


def test_cost_that_is_not_known_is_counted_and_never_nothing(says):
    a, b = pairs(*[STAY] * 4)
    known = answers(["x"] * 4)
    free = [msgspec.structs.replace(row, cost_usd=None) for row in known]
    a = msgspec.structs.replace(a, answers=known)
    usd = compare_judged(a, msgspec.structs.replace(b, answers=free)).spent[-1]
    assert (usd.what, usd.n, usd.mean, usd.unknown_a, usd.unknown_b) == ("usd", 0, None, 0, 4)
    says(unknown_told(usd))
    usd = compare_judged(a, msgspec.structs.replace(b, answers=[*known[:3], free[3]])).spent[-1]
    assert usd.mean is not None
    assert (usd.n, usd.unknown_b, usd.mean.b.value) == (3, 1, 0.0001)
    says(unknown_told(usd))
    page = render_markdown(comparison_document(compare_judged(a, msgspec.structs.replace(b, answers=free))))
    assert "USD for" not in page
    says(sentence_in(page, "cost is unknown"))


def test_answers_that_took_nothing_known_are_not_compared():
    silent = [Answer(question_id="q0", system="mine", answer="x")]
    a, b = pairs(STAY)
    assert compare_judged(run(a.judgements, answers=silent), run(b.judgements, answers=silent)).spent == []


def test_judge_that_varies_on_the_same_answers_is_told(says):
    a, b = pairs(WRONG_TO_RIGHT, STAY)
    a, b = (msgspec.structs.replace(one, answers=answers(["x", "y"])) for one in (a, b))
    found = compare_judged(a, b)
    assert found.metrics[0].same_answers
    says(found.notes[0])
    assert found.gate.outcome == "passed"


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 2.0, float("nan")])
def test_shares_that_are_none_are_refused(share):
    a, b = pairs(STAY)
    with pytest.raises(ConfigError, match="margin is"):
        compare_judged(a, b, margin=share)
    with pytest.raises(ConfigError, match="min-effect is"):
        compare_judged(a, b, effect=share)


SCORES = st.lists(
    st.tuples(st.sampled_from([0.0, 1, 2, 3]), st.sampled_from([0.0, 1, 2, 3])), min_size=2, max_size=40
)


@settings(max_examples=12)
@given(scores=SCORES, size=st.integers(1, 4), top=st.sampled_from([1.0, 3.0]))
def test_exchanged_runs_give_the_same_with_the_other_sign(scores, size, top):
    ours, theirs = zip(*((min(one, top), min(other, top)) for one, other in scores), strict=True)
    asked = questions(len(scores), a_document=size)
    a, b = (run(judged(one, scale=(0, top)), questions=asked) for one in (ours, theirs))
    there, back = (compare_judged(*sides).metrics[0] for sides in ((a, b), (b, a)))
    assert back.difference.value == pytest.approx(-there.difference.value)
    if there.difference.low is not None:
        assert (back.difference.low, back.difference.high) == (-there.difference.high, -there.difference.low)
    assert (back.p, back.outlook) == (there.p, there.outlook)
    opposite = {"better": "worse", "worse": "better", "cannot tell": "cannot tell"}
    assert back.verdict == opposite[there.verdict]
    assert len(back.right_to_wrong) == len(there.wrong_to_right)


@pytest.mark.long
@settings(max_examples=12)
@given(scores=SCORES, size=st.integers(1, 4), shuffled=st.randoms(use_true_random=False))
def test_names_and_order_of_questions_change_nothing(scores, size, shuffled):
    names = [f"other {at}" for at in range(len(scores))]
    shuffled.shuffle(names)
    asked = questions(len(scores), a_document=size)
    renamed = [
        msgspec.structs.replace(row, id=name, document_ids=[f"renamed {row.document_ids[0]}"])
        for row, name in zip(asked, names, strict=True)
    ]
    ours, theirs = zip(*scores, strict=True)
    first = compare_judged(*(run(judged(one, scale=(0, 3)), questions=asked) for one in (ours, theirs)))
    sides = [judged(dict(zip(names, one, strict=True)), scale=(0, 3)) for one in (ours, theirs)]
    for rows in sides:
        shuffled.shuffle(rows)
    second = compare_judged(*(run(rows, questions=renamed) for rows in sides))
    one, other = first.metrics[0], second.metrics[0]
    assert (one.p, one.verdict) == (other.p, other.verdict)
    assert (one.difference.low, one.difference.high) == (other.difference.low, other.difference.high)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_alarms_are_rare_and_power_is_as_stated(kind):
    n, simulations = 50, 60
    # At most 5 %: of 60 comparisons 9 or more alarms come up once in 700 tries at worst.
    assert found(kind, n, 0, simulations, seed=4) <= 8 / simulations
    there = stated(kind, n, 1.2)
    assert 0.2 < there.power < 0.999
    # Three standard errors of a share of 60 are 0.19 at most.
    assert found(kind, n, there.shift, simulations, seed=5) == pytest.approx(there.power, abs=0.19)


def gated_run(scores, **parts) -> JudgedRun:
    return JudgedRun(name="run", judgements=judged(scores), judges={}, **parts)


def gate(ups: int, downs: int, same: int, margin: float | None = None) -> Gate:
    """The gate of questions that become right, become wrong, and stay right."""
    ours = [0.0] * ups + [1.0] * (downs + same)
    theirs = [1.0] * ups + [0.0] * downs + [1.0] * same
    return compare_judged(gated_run(ours), gated_run(theirs), margin=margin).gate


@pytest.mark.parametrize(
    ("ups", "downs", "same", "margin", "outcome", "because"),
    [
        (20, 2, 80, None, "passed", "better"),
        (2, 20, 80, None, "failed", "worse"),
        (5, 6, 80, None, "cannot tell", "neither better nor worse is shown"),
        (0, 0, 20, None, "passed", "no score has changed"),
        # Difference −0.01, interval about −0.08 to +0.06.
        (5, 6, 80, 0.1, "passed", "not worse by more than the margin"),
        (5, 6, 80, 0.02, "cannot tell", "it may be worse by more than the margin"),
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
def test_same_answers_pass_for_ever(margin, says):
    said = answers(["a", "b"])
    both = (gated_run([1.0, 0.0], answers=said) for _ in "ab")
    found = compare_judged(*both, margin=margin).gate
    assert found.outcome == "passed"
    says(found.metrics[0].because)


def test_least_favourable_metric_decides():
    rows = {"better": ([0.0] * 12, [1.0] * 12), "worse": ([1.0] * 12, [0.0] * 12), "same": ([1.0] * 12,) * 2}
    sides = [
        JudgedRun(
            name="run",
            judgements=[row for name, both in rows.items() for row in judged(both[at], name)],
            judges={},
        )
        for at in (0, 1)
    ]
    assert compare_judged(*sides).gate.outcome == "failed"
    assert compare_judged(*sides, metrics=["better", "same"]).gate.outcome == "passed"


def test_better_on_the_easier_questions_is_not_let_through(says):
    # 12 that A had right and B cannot be judged on; 10 better among the others.
    ours = [1.0] * 12 + [0.0] * 10 + [1.0] * 30
    theirs = ["timeout"] * 12 + [1.0] * 40
    found = compare_judged(gated_run(ours), gated_run(theirs))
    assert found.metrics[0].verdict == "better"
    assert found.gate.outcome == "cannot tell"
    says(found.gate.metrics[0].because)


@pytest.mark.parametrize("margin", [None, 0.3])
@pytest.mark.parametrize(
    ("status", "of_both", "of_each", "outcome"),
    [
        ("timeout", 2, 0, "passed"),  # 2 of 40 are 5 %
        ("timeout", 3, 0, "cannot tell"),
        ("timeout", 0, 1, "passed"),
        ("timeout", 0, 2, "cannot tell"),
        ("not_applicable", 3, 0, "passed"),  # the metric says nothing of these on purpose
    ],
)
def test_a_gate_does_not_pass_what_nobody_scored(status, of_both, of_each, outcome, margin, says):
    lost, scored = [status] * of_each, [1.0] * of_each
    rest = [status] * of_both + [1.0] * (40 - of_both - 2 * of_each)
    found = compare_judged(
        gated_run([*lost, *scored, *rest]), gated_run([*scored, *lost, *rest]), margin=margin
    )
    assert found.gate.outcome == outcome
    says(found.gate.metrics[0].because)


@pytest.mark.parametrize(
    ("ours", "theirs", "outcome"),
    [
        ("timeout", "timeout", "cannot tell"),
        (1.0, "timeout", "cannot tell"),
        ("not_applicable", "not_applicable", "passed"),
    ],
)
def test_a_gate_does_not_pass_a_metric_of_which_nothing_could_be_scored(ours, theirs, outcome, says):
    runs = [
        JudgedRun(name="run", judgements=[*judged([1.0] * 9), *judged([each] * 9, judge="other")], judges={})
        for each in (ours, theirs)
    ]
    found = compare_judged(*runs)
    assert (len(found.metrics), found.gate.outcome) == (1, outcome)
    says(gate_told(found.gate))


def test_margin_without_a_scale_has_no_unit(says):
    a, b = (
        JudgedRun(name="run", judgements=judged([50.0, 60.0, other], scale=None), judges={})
        for other in (70.0, 80.0)
    )
    with pytest.raises(DataError) as error:
        compare_judged(a, b, margin=0.1)
    says(error.value)
    assert compare_judged(a, b).gate.outcome == "cannot tell"


def test_errors_of_both_stand_side_by_side_with_what_each_was_made_from(says):
    # A and B: q0 both wrong, q1 wrong in A, q2 wrong in B, q3 right in both.
    scores = ([0.0, 0.0, 1.0, 1.0], [0.0, 1.0, 0.0, 1.0])
    made = [Context(text="a text", document_id="d0"), Context(text="another", document_id="d9")]
    said = [
        msgspec.structs.replace(row, contexts=made) if row.question_id == "q0" else row
        for row in answers(["no", "no", "yes", "yes"])
    ]
    a = run(judged(scores[0]), answers=said, questions=questions(4), rankings=rankings([1] * 4, 2))
    b = run(judged(scores[1]), answers=answers(["none"] * 4), questions=questions(4))
    row = compare_judged(a, b).metrics[0]
    found = [[flip.question_id for flip in kind] for kind in (row.wrong_in_both, row.wrong_to_right)]
    assert found == [["q0"], ["q1"]]
    assert (row.overlap.n, row.overlap.n_only_a, row.overlap.n_both, row.overlap.n_only_b) == (4, 1, 1, 1)
    both, up = row.wrong_in_both[0], row.wrong_to_right[0]
    assert (both.answer_a, both.answer_b) == ("no", "none")
    # The contexts of the answer come before the run's ranking, which is taken where an answer has none.
    assert [(one.document_id, one.copy) for one in both.documents_a] == [("d0", True), ("d9", False)]
    assert [(one.document_id, one.copy) for one in up.documents_a] == [("d1", True), ("other2", False)]
    assert both.documents_b is None
    page = render_markdown(comparison_document(compare_judged(a, b)))
    says(sentence_in(page, "wrong in both"))
    assert "d0 ✓, d9" in page
    says(sentence_in(page, "Wrong means"))


def test_scores_without_a_scale_are_neither_right_nor_wrong():
    a, b = (run(judged([50.0, 60.0, other], scale=None)) for other in (70.0, 80.0))
    row = compare_judged(a, b).metrics[0]
    assert (row.overlap, row.wrong_in_both) == (None, [])
    assert "Errors of one" not in render_markdown(comparison_document(compare_judged(a, b)))


def by_models(lift, *, n=30, seed=0):
    """Return judgements of B as three models see it: each adds its lift to what A has."""
    rng = np.random.default_rng(seed)
    quality = rng.uniform(0.2, 0.6, n)
    noise = rng.normal(0, 0.03, (3, n))
    return run(
        [
            row
            for at, model in enumerate(("openai/a", "openai/b", "x/c"))
            for row in judged((quality + noise[at] + lift[at]).tolist(), model=model)
        ]
    )


def test_three_judges_of_one_metric_share_the_noise_of_a_difference(says):
    compared = compare_judged(by_models((0, 0, 0)), by_models((0.0, 0.1, 0.3), seed=1))
    [row] = compared.components
    assert row.components.levels == {"questions": 30, "answers": 1, "judges": 3, "wordings": 1, "repeats": 1}
    assert row.scale == (-1, 1)
    # Each judge by itself is sure; judges like these are not.
    assert row.components.fixed.low > 0 > row.components.estimate.low
    for line in noise_lines(compared):
        says(line)
        assert line in render_markdown(comparison_document(compared))


def test_labels_with_scores_share_the_noise_of_a_difference_too():
    a, b = by_models((0, 0, 0)), by_models((0.0, 0.1, 0.3), seed=1)
    labelled = [
        msgspec.structs.replace(
            side, judgements=[msgspec.structs.replace(row, label="x") for row in side.judgements]
        )
        for side in (a, b)
    ]
    assert compare_judged(*labelled).components == compare_judged(a, b).components


def test_one_judge_says_nothing_of_the_choice_of_judges():
    compared = compare_judged(*pairs(*[WRONG_TO_RIGHT] * 9, *[STAY] * 10))
    assert compared.components is msgspec.UNSET
    assert noise_lines(compared) == []


def _toxic(share: float, name: str) -> JudgedRun:
    rows = [
        Judgement(
            question_id=f"q{at}",
            system="s",
            judge="toxicity",
            metric="toxicity",
            model="m",
            prompt_version=1,
            status="scored",
            score=float(at < 60 * share),
            scale=(0, 1),
        )
        for at in range(60)
    ]
    return JudgedRun(name=name, judgements=rows)


def test_more_of_what_should_not_be_is_worse(says) -> None:
    comparison = compare_judged(_toxic(0.1, "a"), _toxic(0.7, "b"), margin=0.05)
    (row,) = comparison.metrics
    assert (row.verdict, row.best, comparison.gate.outcome) == ("worse", "lowest", "failed")
    assert (len(row.right_to_wrong), len(row.wrong_to_right)) == (36, 0)
    text = render_markdown(comparison_document(comparison))
    says(f"{outcome(comparison)} {metric_told(row)}")
    says(sentence_in(text, "above it where"))
    back = compare_judged(_toxic(0.7, "a"), _toxic(0.1, "b"), margin=0.05)
    assert (back.metrics[0].verdict, back.gate.outcome) == ("better", "passed")
    assert len(back.metrics[0].wrong_to_right) == 36


def test_the_manifest_says_that_the_lowest_score_of_a_projects_judge_is_the_best() -> None:
    def named(run: JudgedRun, judge: str) -> JudgedRun:
        rows = [msgspec.structs.replace(row, judge=judge) for row in run.judgements]
        told = {judge: JudgeVersion(digest="d", version=1, best="lowest")}
        return msgspec.structs.replace(run, judgements=rows, manifest=RunManifest(judges=told))

    pair = [named(_toxic(0.1, "a"), "rude"), named(_toxic(0.7, "b"), "rude")]
    assert compare_judged(*pair).metrics[0].verdict == "worse"
    # Under a threshold 1 means that an answer passes.
    over = [
        msgspec.structs.replace(
            run,
            judgements=[
                msgspec.structs.replace(row, judge="toxicity@threshold=0.5") for row in run.judgements
            ],
        )
        for run in (_toxic(0.1, "a"), _toxic(0.7, "b"))
    ]
    assert compare_judged(*over).metrics[0].verdict == "better"
