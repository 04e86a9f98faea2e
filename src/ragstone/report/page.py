"""A run folder -> report.html: one file that opens anywhere and asks nothing of any network."""

from collections.abc import Iterable
from pathlib import Path

import msgspec

from ragstone.experiments.breakdown import GroupedMeans
from ragstone.report import wording
from ragstone.report.asked import Asked, read_asked
from ragstone.report.blame import blame_blocks
from ragstone.report.card import words_of_cards
from ragstone.report.certificate_page import render_section
from ragstone.report.charts import agreement_chart, distribution_chart, means_chart, tag_charts
from ragstone.report.corrected import corrected_blocks
from ragstone.report.document import Chart
from ragstone.report.embedded import Prompts
from ragstone.report.findings import findings, headlines
from ragstone.report.joining import Blocks, embed_all
from ragstone.report.render.html import (
    asset,
    draw,
    environment,
    policy,
    put_page,
    render_blocks,
    safe,
    script_json,
)
from ragstone.report.run import Run, read_run
from ragstone.report.summary import RunSummary

SCRIPTS = ("rows.js", "elements.js", "opened.js", "filter.js", "line.js", "list.js")
ANCHORS = (("right", "All judges"), ("blame", "All measures"), ("trust", "Report cards"))


def write_report(run: Path) -> Path:
    """Write report.html into a run folder, in place of one that is there, and return its path.

    Reads summary.json, where every number comes from, and the files of rows beside it, of which only
    judgements.jsonl must be there. Raises DataError, saying what to do, when one is missing or wrong.
    """
    return put_page(run / "report.html", render_run(read_run(run), read_asked(run)))


def render_run(run: Run, asked: Iterable[Asked] = ()) -> str:
    """Return the report as one HTML document. asked: the conversations with models behind the rows."""
    summary, blocks = run.summary, embed_all(run, asked)
    charts = charts_of(summary)
    drawn = draw(charts.every())
    css, js = asset("page.css") + style_of(run), "".join((*map(asset, SCRIPTS), drawn.script))
    return (
        environment()
        .get_template("page.html")
        .render(
            values_of(run, charts),
            cut_note=_cut_note(blocks),
            index=safe(blocks.index.decode()),
            block_type="text/plain" if blocks.packed else "application/json",
            details=[safe(block.decode()) for block in blocks.details],
            passages=[safe(block.decode()) for block in blocks.passages],
            prompts=_prompts(blocks.prompts),
            drawn=drawn,
            css=safe(css),
            js=safe(js),
            policy=policy(css, js, *drawn.scripts()),
        )
    )


def style_of(run: Run) -> str:
    """Return what the numbers of a run need beside the style of every page."""
    return (asset("bench.css") + asset("card.css") if run.summary.cards else "") + (
        asset("certificate.css") if run.certified else ""
    )


def values_of(run: Run, charts: "Charts") -> dict[str, object]:
    """Return what run_numbers.html, run_questions.html and run_made.html show of a run; no row is in it."""
    summary, causes = run.summary, [row for rows in run.causes.values() for row in rows]
    return {
        **words_of_cards(),
        "summary": summary,
        "blamed": run.blamed and render_blocks(blame_blocks(run.blamed, causes)),
        "corrected": render_blocks(corrected_blocks(summary.corrected)) if summary.corrected else "",
        "findings": findings(summary, run.blamed),
        "anchors": ANCHORS,
        "systems": list(dict.fromkeys(metric.system for metric in summary.metrics)),
        "interval_head": _interval_head(summary),
        "cautions": any(wording.caution(metric, summary) for metric in summary.metrics),
        "certified": run.certified and safe(render_section(run.certified)),
        "manifest": run.manifest and msgspec.json.format(msgspec.json.encode(run.manifest)).decode(),
        "words": safe(script_json(wording.STATUS_WORDS).decode()),
        "charts": charts,
    }


class Charts(msgspec.Struct, frozen=True, kw_only=True):
    """The charts of a run, each None (or none) where there is nothing to draw."""

    means: Chart | None
    distribution: Chart | None
    tags: list[tuple[GroupedMeans, Chart]]
    agreement: Chart | None

    def every(self) -> list[Chart]:
        """Return those that there are, in the order of the page."""
        tags = [chart for _, chart in self.tags]
        return [chart for chart in (self.means, self.distribution, *tags, self.agreement) if chart]


def charts_of(summary: RunSummary) -> Charts:
    """Return the charts of a summary."""
    return Charts(
        means=means_chart(summary.metrics),
        distribution=distribution_chart(summary.distributions),
        tags=tag_charts(summary.by_tag, headlines(summary)),
        agreement=agreement_chart(summary.cards),
    )


def _prompts(prompts: Prompts) -> dict[str, object]:
    return {"shared": safe(prompts.shared), "blocks": [safe(block) for block in prompts.blocks]}


def _interval_head(summary: RunSummary) -> str:
    """Return the head of the column of intervals: with their level where all have the same."""
    levels = {wording.level(metric.estimate) for metric in summary.metrics if metric.estimate}
    return f"{levels.pop()} interval" if len(levels) == 1 else "Interval"


def _cut_note(blocks: Blocks) -> str:
    notes = [_cut_texts(blocks), _cut_prompts(blocks.prompts)]
    return " ".join(note for note in notes if note)


def _cut_prompts(prompts: Prompts) -> str:
    if prompts.kept == "all":
        return ""
    every = f"the {wording.plural(prompts.n, 'conversation')} with models"
    shown = "none" if prompts.kept == "none" else "only those behind judgements without a score"
    return f"Of {every}, this file shows {shown}; calls.jsonl.gz beside it holds them all."


def _cut_texts(blocks: Blocks) -> str:
    cuts = {"retrieved passages": blocks.passage_cut, "all other texts": blocks.text_cut}
    shown = [f"{what} up to {wording.count(length)} characters" for what, length in cuts.items() if length]
    if not shown:
        return ""
    return f"To keep this file small, it shows {' and '.join(shown)}. The files beside it hold them whole."
