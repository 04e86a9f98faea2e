"""Kind `pairwise`: which of two systems' answers is better? Asked in both orders; a flip is a tie.

A judge that prefers whatever stands first (or second) contradicts itself when the answers change places, so
its taste for a place never becomes a win (compare Zheng et al. 2023, Judging LLM-as-a-judge).
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import ClassVar, Literal

import msgspec

from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.judging.fields import ZERO_TO_ONE, JudgeFields, PromptedJudge, Scale
from ragstone.kernel.judging.finding import Finding, JudgeContext, add_costs
from ragstone.kernel.judging.judging import judge_answer
from ragstone.kernel.judging.render import REASON, render_prompt
from ragstone.kernel.llm import CallFailed, Reply
from ragstone.kernel.records import Answer, Judgement, Usage, name_repeat, split_repeat

FORM = '{"nonce": the code, "reason": one or two sentences, "better": "1", "2" or "tie"}'
SCORES = {"first": 1.0, "second": 0.0, "tie": 0.5}
Winner = Literal["first", "second", "tie"]
PAIR = ("answer_1", "answer_2")


class PairReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A reason, then which answer is better."""

    reason: REASON
    better: Literal["1", "2", "tie"]


class PairwiseJudge(PromptedJudge, frozen=True, kw_only=True, tag="pairwise"):
    """A judge that compares the answers of two systems."""

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    compares_two: ClassVar[bool] = True

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if self.samples > 1:
            yield "samples", "a pairwise judge is asked once in each order: leave out samples."
        if "contexts" in self.inputs:
            yield (
                "inputs",
                "a pairwise judge reads question, reference and answer: each answer has its own contexts.",
            )

    def _problem_of_names(self, text: str) -> str | None:
        lacking = [name for name in PAIR if f"{{{name}}}" not in text]
        if lacking:
            return f"the prompt does not name {{{lacking[0]}}}, one of the two answers to compare."
        for name in PAIR:
            text = text.replace(f"{{{name}}}", "{answer}")
        return super()._problem_of_names(text)

    async def find(self, _answer: Answer, _inputs: dict[str, str], _context: JudgeContext) -> Finding:
        """Raise ConfigError: there is no second answer to compare with here, see judge_pair."""
        raise ConfigError(
            f"judge {self.name!r} compares two answers to a question, but was given one. Judge a sheet in "
            "which at least two systems answer the same questions, or choose a judge of single answers."
        )


def pair_answers(rows: Iterable[Answer]) -> Iterator[tuple[Answer, Answer]]:
    """Yield the answers of every two systems to each question: questions and systems in order of appearance.

    Of repeated answers the second is paired with the second, and so on. All rows are held in memory, for a
    sheet may name one system after the other. Raises DataError for a system that answers a question twice,
    and for a sheet without any pair.
    """
    by_question, systems = _by_question(rows)
    if by_question and all(len(answers) < 2 for answers in by_question.values()):
        raise DataError(
            f"no question was answered by two systems (there {'is' if len(systems) == 1 else 'are'} "
            f"{len(systems)}: {', '.join(list(systems)[:5])}), so there is nothing to compare. Put the "
            "answers of both systems into one sheet, with the same question_id for the same question."
        )
    for answers in by_question.values():
        yield from combinations((answers[system] for system in systems if system in answers), 2)


def unpaired_notes(judges: Sequence[JudgeFields], rows: Iterable[Answer]) -> list[str]:
    """Return the note that questions were answered by one system alone, so that no pair is made of them.

    Empty where there are none, and without a judge that compares systems: then the rows are not looked at.
    """
    names = [judge.name for judge in judges if judge.compares_two]
    by_question = _by_question(rows)[0] if names else {}
    paired = {question_id for (question_id, _), systems in by_question.items() if len(systems) > 1}
    n_alone = len({question_id for question_id, _ in by_question} - paired)
    if not n_alone:
        return []
    questions = "1 question was" if n_alone == 1 else f"{n_alone:,} questions were"
    return [f"{questions} answered by only one system: {', '.join(names)} has no pair to compare."]


