"""What developing leaves in the project: split, looks, and every draft. Nothing here is taken back."""

import contextlib
import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from ragstone.agreement.developing.changes import Scale
from ragstone.agreement.developing.development import Development
from ragstone.agreement.developing.looks import Look, looks_at
from ragstone.agreement.developing.parts import Node, Part, place
from ragstone.config import Settings
from ragstone.engine.developing.labelled import LabelledSet
from ragstone.errors import DataError
from ragstone.tables import held, partial_path

State = Literal["saved", "running", "done", "failed", "stopped"]
WAIT_S = 10.0

ValueT = TypeVar("ValueT")


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


class Draft(msgspec.Struct, frozen=True, kw_only=True):
    """A draft as it was saved. base: the number of the draft that it was made from, 0 for the judge's file.

    against: what it is compared with. outcome: of its last run. frozen: the version that it became.
    """

    number: int
    judge: str
    who: str
    at: str
    digest: str
    text: str
    base: int = 0
    labels: str | None = None
    against: str | None = None
    model: str | None = None
    scale: Scale = Scale()
    outcome: Outcome = Outcome(state="saved")
    frozen: int | None = None


class DevelopmentStore:
    """The folder `development` of the workbench's store."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.folder = settings.path(settings.workbench.store) / "development"

    def split(self, labelled: LabelledSet) -> dict[Node, Part]:
        """Return the part of every node; frozen at first use, what is new is placed by the same rule.

        What another labelled set of the project has placed stays where it is. Raises DataError.
        """
        with self._held("split"):
            file = self.folder / f"{safe_name(labelled.name)}.json"
            known = self._known(file)
            mine = _read(file, Split) if file.exists() else None
            seed = mine.seed if mine else self.settings.run.seed
            parts = place(labelled.nodes.values(), known | (mine.parts if mine else {}), seed)
            own = {node: parts[node] for nodes in labelled.nodes.values() for node in nodes if node in parts}
            whole = (mine.parts if mine else {}) | own
            if mine is None or whole != mine.parts:
                first = mine or Split(
                    name=labelled.name,
                    seed=seed,
                    labels_digest=_digest(msgspec.json.encode(labelled.labels)),
                    n_labels=len(labelled.labels),
                    parts={},
                )
                _put(file, msgspec.structs.replace(first, parts=whole))
        return parts

    def _known(self, own: Path) -> dict[Node, Part]:
        """Return what other labelled sets have placed; an id is a name within its own set only."""
        known: dict[Node, Part] = {}
        for file in sorted(self.folder.glob("*.json")):
            if file != own:
                placed = _read(file, Split).parts.items()
                known = {node: part for node, part in placed if not node.startswith("id ")} | known
        return known

    def looks(self) -> list[Look]:
        """Return every look there ever was, in order. Raises DataError for a log that was tampered with."""
        file = self.folder / "looks.jsonl"
        if not file.exists():
            return []
        try:
            lines = file.read_bytes().splitlines()
            return [msgspec.json.decode(line, type=Look) for line in lines if line.strip()]
        except (OSError, msgspec.DecodeError) as mistake:
            raise DataError(
                f"{file}: cannot be read ({mistake}). It counts the looks at the test part; mend it."
            ) from None

    def add_look(self, look: Look) -> list[Look]:
        """Write a look down, on the disk before it returns, and return all looks at the same test part."""
        with self._held("looks"):
            with (self.folder / "looks.jsonl").open("ab") as file:
                file.write(msgspec.json.encode(look) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            return looks_at(self.looks(), look.questions)

    def drafts(self, judge: str) -> list[Draft]:
        """Return the drafts of a judge, the last one first."""
        files = sorted((self.folder / "drafts" / judge).glob("[0-9]*.json"), reverse=True)
        return [_read(file, Draft) for file in files]

    def draft(self, judge: str, number: int) -> Draft:
        """Return one draft. Raises DataError if there is none of that number."""
        file = self._file(judge, number)
        if not file.exists():
            raise DataError(
                f"{judge} has no draft {number}. The page of the judge lists those that there are."
            )
        return _read(file, Draft)

    def add_draft(self, draft: Draft) -> Draft:
        """Keep a draft under the next number, which it returns with it."""
        with self._held("drafts"):
            numbers = [int(file.stem) for file in self._file(draft.judge, 0).parent.glob("[0-9]*.json")]
            kept = msgspec.structs.replace(draft, number=max(numbers, default=0) + 1)
            _put(self._file(draft.judge, kept.number), kept)
        return kept

    def put_draft(self, draft: Draft, development: Development | None = None) -> Draft:
        """Write a draft again, with its outcome, and what was found."""
        if development is not None:
            _put(self._result(draft), development)
        _put(self._file(draft.judge, draft.number), draft)
        return draft

    def development(self, draft: Draft) -> Development | None:
        """Return what the run of a draft found; None where it has not been run to its end."""
        file = self._result(draft)
        return _read(file, Development) if file.exists() else None

    def _file(self, judge: str, number: int) -> Path:
        return self.folder / "drafts" / judge / f"{number:04}.json"

    def _result(self, draft: Draft) -> Path:
        return self.folder / "drafts" / draft.judge / f"result-{draft.number:04}.json"

    @contextlib.contextmanager
    def _held(self, what: str) -> Iterator[None]:
        """Keep others out for the moment that a file of the folder takes; waits for them."""
        self.folder.mkdir(parents=True, exist_ok=True)
        ends = time.monotonic() + WAIT_S
        with contextlib.ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(held(self.folder / what))
                    break
                except DataError:
                    if time.monotonic() > ends:
                        raise
                    time.sleep(0.02)
            yield


def now() -> str:
    """Return date and time, UTC, ISO 8601."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def safe_name(name: str) -> str:
    """Return a name that is one of a file."""
    return re.sub(r"[^\w.-]+", "_", name).strip(".") or "labels"


def _digest(content: bytes) -> str:
    import hashlib

    return hashlib.sha256(content).hexdigest()[:16]


def digest_of(text: str) -> str:
    """Return what a draft's text is told by: 64 bits of its SHA-256."""
    return _digest(text.encode("utf-8", "surrogatepass"))


def _read(file: Path, kind: type[ValueT]) -> ValueT:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.DecodeError) as mistake:
        raise DataError(f"{file}: cannot be read ({mistake}). Put back a copy, or move it away.") from None


def _put(file: Path, value: object) -> None:
    """Write a file whole or not at all."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = partial_path(file)
        with partial.open("wb") as out:
            out.write(msgspec.json.encode(value))
            out.flush()
            os.fsync(out.fileno())
        partial.replace(file)
    except OSError as mistake:
        raise DataError(
            f"{file}: could not be written ({mistake.strerror}). Make room, or make the folder writable."
        ) from None
