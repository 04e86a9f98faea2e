"""The charts of a report: means, tags, how scores lie, agreement with people."""

from collections.abc import Sequence

from ragstone.features.report._chart_sentence_table import ALIKE, CONSTANT, OUTER, WIDEST, DrawnMeans
from ragstone.kernel.agreement.card import ReportCard, chance_corrected
from ragstone.kernel.document.plots.values import Intervals, Plot, PlotPoint, ShareRow, Shares
from ragstone.kernel.judging.summary import MetricSummary
from ragstone.kernel.runs.breakdown import Distribution, GroupedMeans
from ragstone.kernel.runs.wording import judge_name
from ragstone.kernel.sentences import say

SHOWN_VALUES = 30  # values of a tag in one chart: of more, those with the most rows
SHARE_OF_SCALE = "share of the judge's scale, with the 95 % interval"
SHOWN_CARDS = 3  # whose agreement is told beside the chart


def means_chart(metrics: Sequence[MetricSummary]) -> Plot | None:
    """Return every judge's mean as a share of its scale, with its interval; None of fewer than two."""
    points = [point for metric in metrics if (point := _on_scale(metric, judge_name(metric)))]
    if len(points) < 2:
        return None
    return Plot(
        name="means",
        title="Mean scores, with their intervals",
        figure=Intervals(points=points, axis=SHARE_OF_SCALE, of="Judge", by="System", ends=(0.0, 1.0)),
        said=_said(say(DrawnMeans(points), WIDEST)),
        where="page",
        in_markdown=True,
    )


def tag_charts(
    groupings: Sequence[GroupedMeans], leads: Sequence[MetricSummary]
) -> list[tuple[GroupedMeans, Plot]]:
    """Return each grouping with the chart of the headline means in its groups."""
    keys = {(lead.system, lead.judge, lead.metric, lead.model) for lead in leads}
    judges = list(dict.fromkeys(judge_name(lead) for lead in leads))
    charts = []
    for at, grouping in enumerate(groupings):
        points = [
            point
            for value, metrics in grouping.groups.items()
            for metric in metrics
            if (metric.system, metric.judge, metric.metric, metric.model) in keys
            if (point := _on_scale(metric, value, by_judge=len(judges) > 1))
        ]
        largest = _largest(points)
        if largest:
            by = "Judge" if len(judges) > 1 else "System"
            figure = Intervals(points=largest, axis=SHARE_OF_SCALE, of=grouping.by, by=by, ends=(0.0, 1.0))
            title = f"{' / '.join(judges)} by {grouping.by}"
            drawn = DrawnMeans(largest, n_left_out=len(points) - len(largest))
            sentences = _said(say(drawn, OUTER))
            charts.append(
                (
                    grouping,
                    Plot(
                        name=f"tag-{at}",
                        title=title,
                        figure=figure,
                        said=sentences,
                        where="page",
                        in_markdown=True,
                    ),
                )
            )
    return charts


def distribution_chart(distributions: Sequence[Distribution]) -> Plot | None:
    """Return how many rows have each score, as shares of each judge's rows; None where nothing was scored."""
    several = len({each.system for each in distributions}) > 1
    first = {
        key: at for at, key in enumerate(dict.fromkeys((each.judge, each.metric) for each in distributions))
    }
    ordered = sorted(distributions, key=lambda each: first[each.judge, each.metric])
    rows = [
        ShareRow(
            name=f"{judge_name(each)} · {each.system}" if several else judge_name(each),
            parts=[
                (
                    f"{each_bin.low:.3g}"
                    if each_bin.low == each_bin.high
                    else f"{each_bin.low:.3g} to {each_bin.high:.3g}",
                    each_bin.n / total,
                    each_bin.n,
                )
                for each_bin in reversed(each.bins)
            ],
        )
        for each in ordered
        if (total := sum(each_bin.n for each_bin in each.bins))
    ]
    if not rows:
        return None
    return Plot(
        name="distribution",
        title="How scores are distributed",
        figure=Shares(
            rows=rows,
            axis="share of the scored rows; next to each bar: how many have its highest score",
            of="Judge",
            head="Score",
            first="highest score",
            last="lowest",
        ),
        said=_said(say(rows, ALIKE)),
        where="page",
        in_markdown=True,
    )


def agreement_chart(cards: Sequence[ReportCard]) -> Plot | None:
    """Return each judge's kappa, then its exact agreement beside its rivals'; None where no card has one."""
    points = [point for card in cards for point in _agreements(card)]
    if not points:
        return None
    axis = "Cohen's kappa: 0 is chance; exact agreement: share of answers given the same grade"
    return Plot(
        name="agreement",
        title="Agreement with people",
        figure=Intervals(
            points=points, axis=axis, of="Agreement", by="Judge", value="Value", ends=(0.0, 1.0)
        ),
        said=_said(*(say(card, CONSTANT) for card in cards[:SHOWN_CARDS])),
        where="page",
        in_markdown=True,
    )


def _said(*sentences: str) -> list[str]:
    return [sentence for sentence in sentences if sentence]


def _on_scale(metric: MetricSummary, label: str, *, by_judge: bool = False) -> PlotPoint | None:
    """Return a mean as a share of its scale; None without a mean or a scale."""
    estimate, scale = metric.estimate, metric.scale
    if estimate is None or scale is None or scale[1] <= scale[0]:
        return None
    low, width = scale[0], scale[1] - scale[0]
    return PlotPoint(
        name=label,
        group=f"{judge_name(metric)}, {metric.system}" if by_judge else metric.system,
        value=(estimate.value - low) / width,
        low=None if estimate.low is None else (estimate.low - low) / width,
        high=None if estimate.high is None else (estimate.high - low) / width,
        n=estimate.n,
    )


def _agreements(card: ReportCard) -> list[PlotPoint]:
    mine, beyond = card.agreement.get("exact agreement"), chance_corrected(card.agreement)
    others = [(rival.name, rival.exact_agreement) for rival in (card.constant, card.no_model) if rival]
    if card.humans:
        others.append(("people among themselves", card.humans.exact_agreement))
    if mine is None:
        return []
    judge = f"{judge_name(card)} ({card.model})"
    first = [(f"{beyond[0]} of {judge}", beyond[1])] if beyond else []
    estimates = [*first, (f"exact agreement of {judge}", mine), *others]
    return [
        PlotPoint(
            name=name,
            group=judge_name(card),
            value=estimate.value,
            low=estimate.low,
            high=estimate.high,
            n=estimate.n,
        )
        for name, estimate in estimates
    ]


def _largest(points: Sequence[PlotPoint]) -> list[PlotPoint]:
    """Return the points of the SHOWN_VALUES names with the most rows, in the order they came."""
    sizes: dict[str, int] = {}
    for point in points:
        sizes[point.name] = max(sizes.get(point.name, 0), point.n or 0)
    largest = set(sorted(sizes, key=lambda name: -sizes[name])[:SHOWN_VALUES])
    return [point for point in points if point.name in largest]
