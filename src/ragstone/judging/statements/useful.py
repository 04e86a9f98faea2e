"""Kind `statements`, on contexts alone: each gets exactly one verdict, of use for the question or not.

The score is the share of contexts that are of use (compare the context precision of RAGAS, Es et al. 2023,
and of ARES, Saad-Falcon et al. 2024); their order does not count.
"""

from collections.abc import Mapping, Sequence

from ragstone.judging.fields import PromptedJudge
from ragstone.judging.finding import Finding, JudgeContext, add_costs
from ragstone.judging.render import render_prompt
from ragstone.judging.statements.contexts import Passage, cut_contexts, room, show, take_next, texts_of
from ragstone.judging.statements.supported import nothing_to_check
from ragstone.judging.statements.verdicts import (
    Said,
    one_verdict_each,
    share_of,
    verdicts_form,
    verdicts_reply,
)
from ragstone.llm import Reply
from ragstone.records import Answer, Verdict

FIELD = "useful"
GLIMPSE = 160  # characters of a context that stand in its verdict
BLANK = "the context is empty"
NOTHING_RETRIEVED = "nothing was retrieved, so there is nothing to be of use"


async def judge_contexts(
    judge: PromptedJudge, answer: Answer, inputs: dict[str, str], means: JudgeContext
) -> Finding:
    """Return the share of the contexts that are of use, with a verdict on each.

    A context too long for one call is shown part by part, and is of use if any part is. A blank one is of
    none. Where nothing was retrieved the judge does not apply.
    """
    texts = texts_of(answer.contexts)
    if not texts:
        return nothing_to_check(NOTHING_RETRIEVED, [])
    beside = [text for name, text in inputs.items() if name != "contexts"]
    most = room(judge, means, texts, beside)
    left = cut_contexts(texts, most)
    replies: list[Reply] = []
    found = {n: _verdict(n, text, useful=False, reason=BLANK) for n, text in enumerate(texts, 1)}
    asked: set[int] = set()
    while left:
        shown, left = take_next(left, most)
        for number, one in (await _ask(judge, inputs, means, replies, shown)).items():
            if one.verdict or number not in asked:
                found[number] = _verdict(
                    number, texts[number - 1], useful=one.verdict, reason=one.reason.strip()
                )
            asked.add(number)
        left = [passage for passage in left if not found[passage.number].supported]
    n_useful = sum(verdict.supported for verdict in found.values())
    spent = add_costs(replies)
    return Finding(
        score=n_useful / len(texts),
        rationale=f"of use for the question: {share_of(n_useful, len(texts), 'context')}",
        verdicts=list(found.values()),
        usage=spent.usage,
        cost_usd=spent.cost_usd,
    )


async def _ask(
    judge: PromptedJudge,
    inputs: dict[str, str],
    means: JudgeContext,
    replies: list[Reply],
    shown: Sequence[Passage],
) -> dict[int, Said]:
    """Return the verdict on each context of which something is shown, by its number."""
    numbers = dict.fromkeys(passage.number for passage in shown)

    async def ask(asked: Mapping[int, str]) -> Reply:
        text = show(passage for passage in shown if passage.number in asked)
        prompt = render_prompt(
            judge,
            judge.prompt,
            inputs | {"contexts": text},
            verdicts_form(name=FIELD),
            verdicts_reply(tuple(asked), name=FIELD),
            secret=means.secret,
        )
        return await means.ask(prompt)

    return await one_verdict_each(dict.fromkeys(numbers, ""), ask, replies, what="context")


def _verdict(number: int, text: str, *, useful: bool, reason: str) -> Verdict:
    words = " ".join(text.split())
    glimpse = words if len(words) <= GLIMPSE else words[:GLIMPSE].rstrip() + "…"
    return Verdict(
        id=number, statement=glimpse, supported=useful, reason=reason, context=number, of="contexts"
    )
