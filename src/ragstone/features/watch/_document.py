"""A look at the store -> what a product owner asks of it: a page, in a terminal, as Markdown."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Literal

import msgspec

from ragstone.features.watch._alarms import Alarm, alarm_line, mean_words
from ragstone.features.watch._cells import TrendPoint
from ragstone.features.watch._charts import FIRST
from ragstone.features.watch._evaluations import EvaluatorSummary
from ragstone.features.watch._judged import LOG, PEOPLE, cannot_drift, judge_words
from ragstone.features.watch._mode_words import mode_blocks
from ragstone.features.watch._use import use_words
from ragstone.features.watch.gaps import ANSWERED, FAITHFUL, Gap, KeptGaps
from ragstone.features.watch.look import RECENT_DAYS, Look, MetricRow
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Figure,
    Findings,
    Fold,
    Heading,
    HeadlineFinding,
    Link,
    Listing,
    Made,
    Pairs,
    Paragraph,
    ReportDocument,
    RowList,
    SurfacePart,
    Table,
    Where,
    table_of,
    told,
)
from ragstone.kernel.document.charts import ChartPanels
from ragstone.kernel.document.numbers import count, number, one_line, people, usd, value_range
from ragstone.kernel.errors import plural
from ragstone.kernel.records import STATUSES
from ragstone.kernel.runs.wording import agreement, doubt, statuses
from ragstone.kernel.version import __version__

SHOWN_FIGURES = 3
SHOWN_ALARMS = 20  # in a terminal
SHOWN_EVALUATORS = 30
SHOWN_GAPS, BRIEF_GAPS = 20, 5  # on a page, in a terminal
NARROW = 0.03
LONGEST = 120  # characters of an example
LONGEST_NAME = 40  # characters in a terminal
LEADS = ("faithfulness", "answered", "relevance", "feedback")
ALL = {"good": "All metrics", "alarms": "All alarms", "gaps": "All gaps"}
CAUSES = {
    "application": "The application changed, not the judge",
    "judge": "The judge changed, not the application",
    "both": "Judge and application changed",
}
BAND = (
    "The band is the 95 % interval. A solid vertical line is an alarm, on the day when the change is "
    "estimated to have begun. A dashed line is a change of judge."
)
ONE_DAY = (
    "There is one point so far, so there is no trend yet: each chart shows one dot and its 95 % "
    "interval. A line appears when there are exchanges from a second day or week."
)
BY_LABEL = "by label"  # in place of the mean of labels without an order; their shares are below
WEIGHTED = (
    "Scores from 0 to 1, weighted to represent all exchanges, not only the sample. A row without a score "
    "is counted under its status, never as a score."
)
OF_OTHERS = (
    "What evaluators other than Ragstone sent with the traces. The scale of their scores and the choice "
    "of their exchanges are unknown, so these means have no interval, appear in no trend and raise no "
    "alarm."
)
TO_MEASURE = (
    "To measure them, label some answers, run `ragstone agree … --json > cards.json`, and name that file as "
    "`cards` in `[monitor]`."
)


def monitor_document(look: Look, *, served: str = "") -> ReportDocument:
    """Return the document: is it good, did it change, what is missing; then all that is behind the answers.

    served: where a server has the page, with all questions below it.
    """
    held = look.overview
    answers = {"good": _good(look), "alarms": _changed(look), "gaps": _missing(look)}
    last = [f"last exchange on {day_of(held.last)}"] if held.last else []
    about = [held_words(look)[0][1], f"{count(held.n_judged)} judged", *last, f"seen on {day_of(look.today)}"]
    return ReportDocument(
        title="In production",
        kind="monitor",
        about=" · ".join(about),
        version=__version__,
        blocks=[
            *_alarm_lines(look),
            Findings(
                findings=[
                    msgspec.structs.replace(finding, anchor=anchor, link=ALL[anchor])
                    for anchor, finding in answers.items()
                ]
            ),
            Heading("What changed", anchor="alarms", where="page"),
            _alarm_table(look.alarms)
            if look.alarms
            else Paragraph(" ".join(told(answers["alarms"])), prose=True, where="page"),
            *_courses(look),
            Heading("All metrics", anchor="good"),
            *_metrics(look),
            *_evaluators(look.evaluators),
            *mode_blocks(look, served),
            *_feedback(look.feedback),
            Pairs(held_words(look)),
            Heading("What is missing from the documents", anchor="gaps", where="page"),
            *(_gaps(look, served) or [Paragraph(" ".join(told(answers["gaps"])), prose=True, where="page")]),
            RowList(template="monitor_list.html", heading="Questions to open"),
        ],
        skip=("questions", "questions"),
    )


def _feedback(lines: list[str]) -> list[Block]:
    """Return what users' feedback became, for a page; nothing where nobody asked."""
    if not lines:
        return []
    return [
        Heading("What users' feedback became", anchor="feedback", where="page"),
        SurfacePart([Listing(lines, prose=True)], where="page"),
    ]


