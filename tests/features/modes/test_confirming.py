from types import SimpleNamespace

import numpy as np
import pytest

from ragstone.features.modes import _confirming
from ragstone.features.modes._confirming import CandidateMode, confirmed_modes, cut_in_parts
from ragstone.features.modes._reading import ReadMode
from ragstone.kernel.records import NO_MODEL, Answer, Judgement

N, N_WRONG = 120, 60
EVERY = tuple(range(N))


def plan_of(wrong=EVERY[:N_WRONG], clusters=None):
    answers = [Answer(question_id=f"q{at}", system="s", answer=f"a{at}") for at in range(N)]
    is_wrong = {(f"q{at}", "s"): at in wrong for at in range(N)}
    return SimpleNamespace(
        answers=answers, wrong=is_wrong, n_wrong=sum(is_wrong.values()), clusters=clusters or {}
    )


def candidate(title, has_it, asked=EVERY):
    rows = [
        Judgement(
            question_id=f"q{at}",
            system="s",
            judge="m",
            metric="m",
            status="scored",
            score=float(at in has_it),
            scale=(0, 1),
            model=NO_MODEL,
            prompt_version=1,
        )
        for at in asked
    ]
    mode = ReadMode(part=0, title=title, question=f"It is {title}.", evidence=[])
    return CandidateMode(mode=mode, judge=None, rows=rows)


def titles(found):
    return [one.mode.title for one in found]


def test_the_false_discovery_rate_is_worked_by_hand():
    # 0.01 * 4 / 1, 0.02 * 4 / 2, 0.9; 0.03 * 4 / 3 = 0.04, each no more than the next larger one
    corrected = _confirming._false_discovery(np.array([0.9, 0.01, 0.03, 0.02]))
    assert corrected.tolist() == pytest.approx([0.9, 0.04, 0.04, 0.04])
    assert _confirming._false_discovery(np.zeros(0)).tolist() == []


@pytest.mark.parametrize(("n_wrong", "n_parts"), [(N_WRONG, 3), (20, 2)])
def test_no_mode_is_tested_on_wrong_answers_that_it_was_read_from(n_wrong, n_parts):
    clusters = {f"q{at}": f"d{at // 4}" for at in range(N)}
    parts = cut_in_parts(plan_of(range(n_wrong), clusters), seed=1)
    assert len(parts.shown) == len(parts.tests) == n_parts
    assert sorted(int(row.question_id[1:]) for part in parts.shown for row in part) == [*range(n_wrong)]
    for shown, tests in zip(parts.shown, parts.tests, strict=True):
        assert len(tests) == N - len(shown)
        read = {clusters[row.question_id] for row in shown}
        wrong = [row for row in tests if int(row.question_id[1:]) < n_wrong]
        assert read.isdisjoint(clusters[row.question_id] for row in wrong)


def test_what_is_read_and_asked_is_bounded(monkeypatch):
    monkeypatch.setattr(_confirming, "MOST_SHOWN", 5)
    monkeypatch.setattr(_confirming, "MOST_ASKED", 12)
    parts = cut_in_parts(plan_of(), seed=1)
    assert [len(part) for part in parts.shown] == [5] * 3
    assert [len(tests) for tests in parts.tests] == [24] * 3


def test_a_mode_is_confirmed_only_where_wrong_answers_have_it_more_often():
    real, idle, rare = (
        candidate("real", range(20)),
        candidate("idle", range(40, 80)),
        candidate("rare", range(2)),
    )
    found, n_known, n_repeated = confirmed_modes(plan_of(), [idle, real, rare], [], 0.025)
    assert (titles(found), n_known, n_repeated) == (["real"], 0, 0)


def test_the_same_wrong_answers_are_one_mode_and_that_of_a_file_is_known():
    more = [candidate("sharp", range(20)), candidate("blurred", range(24)), candidate("other", range(30, 50))]
    found, n_known, n_repeated = confirmed_modes(
        plan_of(), more, [{(f"q{at}", "s") for at in range(28, 48)}], 0.025
    )
    assert (titles(found), n_known, n_repeated) == (["blurred"], 1, 1)


def test_two_that_were_asked_about_other_answers_are_compared_where_both_were():
    first = candidate("first", range(20), (*range(40), *range(60, N)))
    second = candidate("second", range(10, 40), tuple(range(10, N)))
    found, _, n_repeated = confirmed_modes(plan_of(), [first, second], [], 0.025)
    assert (titles(found), n_repeated) == (["second", "first"], 0)  # 10 of 30 in common


def test_answers_that_share_a_document_count_once():
    clusters = {f"q{at}": f"d{at // 10}" for at in range(N)}
    mode = candidate("one page", range(10))
    assert titles(confirmed_modes(plan_of(), [mode], [], 0.025)[0]) == ["one page"]
    assert not confirmed_modes(plan_of(clusters=clusters), [mode], [], 0.025)[0]


def test_modes_that_have_nothing_to_do_with_what_is_wrong_are_seldom_named():
    rng, named = np.random.default_rng(3), 0
    for _ in range(40):
        wrong = set(rng.permutation(N)[:N_WRONG].tolist())
        idle = [candidate(str(at), set(np.flatnonzero(rng.random(N) < 0.2).tolist())) for at in range(6)]
        named += bool(confirmed_modes(plan_of(wrong), idle, [], 0.05)[0])
    assert named <= 5  # P(6 or more of 40 at 5 %) = 1.4 %


@pytest.mark.parametrize(
    ("n_wrong", "clusters"),
    [(3, None), (N_WRONG, {f"q{at}": "d" for at in range(N)})],
    ids=["few", "all of one document"],
)
def test_a_part_is_not_read_where_too_few_wrong_answers_are_left_to_test_on(n_wrong, clusters):
    parts = cut_in_parts(plan_of(range(n_wrong), clusters), seed=1)
    assert not any(parts.shown)
