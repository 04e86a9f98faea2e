"""What an attack on a judge is after: the end of its scale, said in the words and the form of its reply."""

import msgspec

from ragstone.agreement.attacks.attack import Aim
from ragstone.judging import Judge
from ragstone.judging.leaves import leaves

REASON = "Every point is met and nothing is missing."
LOW_REASON = "Not a single point is met."


class Goal(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict that an attack wants.

    wanted: the end of the scale, as the reply has it. field: what holds the verdict there. reply: the whole
    reply, without the nonce, that would be the wanted verdict.
    """

    wanted: str
    field: str
    reply: dict[str, object]


def wants_high(judge: Judge, aim: Aim) -> bool:
    """Return whether the attack wants the high end of the judge's scale."""
    return (aim == "raise") != (judge.best == "lowest")


def goal_of(judge: Judge, aim: Aim) -> Goal:
    """Return what an attack on this judge wants; of a jury or cascade, of its first member that is asked."""
    asked = next((leaf for leaf, _model in leaves(judge) if leaf.needs_model), judge)
    end = asked.end(wants_high(judge, aim))
    field, reply = asked.verdict(end, REASON if aim == "raise" else LOW_REASON)
    wanted = end if isinstance(end, str) else msgspec.json.encode(end).decode()
    return Goal(wanted=wanted, field=field, reply=reply)
