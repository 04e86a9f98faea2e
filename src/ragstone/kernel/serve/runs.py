"""The runs of a project: what stands in each folder, for their list and, beside the rows, for their pages."""

import contextlib
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec
from litestar.exceptions import NotFoundException

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.engine.progress_file import FILE as PROGRESS
from ragstone.kernel.engine.progress_file import Life, read_progress
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import MetricSummary, Tally
from ragstone.kernel.records import NO_MODEL, Judgement, Question
from ragstone.kernel.runs.blamed import read_blame, read_causes
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.runs.folders import MANIFEST, SUMMARY, is_ours
from ragstone.kernel.runs.run import CERTIFICATE, Run, certified_in, read_manifest
from ragstone.kernel.runs.settings import RunManifest, RunSetting, read_run_manifest, run_settings
from ragstone.kernel.runs.summary import Calls, ChosenAnswers, RunSummary, read_summary
from ragstone.kernel.serve.file_cache import FileCache
from ragstone.kernel.serve.rows.files import OF_A_RUN, KindOf, holds_run, rows_file, stats_of
from ragstone.kernel.stages.notes import judgements_alone
from ragstone.kernel.tables import read_rows

MOST_READ = 50_000  # judgements of a run that are read for a trend


class RunEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A folder as the list shows it. id: how pages address it, `{index of its folder}/{name}`.

    written: when the newest of its files was, seconds since 1970; made: the oldest, for no row tells the
    time of day. kind: what it holds. metrics: its means. manifest: None without one; settings: those that
    decided its numbers. calls: None where nothing tells them. cards: of its judges. life: how it goes on,
    None for one that is finished. chosen: how its answers were chosen from others. wrong: what keeps it
    from being shown, or None.
    """

    id: str
    name: str
    folder: Path
    written: float
    made: float = 0.0
    kind: str
    counts: dict[str, int] = {}
    models: list[str] = []
    metrics: list[MetricSummary] = []
    manifest: RunManifest | None = None
    settings: dict[str, RunSetting] = {}
    calls: Calls | None = None
    cards: list[ReportCard] = []
    chosen: ChosenAnswers | None = None
    life: Life | None = None
    wrong: str | None = None


class RunView(msgspec.Struct, frozen=True):
    """A run without its rows. run: None where there are no numbers; wrong: what keeps them back.

    name: of its folder.
    """

    name: str
    run: Run | None
    wrong: str | None

    @property
    def summary(self) -> RunSummary:
        """The numbers of the run; of one that has none yet, a summary without means."""
        return self.run.summary if self.run else judgements_alone(self.name, [], [])

    @property
    def causes(self) -> dict[str, list[Caused]]:
        """Why points were lost, by question id; empty where blame has not looked."""
        return self.run.causes if self.run else {}


class Runs:
    """The runs in some folders. What has not changed since it was looked at is not read again.

    folders: in which they are looked for, where an address has their number. now: seconds since 1970.
    kind_of: names of files -> what other than a run wrote them, None for nothing that it knows.
    """

    MOST_VIEWS = 16

    def __init__(self, folders: Sequence[Path], kind_of: KindOf, now: Callable[[], float]) -> None:
        self.folders, self._kind_of, self._now = folders, kind_of, now
        self._entries: FileCache[RunEntry | None] = FileCache()
        self._views: FileCache[RunView] = FileCache(most=self.MOST_VIEWS)
        self._ids: FileCache[frozenset[str]] = FileCache()

    def all(self) -> list[RunEntry]:
        """Return the runs, the newest first."""
        entries = [
            entry
            for index, parent in enumerate(self.folders)
            if parent.is_dir()
            for folder in parent.iterdir()
            if not folder.name.startswith(".") and folder.is_dir()
            if (entry := self._entry(index, folder))
        ]
        return sorted(entries, key=lambda entry: -entry.written)

    def find(self, run_id: str) -> Path:
        """Return the folder of a run, from `{index of its folder}/{name}`. Raises NotFoundException."""
        index, _, name = run_id.partition("/")
        plain = name not in ("", ".", "..") and not any(sign in name for sign in "/\\\0")
        if plain and index.isdecimal() and len(index) < 4 and int(index) < len(self.folders):
            folder = self.folders[int(index)] / name
            with contextlib.suppress(OSError, ValueError):  # a name that no file system takes
                if folder.is_dir():
                    return folder
        raise NotFoundException(
            f"There is no run {name!r} here: it was renamed or removed, or its folder is not named as "
            "`runs` in [workbench] of ragstone.toml. The list of runs shows what there is."
        )

    def hold(self, path: Path) -> bool:
        """Return whether a file stands in one of the folders."""
        return any(folder.resolve() in path.resolve().parents for folder in self.folders)

    def view(self, folder: Path) -> RunView:
        """Return what a run folder holds beside its rows; of one that goes on there are no numbers yet."""
        stats = (
            (name, stat)
            for name, stat in stats_of(folder)
            if name.endswith((".json", ".jsonl", ".parquet")) and name != PROGRESS
        )
        return self._views.made(folder, stats, lambda: _view(folder))

    def question_ids(self, entry: RunEntry) -> frozenset[str] | None:
        """Return the ids of the questions whose answers were judged; None where nothing tells, or of many."""
        file = rows_file(entry.folder, "judgements")
        if file is None or entry.counts.get("judgements", 0) > MOST_READ:
            return None
        try:
            return self._ids.made(
                entry.folder,
                [(file.name, file.stat())],
                lambda: frozenset(row.question_id for row in read_rows(file, Judgement)),
            )
        except (DataError, OSError):  # a file that a run has just put in place of this one, too
            return None

    def _entry(self, index: int, folder: Path) -> RunEntry | None:
        name = folder.name.encode(errors="replace").decode()
        broken = RunEntry(id=f"{index}/{name}", name=name, folder=folder, written=0.0, kind="")
        if name != folder.name:
            return msgspec.structs.replace(broken, wrong="The folder's name is not valid UTF-8: rename it.")
        try:
            stats = list(stats_of(folder))
        except OSError as mistake:
            return msgspec.structs.replace(broken, wrong=f"The folder cannot be read ({mistake.strerror}).")
        times = [stat.st_mtime for name, stat in stats if name != PROGRESS] or [0.0]
        names = {name for name, _ in stats}

        def look() -> RunEntry | None:
            return _look(f"{index}/{folder.name}", folder, names, times, self._now(), self._kind_of)

        # How a run goes on changes with the time of day too.
        return look() if PROGRESS in names else self._entries.made(folder, stats, look)


def _look(
    run_id: str, folder: Path, names: set[str], times: list[float], now: float, kind_of: KindOf
) -> RunEntry | None:
    """Return the entry of a folder, None of one that holds no run. times: when its files were written."""
    if not holds_run(folder, names, kind_of):
        return None
    entry = RunEntry(
        id=run_id, name=folder.name, folder=folder, written=max(times), made=min(times), kind="run"
    )
    going = read_progress(folder)
    if going:
        entry = msgspec.structs.replace(entry, life=going.life(now))
    if SUMMARY in names and is_ours(folder / SUMMARY):
        return _summarised(entry)
    if kind := kind_of(names):
        return msgspec.structs.replace(entry, kind=kind)
    if going:
        return entry
    files = {kind: file for kind in OF_A_RUN if (file := rows_file(folder, kind))}
    declared = PROGRESS in names or (MANIFEST in names and is_ours(folder / MANIFEST))
    unfinished = declared or any(file.suffix == ".partial" for file in files.values())
    return msgspec.structs.replace(
        entry,
        kind=" and ".join(files) or "rows",
        wrong="It has no summary.json: the command that writes it did not finish. Run it again: no call "
        "in the ledger is paid for twice."
        if unfinished
        else None,
    )


def _summarised(entry: RunEntry) -> RunEntry:
    try:
        summary = read_summary(entry.folder)
        manifest = read_run_manifest(entry.folder / MANIFEST)
    except DataError as mistake:
        return msgspec.structs.replace(entry, wrong=str(mistake))
    lacks = (
        None
        if rows_file(entry.folder, "judgements")
        else "Its judgements are missing, so no row can be opened."
    )
    return msgspec.structs.replace(
        entry,
        counts=summary.counts,
        models=list(dict.fromkeys(summary.models.values())),
        metrics=summary.metrics,
        manifest=manifest,
        settings=run_settings(manifest) if manifest else {},
        calls=summary.calls,
        cards=summary.cards,
        chosen=summary.chosen or None,
        wrong=lacks,
    )


def _view(folder: Path) -> RunView:
    try:
        summary = read_summary(folder)
    except DataError as mistake:
        if (folder / SUMMARY).is_file():
            return RunView(folder.name, None, str(mistake))
        judgements = rows_file(folder, "judgements")
        if (folder / PROGRESS).is_file() or judgements is None or judgements.suffix == ".partial":
            return RunView(folder.name, None, None)
        summary = summary_of_rows(folder, judgements)
    parts, wrongs = _parts(folder)
    return RunView(folder.name, _without_rows(summary, **parts), " ".join(wrongs) or None)


def _parts(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Return what stands beside the summary, and what of it cannot be read."""
    contents: dict[str, Any] = {}
    wrongs = []
    for name, read in (
        ("manifest", lambda folder: read_manifest(folder / MANIFEST)),
        ("blamed", read_blame),
        ("certified", _certified),
    ):
        try:
            contents[name] = read(folder)
        except DataError as mistake:
            wrongs.append(str(mistake))
    if contents.get("blamed"):
        contents["causes"] = read_causes(folder)
    return contents, wrongs


