"""What developing leaves in the project: split, looks, and every draft. Nothing here is taken back."""

import contextlib
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from ragstone.features.improve._labelled_sets import LabelledSet
from ragstone.features.improve._parts import Node, Part, place_questions
from ragstone.features.improve.judge_files import digest_of
from ragstone.features.improve.learned import Learning
from ragstone.features.improve.values import Development, LookRecord, Scale, looks_at
from ragstone.kernel.config import Settings
from ragstone.kernel.errors import DataError, explaining
from ragstone.kernel.persistence.journal import Journal, held, replace_whole
from ragstone.kernel.persistence.private import make_folder

State = Literal["saved", "running", "done", "failed", "stopped"]
WAIT_S = 10.0
ROOM = "Free some disk space, or make the folder writable."

ValueT = TypeVar("ValueT")


def now() -> str:
    """Return date and time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Split(msgspec.Struct, frozen=True, kw_only=True):
    """Where the questions of a labelled set are. labels_digest, n_labels: of the set at its first use."""

    name: str
    seed: int
    labels_digest: str
    n_labels: int
    parts: dict[Node, Part]


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a draft's run, in short. words: why it failed."""

    state: State
    words: str | None = None
    measure: str | None = None
    before: float | None = None
    after: float | None = None
    n: int = 0
    verdict: str | None = None
    n_changed: int = 0


class JudgeDraft(msgspec.Struct, frozen=True, kw_only=True):
    """A draft as it was saved. base: the number of the draft that it was made from, 0 for the judge's file.

    file: digest of that file at the time. outcome: of its last run. frozen: the version that it became.
    """

    number: int = 0
    judge: str
    who: str
    at: str = msgspec.field(default_factory=now)
    digest: str
    text: str
    base: int = 0
    file: str = ""
    labels: str | None = None
    model: str | None = None
    scale: Scale = Scale()
    outcome: Outcome = Outcome(state="saved")
    frozen: int | None = None


