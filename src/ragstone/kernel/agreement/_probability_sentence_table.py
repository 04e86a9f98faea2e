"""What a report card may say of a judge's probabilities: each sentence with its condition."""

import msgspec

from ragstone.kernel.decimals import signed_decimal, signed_decimals
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence, others
from ragstone.kernel.statistics import Calibration, Estimate, SelectiveAccuracy
from ragstone.kernel.statistics.estimate import FEW_CLUSTERS
from ragstone.kernel.statistics.selective import SelectivePoint

LEAST_LABELS = 50  # answers; with fewer the interval of the calibration error is no narrower than 0.15
BOUND = 0.05  # an average distance that does not matter for reading a probability
NEAR = 0.7, 0.9  # coverages that may be called "the answers that it is surest of"
WANTED = 0.8


class ProbabilitiesBesidePeople(msgspec.Struct, frozen=True, kw_only=True):
    """What a card may say of probabilities rests on.

    n, n_clusters: answers, and different questions. given: the judge means its scores as probabilities.
    middle: its verdicts are cut at the middle of its scale, for nobody gave a threshold.
    """

    calibration: Calibration
    selective: SelectiveAccuracy | None
    n: int
    n_clusters: int
    given: bool = True
    middle: bool = False

    @property
    def scores(self) -> str:
        return "Its probabilities" if self.given else "Its scores, read as probabilities,"

    @property
    def enough(self) -> bool:
        return self.n >= LEAST_LABELS and self.n_clusters >= FEW_CLUSTERS

    @property
    def constant(self) -> bool:
        return self.calibration.distinct == 1

    @property
    def ends(self) -> tuple[float, float] | None:
        """The interval of the calibration error, where it may be spoken of."""
        low, high = self.calibration.error.low, self.calibration.error.high
        if not self.enough or self.constant or low is None or high is None:
            return None
        return low, high

    @property
    def tells(self) -> bool:
        """Whether the probabilities have a Brier score shown to be better than that of the share."""
        skill = self.calibration.skill
        return skill is not None and skill.low is not None and skill.low > 0

    def lean(self, *, up: bool) -> bool:
        lean = self.calibration.lean
        if not self.enough or lean is None or lean.low is None or lean.high is None:
            return False
        return lean.low > 0 if up else lean.high < 0

    def surest(self, more: bool | None) -> bool:
        """Return whether it is right more often (True), less often, or neither, where it is surest."""
        if not (self.enough and self.points):
            return False
        gap = self.points[0].more
        if gap is None or gap.low is None or gap.high is None:
            return more is None
        return (True if gap.low > 0 else False if gap.high < 0 else None) is more

    @property
    def points(self) -> list[SelectivePoint]:
        """The point of the curve that is nearest to 80 %; empty if none is near."""
        points = self.selective.points if self.selective else []
        near = [point for point in points if NEAR[0] <= point.coverage <= NEAR[1]]
        return sorted(near, key=lambda point: abs(point.coverage - WANTED))[:1]


Facts = ProbabilitiesBesidePeople
CALIBRATED = (
    "probabilities-few-labels",
    "probabilities-constant",
    "probabilities-off",
    "probabilities-tell-no-more",
    "probabilities-hold",
    "probabilities-cannot-tell",
)


def _error(facts: Facts) -> dict[str, str]:
    error, skill = facts.calibration.error, facts.calibration.skill
    return {
        "error": _value(error.value),
        "ends": _ends(error),
        "n": f"{facts.n:,}",
        "scores": facts.scores,
        "brier": _value(facts.calibration.brier.value),
        "share": _value(facts.calibration.rate_brier),
        "gap": "" if skill is None else f"{signed_decimal(skill.value, 3)}, {_ends(skill, signed=True)}",
    }


