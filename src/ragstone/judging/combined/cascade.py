"""Kind `cascade`: a cheap judge first, a dearer one only for the answers that it is unsure about."""

from ragstone.judging.combined.members import (
    Heard,
    NoModel,
    any_answered,
    hear,
    lost,
    member_name,
    members_of,
    placed_score,
    with_members,
)
from ragstone.judging.finding import Finding, Means
from ragstone.judging.judge import Judge
from ragstone.records import Answer, Status

# A judge that has nothing to say hands the answer on. One that could not be asked does not: while its
# endpoint is down, or its calls wait for their batch, no row is sent to the dear judge for that.
NOTHING_SAID: tuple[Status, ...] = ("not_applicable", "abstained", "refused", "unparsable")
ASSUMPTION = (
    "A cascade is counted as if a judge in it that asks a model handed every row on: it may take fewer calls."
)


async def judge_by_cascade(judge: Judge, answer: Answer, _inputs: dict[str, str], means: Means) -> Finding:
    """Return the score of the first member that is sure, on the cascade's scale.

    A score within `unsure`, ends included, is handed on to the next member, and so is an answer that the
    member cannot judge; the last one decides whatever it says. `metadata` holds what each member that was
    asked said, `decided_by`, the one whose score it is (None without a score), and who was `not_asked`.
    A member whose model cannot be had has failed where that of an earlier one answered; else NoModel is
    raised.
    """
    heard: list[Heard] = []
    members = members_of(judge)
    for inner, member in members:
        try:
            heard.append(await hear(inner, member, answer, means))
        except NoModel as failure:
            if not any_answered(heard):
                raise
            heard.append(lost(inner, member, answer, means, failure))
        if not _handed_on(heard[-1]):
            break
    last = heard[-1]
    score = placed_score(last, judge.scale)
    finding = Finding(
        score=score,
        status=last.judgement.status,
        label=last.judgement.label,
        rationale=last.judgement.rationale,
        verdicts=last.judgement.verdicts,
        error=last.judgement.error,
        metadata={
            "decided_by": None if score is None else last.name,
            "not_asked": [member_name(*one) for one in members[len(heard) :]],
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
