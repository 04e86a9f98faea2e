"""The kinds that ask a model in one call: rubric, percentage, boolean, classify. What their reply holds."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from ragstone.judging.examples import example_reply, examples_text
from ragstone.judging.finding import Finding, Means, ask_model
from ragstone.judging.judge import Judge
from ragstone.judging.render import render_prompt
from ragstone.judging.replies import REASON, Field, reply_form, reply_type
from ragstone.judging.rubric import criteria_text, rubric_fields, rubric_finding
from ragstone.llm import Prompt
from ragstone.records import Answer

PERCENTAGE = Annotated[int, msgspec.Meta(ge=0, le=100)]


async def judge_in_one_call(judge: Judge, _answer: Answer, inputs: dict[str, str], means: Means) -> Finding:
    """Return what the model says in one call: grades, a percentage, true or false, or a label."""
    reply = await ask_model(judge, means, one_call_prompt(judge, inputs, means.secret))
    finding = finding_of(judge, msgspec.structs.asdict(reply.value))
    return msgspec.structs.replace(finding, usage=reply.usage, cost_usd=reply.cost_usd)


def one_call_prompt(judge: Judge, inputs: Mapping[str, str], secret: bytes) -> Prompt:
    """Return the call that asks a judge about a row. inputs: see gather_inputs."""
    fields = reply_fields(judge)
    return render_prompt(
        judge,
        told_text(judge),
        inputs,
        reply_form(fields),
        reply_type(f"{judge.kind.capitalize()}Reply", fields),
        secret=secret,
        examples=examples_text(judge, lambda example, code: example_reply(judge, example, code)),
    )


def told_text(judge: Judge) -> str:
    """Return what the model is told: the judge's prompt, and for a rubric its criteria, grade by grade."""
    told = (judge.prompt or "").strip()
    return f"{told}\n\n{criteria_text(judge)}" if judge.kind == "rubric" else told


def reply_fields(judge: Judge) -> list[Field]:
    """Return the fields of the judge's reply after the nonce, in their order; a reason before each score."""
    if judge.kind == "rubric":
        return rubric_fields(judge)
    if judge.kind == "percentage":
        return [
            Field("reason", REASON, "one or two sentences"),
            Field("score", PERCENTAGE, "a whole number from 0 to 100"),
        ]
    reason = Field("reason", REASON, "one sentence")
    if judge.kind == "boolean":
        return [reason, Field("verdict", bool, "true or false")]
    labels = tuple(judge.labels or {})
    choice = Literal[labels]  # type: ignore[valid-type]
    return [reason, Field("label", choice, f"one of {', '.join(map(repr, labels))}")]


def finding_of(judge: Judge, values: Mapping[str, Any]) -> Finding:
    """Return the finding that the fields of a reply make; without tokens and cost, which the call knows."""
    if judge.kind == "rubric":
        return rubric_finding(judge, values)
    reason = values["reason"].strip() or None
    if judge.kind == "classify":
        label = values["label"]
        return Finding(score=(judge.labels or {})[label], label=label, rationale=reason)
    return Finding(
        score=float(values["score" if judge.kind == "percentage" else "verdict"]), rationale=reason
    )