def _alarm_lines(look: Look) -> list[Block]:
    """Return the open alarms for a terminal, a line each."""
    open_alarms, others = look.open_alarms, len(look.alarms) - len(look.open_alarms)
    lines = [
        Paragraph(f"ALARM: {alarm_line(alarm)}", tone="bad", part="answer")
        for alarm in open_alarms[:SHOWN_ALARMS]
    ]
    if len(open_alarms) > SHOWN_ALARMS:
        lines.append(Paragraph(f"and {plural(len(open_alarms) - SHOWN_ALARMS, 'more alarm')}", tone="bad"))
    if others:
        are = "is over or shows" if others == 1 else "are over or show"
        lines.append(Paragraph(f"{plural(others, 'alarm')} that {are} an improvement", tone="muted"))
    return [SurfacePart(lines, where="terminal")]


def _alarm_table(alarms: Sequence[Alarm]) -> Table:
    """Return the alarms for a page, the latest first."""
    sides = {True: "worse", False: "better", None: ""}

    def name(alarm: Alarm) -> Cell:
        beneath = f"and {plural(len(alarm.beneath), 'alarm')} of the same change" if alarm.beneath else ""
        return Cell(metric_of(alarm), beneath, "muted" if alarm.over else "")

    def side(alarm: Alarm) -> Cell:
        return Cell(sides[alarm.worse], tone="warn" if alarm.worse and not alarm.over else "")

    columns: list[Made[Alarm]] = [
        (Column("Metric", text=True), name),
        (
            Column("Since", text=True),
            lambda alarm: Cell(str(alarm.since), f"over since {alarm.over}" if alarm.over else ""),
        ),
        (Column("Raised", text=True), lambda alarm: str(alarm.raised or "by its name")),
        ("Before", lambda alarm: mean_words(alarm, alarm.before)),
        ("After", lambda alarm: Cell(mean_words(alarm, alarm.after), tone="strong")),
        (Column("", text=True), side),
        (Column("Application or judge?", text=True), cause_words),
    ]
    return table_of("Alarms", reversed(alarms), columns, kind="wide alarms", where="page")


def _courses(look: Look) -> list[Block]:
    """Return the trends, as charts of a page."""
    is_one_day = all(len(chart.rows) < 2 for chart in look.charts)
    trends = [
        Heading("Trends", anchor="trends", where="page"),
        Paragraph(ONE_DAY if is_one_day else BAND, tone="lead", where="page"),
        SurfacePart(look.charts, kind="courses", where="page"),
    ]
    groups = [Heading("By group", anchor="groups", where="page"), ChartPanels(panels=look.panels)]
    use = [
        Heading("Use", anchor="use", where="page"),
        SurfacePart(look.use_charts, kind="courses", where="page"),
    ]
    return [
        *(trends if look.charts else []),
        *(groups if look.panels else []),
        *(use if look.use_charts else []),
    ]


def _metrics(look: Look) -> list[Block]:
    """Return the mean of every metric, the shares of labels to open on a page."""
    if not look.rows:
        empty = not look.overview.n_exchanges
        hint = "The store has no exchanges yet. Read a log: `ragstone watch LOG`" if empty else ""
        return [Paragraph(hint or "No exchange has been judged yet.", prose=True)]
    labels = [row for row in look.rows if row.is_label]
    shares = [_means(look, labels, "Shares of labels")] if labels else []
    return [
        Paragraph(WEIGHTED, tone="lead", where="page"),
        _means(look, [row for row in look.rows if not row.is_label], "Means of all metrics"),
        *([Fold("Shares of labels", shares, where="page")] if labels else []),
        SurfacePart(
            [Paragraph("Shares of labels", tone="muted"), *shares] if labels else [], where="terminal"
        ),
        Paragraph(trust(look.rows), part="caution"),
        *([] if look.cards else [Paragraph(TO_MEASURE, prose=True, where="page")]),
    ]


