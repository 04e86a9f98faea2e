"""The store -> all that the monitor's page and `ragstone watch` show, as values."""

# ruff: noqa: S608 - statements are made of our own words and numbers; values are bound

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from typing import Literal

import msgspec

from ragstone.features.export import EventCounts
from ragstone.features.watch._alarms import NOTHING_KNOWN, Alarm, JudgeEvidence, alarms, open_among
from ragstone.features.watch._cells import DayCell, MetricMean, Overview, TrendPoint, point_of, together
from ragstone.features.watch._charts import drawn_metrics, metric_charts, tag_panels, use_charts
from ragstone.features.watch._evaluations import EvaluatorSummary, read_evaluators
from ragstone.features.watch._judged import PEOPLE
from ragstone.features.watch._mode_looks import FoundMode, load_found, new_mode_alarms
from ragstone.features.watch._modes import cells_for_alarms
from ragstone.features.watch._reading import ReadCounts
from ragstone.features.watch._showing import StoredExchange, shown
from ragstone.features.watch._streams import is_compared
from ragstone.features.watch._uncovered import UNCOVERED
from ragstone.features.watch._use import ApplicationUse, read_use, use_cells
from ragstone.features.watch.gaps import Gap, KeptGaps, load_gaps
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.document.charts import Chart, ChartPanel
from ragstone.kernel.runs.summary import Calls

MOST_OPENED = 200
EACH = 40  # of a metric at least; of few metrics their parts of MOST
OF_GAPS, OF_GAP = 20, 3
MIDDLE = 0.5


class Open(msgspec.Struct, frozen=True, kw_only=True):
    """An exchange to open. low: the metrics in which it is below their middle; gaps: their ranks, from 1."""

    seen: StoredExchange
    low: list[str]
    gaps: list[int]


