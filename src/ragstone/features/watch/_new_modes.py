"""Wrong answers that no watched mode holds -> a new failure mode, where there is one.

Looks are a week apart, on days that are fixed beforehand: the first as soon as there is a week after the
baseline. A look reads the answers of its last four weeks. Whoever asked, or where the log does not tell the
question, decides in which half an answer is. Modes are proposed from one half, as `ragstone modes` proposes
them for a run; the other half decides, by two exact tests that both have to reject: wrong answers carry the
signs more often than right ones (Fisher 1935), and there are more of them than before the four weeks
(the share of a binomial, given both counts; Przyborowski and Wileński 1940). So what has always been wrong is
not new. Signs of the question alone must also be answered worse than before, where they were asked before:
a hard topic that has its season is not new either.

The same question counts once a week: a page that everybody asks about on one day is no crowd. The levels of
the looks sum to less than what they may spend, by the weights of alarms (see change_paths.py), so however
many looks there are, the chance of any false one is below it.
"""

import math
import zlib
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache
from typing import NamedTuple

import msgspec
import numpy as np

from ragstone.features.modes import fisher_p, propose_signs
from ragstone.features.watch._streams import Level, level_of
from ragstone.kernel.corpus.tokens import tokenize
from ragstone.kernel.judging.signs import Sign
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics import Codes

Mask = np.ndarray[tuple[int], np.dtype[np.bool_]]

WEEK, WINDOW_WEEKS = 7, 4
HALF_LIFE = 26  # looks
MOST_RIGHT = 3000  # right answers of the last weeks that a look reads of each half
FEWEST, FEWEST_DAYS = 5, 3  # wrong answers of a new mode that decide, and their days
SCREEN = 0.05  # for the half that proposes
OVERLAP = 0.5
ASKED_BEFORE = 20  # from which on it is known how a kind of question was answered before
EXAMPLES = 5


class JudgedExchange(NamedTuple):
    """An exchange with a verdict. n: its number; day: its ordinal; wrong: wrong without a mode; chance: of
    being sampled; who: asked; question: the words."""

    n: int
    day: int
    wrong: bool
    chance: float
    who: str
    question: str


class ModeSigns(msgspec.Struct, frozen=True, kw_only=True):
    """The sign of a mode, and those of other modes whose answers are not its own."""

    sign: Sign
    unless: list[Sign] = []

    def is_in(self, row: Answer) -> bool:
        """Return whether an answer has the mode by its signs."""
        return self.sign.is_in(row) and not any(other.is_in(row) for other in self.unless)

    @property
    def inputs(self) -> list[str]:
        """What an answer must have so that it can be said."""
        return [*dict.fromkeys(part for sign in (self.sign, *self.unless) for part in sign.inputs)]


class NewMode(msgspec.Struct, frozen=True, kw_only=True):
    """Signs that mark wrong answers which no watched mode holds, and that were rarer before.

    looked: the day at whose end it was found; since: the first day of its answers in the weeks that were
    looked at; compared: the first day before these. before, after: the share of all answers that are wrong
    with these signs, before and in these weeks, by the half that did not propose it. n: these wrong answers,
    of both halves; examples: numbers of some. p: of both tests, times the modes that were tested; alpha: what
    was spent.
    """

    signs: ModeSigns
    looked: date
    since: date
    compared: date
    before: Level
    after: Level
    n: int
    examples: list[int]
    p: float
    alpha: float


