"""What a product owner asks of the monitor, answered in words and numbers."""

from datetime import date

from ragstone.monitor.alarms import Alarm
from ragstone.monitor.cells import TrendPoint
from ragstone.monitor.charts import FIRST
from ragstone.monitor.judged import PEOPLE, cannot_drift
from ragstone.monitor.look import RECENT_DAYS, Look, MetricRow
from ragstone.records import STATUSES
from ragstone.report.document import Figure, HeadlineFinding
from ragstone.report.wording import count, doubt, number, one_line, plural, statuses, usd

SHOWN_FIGURES = 3
NARROW = 0.03
LONGEST = 120  # characters of an example
LEADS = ("faithfulness", "answered", "relevance", "feedback")
CAUSES = {
    "application": "The application changed, not the judge",
    "judge": "The judge changed, not the application",
    "both": "Judge and application changed",
}


def answers(look: Look) -> list[HeadlineFinding]:
    """Return the answers to: is it good? did it change, since when, by whom? what is missing?"""
    return [_good(look), _changed(look), _missing(look)]


def lead_rows(look: Look) -> list[MetricRow]:
    """Return the means that lead: of faithfulness, answered, relevance; of each that of its latest judge."""
    found = {row.mean.metric: row for row in _by_last_day(look)}
    named = [found[name] for name in LEADS if name in found]
    return named or [row for row in found.values() if row.mean.best != "none"]


def _by_last_day(look: Look) -> list[MetricRow]:
    return sorted(look.rows, key=lambda row: row.mean.whole.day)


def _good(look: Look) -> HeadlineFinding:
    rows = [row for row in lead_rows(look) if row.recent and row.recent.mean is not None][:SHOWN_FIGURES]
    figures = [
        Figure(row.mean.metric, mean_of(row.recent), _interval(row.recent), rests_on(row.recent))
        for row in rows
        if row.recent and row.recent.mean is not None
    ]
    if not figures:
        return HeadlineFinding("Is it good?", [], ["No exchange was judged yet."])
    span = f"Means of the last {RECENT_DAYS} days of the log, to {day_of(look.overview.last)}."
    return HeadlineFinding("Is it good?", figures, [span, trust(rows)])


def trust(rows: list[MetricRow]) -> str:
    """Return what the judges behind these means are worth."""
    asked = [row for row in rows if not row.mean.judge.startswith(PEOPLE)]
    if not asked:
        return "By people."
    if all(row.card is None for row in asked):
        return "By judges that nobody has measured against people on this task."
    doubted = [row.mean.metric for row in asked if row.card is not None and doubt(row.card)]
    unmeasured = [row.mean.metric for row in asked if row.card is None]
    parts = []
    if doubted:
        parts.append(f"The judge of {', '.join(doubted)} is not shown to be better than its baseline.")
    if unmeasured:
        parts.append(f"The judge of {', '.join(unmeasured)} was not measured against people.")
    return " ".join(parts) or "By judges whose agreement with people has been measured."


def rests_on(point: TrendPoint) -> str:
    """Return `1,200 scored; 3 timed out`."""
    others = others_of(point)
    return f"{count(point.n)} scored" + (f"; {others}" if others else "")


def others_of(point: TrendPoint) -> str:
    """Return every status but scored with its count."""
    return statuses({status: point.statuses[status] for status in STATUSES if status in point.statuses})


def interval_of(point: TrendPoint) -> str:
    """Return the ends of an interval, empty where there is none."""
    if point.low is None or point.high is None:
        return ""
    return f"{_placed(point.low, point)} to {_placed(point.high, point)}"


def mean_of(point: TrendPoint) -> str:
    """Return the mean, empty where nothing was scored."""
    return "" if point.mean is None else _placed(point.mean, point)


def _placed(value: float, point: TrendPoint) -> str:
    """Return a value with two decimals, with three where two would not show the interval."""
    narrow = point.low is not None and point.high is not None and point.high - point.low < NARROW
    return f"{value:.3f}" if narrow else number(value)


def _interval(point: TrendPoint) -> str:
    ends = interval_of(point)
    return f"95 % interval {ends}" if ends else "no interval"


def _changed(look: Look) -> HeadlineFinding:
    question = "Did it change?"
    shown = sorted(look.open_alarms, key=_weight)
    if not shown:
        return HeadlineFinding(question, [], [_quiet(look)])
    first = shown[0]
    figure = Figure(
        f"{metric_of(first)}, since {day_of(first.since)}",
        f"{first.before.mean:.2f} → {first.after.mean:.2f}",
        f"{'raised on ' + day_of(first.raised) if first.raised else 'another judge since then'}",
        f"{count(first.before.n)} scored before, {count(first.after.n)} after",
    )
    more = len(shown) - 1
    below = f"{plural(more, 'further open alarm')} below." if more else ""
    return HeadlineFinding(question, [figure], [cause_words(first)], below)