def worst_of(db: sqlite3.Connection, since: date | None, gaps: Sequence[Gap] = ()) -> list[Open]:
    """Return the worst exchanges since a day, the worst first: low in most metrics, then the newest.

    Of each metric with a good end the worst are looked at, of people's feedback too, and OF_GAP of each
    of the first OF_GAPS gaps; at most MOST come back.
    """
    measures = db.execute(
        "SELECT n, metric, best FROM measures WHERE best IN ('highest', 'lowest')"
    ).fetchall()
    best = {metric: side for _, metric, side in measures}
    day = since.toordinal() if since else 0
    numbers: dict[int, None] = {}
    of_gaps = _of_gaps(db, gaps)
    each = max(EACH, MOST_OPENED // (1 + len(measures)))
    for measure, _, side in measures:
        numbers.update(dict.fromkeys(_worst_by(db, measure, side, day, each)))
    numbers.update(dict.fromkeys(_disliked(db, day, each)))
    numbers.update(dict.fromkeys(of_gaps))
    some = list(numbers)
    worst = [
        Open(seen=seen, low=low_in(seen, best), gaps=of_gaps.get(seen.n, []))
        for at in range(0, len(some), MOST_OPENED)
        for seen in shown(db, some[at : at + MOST_OPENED])
    ]
    worst.sort(
        key=lambda exchange: (
            -len(exchange.low),
            -(exchange.seen.time.timestamp() if exchange.seen.time else 0.0),
            exchange.seen.n,
        )
    )
    return worst[:MOST_OPENED]


def low_in(seen: StoredExchange, best: Mapping[str, str]) -> list[str]:
    """Return the metrics in which an exchange is below the middle, people's feedback among them."""
    low = [
        score.metric
        for score in seen.scores
        if score.score is not None
        and score.metric in best
        and (score.score > MIDDLE if best[score.metric] == "lowest" else score.score < MIDDLE)
    ]
    if seen.feedback is not None and seen.feedback < MIDDLE:
        low.append("feedback")
    return list(dict.fromkeys(low))


def _worst_by(db: sqlite3.Connection, measure: int, side: str, day: int, most: int) -> list[int]:
    worse, order = (">", "DESC") if side == "lowest" else ("<", "ASC")
    rows = db.execute(
        "SELECT e.n FROM exchanges e CROSS JOIN scores s ON s.exchange = e.n AND s.measure = ?"
        f" WHERE (e.day >= ? OR e.day IS NULL) AND s.score {worse} ?"
        f" ORDER BY s.score {order}, e.time DESC, e.n LIMIT ?",
        (measure, day, MIDDLE, most),
    )
    return [n for (n,) in rows]


def _disliked(db: sqlite3.Connection, day: int, most: int) -> list[int]:
    rows = db.execute(
        f"SELECT e.n, coalesce(s.feedback, e.feedback) AS {PEOPLE} FROM exchanges e"
        " LEFT JOIN said s ON s.name = e.name WHERE (e.day >= ? OR e.day IS NULL)"
        f" AND {PEOPLE} < ? ORDER BY {PEOPLE}, e.time DESC, e.n LIMIT ?",
        (day, MIDDLE, most),
    )
    return [n for n, _ in rows]


def _of_gaps(db: sqlite3.Connection, gaps: Iterable[Gap]) -> dict[int, list[int]]:
    """Return the numbers of some exchanges of each gap, with the ranks of their gaps."""
    ranks_of: dict[int, list[int]] = {}
    for rank, gap in enumerate(gaps, 1):
        if rank > OF_GAPS:
            break
        names = [name for example in gap.examples for name in example.ids[:1]][:OF_GAP]
        marks = ",".join("?" * len(names))
        rows = db.execute(f"SELECT max(n) FROM exchanges WHERE name IN ({marks}) GROUP BY name", names)
        for (n,) in rows:
            ranks_of.setdefault(n, []).append(rank)
    return ranks_of


RECENT_DAYS = 28


class MetricRow(msgspec.Struct, frozen=True, kw_only=True):
    """A metric by one judge: over the last days, and over all. card: what people found of this judge."""

    mean: MetricMean
    recent: TrendPoint | None
    card: ReportCard | None

    @property
    def is_label(self) -> bool:
        """Whether it is the share of a label."""
        return "=" in self.mean.metric


class Look(msgspec.Struct, frozen=True, kw_only=True):
    """What a look at a store shows. since: of the last days, whose means lead; it counts from the last day
    of the log, rows with a time in the future aside, not from today.

    compared: what was logged for long enough to be compared with what came before it; `use` where no score
    was.
    spent: calls, tokens and USD of today, None where a price is unknown; cap: of a day, as settings say it.
    rounds: in which the frozen answers were judged, with their number; None before they are frozen.
    evaluators: others', of all days. modes: the watched failure modes, and what none of them has; these are
    not among the rows. new_modes, modes_left_out: as of WatchSummary. feedback: what `ragstone sample
    --feedback` said last.
    """

    today: date
    overview: Overview
    since: date | None
    rows: list[MetricRow]
    alarms: list[Alarm]
    compared: Literal["scores", "use", "nothing"]
    rounds: tuple[int, int] | None
    wants_canaries: bool
    baseline_days: int
    spent: tuple[int, int, float | None]
    cap: str | None
    left: int
    gaps: KeptGaps | None
    charts: list[Chart]
    use: ApplicationUse
    use_charts: list[Chart]
    panels: list[ChartPanel]
    questions: list[Open]
    cards: list[ReportCard]
    evaluators: list[EvaluatorSummary] = []
    modes: list[MetricRow] = []
    new_modes: list[FoundMode] = []
    modes_left_out: list[str] = []
    feedback: list[str] = []

    @property
    def open_alarms(self) -> list[Alarm]:
        """The alarms of a change for the worse, or of no known side, that still holds."""
        return open_among(self.alarms)

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
    known: JudgeEvidence = NOTHING_KNOWN,
    cards: Sequence[ReportCard] = (),
    modes_left_out: Sequence[str] = (),
) -> Look:
    """Return what there is to see of a store. judges: whose work is counted as left. Raises DataError."""
    cells = store.cells(until=store.last_day(today))
    best = store.best()
    held = store.overview(today)
    since = held.last - timedelta(days=RECENT_DAYS - 1) if held.last else None
    cells_of_use = use_cells(store.connection, held.last)
    sets, found = store.mode_sets, load_found(store)
    raised = alarms(
        cells_for_alarms(cells, sets),
        section,
        known=known,
        today=today,
        best=best,
        use=cells_of_use,
        new_modes=new_mode_alarms(found) if sets else None,
    )
    ours = {name for entry in sets for name in (*entry.modes, UNCOVERED)}
    gaps = load_gaps(store)
    metrics = drawn_metrics(best, cells)
    use = read_use(store.connection, held.last)
    rows = _rows(held.metrics, cells, since, cards)
    return Look(
        today=today,
        overview=held,
        since=since,
        rows=[row for row in rows if row.mean.metric not in ours],
        alarms=raised,
        compared="scores"
        if is_compared(cells, today, section.baseline_days)
        else "use"
        if is_compared(cells_of_use, today, section.baseline_days)
        else "nothing",
        rounds=(len(frozen.answers), len(frozen.rounds)) if (frozen := known.canaries) else None,
        wants_canaries=bool(section.canaries),
        baseline_days=section.baseline_days,
        spent=store_spent(store, today),
        cap=section.budget_per_day,
        left=store.count_due(judges),
        gaps=gaps,
        charts=metric_charts(cells, metrics, raised),
        use=use,
        use_charts=use_charts(use, raised),
        panels=tag_panels(cells, metrics, section.tags, raised),
        questions=worst_of(store.connection, since, gaps.gaps if gaps else ()),
        cards=list(cards),
        evaluators=read_evaluators(store.connection),
        modes=[row for row in rows if row.mean.metric in ours],
        new_modes=found.modes,
        modes_left_out=list(modes_left_out),
    )


