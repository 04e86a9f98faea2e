"""What the plot of a judge's probabilities may say of what is to be seen in it, each with its condition."""

from ragstone.kernel.document.numbers import count, percent, percent_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import Sentence
from ragstone.kernel.statistics import Calibration
from ragstone.kernel.statistics.calibration import ReliabilityBin


def _with_intervals(calibration: Calibration) -> list[ReliabilityBin]:
    return [part for part in calibration.bins if part.right.low is not None and part.right.high is not None]


def _off(calibration: Calibration) -> list[ReliabilityBin]:
    """Return the bins whose interval does not hold the judge's mean, that with the largest distance first."""
    off = [
        part
        for part in _with_intervals(calibration)
        if not (part.right.low or 0.0) <= part.mean <= (part.right.high or 0.0)
    ]
    return sorted(off, key=lambda part: -abs(part.mean - part.right.value))


def _furthest(calibration: Calibration) -> dict[str, str]:
    off = _off(calibration)
    part = off[0]
    return {
        "off": count(len(off)),
        "bins": plural(len(_with_intervals(calibration)), "bin"),
        "says": percent(part.mean),
        "people": percent(part.right.value),
        "ends": percent_ends(part.right),
        "answers": plural(part.right.n, "answer"),
    }


BINS = "bins of answers that have an interval"
OFF = Sentence[Calibration](
    code="calibration-bins-off",
    text="In {off} of {bins}, what the judge says is outside the interval of what people say. The largest "
    "gap: the judge says {says} on average, people say {people} ({ends}), on {answers}.",
    when="in at least one bin the 95 % interval of people's share does not hold the judge's mean",
    holds=lambda calibration: bool(_off(calibration)),
    needs={
        "off": "bins where it does not",
        "bins": BINS,
        "says": "mean of what the judge says in the bin where the distance is largest, in per cent",
        "people": "people's share of the same answers",
        "ends": "its 95 % interval",
        "answers": "answers of the bin",
    },
    fills=_furthest,
)


def _widest(calibration: Calibration) -> dict[str, str]:
    bins = _with_intervals(calibration)
    part = max(bins, key=lambda part: (part.right.high or 0.0) - (part.right.low or 0.0))
    return {
        "bins": plural(len(bins), "bin"),
        "ends": percent_ends(part.right),
        "answers": plural(part.right.n, "answer"),
    }


HOLD = Sentence[Calibration](
    code="calibration-bins-hold",
    text="In each of {bins}, what the judge says is inside the interval of what people say; the widest "
    "interval is {ends}, on {answers}.",
    when="two bins or more have an interval, and each holds the judge's mean",
    holds=lambda calibration: len(_with_intervals(calibration)) > 1 and not _off(calibration),
    needs={
        "bins": BINS,
        "ends": "the 95 % interval of people's share that is widest",
        "answers": "answers of that bin",
    },
    fills=_widest,
    never_beside=("calibration-bins-off",),
)
SENTENCES = (OFF, HOLD)
