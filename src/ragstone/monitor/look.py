"""The store -> all that the monitor's page shows, as values."""

from collections.abc import Sequence
from datetime import date, timedelta

import msgspec

from ragstone.agreement.card import ReportCard
from ragstone.config import MonitorSection
from ragstone.monitor.alarm import Alarm
from ragstone.monitor.alarms import alarms
from ragstone.monitor.canaries import Canaries
from ragstone.monitor.cell import Cell
from ragstone.monitor.gaps import Gap
from ragstone.monitor.kept_gaps import KeptGaps, load_gaps
from ragstone.monitor.overview import MetricMean, Overview, together
from ragstone.monitor.store import MonitorStore
from ragstone.monitor.trend_charts import Panel, drawn_metrics, metric_charts, tag_panels
from ragstone.monitor.trends import Point, point_of
from ragstone.monitor.worst import Open, worst_of
from ragstone.report.document import Chart

RECENT_DAYS = 28


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A metric by one judge: over the last days, and over all. card: what people found of this judge."""

    mean: MetricMean
    recent: Point | None
    card: ReportCard | None

    @property
    def is_label(self) -> bool:
        """Whether it is the share of a label."""
        return "=" in self.mean.metric


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at a store shows. since: of the last days, whose means lead; it counts from the last day
    of the log, rows with a time in the future aside, not from today.

    spent: calls, tokens and USD of today; cap: of a day, as the settings say it. rounds: in which the frozen
    answers were judged, with their number; None before they are frozen.
    """

    today: date
    overview: Overview
    since: date | None
    rows: list[Row]
    alarms: list[Alarm]
    rounds: tuple[int, int] | None
    wants_canaries: bool
    baseline_days: int
    spent: tuple[int, int, float]
    cap: str | None
    left: int
    gaps: KeptGaps | None
    charts: list[Chart]
    panels: list[Panel]
    questions: list[Open]
    cards: list[ReportCard]

    @property
    def open_alarms(self) -> list[Alarm]:
        """The alarms of a change for the worse, or of no known side, that still holds."""
        return [one for one in self.alarms if one.over is None and one.worse is not False]

    @property
    def shown_gaps(self) -> Sequence[Gap]:
        """The gaps that were found last, the most wanted first."""
        return self.gaps.gaps if self.gaps else ()


def look_at(
    store: MonitorStore,
    section: MonitorSection,
    *,
    today: date,
    judges: Sequence[str],
    canaries: Canaries | None = None,
    cards: Sequence[ReportCard] = (),
) -> Look:
    """Return what there is to see of a store. judges: whose work is counted as left. Raises DataError."""
    cells = store.cells(until=store.last_day(today))
    best = store.best()
    held = store.overview(today)
    since = held.last - timedelta(days=RECENT_DAYS - 1) if held.last else None
    raised = alarms(cells, section, canaries=canaries, today=today, best=best)
    kept = load_gaps(store)
    metrics = drawn_metrics(best, cells)
    return Look(
        today=today,
        overview=held,
        since=since,
        rows=_rows(held.metrics, cells, since, cards),
        alarms=raised,
        rounds=(len(canaries.answers), len(canaries.rounds)) if canaries else None,
        wants_canaries=bool(section.canaries),
        baseline_days=section.baseline_days,
        spent=store_spent(store, today),
        cap=section.budget_per_day,
        left=store.count_due(judges),
        gaps=kept,
        charts=metric_charts(cells, metrics, raised),
        panels=tag_panels(cells, metrics, section.tags, raised),
        questions=worst_of(store.connection, since, kept.gaps if kept else ()),
        cards=list(cards),
    )


def store_spent(store: MonitorStore, today: date) -> tuple[int, int, float]:
    """Return the calls, tokens and USD of a day."""
    found = store.connection.execute(
        "SELECT calls, tokens, usd FROM spent WHERE day = ?", (today.toordinal(),)
    ).fetchone()
    return found or (0, 0, 0.0)


def _rows(
    metrics: Sequence[MetricMean], cells: Sequence[Cell], since: date | None, cards: Sequence[ReportCard]
) -> list[Row]:
    late = together(cell for cell in cells if not cell.tag and since is not None and cell.day >= since)
    recent = {(cell.metric, cell.judge): point_of(cell.day, [cell]) for cell in late}
    return [
        Row(mean=one, recent=recent.get((one.metric, one.judge)), card=_card(one, cards)) for one in metrics
    ]


def _card(one: MetricMean, cards: Sequence[ReportCard]) -> ReportCard | None:
    """Return the report card of the judge, version and model behind a mean."""
    judge, _, rest = one.judge.partition(" ")
    version, _, model = rest.partition(" ")
    metric = one.metric.partition("=")[0]
    return next(
        (
            card
            for card in cards
            if (card.judge, card.metric, card.model, str(card.prompt_version))
            == (judge, metric, model, version)
        ),
        None,
    )
