"""A run folder -> report.html: one file that opens anywhere and asks nothing of any network."""

import base64
import hashlib
from functools import cache
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragstone.agreement.card import grade_name
from ragstone.errors import DataError
from ragstone.report import wording
from ragstone.report.findings import findings, rank_bars, told
from ragstone.report.joining import Blocks, embed_rows, script_json
from ragstone.report.run import Run, read_run
from ragstone.report.summary import RunSummary

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

ANCHORS = (("right", "All judges"), ("blame", "All measures"), ("trust", "Report cards"))


def write_report(run: Path) -> Path:
    """Write report.html into a run folder, in place of one that is there, and return its path.

    Reads summary.json, where every number comes from, and the files of rows beside it, of which only
    judgements.jsonl must be there. Raises DataError, saying what to do, when one is missing or wrong.
    """
    path = run / "report.html"
    page = render_page(read_run(run))
    partial = path.with_name("report.html.partial")
    try:
        partial.write_text(page, encoding="utf-8", newline="\n")
        partial.replace(path)
    except OSError as mistake:
        raise DataError(
            f"{path}: could not be written ({mistake.strerror}). "
            "Make room, or make the folder writable, then run again."
        ) from None
    return path


def render_page(run: Run) -> str:
    """Return the report as one HTML document."""
    summary, blocks = run.summary, embed_rows(run)
    css, js = _asset("page.css"), _asset("page.js")
    return (
        _environment()
        .get_template("page.html")
        .render(
            summary=summary,
            findings=findings(summary),
            anchors=ANCHORS,
            systems=list(dict.fromkeys(metric.system for metric in summary.metrics)),
            interval_head=_interval_head(summary),
            cautions=any(wording.caution(metric, summary) for metric in summary.metrics),
            cut_note=_cut_note(blocks),
            manifest=run.manifest and msgspec.json.format(msgspec.json.encode(run.manifest)).decode(),
            words=_safe(script_json(wording.STATUS_WORDS).decode()),
            index=_safe(blocks.index.decode()),
            details=[_safe(block.decode()) for block in blocks.details],
            passages=[_safe(block.decode()) for block in blocks.passages],
            css=_safe(css),
            js=_safe(js),
            policy=_policy(css, js),
        )
    )


def _safe(text: str) -> "Markup":
    """Keep what is ours, or escaped already (see script_json), from being escaped."""
    from markupsafe import Markup

    return Markup(text)  # noqa: S704


def _policy(css: str, js: str) -> str:
    """Return a Content-Security-Policy: this style, this script, and not one request."""
    return (
        f"default-src 'none'; style-src '{_digest(css)}'; script-src '{_digest(js)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _interval_head(summary: RunSummary) -> str:
    """Return the head of the column of intervals: with their level where all have the same."""
    levels = {wording.level(metric.estimate) for metric in summary.metrics if metric.estimate}
    return f"{levels.pop()} interval" if len(levels) == 1 else "Interval"


def _cut_note(blocks: Blocks) -> str:
    cuts = {"retrieved passages": blocks.passage_cut, "all other texts": blocks.text_cut}
    shown = [f"{what} up to {wording.count(length)} characters" for what, length in cuts.items() if length]
    if not shown:
        return ""
    return f"To keep this file small, it shows {' and '.join(shown)}. The files beside it hold them whole."


def _asset(name: str) -> str:
    return resources.files("ragstone.report").joinpath("template", name).read_text(encoding="utf-8")


@cache
def _environment() -> "Environment":
    """Return the templates, with everything that comes from outside escaped."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(_asset),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    words = {name: value for name, value in vars(wording).items() if callable(value)}
    environment.globals.update(words, rank_bars=rank_bars, told=told, grade_name=grade_name)
    return environment
