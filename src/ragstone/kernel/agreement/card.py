"""The report card of a judge: what a reader needs to decide how far to trust it."""

from collections.abc import Collection, Mapping
from typing import Literal

import msgspec

from ragstone.kernel.records import Status
from ragstone.kernel.statistics import Calibration, Estimate, SelectiveAccuracy
from ragstone.kernel.tables.shown import Displayed

GRADE_WORDS = {
    "correctness": {0.0: "wrong", 1.0: "right"},
    "preference": {0.0: "the second", 0.5: "a tie", 1.0: "the first"},
}

BEYOND_CHANCE = ("quadratic kappa", "kappa")  # the first is there for more than two grades only


def grade_name(metric: str, grade: float, grades: Collection[float]) -> str:
    """Return what a grade is called beside the others of its scale: a word or its number.

    The metric's words hold for a scale all of whose grades they name: on a scale of 0 to 3 a 1 is not right.
    """
    names = GRADE_WORDS.get(metric, {})
    return names[grade] if grade in names and names.keys() >= {*grades} else f"{grade:g}"


def chance_corrected(agreement: Mapping[str, Estimate]) -> tuple[str, Estimate] | None:
    """Return the measure beyond chance that leads, with its name; None where none is defined.

    For two grades kappa, for more the quadratic one: exact agreement alone flatters a judge (kappa lies 33
    to 41 points below it for 21 judges, Norman, Rivera and Hughes 2026, arXiv 2606.19544).
    """
    return next(((name, agreement[name]) for name in BEYOND_CHANCE if name in agreement), None)


class Baseline(msgspec.Struct, frozen=True, kw_only=True):
    """A cheap rival, on the same answers as the judge.

    name: the judge's name, or in words what is always answered. n: answers that both the rival and the judge
    have scored. exact_agreement: the rival's, judge: the judge's own on these answers. difference:
    judge minus rival, paired, -1 to 1. better: the interval of the difference lies above 0; False if it
    lies below, or if no answer tells them apart; None if it holds 0. Where the difference is the same in
    every cluster there is no interval, and McNemar's exact test decides, each cluster counted once.
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
    undefined, or with more than 11 different grades. alpha: Krippendorff's, without the judge, by name as in
    ReportCard.agreement and on the same answers as there; empty if it is undefined. The other two are of
    every answer in the labels.
    """

    n_answers: int
    exact_agreement: Estimate
    kappa: Estimate | None
    alpha: dict[str, Estimate] = {}


class AnswerGroup(msgspec.Struct, frozen=True, kw_only=True):
    """The judge beside people on some of the answers: those of one system, one language, one value of a tag.

    n: answers; n_questions: different questions among them, the unit that intervals rest on.
    agreement: by name, a kappa (quadratic for more than two grades) and the exact agreement, or Spearman
    where grades cannot be compared; those that are undefined are left out. judge, human: their means; bias:
    mean of judge minus human, for grades 0 and 1 the difference of the two rates; None without a common unit.
    """

    name: str
    n: int
    n_questions: int
    agreement: dict[str, Estimate]
    judge: float
    human: float
    bias: Estimate | None


class GradeAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How the judge treats one grade.

    n_human, n_judge: answers to which people, and the judge, gave it. recall: share of those of people's
    that the judge gave it too; precision: share of those of the judge's that people did. None without any.
    """

    grade: float
    n_human: int
    n_judge: int
    recall: Estimate | None
    precision: Estimate | None


class Reversal(msgspec.Struct, frozen=True, kw_only=True):
    """Two systems that the judge puts in the other order than people.

    better, worse: by people. human, judge: mean of `better` minus mean of `worse`, by each of them.
    """

    better: str
    worse: str
    human: Estimate
    judge: Estimate


class SystemRanking(msgspec.Struct, frozen=True, kw_only=True):
    """Whether the order of the systems survives when the judge takes people's place.

    by_people, by_judge: systems, highest mean first. tied_by_people, tied_by_judge: those of them with the
    same mean, in that order; a tie ranks nothing, so the order inside such a group means nothing. tau:
    Kendall's tau-b of the two orders, see statistics.orders; None if one of them is all ties. n_pairs: pairs
    of systems. reversals: those whose order is reversed, the widest apart by people first. same_best: share
    of bootstrap resamples in which the judge's best is people's best.
    """

    by_people: list[str]
    by_judge: list[str]
    tied_by_people: list[list[str]] = []
    tied_by_judge: list[list[str]] = []
    tau: Estimate | None
    n_pairs: int
    reversals: list[Reversal]
    same_best: float


class Disagreement(msgspec.Struct, frozen=True, kw_only=True):
    """An answer on which judge and people are far apart.

    human, judge: the grade of people and the score of the judge as it gave it. grades: what each annotator
    gave; divided: they differ among themselves. Texts are there as far as the labels carry them, cut after
    600 characters.
    """

    question_id: str
    system: str
    human: float
    judge: float
    grades: list[float]
    divided: bool
    question: str | None = None
    answer: str | None = None
    reference: str | None = None
    human_reasons: list[str] = []
    judge_reason: str | None = None


ProtocolState = Literal["met", "not met", "not applicable"]


class ProtocolItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item of the validation of a judge: `met` only where it was measured and speaks for the judge.

    why: what is known, in a sentence; next: what to run to meet it, empty where nothing is to do.
    """

    item: str
    state: ProtocolState
    why: str
    next: str = ""


class ReportCard(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """One judge compared with people.

    n: answers with a score of the judge and of people; every number of agreement rests on them, and alpha
    on those too on which annotators tied.
    statuses: of the judgements of labelled answers; `scored` equals n. n_unlabelled: judgements whose
    answer has no label; n_tied: judgements of answers on which annotators tied; n_unjudged: labelled
    answers without a judgement; n_tuned: labelled answers left out because the judge was made with their
    questions. threshold: what the judge's scores were cut at, if they were.

    agreement: by name, those that are defined here, the most telling first: `quadratic kappa` (for more than
    two grades), `kappa`, `linear kappa`, `exact agreement`, `within one` (for more than two grades), `alpha`
    (Krippendorff's, the judge as one more rater; for more than two grades `nominal alpha`, `ordinal alpha`,
    `interval alpha`), `Pearson`, `Spearman`, `Kendall tau-b`, `ROC AUC` (of the scores as given, for labels
    of 0 and 1), `signed error` (judge minus human, above 0 lenient). Intervals are clustered by question.
    categories, names, confusion: the grades, what they are called, and how often each pair of them occurs:
    rows human, columns judge. Empty where grades cannot be compared; notes say why.
    per_grade: one for each grade. calibration, selective: of scores that can be read as probabilities;
    probability_of: what they are the probability of, `its grade` being the likeliest of a judge that gives
    one to each grade. probability_notes: what may be said of them. usd_per_1000: US dollars for 1,000
    verdicts, the mean of these; None where a price is unknown, or may be that of other judges too, which were
    asked in the same requests.

    constant: always the most frequent human grade. no_model: the judge without a language model that
    agrees best with people. better_than_baseline: than both; None if that cannot be told.
    by_system, by: groups of answers, by the system that gave them and by tags (`lang`, …); the largest first
    in `by`. ranking: None with a single system. disagreements: the most instructive ones, at most 10.
    length_slope: by how much judge minus people moves when an answer is twice as long, as a share of the
    scale; None without texts. order_flips: of a judge of pairs, the share of pairs whose winner changed with
    the order.
    protocol: what was done to validate the judge, item by item; empty in cards of earlier versions.
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
    by_system: list[AnswerGroup]
    better_than_baseline: bool | None
    verdict: str
    notes: list[str]
    n_tuned: int = 0
    names: list[str] = []
    per_grade: list[GradeAgreement] = []
    calibration: Calibration | None = None
    by: dict[str, list[AnswerGroup]] = {}
    ranking: SystemRanking | None = None
    disagreements: list[Disagreement] = []
    length_slope: Estimate | None = None
    order_flips: Estimate | None = None
    protocol: list[ProtocolItem] = []
    selective: SelectiveAccuracy | None = None
    probability_of: Literal["label 1", "its grade"] = "label 1"
    probability_notes: list[str] = []
    usd_per_1000: float | None = None

    @property
    def lead(self) -> tuple[str, Estimate] | None:
        """The measure to show first, with its name: beyond chance where one is defined; None without any."""
        return chance_corrected(self.agreement) or next(iter(self.agreement.items()), None)
