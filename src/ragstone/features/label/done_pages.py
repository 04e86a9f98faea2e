"""What is said after the last label of a queue: how many there are, what they show, and where to go on."""

from collections.abc import Sequence

import msgspec
from litestar import get
from litestar.params import FromPath

from ragstone.features.label._annotators import AnnotatorAgreement, annotator_agreement
from ragstone.features.label._marking import progress_of
from ragstone.features.label._queues import GIVEN as GIVEN
from ragstone.features.label._queues import AtQueue, queues_of
from ragstone.features.label.item_pages import marks_of
from ragstone.features.label.pages import LABEL, WITHIN, is_blind, labelled_result
from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.document.numbers import count, with_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.wording import agreement, doubt, judge_name
from ragstone.kernel.serve.frame import ANNOTATOR, AtPerson
from ragstone.kernel.serve.state import AtApp


class LabelsDone(msgspec.Struct, frozen=True, kw_only=True):
    """What is said after the last label. lines: sentences; links: (words, address)."""

    lines: list[str]
    links: list[tuple[str, str]]


@get("/label/{name:str}/done", sync_to_thread=True, guards=[ANNOTATOR])
def done(app: AtApp, person: AtPerson, opened: AtQueue, name: FromPath[str]) -> LabelsDone:
    """Give what somebody's labels come to, as far as they may see it, and where to go on."""
    own = marks_of(opened, person.name)
    places = opened.queue.places_of(person.name)
    n_skipped = sum(own[at].skipped for at in places if at in own)
    n_left = sum(at not in own for at in places)
    labels = opened.labels()
    so_far = progress_of(opened.queue, labels, opened.marks.skips.rows())
    lines = [counted_line(len(places) - n_left - n_skipped, n_skipped, n_left)]
    links = [("See the progress", f"{LABEL}/{name}/progress")]
    if not is_blind(person, opened) and opened.queue.is_sample and not n_left:
        result = labelled_result(app, opened, labels, WITHIN, None, so_far)
        people = annotator_agreement(labels, opened.queue.metric, opened.queue.grades)
        lines += figure_lines(so_far.n_open, result.cards, people)
        if result.cards:
            links = [("See the report card", f"{LABEL}/{name}/progress#card-1")]
    elif n_skipped and not n_left and person.role == "annotator" and opened.queue.is_sample:
        lines.append("You see figures once the answers that you skipped have labels too.")
    following = next(
        (
            other.queue.name
            for other in app.part(queues_of).all()[0]
            if other.queue.name != name and other.share_of(person.name)[0] < other.share_of(person.name)[1]
        ),
        None,
    )
    links.append((f"Next queue: {following}", f"{LABEL}/{following}") if following else ("All queues", LABEL))
    return LabelsDone(lines=lines, links=links)


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
        lines.append(f"{waiting} for others, so how far the judge agrees with people is not shown yet.")
    for card in () if n_open else cards:
        against = f" It is {doubt(card)}." if doubt(card) else ""
        on = f" on {plural(card.n, 'labelled answer')}" if card.lead else ""
        lines.append(f"{judge_name(card)} compared with people{on}: {agreement(card)}.{against}")
    if people.n_answers:
        lines.append(_people_line(people))
    return lines


def _people_line(people: AnnotatorAgreement) -> str:
    alphas = [f"Krippendorff's {name} {with_ends(alpha)}" for name, alpha in people.alpha.items()]
    beyond = alphas[0] if alphas else "agreement beyond chance is undefined"
    n_same = people.n_answers - people.n_differing
    several = f"{plural(people.n_answers, 'answer')} labelled by more than one person"
    return f"People compared with each other: the same grade on {count(n_same)} of {several}; {beyond}."


ROUTES = (done,)
