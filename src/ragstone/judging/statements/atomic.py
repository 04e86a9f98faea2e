"""A text -> its atomic statements; statements -> one verdict each, from texts as long as they may be."""

from collections.abc import Mapping, Sequence

from ragstone.judging.fields import Input, PromptedJudge
from ragstone.judging.finding import JudgeContext
from ragstone.judging.render import render_prompt
from ragstone.judging.replies import STATEMENTS_FORM, StatementsReply
from ragstone.judging.statements.contexts import cut_contexts, cut_text, room, show, take_best
from ragstone.judging.statements.verdicts import (
    Said,
    batches,
    numbered_lines,
    one_verdict_each,
    verdicts_form,
    verdicts_reply,
)
from ragstone.llm import Reply
from ragstone.records import Verdict

Numbers = tuple[int, ...] | None

PART = 2_000  # characters taken apart in one call: the statements of more may not fit the reply


async def take_apart(
    judge: PromptedJudge, inputs: Mapping[str, str], taken: Input, means: JudgeContext, replies: list[Reply]
) -> list[str]:
    """Return the statements of an input, each once, in their order; `replies` gains what was said.

    A text longer than PART is taken apart part by part, cut at sentence ends. A blank one costs no call.
    """
    made: dict[str, None] = {}
    for part in cut_text(inputs[taken], PART) if inputs[taken].strip() else []:
        prompt = render_prompt(
            judge,
            judge.prompt,
            {**inputs, taken: part},
            STATEMENTS_FORM,
            StatementsReply,
            secret=means.secret,
        )
        replies.append(await means.ask(prompt))
        # A model that repeats itself has made one statement, not several.
        made |= dict.fromkeys(item.statement.strip() for item in replies[-1].value.statements)
    return [text for text in made if text]


async def check_statements(
    judge: PromptedJudge,
    verify: str,
    inputs: Mapping[str, str],
    means: JudgeContext,
    replies: list[Reply],
    *,
    statements: Mapping[int, str],
    against: Input,
    texts: Sequence[str],
) -> list[Verdict]:
    """Return exactly one verdict on each statement, in their order; `replies` gains what was said.

    verify: the second prompt. texts: what the input `against` holds, one for each context; not all blank.
    Where they are more than one call can show, the statements not supported so far go on to the next call
    with the next texts, those first that have most in common with them; a statement is supported if any call
    supports it. Of one that no call supports, the first reason is kept. Raises CallFailed.
    """
    cited = against == "contexts"
    found: dict[int, Verdict] = {}
    for batch in batches(statements):
        most = room(judge, means, texts, [verify, *batch.values(), inputs.get("question", "")])
        still, left = batch, cut_contexts(texts, most)
        while still and left:
            shown, left = await take_best(left, "\n".join(still.values()), most)
            numbers = tuple(sorted({passage.number for passage in shown})) if cited else None

            async def ask(
                asked: Mapping[int, str], text: str = show(shown, numbered=cited), numbers: Numbers = numbers
            ) -> Reply:
                prompt = render_prompt(
                    judge,
                    verify,
                    {**inputs, against: text, "statements": numbered_lines(asked)},
                    verdicts_form(cited=cited),
                    verdicts_reply(tuple(asked), numbers),
                    secret=means.secret,
                )
                return await means.ask(prompt)

            said = await one_verdict_each(still, ask, replies)
            for number, one in said.items():
                if one.verdict or number not in found:
                    found[number] = _verdict(number, still[number], one, numbers or ())
            still = {number: text for number, text in still.items() if not said[number].verdict}
    return [found[number] for number in statements]


def _verdict(number: int, statement: str, said: Said, shown: tuple[int, ...]) -> Verdict:
    """Return the verdict; a number that was not shown is as good as none."""
    named = said.context if said.verdict and said.context in shown else None
    return Verdict(
        id=number, statement=statement, supported=said.verdict, reason=said.reason.strip(), context=named
    )
