"""Which answers people should label: a draw of which every answer's chance is known."""

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Literal, get_args

import msgspec
import numpy as np

from ragstone.kernel.agreement.comparison import JudgeId, by_judge
from ragstone.kernel.agreement.pairing import Human, Key, human_scores, inclusion_of, is_tuned, pair
from ragstone.kernel.errors import DataError, nearest
from ragstone.kernel.records import NO_MODEL, Judgement, Label
from ragstone.kernel.statistics import Codes, Floats

FEWEST_LABELS = 20  # before that the residuals of labelled answers say less than the judge's own doubt
STRATA = 5
SHRUNK = 5.0  # labels that the residual of all answers counts beside those of a stratum


def uncertainty(row: Judgement, cut: float | None = None) -> float:
    """Return how unsure the judge was of an answer, 0 to 1; 0 for one that it has not scored.

    From what the judgement carries: the probabilities of its outcomes, or how often each came in several
    samples (the root of Gini's impurity, which for yes and no goes with the standard deviation of a coin);
    the spread of a jury's scores; else the nearness of the score to `cut`, on the scale of the judgement
    (default: its middle).
    """
    if row.score is None:
        return 0.0
    metadata = row.metadata or {}
    for name in ("probabilities", "frequencies"):
        counts = metadata.get(name)
        if isinstance(counts, dict) and (total := sum(counts.values())) > 0:
            k = max(2, len(counts))
            impurity = 1 - sum((count / total) ** 2 for count in counts.values())
            return math.sqrt(min(1.0, max(0.0, impurity) * k / (k - 1)))
    low, high = row.scale or (0.0, 1.0)
    if isinstance(spread := metadata.get("spread"), int | float):
        return min(1.0, float(spread) / (high - low))
    middle = (low + high) / 2 if cut is None else cut
    furthest = max(high - middle, middle - low)
    return max(0.0, 1 - abs(row.score - middle) / furthest)


def uncertain_sizes(rows: Sequence[Judgement], cut: float | None = None) -> Floats:
    """Return the square of each row's uncertainty, so that the draw keeps to the unsure ones.

    Raises DataError where the judge was equally sure of all.
    """
    sizes = np.array([uncertainty(row, cut) for row in rows]) ** 2
    scored = [size for size, row in zip(sizes, rows, strict=True) if row.score is not None]
    if not scored or max(scored) == min(scored):
        raise DataError(
            f"judge {rows[0].judge!r} is as sure of one answer as of any other, so none is the least "
            "certain. Draw at random, or judge with probabilities (NAME@token) or several samples "
            "(NAME@samples=5)."
        )
    return sizes


def disagreement_sizes(rows: Sequence[Judgement], others: Mapping[Key, Sequence[float]]) -> Floats:
    """Return how far the judges' scores of each answer lie apart, as a share of the scale.

    others: the scores of all judges of the metric, each on a scale of 0 to 1, by answer. Raises DataError
    where no answer has two, or all judges say the same throughout.
    """
    scores = [others.get((row.question_id, row.system), ()) for row in rows]
    if all(len(row_scores) < 2 for row_scores in scores):
        raise DataError(
            f"only one judge has scored answers for {rows[0].metric!r}, so no two can disagree. Judge with a "
            "second one of the same metric, or draw in another way."
        )
    apart = np.array(
        [max(row_scores) - min(row_scores) if len(row_scores) > 1 else 0.0 for row_scores in scores]
    )
    if not apart.any():
        raise DataError(
            f"the judges of {rows[0].metric!r} gave the same score to every answer. Draw in another way."
        )
    return apart


def residual_sizes(rows: Sequence[Judgement], humans: Mapping[Key, Human]) -> Floats:
    """Return how far people's score is expected to be from what the judge's score leads one to expect.

    That is the size for which the corrected mean has the least variance (Neyman 1934; Zrnic and Candès 2024,
    arXiv:2403.03208, proposition 1). With 20 labelled answers or more it is measured: the root mean square of
    the residuals of a straight line through human and judge scores, in up to five strata of the judge's
    uncertainty or, where all are as certain, of its score; a stratum with few labels leans to all of them.
    With fewer it is the judge's own uncertainty. Raises DataError where that is the same of all.
    """
    labelled = [
        (number, human.score)
        for number, row in enumerate(rows)
        if row.score is not None
        and (human := humans.get((row.question_id, row.system))) is not None
        and human.score is not None
    ]
    doubts = np.array([deviation(row) for row in rows])
    if len(labelled) < FEWEST_LABELS:
        if doubts.max() == doubts.min():
            raise DataError(
                f"nothing shows where judge {rows[0].judge!r} errs: it is as sure of one answer as "
                f"of any other, and there are {len(labelled)} labels of its answers. Label at least "
                f"{FEWEST_LABELS} answers drawn at random first, or judge with probabilities "
                "(NAME@token)."
            )
        return doubts
    scores = np.array([math.nan if row.score is None else row.score for row in rows])
    varying = len(np.unique(doubts[~np.isnan(scores)])) > 2
    strata = strata_of(doubts if varying else scores, ~np.isnan(scores))
    at = np.array([number for number, _ in labelled])
    return measured_sizes(scores, strata, at, np.array([score for _, score in labelled]))


