"""Which questions people should label both systems' answers to, so that few labels tell the difference."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.features.label._choosing import (
    FEWEST_LABELS,
    AnswerDraw,
    DrawnAnswer,
    chances_of,
    deviation,
    draw,
    measured_sizes,
    strata_of,
)
from ragstone.kernel.agreement.comparison import JudgeId, by_judge
from ragstone.kernel.agreement.pairing import Human, Key, human_scores, is_tuned
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.judging.matching import words
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Label, split_repeat
from ragstone.kernel.statistics import Floats

# The share of a draw that goes to all pairs alike, by simulation (docs/how-to/labelling.md). With less of
# it, some
# labels stand for so many pairs that the caution of the interval, which is for rare errors, costs more than
# the draw gains.
PAIR_SPREAD = 0.7
BASE = 0.4  # variance of the difference that no judge foresees, 1 is that of a coin
SHOWN = 3


class ComparedSide(msgspec.Struct, frozen=True, kw_only=True):
    """One of two systems: its rows in any order. run: its run's name, where the systems' names are equal."""

    system: str
    judgements: Sequence[Judgement]
    answers: Mapping[Key, Answer] = {}
    run: str | None = None


class DrawnPair(msgspec.Struct, frozen=True, kw_only=True):
    """The two answers to a question that are both to be labelled. inclusion: the chance of the pair."""

    a: Judgement
    b: Judgement
    inclusion: float


def compared_sides(
    a: Sequence[Judgement], b: Sequence[Judgement] | None, system_a: str | None, system_b: str | None
) -> tuple[str, str]:
    """Return the names of the two systems that are compared.

    b: None for two systems of one run. Of repeated answers the first are compared. Raises DataError where a
    system is not there, where names are needed to tell which ones are meant, and for a system compared with
    itself.
    """
    ours, theirs = (
        list(dict.fromkeys(row.system for row in rows if split_repeat(row.system)[1] == 1))
        for rows in (a, a if b is None else b)
    )
    for known, side in ((ours, "A"), (theirs, "B")):
        if not known:
            raise DataError(f"{side} has no judgements to choose questions by: judge it first.")
    for name, known, side in ((system_a, ours, "A"), (system_b, theirs, "B")):
        if name is not None and name not in known:
            raise DataError(f"{side} has no system {name!r}. {nearest(name, known)}")
    if b is None and system_a is None and system_b is None and len(ours) == 2:
        return ours[0], ours[1]
    chosen: list[str] = []
    for name, known, side in ((system_a, ours, "A"), (system_b, theirs, "B")):
        if name is None and len(known) != 1:
            raise DataError(
                f"{side} has the systems {', '.join(known)}: name one with --system-{side.lower()}."
            )
        chosen.append(name or known[0])
    if b is None and chosen[0] == chosen[1]:
        raise DataError(
            f"A and B are both {chosen[0]!r}, so nothing can differ. Name another run or two systems of this "
            "one (--system-a, --system-b)."
        )
    return chosen[0], chosen[1]


def choose_pairs(
    a: ComparedSide, b: ComparedSide, labels: Iterable[Label], choice: AnswerDraw
) -> list[DrawnPair]:
    """Return the questions to label, in random order; all of them where n is larger.

    Only questions count whose two answers the same judge has scored, and that it was not made with. Each has
    a chance in proportion to how far people's difference is expected to be from what the judge's leads one
    to expect, with a floor. Raises DataError where no question is left, or no judge has scored both.
    """
    judge = _shared_judge(a, b, choice)
    pairs = _scored_pairs(a, b, judge)
    sizes = pair_sizes(a, b, pairs, list(labels), judge.metric)
    n = min(choice.n, len(pairs))
    rng = np.random.default_rng(choice.seed)
    differences = np.array([_score(second) - _score(first) for first, second in pairs])
    order = np.lexsort((rng.random(len(pairs)), sizes, differences))
    chances = chances_of(sizes, n, PAIR_SPREAD)
    return [
        DrawnPair(a=pairs[at][0], b=pairs[at][1], inclusion=round(float(chances[at]), 9))
        for at in draw(chances, order, rng)
    ]


def both_answers(pairs: Sequence[DrawnPair], seed: int) -> list[tuple[DrawnAnswer, bool]]:
    """Return the answers of pairs, and whether each is B's: beside each other, either one first."""
    is_b_first = np.random.default_rng([seed, 1]).random(len(pairs)) < 0.5
    answers: list[tuple[DrawnAnswer, bool]] = []
    for pair, turned in zip(pairs, is_b_first.tolist(), strict=True):
        both = [
            (DrawnAnswer(pair.a, pair.inclusion), False),
            (DrawnAnswer(pair.b, pair.inclusion), True),
        ]
        answers += reversed(both) if turned else both
    return answers


