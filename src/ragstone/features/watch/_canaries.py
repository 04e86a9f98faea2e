"""Has the judge changed? Frozen answers are judged again on a schedule, and compared with earlier scores.

Answers that stay the same get the same scores, but for chance, as long as the judge does. A canary is one
observation, whatever its scores were: the same answers are judged in every round, so what chance did to the
first scores stays in all later differences, and rounds are not independent. Two things follow.

Each round is tested by itself, against all rounds before: its evidence (see statistics.sequences) is
expected to be at most 1, however rounds hang together. Of a capital of 1 the part 1 / (r (r + 1)) is staked
on round r, and what it brings is put aside. The sum never falls, and is expected to be at most 1 after all
rounds to come, so by Markov's inequality the chance that it *ever* reaches 1/alpha is at most alpha.

Canaries are drawn evenly along the scores, in proportion. If low scores were preferred, those which chance
made low would rise when judged again (regression to the mean), and every judge would seem to grow milder.
"""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import date, timedelta

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.llm import Ask, Prompt, Reply
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics.intervals import Floats
from ragstone.kernel.statistics.sequences import log_capitals, log_evidence, sequence_interval

LATEST = (1, 2, 4)
"""How many of the latest rounds are taken together against those before: one is quick, four see more."""

_MOST = 700.0  # the log of a number that a float still holds


class Shift(msgspec.Struct, frozen=True, kw_only=True):
    """How far later scores lie from earlier ones of the same answers, from -1 to 1, with a 95 % interval.

    first: the mean of the earlier ones. n: answers that have both. before, after: rounds.
    """

    mean: float
    first: float
    low: float
    high: float
    n: int
    before: int
    after: int


class JudgeChange(msgspec.Struct, frozen=True, kw_only=True):
    """The judge of that name scores otherwise since the round of a day. raised: the round that showed it.

    e_value: the evidence, which reaches 1 / alpha without a change with a chance of at most alpha.
    """

    judge: str
    since: date
    raised: date
    e_value: float
    alpha: float
    shift: Shift


