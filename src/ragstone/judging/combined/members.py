"""Kinds that are made of other judges: their members, and what each of them says of an answer."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from ragstone.errors import ModelError
from ragstone.judging.fields import JudgeFields, Member
from ragstone.judging.finding import Finding, JudgeContext, add_costs
from ragstone.judging.judging import failed_judgements, judge_answer
from ragstone.judging.leaves import model_name
from ragstone.judging.tuned import TUNED
from ragstone.llm.limits import CallsStopped
from ragstone.records import NO_MODEL, Answer, Judgement

DIGITS = (
    9  # scores that are mapped from one scale to another are rounded to so many, so that equals stay equal
)
THEIR_OWN = (
    "temperature, samples and reply are its members' own: write them there, e.g. judge = 'answered@token'."
)


class CombinedJudge(JudgeFields, frozen=True, kw_only=True):
    """The keys of the kinds that are made of other judges."""

    members: list[Member] = []

    not_mine: ClassVar[Mapping[str, str]] = dict.fromkeys(("temperature", "samples", "reply"), THEIR_OWN)

    @property
    def needs_model(self) -> bool:
        """Whether a language model is asked by a member."""
        return any(member.inner.needs_model for member in self.members)

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if len(self.members) < 2:
            yield "members", f"a {self.kind} needs at least two entries [[members]]."

    def problem_of_member(self, member: Member, inner: JudgeFields) -> str | None:
        """Return why a judge cannot be this member, or None."""
        low, high = inner.scale
        if inner.compares_two:
            return "compares two answers, and the others judge one. Take it out."
        if member.model and not inner.members and not inner.needs_model:
            return f"asks no model: take out model = {member.model!r}."
        if member.cut is not None and not low < member.cut <= high:
            return f"has cut = {member.cut:g}: give a score above {low:g}, up to {high:g}."
        return None


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What one member said of an answer; name: see member_name."""

    name: str
    member: Member
    judgement: Judgement


class NoModel(ModelError):
    """A member's model cannot be had, whatever it is asked."""


async def hear(member: Member, answer: Answer, means: JudgeContext) -> Heard:
    """Return a member's judgement of the answer; a failed call is a status in it.

    Raises NoModel, naming the member and its model, where no call to that can succeed.
    """
    inner, own, name = member.inner, _means_of(member, means), member_name(member)
    try:
        whole, *_parts = await judge_answer(inner, answer, own)
    except (CallsStopped, NoModel):
        raise
    except ModelError as failure:
        told = name if member.model or not inner.needs_model else f"{name} by {model_name(inner, own.model)}"
        raise NoModel(f"member {told}: {failure}") from None
    return Heard(name=name, member=member, judgement=whole)


def lost(member: Member, answer: Answer, means: JudgeContext, failure: NoModel) -> Heard:
    """Return a member whose model cannot be had as one that failed: status `error`."""
    own = _means_of(member, means)
    whole, *_parts = failed_judgements(member.inner, answer, own, "error", str(failure))
    return Heard(name=member_name(member), member=member, judgement=whole)


def any_answered(heard: Iterable[Heard]) -> bool:
    """Return whether a model has been asked and is there: a call that failed says so too."""
    return any(one.member.inner.needs_model and one.judgement.status != "not_applicable" for one in heard)


def member_name(member: Member) -> str:
    """Return what a member is called in judgements: its judge, and its model if the file names one."""
    return f"{member.inner.name} by {member.model}" if member.model else member.inner.name


async def hear_all(members: Sequence[Member], answer: Answer, means: JudgeContext) -> list[Heard]:
    """Return every member's judgement, in their order; they are asked at the same time.

    A member whose model cannot be had has failed, as long as the model of another one is there. Raises
    NoModel where that of none is.
    """
    asked = (hear(member, answer, means) for member in members)
    said = await asyncio.gather(*asked, return_exceptions=True)  # the first failure leaves no orphan behind
    goes_on = any_answered(one for one in said if isinstance(one, Heard))
    heard = []
    for member, one in zip(members, said, strict=True):
        if isinstance(one, Heard):
            heard.append(one)
        elif isinstance(one, NoModel) and goes_on:
            heard.append(lost(member, answer, means, one))
        else:
            raise one
    return heard


def _means_of(member: Member, means: JudgeContext) -> JudgeContext:
    if member.model is None or not member.inner.needs_model:
        return means
    if member.model not in means.others:
        raise ValueError(
            f"member {member.judge!r} asks {member.model}: give it in JudgeContext(others={{...}})"
        )
    return msgspec.structs.replace(means, ask=means.others[member.model], model=member.model)


def placed_score(one: Heard, scale: tuple[float, float]) -> float | None:
    """Return the member's score on the scale of the whole, None if it gave none.

    With a cut it is the scale's highest score from the cut on, else its lowest; without, it is moved in
    proportion from the member's own scale.
    """
    score, (low, high) = one.judgement.score, scale
    if score is None:
        return None
    if one.member.cut is not None:
        return high if score >= one.member.cut else low
    own_low, own_high = one.member.inner.scale
    if (own_low, own_high) == scale:
        return score
    return round(low + (score - own_low) / (own_high - own_low) * (high - low), DIGITS)


def with_members(finding: Finding, heard: Sequence[Heard]) -> Finding:
    """Return the finding with what its members said in `metadata.members`, and what they took together."""
    paid = [one.judgement for one in heard if one.judgement.usage is not None]
    spent = add_costs(paid)
    tuned = TUNED if any((one.judgement.metadata or {}).get("tuned") for one in heard) else {}
    return msgspec.structs.replace(
        finding,
        usage=spent.usage if paid else None,
        cost_usd=spent.cost_usd if paid else None,
        metadata={**tuned, **(finding.metadata or {}), "members": [_told(one) for one in heard]},
    )


SHOWN = ("model", "status", "score", "scale", "label", "rationale", "error", "usage", "cost_usd")


def _told(one: Heard) -> dict[str, Any]:
    """Return a member's judgement as plain values, without what the whole says already."""
    row = msgspec.to_builtins(one.judgement)
    told = {"judge": one.name} | {name: row[name] for name in SHOWN if row.get(name) is not None}
    told |= {"scale": list(row["scale"])}  # as it is read from a file
    if told["model"] == NO_MODEL:
        del told["model"]
    inner = (one.judgement.metadata or {}).get("members")
    return told | ({"members": inner} if inner else {})