SCORES = {"scores": "`Its probabilities`, or `Its scores, read as probabilities,` of a judge that gives none"}
ERROR = {
    "error": "the expected calibration error, 0 to 1",
    "ends": "its interval",
    "n": "answers with a probability and a label",
}
FEW_LABELS = Sentence[Facts](
    code="probabilities-few-labels",
    text="Too few labels to say how far its scores can be read as probabilities: {n} to {questions}.",
    when=f"fewer than {LEAST_LABELS} answers or {FEW_CLUSTERS} questions have a probability and a label",
    holds=lambda facts: not facts.enough,
    needs={"n": ERROR["n"], "questions": "different questions among them"},
    fills=lambda facts: {"n": plural(facts.n, "answer"), "questions": plural(facts.n_clusters, "question")},
    never_beside=(
        *others(CALIBRATED, "probabilities-few-labels"),
        "surest-more-often-right",
        "surest-not-shown",
    ),
)
CONSTANT = Sentence[Facts](
    code="probabilities-constant",
    text="It gives every answer the probability {probability}, which tells no answers apart, however small "
    "its calibration error is.",
    when=f"all probabilities are equal, on at least {LEAST_LABELS} answers",
    holds=lambda facts: facts.enough and facts.constant,
    needs={"probability": "the one that it gives"},
    fills=lambda facts: {"probability": f"{facts.calibration.bins[0].mean:.2f}"},
    never_beside=(*others(CALIBRATED, "probabilities-constant"), "surest-more-often-right"),
)
OFF = Sentence[Facts](
    code="probabilities-off",
    text="{scores} are {error} off on average ({ends}), on {n} answers.",
    when=f"the interval of the calibration error is above {BOUND}",
    holds=lambda facts: facts.ends is not None and facts.ends[0] > BOUND,
    needs={**SCORES, **ERROR},
    fills=_error,
    never_beside=others(CALIBRATED, "probabilities-off"),
)
TELL_NO_MORE = Sentence[Facts](
    code="probabilities-tell-no-more",
    text="Not shown to be closer to people's labels than always giving the share of right answers (Brier "
    "score {brier}; of the share alone {share}; difference {gap}). A small calibration error then means "
    "little, because the share alone has none.",
    when=f"the interval of the calibration error is not above {BOUND}, and that of the Brier score of the "
    "share minus the judge's is not above 0",
    holds=lambda facts: facts.ends is not None and facts.ends[0] <= BOUND and not facts.tells,
    needs={
        "brier": "Brier score of the probabilities, 0 best",
        "share": "that of the share of right answers, given to every answer",
        "gap": "the second minus the first, with its interval",
    },
    fills=_error,
    never_beside=others(CALIBRATED, "probabilities-tell-no-more"),
)
HOLD = Sentence[Facts](
    code="probabilities-hold",
    text=f"{{scores}} are {{error}} off on average ({{ends}}), on {{n}} answers: at most {BOUND}, and they "
    "are closer to people's labels than always giving the share of right answers.",
    when=f"the interval of the calibration error ends at {BOUND} or below, and that of the Brier score of "
    "the share minus the judge's is above 0",
    holds=lambda facts: facts.ends is not None and facts.ends[1] <= BOUND and facts.tells,
    needs={**SCORES, **ERROR},
    fills=_error,
    never_beside=others(CALIBRATED, "probabilities-hold"),
)
CANNOT_TELL = Sentence[Facts](
    code="probabilities-cannot-tell",
    text=f"{{scores}} are {{error}} off on average ({{ends}}), on {{n}} answers: cannot tell whether more "
    f"than {BOUND}.",
    when=f"the interval of the calibration error holds {BOUND}, and that of the Brier score of the share "
    "minus the judge's is above 0",
    holds=lambda facts: facts.ends is not None and facts.ends[0] <= BOUND < facts.ends[1] and facts.tells,
    needs={**SCORES, **ERROR},
    fills=_error,
    never_beside=others(CALIBRATED, "probabilities-cannot-tell"),
)


def _lean(facts: Facts) -> dict[str, str]:
    lean = facts.calibration.lean
    return {} if lean is None else {"lean": _value(abs(lean.value)), "ends": _ends(lean, signed=True)}


LEAN = {
    "lean": "mean probability minus the share of right answers, without its sign",
    "ends": "the interval of this difference, with its signs",
}
TOO_HIGH = Sentence[Facts](
    code="probabilities-too-high",
    text="Overall, they are too high by {lean} (difference {ends}).",
    when=f"on at least {LEAST_LABELS} answers the interval of the mean probability minus the share of right "
    "answers is above 0",
    holds=lambda facts: facts.lean(up=True),
    needs=LEAN,
    fills=_lean,
    never_beside=("probabilities-too-low", "probabilities-few-labels"),
)
TOO_LOW = Sentence[Facts](
    code="probabilities-too-low",
    text="Overall, they are too low by {lean} (difference {ends}).",
    when="as probabilities-too-high, the interval being below 0",
    holds=lambda facts: facts.lean(up=False),
    needs=LEAN,
    fills=_lean,
    never_beside=("probabilities-too-high", "probabilities-few-labels"),
)


