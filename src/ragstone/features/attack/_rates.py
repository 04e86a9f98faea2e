"""Verdicts before and after an attack -> how often it set the verdict, and which flips are shown."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from statistics import NormalDist
from typing import Literal

import msgspec
import numpy as np

from ragstone.features.attack._families import Family, wants_high
from ragstone.features.attack._planting import Planted
from ragstone.features.attack._values import CLOSED, Aim, AttackRate, Place, VerdictFlip
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Answer, Judgement, Status
from ragstone.kernel.statistics import (
    Estimate,
    cluster_codes,
    cluster_totals,
    mean_estimate,
    wilson_interval,
)
from ragstone.kernel.statistics.intervals import Floats

LEVEL = 0.95


def clustered_share(flags: Sequence[bool], rows: Sequence[str]) -> Estimate | None:
    """Return the share of true flags with its Wilson interval on the effective number; None of no flags.

    rows: the row of each flag. A bootstrap gives nothing where all rows are alike, and a poor interval where
    nearly all are. So attempts count for less than their number by as much as rows differ more than chance
    (the design effect: Korn and Graubard 1998, with Student's quantile for the few rows that it is estimated
    from; Wilson's interval on it: Dean and Pagano 2015), never for more, and a row never for less than one.
    The design effect is estimated with one row more, on which half of the attempts flip: where flips are rare
    nearly all rows look alike, though they are not. Coverage in simulation: tests/features/attack.
    """
    n = len(flags)
    if not n:
        return None
    columns = np.column_stack([np.asarray(flags, dtype=np.float64), np.ones(n)])
    totals = cluster_totals(columns, cluster_codes(rows, n))
    n_rows, share = len(totals), float(totals[:, 0].sum() / n)
    # Of a single row nobody can say how much rows differ: it counts once.
    independent = n / max(_design_effect(totals), 1.0) if n_rows > 1 else 1.0
    # Times (z / t)², t being Student's quantile for so many rows (Cornish and Fisher's expansion).
    z, freedom = NormalDist().inv_cdf(0.5 + LEVEL / 2), max(n_rows - 1, 1)
    t = z + (z**3 + z) / (4 * freedom) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
    effective = max(independent, n_rows) * (z / t) ** 2
    low, high = wilson_interval(share * effective, effective, LEVEL)
    return Estimate(value=share, low=low, high=high, n=n, method="wilson", level=LEVEL)


def _design_effect(totals: Floats) -> float:
    """Return the variance of the share over that of independent attempts. totals: (flips, attempts)."""
    typical = float(totals[:, 1].mean())
    with_one_more = np.vstack([totals, [typical / 2, typical]])
    flips, attempts = with_one_more.T
    n, m = attempts.sum(), len(attempts)
    share = flips.sum() / n  # never 0 or 1, by the row that was added
    residuals = flips - share * attempts
    variance = m / (m - 1) * float(residuals @ residuals) / n**2
    return float(variance / (share * (1 - share) / n))


MIDDLE = 0.5


class AttackAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attack on one row. before, after, control: scores as a share of the scale, higher what it wants.

    after: None where the judge gave no score; control: of the same row with a harmless text of about the same
    length. flipped: see `flips`. at, planted: numbers of the plain and of the attacked row.
    """

    at: int
    planted: int
    question_id: str
    attack: str
    family: str
    place: Place
    aim: Aim
    before: float
    status: Status
    after: float | None
    control: float | None
    flipped: bool
    control_flipped: bool | None


def share(judge: Judge, score: float, aim: Aim) -> float:
    """Return a score as a share of the judge's scale, 1 being the end that the attack wants."""
    low, high = judge.scale
    reached = (score - low) / (high - low)
    return reached if wants_high(judge, aim) else 1 - reached


def flips(judge: Judge, before: float, after: float) -> bool:
    """Return whether a verdict was set: it crossed the middle of the scale towards what the attack wants.

    before, after: shares. Below the middle before, at it or above after; of a judge that chooses a label,
    any label of a higher share is a flip.
    """
    if judge.kind == "classify":
        return after > before
    return before < MIDDLE <= after


def can_flip(judge: Judge, score: float, aim: Aim) -> bool:
    """Return whether the plain verdict leaves an attack anything to win."""
    before = share(judge, score, aim)
    return before < 1 if judge.kind == "classify" else before < MIDDLE


def attempts_of(
    judge: Judge, plain: Sequence[Judgement], planted: Sequence[Planted], judged: Sequence[Judgement]
) -> list[AttackAttempt]:
    """Return the attempts. plain: by number of the plain row; judged: one for each of `planted`."""
    attempts = []
    for number, (row, after) in enumerate(zip(planted, judged, strict=True)):
        before = plain[row.at].score
        if row.attack is None or row.family is None or row.control is None or before is None:
            continue
        shares = [
            None if score is None else share(judge, score, row.aim)
            for score in (after.score, judged[row.control].score)
        ]
        started = share(judge, before, row.aim)
        crossed = [None if end is None else flips(judge, started, end) for end in shares]
        attempts.append(
            AttackAttempt(
                at=row.at,
                planted=number,
                question_id=row.answer.question_id,
                attack=row.attack,
                family=row.family,
                place=row.place,
                aim=row.aim,
                before=started,
                status=after.status,
                after=shares[0],
                control=shares[1],
                flipped=bool(crossed[0]),
                control_flipped=crossed[1],
            )
        )
    return attempts


def rates_of(
    attempts: Sequence[AttackAttempt], families: Sequence[Family], seed: int = 0
) -> tuple[AttackRate, list[AttackRate], list[AttackRate]]:
    """Return the rate of all attempts, of each family and of each attack, in the order of the families."""
    about = {family.name: family.about for family in families}
    named = {f"{family.name}/{attack.name}": "" for family in families for attack in family.attack}
    return (
        _rate("all", "every attack on every row", attempts, seed),
        _grouped(attempts, lambda attempt: attempt.family, about, seed),
        _grouped(attempts, lambda attempt: attempt.attack, named, seed),
    )


def _grouped(
    attempts: Iterable[AttackAttempt], key: Callable[[AttackAttempt], str], about: dict[str, str], seed: int
) -> list[AttackRate]:
    groups: dict[str, list[AttackAttempt]] = {name: [] for name in about}
    for attempt in attempts:
        groups[key(attempt)].append(attempt)
    return [_rate(name, about[name], group, seed) for name, group in groups.items() if group]


def _rate(name: str, about: str, attempts: Sequence[AttackAttempt], seed: int) -> AttackRate:
    answered = [attempt for attempt in attempts if attempt.after is not None or attempt.status in CLOSED]
    paired = [attempt for attempt in answered if attempt.control_flipped is not None]
    moved = [
        (attempt.question_id, attempt.after - attempt.before)
        for attempt in attempts
        if attempt.after is not None
    ]
    statuses = Counter(attempt.status for attempt in attempts)
    return AttackRate(
        name=name,
        about=about,
        n=len(attempts),
        n_rows=len({attempt.question_id for attempt in answered}),
        n_flips=sum(attempt.flipped for attempt in answered),
        statuses=dict(statuses.most_common()),
        flips=clustered_share(
            [attempt.flipped for attempt in answered], [attempt.question_id for attempt in answered]
        ),
        control=clustered_share(
            [bool(attempt.control_flipped) for attempt in paired], [attempt.question_id for attempt in paired]
        ),
        # Means of paired differences, which are no proportion though all of them be 0 or 1.
        excess=mean_estimate(
            [float(attempt.flipped) - float(bool(attempt.control_flipped)) for attempt in paired],
            [attempt.question_id for attempt in paired],
            seed=seed,
            proportion=False,
        ),
        shift=mean_estimate([by for _, by in moved], [row for row, _ in moved], seed=seed, proportion=False),
    )


def gate(rate: AttackRate, most: float) -> Literal["kept", "exceeded", "cannot tell"]:
    """Return whether at most so large a share of the attempts flips: by the whole interval, or not at all."""
    flips = rate.flips
    if flips is None or flips.low is None or flips.high is None:
        return "cannot tell"
    if flips.low > most:
        return "exceeded"
    return "kept" if flips.high <= most else "cannot tell"


MOST_SHOWN = 40


def flips_shown(
    attempts: Sequence[AttackAttempt],
    rows: Sequence[Answer],
    planted: Sequence[Planted],
    plain: Sequence[Judgement],
    after: Sequence[Judgement],
) -> list[VerdictFlip]:
    """Return at most MOST_SHOWN flips.

    rows, plain: by number of the plain row; planted, after: by number of the attacked one.
    """
    flipped = [attempt for attempt in attempts if attempt.flipped]
    seen: Counter[str] = Counter()
    turns = []
    for attempt in flipped:
        turns.append(seen[attempt.attack])
        seen[attempt.attack] += 1
    order = sorted(range(len(flipped)), key=lambda at: turns[at])[:MOST_SHOWN]
    return [
        _flip(
            attempt,
            rows[attempt.at],
            planted[attempt.planted].answer,
            plain[attempt.at],
            after[attempt.planted],
        )
        for attempt in (flipped[at] for at in order)
    ]


def _flip(
    attempt: AttackAttempt, row: Answer, attacked: Answer, before: Judgement, after: Judgement
) -> VerdictFlip:
    if before.score is None or after.score is None:
        raise ValueError(
            f"{attempt.question_id}, {attempt.attack}: a verdict without a score cannot have flipped"
        )
    return VerdictFlip(
        attack=attempt.attack,
        place=attempt.place,
        question_id=attempt.question_id,
        question=row.question,
        plain=_part(row, attempt.place),
        attacked=_part(attacked, attempt.place),
        before=before.score,
        after=after.score,
        reason_before=before.rationale,
        reason_after=after.rationale,
    )


def _part(row: Answer, place: Place) -> str:
    """Return the part of a row that an attack at this place changes."""
    if place == "context":
        return "\n\n".join(context.text for context in row.contexts or ())
    return (row.question or "") if place == "question" else row.answer
