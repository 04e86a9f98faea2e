"""The failure modes of a run: what modes.json holds, as blocks for a page and a terminal."""

from ragstone.features.modes._sentence_table import (
    MODE_SENTENCES,
    NOTES,
    OTHER_LABELS,
    OUTCOMES,
    interval_text,
)
from ragstone.features.modes.values import ModesSummary
from ragstone.kernel.document.blocks import (
    Block,
    Column,
    Listing,
    Made,
    Notes,
    Paragraph,
    ReportDocument,
    table_of,
)
from ragstone.kernel.document.numbers import count, percent
from ragstone.kernel.errors import plural
from ragstone.kernel.runs.modes import MODES_FILE, Mode, ModeShare
from ragstone.kernel.runs.wording import asked_line
from ragstone.kernel.sentences import say

SHOWN_MODES, SHOWN_OVERLAPS = 8, 3


def modes_document(summary: ModesSummary) -> ReportDocument:
    """Return what a terminal and a notebook show of the modes of a run."""
    return ReportDocument(
        title=summary.name,
        kind="modes",
        about="what goes wrong, and how often",
        version=summary.version,
        blocks=[*modes_blocks(summary), Notes(notes(summary))],
        source=MODES_FILE,
        last=asked_line(summary.calls) if summary.calls else "",
    )


def modes_blocks(summary: ModesSummary) -> list[Block]:
    """Return the modes as a table, and a sentence on each."""
    return [
        Paragraph(say(summary, *OUTCOMES), tone="strong", part="answer"),
        *([modes_table(summary)] if summary.modes else []),
        *(
            [Listing([mode_line(mode) for mode in summary.modes[:SHOWN_MODES]], prose=True)]
            if summary.modes
            else []
        ),
    ]


def modes_table(summary: ModesSummary) -> Block:
    """Return each mode with what its judge names and what people's labels say."""
    columns: list[Made[Mode]] = [
        (Column("Mode", text=True), lambda mode: mode.title),
        ("By its judge", lambda mode: count(mode.n_yes) if mode.n_asked else ""),
        ("Of them wrong", lambda mode: count(mode.n_wrong) if mode.n_asked else ""),
        ("Precision", lambda mode: _share(mode.precision)),
        ("Recall", lambda mode: _share(mode.recall)),
        ("Labels", lambda mode: count(mode.n_labelled)),
    ]
    return table_of("Failure modes", summary.modes, columns, kind="modes")


def mode_line(mode: Mode) -> str:
    """Return what may be said of one mode."""
    causes = ", ".join(f"{cause} {count(n)}" for cause, n in mode.causes.items())
    said = f"{mode.title}: {say(mode, *MODE_SENTENCES)}"
    return f"{said} Causes of the wrong ones: {causes}." if causes else said


def notes(summary: ModesSummary) -> list[str]:
    """Return what a reader must know of the numbers."""
    overlaps = sorted(summary.overlaps, key=lambda one: -one.n)[:SHOWN_OVERLAPS]
    titles = {mode.name: mode.title for mode in summary.modes}
    return [
        *filter(None, (say(summary, note) for note in NOTES)),
        *(
            f"{plural(one.n, 'answer')} in {titles[one.first]} and in {titles[one.second]}, by their judges."
            for one in overlaps
        ),
        *filter(None, (say(mode, OTHER_LABELS) for mode in summary.modes)),
        *summary.notes,
    ]


def _share(share: ModeShare | None) -> str:
    if share is None:
        return ""
    return percent(share.value) + (f" ({interval_text(share)})" if share.low < share.high else "")
