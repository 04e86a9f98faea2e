"""Intervals that people look at while labels come in: how often they are ever wrong, and what they cost.

Run: python -m benchmarks.peeking [DRAWS] [--labels DATA]

DRAWS: of the first table, 4,000 without it, an eighth for clusters and unequal chances; 0 leaves the
simulations out. --labels: also the labels for ± 5 points on the packs in a folder, ../shared/data.
"""

import argparse
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import msgspec
import numpy as np

from ragstone.kernel.judging.lexical import containment, context_overlap, token_f1
from ragstone.kernel.statistics import (
    Codes,
    Floats,
    cluster_codes,
    kappa_estimate,
    prediction_powered_mean,
    wilson_interval,
)
from ragstone.kernel.statistics.anytime import (
    STAKES,
    Betting,
    Side,
    anytime_interval,
    bet_on_kappa,
    bet_on_mean,
    log_capital,
    log_parts,
)
from ragstone.kernel.statistics.intervals import student_quantile

FIRST, LAST = 20, 300
WANTED = float(np.log(40))
Z = NormalDist().inv_cdf(0.975)
GRADES = [0.0, 1.0, 2.0]


class Case(msgspec.Struct, frozen=True, eq=False):
    """What is measured. draw: rows of human, judge, cluster, chance. truth: of the measure.

    bets: of the first n rows. fixed: low and high ends of the usual interval at each look, (looks,) twice.
    cells: the joint shares of independent rows that all have one chance.
    """

    name: str
    draw: Callable[[np.random.Generator, int], Floats]
    truth: float
    bets: Callable[[Floats], Betting]
    fixed: Callable[[Floats], tuple[Floats, Floats]] | None
    cells: Floats | None = None

    @property
    def is_kappa(self) -> bool:
        return self.bets in (bet_two, bet_three)


