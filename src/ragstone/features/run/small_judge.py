"""A small language model judges a few labelled answers: what a report card says of one that is unfit."""

from itertools import zip_longest

import msgspec

from ragstone.kernel.config import ModelSettings, Settings
from ragstone.kernel.console.bars import bars
from ragstone.kernel.console.default_model import PACKAGED
from ragstone.kernel.console.printing import say, show
from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.records import Answer, Label

# Of each label. A judgement takes some 3 s on two cores; on a slower machine the deadline ends the example.
EACH = 5
DEADLINE = "60s"
JUDGE, BESIDE = "correctness", "right"


def show_small_judge(settings: Settings) -> None:
    """Show the report cards of the packaged model and of a judge without a model on the same answers.

    Where the model is not installed or fails, say why: it is an example, and the demo is complete without.
    """
    from ragstone.features.agree.words import title
    from ragstone.kernel.agreement.grading import report_cards
    from ragstone.kernel.document.blocks import Block, Heading, Paragraph, ReportDocument
    from ragstone.kernel.document.terminal import render_terminal
    from ragstone.kernel.runs.wording import labelled
    from ragstone.kernel.stages.api import judge
    from ragstone.kernel.version import __version__

    answers, labels = few_labelled(settings)
    say(f"Now {PACKAGED} judges {len(answers)} answers that people have judged, half of them right.")
    try:
        judged = judge(
            answers,
            judges=[BESIDE, JUDGE],
            model=PACKAGED,
            settings=_one_by_one(settings),
            deadline=DEADLINE,
            progress=bars,
        )
    except RagstoneError as mistake:
        say(f"The small judge is skipped: {mistake}")
        return
    cards = report_cards(judged, labels, threshold=settings.agree.thresholds, seed=settings.run.seed)
    blocks: list[Block] = [
        block
        for card in sorted(cards, key=lambda card: card.judge != JUDGE)
        for block in (Heading(f"{title(card)}, {labelled(card)}"), Paragraph(card.verdict))
    ]
    shown = ReportDocument(
        title="A small language model as a judge, and comparing words beside it",
        kind="report card",
        about="",
        version=__version__,
        blocks=blocks,
    )
    show(render_terminal(shown))
    if any("timeout" in card.statuses for card in cards):
        say(f"After {DEADLINE} the rest was not judged: the same command goes on where this one ended.")


def _one_by_one(settings: Settings) -> Settings:
    """Return the settings in which the model is asked one question at a time.

    So the bar moves, and a deadline leaves whole judgements in place of many that are half done.
    """
    model = settings.models.get(PACKAGED, ModelSettings())
    alone = msgspec.structs.replace(model, max_concurrency=1)
    return msgspec.structs.replace(settings, models={**settings.models, PACKAGED: alone})


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