def _means(look: Look, rows: Sequence[MetricRow], label: str) -> Table:
    def name(row: MetricRow) -> Cell:
        mean = row.mean
        doubled = sum(other.mean.metric == mean.metric for other in look.rows) > 1
        judge = judge_words(mean.judge)
        return Cell(mean.metric, judge, short=f"{mean.metric} ({judge})" if doubled else "")

    def worth(row: MetricRow) -> Cell:
        if row.card is None:
            return Cell("people" if row.mean.judge == PEOPLE else "not measured", tone="muted")
        return Cell(agreement(row.card), caution=doubt(row.card) or "")

    # Labels without an order have shares; a mean of their numbers says nothing.
    numbered = {
        row.mean.metric
        for row in look.rows
        if row.mean.best == "none" and any(f"{row.mean.metric}=" in other.mean.metric for other in look.rows)
    }

    def shown(row: MetricRow, point: TrendPoint | None) -> str:
        if point and row.mean.metric in numbered:
            return BY_LABEL
        return mean_of(point) if point else ""

    def ends(row: MetricRow, point: TrendPoint | None) -> str:
        return interval_of(point) if point and row.mean.metric not in numbered else ""

    columns: list[Made[MetricRow]] = [
        (Column("Metric", text=True, short=""), name),
        (
            Column(f"Since {look.since}", where="page"),
            lambda row: Cell(shown(row, row.recent), tone="strong"),
        ),
        (Column("95 % interval", where="page"), lambda row: ends(row, row.recent)),
        (
            Column("Rests on", text=True, where="page"),
            lambda row: rests_on(row.recent) if row.recent else "none",
        ),
        (Column("All days", short="mean"), lambda row: shown(row, row.mean.whole)),
        (Column("95 % interval", where="terminal"), lambda row: ends(row, row.mean.whole)),
        (Column("Rests on", text=True, short="of"), lambda row: rests_on(row.mean.whole)),
        *([(Column("Agreement with people", text=True, where="page"), worth)] if look.cards else []),
    ]
    return table_of(label, rows, columns)


def _evaluators(rows: Sequence[EvaluatorSummary]) -> list[Block]:
    """Return what others' evaluators said, as it came: nobody tells the scale of their scores."""
    if not rows:
        return []

    def of(row: EvaluatorSummary) -> str:
        errors = f", {plural(row.n_errors, 'error')}" if row.n_errors else ""
        return f"{row.n_scores:,} of {plural(row.n, 'evaluation')}{errors}"

    def labels(row: EvaluatorSummary) -> str:
        return one_line(", ".join(f"{label} {n:,}" for label, n in row.labels.items()), LONGEST)

    columns: list[Made[EvaluatorSummary]] = [
        (
            Column("Evaluation", text=True, short=""),
            lambda row: Cell(
                one_line(row.metric, LONGEST_NAME),
                one_line(f"{row.evaluator} {row.version}".strip(), LONGEST),
            ),
        ),
        (Column("Mean as sent", short="mean"), lambda row: "" if row.mean is None else number(row.mean)),
        (
            Column("From, to", where="page"),
            lambda row: (
                "" if row.low is None or row.high is None else f"{number(row.low)}, {number(row.high)}"
            ),
        ),
        (Column("Scores", text=True, short="of"), of),
        (Column("Labels", text=True, where="page"), labels),
    ]
    return [
        Heading("Evaluations by others", level=3, anchor="evaluations"),
        Paragraph(OF_OTHERS, tone="lead", where="page"),
        table_of("Evaluations by others", rows[:SHOWN_EVALUATORS], columns),
        *([Paragraph(f"And {len(more):,} more.", tone="muted")] if (more := rows[SHOWN_EVALUATORS:]) else []),
    ]


