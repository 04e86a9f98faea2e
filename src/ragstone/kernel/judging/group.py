"""Judges that are asked about a row together, and what they say of it."""

import asyncio
import traceback
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, cast

import msgspec

from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.judging.fields import JudgeFields
from ragstone.kernel.judging.finding import JudgeContext
from ragstone.kernel.judging.judging import failed_judgements, judge_answer
from ragstone.kernel.records import Answer, Judgement

if TYPE_CHECKING:  # most judges are asked alone, about one answer
    from ragstone.kernel.judging.one_call import OneCallJudge
    from ragstone.kernel.judging.pairwise import PairwiseJudge

JudgedRow = Answer | tuple[Answer, Answer]
"""What one judgement is of: an answer, or a pair of them where a judge compares systems."""


def group_judges(
    judges: Sequence[JudgeFields], *, one_call: bool, by_questions: bool = False
) -> list[list[JudgeFields]]:
    """Group judges in their order: those that are asked in one call, then those whose prompts begin alike.

    one_call: those whose replies fit into one are asked together, if there are two or more of them.
    by_questions: a decision model is asked: judges of the same inputs are a group, wherever the first stands.
    """
    if by_questions:
        from ragstone.kernel.judging.decision import can_be_decided

        by_inputs: dict[object, list[JudgeFields]] = {}
        for judge in judges:
            is_alone = judge.own_texts or not can_be_decided(judge)
            key = id(judge) if is_alone else tuple(judge.inputs)
            by_inputs.setdefault(key, []).append(judge)
        return list(by_inputs.values())
    joint: list[JudgeFields] = []
    if one_call:
        from ragstone.kernel.judging.together import can_join

        joint = [judge for judge in judges if can_join(judge)]
    alike = [judge for judge in judges if judge.shares_prefix]
    groups = [group for group in (joint, alike) if len(group) > 1]
    grouped = [judge for group in groups for judge in group]
    return [*groups, *([judge] for judge in judges if judge not in grouped)]


def rows_of_group(group: Sequence[JudgeFields], answers: Iterable[Answer]) -> Iterable[JudgedRow]:
    """Return what a group of judges judges: the answers, or pairs of them."""
    if not group[0].compares_two:
        return answers
    from ragstone.kernel.judging.pairwise import pair_answers

    return pair_answers(answers)


async def judge_group(group: Sequence[JudgeFields], row: JudgedRow, context: JudgeContext) -> list[Judgement]:
    """Return the judgements of a row by the judges of a group.

    Raises what ends the run; an unforeseen error is a recorded failure.
    """
    try:
        if isinstance(row, tuple):
            from ragstone.kernel.judging.pairwise import judge_pair

            return await judge_pair(cast("PairwiseJudge", group[0]), *row, context)
        if len(group) == 1:
            return await judge_answer(group[0], row, context)
        if context.decides(context.model):
            from ragstone.kernel.judging.decision import judge_by_questions

            return await judge_by_questions(group, row, context)
        if group[0].shares_prefix:
            return await _judge_in_turn(group, row, context)
        from ragstone.kernel.judging.together import judge_together

        return await judge_together(group, row, context)
    except RagstoneError:
        raise
    except Exception:  # noqa: BLE001 - the one place where the unforeseen becomes a recorded failure
        return _failed(group, row, context, traceback.format_exc())


async def _judge_in_turn(
    group: Sequence[JudgeFields], answer: Answer, context: JudgeContext
) -> list[Judgement]:
    """Return the judgements of judges whose prompts begin alike: the first one's call fills the cache."""
    context = msgspec.structs.replace(context, shares_rows=True)
    first, *rest = group
    judgements = await judge_answer(first, answer, context)
    for rows in await asyncio.gather(*(judge_answer(judge, answer, context) for judge in rest)):
        judgements = [*judgements, *rows]
    return judgements


def _failed(
    group: Sequence[JudgeFields], row: JudgedRow, context: JudgeContext, error: str
) -> list[Judgement]:
    if isinstance(row, tuple):
        from ragstone.kernel.judging.pairwise import as_pair

        row = as_pair(*row)
    named: Sequence[JudgeFields] = group
    if len(group) > 1 and not context.decides(context.model) and not group[0].shares_prefix:
        from ragstone.kernel.judging.together import joined

        named = joined(cast("list[OneCallJudge]", group))
    return [each for judge in named for each in failed_judgements(judge, row, context, "error", error)]
