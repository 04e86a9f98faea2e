"""Alarms in simulation: quiet years, planted drops, a judge that changes, and what daily peeking would do.

A year is 365 days of about 932 exchanges (340,000), fewer at weekends, judged for seven metrics and shown for
all and for the 30 values of four tags: 217 streams. Each day has an effect of its own (SD 1.25 points at a
mean of 0.85, else in proportion to the spread of the scores) and weekends one of -1 point. Scores are drawn
again and again from distributions that are made up: right or wrong, or graded with a share of full marks.

Run: python -m benchmarks.monitor_alarms [--quick]
"""

import asyncio
import sys
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta

import msgspec
import numpy as np
from tests.support.simulated_use import used_days

from ragstone.features.watch._alarms import JudgeEvidence, alarms
from ragstone.features.watch._canaries import Canaries, CanaryScore, JudgedAnswer, freeze, judge_again
from ragstone.features.watch._cells import DayCell
from ragstone.features.watch._streams import EARLY, OVERALL, WX, Change, N, Stream, W, changes_of
from ragstone.features.watch._use import FAILED_CALLS
from ragstone.kernel.config import MonitorSection
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics.intervals import Codes, Floats, wilson_interval

BEGIN = date(2026, 1, 1)
DAYS, ROWS = 365, 932
PLANTED = 60
ALPHA, BASELINE = 0.05, 14
DAY_SD = 0.035  # times the spread of a yes/no score: 1.25 points at 0.85
WEEKEND = -0.028  # likewise: 1 point


class Metric(msgspec.Struct, frozen=True):
    """Scores of a metric: full marks with a chance, else one of `rest`, each as likely."""

    name: str
    full: float
    rest: tuple[float, ...] = (0.0,)

    @property
    def lost(self) -> float:
        """Return how much less than full marks the others have, on average."""
        return 1 - sum(self.rest) / len(self.rest)


METRICS = (
    Metric("prompt_clarity", 0.62, (0.0, 1 / 3, 2 / 3)),
    Metric("question_type=how", 0.3),
    Metric("answered", 0.9),
    Metric("faithfulness", 0.75, (0.0, 0.25, 0.5, 0.5, 0.75)),
    Metric("relevance", 0.8, (0.0, 0.5)),
    Metric("language_match", 0.98),
    Metric("toxicity", 0.01),
)
TAGS = {"crop": 10, "region": 8, "lang": 7, "prompt_version": 5}
STREAMS = len(METRICS) * (1 + sum(TAGS.values()))


def full_marks(metric: Metric, days: int, rng: np.random.Generator, alike: float = 0.0) -> Floats:
    """Return the chance of full marks of each day, its own effect and that of the weekend in it.

    alike: the correlation of the effects of neighbouring days, 0 for what alarms suppose.
    """
    scale = np.sqrt(metric.full * (1 - metric.full))
    effects = rng.normal(size=days)
    for day in range(1, days if alike else 0):
        effects[day] = alike * effects[day - 1] + np.sqrt(1 - alike**2) * effects[day]
    weekend = np.isin((BEGIN.weekday() + np.arange(days)) % 7, (5, 6))
    chance: Floats = np.clip(metric.full + scale * (DAY_SD * effects + WEEKEND * weekend), 0.0005, 0.9995)
    return chance


def volumes(days: int, rng: np.random.Generator, rate: float) -> Codes:
    """Return how many exchanges of each day are judged."""
    weekend = np.isin((BEGIN.weekday() + np.arange(days)) % 7, (5, 6))
    mean = ROWS * np.where(weekend, 0.7, 1.12) * rng.lognormal(0, 0.08, size=days)
    return np.asarray(rng.binomial(rng.poisson(mean), rate))


def counts(metric: Metric, chance: Floats, n: Codes, rng: np.random.Generator) -> Codes:
    """Return how many exchanges have each score: (days, 1 + scores below full marks)."""
    full = rng.binomial(n, chance)
    rest = rng.multinomial(n - full, np.full(len(metric.rest), 1 / len(metric.rest)))
    return np.column_stack([full, rest])


def stream(metric: Metric, found: Codes, rate: float, *, tag: str = "", value: str = "") -> Stream:
    levels, weight = np.array([1.0, *metric.rest]), 1 / rate
    n, x, x2 = found.sum(axis=1), found @ levels, found @ levels**2
    sums = np.column_stack([n, weight * n, weight * x, weight**2 * n, weight**2 * x, weight**2 * x2])
    return Stream(
        metric=metric.name, tag=tag, value=value, judge="j 1 m", first=BEGIN, sums=sums.astype(float)
    )


