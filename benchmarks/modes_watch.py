"""New failure modes in a year of traffic: false ones in quiet years, and how soon planted ones are found.

    python -m benchmarks.modes_watch [--quick] [QUIET YEARS]

A year is 365 days of 90 judged exchanges, 55 on weekend days: questions, passages and references of
../shared/data (see benchmarks/modes.py). What makes it hard:

- wrong answers have their own patterns all year, none of them new: refusals, answers to other questions and
  answers that are cut off, 2 % each; a random half of the question words and documents is two or three times
  as hard as the others;
- questions are asked by Zipf's law, and each document has its season: up to ten times as often at its peak;
- one exchange in five is the same person asking the same again;
- on six days a year one question is 40 % of the traffic; on two days a fifth of all answers more is wrong;
  every day has an effect of its own on what is wrong (SD 2 points).

In a quiet year nothing else happens. Else one mode of six (see benchmarks/modes.py) begins on day 100 with a
share of 3, 5 or 10 % of the answers; the judge calls 90 % of these wrong. There is a look every week, after
14 days of baseline. A mode is found by the look that names a sign of which at least half of the wrong
answers of the weeks looked at are planted. Printed are also how many looks of quiet years had a p-value below
some levels, for the levels that the looks spend are much smaller than these years could show.
"""

import random
import sys
import time
import zlib
from collections.abc import Callable, Collection, Mapping
from datetime import date, timedelta
from functools import cache, lru_cache
from itertools import accumulate
from math import exp, pi, sin

import msgspec
from benchmarks.modes import CAUGHT, WAYS, pool

from ragstone.features.modes import proposing
from ragstone.features.watch._alarms import ON_NEW_MODES, ON_USE
from ragstone.features.watch._new_modes import JudgedExchange, ModeSigns, alpha_of, find_new_modes, look_days
from ragstone.kernel.judging import signs
from ragstone.kernel.judging.signs import PROPERTIES, words_of
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics.intervals import wilson_interval

BEGIN, DAYS, BASELINE, PLANTED = date(2026, 1, 5), 365, 14, 100
ALPHA = 0.05 * (1 - ON_USE) * ON_NEW_MODES / 2  # of the first set of modes, as the monitor spends it
WEEKDAY, WEEKEND = 90, 55
ALWAYS = {"refusals": 0.02, "another question's answer": 0.02, "cut off": 0.02}
BASE_WRONG = 0.08
QUIET, EACH = 64, 1  # years; of each planted mode and share
FIRST = 500  # seed of the first quiet year: the looks were developed on years before 100
SHARES = (0.03, 0.05, 0.1)


ROWS: dict[tuple[str | None, str, bool], Answer] = {}
"""Each answer once, by all that is measured of it: contexts are the question's own, or none."""


def measure_once() -> None:
    """Have each text cut into words once, and each of ROWS measured once: years read the same ones again."""
    for module in (signs, proposing):
        vars(module)["words_of"] = lru_cache(None)(words_of)
    vars(proposing)["beginning"] = lru_cache(None)(signs.beginning)
    for name, measured in PROPERTIES.items():
        known: dict[int, float | None] = {}

        def of(
            row: Answer,
            known: dict[int, float | None] = known,
            first: Callable[[Answer], float | None] = measured.of,
        ) -> float | None:
            at = id(row)
            if at not in known:
                known[at] = first(row)
            return known[at]

        vars(signs)["PROPERTIES"][name] = msgspec.structs.replace(measured, of=of)


class Year(msgspec.Struct, frozen=True):
    """A year of judged exchanges. planted: the numbers of those with the new mode."""

    rows: list[JudgedExchange]
    answers: dict[int, Answer]
    planted: set[int]

    def read(self, numbers: Collection[int]) -> Mapping[int, Answer]:
        """Return answers by their numbers."""
        return {n: self.answers[n] for n in numbers}


@cache
def questions() -> tuple[Answer, ...]:
    """Return the right answers that are asked for."""
    packs = pool()
    english = [row for row in packs["xquad"] if (row.metadata or {})["lang"] == "en"]
    return (*packs["squad2"], *packs["agxqa"], *packs["clapnq"], *english)


def _hash(text: str, seed: int) -> float:
    return zlib.crc32(f"{seed} {text}".encode()) / 2**32


def _hardness(row: Answer, seed: int) -> float:
    """Return how likely a right answer is called wrong: by its question word and its document."""
    word = (row.question or "").split()[0].lower()
    document = str(row.contexts[0].document_id) if row.contexts else ""
    factor = (2.0 if _hash(word, seed) < 0.5 else 0.7) * (1.5 if _hash(document, seed) < 0.5 else 0.7)
    return BASE_WRONG * factor