def _shared_judge(a: ComparedSide, b: ComparedSide, choice: AnswerDraw) -> JudgeId:
    ours, theirs = (
        by_judge(
            row
            for row in side.judgements
            if row.system == side.system
            and choice.metric in (None, row.metric)
            and choice.judge in (None, row.judge)
        )
        for side in (a, b)
    )
    both = [judge for judge in ours if judge in theirs]
    if not both:
        known = [sorted({judge.judge for judge in side}) for side in (ours, theirs)]
        of = f" of {choice.metric!r}" if choice.metric else ""
        raise DataError(
            f"no judge{of} has judged both systems: A was judged by {', '.join(known[0]) or 'none'}, B by "
            f"{', '.join(known[1]) or 'none'}. Judge both by the same judge and model."
        )
    return next((judge for judge in both if judge.model != NO_MODEL), both[0])


def _scored_pairs(a: ComparedSide, b: ComparedSide, judge: JudgeId) -> list[tuple[Judgement, Judgement]]:
    rows_a, rows_b = (
        {
            row.question_id: row
            for row in by_judge(side.judgements).get(judge, ())
            if row.system == side.system
        }
        for side in (a, b)
    )
    if not rows_a.keys() & rows_b.keys():
        examples = [", ".join(map(repr, [*rows][:SHOWN])) for rows in (rows_a, rows_b)]
        raise DataError(
            f"A and B share no question: A has {examples[0]}, B has {examples[1]}. Compare runs of the same "
            "questions, with the same ids."
        )
    pairs = [
        (row, rows_b[question_id])
        for question_id, row in rows_a.items()
        if question_id in rows_b and not is_tuned(row)
    ]
    scored = [pair for pair in pairs if all(row.score is not None for row in pair)]
    if not scored:
        raise DataError(
            f"judge {judge.judge!r} has scored both answers to none of the {len(pairs):,} shared questions. "
            "Judge again those that failed."
        )
    return scored


def pair_sizes(
    a: ComparedSide,
    b: ComparedSide,
    pairs: Sequence[tuple[Judgement, Judgement]],
    labels: Sequence[Label],
    metric: str,
) -> Floats:
    """Return how far people's difference is expected to be from what the judge's leads one to expect.

    The root of a variance: that of both scores, as far as the judge says how sure it was; the difference of
    the scores, for answers that a judge scores otherwise are not the same answer; and a part for what no
    judge foresees. 0 where both answers are the same words: people cannot but give them the same. With the
    labels of 20 questions or more it is measured in up to five strata of that size, as residual_sizes does.
    """
    squares = np.array([_square(pair) for pair in pairs])
    same = np.array([_are_same(a, b, pair) for pair in pairs], dtype=bool)
    prior = np.where(same, 0.0, np.sqrt(squares))
    humans = [_humans(side, labels, metric) for side in (a, b)]
    known = {
        at: theirs.score - ours.score
        for at, (first, _) in enumerate(pairs)
        if (ours := humans[0].get(first.question_id))
        and (theirs := humans[1].get(first.question_id))
        and ours.score is not None
        and theirs.score is not None
    }
    if len(known) < FEWEST_LABELS:
        return prior
    judge = np.array([_score(second) - _score(first) for first, second in pairs])
    strata = strata_of(prior, np.ones(len(pairs), dtype=bool))
    return measured_sizes(judge, strata, np.array([*known]), np.array([*known.values()]))


def _humans(side: ComparedSide, labels: Sequence[Label], metric: str) -> dict[str, Human]:
    own = [
        row
        for row in labels
        if row.system == side.system and (row.metadata or {}).get("run") in (None, "", side.run)
    ]
    return {question_id: human for (question_id, _), human in human_scores(own, metric).items()}


def _square(pair: tuple[Judgement, Judgement]) -> float:
    low, high = pair[0].scale or (0.0, 1.0)
    apart = (_score(pair[1]) - _score(pair[0])) / (high - low)
    return BASE + sum(deviation(row) ** 2 for row in pair) + 2 * apart**2


def _score(row: Judgement) -> float:
    return row.score or 0.0


def _are_same(a: ComparedSide, b: ComparedSide, pair: tuple[Judgement, Judgement]) -> bool:
    texts = [side.answers.get((row.question_id, row.system)) for side, row in zip((a, b), pair, strict=True)]
    if any(text is None or text.turns for text in texts):
        return False
    first, second = (words(text.answer) for text in texts if text)
    return first == second
