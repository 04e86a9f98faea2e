"""A judge asked several times at a temperature above 0: the mean, and how often each outcome came."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from ragstone.kernel.judging.finding import CriterionOutcome, Finding, JudgeContext, add_costs
from ragstone.kernel.llm import Ask, CallFailed
from ragstone.kernel.records import Usage

Draw = Callable[[int], Awaitable[Finding]]
"""Comes to a finding by the draw of this number."""


async def mean_of_draws(draw: Draw, n_samples: int, outcomes: Sequence[str]) -> Finding:
    """Return the mean of several findings, each of a draw of its own.

    outcomes: what is said of a boolean or a label: then the metadata say how often each came (`frequencies`),
    and the label is the commonest; of equals the first. Rationale and verdicts are those of the first
    sample that says so, without outcomes of the one nearest to the mean. `samples` in the metadata counts
    the draws and those that failed, and holds the `scores` of the others. Raises the CallFailed of the
    commonest failure where fewer than half came back with a score; a row that at least half find not
    applicable is so.
    """
    drawn = await asyncio.gather(*(_caught(draw(number)) for number in range(n_samples)))
    scored = [
        draw_result
        for draw_result in drawn
        if isinstance(draw_result, Finding) and draw_result.score is not None
    ]
    unscored = [
        draw_result for draw_result in drawn if isinstance(draw_result, Finding) and draw_result.score is None
    ]
    failed = [draw_result for draw_result in drawn if isinstance(draw_result, CallFailed)]
    usage = sum((draw_result.usage for draw_result in drawn if draw_result.usage is not None), Usage(calls=0))
    counts = {"asked": n_samples, "failed": len(failed)}
    if 2 * len(scored) >= n_samples:
        return _joined(outcomes, scored, usage, counts)
    if unscored and 2 * len(unscored) >= n_samples:
        return msgspec.structs.replace(
            unscored[0], usage=usage, cost_usd=add_costs(unscored).cost_usd, metadata={"samples": counts}
        )
    raise _commonest(failed, len(scored), n_samples, usage)


def drawing(context: JudgeContext, temperature: float | None, number: int) -> JudgeContext:
    """Return the context with which calls are draw `number` at a temperature."""

    def drawn(ask: Ask) -> Ask:
        return lambda prompt: ask(msgspec.structs.replace(prompt, temperature=temperature, sample=number))

    return context.wrapped(drawn)


async def _caught(drawn: Awaitable[Finding]) -> Finding | CallFailed:
    try:
        return await drawn
    except CallFailed as failure:
        return failure


def _commonest(failed: Sequence[CallFailed], n_scored: int, n_samples: int, usage: Usage) -> CallFailed:
    """Return the first failure of the commonest status, as that of the row."""
    counts = Counter(failure.status for failure in failed)
    first = max(failed, key=lambda failure: counts[failure.status])  # of equals the first
    return CallFailed(
        first.status,
        f"{n_scored} of {n_samples} samples gave a score, the first failure: {first}",
        raw=first.raw,
        usage=usage,
    )


def _joined(
    outcomes: Sequence[str], scored: Sequence[Finding], usage: Usage, counts: dict[str, int]
) -> Finding:
    scores = [(finding.score, finding) for finding in scored if finding.score is not None]
    mean = sum(score for score, _ in scores) / len(scores)
    metadata: dict[str, object] = {"samples": {**counts, "scores": [score for score, _ in scores]}}
    if outcomes:
        outcome_of = [finding.label or ("true" if finding.score else "false") for finding in scored]
        frequencies = {outcome: outcome_of.count(outcome) for outcome in outcomes}
        majority = max(outcomes, key=lambda outcome: frequencies[outcome])
        typical = scored[outcome_of.index(majority)]
        metadata["frequencies"] = frequencies
    else:
        _, typical = min(scores, key=lambda pair: abs(pair[0] - mean))
    return Finding(
        score=mean,
        label=typical.label,
        rationale=typical.rationale,
        verdicts=typical.verdicts,
        usage=usage,
        cost_usd=add_costs(scored).cost_usd,
        parts=_parts(scored, typical),
        metadata=metadata,
    )


def _parts(scored: Sequence[Finding], typical: Finding) -> tuple[CriterionOutcome, ...]:
    """Return each part with its mean over the samples that have it, and the reason of the typical one."""
    scores = {
        part.metric: [
            outcome.score for finding in scored for outcome in finding.parts if outcome.metric == part.metric
        ]
        for part in typical.parts
    }
    return tuple(
        msgspec.structs.replace(part, score=sum(scores[part.metric]) / len(scores[part.metric]))
        for part in typical.parts
    )
