"""How each kind of judge comes to its finding on one answer."""

from ragstone.judging.finding import Finding, FindingOf, Means, ask_model
from ragstone.judging.judge import Judge, Kind
from ragstone.judging.lexical import MEASURES, alternatives
from ragstone.judging.render import render_prompt
from ragstone.judging.replies import (
    BOOLEAN_FORM,
    PERCENTAGE_FORM,
    BooleanReply,
    PercentageReply,
    label_form,
    label_reply,
)
from ragstone.judging.statements import judge_statements
from ragstone.llm import Reply
from ragstone.records import Answer, references


async def judge_percentage(judge: Judge, _answer: Answer, inputs: dict[str, str], means: Means) -> Finding:
    """Return how much of the reference's main points the answer covers, 0 to 100."""
    reply = await _ask(judge, inputs, means, PERCENTAGE_FORM, PercentageReply)
    return _finding(reply, float(reply.value.score))


async def judge_boolean(judge: Judge, _answer: Answer, inputs: dict[str, str], means: Means) -> Finding:
    """Return 1 for true, 0 for false."""
    reply = await _ask(judge, inputs, means, BOOLEAN_FORM, BooleanReply)
    return _finding(reply, float(reply.value.verdict))


async def judge_label(judge: Judge, _answer: Answer, inputs: dict[str, str], means: Means) -> Finding:
    """Return one of the judge's labels, with the score that the judge gives it."""
    scores = judge.labels or {}
    labels = tuple(scores)
    reply = await _ask(judge, inputs, means, label_form(labels), label_reply(labels))
    return _finding(reply, scores[reply.value.label], label=reply.value.label)


async def judge_lexically(judge: Judge, answer: Answer, inputs: dict[str, str], _means: Means) -> Finding:
    """Return the measure of the answer against the best of its references, or against its contexts."""
    measure = MEASURES[judge.measure or ""]
    if "contexts" in inputs:
        return Finding(score=measure(answer.answer, inputs["contexts"]))
    given = references(answer)
    if not given:
        return Finding(score=None, status="not_applicable", rationale="the row has no reference")
    return Finding(score=max(measure(answer.answer, text) for text in alternatives(given, judge.separator)))


async def judge_similarity(_judge: Judge, answer: Answer, _inputs: dict[str, str], means: Means) -> Finding:
    """Return the cosine similarity of the answer and the nearest reference, in [-1, 1]."""
    embed, given = means.embed, references(answer)
    if embed is None:
        raise ValueError("a judge of kind embedding needs an embedder")
    if not given or not answer.answer.strip():
        missing = "reference" if not given else "answer"
        return Finding(score=None, status="not_applicable", rationale=f"the row has no {missing}")
    said, *wanted = await embed([answer.answer, *given], "passage")
    return Finding(score=round(max(float(one @ said) for one in wanted), 6))


KINDS: dict[Kind, FindingOf] = {
    "percentage": judge_percentage,
    "statements": judge_statements,
    "classify": judge_label,
    "boolean": judge_boolean,
    "lexical": judge_lexically,
    "embedding": judge_similarity,
}


async def _ask(judge: Judge, inputs: dict[str, str], means: Means, form: str, reply: type) -> Reply:
    prompt = render_prompt(judge, judge.prompt or "", inputs, form, reply, secret=means.secret)
    return await ask_model(judge, means, prompt)


def _finding(reply: Reply, score: float, label: str | None = None) -> Finding:
    return Finding(
        score=score,
        label=label,
        rationale=reply.value.reason.strip() or None,
        usage=reply.usage,
        cost_usd=reply.cost_usd,
    )