def _gaps(look: Look, served: str) -> list[Block]:
    """Return what the documents lack most, by how many people asked: on a page with their questions."""
    if not look.shown_gaps or look.gaps is None:
        return []
    since, first_gaps, asker = look.gaps.since, look.shown_gaps[:SHOWN_GAPS], _asker(look)
    lead = (
        f"Questions {_days_of(look.gaps)} that got no answer, or one that its contexts do not support, "
        f"ordered by how many {_askers(asker)} they come from. `ragstone watch --gaps gaps.csv` writes the "
        "full work list."
    )
    columns: list[Made[Gap]] = [
        (
            Column(f"Gaps since {since}{' or without a time' if look.gaps.untimed else ''}", text=True),
            lambda gap: one_line(gap.name, LONGEST_NAME),
        ),
        *([] if asker == "exchange" else [(_askers(asker), lambda gap: count(gap.n_people))]),
        ("exchanges", lambda gap: count(gap.n_questions)),
        (
            Column("", text=True),
            lambda gap: Cell(
                one_line(f"nearest: {gap.nearest[0].document_id}", LONGEST_NAME) if gap.nearest else "",
                tone="muted",
            ),
        ),
    ]
    brief = table_of("Gaps", look.shown_gaps[:BRIEF_GAPS], columns, where="terminal")
    return [
        Paragraph(lead, tone="lead", prose=True, where="page"),
        *(_gap(rank, gap, asker, served) for rank, gap in enumerate(first_gaps, 1)),
        *_more(look.gaps.n_gaps - len(first_gaps), f"from fewer {_askers(asker)}.", "page"),
        SurfacePart([Heading("What is missing from the documents"), brief], where="terminal"),
        *_more(look.gaps.n_gaps - BRIEF_GAPS, "", "terminal"),
    ]


def _more(n: int, ending: str, where: Where) -> list[Block]:
    text = f"And {plural(n, 'more gap')}{', ' if ending else ''}{ending}"
    return [Paragraph(text, tone="muted", where=where)] if n > 0 else []


Asker = Literal["person", "conversation", "exchange", "asker"]


def _asker(look: Look) -> Asker:
    """Return what was counted as one who asked: an exchange's conversation, else its user, else itself.

    Where exchanges differ in what they name, and of those without a time, it is not known which of these.
    """
    whole = look.use.whole
    if whole is None or (look.gaps and look.gaps.untimed):
        gaps = look.gaps.gaps if look.gaps else []
        return "exchange" if all(gap.n_people == gap.n_questions for gap in gaps) else "asker"
    if whole.n_conversation == whole.n:
        return "conversation"
    if whole.n_conversation:
        return "asker"
    if whole.n_user == whole.n:
        return "person"
    return "asker" if whole.n_user else "exchange"


def _askers(asker: Asker, n: int | None = None) -> str:
    """Return them as a word, with their number where one is given."""
    if asker == "person":
        return "people" if n is None else people(n)
    return f"{asker}s" if n is None else plural(n, asker)


def _gap(rank: int, gap: Gap, asker: Asker, served: str) -> Block:
    """Return a gap with its examples, to open on a page. rank: from 1, the most wanted."""
    more = gap.estimated > gap.n_questions + 0.5
    about = f", of about {count(round(gap.estimated))}" if more else ""
    facts = [
        "" if asker == "exchange" else _askers(asker, gap.n_people),
        plural(gap.n_questions, "exchange") + about,
        f"{count(gap.unanswered)} unanswered, {count(gap.unfaithful)} not supported",
        ", ".join(f"{lang} {count(n)}" for lang, n in gap.langs.items()),
        f"last on {day_of(gap.last)}" if gap.last else "",
    ]
    near = ", ".join(f"{document.document_id} ({count(document.n_questions)})" for document in gap.nearest)
    target = f"{served}/questions?gap={rank}" if served else "questions"
    blocks: list[Block] = [
        Heading(f"{rank}. {gap.name}", level=3, anchor=f"gap-{rank}"),
        Paragraph(" · ".join(filter(None, facts)), tone="muted"),
        Listing([one_line(example.question, 300) for example in gap.examples]),
        *([Paragraph(f"Nearest documents: {near}", tone="muted")] if near else []),
        Paragraph("", link=Link("Open its questions", target, gap.name)),
    ]
    return SurfacePart(blocks, kind="gap", where="page")


def lead_rows(look: Look) -> list[MetricRow]:
    """Return the means that lead: of faithfulness, answered, relevance; of each that of its latest judge."""
    latest = {row.mean.metric: row for row in sorted(look.rows, key=lambda row: row.mean.whole.day)}
    named = [latest[name] for name in LEADS if name in latest]
    return named or [row for row in latest.values() if row.mean.best != "none"]