def measured_sizes(judge: Floats, strata: Codes, at: Codes, human: Floats) -> Floats:
    """Return for each row the root mean square of what a straight line leaves over in its stratum.

    judge, strata: (rows,), -1 for a row in none, whose size is 0. at, human: (labelled,), the places of the
    labelled rows and what people gave them. A stratum with few labels leans to all of them.
    """
    squares = _residuals(human, judge[at]) ** 2
    sizes = np.zeros(len(judge))
    for stratum in np.unique(strata[strata >= 0]):
        inside = squares[strata[at] == stratum]
        mean = (inside.sum() + SHRUNK * squares.mean()) / (inside.size + SHRUNK)
        sizes[strata == stratum] = math.sqrt(mean)
    return sizes


def deviation(row: Judgement) -> float:
    """Return the uncertainty; of a bare score, the standard deviation of a coin with that share."""
    metadata = row.metadata or {}
    if row.score is None or any(name in metadata for name in ("probabilities", "frequencies", "spread")):
        return uncertainty(row)
    low, high = row.scale or (0.0, 1.0)
    share = min(1.0, max(0.0, (row.score - low) / (high - low)))
    return 2 * math.sqrt(share * (1 - share))


def strata_of(values: Floats, known: np.ndarray) -> Codes:
    """Return the stratum of each value, from 0; -1 where none is known. Equal values are in one."""
    strata = np.full(len(values), -1)
    distinct = np.unique(values[known])
    if len(distinct) <= STRATA:
        edges = distinct[1:]
    else:
        edges = np.unique(np.quantile(values[known], np.arange(1, STRATA) / STRATA))
    strata[known] = np.searchsorted(edges, values[known], side="right")
    return strata


def _residuals(human: Floats, judge: Floats) -> Floats:
    """Return what the least-squares line leaves over."""
    centred = judge - judge.mean()
    spread = float(centred @ centred)
    slope = float(centred @ human) / spread if spread else 0.0
    return np.asarray(human - human.mean() - slope * centred)


SURE = 1.0 - 1e-9


def chances_of(sizes: Floats, n: int, spread: float) -> Floats:
    """Return each row's chance to be one of n that are drawn, in proportion to its size; together n.

    sizes: (rows,), 0 or more. spread: the share of the n that goes to all rows alike, whatever their size, so
    that no chance is 0 and no guess of a size can do more harm than that; 1 makes all chances equal. A row
    whose chance would be above 1 is drawn for certain, and the others share what is left.
    """
    rows = len(sizes)
    if n >= rows:
        return np.ones(rows)
    total = sizes.sum()
    mixed = np.full(rows, 1 / rows) if total <= 0 else spread / rows + (1 - spread) * sizes / total
    chances, sure = np.zeros(rows), np.zeros(rows, dtype=bool)
    while True:
        left = n - int(sure.sum())
        chances = np.where(sure, 1.0, left * mixed / mixed[~sure].sum())
        above = ~sure & (chances > SURE)
        if not above.any():
            return chances
        sure |= above


def draw(chances: Floats, order: Codes, rng: np.random.Generator) -> Codes:
    """Return the places of the rows drawn, in random order: as many as the chances are together.

    Systematic sampling (Madow 1949): a step of 1 through the sums of the chances from a random start, so
    each row has its chance exactly, and rows that stand near each other in `order` are not all drawn or all
    missed. Since the order returned is random, the first of them are a sample with the same ratio of chances.
    """
    n = round(float(chances.sum()))
    if n >= len(chances):
        return rng.permutation(order)
    sums = np.cumsum(chances[order])
    steps = (np.arange(n) + rng.random()) * (sums[-1] / n)
    places = np.searchsorted(sums, steps, side="right")
    return rng.permutation(order[np.minimum(places, len(order) - 1)])


AnswerWay = Literal["random", "stratified", "uncertain", "disagreement", "ppi"]
Way = Literal[AnswerWay, "difference", "gaps", "chosen", "picked", "mode"]  # `difference` draws pairs
WAYS: tuple[AnswerWay, ...] = get_args(AnswerWay)
NO_SAMPLE: tuple[Way, ...] = ("gaps", "chosen", "picked")
EQUAL: tuple[Way, ...] = ("random", "stratified")
SPREAD_EVENLY = ("system", "score")

# The share of a draw that goes to all answers alike. Simulated, see docs/how-to/labelling.md: with half of
# it, a wrong guess of where the judge errs costs the interval 9 %, with a tenth 25 %.
SPREAD: dict[Way, float] = {"uncertain": 0.2, "disagreement": 0.2, "ppi": 0.5}

Tags = Mapping[Key, Mapping[str, str]]


