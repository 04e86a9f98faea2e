"""What a look at a log has done, in lines of a terminal: rows read, exchanges judged."""

from ragstone.features.export import EventCounts
from ragstone.features.watch._reading import ReadCounts
from ragstone.features.watch.look import WatchSummary
from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import plural


def read_lines(read: ReadCounts) -> list[str]:
    """Return what became of the rows that were read now, and what a reader must know of them."""
    lines = [f"{plural(read.rows, 'row')} read: {count(read.new)} new, {count(read.again)} already known."]
    if read.feedback:
        lines[0] = lines[0][:-1] + f", {count(read.feedback)} with feedback alone."
    if read.evaluations:
        lines.append(f"{plural(read.evaluations, 'evaluation')} by other evaluators.")
    if read.evaluations_of_nothing:
        lines.append(
            f"{plural(read.evaluations_of_nothing, 'evaluation')} without a trace: left out, because the "
            "answer is unknown."
        )
    if read.without_question:
        lines.append(f"{plural(read.without_question, 'row')} without a question, left out.")
    if read.unread_times:
        lines.append(
            f"The time of {plural(read.unread_times, 'row')} is not in a known format, or not between 1973 "
            "and 2103."
        )
    elif read.without_time:
        lines.append(f"{plural(read.without_time, 'row')} without a time in a known field.")
    if read.unread_feedback:
        lines.append(
            f"The feedback of {plural(read.unread_feedback, 'row')} is off its scale, "
            "feedback_scale in [monitor]."
        )
    lines += [
        f"{path}: replaced or truncated since the last time; read again from the start." for path in read.anew
    ]
    if read.malformed:
        lines.append(f"{plural(read.malformed, 'row')} cannot be read. The first:")
        lines += [f"  {line}" for line in read.shown]
    return lines


def judged_line(summary: WatchSummary) -> str:
    """Return what was judged now, in one line."""
    parts = [f"{plural(summary.judged, 'exchange')} judged now, {plural(summary.calls.made, 'call')}"]
    if summary.given or summary.unplaced:
        parts.append(
            f"{plural(summary.given, 'judgement')} added, {count(summary.unplaced)} for exchanges that are "
            "not stored"
        )
    if summary.canaries:
        parts.append("canaries judged again")
    if summary.events is not None:
        parts += _event_parts(summary.events)
    if summary.cut_off:
        parts.append("today's budget is spent: the rest is judged on a later day")
    return "; ".join(parts) + "."


def _event_parts(events: EventCounts) -> list[str]:
    parts = [f"{plural(events.sent, 'event')} sent to {events.url}"]
    if events.rejected:
        parts.append(f"{count(events.rejected)} rejected by the collector")
    if events.lost:
        parts.append(f"{plural(events.lost, 'event')} not sent and lost")
    return parts + ([f"the collector: {events.why.rstrip('.')}"] if events.why else [])
