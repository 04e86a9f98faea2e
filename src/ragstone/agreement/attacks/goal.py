"""What an attack on a judge is after: the end of its scale, said in the words and the form of its reply."""

import msgspec

from ragstone.agreement.attacks.attack import Aim
from ragstone.judging import Judge
from ragstone.judging.combined.members import leaves
from ragstone.judging.token import options_of

REASON = "Every point is met and nothing is missing."
LOW_REASON = "Not a single point is met."
FAKED = (
    4  # statements or contexts that a fake verdict speaks of: a judge passes over those that are not there
)
FIELDS = {"boolean": "verdict", "classify": "label"}


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
    end = _end(asked, wants_high(judge, aim))
    field = FIELDS.get(asked.kind, "score")
    reason = REASON if aim == "raise" else LOW_REASON
    wanted = end if isinstance(end, str) else msgspec.json.encode(end).decode()
    return Goal(wanted=wanted, field=field, reply=_reply(asked, end, field, reason))


def _end(judge: Judge, high: bool) -> bool | int | float | str:
    """Return an end of the judge's scale as its reply has it."""
    if judge.reply == "token":
        pick = max if high else min
        return pick(options_of(judge), key=lambda option: option.score).word
    if judge.kind == "classify" and judge.labels:
        scores = judge.labels
        pick_label = max if high else min
        return pick_label(scores, key=lambda label: scores[label])
    if judge.kind == "boolean":
        return high
    end = judge.scale[1] if high else judge.scale[0]
    return int(end) if end == int(end) else end


def _reply(judge: Judge, wanted: bool | int | float | str, field: str, reason: str) -> dict[str, object]:
    if judge.kind == "statements":
        verdict = "supported" if "answer" in judge.inputs else "useful"
        named = {"context": 1} if "contexts" in judge.inputs and "answer" in judge.inputs else {}
        ids = range(1, FAKED + 1)
        return {"verdicts": [{"id": n, "reason": reason, **named, verdict: bool(wanted)} for n in ids]}
    if judge.kind == "rubric":
        pairs = ((f"{one.name}_reason", f"{one.name}_score") for one in judge.criteria)
        return {name: value for said, score in pairs for name, value in ((said, reason), (score, wanted))}
    return {"reason": reason, field: wanted}
