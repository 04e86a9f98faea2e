"""The data sets of a project: files of questions, what their certificate says, and a sample."""

import hashlib
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from ragstone.dataset.certifying.certificate import fit
from ragstone.errors import DataError, MissingExtra
from ragstone.records import Question
from ragstone.report.certificate_page import words_of_certificates
from ragstone.report.certificate_words import fitting
from ragstone.report.certified import CERTIFICATE, Certified, read_certificate
from ragstone.tables import read_rows
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.person import AnyRequest, person_of
from ragstone.web.workbench.reviewing.sets import sets_to_review
from ragstone.web.workbench.rows.files import rows_file
from ragstone.web.workbench.runs import runs_of

WORDS: dict[str, Any] = words_of_certificates()
SAMPLE = 20
NO_QUESTION = {"answer", "judge", "outcome"}  # fields of rows that carry a question, and are none
IN_PROJECT = ("*.jsonl", "*/*.jsonl")  # the project's folder, and those right below it


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


def sets_of(bench: Workbench) -> list[DataSet]:
    """Return the files of questions of the project, then those that stand in runs alone, by name.

    Copies with the same content are one set, which names its runs.
    """
    root = bench.settings.path(".").resolve()
    reviewed = {entry.path.resolve(): entry.id for entry in sets_to_review(bench)}
    found: dict[str, DataSet] = {}
    for path in dict.fromkeys([*reviewed, *_in_project(bench, root)]):
        set_id = _digest(bench, path)
        if set_id not in found:
            one = _look(bench, set_id, path, root)
            found[set_id] = msgspec.structs.replace(one, review=reviewed.get(path))
    for entry in runs_of(bench):
        file = rows_file(entry.folder, "questions")
        if file and file.suffix != ".partial":
            set_id = _digest(bench, file.resolve())
            one = found.get(set_id) or _look(bench, set_id, file.resolve(), root)
            found[set_id] = msgspec.structs.replace(one, runs=[*one.runs, (entry.id, entry.name)])
    return list(found.values())


def _in_project(bench: Workbench, root: Path) -> Iterator[Path]:
    """Yield the files of questions that ragstone.toml names, and those among the rows of the project."""
    runs = {folder.resolve() for folder in bench.runs}
    if bench.settings.questions.path:
        yield bench.settings.path(bench.settings.questions.path).resolve()
    for pattern in IN_PROJECT:
        for path in sorted(root.glob(pattern)):
            if not runs & {*path.resolve().parents} and path.is_file() and _holds_questions(path):
                yield path.resolve()


def _holds_questions(path: Path) -> bool:
    """Return whether the first row of a file is a question, and none that was answered or judged."""
    try:
        with path.open("rb") as file:
            first = msgspec.json.decode(file.readline())
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return False
    return isinstance(first, dict) and {"id", "question"} <= first.keys() and not NO_QUESTION & first.keys()


def _digest(bench: Workbench, path: Path) -> str:
    """Return what tells the content of a file; one that has not changed since is not read again."""
    try:
        stat = path.stat()
        stamp = (stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)
        kept = bench.digests.get(path)
        if kept is None or kept[0] != stamp:
            with path.open("rb") as file:
                kept = bench.digests[path] = (stamp, hashlib.file_digest(file, "sha256").hexdigest()[:12])
    except OSError:  # what is the matter is told where it is read
        return hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:12]
    return kept[1]


def _look(bench: Workbench, set_id: str, path: Path, root: Path) -> DataSet:
    """Return what a file holds; what was seen is not read again, unless its certificate has changed."""
    certificate = path.parent / CERTIFICATE
    stamp = certificate.stat().st_mtime_ns if certificate.is_file() else 0
    key = (set_id, path, stamp)
    if key not in bench.sets:
        bench.sets[key] = _read(set_id, path, root)
    return bench.sets[key]


def _read(set_id: str, path: Path, root: Path) -> DataSet:
    name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    written = path.stat().st_mtime if path.is_file() else 0.0
    one = DataSet(id=set_id, name=name, path=path, written=written)
    langs: dict[str, int] = {}
    n = n_unanswerable = 0
    try:
        for row in read_rows(path, Question):
            n += 1
            n_unanswerable += row.answerable is False
            if row.lang:
                langs[row.lang] = langs.get(row.lang, 0) + 1
        one = msgspec.structs.replace(one, n=n, n_unanswerable=n_unanswerable, langs=langs)
        if (path.parent / CERTIFICATE).is_file():
            certificate = read_certificate(path.parent)
            told = Certified(certificate, fit(certificate, read_rows(path, Question)))
            one = msgspec.structs.replace(one, certified=told if told.fit.n_certified else None)
    except (OSError, DataError, MissingExtra) as mistake:
        one = msgspec.structs.replace(one, wrong=str(mistake))
    return one


@get("/data", include_in_schema=False, sync_to_thread=True)
def data(request: AnyRequest, bench: AtWorkbench) -> Response[str]:
    """Give the list of data sets."""
    person_of(request)
    return page(request, "data.html", "Data sets", **WORDS, sets=sets_of(bench))


@get("/data/{set_id:str}", include_in_schema=False, sync_to_thread=True)
def data_set(request: AnyRequest, bench: AtWorkbench, set_id: FromPath[str]) -> Response[str]:
    """Give a data set: its certificate, and its first questions."""
    person_of(request)
    one = next((found for found in sets_of(bench) if found.id == set_id), None)
    if one is None:
        raise NotFoundException("There is no such data set, or it has changed since: see the list of them.")
    rows = [] if one.wrong else list(islice(read_rows(one.path, Question), SAMPLE))
    return page(request, "data_set.html", one.name, **WORDS, **_certificate(one), one=one, rows=rows)


def _certificate(one: DataSet) -> dict[str, Any]:
    if one.certified is None:
        return {}
    certificate, fits = one.certified.certificate, one.certified.fit
    return {"certificate": certificate, "fit": fits, "said": fitting(fits, certificate)}


ROUTES = (data, data_set)