class DevelopmentStore:
    """The folder `development` of the workbench's store."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = settings.path(settings.workbench.store) / "development"

    def parts_of(self, labelled: LabelledSet) -> dict[Node, Part]:
        """Return the part of every node as `split` would, and write nothing. Raises DataError."""
        return self._placed(labelled, self._split_of(labelled))

    def split(self, labelled: LabelledSet) -> dict[Node, Part]:
        """Return the part of every node; frozen at first use, what is new is placed by the same rule.

        What another labelled set of the project has placed stays where it is. Raises DataError.
        """
        with self._held("split"):
            mine = self._split_of(labelled)
            parts = self._placed(labelled, mine)
            own = {node: parts[node] for nodes in labelled.nodes.values() for node in nodes if node in parts}
            whole = mine.parts | own
            if whole != mine.parts:
                _put(self._split_file(labelled), msgspec.structs.replace(mine, parts=whole))
        return parts

    def _split_file(self, labelled: LabelledSet) -> Path:
        return self.folder / f"{safe_name(labelled.name)}.json"

    def _split_of(self, labelled: LabelledSet) -> Split:
        """Return the split of a set as it was frozen, or an empty one to begin with."""
        file = self._split_file(labelled)
        if file.exists():
            return _read(file, Split)
        return Split(
            name=labelled.name,
            seed=self.settings.run.seed,
            labels_digest=digest_of(msgspec.json.encode(labelled.labels).decode()),
            n_labels=len(labelled.labels),
            parts={},
        )

    def _placed(self, labelled: LabelledSet, mine: Split) -> dict[Node, Part]:
        known = self._known(self._split_file(labelled))
        return place_questions(labelled.nodes.values(), known | mine.parts, mine.seed)

    def _known(self, own: Path) -> dict[Node, Part]:
        """Return what other labelled sets have placed; an id is a name within its own set only."""
        known: dict[Node, Part] = {}
        for file in sorted(self.folder.glob("*.json")):
            if file != own:
                placed = _read(file, Split).parts.items()
                known = {node: part for node, part in placed if not node.startswith("id ")} | known
        return known

    def looks(self) -> list[LookRecord]:
        """Return every look there ever was, in order. Raises DataError for a log that was tampered with."""
        try:
            return self._looks().read()
        except DataError as mistake:
            raise DataError(f"{mistake}. It counts the looks at the test part, so repair it.") from None

    def _looks(self) -> Journal[LookRecord]:
        return Journal(self.folder / "looks.jsonl", LookRecord)

    def looks_at(self, labelled: LabelledSet, parts: Mapping[Node, Part]) -> list[LookRecord]:
        """Return the looks at the test part of a set so far."""
        return looks_at(self.looks(), labelled.of(parts, "test").questions)

    def add_look(self, look: LookRecord) -> list[LookRecord]:
        """Write a look down, on the disk before it returns, and return all looks, this one last."""
        log = self._looks()
        with explaining(f"{log.path}: could not be written", ROOM):
            log.append_if(lambda _: look)
        return log.rows

    def put_card(self, number: int, content: bytes) -> None:
        """Keep what a look showed, under its place in the log."""
        _put_bytes(self._card(number), content)

    def card(self, number: int) -> bytes:
        """Return what a look showed. Raises DataError if there is none of that place."""
        try:
            return self._card(number).read_bytes()
        except OSError:
            raise DataError(f"there is no look {number} whose card was kept.") from None

    def _card(self, number: int) -> Path:
        return self.folder / "looks" / f"{number:04}.json"

    def drafts(self, judge: str) -> list[JudgeDraft]:
        """Return the drafts of a judge, the last one first."""
        files = sorted((self.folder / "drafts" / judge).glob("[0-9]*.json"), reverse=True)
        return [_read(file, JudgeDraft) for file in files]

    def draft(self, judge: str, number: int) -> JudgeDraft:
        """Return one draft. Raises DataError if there is none of that number."""
        file = self._file(judge, number)
        if not file.exists():
            raise DataError(f"{judge} has no draft {number}. The judge's page lists its drafts.")
        return _read(file, JudgeDraft)

    def add_draft(self, draft: JudgeDraft) -> JudgeDraft:
        """Keep a draft under the next number, which it returns with it."""
        with self._held("drafts"):
            numbers = [int(file.stem) for file in self._file(draft.judge, 0).parent.glob("[0-9]*.json")]
            numbered = msgspec.structs.replace(draft, number=max(numbers, default=0) + 1)
            _put(self._file(draft.judge, numbered.number), numbered)
        return numbered

    def put_draft(
        self, draft: JudgeDraft, outcome: Outcome | None = None, development: Development | None = None
    ) -> None:
        """Write a draft again, with what became of its run, and what was found."""
        if development is not None:
            _put(self._result(draft), development)
        _put(
            self._file(draft.judge, draft.number),
            msgspec.structs.replace(draft, outcome=outcome or draft.outcome),
        )

    def development(self, draft: JudgeDraft) -> Development | None:
        """Return what the run of a draft found; None where it has not been run to its end."""
        file = self._result(draft)
        return _read(file, Development) if file.exists() else None

    def put_learning(self, judge: str, learning: Learning) -> None:
        """Keep what the last learning of a judge found."""
        _put(self._learning(judge), learning)

    def learning(self, judge: str) -> Learning | None:
        """Return what the last learning of a judge found, None where there was none."""
        file = self._learning(judge)
        return _read(file, Learning) if file.exists() else None

    def _learning(self, judge: str) -> Path:
        return self.folder / "learned" / f"{judge}.json"

    def _file(self, judge: str, number: int) -> Path:
        return self.folder / "drafts" / judge / f"{number:04}.json"

    def _result(self, draft: JudgeDraft) -> Path:
        return self.folder / "drafts" / draft.judge / f"result-{draft.number:04}.json"

    @contextlib.contextmanager
    def _held(self, what: str) -> Iterator[None]:
        """Keep others out for the moment that a file of the folder takes; waits for them."""
        make_folder(self.folder)
        with held(self.folder / what, wait_s=WAIT_S):
            yield


def safe_name(name: str) -> str:
    """Return a name that is one of a file."""
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "labels"


def _read(file: Path, kind: type[ValueT]) -> ValueT:
    with explaining(
        f"{file}: cannot be read", "Put back a copy, or move it away.", OSError, msgspec.DecodeError
    ):
        return msgspec.json.decode(file.read_bytes(), type=kind)


def _put(file: Path, value: object) -> None:
    _put_bytes(file, msgspec.json.encode(value))


def _put_bytes(file: Path, content: bytes) -> None:
    with explaining(f"{file}: could not be written", ROOM):
        replace_whole(file, content)