def year(seed: int, mode: str | None = None, share: float = 0.0) -> Year:
    """Return a year. mode: begins on day PLANTED with that share of the answers."""
    rng = random.Random(seed)
    known = list(questions())
    rng.shuffle(known)
    known = known[:2500]
    zipf = [1 / (rank + 10) for rank in range(len(known))]
    phases = {str(row.contexts[0].document_id): rng.random() for row in known if row.contexts}
    viral, bad = set(rng.sample(range(DAYS), 6)), set(rng.sample(range(DAYS), 2))
    rows: list[JudgedExchange] = []
    answers: dict[int, Answer] = {}
    planted: set[int] = set()
    weights: list[float] = []
    for day in range(DAYS):
        if day % 7 == 0:  # the season of each document, up to ten times as often at its peak
            weights = list(
                accumulate(
                    weight * exp(1.15 * sin(2 * pi * (day / DAYS + phases[str(row.contexts[0].document_id)])))
                    for weight, row in zip(zipf, known, strict=True)
                    if row.contexts
                )
            )
        effect = rng.gauss(0, 0.02) + (0.2 if day in bad else 0.0)
        hit = rng.choice(known) if day in viral else None
        last: tuple[str, Answer] | None = None
        for _ in range(WEEKEND if day % 7 > 4 else WEEKDAY):
            if last and rng.random() < 0.2:
                who, row = last
            else:
                who = f"user {rng.randrange(4000)}"
                row = hit if hit and rng.random() < 0.4 else rng.choices(known, cum_weights=weights)[0]
            last = (who, row)
            n = len(rows)
            chance, answer, is_new = _hardness(row, seed) + effect, row, False
            if mode and day >= PLANTED and rng.random() < share:
                changed = WAYS[mode](row, rng, known)
                is_new = changed is not None
                answer, chance = (changed, CAUGHT) if changed else (answer, chance)
            for way, often in ALWAYS.items():
                changed = (
                    None if is_new or way == mode or rng.random() >= often else WAYS[way](row, rng, known)
                )
                if changed:
                    answer, chance = changed, CAUGHT
                    break
            planted |= {n} if is_new else set()
            key = (answer.question, answer.answer, bool(answer.contexts))
            if key not in ROWS:
                ROWS[key] = msgspec.structs.replace(answer, reference=None, metadata=None)
            answers[n] = ROWS[key]
            rows.append(
                JudgedExchange(
                    n=n,
                    day=(BEGIN + timedelta(days=day)).toordinal(),
                    wrong=rng.random() < chance,
                    chance=1.0,
                    who=who,
                    question=row.question or "",
                )
            )
    return Year(rows, answers, planted)


class Watched(msgspec.Struct, frozen=True):
    """What the looks of a year gave. false: modes that were not planted; found: days after the beginning.

    p: the smallest of each look that tested something, 1 for one that did not.
    """

    false: list[str]
    found: int | None
    p: list[float]


def watched(of: Year, alpha: float = ALPHA) -> Watched:
    """Return what weekly looks at a year find, as the monitor takes them.

    Of a year with a mode those from its beginning on are taken, up to ten weeks or until it is found.
    """
    false: list[str] = []
    found: int | None = None
    known: list[ModeSigns] = []
    smallest: list[float] = []
    for at, day in enumerate(look_days(BEGIN, BASELINE, BEGIN + timedelta(days=DAYS))):
        if of.planted and not (PLANTED < (day - BEGIN).days <= PLANTED + 70 and found is None):
            continue
        last = day.toordinal()
        before = [row for row in of.rows if row.day < last]
        proposed = find_new_modes(before, of.read, day, 1.0, known=known)
        for mode in (mode for mode in proposed if mode.p <= alpha_of(at, alpha)):
            known.append(mode.signs)
            since = {row.n for row in before if row.wrong and row.day >= mode.since.toordinal()}
            carried = {n for n in since if mode.signs.is_in(of.answers[n])}
            if 2 * len(carried & of.planted) >= len(carried):
                found = (day - BEGIN).days - PLANTED if found is None else found
            else:
                false.append(mode.signs.sign.title)
        smallest.append(min((mode.p for mode in proposed), default=1.0))
    return Watched(false, found, smallest)


def main(quick: bool, n: int) -> None:
    """Print the false ones of quiet years, and when planted modes were found."""
    began = time.perf_counter()
    measure_once()
    quiet = []
    for seed in range(FIRST, FIRST + n):
        quiet.append(watched(year(seed)))
        print(f"quiet year {seed}: {quiet[-1].false or 'none'}", file=sys.stderr, flush=True)
    wrong = sum(bool(of_year.false) for of_year in quiet)
    low, high = wilson_interval(wrong, n)
    looks = [p for of_year in quiet for p in of_year.p]
    print(
        f"quiet years with a false new mode: {wrong} of {n} ({100 * low:.1f} to {100 * high:.1f} %; "
        f"promised: at most {100 * ALPHA:.2f} %, and 5 % with all other alarms)"
    )
    for level in (0.05, 0.01, 0.001):
        below = sum(p <= level for p in looks)
        print(f"looks with p ≤ {level:g}: {below} of {len(looks)} ({100 * below / len(looks):.2f} %)")
    print(f"\n{'mode':28} {'share':>6} {'found':>8} {'days after it began':>22} {'false':>6}")
    for mode in WAYS:
        for share in SHARES[1:2] if quick else SHARES:
            years = [watched(year(1000 + seed, mode, share)) for seed in range(1 if quick else EACH)]
            days = sorted(of_year.found for of_year in years if of_year.found is not None)
            told = f"{days[len(days) // 2]} ({days[0]} to {days[-1]})" if days else ""
            false = sum(len(of_year.false) for of_year in years)
            print(f"{mode:28} {share:6.0%} {len(days):>3} of {len(years)} {told:>22} {false:>6}", flush=True)
    print(f"\n{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    is_quick = "--quick" in sys.argv
    main(is_quick, next((int(text) for text in sys.argv[1:] if text.isdigit()), 2 if is_quick else QUIET))
