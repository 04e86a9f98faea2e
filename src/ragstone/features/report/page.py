"""A run folder -> report.html, one file that opens anywhere, and report.md for a pull request."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from ragstone.features.report.words import pull_request_document, run_document
from ragstone.kernel.document.html import asset, render_page, script_json
from ragstone.kernel.document.output import put_text, write_document
from ragstone.kernel.errors import checks_arguments
from ragstone.kernel.records import STATUS_WORDS
from ragstone.kernel.runs.asked import AskedCall, read_asked
from ragstone.kernel.runs.blamed import read_blame
from ragstone.kernel.runs.joining import embed_all
from ragstone.kernel.runs.run import Run, read_run
from ragstone.kernel.runs.summary import RunSummary, read_summary
from ragstone.kernel.runs.wording import caution

SCRIPTS = ("rows.js", "elements.js", "thread.js", "opened.js", "filter.js", "line.js", "list.js")


@checks_arguments
def write_report(run: os.PathLike[str] | str, *, bounds: bool = False) -> Path:
    """Write report.html into a run folder, in place of one that is there, and return its path.

    run: its path, or what `read_run` returns. bounds: as of render_run.

    Reads summary.json, where every number comes from, and the files of rows beside it, of which only
    judgements.jsonl must be there. Raises DataError, saying what to do, when one is missing or wrong.
    """
    run = Path(run)
    return put_text(run / "report.html", render_run(read_run(run), read_asked(run), bounds=bounds))


def write_markdown(run: Path, *, bounds: bool = False) -> Path:
    """Write report.md into a run folder, in place of one that is there, and return its path.

    bounds: as of render_run. Reads summary.json, and blame.json where there is one. Raises DataError,
    saying what to do, when one is missing or wrong.
    """
    summary = read_summary(run)
    document = pull_request_document(_with_bounds(summary) if bounds else summary, read_blame(run))
    return write_document(run / "report.md", document)


def write_reports(run: Path) -> None:
    """Write report.html and report.md into a run folder. Raises what both raise."""
    write_report(run)
    write_markdown(run)


def _with_bounds(summary: RunSummary) -> RunSummary:
    """Return the numbers of a run, every mean with failed rows to be shown with its bounds."""
    return msgspec.structs.replace(summary, bounds_from=0.0)


def render_run(run: Run, calls: Iterable[AskedCall] = (), *, bounds: bool = False) -> str:
    """Return the report as one HTML document.

    calls: the conversations with models behind the rows. bounds: every mean with failed rows is shown with
    its worst and best case, not only where many failed.
    """
    summary, blocks = run.summary, embed_all(run, calls)
    if bounds:
        summary = _with_bounds(summary)
    rows = {f"details-{at}": block for at, block in enumerate(blocks.details)}
    rows |= {f"passages-{at}": block for at, block in enumerate(blocks.passages)}
    prompts = {f"prompts-{at}": block.encode() for at, block in enumerate(blocks.prompts.blocks)}
    prompts |= {"prompts-shared": blocks.prompts.shared.encode()} if blocks.prompts.shared else {}
    return render_page(
        run_document(summary, run, blocks.cut_note()),
        script="".join(map(asset, SCRIPTS)),
        embedded={"words": script_json(STATUS_WORDS), "index": blocks.index, **rows, **prompts},
        packed={*prompts, *(rows if blocks.packed else ())},
        is_packed=blocks.packed,
        cautions=any(caution(metric, summary) for metric in summary.metrics),
    )
