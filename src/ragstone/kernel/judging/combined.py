"""Kinds made of other judges, `jury` and `cascade`: what each member says, and what becomes of it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any, ClassVar, Literal

import msgspec

from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging.fields import JudgeFields, Member
from ragstone.kernel.judging.finding import Finding, JudgeContext, add_costs
from ragstone.kernel.judging.judging import failed_judgements, judge_answer
from ragstone.kernel.judging.tuned import TUNED
from ragstone.kernel.llm import NoProbabilities
from ragstone.kernel.llm.limits import CallsStopped
from ragstone.kernel.records import NO_MODEL, Answer, Judgement, Status

DIGITS = (
    9  # scores that are mapped from one scale to another are rounded to so many, so that equals stay equal
)
THEIR_OWN = (
    "temperature, samples and reply belong to its members: set them there, e.g. judge = 'answered@token'."
)


class CombinedJudge(JudgeFields, frozen=True, kw_only=True):
    """The keys of the kinds that are made of other judges."""

    members: Sequence[Member] = []

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
            return "compares two answers, but the others judge one. Remove it."
        if member.model and not inner.members and not inner.needs_model:
            return f"calls no model: remove model = {member.model!r}."
        if member.cut is not None and not low < member.cut <= high:
            return f"has cut = {member.cut:g}: give a score above {low:g}, up to {high:g}."
        return None


class MemberVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What one member said of an answer; name: see member_name."""

    name: str
    member: Member
    judgement: Judgement


class NoModel(ModelError):
    """A member's model cannot be had, whatever it is asked.

    in_this_form: it is there, but gives no probabilities of tokens, which the member reads.
    """

    def __init__(self, message: str, *, in_this_form: bool = False) -> None:
        super().__init__(message)
        self.in_this_form = in_this_form


async def hear(member: Member, answer: Answer, context: JudgeContext) -> MemberVerdict:
    """Return a member's judgement of the answer; a failed call is a status in it.

    Raises NoModel, naming the member and its model, where no call to that can succeed.
    """
    inner, own, name = member.inner, _context_of(member, context), member_name(member)
    try:
        whole, *_parts = await judge_answer(inner, answer, own)
    except (CallsStopped, NoModel):
        raise
    except ModelError as failure:
        described = (
            name if member.model or not inner.needs_model else f"{name} by {inner.model_name(own.model)}"
        )
        in_this_form = isinstance(failure, NoProbabilities)
        raise NoModel(f"member {described}: {failure}", in_this_form=in_this_form) from None
    return MemberVerdict(name=name, member=member, judgement=whole)


def lost(member: Member, answer: Answer, context: JudgeContext, failure: NoModel) -> MemberVerdict:
    """Return a member whose model cannot be had as one that failed: status `error`.

    One that reads probabilities, where the model gives none, is `not_applicable`.
    """
    own = _context_of(member, context)
    status: Status = "not_applicable" if failure.in_this_form else "error"
    whole, *_parts = failed_judgements(member.inner, answer, own, status, str(failure))
    return MemberVerdict(name=member_name(member), member=member, judgement=whole)


def any_answered(heard: Iterable[MemberVerdict]) -> bool:
    """Return whether a model has been asked and is there: a call that failed says so too."""
    return any(
        verdict.member.inner.needs_model and verdict.judgement.status != "not_applicable" for verdict in heard
    )


def member_name(member: Member) -> str:
    """Return what a member is called in judgements: its judge, and its model if the file names one."""
    return f"{member.inner.name} by {member.model}" if member.model else member.inner.name


async def hear_all(members: Sequence[Member], answer: Answer, context: JudgeContext) -> list[MemberVerdict]:
    """Return every member's judgement, in their order; they are asked at the same time.

    A member whose model cannot be had has failed, as long as the model of another one is there. Raises
    NoModel where that of none is.
    """
    calls = (hear(member, answer, context) for member in members)
    outcomes = await asyncio.gather(
        *calls, return_exceptions=True
    )  # the first failure leaves no orphan behind
    goes_on = any_answered(outcome for outcome in outcomes if isinstance(outcome, MemberVerdict))
    heard = []
    for member, outcome in zip(members, outcomes, strict=True):
        if isinstance(outcome, MemberVerdict):
            heard.append(outcome)
        elif isinstance(outcome, NoModel) and goes_on:
            heard.append(lost(member, answer, context, outcome))
        else:
            raise outcome
    return heard


