"""Judges asked of a decision model: each becomes typed questions, and its score is read from probabilities.

A judge's file stays as it is. `boolean` is a predicate, `classify` a choice among its labels, `rubric` a
score question for each criterion, `percentage` one with a level for each quarter. Questions about the same
texts go in one request, also those of several judges. Each is answered by itself (TypeSafe's and OpenRouter's
documentation say so; `ragstone doctor` measures it), so a judgement keeps its judge's name.

There is no nonce: nothing is parsed out of words that the judged text could have written. What that text can
do is persuade, which `ragstone attack` measures.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeGuard

import msgspec

from ragstone.kernel.errors import ModelError
from ragstone.kernel.judging._applicability import unfit
from ragstone.kernel.judging._typed_questions import (
    DIGITS,
    finding_of,
    questions_of,
    questions_prompt,
    statement_questions,
    typed_prompt,
)
from ragstone.kernel.judging.contexts import VerdictReply, room
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.judging.finding import Decider, Finding, FindingOf, JudgeContext, unparsable
from ragstone.kernel.judging.inputs import gather_inputs, texts_of
from ragstone.kernel.judging.judging import judge_answer
from ragstone.kernel.judging.one_call import OneCallJudge
from ragstone.kernel.llm import CallFailed, Prompt, Reply
from ragstone.kernel.llm.questionnaire import MOST_QUESTIONS, TypedQuestion
from ragstone.kernel.records import Answer, Judgement

Asked = tuple[OneCallJudge, list[TypedQuestion]]


def can_be_decided(judge: JudgeFields) -> TypeGuard[OneCallJudge]:
    """Return whether a decision model can be asked by a judge: one call, no samples, no text."""
    return isinstance(judge, OneCallJudge) and judge.samples == 1


def with_decider(
    context: JudgeContext, judges: Sequence[JudgeFields], decides: Callable[[str], bool]
) -> JudgeContext:
    """Return the context with how decision models are asked. decides: whether a model is one.

    Raises ModelError, before anything is paid, for a judge that needs words from such a model.
    """
    decider = Decider(decides=decides, find=find_by_questions, each=decide_each)
    context = msgspec.structs.replace(context, decider=decider)
    for leaf, named in (pair for judge in judges for pair in judge.leaves()):
        model, remedy = named or context.model, leaf.needs_words
        if remedy is None or not context.decides(model):
            continue
        needs = "asks for samples" if isinstance(leaf, OneCallJudge) else f"of kind {leaf.kind} needs words"
        raise ModelError(
            f"judge {leaf.name!r} {needs}, and {model} is a decision model, which gives none. {remedy}"
        )
    return context


async def decide_each(
    verify: str,
    inputs: Mapping[str, str],
    numbered: Mapping[int, str],
    context: JudgeContext,
    replies: list[Reply],
) -> dict[int, VerdictReply]:
    """Return a decision model's verdict on each statement, by number; `replies` gains the reply.

    verify: what is asked of each. The verdict is yes from even odds on. Raises CallFailed.
    """
    reply = await _answers(typed_prompt(statement_questions(verify, inputs, numbered), inputs), context)
    replies.append(reply)
    problem = next((answer for answer in reply.value if answer.problem), None)
    if problem is not None:
        failure = unparsable(problem.problem, replies)
        failure.status = "refused" if problem.refused else "unparsable"
        raise failure
    chances = [round(answer.probabilities[0], DIGITS) for answer in reply.value]
    return {
        number: VerdictReply(
            id=number, reason=f"probability {chance:.2f}", verdict=chance >= 0.5, score=chance
        )
        for number, chance in zip(numbered, chances, strict=True)
    }


async def find_by_questions(judge: OneCallJudge, inputs: Mapping[str, str], context: JudgeContext) -> Finding:
    """Return what a decision model finds for one judge. Raises CallFailed."""
    finding = (await _ask([judge], inputs, context))[judge.name]
    if isinstance(finding, CallFailed):
        raise finding
    return finding


async def judge_by_questions(
    judges: Sequence[JudgeFields], answer: Answer, context: JudgeContext
) -> list[Judgement]:
    """Return the judgements of one answer by several judges of the same inputs, in the order of the judges.

    Their questions go in one request. A judge that the row lacks an input for, or that does not apply to it,
    is left out of it; so is one whose contexts are more than one request can show. Tokens and cost stand in
    the first row of the first judge that has a score. Raises ValueError for a judge that cannot be asked so.
    """
    alone = [judge.name for judge in judges if not can_be_decided(judge)]
    if alone:
        raise ValueError(f"judge {alone[0]!r} cannot be asked typed questions")
    asked: dict[str, OneCallJudge] = {}
    texts: Mapping[str, str] = {}
    for judge in judges:
        inputs = gather_inputs(judge, answer)
        if answer.error or isinstance(inputs, str) or not can_be_decided(judge):
            continue
        if unfit(judge.measures, judge.inputs, answer) is None and _fits(judge, answer, inputs, context):
            asked[judge.name], texts = judge, inputs
    findings = await _ask(list(asked.values()), texts, context) if len(asked) > 1 else {}

    def found(judge: JudgeFields) -> FindingOf | None:
        finding = findings.get(judge.name)
        if finding is None:
            return None

        async def look_up(_answer: Answer, _inputs: dict[str, str], _context: JudgeContext) -> Finding:
            if isinstance(finding, CallFailed):
                raise finding
            return finding

        return look_up

    return [row for judge in judges for row in await judge_answer(judge, answer, context, find=found(judge))]


def _fits(judge: OneCallJudge, answer: Answer, inputs: Mapping[str, str], context: JudgeContext) -> bool:
    """Return whether one request shows the contexts whole, as judge_parts would."""
    if judge.kind != "boolean" or "contexts" not in inputs:
        return True
    texts = texts_of(answer.contexts)
    beside = [text for name, text in inputs.items() if name != "contexts"]
    whole = bool(texts) and all(text.strip() for text in texts)  # a blank one is not shown part by part
    return whole and len(inputs["contexts"]) <= room(judge, context, texts, beside, most_bytes=None)


async def _ask(
    judges: Sequence[OneCallJudge], inputs: Mapping[str, str], context: JudgeContext
) -> dict[str, Finding | CallFailed]:
    """Return what is found for each judge, by its name; tokens and cost with the first that has a score."""
    found: dict[str, Finding | CallFailed] = {}
    for group in _portions([(judge, [*questions_of(judge)]) for judge in judges]):
        found |= await _ask_at_once(group, inputs, context)
    return found


def _portions(asked: Sequence[Asked]) -> Iterator[list[Asked]]:
    """Yield the judges by as many as one request has questions for."""
    group: list[Asked] = []
    n = 0
    for judge, questions in asked:
        if group and n + len(questions) > MOST_QUESTIONS:
            yield group
            group, n = [], 0
        group.append((judge, questions))
        n += len(questions)
    if group:
        yield group


async def _ask_at_once(
    asked: Sequence[Asked], inputs: Mapping[str, str], context: JudgeContext
) -> dict[str, Finding | CallFailed]:
    first, *others = [judge.name for judge, _ in asked]
    every = [question for _, questions in asked for question in questions]
    try:
        reply = await _answers(questions_prompt(every, inputs), context)
    except CallFailed as failure:
        return {first: failure, **{name: CallFailed(failure.status, str(failure)) for name in others}}
    answers = iter(reply.value)
    found = {
        judge.name: finding_of(judge, questions, list(islice(answers, len(questions))), reply)
        for judge, questions in asked
    }
    payer = next((name for name, finding in found.items() if isinstance(finding, Finding)), first)
    paid = found[payer]
    if isinstance(paid, Finding):
        found[payer] = msgspec.structs.replace(paid, usage=reply.usage, cost_usd=reply.cost_usd)
    else:
        found[payer] = paid.charged(reply.usage)
    return found


async def _answers(prompt: Prompt, context: JudgeContext) -> Reply:
    """Return the reply; one of an earlier command of which an answer is of no use is asked for anew."""
    reply = await context.ask(prompt)
    if reply.kept and any(answer.problem and not answer.refused for answer in reply.value):
        return await context.ask(msgspec.structs.replace(prompt, renew=True))
    return reply
