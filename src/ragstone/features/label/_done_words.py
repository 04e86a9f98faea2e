"""What is said after the last label of a queue: how many there are, and what they show."""

from collections.abc import Sequence

from ragstone.features.label._annotators import AnnotatorAgreement
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.document.numbers import count, with_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.wording import agreement, doubt, judge_name


def counted_line(n_labelled: int, n_skipped: int, n_left: int) -> str:
    """Return how many labels somebody gave. n_left: items that have neither a label nor a skip."""
    skipped = f", {count(n_skipped)} skipped" if n_skipped else ""
    if n_left:
        return f"{plural(n_labelled, 'label')}{skipped}, {count(n_left)} to go."
    return f"Done: {plural(n_labelled, 'label')}{skipped}."


def figure_lines(n_open: int, cards: Sequence[ReportCard], people: AnnotatorAgreement) -> list[str]:
    """Return what the labels of a queue show of the judge and of people.

    n_open: answers that somebody has neither labelled nor skipped. Until there are none nothing is said of
    the judge: intervals of a report card are for one look, at the end.
    """
    lines = []
    if n_open:
        waiting = f"{plural(n_open, 'answer')} of this queue still {'waits' if n_open == 1 else 'wait'}"
        lines.append(f"{waiting} for others, so how far the judge agrees with people is not said yet.")
    for card in () if n_open else cards:
        against = f" It is {doubt(card)}." if doubt(card) else ""
        on = f" on {plural(card.n, 'labelled answer')}" if card.lead else ""
        lines.append(f"{judge_name(card)} beside people{on}: {agreement(card)}.{against}")
    if people.n_answers:
        lines.append(_people_line(people))
    return lines


def _people_line(people: AnnotatorAgreement) -> str:
    alphas = [f"Krippendorff's {name} {with_ends(alpha)}" for name, alpha in people.alpha.items()]
    beyond = alphas[0] if alphas else "agreement beyond chance is undefined"
    n_same = people.n_answers - people.n_differing
    several = f"{plural(people.n_answers, 'answer')} that several labelled"
    return f"People among themselves: the same grade on {count(n_same)} of {several}; {beyond}."
