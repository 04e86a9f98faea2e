"""A corrected mean: what people would say of all answers, as a value and in words."""

import msgspec

from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.shown import Displayed

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
    labels = "1 label" if mean.n_labelled == 1 else f"{mean.n_labelled:,} labels"
    gain = f"With the judge, {labels} are worth {round(mean.worth):,}."
    if round(mean.worth) <= mean.n_labelled:
        gain = f"The judge's scores make it no surer than {labels} alone."
    return " ".join([people_would_give(mean), gain, _more(mean)]).strip()


def people_would_give(mean: CorrectedMean) -> str:
    """Return the first sentence of it: the corrected mean beside the judge's."""
    return f"{_estimate(mean)}; {_beside(mean)}."


def _estimate(mean: CorrectedMean) -> str:
    low, high = mean.corrected.low, mean.corrected.high
    if low is None or high is None:
        interval = "no interval: all labels are alike, or of one question"
    else:
        interval = f"{mean.corrected.level * 100:g} % interval {precise(low)} to {precise(high)}"
    return f"People would give {precise(mean.corrected.value)} ({interval})"


def _beside(mean: CorrectedMean) -> str:
    raw, low, high = mean.raw.value, mean.corrected.low, mean.corrected.high
    if not mean.same_unit:
        return f"the judge gives {precise(raw)}, on another scale"
    if low is None or high is None or low <= raw <= high:
        return f"the judge gives {precise(raw)}"
    return f"the judge gives {precise(raw)}, which is too {'high' if raw > high else 'low'}"


def _more(mean: CorrectedMean) -> str:
    if mean.corrected.low is None:
        return ""
    if mean.to_halve is None:
        return (
            f"More labels alone cannot halve the interval: {mean.n_rows:,} answers are too few for that, "
            "however many of them are labelled."
        )
    return f"To halve the interval takes about {mean.to_halve:,} labels in all."


def precise(value: float) -> str:
    """Return a value with three decimals, one from 20 on."""
    text = f"{value:z.1f}" if abs(value) >= 20 else f"{value:z.3f}"
    return text.replace("-", "−")
