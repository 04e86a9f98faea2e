"""What a run's report shows of blame: the component behind most lost points, the shares, the causes."""

from collections.abc import Sequence

from ragstone.features.blame.words import (
    blame_blocks,
    outcome,
    share_range,
    shares_table,
    shown_shares,
    worth,
)
from ragstone.kernel.document.blocks import Block, Figure, Heading, HeadlineFinding, Paragraph
from ragstone.kernel.document.numbers import count, percent, percent_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.blamed import BlameSummary
from ragstone.kernel.runs.causes import Caused, ComponentShare, SystemBlame

SHOWN_FIGURES = 3


def finding(blamed: BlameSummary) -> HeadlineFinding | None:
    """Return the component that has to answer for most lost points, of each system; None without systems."""
    if not blamed.systems:
        return None
    several = len(blamed.systems) > 1
    systems = blamed.systems[:SHOWN_FIGURES]
    sentences = [
        f"{row.system}: {sentence}" if several else sentence
        for row in systems
        for sentence in (outcome(row), worth(row))
        if sentence
    ]
    return HeadlineFinding("What is to blame?", [_share_figure(row, several) for row in systems], sentences)


def _share_figure(row: SystemBlame, several: bool) -> Figure:
    most = shown_shares(row)[0]
    lost = row.n_lost + row.n_hidden
    label = f"of the lost points: {most.component}" if lost else "points lost"
    return Figure(
        label=f"{row.system}: {label}" if several else label,
        value=f"{count(most.n)} of {count(lost)}" if lost else "0",
        interval=_range_of_all(most) if lost else "",
        rests_on=plural(row.n_counted, "question"),
    )


def _range_of_all(most: ComponentShare) -> str:
    """Return the share of all points, not of the lost ones, that the interval is one of."""
    estimate = most.share
    if estimate is None or estimate.low is None or estimate.high is None:
        return share_range(most)
    share = f"{percent(estimate.value)} of {plural(estimate.n, 'point')}"
    return f"{share} (95 % interval {percent_ends(estimate)})"


def blocks(blamed: BlameSummary, causes: Sequence[Caused]) -> list[Block]:
    """Return each system's shares and causes, and the notes, for the page."""
    return blame_blocks(blamed, causes)


def brief_blocks(blamed: BlameSummary) -> list[Block]:
    """Return what fits into a pull request: how many lost their point, and the shares."""
    blocks: list[Block] = [Heading("Blame")]
    for row in blamed.systems:
        whose = f"{row.system}: of" if len(blamed.systems) > 1 else "Of"
        lost = f"{whose} {plural(row.n_counted, 'counted question')}, {count(row.n_lost)} lost their point."
        blocks += [Paragraph(lost), shares_table(row)]
    return blocks