class AnswerDraw(msgspec.Struct, frozen=True, kw_only=True):
    """How answers are chosen. Everything that decides which they are, beside the rows themselves.

    by: `random`; `stratified`, spread evenly over strata (`system`, `score`, or the name of a tag);
    `uncertain`, the more the judge was unsure; `disagreement`, the more its judges differ; `ppi`, the more
    the corrected mean gains by a label; `difference`, both answers of the two `systems` to n questions, the
    more their difference gains; `gaps`, not drawn, because grades differed for the same reason. cut: the
    score at which the judge is unsure (`uncertain`; default: the middle of its scale). `chosen`: those
    that the filter `where` leaves, n at most; another way has `where` if the run holds chosen answers.
    `picked`: not drawn, by hand.
    """

    by: Way = "stratified"
    n: int = 100
    metric: str | None = None
    judge: str | None = None
    strata: tuple[str, ...] = SPREAD_EVENLY
    cut: float | None = None
    seed: int = 0
    systems: tuple[str, str] | msgspec.UnsetType = msgspec.UNSET
    where: str | msgspec.UnsetType = msgspec.UNSET


class DrawnAnswer(msgspec.Struct, frozen=True):
    """A judgement whose answer is to be labelled. inclusion: its chance; None where all had the same."""

    row: Judgement
    inclusion: float | None = None


def choose(
    judgements: Iterable[Judgement], labels: Iterable[Label], choice: AnswerDraw, tags: Tags | None = None
) -> list[DrawnAnswer]:
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
        return [DrawnAnswer(rows[at]) for at in draw(chances, order, rng)]
    chances = chances_of(_sizes(rows, rows_of, humans, choice), n, SPREAD[choice.by])
    return [DrawnAnswer(rows[at], round(float(chances[at]), 9)) for at in draw(chances, order, rng)]


def choose_left(
    judgements: Iterable[Judgement], labels: Iterable[Label], choice: AnswerDraw, left: Collection[Key]
) -> list[DrawnAnswer]:
    """Return the answers that a filter leaves and that have no label yet, in random order.

    left: their keys. Where there are more than n, n of them are drawn; labels of either say nothing of all
    answers. Raises DataError as choose does, and where the filter leaves nothing.
    """
    rows_of = by_judge(row for row in judgements if choice.metric in (None, row.metric))
    judge = _judge(rows_of, choice)
    wanted = set(left)
    known = {(row.question_id, row.system) for row in labels if row.metric in (None, judge.metric)}
    judged = [row for row in rows_of[judge] if (row.question_id, row.system) in wanted]
    rows = [row for row in judged if (row.question_id, row.system) not in known]
    if not rows:
        why = f": {judge.judge!r} has judged none of the {len(wanted):,} that it leaves" if wanted else ""
        why = ": each has a label" if judged else why
        raise DataError(f"The filter leaves no answer to label{why}. Change it.")
    order = np.random.default_rng(choice.seed).permutation(len(rows))
    return [DrawnAnswer(rows[at]) for at in order[: choice.n].tolist()]


def _judge(rows_of: Mapping[JudgeId, Sequence[Judgement]], choice: AnswerDraw) -> JudgeId:
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


def _order(rows: Sequence[Judgement], choice: AnswerDraw, tags: Tags, rng: np.random.Generator) -> Codes:
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
        values: list[str | None] = [row.system for row in rows]
    else:
        values = [tags.get((row.question_id, row.system), {}).get(name) for row in rows]
        if not any(values):
            raise DataError(
                f"no answer has a tag {name!r} to spread the draw over. Use system, score or a tag."
            )
    places = {value: rank for rank, value in enumerate(dict.fromkeys(values))}
    return [np.array([float(places[value]) for value in values])]


def _sizes(
    rows: Sequence[Judgement],
    rows_of: Mapping[JudgeId, Sequence[Judgement]],
    humans: Mapping[Key, Human],
    choice: AnswerDraw,
) -> Floats:
    ways: dict[str, Callable[[], Floats]] = {
        "uncertain": lambda: uncertain_sizes(rows, choice.cut),
        "disagreement": lambda: disagreement_sizes(rows, _all_scores(rows_of, rows[0].metric)),
        "ppi": lambda: residual_sizes(rows, humans),
    }
    return ways[choice.by]()


def _all_scores(rows_of: Mapping[JudgeId, Sequence[Judgement]], metric: str) -> dict[Key, list[float]]:
    """Return the scores of each answer by all judges of a metric, on a scale of 0 to 1."""
    scores_of: dict[Key, list[float]] = {}
    for judge, rows in rows_of.items():
        for row in rows if judge.metric == metric else ():
            if row.score is not None:
                low, high = row.scale or (0.0, 1.0)
                scores_of.setdefault((row.question_id, row.system), []).append(
                    (row.score - low) / (high - low)
                )
    return scores_of


def way_of(name: str) -> AnswerWay:
    """Return a way to choose by its name. Raises DataError naming all of them."""
    for method in WAYS:
        if method == name:
            return method
    raise DataError(f"{name!r} is not a way to choose answers. {nearest(name, WAYS)}")
