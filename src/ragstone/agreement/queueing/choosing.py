"""Which answers people should label: a draw of which every answer's chance is known."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal, get_args

import msgspec
import numpy as np

from ragstone.agreement.measured import JudgeId, by_judge
from ragstone.agreement.pairing import Human, Key, human_scores, inclusion_of, is_tuned, pair
from ragstone.agreement.queueing.drawing import chances_of, draw
from ragstone.agreement.queueing.sizes import disagreement_sizes, residual_sizes, uncertain_sizes
from ragstone.errors import DataError, nearest
from ragstone.records import NO_MODEL, Judgement, Label
from ragstone.statistics import Codes, Floats

Way = Literal["random", "stratified", "uncertain", "disagreement", "ppi"]
WAYS: tuple[Way, ...] = get_args(Way)
EQUAL: tuple[Way, ...] = ("random", "stratified")
SPREAD_EVENLY = ("system", "score")

# The share of a draw that goes to all answers alike. Simulated, see docs/labelling.md: with half of it, a
# wrong guess of where the judge errs costs the interval 9 %, with a tenth 25 %.
SPREAD: dict[Way, float] = {"uncertain": 0.2, "disagreement": 0.2, "ppi": 0.5}

Tags = Mapping[Key, Mapping[str, str]]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """How answers are chosen. Everything that decides which they are, beside the rows themselves.

    by: `random`; `stratified`, spread evenly over strata (`system`, `score`, or the name of a tag);
    `uncertain`, the more the judge was unsure; `disagreement`, the more its judges differ; `ppi`, the more
    the corrected mean gains by a label. cut: the score at which the judge is unsure (`uncertain`; default:
    the middle of its scale).
    """

    by: Way = "stratified"
    n: int = 100
    metric: str | None = None
    judge: str | None = None
    strata: tuple[str, ...] = SPREAD_EVENLY
    cut: float | None = None
    seed: int = 0


class Chosen(msgspec.Struct, frozen=True):
    """A judgement whose answer is to be labelled. inclusion: its chance; None where all had the same."""

    row: Judgement
    inclusion: float | None = None


def choose(
    judgements: Iterable[Judgement], labels: Iterable[Label], choice: Choice, tags: Tags | None = None
) -> list[Chosen]:
    """Return the answers to label, in random order; fewer than asked for if there are not so many.

    The judge is the one named, else the first that asks a model, else the first; its metric is the one to
    label. Answers to questions that it was tuned on are left out. Draws with equal chances leave out answers
    that have a label from such a draw, so that their labels add up to one sample. Draws with unequal chances
    are of all answers, labelled or not: their chances must hold for all. Raises DataError if nothing is left
    to choose, if the judge or a stratum is not there, or if nothing tells the answers apart in the way asked
    for.
    """
    rows_of = by_judge(row for row in judgements if choice.metric in (None, row.metric))
    judge = _judge(rows_of, choice)
    labels = list(labels)
    if choice.by in EQUAL:
        labels = [label for label in labels if inclusion_of(label) is None]
    humans = human_scores(labels, judge.metric)
    rows = _left(rows_of[judge], humans, judge, equal=choice.by in EQUAL)
    rng = np.random.default_rng(choice.seed)
    order = _order(rows, choice, tags or {}, rng)
    n = min(choice.n, len(rows))
    if choice.by in EQUAL:
        chances = np.full(len(rows), n / len(rows))
        return [Chosen(rows[at]) for at in draw(chances, order, rng)]
    chances = chances_of(_sizes(rows, rows_of, humans, choice), n, SPREAD[choice.by])
    return [Chosen(rows[at], round(float(chances[at]), 9)) for at in draw(chances, order, rng)]


def _judge(rows_of: Mapping[JudgeId, Sequence[Judgement]], choice: Choice) -> JudgeId:
    if not rows_of:
        of = f" of {choice.metric!r}" if choice.metric else ""
        raise DataError(f"no judgements{of} to choose answers from: is this the right file?")
    named = [judge for judge in rows_of if choice.judge in (None, judge.judge)]
    if not named:
        known = ", ".join(sorted({judge.judge for judge in rows_of}))
        raise DataError(f"no judgement is by judge {choice.judge!r}: there are {known}.")
    return next((judge for judge in named if judge.model != NO_MODEL), named[0])


def _left(
    rows: Sequence[Judgement], humans: Mapping[Key, Human], judge: JudgeId, *, equal: bool
) -> list[Judgement]:
    """Return the rows that can be drawn."""
    labelled = pair(rows, humans).labelled if humans and equal else frozenset[Key]()
    left = [row for row in rows if (row.question_id, row.system) not in labelled and not is_tuned(row)]
    if not left:
        raise DataError(f"every answer that {judge.judge!r} has judged has a label: none is left to choose.")
    return left


def _order(rows: Sequence[Judgement], choice: Choice, tags: Tags, rng: np.random.Generator) -> Codes:
    """Return the order that the draw goes through: neighbours are alike in the strata, and random else."""
    ties = rng.random(len(rows))
    if choice.by == "random":
        return np.argsort(ties)
    names = choice.strata if choice.by == "stratified" else SPREAD_EVENLY
    keys = [key for name in names for key in _stratum(name, rows, tags)]
    return np.lexsort((ties, *reversed(keys)))


def _stratum(name: str, rows: Sequence[Judgement], tags: Tags) -> list[Floats]:
    """Return what rows are sorted by for one stratum, the most important first."""
    if name == "score":
        unscored = np.array([float(row.score is None) for row in rows])
        return [unscored, np.array([0.0 if row.score is None else row.score for row in rows])]
    if name == "system":
        given: list[str | None] = [row.system for row in rows]
    else:
        given = [tags.get((row.question_id, row.system), {}).get(name) for row in rows]
        if not any(given):
            raise DataError(
                f"no answer has a tag {name!r} to spread the draw over. Take system, score or a tag."
            )
    places = {value: place for place, value in enumerate(dict.fromkeys(given))}
    return [np.array([float(places[value]) for value in given])]


def _sizes(
    rows: Sequence[Judgement],
    rows_of: Mapping[JudgeId, Sequence[Judgement]],
    humans: Mapping[Key, Human],
    choice: Choice,
) -> Floats:
    ways: dict[str, Callable[[], Floats]] = {
        "uncertain": lambda: uncertain_sizes(rows, choice.cut),
        "disagreement": lambda: disagreement_sizes(rows, _all_scores(rows_of, rows[0].metric)),
        "ppi": lambda: residual_sizes(rows, humans),
    }
    return ways[choice.by]()


def _all_scores(rows_of: Mapping[JudgeId, Sequence[Judgement]], metric: str) -> dict[Key, list[float]]:
    """Return the scores of each answer by all judges of a metric, on a scale of 0 to 1."""
    found: dict[Key, list[float]] = {}
    for judge, rows in rows_of.items():
        for row in rows if judge.metric == metric else ():
            if row.score is not None:
                low, high = row.scale or (0.0, 1.0)
                found.setdefault((row.question_id, row.system), []).append((row.score - low) / (high - low))
    return found


def way_of(name: str) -> Way:
    """Return a way to choose by its name. Raises DataError naming all of them."""
    for way in WAYS:
        if way == name:
            return way
    raise DataError(f"{name!r} is no way to choose answers. {nearest(name, WAYS)}")
