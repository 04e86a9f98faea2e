"""The files of questions of a project: those that can be reviewed, and what is known of every one."""

import hashlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
from litestar.exceptions import NotFoundException

from ragstone.features.review.decisions import ENDING
from ragstone.kernel.config import Settings
from ragstone.kernel.dataset.certificate import fit
from ragstone.kernel.errors import DataError, MissingExtra
from ragstone.kernel.records import Question
from ragstone.kernel.runs.run import CERTIFICATE, Certified, read_certificate
from ragstone.kernel.serve.rows.files import rows_file
from ragstone.kernel.serve.runs import Runs
from ragstone.kernel.serve.state import AppState
from ragstone.kernel.tables import read_rows

NAMES = ("questions*.jsonl", "questions*.parquet", "*/questions*.jsonl", "*/questions*.parquet")
PARTS = (".all", ".dev", ".test")  # of a build: parts of the set that is reviewed
NO_QUESTION = {"answer", "judge", "outcome"}  # fields of rows that carry a question, and are none
IN_PROJECT = ("*.jsonl", "*/*.jsonl")  # the project's folder, and those right below it


class SetEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A file of questions. id: how pages address it. name: its path in the project."""

    id: str
    name: str
    path: Path


class DataSet(msgspec.Struct, frozen=True, kw_only=True):
    """A file of questions. id: how pages address it. name: its path; written: seconds since 1970.

    runs: (id, name) of the runs that hold a copy, by whose folder it is named where it is one of these alone.
    review: the id under which it can be reviewed, None for a copy in a run. certified: None without a
    certificate. wrong: what is the matter with it.
    """

    id: str
    name: str
    path: Path
    written: float
    n: int = 0
    n_unanswerable: int = 0
    langs: dict[str, int] = {}
    runs: list[tuple[str, str]] = []
    review: str | None = None
    certified: Certified | None = None
    wrong: str | None = None


class Sets:
    """The files of questions of a project. What has not changed since it was read is not read again."""

    def __init__(self, settings: Settings, runs: Runs) -> None:
        self._settings, self._runs = settings, runs
        self._root = settings.path(".").resolve()
        self._digests: dict[Path, tuple[object, str]] = {}
        self._read: dict[object, DataSet] = {}

    def to_review(self) -> list[SetEntry]:
        """Return the files of questions that can be reviewed, by name.

        Those in the project's folder and right below it, and that of `[questions] path`. Those of runs are
        copies, and not among them.
        """
        files = {path.resolve(): path for path in self._reviewable() if path.is_file()}
        entries = [
            SetEntry(id=_digest_of_name(resolved), name=self._name(resolved), path=path)
            for resolved, path in files.items()
            if not self._runs.hold(resolved)
        ]
        return sorted(entries, key=lambda entry: entry.name)

    def find(self, set_id: str) -> SetEntry:
        """Return the set to review with this id. Raises NotFoundException."""
        for entry in self.to_review():
            if entry.id == set_id:
                return entry
        raise NotFoundException(
            "There is no such data set here. It may have been moved: see the list of data sets."
        )

    def all(self) -> list[DataSet]:
        """Return the files of questions of the project, then those that stand in runs alone, by name.

        Copies with the same content are one set, which names its runs.
        """
        reviewed = {entry.path.resolve(): entry.id for entry in self.to_review()}
        sets: dict[str, DataSet] = {}
        for path in dict.fromkeys([*reviewed, *self._in_project()]):
            set_id = self._digest(path)
            if set_id not in sets:
                sets[set_id] = msgspec.structs.replace(self._look(set_id, path), review=reviewed.get(path))
        for entry in self._runs.all():
            file = rows_file(entry.folder, "questions")
            if file and file.suffix != ".partial":
                set_id = self._digest(file.resolve())
                copy = sets.get(set_id) or self._look(set_id, file.resolve())
                sets[set_id] = msgspec.structs.replace(copy, runs=[*copy.runs, (entry.id, entry.name)])
        return list(sets.values())

    def _reviewable(self) -> Iterator[Path]:
        for pattern in NAMES:
            for path in self._settings.path(".").glob(pattern):
                if not path.name.endswith(ENDING) and not path.stem.endswith(PARTS):
                    yield path
        if self._settings.questions.path:
            yield self._settings.path(self._settings.questions.path)

    def _in_project(self) -> Iterator[Path]:
        """Yield the files of questions that ragstone.toml names, and those among the rows of the project."""
        if self._settings.questions.path:
            yield self._settings.path(self._settings.questions.path).resolve()
        for pattern in IN_PROJECT:
            for path in sorted(self._root.glob(pattern)):
                if not self._runs.hold(path) and path.is_file() and _holds_questions(path):
                    yield path.resolve()

    def _name(self, path: Path) -> str:
        return (path.relative_to(self._root) if path.is_relative_to(self._root) else path).as_posix()

    def _digest(self, path: Path) -> str:
        """Return what tells the content of a file."""
        try:
            stat = path.stat()
            stamp = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
            known = self._digests.get(path)
            if known is None or known[0] != stamp:
                with path.open("rb") as file:
                    known = self._digests[path] = (
                        stamp,
                        hashlib.file_digest(file, "sha256").hexdigest()[:12],
                    )
        except OSError:  # what is the matter is told where it is read
            return _digest_of_name(path)
        return known[1]

    def _look(self, set_id: str, path: Path) -> DataSet:
        """Return what a file holds; it is read again where its certificate has changed."""
        certificate = path.parent / CERTIFICATE
        stamp = certificate.stat().st_mtime_ns if certificate.is_file() else 0
        key = (set_id, path, stamp)
        if key not in self._read:
            self._read[key] = _read(set_id, path, self._name(path))
        return self._read[key]


def _digest_of_name(path: Path) -> str:
    return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]


def _holds_questions(path: Path) -> bool:
    """Return whether the first row of a file is a question, and none that was answered or judged."""
    try:
        with path.open("rb") as file:
            first = msgspec.json.decode(file.readline())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return isinstance(first, dict) and {"id", "question"} <= first.keys() and not NO_QUESTION & first.keys()


def _read(set_id: str, path: Path, name: str) -> DataSet:
    written = path.stat().st_mtime if path.is_file() else 0.0
    entry = DataSet(id=set_id, name=name, path=path, written=written)
    langs: dict[str, int] = {}
    n = n_unanswerable = 0
    try:
        for row in read_rows(path, Question):
            n += 1
            n_unanswerable += row.answerable is False
            if row.lang:
                langs[row.lang] = langs.get(row.lang, 0) + 1
        entry = msgspec.structs.replace(entry, n=n, n_unanswerable=n_unanswerable, langs=langs)
        if (path.parent / CERTIFICATE).is_file():
            certificate = read_certificate(path.parent)
            certified = Certified(certificate, fit(certificate, read_rows(path, Question)))
            entry = msgspec.structs.replace(entry, certified=certified if certified.fit.n_certified else None)
    except (OSError, DataError, MissingExtra) as mistake:
        entry = msgspec.structs.replace(entry, wrong=str(mistake))
    return entry


def sets_of(app: AppState) -> Sets:
    """The files of questions of a project."""
    return Sets(app.settings, app.runs)
