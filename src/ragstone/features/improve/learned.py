"""What learning from people's labels found: candidates beside the judge as it is, and which one to take."""

import math
from collections.abc import Sequence
from typing import Literal, get_args

import msgspec
import numpy as np

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.config import AgreementMeasure
from ragstone.kernel.statistics import Estimate, Floats, is_yes_no, mean_estimate
from ragstone.kernel.statistics.paired import PairedTest, paired_tests
from ragstone.kernel.statistics.power import needed_rows, spread_of

LearningMethod = Literal["calibration", "stack", "cascade", "examples", "prompt"]
METHODS: tuple[LearningMethod, ...] = get_args(LearningMethod)
CandidateState = Literal["measured", "stopped", "refused", "over_budget"]
"""Measured; stopped early, as worse beyond doubt; of no use from the start; cut off by the budget."""

FEWEST = 20  # labelled answers below which nothing is tried
A_GAIN = 0.1  # of the scale: worth knowing of, where no candidate gained anything
USUALLY_TOO_FEW = 50  # below, "no better" is the usual answer
NORMAL_95 = 1.96  # standard errors from the middle to an end of a 95 % interval


class LearnedCandidate(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was tried, measured on labelled answers that it was not fitted on.

    made: what it is, in words. value, before: agreement of the candidate and of the judge as it is, on the
    same n answers; test: of the difference. calls: to models for a judgement, on average; before_calls: of
    the judge as it is. spent: calls that trying it took, those from the ledger included; spent_usd: None
    where a price is unknown. brier: of probabilities, the mean squared distance from people's yes (1) and no
    (0), 0 best; nearer: of the test that it is less than that of the judge as it is, None where either gives
    no probabilities. why: it was stopped, refused or cut off. text: the file that it would be.
    """

    name: str
    method: LearningMethod
    made: str
    state: CandidateState
    why: str | None = None
    n: int = 0
    before: Estimate | None = None
    value: Estimate | None = None
    test: PairedTest | None = None
    calls: float = 0.0
    before_calls: float = 0.0
    spent: int = 0
    spent_usd: float | None = 0.0
    text: str = ""
    brier: float | None = None
    nearer: PairedTest | None = None

    @property
    def error(self) -> float:
        """The standard error of its gain; infinite where that is unknown."""
        gap = self.test.difference if self.test else None
        if gap is None or gap.low is None or gap.high is None:
            return math.inf
        return (gap.high - gap.low) / (2 * NORMAL_95)

    @property
    def sure_gain(self) -> float:
        """Its gain less one standard error of it; minus infinity for one that cannot be taken."""
        if self.state != "measured" or self.test is None:
            return -math.inf
        return self.test.difference.value - self.error


class LearnedTest(msgspec.Struct, frozen=True, kw_only=True):
    """The one look at the test part. look: its number; test: the candidate minus the judge as it was.

    nearer: see LearnedCandidate. toward: of the test whether a step from the judge's probabilities towards
    the candidate's is one towards people's labels; see toward_of. error_before, error: expected calibration
    errors, see statistics.calibration. All four are None where one of the judges gives no probabilities.
    """

    look: int
    n: int
    before: Estimate
    value: Estimate
    test: PairedTest
    card: ReportCard
    nearer: PairedTest | None = None
    toward: PairedTest | None = None
    error_before: Estimate | None = None
    error: Estimate | None = None

    @property
    def comes_nearer(self) -> bool:
        """Whether the test part asks for the step that the candidate's probabilities take.

        A step in its direction is shown to come nearer to people's labels, the whole of it does so in this
        sample, and verdicts are not shown to agree worse.
        """
        if self.nearer is None or self.toward is None or self.test.verdict == "worse":
            return False
        return self.toward.verdict == "better" and self.nearer.difference.value > 0


class Learning(msgspec.Struct, frozen=True, kw_only=True):
    """What was learned from a labelled set.

    judge, version: as it is. measure: what agreement is; yes_from: the score from which on it says yes, None
    where grades are compared. by: what decided; `probabilities` where calibration alone was tried, and
    probabilities came nearer to people's yes and no: better is what is so on the test part, too, and agrees
    no worse there. n_dev, n_test: labelled answers of the parts, n_tied: those of dev on which
    annotators tie, which are left out; n_tuned: those of both parts that are left out, because a judge was
    fitted on their questions. chosen: the candidate that went to the test part, None where none was
    good enough. needed: labelled answers in all by which a gain of needed_gain would be found, that of the
    best candidate on dev, or a tenth of the scale where none gained; None where that is unknown.
    new_version, version_path: of the better judge, None where the judge stays as it is. cut_off: the budget
    ended before all was tried and looked at.
    """

    labels: str
    judge: str
    version: int
    measure: AgreementMeasure
    yes_from: float | None
    n_dev: int
    n_questions: int
    n_test: int
    n_tied: int
    candidates: list[LearnedCandidate]
    chosen: str | None = None
    tested: LearnedTest | None = None
    needed: int | None = None
    needed_gain: float | None = None
    new_version: int | None = None
    version_path: str | None = None
    cut_off: bool = False
    notes: list[str] = []
    by: Literal["agreement", "probabilities"] = "agreement"
    n_tuned: int = 0

    @property
    def verdict(self) -> Literal["better", "no better", "over budget"]:
        """Whether there is a better judge now."""
        if self.tested is not None:
            shown = (
                self.tested.comes_nearer
                if self.by == "probabilities"
                else self.tested.test.verdict == "better"
            )
            if shown:
                return "better"
        return "over budget" if self.cut_off else "no better"


def worths_of(scores: Floats, human: Floats, measure: AgreementMeasure, span: float) -> Floats:
    """Return what each score is worth beside people's grade, (n,), the more the better.

    For exact agreement 1 or 0, else minus the distance. NaN, no score, is worth as much as the worst one: a
    candidate must not get better by saying nothing of what is hard. span: of the scale.
    """
    missing = np.isnan(scores)
    if measure == "exact agreement":
        return np.asarray(np.where(missing, 0.0, scores == human), dtype=np.float64)
    return np.asarray(np.where(missing, -span, -np.abs(scores - human)), dtype=np.float64)


class PairedGain(msgspec.Struct, frozen=True, kw_only=True):
    """Two judges on the same answers; see gain_of."""

    before: Estimate
    value: Estimate
    test: PairedTest


def gain_of(before: Floats, after: Floats, clusters: Sequence[str], *, yes_no: bool, seed: int) -> PairedGain:
    """Return agreement before and after, and the test of the difference. before, after: worths, (n,)."""
    values = [mean_estimate(worths, clusters, seed=seed, proportion=yes_no) for worths in (before, after)]
    if values[0] is None or values[1] is None:
        raise ValueError("a gain is of at least one answer")
    test = paired_tests(np.stack([after, before], axis=1), [(0, 1)], clusters, seed=seed)[0]
    return PairedGain(before=values[0], value=values[1], test=test)


def choose_candidate(candidates: Sequence[LearnedCandidate]) -> LearnedCandidate | None:
    """Return the candidate to take to the test part, None where none gained more than one standard error.

    The best is the one of the largest gain less one standard error. Of those whose gain is within one
    standard error of its gain, the one with the fewest calls is taken (the one-standard-error rule of
    Breiman et al. 1984): what is bought with calls should show. Of candidates that gained the same, the one
    of the lower Brier score.
    """
    good = [candidate for candidate in candidates if candidate.sure_gain > 0]
    if not good:
        return None
    best = max(good, key=lambda candidate: candidate.sure_gain)
    near = [candidate for candidate in good if gain(candidate) >= gain(best) - best.error]
    return min(
        near,
        key=lambda candidate: (
            round(candidate.calls, 6),
            -candidate.sure_gain,
            math.inf if candidate.brier is None else candidate.brier,
        ),
    )


def choose_nearer(candidates: Sequence[LearnedCandidate]) -> LearnedCandidate | None:
    """Return the candidate whose probabilities are nearest to people's yes and no.

    None where none is nearer than the judge as it is; whether that is chance is the test part's to say. One
    that agrees worse is left out.
    """
    good = [
        (candidate.nearer.difference.value, candidate)
        for candidate in candidates
        if candidate.state == "measured"
        and candidate.nearer is not None
        and candidate.nearer.difference.value > 0
        and not (candidate.test and candidate.test.verdict == "worse")
    ]
    return max(good, key=lambda pair: pair[0])[1] if good else None


def nearer_of(
    before: Floats, after: Floats, human: Floats, clusters: Sequence[str], *, seed: int
) -> PairedTest | None:
    """Return the test of squared distances from people's yes (1) and no (0): before minus after.

    before, after: probabilities of a yes, (n,), NaN for none: such rows are left out. None without any.
    """
    known = np.flatnonzero(~np.isnan(before + after))
    if not known.size:
        return None
    columns = np.stack([-((side - human)[known] ** 2) for side in (after, before)], axis=1)
    return paired_tests(columns, [(0, 1)], [clusters[at] for at in known.tolist()], seed=seed)[0]


def toward_of(
    before: Floats, after: Floats, human: Floats, clusters: Sequence[str], *, seed: int
) -> PairedTest | None:
    """Return the test of (after - before) x (label - before), whose mean is above 0 where a step helps.

    It is minus half the slope of the Brier score on the way from `before` to `after`. The difference of the
    two scores has half its mean where `after` is right, and the same noise: with the labels that people have,
    a real miscalibration is found twice as far from chance. NaN, clusters: as of nearer_of.
    """
    known = np.flatnonzero(~np.isnan(before + after))
    if not known.size:
        return None
    step = ((after - before) * (human - before))[known]
    columns = np.stack([step, np.zeros_like(step)], axis=1)
    return paired_tests(columns, [(0, 1)], [clusters[at] for at in known.tolist()], seed=seed)[0]


def gain(candidate: LearnedCandidate) -> float:
    """Return how much better it agrees than the judge as it is."""
    return candidate.test.difference.value if candidate.test else 0.0


def needed_labels(
    before: Floats, after: Floats, clusters: Sequence[str], wanted: float, test_share: float
) -> int | None:
    """Return how many labelled answers in all let the test part find a gain four times out of five.

    before, after: of each answer, from which is taken how much the gain varies. wanted: the gain. test_share:
    of the labelled answers. None where there is no gain, or nothing is known of its spread.
    """
    alone = len(set(clusters)) == len(clusters)
    yes_no = alone and is_yes_no(np.concatenate([before, after]))
    spread = spread_of(after - before, clusters, yes_no=yes_no)
    rows = needed_rows(spread, wanted) if spread is not None and wanted > 0 else None
    return None if rows is None or not test_share else math.ceil(rows / test_share)