def year(rng: np.random.Generator, rate: float, alike: float = 0.0) -> list[Stream]:
    """Return the streams of a quiet year. Values of a tag share its rows, unevenly."""
    n = volumes(DAYS, rng, rate)
    streams = []
    for metric in METRICS:
        found = counts(metric, full_marks(metric, DAYS, rng, alike), n, rng)
        streams.append(stream(metric, found, rate))
        for tag, size in TAGS.items():
            shares = 1 / np.arange(2, size + 2)
            parts = np.stack([rng.multinomial(column, shares / shares.sum()) for column in found.T], axis=2)
            streams += [stream(metric, parts[:, at], rate, tag=tag, value=str(at)) for at in range(size)]
    return streams


def naive_alarms(streams: list[Stream]) -> Iterator[tuple[str, int]]:
    """Yield, by way of looking each day, how many alarms the streams of all exchanges raise in the year."""
    whole = [one.sums for one in streams if not one.tag]
    charts = {"3 sigma, of sampling": 0, "3 sigma, of days": 0, "z test each day, p < 0.05": 0}
    for sums in whole:
        means = sums[:, WX] / sums[:, W]
        base = means[:PLANTED].mean()
        sigma = np.sqrt(base * (1 - base) / sums[PLANTED:, N])
        charts["3 sigma, of sampling"] += int((np.abs(means[PLANTED:] - base) > 3 * sigma).sum())
        spread = means[:PLANTED].std(ddof=1)
        charts["3 sigma, of days"] += int((np.abs(means[PLANTED:] - base) > 3 * spread).sum())
        charts["z test each day, p < 0.05"] += int((np.abs(means[PLANTED:] - base) > 1.96 * sigma).sum())
    yield from charts.items()


def quiet_years(n_years: int, rate: float, alike: float) -> None:
    began = time.process_time()
    false, false_whole, n_false = 0, 0, 0
    naive: dict[str, list[int]] = {}
    for number in range(n_years):
        streams = year(np.random.default_rng([1, number, round(100 * rate), round(100 * alike)]), rate, alike)
        found = changes_of(streams, ALPHA, BASELINE)
        false += bool(found)
        false_whole += any(not change.stream.tag for change in found)
        n_false += len(found)
        for name, n in naive_alarms(streams):
            naive.setdefault(name, []).append(n)
    _, high = wilson_interval(false, n_years)
    name = f"{rate:.0%} judged" + (f", days alike {alike:g}" if alike else "")
    print(
        f"{name:<28}{n_years - false:>6} of {n_years} years without a false alarm (at least {1 - high:.1%});"
        f" {n_false} in all, {false_whole} years of all exchanges; {time.process_time() - began:.0f} s"
    )
    for name, each in naive.items():
        quiet = np.mean(np.array(each) == 0)
        print(f"    naive: {name:<28}{quiet:>5.0%} quiet years, {np.mean(each):>6.1f} false alarms a year")


Plant = Callable[[Floats], Floats]
"""Chances of full marks by day -> the same with something planted."""


def step(metric: Metric, points: float) -> Plant:
    def plant(chance: Floats) -> Floats:
        there = np.arange(chance.size) >= PLANTED
        return np.asarray(np.clip(chance - there * points / metric.lost, 0.0005, 0.9995))

    return plant


def drift(metric: Metric, points: float, days: int) -> Plant:
    def plant(chance: Floats) -> Floats:
        done = np.clip((np.arange(chance.size) - PLANTED) / days, 0, 1)
        return np.asarray(chance - done * points / metric.lost)

    return plant


def planted(
    metric: Metric, plant: Plant, rate: float, *, n: int, days: int, seed: int, part: float = 1.0
) -> list[Change | None]:
    """Return the first change of each of n years, with the part of alpha that one stream of 217 has.

    part: the share of the exchanges that are those of a tag's value; 1 for all exchanges.
    """
    rng = np.random.default_rng([2, seed])
    streams = []
    for number in range(n):
        chance = plant(full_marks(metric, days, rng))
        found = counts(metric, chance, rng.binomial(volumes(days, rng, rate), part), rng)
        whole = stream(metric, found, rate)
        streams.append(msgspec.structs.replace(whole, metric=str(number)))
    among = len(METRICS) if part == 1.0 else STREAMS - len(METRICS)
    assert OVERALL == 1 - OVERALL  # what follows takes both halves of alpha for the same
    first: dict[str, Change] = {}
    for change in changes_of(streams, ALPHA * n / among, BASELINE):
        first.setdefault(change.stream.metric, change)
    return [first.get(str(number)) for number in range(n)]


