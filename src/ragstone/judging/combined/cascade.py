"""Kind `cascade`: a cheap judge first, a dearer one only for the answers that it is unsure about."""

from collections.abc import Iterator
from typing import ClassVar

from ragstone.judging.combined.members import (
    CombinedJudge,
    Heard,
    NoModel,
    any_answered,
    hear,
    lost,
    member_name,
    placed_score,
    with_members,
)
from ragstone.judging.fields import JudgeFields, Member
from ragstone.judging.finding import Finding, JudgeContext
from ragstone.records import Answer, Status

# A judge that has nothing to say hands the answer on. One that could not be asked does not: while its
# endpoint is down, or its calls wait for their batch, no row is sent to the dear judge for that.
NOTHING_SAID: tuple[Status, ...] = ("not_applicable", "abstained", "refused", "unparsable")
ASSUMPTION = (
    "A cascade is counted as if a judge in it that asks a model handed every row on: it may take fewer calls."
)


class CascadeJudge(CombinedJudge, frozen=True, kw_only=True, tag="cascade"):
    """A judge whose members are asked one after the other, until one is sure."""

    assumption: ClassVar[str | None] = ASSUMPTION

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        yield from super()._own_problems()
        *firsts, last = self.members
        if last.unsure:
            yield (
                "members",
                f"the last member, {last.judge!r}, has nobody to hand an answer on to. Take out its unsure.",
            )
        lacking = [member.judge for member in firsts if not member.unsure]
        if lacking:
            yield (
                "members",
                f"member {lacking[0]!r} needs unsure = [from, to]: the scores with which it hands an "
                "answer on.",
            )

    def problem_of_member(self, member: Member, inner: JudgeFields) -> str | None:
        """Return why a judge cannot be this member, or None."""
        (low, high), (own_low, own_high) = inner.scale, self.scale
        problem = super().problem_of_member(member, inner)
        if problem:
            return problem
        if member.unsure and not low <= member.unsure[0] <= member.unsure[1] <= high:
            return (
                f"has an unsure that is no part of its scale, {low:g} to {high:g}: "
                "give the lower score first."
            )
        if member.cut is None and inner.scale != self.scale:
            return (
                f"scores from {low:g} to {high:g}, the cascade from {own_low:g} to {own_high:g}: "
                "give it a cut, the score from which on it says yes."
            )
        return None

    async def find(self, answer: Answer, _inputs: dict[str, str], means: JudgeContext) -> Finding:
        """Return the score of the first member that is sure, on the cascade's scale.

        A score within `unsure`, ends included, is handed on to the next member, and so is an answer that the
        member cannot judge; the last one decides whatever it says. `metadata` holds what each member that was
        asked said, `decided_by`, the one whose score it is (None without a score), and who was `not_asked`.
        A member whose model cannot be had has failed where that of an earlier one answered; else NoModel is
        raised.
        """
        heard: list[Heard] = []
        for member in self.members:
            try:
                heard.append(await hear(member, answer, means))
            except NoModel as failure:
                if not any_answered(heard):
                    raise
                heard.append(lost(member, answer, means, failure))
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
                "not_asked": [member_name(one) for one in self.members[len(heard) :]],
            },
        )
        return with_members(finding, heard)


def _handed_on(one: Heard) -> bool:
    row, unsure = one.judgement, one.member.unsure
    if row.score is None:
        return row.status in NOTHING_SAID
    # A reply that took no call was made up for a forecast, which counts the calls there may be.
    made_up = row.usage is not None and not row.usage.calls
    return unsure is not None and (made_up or unsure[0] <= row.score <= unsure[1])
