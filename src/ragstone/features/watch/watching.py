"""A log of an application in production -> the monitor's store: read on, sampled, judged once, and shown."""

import datetime
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from ragstone.features.export import EventCounts, EventStream
from ragstone.features.watch._alarms import Alarm, alarms
from ragstone.features.watch._finding_gaps import look_for_gaps
from ragstone.features.watch._judged import best_of, check_given, given_judgements, scored_of
from ragstone.features.watch._judging import (
    Judging,
    canaries_wait,
    freeze_canaries,
    judge_canaries,
    judge_due,
    judge_evidence,
)
from ragstone.features.watch._logged import Masker
from ragstone.features.watch._mode_looks import load_found, look_for_new_modes, new_mode_alarms
from ragstone.features.watch._modes import cells_for_alarms, declare, load_modes
from ragstone.features.watch._page import write_monitor
from ragstone.features.watch._reading import ReadCounts, take_log
from ragstone.features.watch._use import use_cells
from ragstone.features.watch.gaps import KeptGaps, load_gaps
from ragstone.features.watch.look import Look, WatchSummary, look_at
from ragstone.features.watch.store import MonitorStore
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.config import Settings, choose, load_settings
from ragstone.kernel.engine.digests import digest_of
from ragstone.kernel.engine.local import run_sync
from ragstone.kernel.engine.progress import Progress, State, silent
from ragstone.kernel.engine.session import Session, SessionOptions, forecast_of, open_session
from ragstone.kernel.errors import ConfigError, DataError, checks_arguments
from ragstone.kernel.judging import Judge
from ragstone.kernel.judging.variant import AnyJudge, load_judges
from ragstone.kernel.llm import load_secret, parse_caps
from ragstone.kernel.llm.forecast import Forecast
from ragstone.kernel.privacy.masking import own_words
from ragstone.kernel.records import JOINT_SUFFIX, Judgement
from ragstone.kernel.runs.summary import Calls
from ragstone.kernel.stages.forecasting import hear_judged, sample_of

POLL_S = 2.0
GIVEN = 5000  # judgements that are kept together
Logs = Path | str | Sequence[Path | str]


@checks_arguments
def watch(
    log: Logs = (),
    *,
    judges: Iterable[AnyJudge] | None = None,
    model: str | None = None,
    rate: float | None = None,
    budget: str | None = None,
    judgements: Logs = (),
    limit: int | None = None,
    follow: bool = False,
    offline: bool = False,
    otlp: str | None = None,
    settings: Settings | None = None,
    today: datetime.date | None = None,
    tell: Callable[[WatchSummary], object] = lambda _summary: None,
    progress: Progress = silent,
) -> WatchSummary:
    """Read what is new in a log, judge a sample of it, and return what is known of all that was ever read.

    log: files and folders; none only looks at the store. judges, model, rate, budget (of a day): in place of
    those of `[monitor]` in `settings` (default: ragstone.toml). judgements: files of them, made elsewhere;
    then no judge is asked of what is due. limit: only the first new rows. offline: judges are answered from
    the ledger alone. otlp: the collector that each judgement is sent to as an event. follow: wait
    for new rows until Ctrl-C, and `tell` each time that there were some.
    today: whose budget is spent, default the day it is (UTC). Raises DataError, ConfigError, ModelError.
    """
    judgement_files = [judgements] if isinstance(judgements, str | Path) else list(judgements)
    sources = [log] if isinstance(log, str | Path) else list(log)
    asking = bool(sources) and not judgement_files
    check_given(judgement_files)
    with Watcher(
        settings or load_settings(), judges=judges, model=model, rate=rate, budget=budget, otlp=otlp
    ) as watcher:
        read = (
            watcher.read(sources, limit=limit, follow=follow, progress=progress) if sources else ReadCounts()
        )
        if judgement_files:
            watcher.take(judgement_files, progress=progress)
        summary = watcher.judge(
            read, asking=asking, today=today or utc_today(), offline=offline, progress=progress
        )
        for summary in (
            followed(watcher, sources, asking=asking, offline=offline, today=today) if follow else ()
        ):
            tell(summary)
        return finish(watcher, summary, today=today or utc_today(), offline=offline, progress=progress)[0]


def followed(
    watcher: "Watcher",
    sources: Sequence[Path | str],
    *,
    asking: bool = True,
    offline: bool = False,
    today: datetime.date | None = None,
    pause: Callable[[], object] = lambda: time.sleep(POLL_S),
) -> Iterator[WatchSummary]:
    """Yield what there is each time that rows came or something became due, until Ctrl-C."""
    quiet: datetime.date | None = None  # the day on which nothing is left to do until rows come
    try:
        while True:
            pause()
            day = today or utc_today()
            read = watcher.read(sources, strict=False, follow=True)
            if read.rows or (asking and day != quiet and watcher.waits(day)):
                yield watcher.judge(read, asking=asking, today=day, offline=offline)
            else:
                quiet = day
    except KeyboardInterrupt:
        return


