"""The report card of a judge: what a reader needs to decide how far to trust it."""

import msgspec

from ragstone.records import Status
from ragstone.statistics import Estimate

GRADE_WORDS = {"correctness": {0.0: "wrong", 1.0: "right"}}


def grade_name(metric: str, grade: float) -> str:
    """Return what a grade is called in this metric: a word where there is one, else the number."""
    return GRADE_WORDS.get(metric, {}).get(grade, f"{grade:g}")


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """A cheap rival, on the same answers as the judge.

    name: the judge's name, or in words what is always answered. n: answers that both the rival and the judge
    have scored. exact_agreement: the rival's, judge: the judge's own on these answers. difference:
    judge minus rival, paired, -1 to 1. better: the interval of the difference lies above 0; False if it
    lies below, or if no answer tells them apart; None if it holds 0.
    """

    name: str
    n: int
    exact_agreement: Estimate
    judge: float
    difference: Estimate
    better: bool | None


class HumanAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How well annotators agree with each other: all pairs of annotators of the same answer, pooled.

    n_answers: those with two annotators or more. kappa: quadratic weights on the grades' real distances,
    over both orders of each pair (so both annotators have the same habits, as in Scott's pi); None if it is
    undefined, or with more than 11 different grades.
    """

    n_answers: int
    exact_agreement: Estimate
    kappa: Estimate | None


class SystemBias(msgspec.Struct, frozen=True, kw_only=True):
    """What the judge gives one system beside what people give it, in units of the grades.

    bias: mean of judge minus human; for grades 0 and 1 the difference of the two rates.
    """

    system: str
    n: int
    judge: float
    human: float
    bias: Estimate


class ReportCard(msgspec.Struct, frozen=True, kw_only=True):
    """One judge beside people.

    n: answers with a score of the judge and of people; every number of agreement rests on them.
    statuses: of the judgements of labelled answers; `scored` equals n. n_unlabelled: judgements whose
    answer has no label; n_tied: judgements of answers on which annotators tied; n_unjudged: labelled
    answers without a judgement. threshold: what the judge's scores were cut at, if they were.

    agreement: by name, those that are defined here, the most telling first: `exact agreement`, `kappa`,
    `within one`, `linear kappa`, `quadratic kappa` (these three for more than two grades), `Spearman`,
    `signed error` (judge minus human, above 0 lenient). Intervals are clustered by question.
    categories, confusion: the grades, and how often each pair of them occurs: rows human, columns judge.
    Both are empty where grades cannot be compared; notes say why.

    constant: always the most frequent human grade. no_model: the judge without a language model that
    agrees best with people. better_than_baseline: than both; None if that cannot be told.
    """

    judge: str
    metric: str
    model: str
    prompt_version: int
    n: int
    statuses: dict[Status, int]
    n_unlabelled: int
    n_tied: int
    n_unjudged: int
    scale: tuple[float, float] | None
    threshold: float | None
    agreement: dict[str, Estimate]
    categories: list[float]
    confusion: list[list[int]]
    constant: Baseline | None
    no_model: Baseline | None
    humans: HumanAgreement | None
    by_system: list[SystemBias]
    better_than_baseline: bool | None
    verdict: str
    notes: list[str]
