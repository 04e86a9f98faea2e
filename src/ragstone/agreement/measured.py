"""One judge's rows -> its pairs with people's grades, and the footing on which they are compared."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from ragstone.agreement.comparison import Comparison, Scale, compare
from ragstone.agreement.pairing import Human, Key, Pairs, pair
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
    scale = next((row.scale for row in rows if row.scale), None)
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


def hits(one: Measured) -> dict[Key, float]:
    """Return 1 for each answer that got the human grade, else 0; empty if grades cannot be compared."""
    if one.comparison is None or not one.comparison.categories:
        return {}
    matches = exact_matches(one.comparison.human, one.comparison.judge)
    return dict(zip(one.pairs.keys, matches.tolist(), strict=True))
