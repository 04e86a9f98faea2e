"""Reviews that are open: the questions of a set, their documents, the log; and what is shown of them."""

import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from urllib.parse import urlencode

import msgspec
from litestar.di import NamedDependency
from litestar.exceptions import ClientException, HTTPException, NotFoundException, PermissionDeniedException
from litestar.params import FromPath

from ragstone.features.build import part_path
from ragstone.features.review._marking import DocumentPart, show, window
from ragstone.features.review._sets import SetEntry, sets_of
from ragstone.features.review._warnings import Others, warnings_of
from ragstone.features.review.applying import ReviewedQuestion, TextOf, read_whole, review_item
from ragstone.features.review.decisions import (
    OUTCOMES,
    Decision,
    Quoted,
    Stack,
    add_decision,
    log_path,
    put,
    standing,
)
from ragstone.features.review.reviewing import DocumentTexts, find_documents
from ragstone.kernel.config import BuildSection, Settings
from ragstone.kernel.dataset.candidate import REASONS, tempting_evidence
from ragstone.kernel.dataset.placing import SOURCES
from ragstone.kernel.errors import DataError
from ragstone.kernel.persistence.journal import Journal
from ragstone.kernel.records import Question, references
from ragstone.kernel.runs.run import CERTIFICATE, read_certificate
from ragstone.kernel.serve.frame import Person
from ragstone.kernel.serve.state import AppState, AtApp

Stamp = tuple[tuple[str, int, int] | None, ...]

A_PAGE = 50
MOST_TAGS = 200  # that the list offers
MOST_DOCUMENTS = 4  # shown at once
STATES = {
    "": "all",
    "undecided": "undecided",
    "accepted": "accepted",
    "edited": "edited",
    "rejected": "rejected",
    "look": "needs another look",
}
FROM = {"": "all", "passed": "passed", "lost": "lost"}
SHOWN_APART = {
    "rationales",
    "evidence_found",
    "quote",
    "lost",
    "critics",
    "review",
    SOURCES,
}  # of the metadata


class OpenReview:
    """A set under review, for all who review it on this server; decisions of other processes are read too.

    entry: its file. items: every question as it stands, in order. place: question id -> number. threshold:
    of its critics. documents: their texts, None where there are none; why: then what to do.
    """

    def __init__(self, entry: SetEntry, settings: Settings) -> None:
        self.entry = entry
        self.stamp = _stamp(entry.path, settings)
        self.lock = threading.Lock()
        documents = find_documents(entry.path, settings)
        self.documents = DocumentTexts(documents) if documents else None
        self.threshold = _threshold(entry.path)
        self.questions = read_whole(entry.path)
        self.place = {question.id: number for number, question in enumerate(self.questions)}
        self.log = Journal(log_path(entry.path), Decision)
        self.log.read()
        self.stacks: dict[str, Stack] = standing(self.log.rows)
        self._known = {row.id: row for row in self.log.rows}
        self._n_taken = len(self.log.rows)
        self.items: list[ReviewedQuestion] = [self._item(number) for number in range(len(self.questions))]
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

    def item(self, question_id: str) -> ReviewedQuestion:
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
                    raise ClientException("Another decision has this id: reload the page, then decide again.")
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
        for row in reversed(self.log.rows):
            last = self.last(row.question_id)
            if row.person == person and last is not None and last.id == row.id:
                return row
        return None

    def told(self, question_id: str) -> str:
        """Return what was decided last on a question, in words."""
        last = self.last(question_id)
        if last is None:
            return "The decision on this question has since been undone."
        reason = f", for {last.reason}" if last.reason else ""
        return f"{last.person} has since {OUTCOMES[last.decision]} this question{reason}."

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

    def _item(self, number: int) -> ReviewedQuestion:
        question = self.questions[number]
        return review_item(question, self.stacks.get(question.id, ()), self.text_of)


