"""A mean over crossed random effects: questions, answers to them, judges, wordings, verdicts asked anew.

Groupings of the rows, such as "same judge" or "same judge and question", each add a variance component.
They are estimated without bias from sums of squares within the groupings, whose expectations are linear in
them, whatever cells are missing: the moments of Henderson 1953 (Biometrics 9:226) as Gao and Owen 2017
(Electronic Journal of Statistics 11:1235) write them. In a balanced table they are those of the analysis of
variance. Time and memory grow with the rows, not with the cells of the full table.
"""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from statistics import NormalDist
from typing import Literal, NamedTuple

import msgspec
import numpy as np

from ragstone.kernel.statistics.bootstrap import RESAMPLES
from ragstone.kernel.statistics.estimate import Estimate
from ragstone.kernel.statistics.intervals import (
    Clusters,
    Codes,
    Floats,
    cluster_codes,
    n_clusters,
    student_quantile,
)
from ragstone.kernel.statistics.mean import mean_estimate

Source = Literal["questions", "answers", "judges", "wordings", "repeats"]
MOST_QUESTIONS = 16  # times as many, up to which it is looked whether further questions would do
SERIES_FROM = 30  # degrees of freedom from which Student's quantile is taken from its series
LOW = NormalDist().inv_cdf(0.45)
"""How far below the truth an estimated component of judges or wordings is taken to be: mean_components."""
STEPS = 8192  # of the integral below that


class MeanComponents(msgspec.Struct, frozen=True, kw_only=True):
    """A mean with the noise of all that its rows were drawn from.

    estimate: the mean, with an interval for questions, judges and wordings like these; method `components`.
    fixed: the same mean with an interval for these judges and wordings alone, as mean_estimate gives it of
    rows that share a question or document; equal to estimate where there is one judge and one wording.
    shares: source -> its share of the variance of the mean; their sum is 1. Where no verdict was asked anew,
    its own noise is among the judges, else among the wordings, else among the answers. df: degrees of freedom
    of the interval. levels: how many questions, judges and wordings there are, answers to a question and
    verdicts of one judge in one wording on one answer, the most of any. balanced: no cell is missing, and all
    have as many rows. half_width: of the interval, in the unit of the values, had it not been cut at the ends
    of the scale. doubled: source -> the half width with twice as many of that. questions_instead: source ->
    how many further questions would narrow the interval as much; None where 15 times as many would not.
    """

    estimate: Estimate
    fixed: Estimate
    shares: dict[Source, float]
    df: float
    levels: dict[Source, int]
    balanced: bool
    half_width: float
    doubled: dict[Source, float]
    questions_instead: dict[Source, int | None]


class _Grouping(NamedTuple):
    """Rows that share what is named here: of the nested chain down to `depth`, the judge, the wording.

    depth: 0 for nothing of the chain (document, question, answer). rows: each row is its own group.
    """

    depth: int
    judge: bool = False
    wording: bool = False
    rows: bool = False

    def joined(self, other: "_Grouping") -> "_Grouping":
        """Return the grouping by all that either names."""
        return _Grouping(
            max(self.depth, other.depth),
            self.judge or other.judge,
            self.wording or other.wording,
            self.rows or other.rows,
        )

    def holds(self, other: "_Grouping") -> bool:
        """Return whether rows that share all of this share all of the other."""
        return self.joined(other) == self


