"""Conversations of simulated users -> how many met their goal, after how many turns, and how they ended."""

from collections import Counter
from collections.abc import Iterable

import msgspec

from ragstone.features.simulate._talk import ENDED, GOAL_MET, N_TURNS, PERSONA
from ragstone.kernel.errors import takes_rows
from ragstone.kernel.records import Answer
from ragstone.kernel.statistics import Estimate, mean_estimate


class GoalSummary(msgspec.Struct, frozen=True, kw_only=True):
    """What became of conversations.

    met: the share whose goal was met, of those of which it is known; conversations of one persona are one
    cluster. n_unknown: of which nobody can tell, failed ones among them. turns: of the user, on
    average, where the goal was met. ended: reason -> conversations. missed: their ids.
    """

    n: int
    n_personas: int
    met: Estimate | None
    n_unknown: int
    turns: Estimate | None
    ended: dict[str, int]
    missed: list[str]


@takes_rows(rows=Answer)
def summarise_goals(rows: Iterable[Answer]) -> GoalSummary:
    """Return what became of the conversations among rows; rows of another origin are left out."""
    ended = [(row, row.metadata) for row in rows if row.metadata and ENDED in row.metadata]
    known = [(row, noted) for row, noted in ended if noted[GOAL_MET] is not None]
    met = [noted for _, noted in known if noted[GOAL_MET]]
    return GoalSummary(
        n=len(ended),
        n_personas=len({noted[PERSONA] for _, noted in ended}),
        met=mean_estimate(
            [float(noted[GOAL_MET]) for _, noted in known], [noted[PERSONA] for _, noted in known]
        ),
        n_unknown=len(ended) - len(known),
        turns=mean_estimate(
            [float(noted[N_TURNS]) for noted in met], [noted[PERSONA] for noted in met], proportion=False
        ),
        ended=dict(Counter(noted[ENDED] for _, noted in ended).most_common()),
        missed=[row.question_id for row, noted in known if not noted[GOAL_MET]],
    )
