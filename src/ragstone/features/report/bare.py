"""A file of judgements that is in no run -> one page of them, as far as judgements alone tell."""

from pathlib import Path
from shlex import quote

import msgspec

from ragstone.features.report.page import render_run
from ragstone.kernel.document.output import put_text
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import summarise
from ragstone.kernel.judging.noise import NoiseTally
from ragstone.kernel.judging.savings import cascade_savings
from ragstone.kernel.records import Answer, Judgement
from ragstone.kernel.runs.asked import read_asked
from ragstone.kernel.runs.run import Run, read_run
from ragstone.kernel.runs.run_rows import by_question
from ragstone.kernel.stages.notes import judgements_alone
from ragstone.kernel.tables import read_rows


def write_bare_report(path: Path, *, bounds: bool = False) -> Path:
    """Write the page of a file of judgements beside it, as NAME.html; return its path.

    bounds: as of render_run. Raises DataError.
    """
    return put_text(path.with_suffix(".html"), render_run(bare_run(path), bounds=bounds))


def folder_html(folder: Path, judgements: Path | None, sheet: Path | None = None) -> str:
    """Return the page of a folder: of its run, or of judgements without a summary, as bare_run does.

    judgements, sheet: its files, where there are any. Raises DataError.
    """
    if judgements and not (folder / "summary.json").is_file():
        return render_run(bare_run(judgements, sheet))
    return render_run(read_run(folder), read_asked(folder))


def bare_run(path: Path, sheet: Path | None = None) -> Run:
    """Return the run of a file of judgements, with the answers of a sheet. Raises DataError."""
    try:
        judgements = list(read_rows(path, Judgement))
    except DataError:
        if _is_sheet(path):
            raise DataError(
                f"{path} has answers without judgements. Judge them first: ragstone judge "
                f"{quote(str(path))} --judge right --judge grounding"
            ) from None
        raise
    if not judgements:
        raise DataError(f"{path}: the file has no judgements. Name one that `ragstone judge` wrote.")
    noise = NoiseTally()
    for row in judgements:
        noise.add(row)
    summary = judgements_alone(path.name, summarise(judgements), cascade_savings(judgements), noise)
    return Run(
        summary=msgspec.structs.replace(summary, name=path.stem),
        manifest=None,
        questions={},
        rankings={},
        answers=by_question(read_rows(sheet, Answer) if sheet else ()),
        judgements=by_question(judgements),
        chunks={},
        titles={},
        evidence={},
    )


def _is_sheet(path: Path) -> bool:
    """Return whether a file begins with an answer."""
    try:
        return next(iter(read_rows(path, Answer)), None) is not None
    except DataError:
        return False