def show(name: str, found: list[Change | None], within: tuple[int, ...] = (10, 28)) -> None:
    """Print how soon the planted change was found, in days after it, its own day counted."""
    early = sum(change is not None and change.raised < PLANTED for change in found)
    delays = np.array(
        [
            change.raised - PLANTED + 1 if change is not None and change.raised >= PLANTED else np.inf
            for change in found
        ]
    )
    shares = "".join(f"{np.mean(delays <= days):>9.1%}" for days in within)
    quantiles = "".join(
        f"{'never' if np.isinf(q) else f'{q:.0f}':>7}"
        for q in np.quantile(delays, (0.1, 0.5, 0.9, 0.99), method="higher")
    )
    off = [abs(change.at - PLANTED) for change in found if change is not None and change.raised >= PLANTED]
    day = f"{np.mean(off):>8.1f}" if off else f"{'-':>8}"
    print(f"{name:<44}{shares}{quantiles}{day}{early:>7}", flush=True)


HEAD = (
    f"{'':<44}{'10 days':>9}{'28 days':>9}{'q10':>7}{'q50':>7}{'q90':>7}{'q99':>7}{'day off':>8}{'early':>7}"
)


def drops(n: int) -> None:
    print(f"\ndrop of 5 points on day {PLANTED}, {n} years each: found within, delay in days\n{HEAD}")
    seed = 0
    for metric in (METRICS[3], *(Metric("right or wrong", full) for full in (0.95, 0.85, 0.7, 0.5))):
        for rate in (1.0, 0.5, 0.25, 0.1):
            mean = 1 - (1 - metric.full) * metric.lost
            name = f"{metric.name}, mean {mean:.2f}, {rate:.0%} judged"
            show(name, planted(metric, step(metric, 0.05), rate, n=n, days=130, seed=seed))
            seed += 1
    print(f"\na rise of toxicity from 0.01\n{HEAD}")
    for points in (0.01, 0.02, 0.05):
        for rate in (1.0, 0.1):
            found = planted(METRICS[-1], step(METRICS[-1], -points), rate, n=n, days=130, seed=seed)
            show(f"by {100 * points:g} points, {rate:.0%} judged", found)
            seed += 1
    right = Metric("right or wrong", 0.85)
    print(f"\nin one crop only, a tenth of the exchanges\n{HEAD}")
    for points in (0.05, 0.1, 0.2):
        for rate in (1.0, 0.1):
            found = planted(right, step(right, points), rate, n=n, days=200, seed=seed, part=0.1)
            show(f"by {100 * points:g} points, {rate:.0%} judged", found)
            seed += 1
    print(f"\na drift of 5 points in 90 days\n{HEAD}")
    for rate in (1.0, 0.1):
        found = planted(right, drift(right, 0.05, 90), rate, n=n, days=240, seed=seed)
        show(f"{rate:.0%} judged", found)
        seed += 1


def of_use(n: int) -> None:
    """Print what the alarms of latency, tokens, users and failed calls of tools do."""
    section = MonitorSection(alpha=ALPHA)
    quiet = [alarms([], section, use=used_days(_drawn(at), DAYS, begin=BEGIN)) for at in range(n)]
    print(f"\nuse: {sum(not one for one in quiet)} of {n} years of 300 exchanges a day without a false alarm")
    for metric, factor in (
        *(("latency_s", 1.25), ("latency_s", 1.5), ("tokens", 1.25), ("users", 0.7), ("users", 0.5)),
        *((FAILED_CALLS, 1.5), (FAILED_CALLS, 2.0)),
    ):
        delays = []
        for at in range(n):
            cells = used_days(_drawn(n + at), PLANTED + 40, planted={metric: factor}, begin=BEGIN)
            found = [one for one in alarms([], section, use=cells) if one.metric == metric]
            raised = [one.raised for one in found if one.raised is not None]
            delays.append((min(raised) - BEGIN).days - PLANTED + 1 if raised else 999)
        low, middle, high = np.quantile(delays, (0.1, 0.5, 0.9), method="higher")
        print(f"{metric} times {factor:g}: raised after {middle:g} days in the median ({low:g} to {high:g})")


def _drawn(at: int) -> np.random.Generator:
    return np.random.default_rng([4, at])


def cells_of(one: Stream) -> list[DayCell]:
    return [
        DayCell(
            day=one.day(at), tag="", value="", metric=one.metric, judge=one.judge, n=int(row[0]),
            w=row[1], wx=row[2], w2=row[3], w2x=row[4], w2x2=row[5],
        )
        for at, row in enumerate(one.sums.tolist())
    ]  # fmt: skip


NOISE = 0.03  # how often a judgement that is yes or no falls otherwise, in each round
GRADED = 0.1  # a statement of ten: by how much graded judgements fall otherwise, NOISE each way


