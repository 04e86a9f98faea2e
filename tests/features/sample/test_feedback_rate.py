"""A queue of exchanges with and without thumbs, each with its known chance, gives a rate with an interval."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ragstone
from ragstone.features.sample._feedback_rate import QUEUE, draw_exchanges, rate_of
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Label

SETTINGS = Settings()


def log(n, down=(), up=()):
    rows = [
        {"question_id": f"x{at}", "question": f"When is crop {at} sown?", "answer": "In May."}
        for at in range(n)
    ]
    thumbs = [(at, 0.0) for at in down] + [(at, 1.0) for at in up]
    return rows + [{"question_id": f"x{at}", "metric": "thumb", "score": score} for at, score in thumbs]


def labels_of(sample, is_right, rows=None):
    return [
        Label(
            question_id=row.question_id,
            system=row.system,
            score=float(is_right(int(row.question_id[1:]))),
            metric=row.metric,
            metadata={
                name: getattr(row, name)
                for name in ("inclusion", "queue", "group", "group_size", "n_exchanges")
            },
        )
        for row in (rows if rows is not None else sample.queue)
    ]


@settings(max_examples=30, deadline=None)
@given(st.tuples(*[st.integers(0, 40)] * 3), st.integers(1, 130), st.integers(0, 5))
def test_the_chances_of_a_draw_are_its_counts(sizes, n, seed):
    down, up, none = sizes
    groups = {
        "down": list(range(down)),
        "up": list(range(100, 100 + up)),
        "none": list(range(200, 200 + none)),
    }
    drawn, counts = draw_exchanges(groups, n, seed)
    assert len(drawn) == len({one.at for one in drawn}) == min(n, sum(sizes))
    for count in counts:
        own = [one for one in drawn if one.at in groups[count.name]]
        assert len(own) == count.drawn
        assert all(abs(one.inclusion * count.n_exchanges - count.drawn) < 1e-6 for one in own)
        assert len({one.group for one in own}) <= 1
        assert n < 3 or bool(own) == bool(count.n_exchanges)  # no group is without a label


def test_a_queue_does_not_say_which_thumb_an_answer_has():
    letters = {
        tuple(row.group for row in sorted(sampled.queue, key=lambda row: int(row.question_id[1:]))[::10])
        for seed in range(8)
        for sampled in [
            ragstone.sample_feedback(
                log(30, down=range(10), up=range(10, 20)), 30, seed=seed, settings=SETTINGS
            )
        ]
    }
    assert len(letters) > 2  # the letters of the three groups change places with the seed
    row = ragstone.sample_feedback(log(9, down=[1]), 4, settings=SETTINGS).queue[0]
    assert not {"thumb", "rationale", "feedback"} & {*msgspec.structs.asdict(row)}
    assert row.score is None


def test_the_rate_weighs_each_group_by_its_size():
    # 8 down, all wrong; 4 up, all right; 88 without a thumb, of which those with an even number are right
    rows = log(100, down=range(8), up=range(8, 12))
    sample = ragstone.sample_feedback(rows, 100, settings=SETTINGS)
    labels = labels_of(sample, lambda at: at >= 8 and (at < 12 or at % 2 == 0))
    rate = ragstone.sample_feedback(rows, labels=labels, settings=SETTINGS).summary.rate
    assert (rate.right.value, rate.right.low, rate.right.high) == (0.48, 0.48, 0.48)  # (0 + 4 + 44) / 100
    assert (rate.down_wrong.value, rate.up_right.value) == (1.0, 1.0)
    assert (rate.down_wrong.n, rate.up_right.n, rate.n_labelled) == (8, 4, 100)
    assert 0 < rate.down_wrong.low < 0.7  # 8 of 8 is no certainty for the next


def test_a_part_of_the_queue_is_weighed_by_the_chances_and_not_counted_plainly():
    rows = log(1000, down=range(50), up=range(50, 100))
    sample = ragstone.sample_feedback(rows, 200, settings=SETTINGS)
    wrong_where_down = labels_of(sample, lambda at: at >= 50)
    rate = rate_of(wrong_where_down, {}, seed=0)
    assert rate.right.value == pytest.approx(0.95)
    assert sum(label.score for label in wrong_where_down) / len(wrong_where_down) == 0.8
    assert rate.right.low < 0.95 <= rate.right.high <= 0.96


def test_without_a_label_of_a_group_there_is_no_rate():
    rows = log(40, down=range(5))
    sample = ragstone.sample_feedback(rows, 20, settings=SETTINGS)
    some = [row for row in sample.queue if row.group_size == 35]
    rate = rate_of(labels_of(sample, lambda at: True, some), {}, seed=0)
    assert rate.right is None
    assert rate.n_exchanges == 40


def test_of_several_annotators_the_majority_counts_and_a_tie_says_nothing():
    sample = ragstone.sample_feedback(log(3, down=[0]), 3, settings=SETTINGS)
    first = labels_of(sample, lambda at: True)
    second = [msgspec.structs.replace(row, score=0.0) for row in first[:1]]
    rate = rate_of([*first, *second], {}, seed=0)
    assert (rate.n_labelled, rate.n_tied) == (2, 1)


@pytest.mark.parametrize("change", ["of no queue", "of two draws", "off the scale", "without its size"])
def test_labels_that_are_of_no_draw_are_refused(change, says):
    sample = ragstone.sample_feedback(log(5, down=[0]), 5, settings=SETTINGS)
    labels = labels_of(sample, lambda at: True)
    if change == "of no queue":
        labels = [msgspec.structs.replace(row, metadata=None) for row in labels]
    elif change == "of two draws":
        labels[0].metadata["queue"] = f"{QUEUE}-other"
    elif change == "off the scale":
        labels[0] = msgspec.structs.replace(labels[0], score=4.0)
    else:
        del labels[0].metadata["group_size"]
    with pytest.raises(DataError) as refused:
        rate_of(labels, {}, seed=0)
    says(str(refused.value))


@pytest.mark.simulation
def test_the_interval_holds_the_truth_where_thumbs_mislead():
    from benchmarks.feedback import simulated

    figures = simulated(draws=60)
    assert 0.87 <= figures.covered <= 0.99
    assert 0.12 < figures.width < 0.145  # a rate that weighs no group, or takes half the labels, is wider
    assert figures.covered_by_thumbs < 0.5
