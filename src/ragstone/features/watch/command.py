"""`ragstone watch`: a log of an application in production -> judged, with its trends and alarms."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragstone.features.watch._outputs import (
    By,
    Count,
    Gaps,
    Questions,
    check_outputs,
    write_outputs,
)
from ragstone.kernel.console.asking import load_for, tell_forecast
from ragstone.kernel.console.bars import bars
from ragstone.kernel.console.columns import reads_rows
from ragstone.kernel.console.options import (
    AsJson,
    Config,
    Engine,
    Force,
    ForecastOnly,
    Limit,
    Model,
    Offline,
    Trust,
    Whole,
    Yes,
)
from ragstone.kernel.console.printing import FAILED_GATE, say, show_found
from ragstone.kernel.trust import trusting

if TYPE_CHECKING:
    from ragstone.features.watch.look import Look, WatchSummary
    from ragstone.features.watch.watching import Watcher

Logs = Annotated[
    list[Path] | None,
    typer.Argument(help="Log files and folders; without one, show what is stored."),
]
Judges = Annotated[
    list[str] | None, typer.Option("--judge", help="Judge: a name or a .toml file; may be repeated.")
]
Rate = Annotated[float | None, typer.Option("--rate", help="Share of exchanges to judge, 0 to 1.")]
DayBudget = Annotated[
    str | None, typer.Option("--budget", help="Spend at most this per day: 500calls, 200000tokens, 5usd.")
]
Judgements = Annotated[
    list[Path] | None,
    typer.Option("--judgements", help="Use these judgements instead of asking judges; may be repeated."),
]
Rejudge = Annotated[int | None, typer.Option("--rejudge", hidden=True, help="Removed.")]
Otlp = Annotated[
    str | None,
    typer.Option(
        "--otlp",
        metavar="URL",
        help="Send one event per judgement to this OpenTelemetry collector, e.g. http://localhost:4318.",
    ),
]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Wait for new rows until Ctrl-C.")]


@reads_rows
def watch(
    log: Logs = None,
    *,
    judges: Judges = None,
    model: Model = None,
    rate: Rate = None,
    budget: DayBudget = None,
    judgements: Judgements = None,
    rejudge: Rejudge = None,
    follow: Follow = False,
    otlp: Otlp = None,
    gaps: Gaps = None,
    questions: Questions = None,
    count: Count = 200,
    by: By = "topic",
    limit: Limit = None,
    forecast: ForecastOnly = False,
    yes: Yes = False,
    offline: Offline = False,
    engine: Engine = None,
    config: Config = None,
    force: Force = False,
    json: AsJson = False,
    whole: Whole = False,
    trust: Trust = False,
) -> None:
    """Read new rows of a log, judge a sample, and raise alarms. Exit code 1 if an alarm is open.

    Examples:

    - `ragstone watch logs/ --judge grounding --rate 0.1`
    - `ragstone watch logs/ --follow --gaps gaps.csv`
    - `ragstone watch logs/ --judgements then.jsonl`
    """
    from ragstone.features.watch._judged import check_given
    from ragstone.features.watch._lines import read_lines
    from ragstone.features.watch._reading import ReadCounts
    from ragstone.features.watch.watching import Watcher, finish, utc_today
    from ragstone.kernel.errors import ConfigError

    if rejudge is not None:
        raise ConfigError(
            "--rejudge was removed: leave it out. Frozen answers (canaries) show whether the judge or the "
            "application changed."
        )
    check_outputs(gaps, questions, log or (), force=force)
    check_given(judgements or ())
    if rate is not None and not 0 < rate <= 1:
        raise ConfigError(f"--rate {rate:g}: give the share of exchanges to judge, above 0 and at most 1.")
    sources, asking = log or [], bool(log) and not judgements
    settings = load_for(config, engine)
    with (
        trusting(trust),
        Watcher(settings, judges=judges, model=model, rate=rate, budget=budget, otlp=otlp) as watcher,
    ):
        read = watcher.read(sources, limit=limit, follow=follow, progress=bars) if sources else ReadCounts()
        for line in read_lines(read) if sources else ():
            say(line)
        if judgements:
            watcher.take(judgements, progress=bars)
        unheard = (
            yes and watcher.section.budget_per_day is None
        )  # nobody to ask, and no amount to compare with
        if asking and (forecast or not (offline or unheard)):
            tell_forecast(watcher.forecast(), only=forecast, yes=yes, json=json)
        summary = watcher.judge(read, asking=asking, today=utc_today(), offline=offline, progress=bars)
        if follow and sources:
            summary = _follow(watcher, sources, summary, asking=asking, offline=offline)
        summary, look = finish(watcher, summary, today=utc_today(), offline=offline, progress=bars)
        write_outputs(watcher, summary.gaps, gaps, questions, count, by, force=force)
    _tell(summary, look, json=json, whole=whole)


def _follow(
    watcher: "Watcher", sources: list[Path], summary: "WatchSummary", *, asking: bool, offline: bool
) -> "WatchSummary":
    """Tell what comes until Ctrl-C, and return what there is then."""
    from ragstone.features.watch._alarms import alarm_line
    from ragstone.features.watch._lines import judged_line, read_lines
    from ragstone.features.watch.watching import followed, utc_today

    known = {alarm_line(open_alarm) for open_alarm in summary.open_alarms}
    say("Waiting for new rows. Stop with Ctrl-C.")
    for later in followed(watcher, sources, asking=asking, offline=offline):
        summary = later
        for line in [*read_lines(summary.read), judged_line(summary)]:
            say(line)
        for alarm in map(alarm_line, summary.open_alarms):
            if alarm not in known:
                say(f"ALARM: {alarm}")
                known.add(alarm)
    return watcher.judge(summary.read, asking=False, today=utc_today())


def _tell(summary: "WatchSummary", look: "Look", *, json: bool, whole: bool) -> None:
    """Show what there is. Raises typer.Exit with 1 where an alarm is open."""
    from ragstone.features.watch._document import monitor_document
    from ragstone.features.watch._lines import judged_line

    show_found(summary, lambda: monitor_document(look), json=json, whole=whole)
    say(f"{judged_line(summary)} Store: {summary.store}")
    if summary.page:
        say(f"Page: {summary.page}")
    if summary.open_alarms:
        raise typer.Exit(FAILED_GATE)