def _context_of(member: Member, context: JudgeContext) -> JudgeContext:
    if member.model is None or not member.inner.needs_model:
        return context
    if member.model not in context.others:
        raise ValueError(
            f"member {member.judge!r} asks {member.model}: give it in JudgeContext(others={{...}})"
        )
    return msgspec.structs.replace(context, ask=context.others[member.model], model=member.model)


def placed_score(verdict: MemberVerdict, scale: tuple[float, float]) -> float | None:
    """Return the member's score on the scale of the whole, None if it gave none.

    With a cut it is the scale's highest score from the cut on, else its lowest; without, it is moved in
    proportion from the member's own scale.
    """
    score, (low, high) = verdict.judgement.score, scale
    if score is None:
        return None
    if verdict.member.cut is not None:
        return high if score >= verdict.member.cut else low
    own_low, own_high = verdict.member.inner.scale
    if (own_low, own_high) == scale:
        return score
    return round(low + (score - own_low) / (own_high - own_low) * (high - low), DIGITS)


def with_members(finding: Finding, heard: Sequence[MemberVerdict]) -> Finding:
    """Return the finding with what its members said in `metadata.members`, and what they took together."""
    paid = [verdict.judgement for verdict in heard if verdict.judgement.usage is not None]
    spent = add_costs(paid)
    tuned = TUNED if any((verdict.judgement.metadata or {}).get("tuned") for verdict in heard) else {}
    return msgspec.structs.replace(
        finding,
        usage=spent.usage if paid else None,
        cost_usd=spent.cost_usd if paid else None,
        metadata={
            **tuned,
            **(finding.metadata or {}),
            "members": [_member_values(verdict) for verdict in heard],
        },
    )


SHOWN = ("model", "status", "score", "scale", "label", "rationale", "error", "usage", "cost_usd")


def _member_values(verdict: MemberVerdict) -> dict[str, Any]:
    """Return a member's judgement as plain values, without what the whole says already."""
    row = msgspec.to_builtins(verdict.judgement)
    values = {"judge": verdict.name} | {name: row[name] for name in SHOWN if row.get(name) is not None}
    values |= {"scale": list(row["scale"])}  # as it is read from a file
    if values["model"] == NO_MODEL:
        del values["model"]
    inner = (verdict.judgement.metadata or {}).get("members")
    return values | ({"members": inner} if inner else {})


def majority(scores: Sequence[float]) -> float | None:
    """Return the score that was given most often, None if two were given equally often."""
    (first, n_first), *others = Counter(scores).most_common(2)
    return None if others and others[0][1] == n_first else first


COMBINED: dict[str, Callable[[Sequence[float]], float | None]] = {
    "mean": lambda scores: round(fmean(scores), DIGITS),
    "median": median,
    "majority": majority,
}


