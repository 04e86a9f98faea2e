"""Which answers to label next, so that few labels tell most and corrected means stay right."""

import hashlib
from collections.abc import Iterable, Sequence

import msgspec

from ragstone.features.label._choosing import EQUAL, SPREAD_EVENLY, AnswerDraw, DrawnAnswer, Way, choose
from ragstone.kernel.errors import takes_rows
from ragstone.kernel.records import Answer, Judgement, Label, Row


class ToLabel(Row, frozen=True, kw_only=True):
    """An answer with an empty score. With the score filled in it is a label.

    inclusion and queue: its chance in the draw, and which draw that was, where the chances were not equal.
    """

    question_id: str
    system: str
    score: float | None
    metric: str
    question: str | None = None
    answer: str | None = None
    reference: str | list[str] | None = None
    inclusion: float | None = None
    queue: str | None = None


@takes_rows(judgements=Judgement, labels=Label, answers=Answer)
def next_to_label(
    judgements: Iterable[Judgement],
    labels: Iterable[Label] = (),
    *,
    n: int,
    answers: Iterable[Answer] = (),
    by: Way = "stratified",
    strata: Sequence[str] = SPREAD_EVENLY,
    seed: int = 0,
) -> list[ToLabel]:
    """Return n of the answers without a label, fewer if there are not so many, in random order.

    by: `stratified`, the default, and `random` give each the same chance, so that corrected means hold, and
    weights are not needed. Stratified ones are spread evenly over the systems and over the scores of the
    judge (or over other strata, a tag's name among them): every (rows / n)-th of the rows in that order,
    from a random start. That mirrors all rows better than plain chance does. `uncertain`, `disagreement` and
    `ppi` give unequal chances, which stand beside each row as `inclusion` and must stay there: corrected
    means need them. Since the order returned is
    random, the first half of them is as good a sample as all. The judge is the first that asks a model, else
    the first; its metric is the one to label. Answers to questions that it was tuned on are left out: their
    labels would not count. answers: where the texts to read, and tags, come from. Raises DataError if all
    have labels, and where nothing tells the answers apart in the way asked for.
    """
    texts = {(row.question_id, row.system): row for row in answers}
    choice = AnswerDraw(by=by, n=n, strata=tuple(strata), seed=seed)
    tags = {key: row.tags for key, row in texts.items() if row.tags}
    chosen = choose(judgements, labels, choice, tags)
    draw = None
    if by not in EQUAL:  # the same name for the same draw
        keys = [(drawn.row.question_id, drawn.row.system, drawn.inclusion) for drawn in chosen]
        digest = hashlib.sha256(msgspec.json.encode([choice, keys])).hexdigest()
        draw = f"{choice.by}-{digest[:8]}"
    return [_to_label(drawn, texts.get((drawn.row.question_id, drawn.row.system)), draw) for drawn in chosen]


def _to_label(drawn: DrawnAnswer, answer: Answer | None, draw: str | None) -> ToLabel:
    return ToLabel(
        question_id=drawn.row.question_id,
        system=drawn.row.system,
        score=None,
        metric=drawn.row.metric,
        question=answer.question if answer else None,
        answer=answer.answer if answer else None,
        reference=answer.reference if answer else None,
        inclusion=drawn.inclusion,
        queue=draw,
    )
