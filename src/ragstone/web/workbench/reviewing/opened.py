"""A review that is open: the questions, their documents, the log, and what stands now."""

import threading
from collections import Counter
from pathlib import Path
from weakref import WeakKeyDictionary

from litestar.exceptions import ClientException, HTTPException, NotFoundException, PermissionDeniedException

from ragstone.config import BuildSection, Settings
from ragstone.dataset.reviewing.applying import Item, TextOf, all_path, read_whole, review_item
from ragstone.dataset.reviewing.decisions import (
    OUTCOMES,
    Decision,
    Stack,
    add_decision,
    log_path,
    put,
    standing,
)
from ragstone.dataset.reviewing.warnings import Others
from ragstone.errors import DataError
from ragstone.flows.review.reviewing import Texts, find_documents
from ragstone.report.certified import CERTIFICATE, read_certificate
from ragstone.tables.journal import Journal
from ragstone.web.workbench.desk import Workbench
from ragstone.web.workbench.person import Person
from ragstone.web.workbench.reviewing.sets import SetEntry, find_set

Stamp = tuple[tuple[str, int, int] | None, ...]


class Opened:
    """A set under review, for all who review it on this server; decisions of other processes are read too.

    entry: its file. items: every question as it stands, in order. place: question id -> number. threshold:
    of its critics. documents: their texts, None where there are none; why: then what to do.
    """

    def __init__(self, entry: SetEntry, settings: Settings) -> None:
        self.entry = entry
        self.stamp = _stamp(entry.path, settings)
        self.lock = threading.Lock()
        documents = find_documents(entry.path, settings)
        self.documents = Texts(documents) if documents else None
        self.threshold = _threshold(entry.path)
        self.questions = read_whole(entry.path)
        self.place = {question.id: number for number, question in enumerate(self.questions)}
        self.log = Journal(log_path(entry.path), Decision)
        self.log.read()
        self.stacks: dict[str, Stack] = standing(self.log.rows)
        self._known = {one.id: one for one in self.log.rows}
        self._n_taken = len(self.log.rows)
        self.items: list[Item] = [self._item(number) for number in range(len(self.questions))]
        self._others: Others | None = None

    @property
    def text_of(self) -> TextOf | None:
        """What gives the text of a document, None where there are no documents."""
        return self.documents.text_of if self.documents else None

    @property
    def others(self) -> Others:
        """The questions that one that is edited may repeat: those of the set as it stands."""
        if self._others is None:
            self._others = Others(item.question for item in self.items if item.in_set)
        return self._others

    def item(self, question_id: str) -> Item:
        """Return a question as it stands. Raises NotFoundException."""
        if question_id not in self.place:
            raise NotFoundException(f"There is no question {question_id!r} in this set.")
        return self.items[self.place[question_id]]

    def catch_up(self) -> None:
        """Take what other processes have decided since."""
        with self.lock:
            self.log.read()
            self._take()

    def decide(self, decision: Decision, stands: str, person: Person) -> Decision:
        """Keep a decision, and return it when it is on the disk.

        stands: the id of the last decision on the question that the person saw, empty where there was none.
        A decision with an id that is there already is the same one, sent twice. Raises HTTPException (409)
        where somebody has decided in the meantime, PermissionDeniedException for taking back what others
        decided without being an owner, DataError where it cannot be kept.
        """

        def check(_new: list[Decision]) -> Decision | None:
            self._take()
            if decision.id in self._known:
                if self._known[decision.id] != decision:
                    raise ClientException(
                        "Another decision has this id: load the page anew, then decide again."
                    )
                return None
            last = self.last(decision.question_id)
            if (last.id if last else "") != stands:
                raise HTTPException(status_code=409, detail=self.told(decision.question_id))
            if decision.decision == "undo":
                _check_undo(decision, last, person)
            return decision

        with self.lock:
            self.item(decision.question_id)
            add_decision(self.log, check)
            self._take()
        return decision

    def last(self, question_id: str) -> Decision | None:
        """Return the last decision that stands for a question."""
        stack = self.stacks.get(question_id, ())
        return stack[-1] if stack else None

    def last_of(self, person: str) -> Decision | None:
        """Return the last decision of a person that is still the last that stands for its question."""
        for one in reversed(self.log.rows):
            last = self.last(one.question_id)
            if one.person == person and last is not None and last.id == one.id:
                return one
        return None

    def told(self, question_id: str) -> str:
        """Return what was decided last on a question, in words."""
        last = self.last(question_id)
        if last is None:
            return "What was decided on this question was taken back in the meantime."
        said = f", for {last.reason}" if last.reason else ""
        return f"{last.person} has {OUTCOMES[last.decision]} this question in the meantime{said}."

    def counts(self) -> Counter[str]:
        """Return how many questions have each outcome; `undecided` and `look` among them."""
        return Counter("look" if item.look else item.outcome or "undecided" for item in self.items)

    def _take(self) -> None:
        """Make the decisions of the log stand that do not yet."""
        new, self._n_taken = self.log.rows[self._n_taken :], len(self.log.rows)
        for decision in new:
            if decision.id in self._known:
                continue
            self._known[decision.id] = decision
            put(self.stacks, decision)
            number = self.place.get(decision.question_id)
            if number is not None:
                self.items[number] = self._item(number)
                if self._others is not None:
                    self._others.put(self.items[number].question)

    def _item(self, number: int) -> Item:
        question = self.questions[number]
        return review_item(question, self.stacks.get(question.id, ()), self.text_of)


_REVIEWS: WeakKeyDictionary[Workbench, dict[Path, Opened]] = WeakKeyDictionary()


def open_review(bench: Workbench, set_id: str) -> Opened:
    """Return the review of a set, as it stands now. Raises NotFoundException, DataError.

    It is kept in memory, and read anew when the file of questions or documents has changed.
    """
    entry = find_set(bench, set_id)
    reviews = _REVIEWS.setdefault(bench, {})
    known = reviews.get(entry.path)
    if known is not None and known.stamp == _stamp(entry.path, bench.settings):
        known.catch_up()
        return known
    opened = Opened(entry, bench.settings)
    reviews[entry.path] = opened
    return opened


def _check_undo(decision: Decision, last: Decision | None, person: Person) -> None:
    if last is None or last.id != decision.undoes:
        raise ClientException("Only the last decision on a question can be taken back.")
    if last.person != person.name and not person.may("owner"):
        raise PermissionDeniedException(
            f"{last.person} decided this: you may decide anew, but only {last.person} or an owner may take "
            "it back."
        )


def _stamp(questions: Path, settings: Settings) -> Stamp:
    """Return what tells whether the files of a set have changed."""
    documents = find_documents(questions, settings)
    files = [
        questions,
        all_path(questions),
        questions.parent / CERTIFICATE,
        *([documents] if documents else []),
    ]
    return tuple(map(_written, files))


def _written(path: Path) -> tuple[str, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return str(path), found.st_mtime_ns, found.st_size


def _threshold(questions: Path) -> int:
    """Return the lowest score that passes a critic: as the certificate says, else the usual one."""
    file = questions.parent / CERTIFICATE
    try:
        return read_certificate(file).declared.threshold if file.is_file() else BuildSection().threshold
    except DataError:
        return BuildSection().threshold