def _surest(facts: Facts) -> dict[str, str]:
    if facts.selective is None:
        return {}
    [point] = facts.points
    return {
        "coverage": _percent(point.coverage),
        "sure": f"{point.sure:.2f}",
        "right": f"{_percent(point.right.value)} ({_ends(point.right, percent=True)})",
        "all": _percent(facts.selective.right.value),
    }


SUREST = {
    "coverage": "share of the answers, in percent",
    "sure": "the least probability that it gives its verdict on one of them",
    "right": "share of its verdicts on them that people share, with its interval",
    "all": "the same share of all its verdicts",
}
SURESTS = ("surest-more-often-right", "surest-less-often-right", "surest-not-shown")
SUREST_RIGHT = Sentence[Facts](
    code="surest-more-often-right",
    text="Of the {coverage} of answers that it is surest of (probability of its verdict {sure} or more), "
    "people share its verdict on {right}; of all answers, on {all}.",
    when=f"on at least {LEAST_LABELS} answers the surest 70 to 90 % can be separated from the rest, and the "
    "interval of their share of right verdicts minus that of all is above 0",
    holds=lambda facts: facts.surest(True),
    needs=SUREST,
    fills=_surest,
    never_beside=others(SURESTS, "surest-more-often-right"),
)
SUREST_WRONG = Sentence[Facts](
    code="surest-less-often-right",
    text="Its verdicts on the {coverage} of answers that it is surest of are wrong more often: people share "
    "its verdict on {right}; of all answers, on {all}.",
    when="as surest-more-often-right, the interval being below 0",
    holds=lambda facts: facts.surest(False),
    needs={name: SUREST[name] for name in ("coverage", "right", "all")},
    fills=_surest,
    never_beside=others(SURESTS, "surest-less-often-right"),
)
SUREST_NOT_SHOWN = Sentence[Facts](
    code="surest-not-shown",
    text="Its verdicts on the {coverage} of answers that it is surest of are not shown to be right more "
    "often: people share its verdict on {right}; of all answers, on {all}.",
    when="as surest-more-often-right, the interval holding 0, or none being there",
    holds=lambda facts: facts.surest(None),
    needs={name: SUREST[name] for name in ("coverage", "right", "all")},
    fills=_surest,
    never_beside=others(SURESTS, "surest-not-shown"),
)

VERDICT_FROM_HALF = Sentence[Facts](
    code="verdict-from-half",
    text="No threshold was given, so {half} or more counts as a yes here.",
    when="the surest answers are spoken of, and the verdicts are cut at the middle of the scale",
    holds=lambda facts: facts.middle and any(facts.surest(more) for more in (True, False, None)),
    needs={"half": "the probability at the middle of the scale"},
    fills=lambda _facts: {"half": "0.5"},
    never_beside=("probabilities-few-labels",),
)


def _ends(estimate: Estimate, *, signed: bool = False, percent: bool = False) -> str:
    if estimate.low is None or estimate.high is None:
        return "no interval"
    show = _percent if percent else _value
    ends = f"{show(estimate.low)} to {show(estimate.high)}"
    if signed:
        ends = signed_decimals(estimate.low, estimate.high, 3)
    return f"{estimate.level * 100:g} % interval {ends}"


def _value(value: float) -> str:
    return f"{value:.3f}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


OF_CALIBRATION = (FEW_LABELS, CONSTANT, OFF, TELL_NO_MORE, HOLD, CANNOT_TELL)
OF_LEAN = (TOO_HIGH, TOO_LOW)
OF_SUREST = (SUREST_RIGHT, SUREST_WRONG, SUREST_NOT_SHOWN)
OF_VERDICT = (VERDICT_FROM_HALF,)
SENTENCES = (*OF_CALIBRATION, *OF_LEAN, *OF_SUREST, *OF_VERDICT)
