"""What the page of a run shows beside its rows: read once, and again when a file of the run has changed."""

from pathlib import Path
from typing import Any

import msgspec

from ragstone.engine.progress_file import FILE as PROGRESS
from ragstone.errors import DataError
from ragstone.judging import Tally
from ragstone.records import NO_MODEL, Judgement, Question
from ragstone.report.blame import read_blame, read_causes
from ragstone.report.certified import CERTIFICATE, certified_in
from ragstone.report.run import Run, read_manifest, read_summary
from ragstone.report.summary import Calls, RunSummary
from ragstone.tables import read_rows
from ragstone.version import __version__
from ragstone.web.workbench.desk import Workbench
from ragstone.web.workbench.rows.files import rows_file, stats_of

Stamp = tuple[tuple[str, int, int, int], ...]


class RunView(msgspec.Struct, frozen=True):
    """A run without its rows. run: None where there are no numbers; wrong: what keeps them back."""

    run: Run | None
    wrong: str | None


def view_of(bench: Workbench, folder: Path) -> RunView:
    """Return what a run folder holds beside its rows; of one that goes on there are no numbers yet."""
    stamp = _stamp(folder)
    kept = bench.views.get(folder)
    if kept and kept[0] == stamp:
        return kept[1]
    view = _view(folder)
    bench.views[folder] = (stamp, view)
    for old in list(bench.views)[: -bench.MOST_VIEWS]:
        bench.views.pop(old, None)
    return view


def _stamp(folder: Path) -> Stamp:
    stats = (one for one in stats_of(folder) if one[0].endswith((".json", ".jsonl", ".parquet")))
    return tuple(
        sorted((name, s.st_size, s.st_mtime_ns, s.st_ctime_ns) for name, s in stats if name != PROGRESS)
    )


def _view(folder: Path) -> RunView:
    try:
        summary = read_summary(folder)
    except DataError as mistake:
        if (folder / "summary.json").is_file():
            return RunView(None, str(mistake))
        judgements = rows_file(folder, "judgements")
        if (folder / PROGRESS).is_file() or judgements is None or judgements.suffix == ".partial":
            return RunView(None, None)
        summary = summary_of_rows(folder, judgements)
    parts, wrongs = _parts(folder)
    return RunView(_without_rows(summary, **parts), " ".join(wrongs) or None)


def _parts(folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Return what stands beside the summary, and what of it cannot be read."""
    found: dict[str, Any] = {}
    wrongs = []
    for name, read in (("manifest", _manifest), ("blamed", read_blame), ("certified", _certified)):
        try:
            found[name] = read(folder)
        except DataError as mistake:
            wrongs.append(str(mistake))
    if found.get("blamed"):
        found["causes"] = read_causes(folder)
    return found, wrongs


def _manifest(folder: Path) -> dict[str, Any] | None:
    return read_manifest(folder / "manifest.json")


def _certified(folder: Path) -> Any:  # noqa: ANN401 - Certified | None, beside others in a table
    if not (folder / CERTIFICATE).is_file():
        return None
    questions = rows_file(folder, "questions")
    return certified_in(folder, read_rows(questions, Question) if questions else ())


def _without_rows(summary: RunSummary, **parts: Any) -> Run:  # noqa: ANN401 - of several types
    given = {"manifest": None, **parts}
    empty: dict[str, Any] = {
        name: {}
        for name in ("questions", "rankings", "answers", "judgements", "chunks", "titles", "evidence")
    }
    return Run(summary=summary, **empty, **given)


def summary_of_none(folder: Path) -> RunSummary:
    """Return the summary of a run that has no numbers yet."""
    return RunSummary(
        name=folder.name,
        version=__version__,
        models={},
        counts={},
        retrieval=[],
        metrics=[],
        cards=[],
        calls=Calls(),
        notes=[],
    )


def summary_of_rows(folder: Path, judgements: Path) -> RunSummary:
    """Return the means of judgements that no command has summarised. Raises DataError."""
    tally = Tally()
    for row in read_rows(judgements, Judgement):
        tally.add(row)
    metrics = tally.summaries()
    models = [metric.model for metric in metrics if metric.model != NO_MODEL]
    return msgspec.structs.replace(
        summary_of_none(folder),
        models={"judge": " and ".join(dict.fromkeys(models)) or NO_MODEL},
        counts={"judgements": sum(metric.n_rows for metric in metrics)},
        metrics=metrics,
        notes=[
            "This folder holds no summary.json: the means were worked out here, from the judgements alone. "
            "Questions of one document were taken as independent."
        ],
    )