class Watcher:
    """The store of a project with its judges: reads, takes judgements in, judges, and tells what there is."""

    def __init__(
        self,
        settings: Settings,
        *,
        judges: Iterable[AnyJudge] | None = None,
        model: str | None = None,
        rate: float | None = None,
        budget: str | None = None,
        otlp: str | None = None,
    ) -> None:
        """Open the store of the settings. Raises DataError, ConfigError."""
        settings = choose(settings, "monitor", rate=rate, model=model, budget_per_day=budget, otlp=otlp)
        self.section = settings.monitor
        self.settings = choose(settings, "judge", model=self.section.model)
        self.own = load_judges(judges or map(settings.named, self.section.judges))
        check_single(self.own)
        self.modes = load_modes(self.settings, self.own)
        self.judges = [*self.own, *self.modes.judges]
        self._names = [judge.name for judge in self.judges]
        self.caps = parse_caps(self.section.budget_per_day)
        own = own_words(settings.sample.mask)
        self._masker = None if self.section.keep_personal_data else Masker(own)
        self.store = MonitorStore(
            settings.path(self.section.store), key=load_secret(settings.path(".ragstone"))
        )
        self.store.show_by(self.section.tags)
        self._given = self._unplaced = 0
        self._tried: set[int] = set()
        self._spent_on: datetime.date | None = None
        self._events = None if self.section.otlp is None else EventStream(self.section.otlp, own)
        self._versions = {judge.name: digest_of(judge) for judge in self.judges} if self._events else {}

    def __enter__(self) -> "Watcher":
        return self

    def __exit__(self, *_: object) -> None:
        self.end_events()
        self.store.close()

    def end_events(self) -> EventCounts | None:
        """Wait a moment for the events that are left; return what became of all, None where none are sent.

        A second time it returns the same.
        """
        return None if self._events is None else self._events.close()

    def _tell(self, rows: Sequence[Judgement]) -> None:
        """Have the events of judgements sent, each to the span of its exchange."""
        if self._events is None:
            return
        origins = self.store.origins(int(row.question_id) for row in rows)
        for row in rows:
            name, span = origins[int(row.question_id)]
            version = self._versions.get(row.judge.removesuffix(JOINT_SUFFIX), str(row.prompt_version))
            self._events.offer(row, version, name, name.partition("#")[0], span)

    def read(
        self,
        sources: Sequence[Path | str],
        *,
        limit: int | None = None,
        strict: bool = True,
        follow: bool = False,
        progress: Progress = silent,
    ) -> ReadCounts:
        """Read what is new in a log, see reading.take_log.

        Raises DataError, also where another process works on the store.
        """
        self.store.hold()
        self.store.declare(self.section)
        declare(self.store, self.settings, self.own, self.modes.judges)
        with progress("read the log", None, State) as advance:
            return take_log(
                self.store,
                sources,
                self.section,
                self._masker,
                strict=strict,
                follow=follow,
                limit=limit,
                advance=advance,
            )

    def take(self, files: Iterable[Path | str], *, progress: Progress = silent) -> None:
        """Keep judgements that were made elsewhere. Raises DataError."""
        best, modes = best_of(self.judges), self.store.watched_modes()
        self.store.hold()
        for file in files:
            with progress("read judgements", None, State) as advance:
                rows = given_judgements(file)
                while some := list(islice(rows, GIVEN)):
                    scores = [(row.question_id, scored_of(row, modes)) for row in some]
                    placed = self.store.take_in(scores, best=best)
                    self._given += placed
                    self._unplaced += len(some) - placed
                    for _ in some:
                        advance()
        if self._given:
            self.store.finish(self._names)

    def forecast(self) -> Forecast:
        """Return what judging what is due would ask. The budget of the day is not looked at."""

        async def work(session: Session) -> None:
            sampled = sample_of(self.store.due_numbers(self._names), session)
            if sampled:
                answers = list(self.store.answers(sampled).values())
                await hear_judged(answers, self.judges, session)

        return forecast_of(self.settings, work)

    def waits(self, today: datetime.date) -> bool:
        """Return whether judges have something to do that was not tried yet, and a budget left for it."""
        if today == self._spent_on:
            return False
        return self.store.count_due(self._names) > len(self._tried) or canaries_wait(
            self.store, self.section, today, self.alarms(today)
        )

    def alarms(self, today: datetime.date, *, of_use: bool = False) -> list[Alarm]:
        """Return the alarms so far. The day that it is may still fill, and is not looked at.

        of_use: those of latency, cost and the like too, which judges have no part in.
        """
        last = self.store.last_day(today)
        known, best = judge_evidence(self.store), self.store.best()
        use = use_cells(self.store.connection, last) if of_use else ()
        sets = self.store.mode_sets
        return alarms(
            cells_for_alarms(self.store.cells(until=last), sets),
            self.section,
            known=known,
            today=today,
            best=best,
            use=use,
            new_modes=new_mode_alarms(load_found(self.store)) if sets else None,
        )

    def judge(
        self,
        read: ReadCounts,
        *,
        asking: bool,
        today: datetime.date,
        offline: bool = False,
        progress: Progress = silent,
    ) -> WatchSummary:
        """Judge what is due, if judges are to be asked; return what there is. Raises ModelError."""
        calls, done, again = Calls(), Judging(), False
        if asking and self.waits(today):
            calls, done, again = run_sync(self._judge(today, offline=offline, progress=progress))
            self._tried |= done.tried
            self._spent_on = today if done.cut_off else self._spent_on
        new_modes = look_for_new_modes(self.store, self.section, today)
        return WatchSummary(
            store=str(self.store.path),
            read=read,
            judged=done.finished,
            given=self._given,
            unplaced=self._unplaced,
            left=self.store.count_due(self._names),
            cut_off=done.cut_off,
            overview=self.store.overview(today),
            calls=calls,
            alarms=self.alarms(today, of_use=True),
            canaries=again,
            events=None if self._events is None else self._events.counts(),
            new_modes=new_modes.modes,
            modes_left_out=self.modes.left_out,
        )

    async def _judge(
        self, today: datetime.date, *, offline: bool, progress: Progress
    ) -> tuple[Calls, Judging, bool]:
        caps = self.store.left_of(self.caps, today)
        async with open_session(self.settings, SessionOptions(caps, offline, progress=progress)) as session:
            again = not offline and await judge_canaries(
                self.store, self.judges, session, self.section, today=today, alarms=self.alarms(today)
            )
            done = await judge_due(
                self.store, self.judges, session, today=today, leave=self._tried, tell=self._tell
            )
            freeze_canaries(self.store, self.judges, self.section, today)
            return session.calls(), done, again


