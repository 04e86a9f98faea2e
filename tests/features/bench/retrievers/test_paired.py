import numpy as np
import pytest

from ragstone.features.bench.retrievers.paired import best_and_indistinguishable, compare_rankings
from ragstone.kernel.errors import DataError
from ragstone.kernel.retrieval.query_measures import QueryMeasures


def measured(values: list[float], documents: list[str] | None = None, skip: int = 0) -> QueryMeasures:
    names = [f"q{at}" for at in range(skip, skip + len(values))]
    return QueryMeasures(
        retriever="r",
        depth=10,
        values={"hit@1": dict(zip(names, values, strict=True))},
        first_ranks=dict.fromkeys(names, 1),
        documents=dict(zip(names, documents or names, strict=True)),
        n_unlabelled=0,
        n_unanswerable=0,
        n_unranked=0,
    )


def test_yes_no_values_are_compared_by_mcnemar():
    # 12 questions that the two disagree on, 10 for a, 2 for b: 2 * (1 + 12 + 66) / 2^12 = 158 / 4096.
    a, b = [1.0] * 10 + [0.0] * 2 + [1.0] * 20, [0.0] * 10 + [1.0] * 2 + [1.0] * 20
    (row,) = compare_rankings({"a": measured(a), "b": measured(b)}, "hit@1")
    assert (row.first, row.second, row.test, row.n, row.family) == ("a", "b", "McNemar", 32, 1)
    assert row.difference.value == pytest.approx(8 / 32)
    assert row.p == row.p_holm == pytest.approx(158 / 4096)
    assert row.verdict == "better"
    (turned,) = compare_rankings({"b": measured(b), "a": measured(a)}, "hit@1")
    assert (turned.verdict, turned.difference.value) == ("worse", pytest.approx(-8 / 32))


def test_questions_of_one_document_are_flipped_together():
    # Four documents, each of which decides for a: 2 of the 2^4 ways to flip are as extreme. Question by
    # question it would be 2 of 2^12.
    documents = [f"d{at // 3}" for at in range(12)]
    a, b = measured([1.0] * 12, documents), measured([0.0] * 12, documents)
    (row,) = compare_rankings({"a": a, "b": b}, "hit@1")
    assert (row.test, row.p, row.verdict) == ("sign-flip", 2 / 16, "cannot tell")


def test_only_questions_that_all_were_measured_on_count():
    a, b = measured([1.0, 0.5, 0.25, 1.0]), measured([0.5, 0.25, 0.0], skip=1)
    (row,) = compare_rankings({"a": a, "b": b}, "hit@1")
    assert (row.n, row.n_left_out) == (3, 1)
    assert row.difference.value == pytest.approx((0.0 + 0.0 + 1.0) / 3)


def test_holm_makes_a_family_pay_for_its_size():
    rng = np.random.default_rng(0)
    base = rng.integers(0, 2, 200).astype(float)
    worse = base.copy()
    worse[np.flatnonzero(base)[:8]] = 0.0  # p = 2 / 2^8 = 0.0078
    queries = {"a": measured(base.tolist()), "b": measured(worse.tolist())}
    alone = compare_rankings(queries, "hit@1")[0]
    assert (alone.p_holm, alone.verdict) == (pytest.approx(1 / 128), "better")
    copies = {f"c{at}": measured(base.tolist()) for at in range(3)}
    among = compare_rankings({**queries, **copies}, "hit@1")
    # Ten pairs. b loses to a and to its three copies: p_holm is 10 / 128 for each of the four, above 0.05.
    assert [row.verdict for row in among] == ["cannot tell"] * 10
    assert among[0].p_holm == pytest.approx(10 / 128)
    with_base = compare_rankings({**queries, **copies}, "hit@1", against="a")
    # Four comparisons with a: 4 / 128 is below 0.05.
    assert [(row.first, row.second, row.verdict) for row in with_base] == [
        ("b", "a", "worse"),
        ("c0", "a", "cannot tell"),
        ("c1", "a", "cannot tell"),
        ("c2", "a", "cannot tell"),
    ]


