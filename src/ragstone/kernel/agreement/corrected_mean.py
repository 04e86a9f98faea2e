"""A corrected mean: what people would say of all answers, as a value and in words."""

from collections.abc import Callable

import msgspec

from ragstone.kernel.decimals import decimal
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence, say
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.shown import Displayed

FEW_LABELS = 20  # below, an interval is rough, and what it says of the judge's worth is chance
RANDOM_SAMPLE = (
    "Corrected means hold if the labelled answers are a random sample of each system's answers, "
    "such as `ragstone label` draws."
)


class CorrectedMean(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """The mean of one system by one judge, and what people's labels of some of its answers make of it.

    raw: the judge's own mean; human: that of the labels alone; corrected: prediction-powered, from both. The
    last two are in the unit of the labels; same_unit: so is raw. threshold: what the judge's scores were cut
    at, if they were; then raw is the share of those that reach it. n_labelled: answers with a score of both;
    n_rows: with one of the judge, which all three means speak of. weight: how much of the judge's scores is
    used; with 0 corrected is human. worth: labels that would give the corrected
    interval without a judge. to_halve: labels in all that would halve it; None where not even a label for
    each of the n_rows would. sentence: all this in words. notes: what to know before trusting it.
    """

    judge: str
    metric: str
    model: str
    prompt_version: int
    system: str
    raw: Estimate
    corrected: Estimate
    human: Estimate
    same_unit: bool
    threshold: float | None
    n_labelled: int
    n_rows: int
    weight: float
    worth: float
    to_halve: int | None
    sentence: str
    notes: list[str]


def sentence_of(mean: CorrectedMean) -> str:
    """Return what people would say of these answers, how sure that is, and what would make it surer."""
    gain, more = say(mean, NO_SURER, WORTH), say(mean, CANNOT_HALVE, HALVE)
    return " ".join(filter(None, (people_would_give(mean), gain, more)))


def people_would_give(mean: CorrectedMean) -> str:
    """Return the first sentence of it: the corrected mean beside the judge's."""
    return say(mean, OTHER_SCALE, TOO_HIGH, TOO_LOW, BESIDE)


def precise(value: float) -> str:
    """Return a value with three decimals, one from 20 on."""
    return decimal(value, 1 if abs(value) >= 20 else 3)


def _fills(mean: CorrectedMean) -> dict[str, str]:
    low, high = mean.corrected.low, mean.corrected.high
    interval = "no interval: all labels are alike, or belong to one question"
    if low is not None and high is not None:
        places = 1 if max(abs(low), abs(high)) >= 20 else 3
        ends = f"{decimal(low, places)} to {decimal(high, places)}"
        interval = f"{mean.corrected.level * 100:g} % interval {ends}"
    return {
        "corrected": f"{precise(mean.corrected.value)} ({interval})",
        "raw": precise(mean.raw.value),
        "labels": plural(mean.n_labelled, "label"),
        "worth": f"{round(mean.worth):,}",
        "rows": f"{mean.n_rows:,}",
        "needed": f"{mean.to_halve:,}" if mean.to_halve is not None else "",
    }


def _side(mean: CorrectedMean) -> int:
    """Return 1 where the judge's mean lies above the corrected interval, -1 below it, else 0."""
    raw, low, high = mean.raw.value, mean.corrected.low, mean.corrected.high
    if not mean.same_unit or low is None or high is None or low <= raw <= high:
        return 0
    return 1 if raw > high else -1


GIVES = "People would give {corrected}; the judge gives {raw}"
GIVEN = {
    "corrected": "the corrected mean, in the unit of the labels, with its interval",
    "raw": "the judge's own mean",
}
CODES = ("corrected-other-scale", "corrected-judge-too-high", "corrected-judge-too-low", "corrected-mean")


def _mean(code: str, rest: str, when: str, holds: Callable[[CorrectedMean], bool]) -> Sentence[CorrectedMean]:
    others = tuple(other for other in CODES if other != code)
    return Sentence[CorrectedMean](
        code=code, text=GIVES + rest, when=when, holds=holds, needs=GIVEN, fills=_fills, never_beside=others
    )


OTHER_SCALE = _mean(
    CODES[0], ", on another scale.", "scores and labels have no common unit", lambda mean: not mean.same_unit
)
TOO_HIGH = _mean(
    CODES[1],
    ", which is too high.",
    "the judge's mean lies above the interval of the corrected one",
    lambda mean: _side(mean) > 0,
)
TOO_LOW = _mean(
    CODES[2],
    ", which is too low.",
    "the judge's mean lies below the interval of the corrected one",
    lambda mean: _side(mean) < 0,
)
BESIDE = _mean(
    CODES[3],
    ".",
    "scores and labels have one unit, and the judge's mean lies within the interval, or there is none",
    lambda mean: mean.same_unit and not _side(mean),
)
NO_SURER = Sentence[CorrectedMean](
    code="corrected-no-surer",
    text="The judge's scores add no precision beyond {labels} alone.",
    when="there are 20 labels or more, and those that would give this interval without a judge are no more",
    holds=lambda mean: mean.n_labelled >= FEW_LABELS and round(mean.worth) <= mean.n_labelled,
    needs={"labels": "labelled answers"},
    fills=_fills,
    never_beside=("corrected-worth",),
)
WORTH = Sentence[CorrectedMean](
    code="corrected-worth",
    text="With the judge's scores, {labels} are worth {worth}.",
    when="there are 20 labels or more, and those that would give this interval without a judge are more",
    holds=lambda mean: mean.n_labelled >= FEW_LABELS and round(mean.worth) > mean.n_labelled,
    needs={"labels": "labelled answers", "worth": "labels that would give this interval without a judge"},
    fills=_fills,
    never_beside=("corrected-no-surer",),
)
CANNOT_HALVE = Sentence[CorrectedMean](
    code="corrected-cannot-halve",
    text="More labels alone cannot halve the interval: {rows} answers are too few for that, even with "
    "all of them labelled.",
    when="there is an interval, from 20 labels or more, and a label for each answer would not halve it",
    holds=lambda mean: (
        mean.n_labelled >= FEW_LABELS and mean.corrected.low is not None and mean.to_halve is None
    ),
    needs={"rows": "judged answers"},
    fills=_fills,
    never_beside=("corrected-to-halve",),
)
HALVE = Sentence[CorrectedMean](
    code="corrected-to-halve",
    text="Halving the interval takes about {needed} labels in all.",
    when="there is an interval, and that many labels would halve it",
    holds=lambda mean: mean.corrected.low is not None and mean.to_halve is not None,
    needs={"needed": "labels in all"},
    fills=_fills,
    never_beside=("corrected-cannot-halve",),
)
SENTENCES = (OTHER_SCALE, TOO_HIGH, TOO_LOW, BESIDE, NO_SURER, WORTH, CANNOT_HALVE, HALVE)