def judged_rounds(
    metric: Metric, n: int, shift: float, rng: np.random.Generator, weeks: int = 16
) -> Canaries:
    """Return n canaries with weekly rounds. From day 60 on the judge takes `shift` from what it sees.

    Of yes and no it says no where it said yes; of half of graded scores it takes a statement of ten.
    It finds the same wrong in each later round: it changed its mind, and does not throw dice.
    """
    levels = np.array([1.0, *metric.rest])
    chances = [metric.full, *np.full(len(metric.rest), (1 - metric.full) / len(metric.rest))]
    pool = [
        JudgedAnswer(
            answer=Answer(question_id=str(at), answer="x"),
            scores={metric.name: CanaryScore(score=score, judge="j 1 m")},
        )
        for at, score in enumerate(rng.choice(levels, size=2000, p=chances).tolist())
    ]
    canaries = freeze(pool, n, int(rng.integers(1 << 30)), BEGIN)
    first = {one.answer.question_id: one.scores[metric.name].score for one in canaries.answers}
    graded = len(metric.rest) > 1
    touched = 0.5 if graded else shift / metric.full
    stricter = {name: rng.random() < touched for name in first}
    some = float(np.array(chances)[levels > 0].sum())  # nothing can be taken from a score of 0
    loss = shift / touched / some if graded else 1.0
    slip = GRADED if graded else 1.0

    async def judge(answer: Answer, number: int) -> dict[str, CanaryScore]:
        score = first[answer.question_id]
        if 7 * number >= PLANTED and stricter[answer.question_id]:
            score -= loss
        drawn = rng.random()
        score += slip if drawn < NOISE else -slip if drawn > 1 - NOISE else 0.0
        return {metric.name: CanaryScore(score=min(1.0, max(0.0, score)), judge="j 1 m")}

    async def all_rounds() -> Canaries:
        known = canaries
        for week in range(1, weeks + 1):
            known = await judge_again(known, judge, BEGIN + timedelta(days=7 * week))
        return known

    return asyncio.run(all_rounds())


def causes(n: int) -> None:
    print(
        f"\n5 points less on day {PLANTED}, {n} years each: what the alarm says caused it, of those alarmed"
    )
    print(f"{'':<38}{'alarmed':>9}{'looked':>18}{'judge':>9}{'applic.':>9}{'both':>9}{'unknown':>9}")
    days, section = 115, MonitorSection(alpha=ALPHA / len(METRICS))
    for metric, what, shift in (
        (Metric("yes or no", 0.85), "judge", 0.05),
        (Metric("yes or no", 0.85), "application", 0.0),
        (METRICS[3], "judge", 0.05),
        (METRICS[3], "application", 0.0),
    ):
        for size in (50, 100, 200, 400):
            rng = np.random.default_rng([3, size, round(100 * shift)])
            named: dict[int, list[str]] = {14: [], 42: []}
            for _ in range(n):
                chance = step(metric, 0.05)(full_marks(metric, days, rng))
                cells = cells_of(stream(metric, counts(metric, chance, volumes(days, rng, 1.0), rng), 1.0))
                canaries = judged_rounds(metric, size, shift, rng)
                for later, found in named.items():
                    found += _named(cells, section, canaries, later)
            for later, found in named.items():
                shares = "".join(
                    f"{found.count(cause) / max(1, len(found)):>9.1%}"
                    for cause in ("judge", "application", "both", "unknown")
                )
                name = f"{what}, {metric.name}, {size} canaries"
                print(f"{name:<38}{len(found):>9}{f'{later} days later':>18}{shares}", flush=True)


def _named(cells: list[DayCell], section: MonitorSection, canaries: Canaries, later: int) -> list[str]:
    """Return the cause that the first alarm after the change has so many days after it was raised."""
    for alarm in alarms(cells, section):
        if alarm.raised is not None and alarm.since >= BEGIN + timedelta(days=PLANTED - 7):
            look = alarm.raised + timedelta(days=later)
            until = msgspec.structs.replace(
                canaries, rounds=[one for one in canaries.rounds if one.day <= look]
            )
            found = alarms(
                [one for one in cells if one.day <= look], section, known=JudgeEvidence(canaries=until)
            )
            return [one.cause for one in found if one.how == "logged" and one.raised == alarm.raised]
    return []


def main() -> None:
    quick = "--quick" in sys.argv[1:]
    began = time.process_time()
    print(f"quiet years: {STREAMS} streams, alpha {ALPHA} for any false alarm in all of them")
    for rate, alike, n_years in ((1.0, 0.0, 200), (0.1, 0.0, 200), (1.0, 0.3, 40)):
        quiet_years(1 if quick else n_years, rate, alike)
    drops(2 if quick else 200)
    causes(1 if quick else 100)
    of_use(1 if quick else 200)
    print(f"\nalpha of a stream of all exchanges: {ALPHA * OVERALL * EARLY / len(METRICS) / 2:.2g};"
          f" {time.process_time() - began:.0f} s of CPU in all")  # fmt: skip


if __name__ == "__main__":
    main()