def look_days(start: date, baseline_days: int, until: date) -> list[date]:
    """Return the days at whose beginning there is a look, up to `until`. start: the first day that counts."""
    first = start + timedelta(days=baseline_days + WEEK)
    return [first + timedelta(days=WEEK * at) for at in range((until - first).days // WEEK + 1)]


def alpha_of(look: int, alpha: float) -> float:
    """Return what a look may spend, the first being 0; all looks ever to come sum to alpha."""
    return alpha * HALF_LIFE / ((look + HALF_LIFE) * (look + HALF_LIFE + 1))


def find_new_modes(
    rows: Sequence[JudgedExchange],
    answers: Callable[[Collection[int]], Mapping[int, Answer]],
    day: date,
    alpha: float,
    *,
    known: Sequence[ModeSigns] = (),
    seed: int = 0,
) -> list[NewMode]:
    """Return the new modes of the weeks before a day, the most certain first.

    rows: all judged exchanges since the modes were declared. answers: gives those of these numbers. alpha: of
    this look. known: signs of new modes that were found before; what carries them is not looked at again.
    """
    weeks = _Weeks(rows, day)
    if not weeks.before.any() or not (weeks.recent & weeks.wrong).any():
        return []
    read = dict(answers([rows[at].n for at in weeks.needed()]))
    if known:
        carried = {n for n, answer in read.items() if any(sign.is_in(answer) for sign in known)}
        weeks.wrong &= ~np.array([row.n in carried for row in rows])
    proposing, deciding = _Half(weeks, read, 0), _Half(weeks, read, 1)
    proposed = [sign for sign in proposing.propose(seed) if max(proposing.p_values(sign)) <= SCREEN]
    modes: list[NewMode] = []
    held: set[int] = set()
    tested = sorted(((max(deciding.p_values(sign)) * len(proposed), at) for at, sign in enumerate(proposed)))
    for p, at in tested:
        if p > alpha:
            break
        mode = weeks.mode(proposed[at], (proposing, deciding), day, p, alpha)
        carried = {rows[place].n for place in deciding.carried(proposed[at], weeks.recent & weeks.wrong)}
        if mode and len(carried & held) <= OVERLAP * len(carried):
            modes.append(mode)
            held |= carried
    return modes


def recent_share(
    rows: Sequence[JudgedExchange],
    answers: Callable[[Collection[int]], Mapping[int, Answer]],
    signs: ModeSigns,
    day: date,
) -> tuple[float | None, date]:
    """Return the share of answers of the weeks before a day that are wrong with a sign; and their first day.

    None where there are none.
    """
    begin = day - timedelta(days=WEEK * WINDOW_WEEKS)
    recent = [row for row in rows if begin.toordinal() <= row.day < day.toordinal()]
    read = answers([row.n for row in recent if row.wrong])
    weight = {row.n: 1 / row.chance for row in recent}
    total = sum(weight.values())
    carried = sum(weight[n] for n, answer in read.items() if signs.is_in(answer))
    return (carried / total if total else None), begin


def places_of(mask: Mask) -> list[int]:
    """Return the places where a mask is true."""
    return [int(at) for at in np.flatnonzero(mask)]


@lru_cache(maxsize=65_536)
def _words(question: str) -> str:
    return " ".join(tokenize(question))


class _Weeks:
    """The judged exchanges before a day: those of the last weeks, and those before."""

    def __init__(self, rows: Sequence[JudgedExchange], day: date) -> None:
        self.rows = rows
        self.day = np.array([row.day for row in rows], dtype=np.int64)
        self.wrong = np.array([row.wrong for row in rows], dtype=np.bool_)
        self.first = int(self.day.min()) if len(rows) else 0
        inside = self.day < day.toordinal()
        span = min(WINDOW_WEEKS, max(1, (day.toordinal() - self.first) // WEEK - 2)) * WEEK
        self.begin = day.toordinal() - span
        self.recent = inside & (self.day >= self.begin)
        self.before = inside & (self.day < self.begin)
        words = [_words(row.question) for row in rows]
        self.half = np.array(
            [zlib.crc32((row.who or text).encode()) & 1 for row, text in zip(rows, words, strict=True)]
        )
        order = {text: at for at, text in enumerate(sorted(set(words)))}
        self.key = np.array([order[text] for text in words], dtype=np.int64)
        _, self.first_of = np.unique(self.key, return_index=True)
        # The same question once a week, counted from the look.
        weeks = (day.toordinal() - 1 - self.day) // WEEK
        self.unit = self.key * (int(weeks.max(initial=0)) + 1) + weeks

    def needed(self) -> list[int]:
        """Return the places of the answers to read: wrong ones, and right ones of the last weeks."""
        places = np.flatnonzero(self.wrong & (self.recent | self.before))
        right = self.recent & ~self.wrong
        some = [np.flatnonzero(right & (self.half == half))[-MOST_RIGHT:] for half in (0, 1)]
        return [int(at) for at in np.sort(np.concatenate([places, *some]))]

    def asked(self, signs: ModeSigns) -> Mask:
        """Return which exchanges carry signs that only their questions need be read for."""
        questions = (self.rows[at].question for at in self.first_of)
        carried = [
            signs.is_in(Answer(question_id="", system="log", question=question, answer=""))
            for question in questions
        ]
        return np.array(carried, dtype=np.bool_)[self.key]

    def mode(
        self, sign: ModeSigns, halves: tuple["_Half", "_Half"], day: date, p: float, alpha: float
    ) -> NewMode | None:
        """Return the mode; None for too few answers, or those of too few days."""
        deciding = halves[1]
        some = deciding.carried(sign, self.recent & self.wrong)
        days = {int(self.day[at]) for at in some}
        if len({int(self.unit[at]) for at in some}) < FEWEST or len(days) < FEWEST_DAYS:
            return None
        every = [at for half in halves for at in half.carried(sign, self.recent & self.wrong)]
        has = np.zeros(len(self.rows), dtype=np.bool_)
        has[deciding.carried(sign, self.wrong)] = True
        return NewMode(
            signs=sign,
            looked=day - timedelta(days=1),
            since=date.fromordinal(min(int(self.day[at]) for at in every)),
            compared=date.fromordinal(self.first),
            before=self._level(deciding.inside & self.before, has),
            after=self._level(deciding.inside & self.recent, has),
            n=len(every),
            examples=[self.rows[at].n for at in sorted(every, reverse=True)[:EXAMPLES]],
            p=p,
            alpha=alpha,
        )

    def _level(self, inside: Mask, has: Mask) -> Level:
        w = np.array([1.0 / self.rows[at].chance for at in places_of(inside)])
        x = has[inside].astype(np.float64)
        columns = np.stack([np.ones_like(w), w, w * x, w * w, w * w * x, w * w * x * x], axis=1)
        days = self.day[inside] - self.first
        sums = np.zeros((int(days.max()) + 1, 6))
        np.add.at(sums, days, columns)
        return level_of(sums)


class _Half:
    """The exchanges of one half whose answers were read."""

    def __init__(self, weeks: _Weeks, read: Mapping[int, Answer], half: int) -> None:
        self._weeks, self._read = weeks, read
        self.inside = weeks.half == half
        self._known: dict[int, list[int]] = {}

    def propose(self, seed: int) -> list[ModeSigns]:
        """Return signs that mark wrong answers of the last weeks, the most certain first."""
        weeks = self._weeks
        places = [at for at in places_of(self.inside & weeks.recent) if weeks.rows[at].n in self._read]
        found = propose_signs(
            [self._read[weeks.rows[at].n] for at in places],
            [bool(weeks.wrong[at]) for at in places],
            [weeks.rows[at].who or str(weeks.unit[at]) for at in places],
            seed=seed,
        )
        return [ModeSigns(sign=named.sign, unless=named.unless) for named in found.signs]

    def carried(self, sign: ModeSigns, among: Mask) -> list[int]:
        """Return the places of the exchanges, of those that are read, that carry a sign."""
        weeks = self._weeks
        return [
            at
            for at in places_of(self.inside & among)
            if (answer := self._read.get(weeks.rows[at].n)) and sign.is_in(answer)
        ]

    def p_values(self, sign: ModeSigns) -> tuple[float, float, float]:
        """Return the p-values that right answers carry a sign as often, that it was as frequent before, and
        that questions with it were answered wrongly as often before."""
        weeks = self._weeks
        units = weeks.unit

        def n_units(places: Sequence[int] | Codes) -> int:
            return len(np.unique(units[places])) if len(places) else 0

        recent, before = (self.inside & mask for mask in (weeks.recent, weeks.before))
        places = [self.carried(sign, mask & weeks.wrong) for mask in (recent, before)]
        k, k_before = map(n_units, places)
        n, n_before = (n_units(np.flatnonzero(mask)) for mask in (recent, before))
        if not n or not n_before:  # few people asked, all of them in the other half
            return 1.0, 1.0, 1.0
        n_wrong = n_units(np.flatnonzero(recent & weeks.wrong))
        right = [at for at in places_of(recent & ~weeks.wrong) if weeks.rows[at].n in self._read]
        n_right, k_right = n_units(right), n_units(self.carried(sign, recent & ~weeks.wrong))
        apart = fisher_p(k, k + k_right, n_wrong, n_wrong + n_right)
        more = binomial_tail(k, k + k_before, n / (n + n_before))
        if sign.inputs != ["question"]:
            return apart, more, more
        # More is asked about it, which is no fault of the answers: are they wrong more often than before?
        carried = weeks.asked(sign)
        asked, asked_before = (n_units(np.flatnonzero(mask & carried)) for mask in (recent, before))
        if asked_before < ASKED_BEFORE:
            return apart, more, more
        return apart, more, fisher_p(k, asked, k + k_before, asked + asked_before)


def binomial_tail(k: int, n: int, share: float) -> float:
    """Return the chance of k or more of n, each with this chance, from 0 to 1 without its ends."""
    if k <= 0:
        return 1.0
    logs = [
        math.lgamma(n + 1)
        - math.lgamma(i + 1)
        - math.lgamma(n - i + 1)
        + i * math.log(share)
        + (n - i) * math.log1p(-share)
        for i in range(k, n + 1)
    ]
    return min(1.0, sum(map(math.exp, logs)))
