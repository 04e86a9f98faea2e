"""What feedback became -> the lines of a terminal and of the monitor's page, and where the page finds it."""

from pathlib import Path

import msgspec

from ragstone.features.sample._feedback_reading import LONGEST
from ragstone.features.sample._sentence_table import (
    ANSWERED,
    ANSWERED_ALONE,
    DOWN_WRONG,
    NO_RATE,
    RIGHT,
    THUMBS,
    UNCHECKED,
    UP_RIGHT,
)
from ragstone.features.sample.feedback import KEPT, FeedbackSummary
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import say
from ragstone.kernel.tables.state import write_state

WHY = {
    "nothing_asked": "to a question without a letter",
    "small_talk": "to a greeting or thanks",
    "follow_up": "to a question that makes no sense alone",
    "no_answer": "of nothing but marks, greetings, thanks, yes or no",
    "the_same_answer": "equal to the answer",
    "too_long": f"longer than {LONGEST:,} characters",
    "a_comment": "with a thumb up, which may be a comment",
    "an_earlier_one_of_the_question": "replaced by a later one of the same question",
}


def feedback_lines(summary: FeedbackSummary) -> list[str]:
    """Return what feedback says, a sentence or two a line; empty for a log without thumbs and corrections."""
    answered = [say(row, ANSWERED, ANSWERED_ALONE) for row in summary.answered]
    lines = [
        say(summary, THUMBS),
        say(summary, UNCHECKED),
        say(summary, RIGHT, NO_RATE),
        say(summary, DOWN_WRONG),
        say(summary, UP_RIGHT),
        *answered,
    ]
    return [line for line in lines if line]


def feedback_losses(summary: FeedbackSummary) -> list[str]:
    """Return what of the feedback was left out, a reason a line."""
    left_out = {
        f"{plural(n, 'correction')} {WHY[why]}" for why, n in summary.corrections_left_out.items() if n
    }
    lines = [f"Left out: {', '.join(sorted(left_out))}."] if left_out else []
    if rows := sum(summary.left_out.values()):
        lines.append(
            f"Not counted: {plural(rows, 'row')} without an answer, or without a question that makes sense "
            "alone."
        )
    if summary.rate and summary.rate.n_tied:
        lines.append(f"Annotators tied on {plural(summary.rate.n_tied, 'answer')}: counted as not labelled.")
    if summary.unknown:
        lines.append(
            f"Left out: {plural(summary.unknown, 'row')} of feedback on exchanges that the log lacks."
        )
    if summary.replaced:
        lines.append(f"Replaced by later feedback on the same exchange: {plural(summary.replaced, 'row')}.")
    if summary.unread:
        lines.append(f"Off the scale of feedback_scale in [monitor]: {plural(summary.unread, 'value')}.")
    if summary.malformed:
        lines.append(
            f"{plural(summary.malformed, 'row')} cannot be read. The first:\n" + "\n".join(summary.shown)
        )
    return lines


def keep_summary(store: Path, summary: FeedbackSummary) -> None:
    """Keep what was said last in the monitor's store, for its page; without a store nothing is kept."""
    if store.is_dir():
        write_state(store / KEPT, summary)


def kept_lines(store: Path) -> list[str]:
    """Return the lines that were kept last; empty without any. What cannot be read is told."""
    try:
        return feedback_lines(msgspec.json.decode((store / KEPT).read_bytes(), type=FeedbackSummary))
    except FileNotFoundError:
        return []
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return [f"{KEPT} cannot be read: `ragstone sample --feedback` with the labels writes it again."]
