"""Verdicts that were set -> those that a person is shown, one of each attack before a second of any."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from ragstone.agreement.attacks.attack import Place
from ragstone.agreement.attacks.planting import Planted
from ragstone.agreement.attacks.rates import Attempt
from ragstone.records import Answer, Judgement

MOST_SHOWN = 40
# No picture for the eye, or one that changes how the words around it are read: shown by their numbers.
UNSEEN = ("Cf", "Cc", "Cs", "Co", "Cn", "Zl", "Zp")


class Flip(msgspec.Struct, frozen=True, kw_only=True):
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


def flips_shown(
    attempts: Sequence[Attempt],
    rows: Sequence[Answer],
    planted: Sequence[Planted],
    plain: Sequence[Judgement],
    after: Sequence[Judgement],
) -> list[Flip]:
    """Return at most MOST_SHOWN flips.

    rows, plain: by number of the plain row; planted, after: by number of the attacked one.
    """
    flipped = [one for one in attempts if one.flipped]
    seen: Counter[str] = Counter()
    turns = []
    for one in flipped:
        turns.append(seen[one.attack])
        seen[one.attack] += 1
    order = sorted(range(len(flipped)), key=lambda at: turns[at])[:MOST_SHOWN]
    return [
        _flip(one, rows[one.at], planted[one.planted].answer, plain[one.at], after[one.planted])
        for one in (flipped[at] for at in order)
    ]


def _flip(one: Attempt, row: Answer, attacked: Answer, before: Judgement, after: Judgement) -> Flip:
    return Flip(
        attack=one.attack,
        place=one.place,
        question_id=one.question_id,
        question=row.question,
        plain=_part(row, one.place),
        attacked=_part(attacked, one.place),
        before=before.score or 0.0,
        after=after.score or 0.0,
        reason_before=before.rationale,
        reason_after=after.rationale,
    )


def _part(row: Answer, place: Place) -> str:
    """Return the part of a row that an attack at this place changes."""
    if place == "context":
        return "\n\n".join(context.text for context in row.contexts or ())
    return (row.question or "") if place == "question" else row.answer