class JuryJudge(CombinedJudge, frozen=True, kw_only=True, tag="jury"):
    """A judge whose members all judge.

    combine: how their scores become one.
    """

    combine: Literal["mean", "median", "majority"] = "mean"

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        yield from super()._own_problems()
        if any(member.unsure for member in self.members):
            yield "members", "unsure is for a cascade: the members of a jury all judge. Remove it."

    async def find(self, answer: Answer, _inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return the mean, median or most frequent of the members' scores, each put on the jury's scale.

        `metadata` holds what each member said, and `spread`, the highest score minus the lowest. The jury
        goes on without a member that gave no score as long as more than half of them did, and says so; else
        its status is that of the first one that failed. A tie between the most frequent scores is
        `abstained`.
        """
        heard = await hear_all(self.members, answer, context)
        placed = [(verdict, placed_score(verdict, self.scale)) for verdict in heard]
        scored = [(verdict, score) for verdict, score in placed if score is not None]
        silent = [verdict for verdict, score in placed if score is None]
        if len(scored) * 2 <= len(heard):
            return with_members(_failed(silent, len(scored), len(heard)), heard)
        scores = [score for _, score in scored]
        score = COMBINED[self.combine](scores)
        lines = [f"{verdict.name}: {score:g}" for verdict, score in scored] + [
            _silence(verdict) for verdict in silent
        ]
        what = f"{self.combine} of {len(scored)} scores" + (f", of {len(heard)} members" if silent else "")
        metadata = {"spread": round(max(scores) - min(scores), DIGITS)}
        if score is None:
            counts = ", ".join(f"{value:g} {n} times" for value, n in Counter(scores).most_common())
            finding = Finding(
                score=None,
                status="abstained",
                rationale=f"no majority: {counts}. {'; '.join(lines)}",
                metadata=metadata,
            )
        else:
            labels = {verdict.judgement.label for verdict, own in scored if own == score}
            finding = Finding(
                score=score,
                label=labels.pop() if self.combine == "majority" and len(labels) == 1 else None,
                rationale=f"{what}: {'; '.join(lines)}",
                metadata=metadata,
            )
        return with_members(finding, heard)


def _failed(silent: Sequence[MemberVerdict], n_scored: int, n_members: int) -> Finding:
    why = "; ".join(_silence(verdict) for verdict in silent)
    first = silent[0].judgement
    return Finding(
        score=None,
        status=first.status,
        rationale=f"{n_scored} of {n_members} members gave a score, which is not more than half. {why}",
        error=first.error,
    )


def _silence(verdict: MemberVerdict) -> str:
    row = verdict.judgement
    return f"{verdict.name}: {row.status} ({row.error or row.rationale})"


# A judge that has nothing to say hands the answer on. One that could not be asked does not: while its
# endpoint is down, or its calls wait for their batch, no row is sent to the dear judge for that.
NOTHING_SAID: tuple[Status, ...] = ("not_applicable", "abstained", "refused", "unparsable")
ASSUMPTION = (
    "A cascade is counted as if each of its judges that asks a model passed on every row: it may take fewer "
    "calls."
)


class CascadeJudge(CombinedJudge, frozen=True, kw_only=True, tag="cascade"):
    """A judge whose members are asked one after the other, until one is sure."""

    assumption: ClassVar[str | None] = ASSUMPTION

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        yield from super()._own_problems()
        last = self.members[-1]
        if last.unsure:
            yield (
                "members",
                f"the last member, {last.judge!r}, has no judge to pass an answer on to. Remove its unsure.",
            )

    def problem_of_member(self, member: Member, inner: JudgeFields) -> str | None:
        """Return why a judge cannot be this member, or None."""
        (low, high), (own_low, own_high) = inner.scale, self.scale
        problem = super().problem_of_member(member, inner)
        if problem:
            return problem
        is_last = member is self.members[-1]
        if not (member.unsure or is_last or inner.reads_probabilities):
            return "needs unsure = [from, to]: the scores at which it passes an answer on."
        if member.unsure and not low <= member.unsure[0] <= member.unsure[1] <= high:
            return (
                f"has an unsure that is not part of its scale, {low:g} to {high:g}: give the lower score "
                "first."
            )
        if member.cut is None and inner.scale != self.scale:
            return (
                f"scores from {low:g} to {high:g}, the cascade from {own_low:g} to {own_high:g}: give it a "
                "cut, the lowest score that means yes."
            )
        return None

    async def find(self, answer: Answer, _inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return the score of the first member that is sure, on the cascade's scale.

        A score within `unsure`, ends included, is handed on to the next member, and so is an answer that the
        member cannot judge; the last one decides whatever it says. `metadata` holds what each member that was
        asked said, `decided_by`, the one whose score it is (None without a score), and who was `not_asked`.
        A member whose model cannot be had has failed where that of an earlier one answered; else NoModel is
        raised. One that reads probabilities, where the model gives none, hands on too.
        """
        heard: list[MemberVerdict] = []
        for member in self.members:
            try:
                heard.append(await hear(member, answer, context))
            except NoModel as failure:
                goes_on = failure.in_this_form and member is not self.members[-1]
                if not (goes_on or any_answered(heard)):
                    raise
                heard.append(lost(member, answer, context, failure))
            if not _handed_on(heard[-1]):
                break
        last = heard[-1]
        score = placed_score(last, self.scale)
        finding = Finding(
            score=score,
            status=last.judgement.status,
            label=last.judgement.label,
            rationale=last.judgement.rationale,
            verdicts=last.judgement.verdicts,
            error=last.judgement.error,
            metadata={
                "decided_by": None if score is None else last.name,
                "not_asked": [member_name(member) for member in self.members[len(heard) :]],
            },
        )
        return with_members(finding, heard)


def _handed_on(verdict: MemberVerdict) -> bool:
    row, unsure = verdict.judgement, verdict.member.unsure
    if row.score is None:
        return row.status in NOTHING_SAID
    # A reply that took no call was made up for a forecast, which counts the calls there may be.
    made_up = row.usage is not None and not row.usage.calls
    return unsure is not None and (made_up or unsure[0] <= row.score <= unsure[1])