def mean_components(
    values: Sequence[float] | Floats,
    questions: Clusters,
    *,
    answers: Clusters | None = None,
    judges: Clusters | None = None,
    wordings: Clusters | None = None,
    documents: Clusters | None = None,
    bounds: tuple[float, float] | None = None,
    proportion: bool = True,
    seed: int = 0,
    resamples: int = RESAMPLES,
    level: float = 0.95,
) -> MeanComponents | None:
    """Return the mean of crossed rows with its interval and the share of each source in its variance.

    values: finite, one a row, in any unit. questions, answers, judges, wordings, documents: one key a row; an
    answer's key counts within its question, and questions are within documents. Rows that share all of them
    are verdicts asked anew. Cells may be missing, and may have unequal numbers of rows. bounds: the ends of
    the scale, beyond which the interval does not go; proportion: see mean_estimate, for `fixed`.

    None where nothing but questions varies, where there are fewer than 2 of them (or of documents, if these
    are given), or where all values are the same: mean_estimate says then what there is to say.

    The half width is Student's quantile times the standard error; its degrees of freedom are Satterthwaite's
    (1946, Biometrics Bulletin 2:110), from the mean squares of questions (or documents), judges and wordings.
    The estimated components of judges and wordings are first divided by the 45 % quantile of chi squared over
    its degrees of freedom: of 2 wordings two in three estimates are below the truth, and an interval must
    hold then too. In simulation (benchmarks/interval_coverage.py --components) it holds 93 to 97 % with 3
    judges, 2 wordings and 2 repeats. With 2 wordings that differ much, the interval is wide: two say little
    about wordings in general.
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.isfinite(array).all():
        raise ValueError("a value is not a finite number: leave failures out and count them")
    table = _Table(
        array.size, questions, answers=answers, judges=judges, wordings=wordings, documents=documents
    )
    top = table.chain[0] if table.chain else np.zeros(0, dtype=np.intp)
    if n_clusters(top) < 2 or not np.ptp(array) or {"questions"} == {table.source(g) for g in table.kept}:
        return None
    model = _fitted(array, table)
    fixed = mean_estimate(array, top, seed=seed, resamples=resamples, level=level, proportion=proportion)
    if model is None or fixed is None:
        return None
    half, df = model.half_width({}, level)
    estimate = fixed
    if any(grouping.depth == 0 for grouping in table.kept):
        low, high = fixed.value - half, fixed.value + half
        if fixed.low is not None and fixed.high is not None:  # never narrower than for these judges alone
            low, high = min(low, fixed.low), max(high, fixed.high)
        if bounds:
            low, high = max(low, bounds[0]), min(high, bounds[1])
        estimate = msgspec.structs.replace(fixed, low=low, high=high, method="components")
    sources = [source for source in table.levels if source in model.shares]
    # Fewer degrees of freedom may take back what a smaller variance gives: no source makes it wider.
    doubled = {source: min(half, model.half_width({source: 2}, level)[0]) for source in sources}
    return MeanComponents(
        estimate=estimate,
        fixed=fixed,
        shares={source: model.shares[source] for source in sources},
        df=df,
        levels=table.levels,
        balanced=table.balanced,
        half_width=half,
        doubled=doubled,
        questions_instead={
            source: model.questions_for(doubled[source], level) for source in sources if source != "questions"
        },
    )


class _Table:
    """Rows and their groupings. kept: those that differ from each other, the coarsest first, rows last."""

    def __init__(
        self,
        n: int,
        questions: Clusters,
        *,
        answers: Clusters | None,
        judges: Clusters | None,
        wordings: Clusters | None,
        documents: Clusters | None,
    ) -> None:
        self.n = n
        self._of_judges, self._of_wordings = _codes_of(judges, n), _codes_of(wordings, n)
        question = _codes_of(questions, n)
        answer = _paired(question, _codes_of(answers, n))
        chain = [question]
        if documents is not None:
            chain.insert(0, _codes_of(documents, n))
            chain[1] = _paired(*chain)
        self.at_question = len(chain)
        self.chain: list[Codes] = [*chain, answer]
        self._codes: dict[_Grouping, Codes] = {}
        self._sizes: dict[_Grouping, Floats] = {}
        self.kept = self._distinct()
        self._cells = _Grouping(len(self.chain), judge=True, wording=True)
        first = np.unique(answer, return_index=True)[1]  # a row of each answer
        self.levels: dict[Source, int] = {
            "questions": n_clusters(question),
            "answers": int(np.bincount(question[first]).max()) if n else 0,
            "judges": n_clusters(self._of_judges),
            "wordings": n_clusters(self._of_wordings),
            "repeats": int(self.sizes(self._cells).max()) if n else 0,
        }
        full = math.prod(self.levels.values())
        self.balanced = full == n

    def codes(self, grouping: _Grouping) -> Codes:
        """Return the group of each row."""
        if grouping not in self._codes:
            codes = np.zeros(self.n, dtype=np.intp)
            if grouping.rows:
                codes = np.arange(self.n)
            else:
                if grouping.depth:
                    codes = self.chain[grouping.depth - 1]
                if grouping.judge:
                    codes = _paired(codes, self._of_judges)
                if grouping.wording:
                    codes = _paired(codes, self._of_wordings)
            self._codes[grouping] = codes
        return self._codes[grouping]

    def sizes(self, grouping: _Grouping) -> Floats:
        """Return for each row how many rows are in its group."""
        if grouping not in self._sizes:
            codes = self.codes(grouping)
            self._sizes[grouping] = np.bincount(codes)[codes].astype(np.float64)
        return self._sizes[grouping]

    def squares_within(self, values: Floats, grouping: _Grouping) -> float:
        """Return the sum of squares within groups."""
        codes = self.codes(grouping)
        apart = values - (np.bincount(codes, weights=values) / np.bincount(codes))[codes]
        return float(apart @ apart)

    def expected_within(self, grouping: _Grouping, of: _Grouping) -> float:
        """Return how much one unit of a component adds to the expected sum of squares within groups."""
        if grouping.holds(of):
            return 0.0
        return self.n - float((self.sizes(grouping.joined(of)) / self.sizes(grouping)).sum())

    def source(self, grouping: _Grouping) -> Source:
        """Return what the component of a grouping is put down to."""
        if grouping.rows:
            return "repeats"
        if grouping.judge:
            return "judges"
        if grouping.wording:
            return "wordings"
        return "answers" if grouping.depth > self.at_question else "questions"

    def _distinct(self) -> list[_Grouping]:
        last = len(self.chain)
        candidates = [
            *map(_Grouping, range(1, last + 1)),
            _Grouping(0, judge=True),
            _Grouping(0, wording=True),
            _Grouping(0, judge=True, wording=True),
            _Grouping(self.at_question, judge=True),
            _Grouping(self.at_question, wording=True),
            _Grouping(last, judge=True, wording=True),
            _Grouping(last, judge=True, wording=True, rows=True),
        ]
        distinct: list[_Grouping] = []
        for grouping in candidates:
            n_groups = n_clusters(self.codes(grouping))
            if n_groups > 1 and not any(
                n_groups == n_clusters(self.codes(other)) == n_clusters(self.codes(grouping.joined(other)))
                for other in distinct
            ):
                distinct.append(grouping)
        return distinct


class _Model:
    """Variance components of a table, and what the interval of its mean would be with more of a source."""

    def __init__(self, table: _Table, groupings: Sequence[_Grouping], components: Sequence[float]) -> None:
        self._table, self._groupings = table, groupings
        # The squared weights of a grouping's levels in the mean: 1 / levels where all have as many rows.
        self._weights = {g: float(table.sizes(g).sum()) / table.n**2 for g in groupings}
        self._estimated = {
            g: component * self._weights[g] for g, component in zip(groupings, components, strict=True)
        }
        self._parts = {g: max(0.0, part) for g, part in self._estimated.items()}
        total = sum(self._parts.values())
        self.shares: dict[Source, float] = {}
        for grouping, part in self._parts.items():
            source = table.source(grouping)
            self.shares[source] = self.shares.get(source, 0.0) + (part / total if total else 0.0)
        chain = [g for g in groupings if g.depth and not (g.judge or g.wording or g.rows)]
        mains = (_Grouping(0, judge=True), _Grouping(0, wording=True))
        self._mains = [*chain[:1], *(g for g in mains if g in self._parts)]
        self._within = {main: [g for g in groupings if g.holds(main)] for main in self._mains}
        self._sources = {g: self._sources_of(g) for g in groupings}

    def half_width(self, times: Mapping[Source, float], level: float) -> tuple[float, float]:
        """Return the half width of the interval, and its degrees of freedom.

        times: source -> how many times as many of it there were.
        """
        parts = {g: part / self._factor(g, times) for g, part in self._parts.items()}
        estimated = {g: part / self._factor(g, times) for g, part in self._estimated.items()}
        variance, squares = sum(parts.values()), 0.0
        # Those of judges, wordings and both are negative by chance each: only their sum is cut at 0.
        inflated = max(0.0, sum(part for g, part in estimated.items() if not g.depth))
        inflated += sum(part for g, part in parts.items() if g.depth)
        for main in self._mains:
            df = max(1.0, self._factor(main, times) / self._weights[main] - 1)
            square = sum(estimated[g] for g in self._within[main])  # the mean square, over n
            squares += square**2 / df
            if main.depth == 0:
                spread = 2 / (9 * df)
                low = (1 - spread + LOW * math.sqrt(spread)) ** 3  # Wilson and Hilferty 1931
                inflated += parts[main] * (1 / low - 1)
        df = max(1.0, variance**2 / squares) if squares else 1.0
        return _student_quantile(0.5 + level / 2, df) * math.sqrt(inflated), df

    def questions_for(self, half: float, level: float) -> int | None:
        """Return how many more questions make the interval as narrow; None where too many would not."""

        def reached(times: float) -> bool:
            return self.half_width({"questions": times}, level)[0] <= half

        low, high = 1.0, float(MOST_QUESTIONS)
        if not reached(high):
            return None
        while high - low > 1e-3:
            middle = (low + high) / 2
            low, high = (low, middle) if reached(middle) else (middle, high)
        return math.ceil((high - 1) * self._table.levels["questions"])

    def _factor(self, grouping: _Grouping, times: Mapping[Source, float]) -> float:
        """Return how many times as many levels a grouping would have."""
        return math.prod(n for source, n in times.items() if source in self._sources[grouping])

    def _sources_of(self, grouping: _Grouping) -> set[Source]:
        """Return the sources of which a grouping has more levels where there are more of them."""
        is_of: dict[Source, bool] = {
            "questions": grouping.depth > 0,
            "answers": grouping.depth > self._table.at_question,
            "judges": grouping.judge,
            "wordings": grouping.wording,
            "repeats": grouping.rows,
        }
        return {source for source, is_one in is_of.items() if is_one}


def _fitted(values: Floats, table: _Table) -> _Model | None:
    """Return the model, without components that its equations cannot tell apart; None where none is left."""
    groupings = list(table.kept)
    whole = _Grouping(0)
    while len(groupings) > 1:
        # Within the finest grouping nothing varies: it gives no equation, and the whole table gives one.
        equations = [whole, *groupings[:-1]]
        within = np.array([table.squares_within(values, g) for g in equations])
        expected = np.array([[table.expected_within(g, of) for of in groupings] for g in equations])
        solved, _, rank, _ = np.linalg.lstsq(expected / table.n, within / table.n, rcond=1e-9)
        if rank == len(groupings):
            return _Model(table, groupings, solved.tolist())
        del groupings[-2]
    return None


def _codes_of(keys: Clusters | None, n: int) -> Codes:
    """Return the group of each row from 0, one group where there are no keys."""
    return np.zeros(n, dtype=np.intp) if keys is None else cluster_codes(keys, n)


def _paired(first: Codes, second: Codes) -> Codes:
    """Return the group of each row by two groupings together."""
    n = n_clusters(second)
    if n <= 1:
        return first
    if n_clusters(first) <= 1:
        return second
    joint = first * n + second
    if n_clusters(first) * n <= 8 * joint.size:  # by counting, where that takes little room
        there = np.zeros(n_clusters(first) * n, dtype=np.intp)
        there[joint] = 1
        numbers: Codes = np.cumsum(there) - 1
        return np.asarray(numbers[joint])
    return np.asarray(np.unique(joint, return_inverse=True)[1])


def _student_quantile(probability: float, df: float) -> float:
    """Return the quantile of Student's t, above the median, with a fractional number of degrees of freedom.

    With t = sqrt(df) tan x the density is proportional to cos(x) ** (df - 1): it is summed and inverted, at
    points that come closer to each other towards the end, where it is steep if df is near 1.
    """
    if df >= SERIES_FROM:
        return student_quantile(probability, round(df))
    x, sines, steps = _angles()
    density = sines ** (df - 1)
    below = np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) * steps)])
    at = float(np.interp(2 * probability - 1, below / below[-1], x))
    return math.sqrt(df) * math.tan(at)


@cache
def _angles() -> tuple[Floats, Floats, Floats]:
    """Return the points x of _student_quantile, cos(x) there, and how far each is from the one before."""
    rest = np.linspace(1.0, 0.0, STEPS) ** 3 * math.pi / 2  # what is left up to the end
    x = math.pi / 2 - rest
    return x, np.sin(rest), np.diff(x)