class Reviews:
    """The reviews of a workbench, kept in memory."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._open: dict[Path, OpenReview] = {}

    def open(self, entry: SetEntry) -> OpenReview:
        """Return the review of a set, as it stands now. Raises DataError.

        It is read anew when the file of questions or documents has changed.
        """
        known = self._open.get(entry.path)
        if known is not None and known.stamp == _stamp(entry.path, self._settings):
            known.catch_up()
            return known
        opened = self._open[entry.path] = OpenReview(entry, self._settings)
        return opened


def reviews_of(app: AppState) -> Reviews:
    """The reviews of a workbench."""
    return Reviews(app.settings)


def opened_review(app: AtApp, set_id: FromPath[str]) -> OpenReview:
    """Return the review of the set that an address names, as it stands now."""
    return app.part(reviews_of).open(app.part(sets_of).find(set_id))


AtReview = NamedDependency[OpenReview]


def _check_undo(decision: Decision, last: Decision | None, person: Person) -> None:
    if last is None or last.id != decision.undoes:
        raise ClientException("Only the last decision on a question can be undone.")
    if last.person != person.name and not person.may("owner"):
        raise PermissionDeniedException(
            f"{last.person} decided this: you may decide again, but only {last.person} or an owner may undo "
            "it."
        )


def _stamp(questions: Path, settings: Settings) -> Stamp:
    """Return what tells whether the files of a set have changed."""
    documents = find_documents(questions, settings)
    files = [
        questions,
        part_path(questions, "all"),
        questions.parent / CERTIFICATE,
        *([documents] if documents else []),
    ]
    return tuple(map(_written, files))


def _written(path: Path) -> tuple[str, int, int] | None:
    try:
        stat = path.stat()
    except OSError:
        return None
    return str(path), stat.st_mtime_ns, stat.st_size


def _threshold(questions: Path) -> int:
    """Return the lowest score that passes a critic: as the certificate says, else the usual one."""
    file = questions.parent / CERTIFICATE
    try:
        return read_certificate(file).declared.threshold if file.is_file() else BuildSection().threshold
    except DataError:
        return BuildSection().threshold


class ReviewFilter(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a reviewer asked for: text in question, reference or id; a state of STATES; where from, of FROM.

    critic, most: a critic that gave it at most so much. tag: `name=value`.
    """

    text: str = ""
    state: str = ""
    source: str = ""
    critic: str = ""
    most: str = ""
    tag: str = ""

    def query(self) -> str:
        """Return this as the query of an address."""
        return urlencode(msgspec.to_builtins(self))


def chosen_items(opened: OpenReview, chosen: ReviewFilter) -> list[int]:
    """Return the numbers of the questions that were asked for, in the order of the file."""
    return [number for number, item in enumerate(opened.items) if fits(item, chosen)]


def fits(item: ReviewedQuestion, chosen: ReviewFilter) -> bool:
    """Say whether a question is one of those that were asked for."""
    question = item.question
    if chosen.state and state_of(item) != chosen.state:
        return False
    if chosen.source and (item.lost is not None) != (chosen.source == "lost"):
        return False
    if chosen.tag and chosen.tag not in _all_tags(question):
        return False
    if chosen.critic:
        score = (question.scores or {}).get(chosen.critic)
        if score is None or (chosen.most.isdecimal() and score > int(chosen.most)):
            return False
    texts = [question.id, question.question, *references(question)]
    return not chosen.text or any(chosen.text.casefold() in text.casefold() for text in texts)


def state_of(item: ReviewedQuestion) -> str:
    """Return the key of STATES that a question has."""
    if item.look:
        return "look"
    return item.outcome or "undecided"


def neighbours(numbers: Sequence[int], number: int) -> tuple[int | None, int | None]:
    """Return the question before and after one, of those asked for; it need not be one of them."""
    before = [n for n in numbers if n < number]
    after = [n for n in numbers if n > number]
    return before[-1] if before else None, after[0] if after else None


def next_open(opened: OpenReview, chosen: ReviewFilter, number: int) -> int | None:
    """Return the next undecided question of those asked for, from the first again after the last."""
    wanted = (
        chosen if chosen.state in ("", "undecided", "look") else msgspec.structs.replace(chosen, state="")
    )
    left = [n for n in chosen_items(opened, wanted) if n != number and opened.items[n].outcome is None]
    return next((n for n in left if n > number), left[0] if left else None)


def line_of(item: ReviewedQuestion) -> dict[str, object]:
    """Return a question as the list shows it. state: of STATES; lost: why the build lost it."""
    question = item.question
    return {
        "id": question.id,
        "question": question.question,
        "reference": " · ".join(references(question)),
        "state": state_of(item),
        "lost": _lost_words(item)[0] if item.lost else None,
        "scores": question.scores or {},
        "lang": question.lang,
    }