def _certified(folder: Path) -> Any:  # noqa: ANN401 - Certified | None, beside others in a table
    if not (folder / CERTIFICATE).is_file():
        return None
    questions = rows_file(folder, "questions")
    return certified_in(folder, read_rows(questions, Question) if questions else ())


def _without_rows(summary: RunSummary, **parts: Any) -> Run:  # noqa: ANN401 - of several types
    others = {"manifest": None, **parts}
    empty: dict[str, Any] = {
        name: {}
        for name in ("questions", "rankings", "answers", "judgements", "chunks", "titles", "evidence")
    }
    return Run(summary=summary, **empty, **others)


def summary_of_rows(folder: Path, judgements: Path) -> RunSummary:
    """Return the means of judgements that no command has summarised. Raises DataError."""
    tally = Tally()
    for row in read_rows(judgements, Judgement):
        tally.add(row)
    metrics = tally.summaries()
    summary = judgements_alone(folder.name, metrics, [])
    models = [metric.model for metric in metrics if metric.model != NO_MODEL]
    note = (
        "This folder has no summary.json, so the means were computed from the judgements. Questions about "
        "one document were treated as independent."
    )
    return msgspec.structs.replace(
        summary,
        models={"judge": " and ".join(dict.fromkeys(models)) or NO_MODEL},
        notes=[*summary.notes, note],
    )


def free_name(wanted: str, is_taken: Callable[[str], bool]) -> str:
    """Return a name of letters, digits, - and _ that is free: as wanted, with a number where that is taken.

    A name without any such sign is `chosen`.
    """
    plain = "".join(sign if sign.isascii() and (sign.isalnum() or sign in "-_") else "-" for sign in wanted)
    base = plain.strip("-_")[:50] or "chosen"
    numbered = (base if n == 1 else f"{base}-{n}" for n in count(1))
    return next(name for name in numbered if not is_taken(name))
