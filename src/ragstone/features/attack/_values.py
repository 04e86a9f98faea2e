"""How often attacks set a verdict, and how far probes move one: the values that are shown."""

from typing import Literal

import msgspec

from ragstone.kernel.records import Status
from ragstone.kernel.statistics import Estimate

Place = Literal["before", "after", "instead", "context", "question"]
Aim = Literal["raise", "lower"]

# The judge had its say, and set no score: what an attack on its own verdict must not be counted as a success.
CLOSED: frozenset[Status] = frozenset({"unparsable", "refused", "abstained", "not_applicable"})


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


# No picture for the eye, or one that changes how the words around it are read: shown by their numbers.
UNSEEN = ("Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp")


class VerdictFlip(msgspec.Struct, frozen=True, kw_only=True):
    """A verdict that was set: the row as it was judged, and what the judge said before and after.

    plain, attacked: what changed of the row: its answer, its contexts or its question. before, after: scores
    on the judge's scale.
    """

    attack: str
    place: Place
    question_id: str
    question: str | None
    plain: str
    attacked: str
    before: float
    after: float
    reason_before: str | None
    reason_after: str | None


class ProbeEffect(msgspec.Struct, frozen=True, kw_only=True):
    """The bias that one probe found.

    effect: mean paired difference as a share of the judge's scale, with its interval, clustered by question;
    None where nothing could be measured, and `why` says why; without an interval no difference varies, as
    where no score moved at all. n_unpaired: rows of which one side has no score.
    """

    probe: str
    compared: str
    effect: Estimate | None = None
    n_unpaired: int = 0
    why: str | None = None

    @property
    def found(self) -> bool | None:
        """Whether the interval excludes 0."""
        if self.effect is None or self.effect.low is None or self.effect.high is None:
            return None
        return not self.effect.low <= 0 <= self.effect.high