def utc_today() -> datetime.date:
    """Return the day it is, as the days of the store are counted."""
    return datetime.datetime.now(datetime.UTC).date()


def check_single(judges: Iterable[Judge]) -> None:
    """Refuse judges that a log has nothing for. Raises ConfigError."""
    for judge in judges:
        lacking = "a second answer" if judge.compares_two else "a reference"
        if judge.compares_two or "reference" in judge.inputs:
            raise ConfigError(
                f"judge {judge.name!r} needs {lacking}, which a log does not have. Choose others with "
                "--judge, or as judges in the table [monitor] of ragstone.toml."
            )


def finish(
    watcher: Watcher,
    summary: WatchSummary,
    *,
    today: datetime.date,
    offline: bool = False,
    progress: Progress = silent,
) -> tuple[WatchSummary, Look]:
    """Return the summary with the gaps and the page, which is written beside the store; and what it shows.

    The watcher sends no events after it.

    Gaps are looked for again only where something has changed. Raises DataError.
    """
    gaps = load_gaps(watcher.store)
    changed = summary.read.new or summary.read.feedback or summary.judged or summary.given
    if gaps is None or changed or gaps.found != today or gaps.way != _way_of(watcher):
        gaps = _gaps_now(watcher, today, offline=offline, progress=progress)
    summary = msgspec.structs.replace(summary, gaps=gaps, events=watcher.end_events())
    look = look_of(watcher.store, watcher.settings, watcher.own, today)
    page = write_monitor(watcher.store.path.parent, look)
    return msgspec.structs.replace(summary, page=str(page), use=look.use), look


def look_of(store: MonitorStore, settings: Settings, own: Sequence[Judge], today: datetime.date) -> Look:
    """Return what there is to see of a project's store. own: its judges, without modes. Raises DataError."""
    from ragstone.features.sample import kept_lines

    modes = load_modes(settings, own)
    look = look_at(
        store,
        settings.monitor,
        today=today,
        judges=[judge.name for judge in (*own, *modes.judges)],
        known=judge_evidence(store),
        cards=read_cards(settings),
        modes_left_out=modes.left_out,
    )
    return msgspec.structs.replace(look, feedback=kept_lines(settings.path(settings.monitor.store)))


def read_cards(settings: Settings) -> list[ReportCard]:
    """Return the report cards that `cards` of `[monitor]` names. Raises DataError."""
    if settings.monitor.cards is None:
        return []
    path = settings.path(settings.monitor.cards)
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[ReportCard])
    except (OSError, msgspec.MsgspecError) as mistake:
        raise DataError(
            f"{path}: has no report cards ({mistake}). Make it with: ragstone agree … --json > {path}"
        ) from None


def _way_of(watcher: Watcher) -> str:
    """Return the settings that decide what the gaps are, as text."""
    section = watcher.section
    decisive = [section.gap_days, section.unfaithful_below, section.embedder, section.gap_model]
    return msgspec.json.encode(decisive).decode()


def _gaps_now(watcher: Watcher, today: datetime.date, *, offline: bool, progress: Progress) -> KeptGaps:
    caps = watcher.store.left_of(watcher.caps, today)
    search = look_for_gaps(
        watcher.store,
        watcher.settings,
        today=today,
        way=_way_of(watcher),
        how=SessionOptions(caps, offline, progress=progress),
    )
    if search.calls.made:
        usage = search.calls.usage
        watcher.store.spend(today, search.calls.made, usage.input + usage.output, search.calls.cost_usd)
    return search.kept
