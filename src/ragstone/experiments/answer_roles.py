"""Several judges of one thing -> the one whose verdicts a bench of answerers goes by."""

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from ragstone.agreement.card import ReportCard, card_of, is_useless
from ragstone.records import NO_MODEL, Judgement

RoleName = Literal["correct", "answered", "faithful", "relevant"]

# What is wanted of an answer -> the metrics that say it, the one that says most first.
METRICS: dict[RoleName, tuple[str, ...]] = {
    "correct": ("correctness", "claims"),
    "answered": ("answered",),
    "faithful": ("faithfulness",),
    "relevant": ("relevance",),
}


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """The judge that says one thing of all answers.

    measured: whether people's labels measured it; better_than_baseline: what they say, None where that
    cannot be told or nobody measured it. instead_of: judges that ask a model and were passed over, because
    they are measured to be no better than their baseline.
    """

    role: RoleName
    judge: str
    metric: str
    model: str
    prompt_version: int
    scale: tuple[float, float]
    measured: bool = False
    better_than_baseline: bool | None = None
    instead_of: list[str] = []

    def is_of(self, row: Judgement) -> bool:
        """Whether a judgement is this judge's."""
        return (row.judge, row.metric, row.model) == (self.judge, self.metric, self.model)

    def share(self, score: float) -> float:
        """Return a score as its place on the scale, 0 to 1."""
        low, high = self.scale
        return (score - low) / (high - low)


def choose_roles(judgements: Iterable[Judgement], cards: Sequence[ReportCard] = ()) -> list[Role]:
    """Return the best judge at hand for each thing that any judge says, in the order of METRICS.

    One that asks a language model goes before one that asks none, unless people's labels show it to be no
    better than its baseline; a model without a card of its own counts as its cards of other judges say. One
    that scored nothing comes last. Of equals the first in the rows is taken.
    """
    found: dict[tuple[str, str, str], Judgement] = {}
    scored: set[tuple[str, str, str]] = set()
    for row in judgements:
        key = (row.judge, row.metric, row.model)
        found.setdefault(key, row)
        if row.score is not None:
            scored.add(key)
    roles = []
    for role, metrics in METRICS.items():
        able = [
            row
            for row in found.values()
            if row.metric in metrics and row.scale and row.scale[0] < row.scale[1]
        ]
        if not able:
            continue

        def order(row: Judgement, metrics: tuple[str, ...] = metrics) -> tuple[bool, bool, bool, int]:
            silent = (row.judge, row.metric, row.model) not in scored
            return silent, is_useless(row, cards), row.model == NO_MODEL, metrics.index(row.metric)

        best = min(able, key=order)
        passed = [row.judge for row in able if row.model != NO_MODEL and is_useless(row, cards)]
        card = card_of(best, cards)
        roles.append(
            Role(
                role=role,
                judge=best.judge,
                metric=best.metric,
                model=best.model,
                prompt_version=best.prompt_version,
                scale=best.scale or (0, 1),
                measured=card is not None,
                better_than_baseline=card.better_than_baseline if card else None,
                instead_of=passed if best.model == NO_MODEL else [],
            )
        )
    return roles
