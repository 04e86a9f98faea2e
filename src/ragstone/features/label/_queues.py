"""Queues of a workbench, opened; and an item as its annotator sees it, blind.

Nothing that is shown of an item tells the system, the judge's score or who else labels.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import msgspec
from litestar.di import NamedDependency
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.features.label._marking import Marks, label_key
from ragstone.features.label._policies import PolicyVersion, change_policy, policy_versions
from ragstone.features.label.queue import EVIDENCE, Queue, queue_names, read_queue, read_texts
from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.document.room import PageRoom, length_in_json
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.matching import words
from ragstone.kernel.records import Answer, Label, references
from ragstone.kernel.runs.embedded import TurnShown
from ragstone.kernel.runs.thread import thread_shown
from ragstone.kernel.serve.state import AppState, AtApp

MOST_MARKED = 3  # sentences of all contexts together
LEAST_SHARE = 0.3  # of the answer's words that a marked sentence must hold
LONGEST_SEARCHED = 200_000  # characters of a context; a longer one is shown without marks

Kind = Literal["", "answer", "evidence"]


class ContextPart(msgspec.Struct, frozen=True):
    """A stretch of a context. kind: `answer`, it holds much of what the answer says; `evidence`, the set's
    own."""

    text: str
    kind: Kind = ""


Highlighted = list[ContextPart]


class OwnMark(msgspec.Struct, frozen=True):
    """What this annotator gave, or noted when passing it over."""

    score: float | None = None
    comment: str | None = None
    skipped: bool = False


class ItemShown(msgspec.Struct, frozen=True, kw_only=True):
    """An item on the screen. place: in the queue, from 0. error: what the system said in place of an
    answer. is_cut: long texts are shortened."""

    place: int
    question: str | None
    answer: str
    error: bool
    references: list[str]
    contexts: list[Highlighted]
    given: OwnMark | None
    turns: list[TurnShown] | None = None
    is_cut: bool = False


def shown(
    queue: Queue,
    place: int,
    text: Answer,
    contexts: list[Highlighted],
    given: OwnMark | None,
    room: PageRoom | None = None,
) -> ItemShown:
    """Return an item for the screen of one annotator, with long texts shortened. room: of all its page."""
    room = room or PageRoom(length_in_json)
    room.is_cut = False
    item = ItemShown(
        place=place,
        question=text.question,
        answer=text.answer,
        error=text.error is not None,
        references=[] if queue.reference == "hidden" else references(text),
        contexts=contexts,
        given=given,
        turns=thread_shown(text, str),
    )
    return msgspec.structs.replace(room.fitted(item), is_cut=room.is_cut)


def item_text(queue: Queue, text: Answer) -> str:
    """Return what an annotator may see of an item, whole, as plain text."""
    right = [] if queue.reference == "hidden" else references(text)
    parts = [("question", text.question), *(("turn", item.content) for item in text.turns or ())]
    parts += [("answer", text.answer), *(("right answer", item) for item in right)]
    parts += [("context", item.text) for item in text.contexts or ()]
    return "\n\n".join(f"{name}:\n{part}" for name, part in parts if part)


def highlighted(text: Answer) -> list[Highlighted]:
    """Return the contexts of an answer in parts, with the sentences marked that support it.

    `evidence`: they stand in a passage that the evaluation set names. `answer`: of all sentences the three
    that share most words with the answer, those of the question left out, and a third of them at least.
    """
    contexts = [context.text for context in text.contexts or []]
    spans = [sentence_spans(context) if len(context) <= LONGEST_SEARCHED else [] for context in contexts]
    sentences = [(at, start, end) for at, ends in enumerate(spans) for start, end in ends]
    marks: dict[tuple[int, int, int], Kind] = {}
    for at, start, end in _supporting(text, contexts, sentences):
        marks[at, start, end] = "answer"
    passages = [context for context in (text.metadata or {}).get(EVIDENCE, []) if isinstance(context, str)]
    for at, start, end in sentences:
        sentence = contexts[at][start:end]
        if any(sentence in passage or passage in sentence for passage in passages if passage.strip()):
            marks[at, start, end] = "evidence"
    return [
        _parts(
            context,
            [(start, end, kind) for (number, start, end), kind in sorted(marks.items()) if number == at],
        )
        for at, context in enumerate(contexts)
    ]


def _supporting(
    text: Answer, contexts: Sequence[str], sentences: Sequence[tuple[int, int, int]]
) -> list[tuple[int, int, int]]:
    question_words = set(words(text.question or ""))
    wanted = set(words(text.answer)) - question_words or set(words(text.answer))
    if not wanted:
        return []
    shares = {
        (at, start, end): len(wanted & set(words(contexts[at][start:end]))) / len(wanted)
        for at, start, end in sentences
    }
    best = sorted(shares, key=lambda span: -shares[span])[:MOST_MARKED]
    return [span for span in best if shares[span] >= LEAST_SHARE]


def _parts(text: str, marks: Sequence[tuple[int, int, Kind]]) -> Highlighted:
    parts, at = [], 0
    for start, end, kind in marks:
        parts += [ContextPart(text[at:start]), ContextPart(text[start:end], kind)]
        at = end
    return [part for part in [*parts, ContextPart(text[at:])] if part.text]


class OpenQueue:
    """A queue with its texts, in the order of its items, and the files of its labels."""

    def __init__(self, folder: Path, labels: Path, queue: Queue) -> None:
        self.folder, self.queue = folder, queue
        self.texts: list[Answer] = read_texts(folder, queue)
        self.marks = Marks(queue, labels / f"{queue.name}.jsonl", folder / f"{queue.name}.skipped.jsonl")
        self._contexts: dict[int, list[Highlighted]] = {}

    def contexts(self, place: int) -> list[Highlighted]:
        """Return the contexts of an item with what supports its answer marked."""
        if place not in self._contexts:
            self._contexts[place] = highlighted(self.texts[place])
        return self._contexts[place]

    def versions(self) -> list[PolicyVersion]:
        """Return the versions of the instructions; the last one holds. Others may change them at any time."""
        first = PolicyVersion(self.queue.policy, self.queue.instructions)
        return policy_versions(self.folder, self.queue.name, first)

    def change(self, instructions: str) -> bool:
        """Make a text the instructions that hold; return False where they do already. Raises DataError."""
        first = PolicyVersion(self.queue.policy, self.queue.instructions)
        return change_policy(self.folder, self.queue.name, first, instructions)

    def labels(self) -> list[Label]:
        """Return the labels given under the instructions that hold now."""
        policy = self.versions()[-1].policy
        return [row for row in self.marks.labels.rows() if self.marks.policy_of(row) == policy]

    def earlier(self) -> list[Label]:
        """Return the labels given under other instructions, whose answer has none by their annotator now."""
        policy, rows = self.versions()[-1].policy, self.marks.labels.rows()
        again = {label_key(row) for row in rows if self.marks.policy_of(row) == policy}
        earlier = {label_key(row): row for row in rows if self.marks.policy_of(row) != policy}
        return [row for key, row in earlier.items() if key not in again]

    def counts(self) -> list[int]:
        """Return the number of labels under each version; of a text that came back, where it holds last."""
        policies = [version.policy for version in self.versions()]
        counts = Counter(map(self.marks.policy_of, self.marks.labels.rows()))
        return [
            counts[policy] if policy not in policies[at + 1 :] else 0 for at, policy in enumerate(policies)
        ]

    def labels_under(self, policy: str | None) -> list[Label]:
        """Return the labels given under a policy, with its digest in each."""
        rows = [row for row in self.marks.labels.rows() if self.marks.policy_of(row) == policy]
        return [
            msgspec.structs.replace(row, metadata={**(row.metadata or {}), "policy": policy}) for row in rows
        ]

    def share_of(self, person: str) -> tuple[int, int]:
        """Return how many of a person's items they have labelled, and how many are theirs."""
        own = {(row.question_id, row.system) for row in self.labels() if row.annotator == person}
        items = [self.queue.items[at] for at in self.queue.places_of(person)]
        return sum((item.question_id, item.system) in own for item in items), len(items)


