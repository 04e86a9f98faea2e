"""One answer for people: where it can be labelled, and which of its labels somebody may see."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple
from urllib.parse import quote

import msgspec

from ragstone.features.label._queues import queues_of
from ragstone.features.label.pages import LABEL, is_blind
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.labelled import LabelShown
from ragstone.kernel.serve.frame import Person
from ragstone.kernel.serve.state import AppState


class LabelPlaces(NamedTuple):
    """Where somebody can label the answers to a question. at: system -> address of its place in a queue.

    can_pick: whether they may make a queue of an answer that is in none of theirs.
    """

    at: dict[str, str]
    can_pick: bool


def label_places(
    app: AppState, person: Person, run: str, question_id: str, answers: Mapping[str, str]
) -> LabelPlaces:
    """Return where a person can label the answers to a question of a run.

    run: its id. answers: system -> text; an item of a queue with another text is of an earlier run of the
    name. Of several queues, it is one in which the answer has no label of theirs yet.
    """
    addresses: dict[str, tuple[bool, str]] = {}
    for opened in app.part(queues_of).all()[0] if person.may("annotator") else ():
        queue = opened.queue
        if queue.source != run:
            continue
        mine = {(row.question_id, row.system) for row in opened.labels() if row.annotator == person.name}
        for at in queue.places_of(person.name):
            item = queue.items[at]
            if item.question_id == question_id and opened.texts[at].answer == answers.get(item.system):
                is_done = (item.question_id, item.system) in mine
                address = f"{LABEL}/{quote(queue.name)}?item={at}"
                if item.system not in addresses or addresses[item.system][0] > is_done:
                    addresses[item.system] = (is_done, address)
    return LabelPlaces({system: address for system, (_, address) in addresses.items()}, person.may("owner"))


def seen_labels(
    app: AppState, person: Person, labels: Sequence[LabelShown]
) -> tuple[list[LabelShown], list[str]]:
    """Return the labels of an answer that a person may see, and a sentence on those that they may not.

    An annotator with answers of a queue left to label sees none of it: labelling is blind. While annotators
    of a queue differ on an answer and nobody has settled it, nobody sees who gave what.
    """
    queues = {opened.queue.name: opened for opened in app.part(queues_of).all()[0]}
    visible: list[LabelShown] = []
    hidden: dict[str, int] = defaultdict(int)
    for label in labels:
        opened = queues.get(label.source)
        if opened and is_blind(person, opened):
            hidden[label.source] += 1
            continue
        alike = [
            each
            for each in labels
            if (each.source, each.system, each.metric) == (label.source, label.system, label.metric)
        ]
        differ = len({each.score for each in alike}) > 1 and not any(each.settles for each in alike)
        visible.append(msgspec.structs.replace(label, annotator=None) if opened and differ else label)
    sentences = [
        f"{plural(n, 'label')} of the queue {name} {'is' if n == 1 else 'are'} hidden until you have "
        "labelled all your answers in it: labelling is blind."
        for name, n in hidden.items()
    ]
    return sorted(
        visible, key=lambda each: (each.system, each.source, each.metric or "", each.score)
    ), sentences
