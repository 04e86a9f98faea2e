"""Blame in words, the same on the page and in the terminal."""

from collections.abc import Mapping, Sequence

from ragstone.experiments.causes import Cause, Caused
from ragstone.experiments.shares import Largest, Share, SystemBlame
from ragstone.report.blame import BlameSummary
from ragstone.report.wording import STATUS_WORDS, count, p_value, plural, with_level

WHAT = {
    "dataset": "the reference, or the documents that the question names",
    "retriever": "nothing of use was brought",
    "model + prompt": "what was brought was not made into a right answer",
    "judge": "judge and second opinion disagree",
    "cannot tell": "what is known does not tell",
}
SHOWN_QUESTIONS = 12  # links behind a cause


def judged_by(row: SystemBlame) -> str:
    """Return whose verdict a point is, and whose the second opinion is."""
    model = "" if row.model == "none" else f" ({row.model})"
    second = f", second opinion: {row.second}" if row.second else ""
    return f"Judge: {row.judge}{model}{second}."


def outcome(row: SystemBlame) -> str:
    """Return where the points went, in one sentence."""
    if not row.n_lost and not row.n_hidden:
        return f"None of {plural(row.n_counted, 'point')} is lost, so there is nothing to blame."
    said = f"{count(row.n_lost)} of {plural(row.n_counted, 'point')} lost"
    if row.n_hidden:
        said += f", and {count(row.n_hidden)} given that the second opinion takes away"
    return f"{said}. {_largest(row, row.largest)}" if row.largest else f"{said}."


def _largest(row: SystemBlame, found: Largest) -> str:
    of = {share.component: share.n for share in row.shares}
    first, second = (f"{name} ({count(of[name])})" for name in (found.first, found.second))
    if found.verdict == "largest":
        return f"Most are to be blamed on the {first}; next is the {second} (p = {p_value(found.p_holm)})."
    return (
        f"Whether more are to be blamed on the {first} or the {second} cannot be told from "
        f"{plural(found.n, 'question')} (p = {p_value(found.p_holm)})."
    )


def worth(row: SystemBlame) -> str:
    """Return what better retrieval could bring back, empty where nobody asked."""
    if row.returned is None:
        return ""
    n, n_right = row.returned.n, row.returned.n_right
    return (
        f"With the right documents in hand {count(n_right)} of the {plural(n, 'lost point')} that were asked "
        f"again {'comes' if n_right == 1 else 'come'} back."
    )


def share_told(share: Share) -> str:
    """Return a share, or that it was not measured."""
    if share.share is None:
        return "not measured"
    return f"{_percent(share.share.value)} %"


def share_range(share: Share) -> str:
    """Return the interval of a share in percent, and of how many questions it is one."""
    estimate = share.share
    if estimate is None:
        return "no second opinion" if share.component == "judge" else "no questions"
    if estimate.low is None or estimate.high is None:
        return f"{with_level(estimate)}; of {count(estimate.n)}"
    return f"{_percent(estimate.low)} to {_percent(estimate.high)} % of {count(estimate.n)}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}" if 0 < share < 0.1 else f"{100 * share:.0f}"


def left_out(row: SystemBlame) -> str:
    """Return what was not counted, and why; empty where all was."""
    if not row.left_out:
        return ""
    words: Mapping[str, str] = {str(status): said for status, said in STATUS_WORDS.items()}
    reasons = ", ".join(f"{count(n)} {words.get(reason, reason)}" for reason, n in row.left_out.items())
    return f"Left out: {plural(sum(row.left_out.values()), 'answer')} ({reasons})."


def shown_shares(row: SystemBlame) -> list[Share]:
    """Return the shares, the largest first; what nobody could assign only where there is some."""
    shown = [share for share in row.shares if share.component != "cannot tell" or share.n]
    return sorted(shown, key=lambda share: (share.component == "cannot tell", -_value(share)))


def longest(row: SystemBlame) -> float:
    """Return the largest share, which the bars are drawn to."""
    return max((share.share.value for share in row.shares if share.share), default=0.0)


def _value(share: Share) -> float:
    return share.share.value if share.share else -1.0


def notes(summary: BlameSummary) -> list[str]:
    """Return all notes, those on one system with its name where there are several."""
    several = len(summary.systems) > 1
    return [
        *summary.notes,
        *(f"{row.system}: {note}" if several else note for row in summary.systems for note in row.notes),
    ]


def of_cause(causes: Sequence[Caused], system: str, cause: Cause) -> list[Caused]:
    """Return one system's points of a cause, in the order of the file."""
    return [row for row in causes if row.system == system and row.cause == cause]
