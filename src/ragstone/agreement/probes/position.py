"""Position bias of a judge that compares two answers: does an answer gain by being shown first?"""

from collections.abc import Iterable, Sequence

import msgspec

from ragstone.agreement.attacks.base import base_rows
from ragstone.agreement.probes.effect import ProbeEffect, from_differences, unmeasured
from ragstone.judging import Judge
from ragstone.records import Answer, Context, Judgement

NAME = "position"
COMPARED = "the score of the same answer when it is shown first, against when it is shown second"
WINS = {True: 1.0, False: 0.0}


def comparable_rows(limit: int | None = None) -> list[Answer]:
    """Return a sheet of three systems: a right answer, the same in other words, and a wrong one."""
    sheet: list[Answer] = []
    for row in base_rows()[:limit]:
        right = Answer(
            question_id=row.id,
            system="right",
            question=row.question,
            reference=row.reference,
            answer=row.right,
            contexts=[Context(text=text) for text in row.contexts],
            tags={"lang": row.lang},
        )
        others = {"right, other words": row.true_statement, "wrong": row.wrong}
        sheet += [right] + [
            msgspec.structs.replace(right, system=system, answer=text) for system, text in others.items()
        ]
    return sheet


def position_effect(judge: Judge, judgements: Iterable[Judgement], seed: int = 0) -> ProbeEffect:
    """Return what a place is worth, as a share of the scale: 0 if no verdict changes with the order.

    Of each pair: the score of its first answer shown first minus its score shown second (1 for a win, 0.5
    for a tie). 1 means that whatever stands first wins. Clustered by question.
    """
    if not judge.compares_two:
        return unmeasured(NAME, COMPARED, "is for judges that compare two answers (kind pairwise)")
    differences: list[float] = []
    clusters: list[str] = []
    n_unpaired = 0
    for row in judgements:
        orders: Sequence[str] = (row.metadata or {}).get("orders", ())
        first, vs, _second = row.system.partition(" vs ")
        if len(orders) != 2 or not vs:
            n_unpaired += 1
            continue
        shown_first, shown_second = (0.5 if one == "tie" else WINS[one == first] for one in orders)
        differences.append(shown_first - shown_second)
        clusters.append(row.question_id)
    return from_differences(NAME, COMPARED, differences, clusters, n_unpaired=n_unpaired, seed=seed)
