"""The runs of a project: what stands in each folder, and their list."""

import contextlib
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Literal

import msgspec
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromQuery

from ragstone.agreement.card import ReportCard
from ragstone.engine.progress_file import FILE as PROGRESS
from ragstone.engine.progress_file import Life, read_progress
from ragstone.errors import DataError
from ragstone.report.benches.judges import BENCH
from ragstone.report.benches.languages import STUDY
from ragstone.report.benches.retrievers import LEADERBOARD
from ragstone.report.findings import Figure, findings, headlines
from ragstone.report.run import read_summary
from ragstone.report.summary import RunSummary
from ragstone.web.workbench.desk import AtWorkbench, Workbench
from ragstone.web.workbench.frame import page
from ragstone.web.workbench.person import AnyRequest, person_of
from ragstone.web.workbench.rows.files import rows_file, stats_of

A_PAGE = 50
KINDS = ("questions", "rankings", "answers", "judgements")
Order = Literal["newest", "name", "questions", "score"]
ORDERS: dict[Order, str] = {
    "newest": "newest first",
    "name": "by name",
    "questions": "most questions first",
    "score": "lowest score first",
}


class RunEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A folder as the list shows it. id: how pages address it, `{index of its folder}/{name}`.

    written: when the newest of its files was, seconds since 1970. kind: what it holds. figures: its
    headline means; score: the first of them as a number. cards: of its judges. life: how it goes on, None
    for one that is finished. wrong: what keeps it from being shown, or None.
    """

    id: str
    name: str
    folder: Path
    written: float
    kind: str
    counts: dict[str, int] = {}
    models: list[str] = []
    figures: list[Figure] = []
    score: float | None = None
    cards: list[ReportCard] = []
    life: Life | None = None
    wrong: str | None = None


def runs_of(bench: Workbench) -> list[RunEntry]:
    """Return the runs in the folders of the workbench, the newest first.

    A folder that has not changed since it was looked at is not read again.
    """
    found = [
        entry
        for index, parent in enumerate(bench.runs)
        if parent.is_dir()
        for folder in parent.iterdir()
        if not folder.name.startswith(".") and folder.is_dir()
        if (entry := _entry(bench, index, folder))
    ]
    return sorted(found, key=lambda entry: -entry.written)


def find_run(bench: Workbench, run_id: str) -> Path:
    """Return the folder of a run, from `{index of its folder}/{name}`. Raises NotFoundException."""
    index, _, name = run_id.partition("/")
    plain = name not in ("", ".", "..") and not any(sign in name for sign in "/\\\0")
    if plain and index.isdecimal() and len(index) < 4 and int(index) < len(bench.runs):
        folder = bench.runs[int(index)] / name
        with contextlib.suppress(OSError, ValueError):  # a name that no file system takes is none of a run
            if folder.is_dir():
                return folder
    raise NotFoundException(
        f"There is no run {name!r} here: it was renamed or removed, or its folder is not among those of "
        "[workbench] runs in ragstone.toml. The list of runs shows what there is."
    )


def kind_of_bench(names: Container[str]) -> str | None:
    """Return what kind of bench or study wrote these files last; None for none."""
    if LEADERBOARD in names:
        return "bench of retrievers"
    if BENCH in names:
        return "bench of judges" if "labels.jsonl" in names else "bench of answerers"
    return "study of languages" if STUDY in names else None


def _entry(bench: Workbench, index: int, folder: Path) -> RunEntry | None:
    name = folder.name.encode(errors="replace").decode()
    broken = RunEntry(id=f"{index}/{name}", name=name, folder=folder, written=0.0, kind="")
    if name != folder.name:
        return msgspec.structs.replace(broken, wrong="The folder's name is no text in UTF-8: rename it.")
    try:
        stats = list(stats_of(folder))
    except OSError as mistake:
        return msgspec.structs.replace(broken, wrong=f"The folder cannot be read ({mistake.strerror}).")
    seen = tuple(sorted((name, stat.st_size, stat.st_mtime_ns) for name, stat in stats))
    kept = bench.seen.get(folder)
    if kept and kept[0] == seen and PROGRESS not in dict(stats):
        return kept[1]
    written = max((stat.st_mtime for name, stat in stats if name != PROGRESS), default=0.0)
    entry = _look(f"{index}/{folder.name}", folder, {name for name, _ in stats}, written, bench.now())
    bench.seen[folder] = (seen, entry)
    return entry


def _look(run_id: str, folder: Path, names: set[str], written: float, now: float) -> RunEntry | None:
    """Return the entry of a folder, None of one that holds no run."""
    entry = RunEntry(id=run_id, name=folder.name, folder=folder, written=written, kind="run")
    going = read_progress(folder)
    if going:
        entry = msgspec.structs.replace(entry, life=going.life(now))
    if "summary.json" in names:
        return _summarised(entry)
    if kind := kind_of_bench(names):
        return msgspec.structs.replace(entry, kind=kind)
    if going:
        return entry
    if any(name.startswith(KINDS) for name in names) or "manifest.json" in names:
        unfinished = "manifest.json" in names or any(name.endswith(".partial") for name in names)
        return msgspec.structs.replace(
            entry,
            kind="rows",
            wrong="It has no summary.json: the command that writes here did not come to its end. Run it "
            "again: what is in the ledger is not paid for twice."
            if unfinished
            else None,
        )
    return None


def _summarised(entry: RunEntry) -> RunEntry:
    try:
        summary = read_summary(entry.folder)
    except DataError as mistake:
        return msgspec.structs.replace(entry, wrong=str(mistake))
    lacks = (
        None if rows_file(entry.folder, "judgements") else "Its judgements are missing: no row can be opened."
    )
    return msgspec.structs.replace(
        entry,
        counts=summary.counts,
        models=list(dict.fromkeys(summary.models.values())),
        figures=findings(summary)[0].figures,
        score=_first_mean(summary),
        cards=summary.cards,
        wrong=lacks,
    )


def _first_mean(summary: RunSummary) -> float | None:
    return next((lead.estimate.value for lead in headlines(summary) if lead.estimate), None)


def chosen(entries: Sequence[RunEntry], text: str, order: Order) -> list[RunEntry]:
    """Return the entries whose name, kind or models hold every word of the text, in that order."""
    words = text.casefold().split()
    kept = [
        entry
        for entry in entries
        if all(word in " ".join((entry.name, entry.kind, *entry.models)).casefold() for word in words)
    ]
    match order:
        case "name":
            return sorted(kept, key=lambda entry: entry.name.casefold())
        case "questions":
            return sorted(kept, key=lambda entry: -entry.counts.get("questions", 0))
        case "score":
            return sorted(kept, key=lambda entry: (entry.score is None, entry.score or 0.0))
        case "newest":
            return kept


@get("/", include_in_schema=False, sync_to_thread=True)
def runs(
    request: AnyRequest,
    bench: AtWorkbench,
    text: FromQuery[str] = "",
    order: FromQuery[Order] = "newest",
    at: FromQuery[int] = 1,
) -> Response[str]:
    """Give the list of runs: those that the text finds, a page of them."""
    person_of(request)
    every = runs_of(bench)
    found = chosen(every, text, order)
    n_pages = max(1, -(-len(found) // A_PAGE))
    at = min(max(at, 1), n_pages)
    return page(
        request,
        "runs.html",
        "Runs",
        runs=found[(at - 1) * A_PAGE : at * A_PAGE],
        n_found=len(found),
        n_runs=len(every),
        folders=[str(folder) for folder in bench.runs],
        text=text,
        order=order,
        orders=ORDERS,
        at=at,
        n_pages=n_pages,
    )


ROUTES = (runs,)
