import msgspec
import pytest
from tests.support.plain_rows import judgement_row

from ragstone.kernel.judging import summarise


def row(question_id, score=None, status="scored", judge="correctness"):
    return judgement_row(question_id=question_id, judge=judge, status=status, score=score, scale=(0, 1))


def test_the_mean_rests_on_scored_rows_alone_and_counts_the_others():
    [summary] = summarise([row("a", 1.0), row("b", 0.0), row("c", status="timeout"), row("d", 1.0)])
    assert summary.estimate.value == 2 / 3
    assert (summary.estimate.n, summary.n_rows) == (3, 4)
    assert summary.statuses == {"scored": 3, "timeout": 1}


def test_without_a_scored_row_there_is_no_mean():
    [summary] = summarise([row("a", status="refused")])
    assert summary.estimate is None
    assert summary.statuses == {"refused": 1}


def test_judges_are_apart_and_in_order_of_appearance():
    found = summarise([row("a", 1.0, judge="z"), row("a", 0.0, judge="b"), row("b", 1.0, judge="z")])
    assert [(s.judge, s.n_rows) for s in found] == [("z", 2), ("b", 1)]


def test_rows_that_share_a_cluster_make_the_interval_wider():
    rows = [row(str(i), float(i % 20 < 10)) for i in range(40)]
    alone = summarise(rows)[0].estimate
    shared = summarise(rows, clusters={str(i): str(i % 20 // 5) for i in range(40)})[0].estimate
    assert shared.high - shared.low > alone.high - alone.low


def test_documents_are_counted_where_rows_share_them():
    rows = [row("a", 1.0), row("b", 0.0), row("c", status="timeout"), row("d", 1.0)]
    assert summarise(rows)[0].n_documents is None
    # C has no score.
    assert summarise(rows, clusters={"a": "x", "c": "x"})[0].n_documents is None
    assert summarise(rows, clusters={"a": "x", "b": "x"})[0].n_documents == 2


def test_grades_that_happen_to_be_0_and_1_are_no_proportion():
    def graded(*scores):
        rows = [msgspec.structs.replace(row(f"q{i}", score), scale=(0, 3)) for i, score in enumerate(scores)]
        return summarise(rows)[0].estimate

    # The next could have been 3.
    assert graded(1.0, 1.0).high is None
    assert graded(1.0, 0.0, 1.0).method != "wilson"


def test_why_rows_are_not_applicable_is_counted_the_commonest_first():
    def lacking(n, rationale):
        return judgement_row(question_id=f"x{n}", status="not_applicable", rationale=rationale)

    rows = [lacking(0, "too short"), lacking(1, "no reference"), lacking(2, "no reference")]
    [summary] = summarise(rows)
    assert list(summary.reasons.items()) == [("no reference", 2), ("too short", 1)]


def scored_and_failed(n_scored, n_failed, *, n_not_applicable=0, scale=(0, 1)):
    rows = [row(f"s{n}", 0.8) for n in range(n_scored)]
    rows += [row(f"f{n}", status="refused" if n % 2 else "app_error") for n in range(n_failed)]
    rows += [row(f"n{n}", status="not_applicable") for n in range(n_not_applicable)]
    return summarise([msgspec.structs.replace(one, scale=scale) for one in rows])[0]


def test_bounds_count_every_row_that_failed_and_none_that_is_not_applicable():
    # 7 scores of 0.8 sum up to 5.6: 5.6 / 10 to 8.6 / 10, however many rows are not applicable.
    assert scored_and_failed(7, 3).bounds == pytest.approx((0.56, 0.86))
    assert scored_and_failed(7, 3, n_not_applicable=90).bounds == pytest.approx((0.56, 0.86))
    assert scored_and_failed(7, 3, scale=(-1, 1)).bounds == pytest.approx((0.26, 0.86))


def test_there_are_no_bounds_where_nothing_failed_or_no_scale_is_known():
    assert scored_and_failed(7, 0, n_not_applicable=3).bounds is None
    assert scored_and_failed(7, 3, scale=None).bounds is None
    assert scored_and_failed(0, 3).bounds is None


def test_bounds_are_in_json_and_are_made_anew_for_what_was_written_without_them():
    found = scored_and_failed(7, 3)
    written = msgspec.to_builtins(found)
    assert written["bounds"] == pytest.approx((0.56, 0.86))
    del written["bounds"]
    assert msgspec.convert(written, type(found)) == found


def labelled(name, label, score, scale=(1.0, 6.0)):
    return judgement_row(
        question_id=name, judge="question_type", metric="question_type", score=score, scale=scale, label=label
    )


def test_numbers_of_labels_have_shares_and_no_mean():
    rows = [labelled("a", "create", 6), labelled("b", "remember", 1), labelled("c", "create", 6)]
    timeout = judgement_row(question_id="d", judge="question_type", metric="question_type", status="timeout")
    [summary] = summarise([*rows, timeout])
    assert summary.estimate is None  # (6 + 1 + 6) / 3 is no level of anything
    assert summary.bounds is None
    assert [(label, share.value, share.n) for label, share in summary.labels.items()] == [
        ("remember", 1 / 3, 3),
        ("create", 2 / 3, 3),
    ]
    # Wilson: 1 of 3 at 95 %, (1/3 + z²/6 ± z sqrt(2/27 + z²/36)) / (1 + z²/3)
    assert summary.labels["remember"].low == pytest.approx(0.0615, abs=5e-4)
    assert summary.labels["remember"].high == pytest.approx(0.7923, abs=5e-4)


def test_labels_that_are_graded_from_0_to_1_have_a_mean():
    rows = [labelled("a", "dry", 0.5, (0.0, 1.0)), labelled("b", "friendly", 1.0, (0.0, 1.0))]
    [summary] = summarise(rows)
    assert summary.estimate.value == 0.75
    assert summary.labels == {}


def test_scores_without_a_label_are_no_category():
    [summary] = summarise(
        [judgement_row(question_id="a", score=3.0, scale=(1.0, 6.0)), labelled("b", "x", 1)][:1]
    )
    assert summary.estimate.value == 3.0
    assert summary.labels == {}
