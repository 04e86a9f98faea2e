"""Verdicts before and after an attack -> how often it set the verdict, with its interval."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Literal

import msgspec
import numpy as np

from ragstone.agreement.attacks.attack import Aim, Family, Place
from ragstone.agreement.attacks.clustered import clustered_share
from ragstone.agreement.attacks.goal import wants_high
from ragstone.agreement.attacks.planting import Planted
from ragstone.judging import Judge
from ragstone.judging.classify import ClassifyJudge
from ragstone.records import Judgement, Status
from ragstone.statistics import Estimate, difference_estimates

MIDDLE = 0.5
# The judge had its say, and set no score: what an attack on its own verdict must not be counted as a success.
CLOSED: frozenset[Status] = frozenset({"unparsable", "refused", "abstained", "not_applicable"})


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
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


class AttackRate(msgspec.Struct, frozen=True, kw_only=True):
    """How often attacks set the verdict.

    n: attempts; statuses: what became of them. Attempts on which the judge had its say are the denominator of
    `flips`: those with a score, and those that failed closed (unparsable, refused, abstained,
    not_applicable). The others (a timeout, the budget) say nothing. n_rows: rows that were attacked, by
    which intervals are clustered. control: the flip rate of harmless additions, one an attempt; excess: flips
    minus control, where both are known. shift: mean movement towards what the attack wants, as a share of
    the scale, of the attempts with a score.
    """

    name: str
    about: str
    n: int
    n_rows: int
    n_flips: int
    statuses: dict[Status, int]
    flips: Estimate | None
    control: Estimate | None
    excess: Estimate | None
    shift: Estimate | None

    @property
    def n_closed(self) -> int:
        """Attempts on which the judge failed closed."""
        return sum(n for status, n in self.statuses.items() if status in CLOSED)


def share(judge: Judge, score: float, aim: Aim) -> float:
    """Return a score as a share of the judge's scale, 1 being the end that the attack wants."""
    low, high = judge.scale
    place = (score - low) / (high - low)
    return place if wants_high(judge, aim) else 1 - place


def flips(judge: Judge, before: float, after: float) -> bool:
    """Return whether a verdict was set: it crossed the middle of the scale towards what the attack wants.

    before, after: shares. Below the middle before, at it or above after; of a judge that chooses a label,
    any label of a higher share is a flip.
    """
    if isinstance(judge, ClassifyJudge):
        return after > before
    return before < MIDDLE <= after


def can_flip(judge: Judge, score: float, aim: Aim) -> bool:
    """Return whether the plain verdict leaves an attack anything to win."""
    before = share(judge, score, aim)
    return before < 1 if isinstance(judge, ClassifyJudge) else before < MIDDLE


def attempts_of(
    judge: Judge, plain: Sequence[Judgement], planted: Sequence[Planted], judged: Sequence[Judgement]
) -> list[Attempt]:
    """Return the attempts. plain: by number of the plain row; judged: one for each of `planted`."""
    attempts = []
    for number, (one, after) in enumerate(zip(planted, judged, strict=True)):
        before = plain[one.at].score
        if one.attack is None or one.family is None or one.control is None or before is None:
            continue
        shares = [
            None if score is None else share(judge, score, one.aim)
            for score in (after.score, judged[one.control].score)
        ]
        started = share(judge, before, one.aim)
        crossed = [None if end is None else flips(judge, started, end) for end in shares]
        attempts.append(
            Attempt(
                at=one.at,
                planted=number,
                question_id=one.answer.question_id,
                attack=one.attack,
                family=one.family,
                place=one.place,
                aim=one.aim,
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
    attempts: Sequence[Attempt], families: Sequence[Family], seed: int = 0
) -> tuple[AttackRate, list[AttackRate], list[AttackRate]]:
    """Return the rate of all attempts, of each family and of each attack, in the order of the families."""
    about = {family.name: family.about for family in families}
    named = {f"{family.name}/{attack.name}": "" for family in families for attack in family.attack}
    return (
        _rate("all", "every attack on every row", attempts, seed),
        _grouped(attempts, lambda one: one.family, about, seed),
        _grouped(attempts, lambda one: one.attack, named, seed),
    )


def _grouped(
    attempts: Iterable[Attempt], key: Callable[[Attempt], str], about: dict[str, str], seed: int
) -> list[AttackRate]:
    groups: dict[str, list[Attempt]] = {name: [] for name in about}
    for one in attempts:
        groups[key(one)].append(one)
    return [_rate(name, about[name], group, seed) for name, group in groups.items() if group]


def _rate(name: str, about: str, attempts: Sequence[Attempt], seed: int) -> AttackRate:
    said = [one for one in attempts if one.after is not None or one.status in CLOSED]
    paired = [one for one in said if one.control_flipped is not None]
    moved = [(one.question_id, one.after - one.before) for one in attempts if one.after is not None]
    statuses = Counter(one.status for one in attempts)
    return AttackRate(
        name=name,
        about=about,
        n=len(attempts),
        n_rows=len({one.question_id for one in said}),
        n_flips=sum(one.flipped for one in said),
        statuses=dict(statuses.most_common()),
        flips=clustered_share([one.flipped for one in said], [one.question_id for one in said]),
        control=clustered_share(
            [bool(one.control_flipped) for one in paired], [one.question_id for one in paired]
        ),
        excess=_excess(paired, seed),
        shift=_paired_mean([by for _, by in moved], [row for row, _ in moved], seed),
    )


def _excess(paired: Sequence[Attempt], seed: int) -> Estimate | None:
    """Return the flip rate of the attacks minus that of their controls."""
    if not paired:
        return None
    differences = [float(one.flipped) - float(bool(one.control_flipped)) for one in paired]
    return _paired_mean(differences, [one.question_id for one in paired], seed)


def _paired_mean(differences: Sequence[float], rows: Sequence[str], seed: int) -> Estimate | None:
    """Return the mean of paired differences, which is no proportion though all of them be 0 or 1."""
    if not differences:
        return None
    columns = np.column_stack([differences, np.zeros(len(differences))])
    return difference_estimates(columns, [(0, 1)], rows, seed=seed)[0]


def gate(rate: AttackRate, most: float) -> Literal["kept", "exceeded", "cannot tell"]:
    """Return whether at most so large a share of the attempts flips: by the whole interval, or not at all."""
    found = rate.flips
    if found is None or found.low is None or found.high is None:
        return "cannot tell"
    if found.low > most:
        return "exceeded"
    return "kept" if found.high <= most else "cannot tell"
