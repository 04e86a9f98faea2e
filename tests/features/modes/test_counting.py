import msgspec
import numpy as np
import pytest

from ragstone.features.modes._counting import ModeRows, draw_rows, labels_of, queue_name, with_counts
from ragstone.kernel.records import Label
from ragstone.kernel.runs.modes import Mode

MODE = Mode(name="m", title="m", question="", digest="d", judge_digest="j" * 8, kind="signs")


def rows_of(n_yes, n_wrong, n_right, n_unscored=0):
    sizes = (n_yes, n_wrong, n_right, n_unscored)
    groups = [[(f"{name}{at}", "s") for at in range(n)] for name, n in zip("ywru", sizes, strict=True)]
    yes, bad, _, _ = groups
    return ModeRows(
        keys=[key for group in groups for key in group],
        has_it={key: key in yes for group in groups[:3] for key in group},
        wrong={key: key in {*yes, *bad} for group in groups for key in group},
    )


def labels(drawn, is_true, mode=MODE):
    return [
        Label(
            question_id=row.key[0],
            system="s",
            score=float(is_true(row.key)),
            metadata={"inclusion": row.inclusion, "queue": queue_name(mode, drawn), "policy": mode.digest},
        )
        for row in drawn
    ]


def test_a_queue_has_known_chances_that_are_equal_in_a_group():
    rows = rows_of(40, 60, 300)
    drawn = draw_rows(rows, 60, seed=3)
    by_group = {}
    for row in drawn:
        by_group.setdefault(row.key[0][0], []).append(row.inclusion)
    assert {name: len(set(some)) for name, some in by_group.items()} == {"y": 1, "w": 1, "r": 1}
    assert len(by_group["y"]) == 24  # two fifths of 60
    assert by_group["y"][0] == pytest.approx(24 / 40)
    assert by_group["w"][0] == pytest.approx(len(by_group["w"]) / 60)
    assert by_group["w"][0] > by_group["r"][0]
    assert len(drawn) == len({row.key for row in drawn}) == 60
    # Together the chances of all answers are the size of the queue.
    assert sum(
        some[0] * size
        for some, size in zip((by_group["y"], by_group["w"], by_group["r"]), (40, 60, 300), strict=True)
    ) == pytest.approx(60)


def test_small_groups_are_taken_in_full_and_a_queue_is_never_longer_than_the_run():
    assert len(draw_rows(rows_of(1, 2, 300), 60, seed=0)) == 60
    assert {row.inclusion for row in draw_rows(rows_of(3, 4, 5, 6), 60, seed=0)} == {1.0}
    assert len(draw_rows(rows_of(0, 0, 0, 50), 20, seed=0)) == 20
    assert len(draw_rows(rows_of(50, 0, 0), 20, seed=0)) == 20


def test_counts_are_worked_by_hand():
    # 30 of 40 looked at are true; of 60 wrong ones 20 were looked at and 1 is true; of 300, 20 and none.
    rows = rows_of(40, 60, 300)
    seen = [f"y{at}" for at in range(40)] + [f"w{at}" for at in range(20)] + [f"r{at}" for at in range(20)]
    true = {*(f"y{at}" for at in range(30)), "w0"}
    given = [Label(question_id=name, system="s", score=float(name in true)) for name in seen]
    mode = with_counts(MODE, rows, given)
    assert (mode.n_labelled, mode.n_looked_at, mode.n_true) == (80, 40, 30)
    assert (mode.precision.value, mode.precision.low, mode.precision.high) == (0.75, 0.75, 0.75)
    assert mode.prevalence.value == pytest.approx((30 + 60 / 20) / 400)
    assert mode.recall.value == pytest.approx(30 / 33)
    assert 31 / 400 <= mode.prevalence.low < mode.prevalence.value < mode.prevalence.high < 0.15


def test_all_labelled_leaves_nothing_open():
    rows = rows_of(4, 3, 5)
    given = [Label(question_id=key[0], system="s", score=float(key[0][0] == "y")) for key in rows.keys]
    mode = with_counts(MODE, rows, given)
    assert (mode.prevalence.low, mode.prevalence.value, mode.prevalence.high) == (4 / 12, 4 / 12, 4 / 12)


def test_where_a_group_has_no_label_nothing_is_said_of_all_answers():
    rows = rows_of(10, 10, 10)
    given = [Label(question_id=f"y{at}", system="s", score=1) for at in range(5)]
    mode = with_counts(MODE, rows, given)
    assert (mode.precision.value, mode.prevalence, mode.recall) == (1, None, None)


def test_annotators_who_differ_count_by_their_mean_and_a_tie_says_nothing():
    rows = rows_of(3, 0, 0)
    given = [
        Label(question_id=f"y{at}", system="s", score=score, annotator=f"a{n}")
        for at, scores in enumerate(((1, 1, 0), (1, 0), (0, 0, 1)))
        for n, score in enumerate(scores)
    ]
    mode = with_counts(MODE, rows, given)
    assert (mode.n_labelled, mode.n_true) == (2, 1)


def test_labels_of_another_question_or_that_were_chosen_do_not_count():
    def label(**metadata):
        return Label(question_id="y0", system="s", score=1, metric="m", metadata=metadata)

    given = [
        label(policy="d"),
        label(policy="e"),
        label(),
        label(policy="d", again=True),
        label(policy="d", answer="x"),
    ]
    used, n_other = labels_of(MODE, given, {("y0", "s"): "text"})
    assert (used, n_other) == ([given[0]], 3)


def test_where_other_answers_are_wrong_than_when_the_queue_was_drawn_the_chances_count():
    # Its judge names none. Of 40 wrong ones 20 were drawn, of 160 right ones 20; the wrong ones have it.
    # Now half of the wrong ones, and twice as many right ones, are called wrong: 60 answers with two chances.
    before, now = rows_of(0, 40, 160), rows_of(0, 40, 160)
    chance = {"w": 20 / 40, "r": 20 / 160}
    changed = {key: (key[0][0] == "w") is (int(key[0][1:]) % 2 == 0) for key in before.keys}
    now = msgspec.structs.replace(now, wrong=changed)
    given = [
        Label(
            question_id=f"{name}{at}",
            system="s",
            score=float(name == "w"),
            metadata={"inclusion": chance[name], "queue": "mode-jjjjjjjj-1", "policy": "d"},
        )
        for name in "wr"
        for at in range(20)
    ]
    share = with_counts(MODE, now, given).prevalence
    assert share.value == pytest.approx(40 / 200)  # 20 · 2 of 20 · 2 + 20 · 8
    assert with_counts(MODE, before, given).prevalence.value == pytest.approx(40 / 200)


@pytest.mark.long
def test_intervals_hold_the_truth_about_as_often_as_they_say():
    # benchmarks/modes.py has hundreds of queues. 95 % of 60: 52 or more with p = 99.7 %.
    rng = np.random.default_rng(5)
    held = 0
    for seed in range(60):
        rows = rows_of(int(rng.integers(15, 60)), 60, 300)
        rates = {"y": rng.uniform(0.6, 1), "w": rng.uniform(0, 0.12), "r": 0.005}
        truth = {key: rng.random() < rates[key[0][0]] for key in rows.keys}
        drawn = draw_rows(rows, 60, seed)
        share = with_counts(MODE, rows, labels(drawn, truth.__getitem__)).prevalence
        held += share.low <= sum(truth.values()) / len(truth) <= share.high
    assert held >= 52
