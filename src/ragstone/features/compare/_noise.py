"""Differences of two runs over all judges, wordings and repeats of a metric: how far the judges make them."""

from collections.abc import Mapping

import msgspec

from ragstone.features.compare.matching import JudgedRun, Matched
from ragstone.kernel.judging.noise import MetricComponents, NoiseTally
from ragstone.kernel.judging.summary import is_category
from ragstone.kernel.records import split_repeat


def difference_components(
    a: JudgedRun, b: JudgedRun, matched: Matched, clusters: Mapping[str, str], *, seed: int = 0
) -> list[MetricComponents]:
    """Return B minus A of each metric that several judges, wordings or repeats measured, in the same cells.

    clusters: question id -> its document or conversation. Empty where each metric was measured once.
    """
    tally, wanted = NoiseTally(clusters), set(matched.ids)
    compared = {key for keys in matched.keys.values() for key in keys}
    pairs = dict.fromkeys(
        (split_repeat(first)[0], split_repeat(second)[0]) for first, second in matched.systems
    )
    ours, others = (side.unfolded or side.judgements for side in (a, b))
    theirs = {
        (row.question_id, *split_repeat(row.system), row.judge, row.metric, row.model): row
        for row in others
        if row.question_id in wanted
    }
    for first, second in pairs:
        for row in ours:
            system, repeat = split_repeat(row.system)
            key = (row.judge, row.metric, row.model)
            other = theirs.get((row.question_id, second, repeat, *key)) if system == first else None
            if other is None or row.score is None or other.score is None or key not in compared:
                continue
            if is_category(row):
                continue
            metadata = {name: value for name, value in (row.metadata or {}).items() if name != "samples"}
            width = row.scale[1] - row.scale[0] if row.scale else None
            tally.add(
                msgspec.structs.replace(
                    row,
                    score=other.score - row.score,
                    scale=None if width is None else (-width, width),
                    label=None,
                    metadata=metadata,
                    usage=row.usage + other.usage if row.usage and other.usage else None,
                    cost_usd=None
                    if row.cost_usd is None or other.cost_usd is None
                    else row.cost_usd + other.cost_usd,
                )
            )
    return tally.components(seed)