def table_draw(cells: Floats) -> Callable[[np.random.Generator, int], Floats]:
    """Return a draw of independent pairs of grades from their joint shares, (grades, grades)."""
    size = len(cells)

    def draw(rng: np.random.Generator, n: int) -> Floats:
        at = rng.choice(cells.size, p=cells.ravel(), size=n)
        return np.column_stack([at // size, at % size, np.arange(n), np.ones(n)]).astype(np.float64)

    return draw


def binary(kappa: float, share: float, lean: float = 0.0) -> Floats:
    """Return the joint shares of two grades; lean moves errors to the judge's lenient side."""
    expected = share**2 + (1 - share) ** 2
    off = (1 - kappa) * (1 - expected) / 2
    return np.array([[1 - share - off, off * (1 + lean)], [off * (1 - lean), share - off]])


def kappa_of(cells: Floats) -> float:
    """Return the kappa of joint shares, with quadratic weights."""
    grades = np.arange(len(cells))
    apart = (grades[:, None] - grades[None, :]) ** 2
    return float(1 - (cells * apart).sum() / (np.outer(cells.sum(1), cells.sum(0)) * apart).sum())


def agreeing(rows: Floats) -> Floats:
    return np.asarray(rows[:, 0] == rows[:, 1], dtype=np.float64)


def fixed_share(rows: Floats) -> tuple[Floats, Floats]:
    hits = np.cumsum(agreeing(rows))
    ends = [wilson_interval(float(hits[n - 1]), n) for n in range(FIRST, len(rows) + 1)]
    return np.array([low for low, _ in ends]), np.array([high for _, high in ends])


def fixed_mean(rows: Floats) -> tuple[Floats, Floats]:
    values = rows[:, 1] - rows[:, 0]
    n = np.arange(1, len(rows) + 1)
    mean = np.cumsum(values) / n
    spread = np.sqrt(np.maximum(np.cumsum(values**2) / n - mean**2, 0) / np.maximum(n - 1, 1))
    half = np.array([student_quantile(0.975, max(int(k) - 1, 1)) for k in n]) * spread
    return (mean - half)[FIRST - 1 :], (mean + half)[FIRST - 1 :]


def fixed_kappa(rows: Floats) -> tuple[Floats, Floats]:
    """Return the ends of the large-sample interval of kappa (Fleiss, Cohen and Everitt 1969)."""
    top = rows[:, :2].max()
    h, j = rows[:, 0] / top, rows[:, 1] / top
    n = np.arange(1, len(rows) + 1)
    columns = np.column_stack([h, j, (h - j) ** 2, h * h, j * j])
    a, b, apart, hh, jj = np.cumsum(columns, axis=0).T / n
    expected = np.maximum(hh + jj - 2 * a * b, 1e-9)
    # The influence of a row is (ratio * chance - apart) / expected: its second moment from sums of products.
    ratio = apart / expected
    parts = np.stack([ratio, ratio, -2 * ratio * b, -2 * ratio * a, -np.ones(len(n))])
    features = np.column_stack([h * h, j * j, h, j, (h - j) ** 2])
    sums = np.cumsum(features[:, :, None] * features[:, None, :], axis=0) / n[:, None, None]
    means = np.cumsum(features, axis=0) / n[:, None]
    second = np.einsum("it,tij,jt->t", parts, sums, parts)
    first = np.einsum("it,ti->t", parts, means)
    half = Z * np.sqrt(np.maximum(second - first**2, 0) / n) / expected
    return (1 - ratio - half)[FIRST - 1 :], (1 - ratio + half)[FIRST - 1 :]


def clustered_draw(rng: np.random.Generator, n: int) -> Floats:
    """Return answers of four systems to n / 4 questions in random order; a question is hard for all."""
    question = np.repeat(np.arange(n // 4), 4)
    share = rng.beta(4.25, 0.75, size=n // 4)[question]
    human = rng.integers(0, 2, n)
    judge = np.where(rng.random(n) < share, human, 1 - human)
    rows = np.column_stack([human, judge, question, np.ones(n)]).astype(np.float64)
    return rows[rng.permutation(n)]


def fixed_clustered(rows: Floats) -> tuple[Floats, Floats]:
    """Return the ends of Student's interval over whole questions, of the share in agreement."""
    lows, highs = [], []
    values, question = agreeing(rows), rows[:, 2].astype(int)
    for n in range(FIRST, len(rows) + 1):
        mean, codes = values[:n].mean(), cluster_codes(question[:n], n)
        residuals = np.bincount(codes, weights=values[:n] - mean)
        groups = len(residuals)
        half = student_quantile(0.975, groups - 1) * np.sqrt((residuals**2).sum() * groups / (groups - 1)) / n
        lows.append(mean - half)
        highs.append(mean + half)
    return np.array(lows), np.array(highs)


def unequal_draw(rng: np.random.Generator, n: int) -> Floats:
    """Return answers drawn in proportion to a chance, which goes with how often the judge errs."""
    pool = 20 * n
    hard = rng.random(pool) < 0.2
    chance = np.where(hard, 1.0, 0.25)
    agree = rng.random(pool) < np.where(hard, 0.6, 0.9)
    human = rng.integers(0, 2, pool)
    rows = np.column_stack([human, np.where(agree, human, 1 - human), np.arange(pool), chance])
    return rows[rng.choice(pool, size=n, replace=False, p=chance / chance.sum())].astype(np.float64)


def bet_share(rows: Floats) -> Betting:
    return bet_on_mean(agreeing(rows), (0.0, 1.0))


def bet_clustered(rows: Floats) -> Betting:
    return bet_on_mean(agreeing(rows), (0.0, 1.0), rows[:, 2].astype(int))


def bet_weighted(rows: Floats) -> Betting:
    return bet_on_mean(agreeing(rows), (0.0, 1.0), chances=rows[:, 3])


def bet_weighted_kappa(rows: Floats) -> Betting:
    return bet_on_kappa(rows[:, 0], rows[:, 1], [0.0, 1.0], chances=rows[:, 3])


def bet_error(rows: Floats) -> Betting:
    return bet_on_mean(rows[:, 1] - rows[:, 0], (-2.0, 2.0))


def bet_two(rows: Floats) -> Betting:
    return bet_on_kappa(rows[:, 0], rows[:, 1], [0.0, 1.0])


def bet_three(rows: Floats) -> Betting:
    return bet_on_kappa(rows[:, 0], rows[:, 1], GRADES)


SIDES: tuple[Side, Side] = ("above", "below")
THREE = np.array([[0.22, 0.06, 0.02], [0.05, 0.2, 0.08], [0.01, 0.06, 0.3]])
LENIENT = binary(0.4, 0.5, 0.9)
GRADE = np.arange(3.0)
ERROR = float((THREE * (GRADE[None, :] - GRADE[:, None])).sum())


def of_table(name: str, cells: Floats, measure: str) -> Case:
    """Return a case of independent pairs of grades."""
    truth, bets, fixed = {
        "agreement": (float(np.trace(cells)), bet_share, fixed_share),
        "kappa": (kappa_of(cells), bet_two if len(cells) == 2 else bet_three, fixed_kappa),
        "error": (ERROR, bet_error, fixed_mean),
    }[measure]
    return Case(name, table_draw(cells), truth, bets, fixed, cells)


CASES = [
    of_table("agreement 0.85", binary(0.7, 0.5), "agreement"),
    of_table("agreement 0.95", binary(0.9, 0.5), "agreement"),
    Case("agreement 0.85, 4 a question", clustered_draw, 0.85, bet_clustered, fixed_clustered),
    Case("agreement 0.84, unequal chances", unequal_draw, 0.84, bet_weighted, None),
    of_table("kappa 0.7, half right", binary(0.7, 0.5), "kappa"),
    of_table("kappa 0.7, a tenth right", binary(0.7, 0.1), "kappa"),
    of_table("kappa 0.44, lenient judge", LENIENT, "kappa"),
    Case("kappa 0.68, unequal chances", unequal_draw, 0.68, bet_weighted_kappa, None),
    of_table("quadratic kappa, 3 grades", THREE, "kappa"),
    of_table("signed error, 3 grades", THREE, "error"),
]


def first_crossing(case: Case, rows: Floats, value: float, first: int, last: int) -> tuple[int, str] | None:
    """Return at how many rows a gambler first refutes a value, and on which side; None for never.

    Looks are left out where his capital is too small to reach the bar before the next one.
    """
    if case.cells is not None:
        for at, side in sorted(likely(case, rows[:last], value, first)):
            capital = log_capital(case.bets(rows[:at]).gains(value, side)) if case.is_kappa else WANTED
            if capital >= WANTED:
                return at, side
        return None
    n = first
    while n <= last:
        bets, steps = case.bets(rows[:n]), []
        for side in SIDES:
            gains = bets.gains(value, side)
            capital = log_capital(gains)
            if capital >= WANTED:
                return n, side
            most = float(gains[1].max())
            growth = np.log1p(most * (1 - np.exp(-STAKES[-1] / np.sqrt(most))))
            steps.append(max(1, int(0.6 * (WANTED - capital) / growth)))
        n += min(steps)
    return None


def likely(case: Case, rows: Floats, value: float, first: int) -> list[tuple[int, Side]]:
    """Return the looks at which a value can be refuted: all at once, from sums of what each label brings.

    For kappa the gambler must win whatever the nuisance values are: so he must with the true ones. What the
    steps between the values that are tried may lose him is allowed for.
    """
    bets, slack, looks = case.bets(rows), 0.0, []
    gains = bets.gains
    if case.is_kappa:
        assert case.cells is not None
        assert isinstance(gains, partial)
        slack, shares = 0.3, np.arange(len(case.cells)) / (len(case.cells) - 1)
        h, j = case.cells.sum(1) @ shares, case.cells.sum(0) @ shares
        totals, guesses, is_binary = gains.args
        true = msgspec.structs.replace(guesses, s_around=np.array([h + j]), d_around=np.array([h - j]))
        gains = partial(gains.func, totals, true, is_binary)
    for side in SIDES:
        parts = np.cumsum(log_parts(gains(value, side))[0], axis=0)
        top = parts.max(axis=1)
        over = top + np.log(np.exp(parts - top[:, None]).mean(axis=1)) >= WANTED - slack
        looks += [(int(at) + 1, side) for at in np.flatnonzero(over) if at + 1 >= first]
    return looks


def ever_wrong(wanted: int) -> None:
    print(f"Ever wrong, looked at after every label from {FIRST} to {LAST} (nominal 5 %)")
    print(f"{'':<36}{'one look at ' + str(LAST):>16}{'the same at every look':>24}{'anytime':>9}{'draws':>7}")
    for at, case in enumerate(CASES):
        rng, draws = np.random.default_rng(at), wanted if case.cells is not None else max(1, wanted // 8)
        last, every, ours = 0, 0, 0
        for _ in range(draws):
            rows = case.draw(rng, LAST)
            ours += first_crossing(case, rows, case.truth, FIRST, LAST) is not None
            if case.fixed:
                low, high = case.fixed(rows)
                out = (low > case.truth) | (high < case.truth)
                last, every = last + bool(out[-1]), every + bool(out.any())
        shares = [f"{100 * n / draws:.1f} %" if case.fixed else "" for n in (last, every)]
        print(
            f"{case.name:<36}{shares[0]:>16}{shares[1]:>24}{100 * ours / draws:>7.1f} %{draws:>7,}",
            flush=True,
        )


def to_decide(draws: int) -> None:
    """Print labels until the interval lies on one side of a bar, beside one look at a number fixed before."""
    print(
        "\nLabels until a bar is outside of the interval; one look at the card: the labels for 80, 90 % power"
    )
    head = ("one look 80 %", "90 %", "anytime mean", "median", "9 of 10", "mean/80 %", "wrong")
    print(f"{'':<36}" + "".join(f"{name:>14}" for name in head))
    for name, cells, measure, bar in (
        ("agreement 0.9, bar 0.8", binary(0.8, 0.5), "agreement", 0.8),
        ("agreement 0.7, bar 0.8", binary(0.4, 0.5), "agreement", 0.8),
        ("kappa 0.8, bar 0.6, half right", binary(0.8, 0.5), "kappa", 0.6),
        ("kappa 0.8, bar 0.6, 3 of 10 right", binary(0.8, 0.3), "kappa", 0.6),
        ("kappa 0.4, bar 0.6, half right", binary(0.4, 0.5), "kappa", 0.6),
        ("signed error 0.05, bar -0.1", THREE, "error", -0.1),
    ):
        rng, most = np.random.default_rng(7), 1500
        case = of_table(name, cells, measure)
        right: Side = "above" if case.truth > bar else "below"
        took, wrong = [], 0
        for _ in range(draws):
            crossed = first_crossing(case, case.draw(rng, most), bar, FIRST, most)
            took.append(crossed[0] if crossed else most)
            wrong += crossed is not None and crossed[1] != right
        needed = [one_look(case, bar, right == "above", power) for power in (0.8, 0.9)]
        figures = [*needed, np.mean(took), np.median(took), np.quantile(took, 0.9)]
        line = "".join(f"{figure:>14.0f}" for figure in figures)
        print(f"{name:<36}{line}{np.mean(took) / needed[0]:>14.2f}{100 * wrong / draws:>12.1f} %", flush=True)


def one_look(case: Case, bar: float, is_above: bool, power: float, draws: int = 400) -> int:
    """Return how many labels put the report card's interval on the right side of a bar with this power."""
    few, most = FIRST, 1500
    while few < most:
        n = (few + most) // 2
        rng, hits = np.random.default_rng(n), 0
        for _ in range(draws):
            rows = case.draw(rng, n)
            if case.fixed is fixed_kappa:
                e = kappa_estimate(
                    rows[:, 0], rows[:, 1], [0.0, 1.0], np.arange(n), kind="kappa", resamples=1000
                )
                low, high = (-1.0, 1.0) if e is None or e.low is None or e.high is None else (e.low, e.high)
            else:
                assert case.fixed is not None
                low, high = (float(ends[-1]) for ends in case.fixed(rows))
            hits += low > bar if is_above else high < bar
        few, most = (few, n) if hits >= power * draws else (n + 1, most)
    return few


def to_width() -> None:
    """Print the labels for an interval of ± 5 points of agreement."""
    print("\nLabels for ± 5 points of agreement")

    def fixed(share: float, n: int) -> tuple[float, float]:
        return wilson_interval(share * n, n)

    def anytime(share: float, n: int) -> tuple[float, float]:
        return anytime_interval(bet_on_mean((np.arange(n) < round(share * n)).astype(float), (0.0, 1.0)))

    for share in (0.7, 0.8, 0.9, 0.95):
        once, ours = (labels_for(partial(interval, share)) for interval in (fixed, anytime))
        print(f"agreement {share:<26}{once:>8} fixed{ours:>8} anytime{ours / once:>8.2f} x", flush=True)


def labels_for(interval: Callable[[int], tuple[float, float]], most: int = 20_000) -> int:
    """Return the smallest number whose interval is ± 5 points or narrower."""
    few = FIRST
    while few < most:
        middle = (few + most) // 2
        low, high = interval(middle)
        few, most = (few, middle) if high - low <= 0.1 else (middle + 1, most)
    return few


DRAWS = 20  # of labels, over which the width of an interval is averaged


def on_packs(folder: Path) -> None:
    """Print the labels for the mean of people ± 5 points, on data with people's labels of every answer.

    Answers are drawn at random. The judge is one that asks no model. Answers count as independent: the mean
    is that of answers to these questions.
    """
    print("\nLabels for people's mean ± 5 points")
    print(f"{'':<24}{'answers':>9}{'mean':>8}{'judge':>14}{'simple':>9}{'corrected':>11}{'sequential':>12}")
    for name, file, judge in (
        ("evouna", "evouna/tq600.jsonl", "containment"),
        ("SAF", "saf/saf.jsonl", "token_f1"),
        ("RAGTruth, answers", "ragtruth/qa.jsonl", "context_overlap"),
        ("RAGTruth, summaries", "ragtruth/summary.jsonl", "context_overlap"),
    ):
        rows = [msgspec.json.decode(line) for line in (folder / file).read_bytes().splitlines()]
        human = np.array([float(row["human_label"]) for row in rows])
        scores = np.array([score_of(judge, row) for row in rows])
        line = "".join(f"{needed(human, scores, method):>11}" for method in (simple, corrected, sequential))
        print(f"{name:<24}{len(rows):>9,}{human.mean():>8.2f}{judge:>16}{line}", flush=True)


def score_of(judge: str, row: dict[str, Any]) -> float:
    """Return what a judge without a model gives an answer."""
    if judge == "context_overlap":
        return context_overlap(row["answer"], row["context"])
    right = row.get("references") or [row["reference"]]
    texts = [text for reference in right for text in reference.split("/")]
    return max((containment if judge == "containment" else token_f1)(row["answer"], text) for text in texts)


def simple(human: Floats, _scores: Floats, at: Codes) -> tuple[float, float]:
    labels = human[at]
    if set(labels.tolist()) <= {0.0, 1.0}:
        return wilson_interval(float(labels.sum()), len(labels))
    half = student_quantile(0.975, len(labels) - 1) * labels.std(ddof=1) / np.sqrt(len(labels))
    return float(labels.mean() - half), float(labels.mean() + half)


def corrected(human: Floats, scores: Floats, at: Codes) -> tuple[float, float]:
    others = np.delete(scores, at)
    mean = prediction_powered_mean(human[at], scores[at], others, bounds=(0.0, 1.0))
    low, high = mean.corrected.low, mean.corrected.high
    return (0.0, 1.0) if low is None or high is None else (low, high)


def sequential(human: Floats, _scores: Floats, at: Codes) -> tuple[float, float]:
    return anytime_interval(bet_on_mean(human[at], (0.0, 1.0)))


def needed(
    human: Floats, scores: Floats, interval: Callable[[Floats, Floats, Codes], tuple[float, float]]
) -> str:
    """Return how many labels make an interval ± 5 points wide on average; or that the pack has too few."""

    def average(n: int) -> tuple[float, float]:
        rng = np.random.default_rng(n)
        ends = [interval(human, scores, rng.permutation(len(human))[:n]) for _ in range(DRAWS)]
        return 0.0, float(np.mean([high - low for low, high in ends]))

    most = len(human) - 1
    n = labels_for(average, most)
    return f"{n:,}" if n < most else f"> {len(human):,}"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("draws", nargs="?", type=int, default=4000)
    parser.add_argument("--labels", type=Path, metavar="DATA")
    options = parser.parse_args()
    if options.draws:
        ever_wrong(options.draws)
        to_decide(max(50, options.draws // 10))
        to_width()
    if options.labels:
        on_packs(options.labels)