def _good(look: Look) -> HeadlineFinding:
    rows = [row for row in lead_rows(look) if row.recent and row.recent.mean is not None][:SHOWN_FIGURES]
    held = look.overview
    is_part = bool(look.since and held.first and held.first < look.since)
    late = f", last {RECENT_DAYS} days" if is_part else ""
    figures = [
        Figure(row.mean.metric + late, mean_of(row.recent), _interval(row.recent), rests_on(row.recent))
        for row in rows
        if row.recent and row.recent.mean is not None
    ]
    if not figures:
        return HeadlineFinding("Is it good?", [], ["No exchange has been judged yet."])
    span = f"Means of the last {RECENT_DAYS} days of the log, to {day_of(held.last)}."
    return HeadlineFinding("Is it good?", figures, [span, trust(rows)])


def trust(rows: list[MetricRow]) -> str:
    """Return what the judges behind these means are worth."""
    judged = [row for row in rows if row.mean.judge != PEOPLE]
    if not judged:
        return "By people."
    if all(row.card is None for row in judged):
        return "By judges that nobody has compared with people on this task."
    doubted = [row.mean.metric for row in judged if row.card is not None and doubt(row.card)]
    unmeasured = [row.mean.metric for row in judged if row.card is None]
    parts = []
    if doubted:
        parts.append(f"The judge of {', '.join(doubted)} is not shown to be better than its baseline.")
    if unmeasured:
        parts.append(f"The judge of {', '.join(unmeasured)} was not compared with people.")
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
    if _is_narrow(point):
        return f"{_placed(point.low, point)} to {_placed(point.high, point)}"
    return value_range(point.low, point.high)


def mean_of(point: TrendPoint) -> str:
    """Return the mean, empty where nothing was scored."""
    return "" if point.mean is None else _placed(point.mean, point)


def _placed(value: float, point: TrendPoint) -> str:
    """Return a value with two decimals, with three where two would not show the interval."""
    return f"{value:.3f}" if _is_narrow(point) else number(value)


def _is_narrow(point: TrendPoint) -> bool:
    return point.low is not None and point.high is not None and point.high - point.low < NARROW


def _interval(point: TrendPoint) -> str:
    ends = interval_of(point)
    return f"95 % interval {ends}" if ends else "no interval"


def _changed(look: Look) -> HeadlineFinding:
    question = "Did it change?"
    open_alarms = sorted(look.open_alarms, key=_weight)
    if not open_alarms:
        return _quiet(question, look)
    first = open_alarms[0]
    figure = Figure(
        f"{metric_of(first)}, since {day_of(first.since)}",
        f"{mean_words(first, first.before, digits=2)} → {mean_words(first, first.after, digits=2)}",
        f"{'raised on ' + day_of(first.raised) if first.raised else 'another judge since then'}",
        f"{count(first.before.n)} scored before, {count(first.after.n)} after",
    )
    more = len(open_alarms) - 1
    below = f"{plural(more, 'more open alarm')} below." if more else ""
    return HeadlineFinding(question, [figure], [cause_words(first)], below)


def cause_words(alarm: Alarm) -> str:
    """Return whether it was the application or the judge, and how that is known."""
    text = f"{CAUSES[alarm.cause]}: {alarm.says}" if alarm.cause in CAUSES else alarm.says
    return f"{text[:1].upper()}{text[1:]}."


def _weight(alarm: Alarm) -> tuple[bool, int, float]:
    """Order alarms: what got worse, by metrics that say most, the largest first."""
    rank = FIRST.index(alarm.metric) if alarm.metric in FIRST else len(FIRST) + (alarm.judge == LOG)
    return not alarm.worse, rank, -abs(alarm.moved)


def _quiet(question: str, look: Look) -> HeadlineFinding:
    """Return what is said where no alarm is open: that it is too early, or that nothing was found."""
    held = look.overview
    n_others = len(look.alarms)
    if look.compared == "nothing" and not n_others:
        over = min(held.last, look.today - timedelta(days=1)) if held.last else None  # today still fills
        days = (over - held.first).days + 1 if held.first and over else 0
        early = f"The search for changes starts after {plural(look.baseline_days, 'day')}, and "
        early += (
            f"the log has {plural(max(days, 0), 'complete day')}."
            if days <= look.baseline_days
            else "no metric has enough scores before and after that to compare."
        )
        return HeadlineFinding(question, [], [early], instead="Too early to tell")
    others = [f"Below: {plural(n_others, 'alarm')}, over or showing an improvement."] if n_others else []
    if look.compared == "use":
        others.append("Only the use of the application was compared: there are too few scores yet.")
    return HeadlineFinding(question, [], others, instead="No alarm is open")