def cause_words(alarm: Alarm) -> str:
    """Return whether it was the application or the judge, and how that is known."""
    told = f"{CAUSES[alarm.cause]}: {alarm.says}" if alarm.cause in CAUSES else alarm.says
    return f"{told[:1].upper()}{told[1:]}."


def _weight(alarm: Alarm) -> tuple[bool, int, float]:
    """Order alarms: what got worse, by metrics that say most, the largest first."""
    place = FIRST.index(alarm.metric) if alarm.metric in FIRST else len(FIRST)
    return not alarm.worse, place, -abs(alarm.moved)


def _quiet(look: Look) -> str:
    held = look.overview
    days = (held.last - held.first).days if held.first and held.last else 0
    if days < look.baseline_days:
        return (
            f"Too early to tell: changes are looked for once {plural(look.baseline_days, 'day')} are over, "
            f"and the log has {plural(days, 'whole day')}."
        )
    over = len(look.alarms)
    return "No alarm is open." + (
        f" {plural(over, 'alarm')} of what is over or better, below." if over else ""
    )


def metric_of(alarm: Alarm) -> str:
    """Return the metric with the value of the tag that changed."""
    return f"{alarm.metric} ({alarm.tag} {alarm.value})" if alarm.tag else alarm.metric


def day_of(day: date | None) -> str:
    """Return `2 March 2026`, empty for none."""
    return f"{day.day} {day:%B} {day.year}" if day else ""


def _missing(look: Look) -> HeadlineFinding:
    question, kept = "What is missing?", look.gaps
    if kept is None:
        return HeadlineFinding(question, [], ["Gaps were not looked for yet: run `ragstone watch`."])
    if not kept.gaps:
        return HeadlineFinding(
            question, [], [f"Since {day_of(kept.since)} no judged question went without an answer."]
        )
    first = kept.gaps[0]
    figure = Figure(
        first.name,
        plural(first.n_people, "person").replace("persons", "people"),
        f"{count(first.unanswered)} unanswered, {count(first.unfaithful)} not supported",
        f"of {plural(kept.n_missed, 'exchange')} in {plural(kept.n_gaps, 'gap')} since {day_of(kept.since)}",
    )
    said = [f"For example: {one_line(first.examples[0].question, LONGEST)}"]
    said += [f"Nearest document: {first.nearest[0].document_id}."] if first.nearest else []
    return HeadlineFinding(question, [figure], said)


def held_words(look: Look) -> list[tuple[str, str]]:
    """Return how much there is, what was judged of it, and what that cost: (name, words)."""
    held = look.overview
    share = f" ({100 * held.n_sampled / held.n_exchanges:.0f} %)" if held.n_exchanges else ""
    span = f", {held.first} to {held.last}" if held.first else ""
    rows = [
        ("in the log", plural(held.n_exchanges, "exchange") + span),
        (
            "in the sample",
            f"{count(held.n_sampled)}{share}, {count(held.n_judged)} judged by all, {count(look.left)} left",
        ),
        ("feedback of people", f"on {plural(held.n_feedback, 'exchange')}"),
        ("spent today", _spent(look)),
        ("frozen answers", _frozen(look)),
    ]
    if held.in_future:
        rows.insert(
            1,
            (
                "in the future",
                f"{plural(held.in_future, 'exchange')} with a time in the future, in no trend and no mean",
            ),
        )
    if held.without_time:
        rows.insert(
            1, ("without a time", f"{plural(held.without_time, 'exchange')}, in no trend and no mean")
        )
    return rows


def _spent(look: Look) -> str:
    calls, tokens, money = look.spent
    cap = f"; the cap of a day is {look.cap}" if look.cap else "; no cap"
    paid = ", cost unknown" if money is None else f", {usd(money)}" if money else ""
    return f"{plural(calls, 'call')}, {plural(tokens, 'token')}{paid}{cap}"


def _frozen(look: Look) -> str:
    judges = {row.mean.judge for row in look.rows} - {PEOPLE}
    if judges and all(map(cannot_drift, judges)):
        return "none are needed: no judge asks a model, so none can drift"
    if look.rounds:
        n, again = look.rounds
        return f"{plural(n, 'answer')}, judged again {plural(again, 'time')}: they tell a change of the judge"
    return "none yet" if look.wants_canaries else "none: a change of the judge cannot be told"