def test_alpha_decides():
    a, b = measured([1.0] * 6), measured([0.0] * 6)  # p = 2 / 2^6 = 0.031
    assert compare_rankings({"a": a, "b": b}, "hit@1")[0].verdict == "better"
    assert compare_rankings({"a": a, "b": b}, "hit@1", alpha=0.01)[0].verdict == "cannot tell"
    assert best_and_indistinguishable({"a": a, "b": b}, "hit@1", alpha=0.01).indistinguishable == ["b"]
    with pytest.raises(ValueError, match="alpha is 0"):
        compare_rankings({"a": a, "b": b}, "hit@1", alpha=0)


def test_the_best_and_those_that_cannot_be_told_from_it():
    rng = np.random.default_rng(1)
    good = rng.random(300)
    close = np.clip(good - rng.normal(0.002, 0.1, 300), 0, 1)
    bad = good * 0.7
    found = best_and_indistinguishable(
        {"bad": measured(bad.tolist()), "good": measured(good.tolist()), "close": measured(close.tolist())},
        "hit@1",
    )
    assert list(found.means)[-1] == "bad"
    assert {found.best, *found.indistinguishable} == {"good", "close"}
    assert [row.first for row in found.comparisons] == [found.best] * 2
    assert [row.second for row in found.comparisons] == list(found.means)[1:]
    assert found.comparisons[1].verdict == "better"
    assert {row.family for row in found.comparisons} == {3}


def test_equal_retrievers_cannot_be_told_and_one_is_the_best_of_one():
    same = best_and_indistinguishable({"a": measured([1.0, 0.0]), "b": measured([1.0, 0.0])}, "hit@1")
    assert (same.best, same.indistinguishable) == ("a", ["b"])
    assert (same.comparisons[0].p, same.comparisons[0].difference.low) == (1.0, None)
    alone = best_and_indistinguishable({"a": measured([1.0, 0.0])}, "hit@1")
    assert (alone.best, alone.indistinguishable, alone.comparisons) == ("a", [], [])


def test_the_same_seed_gives_the_same_p():
    rng = np.random.default_rng(2)
    queries = {name: measured(rng.random(40).tolist()) for name in "ab"}
    one, again, other = (compare_rankings(queries, "hit@1", seed=seed)[0].p for seed in (1, 1, 2))
    assert one == again != other


@pytest.mark.long
def test_fifty_configurations_can_still_be_told_apart():
    # 1,225 pairs: with 10,000 flips the smallest corrected p would be 0.12.
    rng = np.random.default_rng(3)
    base = rng.random(60) / 2
    names = {f"c{at}": measured((base + rng.normal(0, 0.01, 60)).tolist()) for at in range(49)}
    found = best_and_indistinguishable({"best": measured((base + 0.4).tolist()), **names}, "hit@1")
    assert (found.best, found.indistinguishable) == ("best", [])


def test_the_best_of_equals_is_rarely_told_from_the_others():
    # 80 simulated families of 4 equal retrievers (6 pairs): any finding is false. Holm at 0.05: at most 4
    # expected; 11 or more would come by chance in fewer than 1 of 300 tests.
    rng = np.random.default_rng(0)
    false = 0
    for _ in range(80):
        easy = rng.random(60)
        values = (rng.random((4, 60)) < easy).astype(float)
        queries = {str(at): measured(row.tolist()) for at, row in enumerate(values)}
        rows = best_and_indistinguishable(queries, "hit@1").comparisons
        false += any(row.verdict != "cannot tell" for row in rows)
    assert false <= 10


def test_what_cannot_be_compared_is_an_error(says):
    a = measured([1.0])
    with pytest.raises(DataError, match="at least two"):
        compare_rankings({"a": a}, "hit@1")
    with pytest.raises(DataError, match="at least one"):
        best_and_indistinguishable({}, "hit@1")
    with pytest.raises(DataError) as error:
        compare_rankings({"a": a, "b": a}, "hit@2")
    says(error.value)
    with pytest.raises(DataError) as error:
        compare_rankings({"a": a, "b": a}, "hit@1", against="c")
    says(error.value)
    with pytest.raises(DataError) as error:
        compare_rankings({"a": a, "b": measured([1.0], skip=5)}, "hit@1")
    says(error.value)
