"""Kind `statements`, against contexts: the answer is taken apart, and each statement gets one verdict.

The score is supported / statements made, never / verdicts that came back (compare FActScore, Min et al.
2023, and RAGAS, Es et al. 2023). A statement without a verdict, or with two that disagree, is asked about
once more; if it is still open the row is `unparsable`, never inflated.
"""

from collections.abc import Sequence

from ragstone.judging.fields import Input, PromptedJudge
from ragstone.judging.finding import Finding, JudgeContext, add_costs
from ragstone.judging.statements.atomic import check_statements, take_apart
from ragstone.judging.statements.contexts import texts_of
from ragstone.judging.statements.verdicts import share_of
from ragstone.llm import Reply
from ragstone.records import Answer, Verdict

NO_CONTEXT = "nothing was retrieved that could support it"
NOTHING_STATED = "the {text} states nothing that could be checked"
BY_DEFINITION = (
    f"{NOTHING_STATED}, and nothing was retrieved: by the definition of the method the score is 1, which "
    "says nothing of it"
)


async def judge_statements(
    judge: PromptedJudge, verify: str, answer: Answer, inputs: dict[str, str], means: JudgeContext
) -> Finding:
    """Return the share of the answer's statements that the contexts support, with every verdict.

    An answer that states nothing (a refusal) has nothing to check: `not_applicable`; without any context
    either, the metadata hold the score that the method gives by definition. Without any context no statement
    is supported. A judge whose prompt names the reference instead of the answer takes that apart.
    """
    replies: list[Reply] = []
    taken: Input = "answer" if "answer" in inputs else "reference"
    statements = dict(enumerate(await take_apart(judge, inputs, taken, means, replies), 1))
    contexts = texts_of(answer.contexts)
    retrieved = any(text.strip() for text in contexts)
    if not statements:
        why = NOTHING_STATED if retrieved else BY_DEFINITION
        return nothing_to_check(why.format(text=taken), replies, by_definition=not retrieved)
    if retrieved:
        verdicts = await check_statements(
            judge, verify, inputs, means, replies, statements=statements, against="contexts", texts=contexts
        )
    else:
        verdicts = [
            Verdict(id=n, statement=text, supported=False, reason=NO_CONTEXT)
            for n, text in statements.items()
        ]
    n_supported = sum(verdict.supported for verdict in verdicts)
    spent = add_costs(replies)
    return Finding(
        score=n_supported / len(verdicts),
        rationale=f"the contexts support {share_of(n_supported, len(verdicts), 'statement')}",
        verdicts=verdicts,
        usage=spent.usage,
        cost_usd=spent.cost_usd,
    )


def nothing_to_check(why: str, replies: Sequence[Reply], *, by_definition: bool = False) -> Finding:
    """Return the finding on a row to which the judge does not apply."""
    spent = add_costs(replies)
    return Finding(
        score=None,
        status="not_applicable",
        rationale=why,
        usage=spent.usage,
        cost_usd=spent.cost_usd,
        metadata={"by_definition": 1.0} if by_definition else None,
    )