def _by_question(
    rows: Iterable[Answer],
) -> tuple[dict[tuple[str, int], dict[str, Answer]], dict[str, None]]:
    """Return question and number of the repeat -> system -> answer, and the systems."""
    by_question: dict[tuple[str, int], dict[str, Answer]] = defaultdict(dict)
    systems: dict[str, None] = {}
    for row in rows:
        system, number = split_repeat(row.system)
        systems[system] = None
        if system in by_question[row.question_id, number]:
            raise DataError(
                f"question {row.question_id!r}: system {row.system!r} answers it twice. Keep one of the "
                "answers, or give the second one another system."
            )
        by_question[row.question_id, number][system] = row
    return by_question, systems


def as_pair(first: Answer, second: Answer) -> Answer:
    """Return the two as one row: of the system `A vs B`, with the error of either.

    Of repeats it is `A vs B@repeat=2`.
    """
    (name, number), other = split_repeat(first.system), split_repeat(second.system)[0]
    return msgspec.structs.replace(
        first,
        system=name_repeat(f"{name} vs {other}", number),
        question=first.question or second.question,
        reference=first.reference or second.reference,
        error=first.error or second.error,
    )


async def judge_pair(
    judge: PairwiseJudge, first: Answer, second: Answer, context: JudgeContext
) -> list[Judgement]:
    """Return the judgement of two answers to one question; its `system` is `A vs B`.

    Its score is 1 if A's answer is better, 0 if B's is, 0.5 for a tie; its label is the better system or
    `tie`. Two answers of the same words are a tie, and nobody is asked. `app_error` if a system failed.
    """

    async def both_orders(_pair: Answer, inputs: dict[str, str], context: JudgeContext) -> Finding:
        inputs = {name: text for name, text in inputs.items() if name != "answer"}
        return await _finding(judge, inputs, first, second, context)

    return await judge_answer(judge, as_pair(first, second), context, find=both_orders)


async def _finding(
    judge: PairwiseJudge, inputs: dict[str, str], first: Answer, second: Answer, context: JudgeContext
) -> Finding:
    if first.answer.strip() == second.answer.strip():
        return Finding(score=0.5, label="tie", rationale="the two answers are the same")
    texts = (
        inputs | {"answer_1": before.answer, "answer_2": then.answer}
        for before, then in ((first, second), (second, first))
    )
    calls = (
        context.ask(render_prompt(judge, judge.prompt, own, FORM, PairReply, secret=context.secret))
        for own in texts
    )
    straight, turned = _both(await asyncio.gather(*calls, return_exceptions=True))
    orders: list[Winner] = [_winner(straight, "first", "second"), _winner(turned, "second", "first")]
    winner = orders[0] if orders[0] == orders[1] else "tie"
    name, other = (split_repeat(row.system)[0] for row in (first, second))
    names = {"first": name, "second": other, "tie": "tie"}
    spent = add_costs([straight, turned])
    reasons = [reply.value.reason.strip() for reply in (straight, turned)]
    return Finding(
        score=SCORES[winner],
        label=names[winner],
        rationale=f"{name} shown first: {reasons[0]} {other} shown first: {reasons[1]}",
        usage=spent.usage,
        cost_usd=spent.cost_usd,
        metadata={
            "orders": [names[order] for order in orders],
            "flip": set(orders) == {"first", "second"},
        },
    )


def _both(replies: list[Reply | BaseException]) -> tuple[Reply, Reply]:
    """Return the replies in both orders. Raises what went wrong, with what the other call took."""
    straight, turned = replies
    for reply in replies:
        if isinstance(reply, BaseException) and not isinstance(reply, CallFailed):
            raise reply
    if isinstance(straight, Reply) and isinstance(turned, Reply):
        return straight, turned
    failure = next(reply for reply in replies if isinstance(reply, CallFailed))
    usages = [reply.usage for reply in replies if isinstance(reply, Reply | CallFailed) and reply.usage]
    raise failure.charged(sum(usages, Usage(calls=0)) if usages else None)


def _winner(reply: Reply, first: Winner, second: Winner) -> Winner:
    """Return the winner; first, second: who was shown at these places."""
    return {"1": first, "2": second}.get(reply.value.better, "tie")
