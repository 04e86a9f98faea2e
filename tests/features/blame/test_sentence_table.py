"""Blame says no more of a system than its counts bear: random counts, recomputed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.sentences import forbidden, said

from ragstone.features.blame.words import outcome, worth
from ragstone.kernel.runs.causes import ComponentShare, Largest, Returned, SystemBlame


def row_of(
    n_counted: int, retriever: int, model: int, dataset: int, hidden: int = 0, verdict: str = ""
) -> SystemBlame:
    """Return a system whose lost points are these; the judge's are the hidden ones."""
    counts = {"retriever": retriever, "model + prompt": model, "dataset": dataset, "judge": hidden}
    first, second, *_ = sorted(counts, key=lambda name: -counts[name])
    largest = (
        Largest(first=first, second=second, verdict=verdict, p_holm=0.03, n=n_counted) if verdict else None
    )  # type: ignore[arg-type]
    lost = retriever + model + dataset
    return SystemBlame(
        system="s",
        judge="correctness",
        metric="correctness",
        model="m",
        n_counted=n_counted,
        n_lost=lost,
        left_out={},
        shares=[ComponentShare(component=name, n=n, share=None) for name, n in counts.items()],  # type: ignore[arg-type]
        causes={},
        n_hidden=hidden,
        largest=largest,
        returned=Returned(n=lost, n_right=min(1, lost)) if lost else None,
    )


few = st.integers(0, 6)


@given(few, few, few, few, st.integers(0, 40), st.sampled_from(["largest", "cannot tell", ""]))
def test_no_outcome_says_what_the_counts_do_not_bear(
    retriever: int, model: int, dataset: int, hidden: int, more: int, verdict: str
):
    lost = retriever + model + dataset
    row = row_of(lost + hidden + more, retriever, model, dataset, hidden, verdict if lost + hidden else "")
    codes = said(f"{outcome(row)} {worth(row)}")
    assert ("points-none-lost" in codes) is (lost + hidden == 0 and more > 0)
    assert ("points-none-counted" in codes) is (lost + hidden + more == 0)
    most = max(retriever, model, dataset, hidden) > (lost + hidden) / 2
    assert ("most-due-to" in codes) is bool(verdict == "largest" and lost + hidden and most)
    assert ("largest-share-due-to" in codes) is bool(verdict == "largest" and lost + hidden and not most)
    assert ("points-returned" in codes) is (lost > 0)
    assert not forbidden(codes)


@pytest.mark.parametrize(
    "row",
    [
        row_of(0, 0, 0, 0),
        row_of(12, 0, 0, 0),
        row_of(50, 9, 2, 1, 0, "largest"),
        row_of(50, 5, 3, 3, 0, "largest"),
        row_of(50, 5, 4, 3, 2, "cannot tell"),
    ],
)
def test_outcomes_in_words(row: SystemBlame, says):
    says(f"{outcome(row)} {worth(row)}".strip())
