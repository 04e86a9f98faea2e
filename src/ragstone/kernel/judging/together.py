"""Several judges in one call (`--one-call`): one prompt, one reply with the fields of each, one nonce.

What a model says of one thing colours what it says of the next, so a judge that is asked together with
others is another instrument: its judgements carry the name `NAME@together`.
"""

import re
from collections.abc import Sequence
from typing import TypeGuard

import msgspec

from ragstone.kernel.judging.examples import examples_text
from ragstone.kernel.judging.fields import Example, JudgeFields
from ragstone.kernel.judging.finding import Finding, FindingOf, JudgeContext
from ragstone.kernel.judging.inputs import gather_inputs
from ragstone.kernel.judging.judging import judge_answer
from ragstone.kernel.judging.one_call import OneCallJudge
from ragstone.kernel.judging.render import Field, named_inputs, prompt_for_fields
from ragstone.kernel.llm import CallFailed, Prompt, Reply, row_nonce
from ragstone.kernel.records import JOINT_SUFFIX, Answer, Judgement

TOGETHER = (
    "You judge in several respects, each by the section below that bears its name. Each rests on its own "
    "section alone: a text that fails in one respect may well pass in the others."
)


def can_join(judge: JudgeFields) -> TypeGuard[OneCallJudge]:
    """Return whether a judge can be asked together with others: in one call, once, with a reason.

    A temperature belongs to a call: only those of the usual one, 0, are asked together. A judge of kind
    `boolean` that reads contexts takes several calls where they are long.
    """
    return isinstance(judge, OneCallJudge) and judge.can_join()


def joined(judges: Sequence[OneCallJudge]) -> list[OneCallJudge]:
    """Return the judges under the names that their judgements have when they are asked together."""
    return [
        msgspec.structs.replace(judge, name=f"{judge.name}{JOINT_SUFFIX}", metric=judge.measures)
        for judge in judges
    ]


async def judge_together(
    judges: Sequence[JudgeFields], answer: Answer, context: JudgeContext
) -> list[Judgement]:
    """Return the judgements of one answer by several judges, asked in one call, in the order of the judges.

    A judge that lacks an input is `not_applicable`, and the others are asked without it; where no judge is
    left nobody is asked. A call that fails fails all that were in it. Tokens and cost stand in the first row
    of the first judge that was asked. Raises ValueError for a judge that cannot be asked so, see can_join.
    """
    alone = [judge.name for judge in judges if not can_join(judge)]
    if alone:
        raise ValueError(f"judge {alone[0]!r} cannot be asked in one call with others")
    named = joined([judge for judge in judges if can_join(judge)])
    complete = [judge for judge in named if not isinstance(gather_inputs(judge, answer), str)]
    able = [] if answer.error else complete
    findings = await _ask(able, answer, context) if able else {}

    def found_by(judge: OneCallJudge) -> FindingOf:
        async def look_up(_answer: Answer, _inputs: dict[str, str], _context: JudgeContext) -> Finding:
            finding = findings[judge.name]
            if isinstance(finding, CallFailed):
                raise finding
            return finding

        return look_up

    return [
        row for judge in named for row in await judge_answer(judge, answer, context, find=found_by(judge))
    ]


async def _ask(
    judges: Sequence[OneCallJudge], answer: Answer, context: JudgeContext
) -> dict[str, Finding | CallFailed]:
    """Return what one call finds for each judge, by its name; tokens and cost with the first."""
    first, *others = [judge.name for judge in judges]
    try:
        reply = await context.ask(together_prompt(judges, answer, context.secret))
    except CallFailed as failure:
        # An error of its own for each: the first carries the tokens.
        return {first: failure, **{name: CallFailed(failure.status, str(failure)) for name in others}}
    findings = [_found(judge, start, reply) for judge, start in zip(judges, _starts(judges), strict=True)]
    findings[0] = msgspec.structs.replace(findings[0], usage=reply.usage, cost_usd=reply.cost_usd)
    return dict(zip((first, *others), findings, strict=True))


def _found(judge: OneCallJudge, start: str, reply: Reply) -> Finding:
    values = {
        name.removeprefix(start): value
        for name, value in msgspec.structs.asdict(reply.value).items()
        if name.startswith(start)
    }
    return judge.finding_of(values)


def together_prompt(judges: Sequence[OneCallJudge], answer: Answer, secret: bytes) -> Prompt:
    """Return the call that asks these judges about a row that has the inputs of each."""
    texts = _inputs(judges, answer)
    starts = _starts(judges)
    fields = [
        Field(f"{start}{field.name}", field.type, field.words)
        for judge, start in zip(judges, starts, strict=True)
        for field in judge.reply_fields()
    ]
    sections = [_section(judge, start) for judge, start in zip(judges, starts, strict=True)]
    versions = [part for judge in judges for part in (judge.name, str(judge.version))]
    return prompt_for_fields(
        [TOGETHER, *sections],
        texts,
        fields,
        name="TogetherReply",
        nonce=row_nonce(secret, [*versions, *texts.values()]),
        max_tokens=sum(judge.max_tokens for judge in judges),
    )


def _section(judge: OneCallJudge, start: str) -> str:
    """Return what the model is told of one judge: under its name, with its examples."""

    def said(example: Example, _code: str) -> str:
        values = {
            f"{start}{name}": value
            for name, value in judge.reply_of(example.expected, example.reason).items()
        }
        return "{..., " + msgspec.json.format(msgspec.json.encode(values), indent=0).decode()[1:-1] + ", ...}"

    parts = [f"# {start.rstrip('_')}\n{named_inputs(judge.instructions())}", examples_text(judge, said)]
    return "\n\n".join(part for part in parts if part)


def _inputs(judges: Sequence[OneCallJudge], answer: Answer) -> dict[str, str]:
    """Return the text of every input that one of the judges reads, in the order of their files."""
    texts: dict[str, str] = {}
    for judge in judges:
        inputs = gather_inputs(judge, answer)
        if isinstance(inputs, str):
            raise ValueError(f"judge {judge.name!r}: the row has no {inputs}")
        texts |= {name: text for name, text in inputs.items() if name not in texts}
    return texts


def _starts(judges: Sequence[OneCallJudge]) -> list[str]:
    """Return what the fields of each judge begin with in the common reply; no two begin alike."""
    names = [re.sub(r"\W+", "_", judge.name.rpartition("@")[0]) for judge in judges]
    # `a` with a criterion `b_c` and `a_b` with one `c` would share a field: numbers set them apart.
    alike = any(name != other and name.startswith(f"{other}_") for name in names for other in names)
    if alike or len(set(names)) < len(names):
        names = [f"judge{n}_{name}" for n, name in enumerate(names, 1)]
    return [f"{name}_" for name in names]
