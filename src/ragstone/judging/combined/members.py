"""Judges within a judge: the members of juries and cascades, the models that they ask, and what each says."""

import asyncio
import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from ragstone.errors import ConfigError, ModelError
from ragstone.judging.finding import Finding, Means
from ragstone.judging.judge import Judge, Member
from ragstone.judging.tuned import TUNED
from ragstone.llm.limits import CallsStopped
from ragstone.records import NO_MODEL, Answer, Judgement, Usage

FILE = re.compile(r"(.*\.toml)(@.*)?", re.DOTALL)
DIGITS = (
    9  # scores that are mapped from one scale to another are rounded to so many, so that equals stay equal
)


def members_of(judge: Judge) -> list[tuple[Judge, Member]]:
    """Return the members of a jury or a cascade in their order; none of another judge. Raises ConfigError."""
    return [(_loaded(member.judge, _stamp(member.judge)), member) for member in judge.members]


def models_of(judge: Judge) -> set[str]:
    """Return the models that the judge's members name, at any depth. Raises ConfigError."""
    return {model for leaf, model in leaves(judge) if model and leaf.needs_model}


def leaves(judge: Judge, model: str | None = None) -> Iterator[tuple[Judge, str | None]]:
    """Yield the judges that do the judging and the model named for each, None for that of the whole."""
    if not judge.members:
        yield judge, model
    for inner, member in members_of(judge):
        yield from leaves(inner, member.model or model)


def identities(judges: Iterable[Judge]) -> Iterator[Judge]:
    """Yield the judges and, after each, its members at any depth; members are named, wherever files lie.

    Together they are all that decides a judgement: the same on any machine, and another if a member changes.
    """
    for judge in judges:
        inner = members_of(judge)
        named = [msgspec.structs.replace(member, judge=one.name) for one, member in inner]
        yield msgspec.structs.replace(judge, members=named) if named else judge
        yield from identities(one for one, _member in inner)


def asks_default(judge: Judge) -> bool:
    """Return whether the judge asks a model that its file does not name."""
    return any(leaf.needs_model and model is None for leaf, model in leaves(judge))


def model_name(judge: Judge, default: str) -> str:
    """Return what a judgement gives as its model: all that may be asked, joined by ` + `, or `none`.

    It is the same for every row, also for those that a cascade decided without its dear judge.
    """
    asked = dict.fromkeys(model or default for leaf, model in leaves(judge) if leaf.needs_model)
    return " + ".join(asked) or NO_MODEL


def check_members(judge: Judge, name: str | Path, above: tuple[str, ...] = ()) -> None:
    """Raise ConfigError, naming the file, for members that cannot be loaded or do not fit the whole.

    above: the judges that this one is a member of, the outermost first.
    """
    from ragstone.judging.variant import read_variant  # which checks what it reads by this function

    trail = (*above, placed_name(str(name)))
    for member in judge.members:
        if placed_name(member.judge) in trail:
            chain = " > ".join((*trail, placed_name(member.judge)))
            raise ConfigError(
                f"{name}: a judge cannot be a member of itself: {chain}. Take out the last one."
            )
        try:
            inner = read_variant(member.judge)
        except ConfigError as mistake:
            raise ConfigError(f"{name}: member {member.judge!r} cannot be loaded. {mistake}") from None
        problem = _problem_of(judge, inner, member)
        if problem:
            raise ConfigError(f"{name}: member {member.judge!r} {problem}")
        check_members(inner, member.judge, trail)


def _problem_of(judge: Judge, inner: Judge, member: Member) -> str | None:
    """Return why a judge cannot be this member, or None."""
    low, high = inner.scale
    if inner.kind == "pairwise":
        return "compares two answers, and the others judge one. Take it out."
    if member.model and not inner.members and not inner.needs_model:
        return f"asks no model: take out model = {member.model!r}."
    if member.cut is not None and not low < member.cut <= high:
        return f"has cut = {member.cut:g}: give a score above {low:g}, up to {high:g}."
    if member.unsure and not low <= member.unsure[0] <= member.unsure[1] <= high:
        return f"has an unsure that is no part of its scale, {low:g} to {high:g}: give the lower score first."
    if judge.kind == "cascade" and member.cut is None and inner.scale != judge.scale:
        return (
            f"scores from {low:g} to {high:g}, the cascade from {judge.scale[0]:g} to {judge.scale[1]:g}: "
            "give it a cut, the score from which on it says yes."
        )
    return None


