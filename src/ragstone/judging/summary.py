"""Judgements -> one mean a judge and system, beside its denominator and the count of every status."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import msgspec

from ragstone.records import Judgement, Status, count_statuses
from ragstone.statistics import Estimate, mean_estimate


class MetricSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The mean of one judge's scores of one system.

    estimate: the mean of the scored rows, in the units of `scale`, with its interval; None if no row was
    scored. statuses: how many of the `n_rows` judgements ended in each status; the mean's denominator is
    `statuses["scored"]`.
    """

    system: str
    judge: str
    metric: str
    model: str
    prompt_version: int
    scale: tuple[float, float] | None
    estimate: Estimate | None
    n_rows: int
    statuses: dict[Status, int]


def summarise(
    judgements: Iterable[Judgement],
    *,
    clusters: Mapping[str, str] | None = None,
    seed: int = 0,
) -> list[MetricSummary]:
    """Return a summary for each (system, judge, metric, model), in order of first appearance.

    clusters: question id -> what it shares with others (its document), for honest intervals; a question
    that is not in it stands alone.
    """
    groups: dict[tuple[str, str, str, str], list[Judgement]] = defaultdict(list)
    for row in judgements:
        groups[row.system, row.judge, row.metric, row.model].append(row)
    return [_summarise(rows, clusters or {}, seed) for rows in groups.values()]


def _summarise(rows: list[Judgement], clusters: Mapping[str, str], seed: int) -> MetricSummary:
    scored = [row for row in rows if row.score is not None]
    return MetricSummary(
        system=rows[0].system,
        judge=rows[0].judge,
        metric=rows[0].metric,
        model=rows[0].model,
        prompt_version=rows[0].prompt_version,
        scale=next((row.scale for row in rows if row.scale), None),
        estimate=mean_estimate(
            [row.score for row in scored if row.score is not None],
            [clusters.get(row.question_id, row.question_id) for row in scored],
            seed=seed,
        ),
        n_rows=len(rows),
        statuses=count_statuses(rows),
    )
