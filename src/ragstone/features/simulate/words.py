"""What became of conversations with simulated users, and how much these are like those of a log."""

from ragstone.features.simulate._sentence_table import CLOSER, NOT_CLOSER, NOT_PLAYED
from ragstone.features.simulate.distil import Distillation, DistilledPersona
from ragstone.features.simulate.goals import GoalSummary
from ragstone.features.simulate.log_likeness import Likeness, LikenessMeasure, TopicShares
from ragstone.kernel.document.blocks import (
    Block,
    Cell,
    Column,
    Made,
    Notes,
    Pairs,
    Paragraph,
    ReportDocument,
    table_of,
)
from ragstone.kernel.document.numbers import count, number, with_ends
from ragstone.kernel.errors import plural
from ragstone.kernel.sentences import say
from ragstone.kernel.version import __version__

SHOWN_MISSED = 5
SHOWN_TOPICS = 10
ENDINGS = {
    "goal": "the goal was met",
    "patience": "the user lost patience",
    "silence": "the user had no more to say",
    "error": "a call failed",
}


def conversations_document(goals: GoalSummary, likeness: Likeness | None) -> ReportDocument:
    """Return what became of conversations, and how much the users are like those of a log."""
    about = f"{plural(goals.n, 'conversation')} of {plural(goals.n_personas, 'persona')}"
    return ReportDocument(
        title="Simulated users",
        kind="conversations",
        about=about,
        version=__version__,
        blocks=[*_goal_blocks(goals), *(_likeness_blocks(likeness) if likeness else [])],
    )


def _goal_blocks(goals: GoalSummary) -> list[Block]:
    n_known = goals.n - goals.n_unknown
    met = f"{with_ends(goals.met)} of {count(n_known)}" if goals.met else "not known"
    rows = [("goal met", met)]
    if goals.turns is not None:
        rows.append(("turns to the goal", with_ends(goals.turns)))
    if goals.n_unknown:
        rows.append(
            ("not known", f"{plural(goals.n_unknown, 'conversation')}: failed, or without `goal_met`")
        )
    rows += [(f"ended: {ENDINGS[why]}", count(n)) for why, n in goals.ended.items()]
    more = len(goals.missed) - SHOWN_MISSED
    missed = ", ".join(goals.missed[:SHOWN_MISSED]) + (f" and {more} more" if more > 0 else "")
    return [Pairs(rows), *([Paragraph(f"Goal not met: {missed}.")] if missed else [])]


def _likeness_blocks(likeness: Likeness) -> list[Block]:
    measures: list[Made[LikenessMeasure]] = [
        (Column("Compared with the log", text=True), lambda row: row.name),
        (Column("log"), lambda row: with_ends(row.log)),
        (Column("users"), lambda row: with_ends(row.users)),
        (Column("", text=True), lambda row: Cell("differs", tone="warn") if row.apart else ""),
    ]
    topics: list[Made[TopicShares]] = [
        (Column("Topic", text=True), lambda row: row.name),
        (Column("log"), lambda row: with_ends(row.log)),
        (Column("users"), lambda row: with_ends(row.users)),
    ]
    notes = [
        f"Compared with {plural(likeness.n_log, 'conversation')} of the log. `differs`: the 95 % intervals, "
        "clustered by conversation, do not overlap."
    ]
    if likeness.shared is not None:
        shared, drawn = likeness.shared, plural(likeness.n_users, "conversation")
        notes.append(
            f"Topics: {number(shared.value)} of both is in the same topics; {drawn} drawn from the "
            f"log itself would share {number(shared.alike)} ({number(shared.low)} to "
            f"{number(shared.high)}) with it."
        )
    if likeness.n_unread:
        notes.append(f"{plural(likeness.n_unread, 'row')} of the log could not be understood.")
    blocks: list[Block] = [table_of("Users compared with the log", likeness.measures, measures)]
    if likeness.topics:
        blocks.append(table_of("Topics of both", likeness.topics[:SHOWN_TOPICS], topics))
    return [*blocks, Notes(notes)]


def personas_document(distillation: Distillation) -> ReportDocument:
    """Return what `ragstone simulate` shows of the personas of a log."""
    columns: list[Made[DistilledPersona]] = [
        (Column("Persona", text=True), lambda persona: Cell(persona.name, tone="strong")),
        (Column("share"), lambda persona: with_ends(persona.share)),
        (Column("how they write", text=True), lambda persona: persona.style),
    ]
    personas = distillation.personas
    conversations = plural(distillation.n_conversations, "conversation")
    masked = ", ".join(f"{count(n)} {kind}" for kind, n in distillation.masked.items())
    notes = [
        "The shares are of the half of the conversations that was set aside.",
        f"Masked in the log: {masked or 'nothing'}. Read the file before you share it.",
    ]
    if distillation.n_other:
        notes.append(f"Of no persona: {plural(distillation.n_other, 'conversation')}.")
    if distillation.n_unread:
        notes.append(f"{plural(distillation.n_unread, 'row')} of the log could not be understood.")
    said = [say(persona, CLOSER, NOT_CLOSER, NOT_PLAYED) for persona in personas]
    return ReportDocument(
        title="Personas",
        kind="personas",
        about=f"{plural(len(personas), 'kind')} of users in {conversations}",
        version=__version__,
        blocks=[
            table_of("Personas of the log", personas, columns),
            *(Paragraph(text) for text in said if distillation.model),
            Notes(notes),
        ],
    )
