"""answers -> judgements: one judge, one answer, one row, whatever happens."""

from ragstone.judging.finding import Finding, Means
from ragstone.judging.judge import Judge
from ragstone.judging.kinds import KINDS
from ragstone.judging.render import gather_inputs
from ragstone.llm import DEADLINE, CallFailed
from ragstone.records import Answer, Judgement, Status

# What the error of an answer begins with -> the status of its judgements, where the run cut the answer off.
CUT_OFF: dict[str, Status] = {"over_budget:": "over_budget", f"timeout: {DEADLINE}": "timeout"}


async def judge_answer(judge: Judge, answer: Answer, means: Means) -> Judgement:
    """Return the judgement of one answer. Its status says what became of it; a failure is never a score.

    A row in which the system failed is `app_error` (`over_budget` or `timeout` where the budget or the
    deadline of the run kept it from being asked); one that lacks an input is `not_applicable`.
    """
    if answer.error is not None:
        cut_off = [status for start, status in CUT_OFF.items() if answer.error.startswith(start)]
        status = cut_off[0] if cut_off else "app_error"
        return failed_judgement(judge, answer, means, status, answer.error)
    inputs = gather_inputs(judge, answer)
    if isinstance(inputs, str):
        missing = Finding(score=None, status="not_applicable", rationale=f"the row has no {inputs}")
        return _judgement(judge, answer, means, missing)
    try:
        finding = await KINDS[judge.kind](judge, answer, inputs, means)
    except CallFailed as failure:
        failed = Finding(score=None, status=failure.status, usage=failure.usage)
        return _judgement(judge, answer, means, failed, error=str(failure), raw=failure.raw)
    return _judgement(judge, answer, means, finding)


def failed_judgement(judge: Judge, answer: Answer, means: Means, status: Status, error: str) -> Judgement:
    """Return the judgement of a row that an unforeseen error kept from being judged."""
    return _judgement(judge, answer, means, Finding(score=None, status=status), error=error)


def _judgement(
    judge: Judge,
    answer: Answer,
    means: Means,
    finding: Finding,
    *,
    error: str | None = None,
    raw: str | None = None,
) -> Judgement:
    return Judgement(
        question_id=answer.question_id,
        system=answer.system,
        judge=judge.name,
        metric=judge.metric or judge.name,
        status=finding.status,
        model=means.model if judge.needs_model else "none",
        prompt_version=judge.version,
        score=finding.score,
        scale=judge.scale,
        label=finding.label,
        rationale=finding.rationale,
        verdicts=finding.verdicts,
        usage=finding.usage,
        cost_usd=finding.cost_usd,
        error=error,
        metadata={"raw": raw} if raw else None,
    )