class Queues:
    """The queues of a workbench. Texts are read once, for a queue never changes.

    folder: of the queues. labels: of the files that labels are written to.
    """

    def __init__(self, folder: Path, labels: Path) -> None:
        self.folder, self.labels = folder, labels
        self._open: dict[str, OpenQueue] = {}

    def open(self, name: str) -> OpenQueue:
        """Return a queue. Raises NotFoundException where there is none, DataError for a broken file."""
        if name not in self._open:
            if name not in queue_names(self.folder):
                raise NotFoundException(
                    f"There is no queue {name!r} here. The list of queues shows what there is."
                )
            self._open[name] = OpenQueue(self.folder, self.labels, read_queue(self.folder, name))
        return self._open[name]

    def all(self) -> tuple[list[OpenQueue], list[str]]:
        """Return the queues by name; and what is wrong with those that cannot be opened, or their labels."""
        queues, wrong = [], []
        for name in queue_names(self.folder):
            try:
                opened = self.open(name)
                opened.marks.labels.rows()
                opened.marks.skips.rows()
            except DataError as mistake:
                wrong.append(f"{name}: {mistake}")
            else:
                queues.append(opened)
        return queues, wrong


def queues_of(app: AppState) -> Queues:
    """The queues of a workbench."""
    return Queues(app.store / "queues", app.settings.path(app.settings.workbench.labels))


def opened_queue(app: AtApp, name: FromPath[str]) -> OpenQueue:
    """Return the queue that an address names."""
    return app.part(queues_of).open(name)


AtQueue = NamedDependency[OpenQueue]
GIVEN = {"opened": opened_queue}
"""What the routes of queues ask for: a parameter `opened: AtQueue`."""
