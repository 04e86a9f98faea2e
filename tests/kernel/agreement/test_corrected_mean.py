"""A corrected mean says no more than its numbers: random means, recomputed."""

from hypothesis import given
from hypothesis import strategies as st
from tests.support.sentences import forbidden, said

from ragstone.kernel.agreement.corrected_mean import CorrectedMean, sentence_of
from ragstone.kernel.statistics import Estimate


def estimate(value: float, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(value=value, low=low, high=high, n=100, method="bootstrap")


def mean_of(
    raw: float,
    corrected: Estimate,
    *,
    same_unit: bool = True,
    n_labelled: int = 100,
    worth: float = 150.0,
    to_halve: int | None = 400,
) -> CorrectedMean:
    return CorrectedMean(
        judge="j",
        metric="m",
        model="openai/m",
        prompt_version=1,
        system="s",
        raw=estimate(raw),
        corrected=corrected,
        human=corrected,
        same_unit=same_unit,
        threshold=None,
        n_labelled=n_labelled,
        n_rows=500,
        weight=1.0,
        worth=worth,
        to_halve=to_halve,
        sentence="",
        notes=[],
    )


shares = st.floats(0, 1)


@given(
    shares,
    st.one_of(st.none(), st.tuples(shares, shares)),
    st.booleans(),
    st.integers(1, 50),
    st.floats(0, 100),
    st.sampled_from([None, 400]),
)
def test_no_corrected_mean_says_what_its_numbers_do_not_bear(
    raw: float,
    ends: tuple[float, float] | None,
    same_unit: bool,
    n_labelled: int,
    worth: float,
    to_halve: int | None,
):
    low, high = sorted(ends) if ends else (None, None)
    mean = mean_of(
        raw,
        estimate(0.5, low, high),
        same_unit=same_unit,
        n_labelled=n_labelled,
        worth=worth,
        to_halve=to_halve,
    )
    codes = said(sentence_of(mean))
    above, below = high is not None and raw > high, low is not None and raw < low
    assert ("corrected-judge-too-high" in codes) is (same_unit and above)
    assert ("corrected-judge-too-low" in codes) is (same_unit and below)
    assert ("corrected-other-scale" in codes) is (not same_unit)
    worths = {"corrected-worth", "people-pairs-worth"}  # which two read alike where the noun is not known
    known = n_labelled >= 20  # of fewer labels it is chance what the judge adds
    assert bool(worths & {*codes}) is (known and round(worth) > n_labelled)
    surer = {"corrected-no-surer", "people-judge-no-surer"}
    assert not (surer & {*codes}) or known
    assert ("corrected-cannot-halve" in codes) is (known and low is not None and to_halve is None)
    assert ("corrected-to-halve" in codes) is (low is not None and to_halve is not None)
    assert not forbidden(codes)


def test_corrected_means_in_words(says):
    for raw in (0.5, 0.9, 0.1):
        says(sentence_of(mean_of(raw, estimate(0.5, 0.4, 0.6))))
    says(sentence_of(mean_of(0.5, estimate(0.5), worth=100.0)))
    says(sentence_of(mean_of(3.0, estimate(0.5, 0.4, 0.6), same_unit=False, to_halve=None)))