class RoundScores(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Scores from 0 to 1 of one metric, (answers, rounds), by time; `known` is False where there is none."""

    scores: Floats
    known: NDArray[np.bool_]
    days: Sequence[date]

    def differences(self, begin: int, at: int, end: int) -> Floats:
        """Return, for answers that have both, the mean of rounds [at:end] less that of [begin:at]."""
        before, after = self.pairs(begin, at, end)
        return np.asarray(after - before)

    def pairs(self, begin: int, at: int, end: int) -> tuple[Floats, Floats]:
        """Return both means of each answer that has both."""
        (before, some), (after, more) = self._means(begin, at), self._means(at, end)
        return before[some & more], after[some & more]

    def _means(self, begin: int, end: int) -> tuple[Floats, NDArray[np.bool_]]:
        known = self.known[:, begin:end]
        n = known.sum(axis=1)
        totals = np.where(known, self.scores[:, begin:end], 0.0).sum(axis=1)
        return totals / np.maximum(n, 1), n > 0


def shift_between(rounds: RoundScores, begin: int, at: int, end: int) -> Shift | None:
    """Return how far rounds [at:end] lie from [begin:at]; None where no answer has both.

    The interval is that of the mean over all answers like these (see sequence_interval), whatever the
    distribution of the differences.
    """
    before, after = rounds.pairs(begin, at, end)
    differences = after - before
    if not differences.size:
        return None
    low, high = sequence_interval(differences)
    return Shift(
        mean=float(differences.mean()),
        first=float(before.mean()),
        low=low,
        high=high,
        n=differences.size,
        before=int(rounds.known[:, begin:at].any(axis=0).sum()),
        after=int(rounds.known[:, at:end].any(axis=0).sum()),
    )


def evidence_of(differences: Floats) -> float:
    """Return the evidence that the mean difference is not 0: half the capital on each side. 1 for none."""
    if not differences.size:
        return 1.0
    sides = [log_evidence(log_capitals(sign * differences).sum(axis=0)) for sign in (1, -1)]
    return float(np.exp(np.minimum(sides, _MOST)).mean())


def judge_changes_along(rounds: RoundScores, judge: str, alpha: float) -> list[JudgeChange]:
    """Return the changes by time, any false one with a chance of at most alpha over all rounds to come.

    After a change the next round is the first that later ones are compared with, and the j-th change has
    the part 1 / (j (j + 1)) of alpha.
    """
    changes: list[JudgeChange] = []
    begin = 0
    while True:
        part = alpha / ((len(changes) + 1) * (len(changes) + 2))
        change = _first_change(rounds, judge, begin, part)
        if change is None:
            return changes
        changes.append(change)
        begin = rounds.days.index(change.raised) + 1


def _first_change(rounds: RoundScores, judge: str, begin: int, alpha: float) -> JudgeChange | None:
    put_aside = 0.0
    for now in range(begin + 1, len(rounds.days)):
        since = [now + 1 - latest for latest in LATEST if now + 1 - latest > begin]
        evidence = [evidence_of(rounds.differences(begin, at, now + 1)) for at in since]
        number = now - begin
        put_aside += sum(evidence) / len(evidence) / (number * (number + 1))
        if put_aside >= 1 / alpha:
            at = since[int(np.argmax(evidence))]
            shift = shift_between(rounds, begin, at, now + 1)
            if shift is not None:
                return JudgeChange(
                    judge=judge,
                    since=rounds.days[at],
                    raised=rounds.days[now],
                    e_value=put_aside,
                    alpha=alpha,
                    shift=shift,
                )
    return None


MOST_SAMPLES = 1000
"""Draws that a judge may make of one prompt; each round has numbers of its own, which the ledger lacks."""


class CanaryScore(msgspec.Struct, frozen=True, kw_only=True):
    """A score from 0 to 1, and the judge as cells name it."""

    score: float
    judge: str


class JudgedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer with its scores by metric, as they were first given."""

    answer: Answer
    scores: dict[str, CanaryScore]


class CanaryRound(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of a day, of each canary in their order; a metric that could not be judged is absent."""

    day: date
    scores: list[dict[str, CanaryScore]]


class Canaries(msgspec.Struct, frozen=True, kw_only=True):
    """Frozen answers with their first scores, of the day `frozen`, and the rounds since, by time."""

    frozen: date
    answers: list[JudgedAnswer]
    rounds: list[CanaryRound] = []


JudgeAgain = Callable[[Answer, int], Awaitable[dict[str, CanaryScore]]]
"""An answer and the number of the round -> its scores by metric; those that failed are absent."""


def freeze(exchanges: Iterable[JudgedAnswer], n: int, seed: int, today: date) -> Canaries:
    """Return n of the exchanges as canaries, all where there are fewer: evenly along their mean scores.

    Every exchange has the same chance (Madow 1949, systematic sampling), which depends on the seed and not on
    their order. Exchanges without any score are left out.
    """
    scored = [judged for judged in exchanges if judged.scores]

    def mean_then_digest(judged: JudgedAnswer) -> tuple[float, bytes]:
        named = f"{seed}\0{judged.answer.system}\0{judged.answer.question_id}".encode()
        mean = sum(score.score for score in judged.scores.values()) / len(judged.scores)
        return mean, hashlib.blake2b(named, digest_size=8).digest()

    scored.sort(key=mean_then_digest)
    n = min(n, len(scored))
    start = np.random.default_rng(seed).random()
    chosen = [scored[int((number + start) * len(scored) / n)] for number in range(n)]
    return Canaries(frozen=today, answers=chosen)


def due(canaries: Canaries, today: date, canary_days: int, alarm: date | None = None) -> bool:
    """Return whether the canaries are to be judged again: canary_days after the last time.

    alarm: the day on which the latest alarm was raised whose cause is not known; then they are due at once,
    if they were not judged since.
    """
    if not canaries.answers:
        return False
    last = canaries.rounds[-1].day if canaries.rounds else canaries.frozen
    return today >= last + timedelta(days=canary_days) or (alarm is not None and last < alarm <= today)


async def judge_again(canaries: Canaries, judge: JudgeAgain, today: date) -> Canaries:
    """Return the canaries with one round more, of that day; without it where no answer got a score.

    Raises ValueError for a day on which they were judged already: a round is not repeated.
    """
    days = [canaries.frozen, *(earlier.day for earlier in canaries.rounds)]
    if canaries.rounds and today <= days[-1]:
        raise ValueError(
            f"canaries were judged on {days[-1]}: the next round must be on a later day, and {today} is not"
        )
    number = len(canaries.rounds) + 1
    scores = await asyncio.gather(*(judge(canary.answer, number) for canary in canaries.answers))
    if not any(scores):
        return canaries
    return msgspec.structs.replace(canaries, rounds=[*canaries.rounds, CanaryRound(day=today, scores=scores)])


def anew(ask: Ask, number: int) -> Ask:
    """Return what asks a model as `ask` does, for round `number` from 1: the ledger does not know the reply.

    Nothing but the sample number changes, so that the call is the one that production pays for.
    """

    async def draw(prompt: Prompt) -> Reply:
        sample = number * MOST_SAMPLES + prompt.sample
        return await ask(msgspec.structs.replace(prompt, sample=sample))

    return draw


def judge_shift(
    canaries: Canaries, since: date, judges: Sequence[str] | None = None, compared: date | None = None
) -> dict[str, Shift]:
    """Return by metric how far the rounds from that day on lie from those before; none without both.

    judges: only scores by these count; default all. compared: earlier rounds do not count, but for the last
    one before that day; default all do.
    """
    shifts = {}
    for metric in metrics(canaries):
        rounds = _rounds(canaries, metric, judges)
        at = sum(day < since for day in rounds.days)
        begin = max(0, sum(day <= compared for day in rounds.days) - 1) if compared else 0
        shift = shift_between(rounds, begin, at, len(rounds.days)) if begin < at else None
        if shift is not None:
            shifts[metric] = shift
    return shifts


def judge_changes(canaries: Canaries, alpha: float) -> dict[str, list[JudgeChange]]:
    """Return by metric when its judge changed, by time; any false change, ever: at most alpha.

    Rounds are compared with earlier ones by a judge of the same name: another one is known to be a change.
    """
    names = metrics(canaries)
    return {
        metric: [
            change
            for number, judge in enumerate(_judges(canaries, metric), 1)
            for change in judge_changes_along(
                _rounds(canaries, metric, [judge]), judge, alpha / len(names) / (number * (number + 1))
            )
        ]
        for metric in names
    }


def metrics(canaries: Canaries) -> list[str]:
    """Return the metrics that canaries were first judged for, by name."""
    return sorted({metric for canary in canaries.answers for metric in canary.scores})


def _all_scores(canaries: Canaries) -> list[list[dict[str, CanaryScore]]]:
    return [[scored.scores for scored in canaries.answers], *(scored.scores for scored in canaries.rounds)]


def _judges(canaries: Canaries, metric: str) -> list[str]:
    """Return the judges of a metric, in the order in which they came."""
    names = (
        scores[metric].judge for answers in _all_scores(canaries) for scores in answers if metric in scores
    )
    return list(dict.fromkeys(names))


def _rounds(canaries: Canaries, metric: str, judges: Sequence[str] | None) -> RoundScores:
    """Return the scores of a metric by these judges; rounds in which they gave none are left out."""
    scores = np.zeros((len(canaries.answers), len(canaries.rounds) + 1))
    known = np.zeros(scores.shape, dtype=bool)
    for column, answers in enumerate(_all_scores(canaries)):
        for row, by_metric in enumerate(answers):
            score = by_metric.get(metric)
            if score is not None and (judges is None or score.judge in judges):
                scores[row, column], known[row, column] = score.score, True
    there = np.flatnonzero(known.any(axis=0))
    days = [canaries.frozen, *(later.day for later in canaries.rounds)]
    return RoundScores(
        scores=scores[:, there],
        known=known[:, there],
        days=[days[column] for column in there],
    )
