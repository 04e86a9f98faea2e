"""One judge's rows -> its pairs with people's grades, and the footing on which they are compared."""

import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragstone.agreement.comparison import Comparison, Scale, compare
from ragstone.agreement.pairing import Human, Key, Pairs, pair
from ragstone.errors import DataError
from ragstone.records import Judgement
from ragstone.statistics import exact_matches

PREFERENCE = "preference"  # the metric of judges that say which of two answers is better


class JudgeId(msgspec.Struct, frozen=True):
    """What makes two judgements the work of one judge. A prompt with another version is another judge."""

    judge: str
    metric: str
    model: str
    prompt_version: int


class Measured(msgspec.Struct, frozen=True, eq=False):
    """A judge's pairs and their footing; comparison is None if there is no pair."""

    judge: JudgeId
    scale: Scale
    pairs: Pairs
    comparison: Comparison | None


def by_judge(judgements: Iterable[Judgement]) -> dict[JudgeId, list[Judgement]]:
    """Return the judgements of each judge, in order of first appearance."""
    rows_of: dict[JudgeId, list[Judgement]] = {}
    for row in judgements:
        judge = JudgeId(row.judge, row.metric, row.model, row.prompt_version)
        rows_of.setdefault(judge, []).append(row)
    return rows_of


def measure(
    judge: JudgeId,
    rows: Sequence[Judgement],
    humans: Mapping[Key, Human],
    *,
    mapped: bool,
    threshold: float | None,
) -> Measured:
    """Return a judge's rows beside people's grades. mapped, threshold: see comparison.compare."""
    pairs = pair(rows, humans)
    scale = _scale(rows)
    if not pairs.keys:
        return Measured(judge, scale, pairs, None)
    comparison = compare(
        pairs.human,
        pairs.judge,
        scale,
        mapped=mapped,
        threshold=threshold,
        pairwise=judge.metric == PREFERENCE,
    )
    return Measured(judge, scale, pairs, comparison)


Threshold = float | Mapping[str, float] | None


def threshold_of(judge: JudgeId, threshold: Threshold) -> float | None:
    """Return where this judge's scores are cut. threshold: one for all judges, or judge -> its own."""
    return threshold.get(judge.judge) if isinstance(threshold, Mapping) else threshold


def check_thresholds(threshold: Threshold, rows_of: Mapping[JudgeId, Sequence[Judgement]]) -> None:
    """Raise DataError for a threshold that is no finite number, or lies off the scale of a judge it names.

    One for all judges may lie off the scale of some: their cards say so. A judge of several metrics needs one
    that fits one of them.
    """
    if not isinstance(threshold, Mapping):
        if threshold is not None and not math.isfinite(threshold):
            raise DataError(
                f"threshold {threshold:g} is no finite number: give a score of the judges' scale."
            )
        return
    for name, cut in threshold.items():
        scales = [_scale(rows) for judge, rows in rows_of.items() if judge.judge == name]
        known = [scale for scale in scales if scale]
        if not known and not math.isfinite(cut):
            raise DataError(
                f"threshold {cut:g} of judge {name!r} is no finite number: give one of its scores."
            )
        if known and len(known) == len(scales) and not any(fits(cut, scale) for scale in known):
            raise DataError(off_scale(name, cut, known[0]))


def fits(threshold: float, scale: tuple[float, float]) -> bool:
    """Return whether scores of this scale lie on both sides of the threshold."""
    return scale[0] < threshold <= scale[1]


def off_scale(judge: str, threshold: float, scale: tuple[float, float]) -> str:
    """Return why a threshold cannot be, and what can."""
    low, high = scale
    return (
        f"threshold {threshold:g} of judge {judge!r}: its scale is {low:g} to {high:g}, so every answer "
        f"would get the same grade. Give a score above {low:g} and at most {high:g}, or none."
    )


def _scale(rows: Sequence[Judgement]) -> Scale:
    return next((row.scale for row in rows if row.scale), None)


def hits(one: Measured) -> dict[Key, float]:
    """Return 1 for each answer that got the human grade, else 0; empty if grades cannot be compared."""
    if one.comparison is None or not one.comparison.categories:
        return {}
    matches = exact_matches(one.comparison.human, one.comparison.judge)
    return dict(zip(one.pairs.keys, matches.tolist(), strict=True))