def metric_of(alarm: Alarm) -> str:
    """Return the metric with the value of the tag that changed."""
    return f"{alarm.metric} ({alarm.tag} {alarm.value})" if alarm.tag else alarm.metric


def day_of(day: date | None) -> str:
    """Return `2 March 2026`, empty for none."""
    return f"{day.day} {day:%B} {day.year}" if day else ""


def _missing(look: Look) -> HeadlineFinding:
    question, gaps = "What is missing?", look.gaps
    if gaps is None:
        return HeadlineFinding(question, [], ["Gaps have not been looked for yet: run `ragstone watch`."])
    if not gaps.gaps:
        return _no_gap(question, gaps)
    first = gaps.gaps[0]
    figure = Figure(
        first.name,
        _askers(_asker(look), first.n_people),
        f"{count(first.unanswered)} unanswered, {count(first.unfaithful)} not supported",
        f"of {plural(gaps.n_missed, 'exchange')} in {plural(gaps.n_gaps, 'gap')} {_days_of(gaps)}",
    )
    sentences = [f"For example: {one_line(first.examples[0].question, LONGEST)}"]
    sentences += [f"Nearest document: {first.nearest[0].document_id}."] if first.nearest else []
    return HeadlineFinding(question, [figure], sentences)


def _no_gap(question: str, gaps: KeptGaps) -> HeadlineFinding:
    """Return what is said where no gap was found: only judges of two metrics can find one."""
    since = f"Since {day_of(gaps.since)}"
    if gaps.scored is None:
        return HeadlineFinding(question, [], [f"{since}."], instead="No gap was found")
    if not gaps.scored:
        return HeadlineFinding(
            question, [], [f"{since} no exchange was scored for {ANSWERED} or {FAITHFUL}."]
        )
    by = " and ".join(gaps.scored) if len(gaps.scored) > 1 else f"{gaps.scored[0]} alone"
    return HeadlineFinding(question, [], [f"{since}, by {by}."], instead="No gap was found")


def _days_of(gaps: KeptGaps) -> str:
    """Return from when on gaps are, and of how many exchanges nobody knows when they were."""
    untimed = f" or without a time ({count(gaps.untimed)})" if gaps.untimed else ""
    return f"since {day_of(gaps.since)}{untimed}"


def held_words(look: Look) -> list[tuple[str, str]]:
    """Return how much there is, what was judged of it, and what that cost: (name, words)."""
    held = look.overview
    share = f" ({100 * held.n_sampled / held.n_exchanges:.0f} %)" if held.n_exchanges else ""
    span = f", {held.first} to {held.last}" if held.first else ""
    calls, tokens, money = look.spent
    cap = f"; the daily cap is {look.cap}" if look.cap else "; no cap"
    paid = ", cost unknown" if money is None else f", {usd(money)}" if money else ""
    rows = [
        ("in the log", plural(held.n_exchanges, "exchange") + span),
        (
            "in the sample",
            f"{count(held.n_sampled)}{share}, {count(held.n_sampled - look.left)} judged by all chosen "
            f"judges, {count(look.left)} left",
        ),
        ("people's feedback", f"on {plural(held.n_feedback, 'exchange')}"),
        *use_words(look.use.whole),
        ("spent today", f"{plural(calls, 'call')}, {plural(tokens, 'token')}{paid}{cap}"),
        ("frozen answers", _frozen(look)),
    ]
    if held.in_future:
        rows.insert(
            1,
            (
                "in the future",
                f"{plural(held.in_future, 'exchange')} with a time in the future, left out of trends and "
                "means",
            ),
        )
    if held.without_time:
        rows.insert(
            1, ("without a time", f"{plural(held.without_time, 'exchange')}, left out of trends and means")
        )
    return rows


def _frozen(look: Look) -> str:
    judges = {row.mean.judge for row in look.rows} - {PEOPLE}
    if judges and all(map(cannot_drift, judges)):
        return "not needed: no judge calls a model, so none can drift"
    if look.rounds:
        n, again = look.rounds
        return f"{plural(n, 'answer')}, judged again {plural(again, 'time')}: a check on the judge"
    return "none yet" if look.wants_canaries else "none: a change of the judge would not be noticed"
