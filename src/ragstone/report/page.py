"""A run folder -> report.html: one file that opens anywhere and asks nothing of any network."""

from pathlib import Path

import msgspec

from ragstone.report import wording
from ragstone.report.card_page import style, words_of_cards
from ragstone.report.certificate_page import render_section
from ragstone.report.findings import findings
from ragstone.report.html import asset, environment, policy, put_page, safe
from ragstone.report.joining import Blocks, embed_rows, script_json
from ragstone.report.run import Run, read_run
from ragstone.report.summary import RunSummary

ANCHORS = (("right", "All judges"), ("blame", "All measures"), ("trust", "Report cards"))


def write_report(run: Path) -> Path:
    """Write report.html into a run folder, in place of one that is there, and return its path.

    Reads summary.json, where every number comes from, and the files of rows beside it, of which only
    judgements.jsonl must be there. Raises DataError, saying what to do, when one is missing or wrong.
    """
    return put_page(run / "report.html", render_page(read_run(run)))


def render_page(run: Run) -> str:
    """Return the report as one HTML document."""
    summary, blocks = run.summary, embed_rows(run)
    css, js = asset("page.css"), asset("page.js")
    if summary.cards:
        css += style()
    if run.certified:
        css += asset("certificate.css")
    return (
        environment()
        .get_template("page.html")
        .render(
            words_of_cards(),
            summary=summary,
            findings=findings(summary),
            anchors=ANCHORS,
            systems=list(dict.fromkeys(metric.system for metric in summary.metrics)),
            interval_head=_interval_head(summary),
            cautions=any(wording.caution(metric, summary) for metric in summary.metrics),
            cut_note=_cut_note(blocks),
            certified=run.certified and safe(render_section(run.certified)),
            manifest=run.manifest and msgspec.json.format(msgspec.json.encode(run.manifest)).decode(),
            words=safe(script_json(wording.STATUS_WORDS).decode()),
            index=safe(blocks.index.decode()),
            details=[safe(block.decode()) for block in blocks.details],
            passages=[safe(block.decode()) for block in blocks.passages],
            css=safe(css),
            js=safe(js),
            policy=policy(css, js),
        )
    )


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
