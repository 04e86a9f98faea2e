"""answers -> judgements: one judge, one answer, one row for each metric, whatever happens."""

from ragstone.kernel.judging._applicability import unfit
from ragstone.kernel.judging.conversation import reply_notes
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.judging.finding import (
    CriterionOutcome,
    Finding,
    FindingOf,
    JudgeContext,
    lacks,
    renewing,
)
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.tuned import TUNED
from ragstone.kernel.llm import DEADLINE, CallFailed
from ragstone.kernel.records import Answer, Judgement, Metadata, Status

# What the error of an answer begins with -> the status of its judgements, where the run cut the answer off.
CUT_OFF: dict[str, Status] = {"over_budget:": "over_budget", f"timeout: {DEADLINE}": "timeout"}


async def judge_answer(
    judge: JudgeFields, answer: Answer, context: JudgeContext, *, find: FindingOf | None = None
) -> list[Judgement]:
    """Return the judgements of one answer, one for each of the judge's metrics, the score's first.

    Their status says what became of it; a failure is never a score. A row in which the system failed is
    `app_error` (`over_budget` or `timeout` where the budget or the deadline of the run kept it from being
    asked); one that lacks an input, or that the metric is not for (see applicability), is `not_applicable`.
    find: comes to the finding on the inputs, in place of the judge's own way.
    """
    find = find or judge.find
    if answer.error is not None:
        cut_off = [status for start, status in CUT_OFF.items() if answer.error.startswith(start)]
        status = cut_off[0] if cut_off else "app_error"
        return failed_judgements(judge, answer, context, status, answer.error)
    inputs = gather_inputs(judge, answer) if judge.reads_texts else {}
    if isinstance(inputs, str):
        missing = Finding(score=None, status="not_applicable", rationale=lacks(inputs))
        return judgements_of(judge, answer, context, missing)
    beside = unfit(judge.measures, judge.inputs, answer) if judge.kind != "function" else None
    if beside is not None:
        return judgements_of(judge, answer, context, judge.settled(beside))
    try:
        try:
            finding = await find(answer, inputs, context)
        except CallFailed as failure:
            if not failure.kept:
                raise
            # Replies of an earlier command that make no finding are asked for anew.
            finding = await find(answer, inputs, renewing(context))
    except CallFailed as failure:
        failed = Finding(
            score=None,
            status=failure.status,
            usage=failure.usage,
            metadata={"raw": failure.raw} if failure.raw else None,
        )
        return judgements_of(judge, answer, context, failed, error=str(failure))
    return judgements_of(judge, answer, context, finding)


def failed_judgements(
    judge: JudgeFields, answer: Answer, context: JudgeContext, status: Status, error: str
) -> list[Judgement]:
    """Return the judgements of a row that an unforeseen error kept from being judged."""
    return judgements_of(judge, answer, context, Finding(score=None, status=status), error=error)


def judgements_of(
    judge: JudgeFields, answer: Answer, context: JudgeContext, finding: Finding, *, error: str | None = None
) -> list[Judgement]:
    """Return the rows of a finding, one for each of the judge's metrics.

    Tokens and cost stand in the first alone, so that sums over rows are right.
    """
    metadata: Metadata = (TUNED if judge.is_tuned_on(answer) else {}) | reply_notes(answer)
    whole = Judgement(
        question_id=answer.question_id,
        system=answer.system,
        judge=judge.name,
        metric=judge.measures,
        status=finding.status,
        model=judge.model_name(context.model),
        prompt_version=judge.prompt_version,
        score=finding.score,
        scale=judge.scale,
        label=finding.label,
        rationale=finding.rationale,
        verdicts=finding.verdicts,
        usage=finding.usage,
        cost_usd=finding.cost_usd,
        error=error or finding.error,
        metadata=metadata | (finding.metadata or {}) or None,
    )
    parts = {part.metric: part for part in finding.parts}
    return [whole, *(_part(whole, metric, parts.get(metric), metadata) for metric in judge.metrics[1:])]


def _part(whole: Judgement, metric: str, part: CriterionOutcome | None, metadata: Metadata) -> Judgement:
    """Return the row of one part. Without it, it shares the fate of the whole, but for the score."""
    status = "not_applicable" if part is None and whole.status == "scored" else whole.status
    return Judgement(
        question_id=whole.question_id,
        system=whole.system,
        judge=whole.judge,
        metric=metric,
        status=status,
        model=whole.model,
        prompt_version=whole.prompt_version,
        score=part.score if part else None,
        scale=whole.scale,
        rationale=part.rationale if part else whole.rationale,
        error=whole.error,
        metadata=metadata or None,
    )
