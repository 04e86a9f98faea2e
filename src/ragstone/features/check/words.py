"""A checked evaluation set as a document: its repeats, what its parts share, and its types of questions."""

from ragstone.features.check._sentence_table import (
    FEWER,
    NONE_REPEATED,
    OTHER_ANSWERS,
    PARTS_REPEAT,
    PARTS_SHARE,
    REPEATED,
    TOO_FEW,
    TYPE_NAMES,
    TYPES_ALIKE,
)
from ragstone.features.check.sets import SetCheck, SetRepeat, TypeShare
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Made,
    Paragraph,
    ReportDocument,
    table_of,
)
from ragstone.kernel.document.numbers import count, with_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import say
from ragstone.kernel.version import __version__

SHOWN = 5  # repeats
WIDTH, LONG_ID = 42, 12  # characters
ORDER = ("fewer", "more", None)


def set_document(check: SetCheck) -> ReportDocument:
    """Return what `ragstone check` shows of a set."""
    n = sum(check.parts.values())
    parts = f" in {plural(len(check.parts), 'file')}" if len(check.parts) > 1 else ""
    said = [
        say(check, REPEATED, NONE_REPEATED),
        say(check, OTHER_ANSWERS),
        *(say(pair, sentence) for pair in check.pairs for sentence in (PARTS_REPEAT, PARTS_SHARE)),
        *(say(share, FEWER) for share in check.types),
        say(check, TOO_FEW, TYPES_ALIKE),
    ]
    return ReportDocument(
        title="Evaluation set",
        kind="set",
        about=f"{plural(n, 'question')}{parts}",
        version=__version__,
        blocks=[
            *(Paragraph(text) for text in said if text),
            *_repeat_blocks(check),
            *_type_blocks(check),
        ],
    )


def _repeat_blocks(check: SetCheck) -> list[Block]:
    if not check.repeats:
        return []
    columns: list[Made[SetRepeat]] = [
        (Column("Question", text=True), lambda repeat: _brief(repeat.id, repeat.question)),
        (Column("repeats", text=True), lambda repeat: _brief(repeat.of_id, repeat.of_question)),
        (
            Column("", text=True),
            lambda repeat: Cell("other answer", tone="warn") if repeat.other_answer else "",
        ),
    ]
    more = len(check.repeats) - SHOWN
    # Those between parts and those with another answer first: they cost most.
    gravest = sorted(
        check.repeats, key=lambda repeat: (repeat.part == repeat.of_part, not repeat.other_answer)
    )
    return [
        table_of("Questions that repeat others", gravest[:SHOWN], columns),
        *([Paragraph(f"And {count(more)} more: --json lists all.", tone="muted")] if more > 0 else []),
    ]


def _brief(name: str, question: str) -> str:
    """Return the id and the question, cut so that two of them fit beside each other."""
    text = f"{name}: {question}" if len(name) <= LONG_ID else question
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"


def _type_blocks(check: SetCheck) -> list[Block]:
    untyped = [
        f"{plural(n, 'question')} of the {side}"
        for side, n in (("set", check.n_untyped), ("log", check.n_log_untyped))
        if n
    ]
    notes = [f"No type is known of {' and '.join(untyped)}: they are not counted."] if untyped else []
    muted = [Paragraph(note, tone="muted") for note in notes]
    if not check.types:
        return [*muted]
    columns: list[Made[TypeShare]] = [
        (Column("Type of question", text=True), lambda share: TYPE_NAMES[share.type]),
        (Column("set"), lambda share: with_ends(share.set)),
        *(
            [
                (Column("log"), lambda share: with_ends(share.log) if share.log else ""),
                (
                    Column("", text=True),
                    lambda share: Cell(share.differs, tone="warn") if share.differs else "",
                ),
            ]
            if check.n_log
            else []
        ),
    ]
    ordered = sorted(check.types, key=lambda share: ORDER.index(share.differs))
    return [table_of("Types of questions", ordered, columns), *muted]