def tags_of(questions: Iterable[Question]) -> dict[str, int]:
    """Return `name=value` of the tags that questions have and how many have it, most first, language too."""
    tags: Counter[str] = Counter()
    for question in questions:
        tags.update(_all_tags(question))
    return dict(tags.most_common(MOST_TAGS))


def critics_of(questions: Iterable[Question]) -> list[str]:
    """Return the critics that have scored any of the questions."""
    return list(dict.fromkeys(name for question in questions for name in question.scores or {}))


def view_of(opened: OpenReview, item: ReviewedQuestion) -> dict[str, object]:
    """Return a question with all that its page shows.

    stands: the id of the last decision. draft: what a log's application answered, where there is no
    reference; it is none before somebody says so. notes: of its metadata. shown: the documents, with the
    evidence marked. quoted: the evidence with its words; wrong: why it cannot be shown. warnings: of the
    checks.
    """
    question = item.question
    last = opened.last(question.id)
    spans, wrong = shown_spans(opened, question)
    rationales = (question.metadata or {}).get("rationales")
    reasons = rationales if isinstance(rationales, dict) else {}
    logged = (question.metadata or {}).get("answer")
    draft = logged if isinstance(logged, str) and not references(question) else ""
    return {
        "question": question,
        "draft": draft,
        "references": references(question),
        "state": state_of(item),
        "look": item.look,
        "lost": _lost_words(item) if item.lost else None,
        "scores": [
            {
                "critic": name,
                "score": score,
                "low": score < opened.threshold,
                "reason": str(reasons.get(name, "")),
            }
            for name, score in (question.scores or {}).items()
        ],
        "notes": [
            (name, value if isinstance(value, str) else msgspec.json.encode(value).decode())
            for name, value in (question.metadata or {}).items()
            if name not in SHOWN_APART and not (draft and name == "answer")
        ],
        "stands": last.id if last else "",
        "stack": item.stack,
        "shown": documents_shown(opened, question, spans),
        "quoted": spans,
        "wrong": wrong,
        "warnings": warnings_of(question, opened.others, opened.text_of),
    }


def shown_spans(opened: OpenReview, question: Question) -> tuple[list[Quoted], str | None]:
    """Return the evidence that can be shown, with its words; and why some of it cannot."""
    if opened.documents is None:
        return [], (
            "There are no documents with this set, so evidence cannot be shown or marked. Put "
            "`documents.jsonl` next to the questions, or name it as `paths` in `[documents]` of "
            "ragstone.toml."
        )
    quoted, wrong = [], None
    for span in question.evidence or ():
        text = opened.documents.text_of(span.document_id)
        if text is None:
            wrong = f"The document {span.document_id} of its evidence is not in {opened.documents.path.name}."
        elif not 0 <= span.start < span.end <= len(text):
            wrong = (
                f"Its evidence [{span.start}:{span.end}] is not part of the document "
                f"{span.document_id}, which has {len(text):,} characters: mark it again."
            )
        else:
            quote = text[span.start : span.end]
            quoted.append(Quoted(document_id=span.document_id, start=span.start, end=span.end, text=quote))
    return quoted, wrong


def documents_shown(opened: OpenReview, question: Question, quoted: Sequence[Quoted]) -> list[DocumentPart]:
    """Return the parts of the documents that hold the evidence, and the beginnings of others it names."""
    spans = [passage.span() for passage in quoted]
    names = dict.fromkeys([*(passage.document_id for passage in spans), *(question.document_ids or ())])
    tempting = (question.metadata or {}).get("tempting")
    if isinstance(tempting, dict) and isinstance(tempting.get("document_id"), str):
        names.setdefault(tempting["document_id"])
    parts = []
    for name in list(names)[:MOST_DOCUMENTS]:
        text = opened.documents.text_of(name) if opened.documents else None
        if text is not None:
            own = [span for span in spans if span.document_id == name]
            tempting = [span for span in tempting_evidence(question) if span.document_id == name]
            parts.append(show(name, text, *window(text, own or tempting), spans))
    return parts


def _lost_words(item: ReviewedQuestion) -> tuple[str, str]:
    """Return why the build lost a question, and what exactly was found."""
    lost = item.lost or {}
    reason = str(lost.get("reason", ""))
    return REASONS[reason][1] if reason in REASONS else reason, str(lost.get("detail", ""))


def _all_tags(question: Question) -> list[str]:
    tags = [f"{name}={value}" for name, value in (question.tags or {}).items()]
    return [*tags, f"lang={question.lang}"] if question.lang else tags