def store_spent(store: MonitorStore, today: date) -> tuple[int, int, float | None]:
    """Return the calls, tokens and USD of a day; None where a price is unknown."""
    row = store.connection.execute(
        "SELECT calls, tokens, usd FROM spent WHERE day = ?", (today.toordinal(),)
    ).fetchone()
    return row or (0, 0, 0.0)


def _rows(
    metrics: Sequence[MetricMean], cells: Sequence[DayCell], since: date | None, cards: Sequence[ReportCard]
) -> list[MetricRow]:
    late = together(cell for cell in cells if not cell.tag and since is not None and cell.day >= since)
    recent = {(cell.metric, cell.judge): point_of(cell.day, [cell]) for cell in late}
    return [
        MetricRow(mean=mean, recent=recent.get((mean.metric, mean.judge)), card=_card(mean, cards))
        for mean in metrics
    ]


def _card(mean: MetricMean, cards: Sequence[ReportCard]) -> ReportCard | None:
    """Return the report card of the judge, version and model behind a mean."""
    judge, _, rest = mean.judge.partition(" ")
    version, _, model = rest.partition(" ")
    metric = mean.metric.partition("=")[0]
    return next(
        (
            card
            for card in cards
            if (card.judge, card.metric, card.model, str(card.prompt_version))
            == (judge, metric, model, version)
        ),
        None,
    )


class WatchSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What was read and judged now, and what the store holds.

    judged: exchanges that all judges have judged now. given: judgements made elsewhere that found their
    exchange; unplaced: those that did not. left: exchanges of the sample that are yet to be judged. cut_off:
    the budget of the day ended. alarms: open ones and those that are over, by the day they were raised.
    canaries: whether they were judged again now. gaps: those that were found last; use: how much the
    application was used, and what that took; page: where the page is. events: what became of those of
    judgements, None where none are sent. new_modes: failure modes that came up among wrong answers that no
    watched mode has; modes_left_out: why a mode's file is not watched, a sentence each.
    """

    store: str
    read: ReadCounts
    judged: int
    given: int
    unplaced: int
    left: int
    cut_off: bool
    overview: Overview
    calls: Calls
    alarms: list[Alarm]
    canaries: bool = False
    gaps: KeptGaps | None = None
    use: ApplicationUse | None = None
    page: str | None = None
    events: EventCounts | None = None
    new_modes: list[FoundMode] = []
    modes_left_out: list[str] = []

    @property
    def open_alarms(self) -> list[Alarm]:
        """The alarms of a change for the worse, or of no known side, that still holds."""
        return open_among(self.alarms)
