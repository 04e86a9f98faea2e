"""A small language model judges a few labelled answers: what a report card says of one that is unfit."""

from itertools import zip_longest
from typing import TYPE_CHECKING

import msgspec

from ragstone.features.new import PACKAGED
from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.console.bars import bars
from ragstone.kernel.console.printing import say, show_documents
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.records import Answer, Judgement, Label

if TYPE_CHECKING:
    from ragstone.kernel.agreement.card import ReportCard
    from ragstone.kernel.engine.session import Session

# Of each label. A judgement takes some 3 s on two cores; on a slower machine the deadline ends the example.
EACH = 5
DEADLINE = "60s"
JUDGE, BESIDE = "correctness", "right"
LINES_OF_RUN = 17  # of the screen, which the run and this example share


def show_small_judge(settings: Settings, *, whole: bool) -> None:
    """Show the report cards of the packaged model and of a judge without a model on the same answers.

    Where the model is not installed or fails, say why: it is an example, and the demo is complete without.
    """
    from ragstone.features.agree import title
    from ragstone.kernel.agreement.grading import report_cards
    from ragstone.kernel.config import choose
    from ragstone.kernel.document.blocks import Block, Heading, Paragraph, ReportDocument
    from ragstone.kernel.document.screen import LINES
    from ragstone.kernel.engine.session import SessionOptions, run_in_session
    from ragstone.kernel.judging.variant import load_judges
    from ragstone.kernel.llm import parse_caps
    from ragstone.kernel.runs.wording import labelled
    from ragstone.kernel.stages.judge import judge_rows
    from ragstone.kernel.version import __version__

    answers, labels = few_labelled(settings)
    # One question at a time: the bar moves, and a deadline leaves whole judgements, not many half done.
    one_call = msgspec.structs.replace(settings.models.get(PACKAGED, ModelSettings()), max_concurrency=1)
    alone = msgspec.structs.replace(settings, models={**settings.models, PACKAGED: one_call})
    alone = choose(alone, "judge", model=PACKAGED)

    async def judge(session: "Session") -> list[Judgement]:
        judged = judge_rows(lambda: answers, load_judges([BESIDE, JUDGE]), session, len(answers))
        return [row async for row in judged]

    say(f"Now {PACKAGED} judges {len(answers)} answers that people have judged, half of them right.")
    try:
        judged = run_in_session(alone, SessionOptions(parse_caps(None, DEADLINE), progress=bars), judge)
    except RagstoneError as mistake:
        say(f"The small judge is skipped: {mistake}")
        return
    cards = report_cards(judged, labels, threshold=settings.agree.thresholds, seed=settings.run.seed)
    blocks: list[Block] = [
        block
        for card in sorted(cards, key=lambda card: card.judge != JUDGE)
        for block in (
            Paragraph(_line(card), part="answer"),
            Heading(f"{title(card)}, {labelled(card)}"),
            Paragraph(card.verdict),
        )
    ]
    document = ReportDocument(
        title="A small language model as a judge, next to word comparison" if whole else "",
        kind="report card",
        about="",
        version=__version__,
        blocks=blocks,
    )
    show_documents(document, whole=whole, lines=LINES - LINES_OF_RUN)
    if any("timeout" in card.statuses for card in cards):
        say(f"After {DEADLINE} the rest was not judged: run the same command again to continue.")


def _line(card: "ReportCard") -> str:
    """Return how a judge agrees with people, in a line."""
    from ragstone.features.agree import title
    from ragstone.kernel.runs.wording import agreement, doubt, labelled

    why = doubt(card)
    return f"{title(card)}, {labelled(card)}: {agreement(card)}" + (f"; † {why}" if why else ".")


def few_labelled(settings: Settings) -> tuple[list[Answer], list[Label]]:
    """Return the first answers of `[agree] sheet` that people called wrong and right, and the labels."""
    from ragstone.kernel.tables import read_rows

    path = settings.path(settings.agree.sheet or "labelled.jsonl")
    by_score: dict[float, list[Label]] = {}
    for label in read_rows(path, Label):
        by_score.setdefault(label.score, []).append(label)
    firsts = [labels[:EACH] for _score, labels in sorted(by_score.items())]
    chosen = [label for each in zip_longest(*firsts) for label in each if label is not None]
    answers = {(row.question_id, row.system): row for row in read_rows(path, Answer)}
    metric = settings.agree.metric
    return (
        [answers[label.question_id, label.system] for label in chosen],
        [msgspec.structs.replace(label, metric=label.metric or metric) for label in chosen],
    )
