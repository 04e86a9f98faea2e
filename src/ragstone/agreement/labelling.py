"""Which answers to label next, so that few labels tell most and corrected means stay right."""

from collections.abc import Iterable, Sequence

import numpy as np

from ragstone.agreement.measured import by_judge
from ragstone.agreement.pairing import Key, human_scores, is_tuned, pair
from ragstone.errors import DataError
from ragstone.records import NO_MODEL, Answer, Judgement, Label, Row


class ToLabel(Row, frozen=True, kw_only=True):
    """An answer with an empty score. With the score filled in it is a label."""

    question_id: str
    system: str
    score: float | None
    metric: str
    question: str | None = None
    answer: str | None = None
    reference: str | list[str] | None = None


def next_to_label(
    judgements: Iterable[Judgement],
    labels: Iterable[Label] = (),
    *,
    n: int,
    answers: Iterable[Answer] = (),
    seed: int = 0,
) -> list[ToLabel]:
    """Return n of the answers without a label, fewer if there are not so many, in random order.

    Each has the same chance, so that corrected means hold, and weights are not needed. Yet they are spread
    evenly over the systems and over the scores of the judge: every (rows / n)-th of the rows in that order,
    from a random start. That mirrors all rows better than plain chance does. Since the order returned is
    random, the first half of them is as good a sample as all. The judge is the first that asks a model, else
    the first; its metric is the one to label. Answers to questions that it was tuned on are left out: their
    labels would not count. answers: where the texts to read come from. Raises DataError if all have labels.
    """
    rows_of = by_judge(judgements)
    if not rows_of:
        raise DataError("no judgements to choose answers from: is this the right file?")
    judge = next((one for one in rows_of if one.model != NO_MODEL), next(iter(rows_of)))
    humans = human_scores(labels, judge.metric)
    labelled = pair(rows_of[judge], humans).labelled if humans else frozenset[Key]()
    rows = [
        row for row in rows_of[judge] if (row.question_id, row.system) not in labelled and not is_tuned(row)
    ]
    if not rows:
        raise DataError(f"every answer that {judge.judge!r} has judged has a label: none is left to choose.")
    texts = {(row.question_id, row.system): row for row in answers}
    chosen = _spread(rows, n, np.random.default_rng(seed))
    return [_to_label(row, texts.get((row.question_id, row.system))) for row in chosen]


def _spread(rows: Sequence[Judgement], n: int, rng: np.random.Generator) -> list[Judgement]:
    """Return n rows, spread evenly over systems and scores; rows without a score are together, too."""
    systems = {system: place for place, system in enumerate(dict.fromkeys(row.system for row in rows))}
    of_system = np.array([systems[row.system] for row in rows])
    unscored = np.array([row.score is None for row in rows])
    scores = np.array([0.0 if row.score is None else row.score for row in rows])
    order = np.lexsort((rng.random(len(rows)), scores, unscored, of_system))
    n = min(n, len(rows))
    places = np.floor((np.arange(n) + rng.random()) * len(rows) / n).astype(int)
    return [rows[at] for at in rng.permutation(order[np.minimum(places, len(rows) - 1)])]


def _to_label(row: Judgement, answer: Answer | None) -> ToLabel:
    return ToLabel(
        question_id=row.question_id,
        system=row.system,
        score=None,
        metric=row.metric,
        question=answer.question if answer else None,
        answer=answer.answer if answer else None,
        reference=answer.reference if answer else None,
    )