def placed_name(name: str) -> str:
    """Return one name for a file, however its path is written; other names as they are."""
    found = FILE.fullmatch(name)
    return f"{Path(found[1]).expanduser().resolve()}{found[2] or ''}" if found else name


def _stamp(name: str) -> tuple[int, int] | None:
    """Return when a judge's file was last changed, so that a changed one is read anew."""
    found = FILE.fullmatch(name)
    path = Path(found[1]).expanduser() if found else None
    if path is None or not path.is_file():
        return None
    return path.stat().st_mtime_ns, path.stat().st_size


@functools.lru_cache(maxsize=256)  # a jury's members are asked for with every row
def _loaded(name: str, _stamp: tuple[int, int] | None) -> Judge:
    from ragstone.judging.variant import load_judge

    return load_judge(name)


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """What one member said of an answer; name: see member_name."""

    name: str
    judge: Judge
    member: Member
    judgement: Judgement


async def hear(inner: Judge, member: Member, answer: Answer, means: Means) -> Heard:
    """Return a member's judgement of the answer; a failed call is a status in it.

    Raises NoModel, naming the member and its model, where no call to that can succeed.
    """
    from ragstone.judging.judging import judge_answer  # which knows the kinds, juries among them

    own, name = _means_of(inner, member, means), member_name(inner, member)
    try:
        whole, *_parts = await judge_answer(inner, answer, own)
    except (CallsStopped, NoModel):
        raise
    except ModelError as failure:
        told = name if member.model or not inner.needs_model else f"{name} by {model_name(inner, own.model)}"
        raise NoModel(f"member {told}: {failure}") from None
    return Heard(name=name, judge=inner, member=member, judgement=whole)


class NoModel(ModelError):
    """A member's model cannot be had, whatever it is asked."""


def lost(inner: Judge, member: Member, answer: Answer, means: Means, failure: NoModel) -> Heard:
    """Return a member whose model cannot be had as one that failed: status `error`."""
    from ragstone.judging.judging import failed_judgements

    own = _means_of(inner, member, means)
    whole, *_parts = failed_judgements(inner, answer, own, "error", str(failure))
    return Heard(name=member_name(inner, member), judge=inner, member=member, judgement=whole)


def any_answered(heard: Iterable[Heard]) -> bool:
    """Return whether a model has been asked and is there: a call that failed says so too."""
    return any(one.judge.needs_model and one.judgement.status != "not_applicable" for one in heard)


def member_name(inner: Judge, member: Member) -> str:
    """Return what a member is called in judgements: its judge, and its model if the file names one."""
    return f"{inner.name} by {member.model}" if member.model else inner.name


async def hear_all(judge: Judge, answer: Answer, means: Means) -> list[Heard]:
    """Return every member's judgement, in their order; they are asked at the same time.

    A member whose model cannot be had has failed, as long as the model of another one is there. Raises
    NoModel where that of none is.
    """
    members = members_of(judge)
    asked = (hear(inner, member, answer, means) for inner, member in members)
    said = await asyncio.gather(*asked, return_exceptions=True)  # the first failure leaves no orphan behind
    goes_on = any_answered(one for one in said if isinstance(one, Heard))
    heard = []
    for (inner, member), one in zip(members, said, strict=True):
        if isinstance(one, Heard):
            heard.append(one)
        elif isinstance(one, NoModel) and goes_on:
            heard.append(lost(inner, member, answer, means, one))
        else:
            raise one
    return heard


def _means_of(inner: Judge, member: Member, means: Means) -> Means:
    if member.model is None or not inner.needs_model:
        return means
    if member.model not in means.others:
        raise ValueError(f"member {member.judge!r} asks {member.model}: give it in Means(others={{...}})")
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
    if one.judge.scale == scale:
        return score
    own_low, own_high = one.judge.scale
    return round(low + (score - own_low) / (own_high - own_low) * (high - low), DIGITS)


def with_members(finding: Finding, heard: Sequence[Heard]) -> Finding:
    """Return the finding with what its members said in `metadata.members`, and what they took together."""
    paid = [one.judgement for one in heard if one.judgement.usage is not None]
    costs = [row.cost_usd for row in paid if row.cost_usd is not None]
    tuned = TUNED if any((one.judgement.metadata or {}).get("tuned") for one in heard) else {}
    return msgspec.structs.replace(
        finding,
        usage=sum((row.usage for row in paid if row.usage), Usage(calls=0)) if paid else None,
        cost_usd=sum(costs) if paid and len(costs) == len(paid) else None,
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
