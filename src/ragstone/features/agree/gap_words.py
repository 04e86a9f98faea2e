"""Gaps in instructions, and answers labelled twice: as documents."""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ragstone.features.agree.flips import Flips, flips_of
from ragstone.features.agree.gaps import FEWEST_ROWS, GapRow, SpecGap, SpecGaps
from ragstone.kernel.document.blocks import Block, Heading, Listing, Paragraph, ReportDocument
from ragstone.kernel.document.numbers import count, interval, number, one_line, p_told
from ragstone.kernel.errors import plural
from ragstone.kernel.records import NO_MODEL, Label
from ragstone.kernel.version import __version__

LONGEST = 160  # characters of a quoted reason
SHOWN_ROWS = 10
ADVICE = (
    "Words are only a hint: read the rows. If people follow the instructions in two ways, clarify the "
    "instructions, then label some of these rows again under the new text."
)


def gaps_document(
    reports: Sequence[SpecGaps], flips: Mapping[str, Sequence[Flips]] | None = None
) -> ReportDocument:
    """Return what `ragstone agree --gaps` shows, and --again. flips: by metric."""
    blocks: list[Block] = []
    for report in reports:
        blocks += [Heading(_about(report)), Paragraph(gaps_lead(report), tone="muted")]
        for gap in report.gaps:
            blocks += [Heading(gap_name(gap), level=3), Paragraph(gap_evidence(gap, report))]
            blocks.append(Listing([_row_text(row) for row in gap.rows], most=SHOWN_ROWS))
        blocks += [Paragraph(ADVICE)] if report.gaps else []
    for metric, rows in (flips or {}).items():
        blocks += [Heading(f"{metric}: labelled again"), *map(Paragraph, flip_lines(rows))]
    return ReportDocument(
        title="Where grades differ for the same reason" if reports else "Labelled again",
        kind="gaps",
        about="",
        version=__version__,
        blocks=blocks,
    )


class GapLines(NamedTuple):
    """A report in words. gaps: of each its name, the evidence, and its rows with the grades that they got."""

    lead: str
    gaps: list[tuple[str, str, list[tuple[GapRow, str]]]]


def gap_lines(report: SpecGaps) -> GapLines:
    """Return what a page says of the gaps in instructions."""
    return GapLines(
        gaps_lead(report),
        [
            (gap_name(gap), gap_evidence(gap, report), [(row, row_grades(row)) for row in gap.rows])
            for gap in report.gaps
        ],
    )


def labelled_again_lines(earlier: Iterable[Label], again: Iterable[Label], metric: str) -> list[str]:
    """Return how many answers flipped when they were labelled again. Raises DataError as flips_of does."""
    return flip_lines(flips_of(earlier, again, metric))


def _about(report: SpecGaps) -> str:
    if report.judge is None:
        return report.metric or "labels"
    name = report.judge if report.judge == report.metric else f"{report.judge}: {report.metric}"
    return name if report.model == NO_MODEL else f"{name} ({report.model})"


def gaps_lead(report: SpecGaps) -> str:
    """Return on how many answers grades differ, and what was found in the reasons."""
    silent = f", {count(report.n_silent)} of them without a stated reason" if report.n_silent else ""
    text = f"Grades differ on {count(report.n_differ)} of {plural(report.n_rows, 'labelled answer')}{silent}."
    if report.gaps or not report.n_differ:
        return text
    compared = (
        f"{plural(report.n_compared_differ, 'reason')} where grades differ and "
        f"{count(report.n_compared_agree)} where they agree were compared"
    )
    if report.n_compared_differ < FEWEST_ROWS or not report.n_compared_agree:
        return f"{text} {compared}: too few to look for a common one. Comments of annotators are reasons."
    return (
        f"{text} {compared}: no word is more frequent where grades differ than chance explains. That does "
        "not mean the instructions are clear; more comments may show more."
    )


def gap_name(gap: SpecGap) -> str:
    """Return the most telling words of a gap, quoted."""
    return ", ".join(f"“{word}”" for word in gap.words)


def gap_evidence(gap: SpecGap, report: SpecGaps) -> str:
    """Return how much more frequent the words are where grades differ."""
    return (
        f"In {count(gap.n_differ)} of {plural(report.n_compared_differ, 'reason')} where grades differ, and "
        f"in {count(gap.n_agree)} of {count(report.n_compared_agree)} where they agree ({p_told(gap.p)}, "
        f"corrected for the number of words). {plural(len(gap.rows), 'answer')}:"
    )


def row_grades(row: GapRow) -> str:
    """Return what people and the judge gave."""
    people = ", ".join(f"{grade:g}" for grade in row.grades)
    return f"people {people}" + ("" if row.judge is None else f"; judge {row.judge:g}")


def _row_text(row: GapRow) -> str:
    reasons = " · ".join(
        f"{reason.who} ({reason.grade:g}): “{one_line(reason.text, LONGEST)}”" for reason in row.reasons
    )
    return f"{row.question_id}, {row.system}: {row_grades(row)}. {reasons}"


def flip_lines(rows: Sequence[Flips]) -> list[str]:
    """Return how many answers flipped under each text, and what that does not say."""
    lines = []
    for row in rows:
        text = {True: "the same text", False: "another text", None: "a text that some labels do not name"}[
            row.same_text
        ]
        named = f" ({row.earlier or 'none'} → {row.policy or 'none'})" if row.earlier or row.policy else ""
        tied = (
            f" {plural(row.n_left_out, 'answer')} on which annotators tied left out."
            if row.n_left_out
            else ""
        )
        lines.append(
            f"Labelled again under {text}{named}: {count(row.n_flipped)} of {plural(row.n, 'answer')} got a "
            f"different grade, {number(row.share.value)} ({interval(row.share)}).{tied}"
        )
    if not any(row.same_text for row in rows):
        lines.append(
            "How many would get a different grade under the same text is not known: people also change "
            "their minds. To find out, have these answers labelled again without a change."
        )
    return lines
