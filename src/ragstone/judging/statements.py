"""Kind `statements`: an answer is taken apart, and each atomic statement gets exactly one verdict.

The score is supported / statements made, never / verdicts that came back (compare FActScore, Min et al.
2023, and RAGAS, Es et al. 2023). A statement without a verdict, or with two that disagree, is asked about
once more; if it is still open the row is `unparsable`, never inflated.
"""

from collections.abc import Mapping

from ragstone.judging.finding import Finding, Means, add_costs, ask_model, unparsable
from ragstone.judging.judge import Judge
from ragstone.judging.render import render_prompt
from ragstone.judging.replies import (
    STATEMENTS_FORM,
    VERDICTS_FORM,
    StatementsReply,
    StatementVerdict,
    VerdictsReply,
)
from ragstone.llm import Reply
from ragstone.records import Answer, Verdict

NO_CONTEXT = "nothing was retrieved that could support it"


async def judge_statements(judge: Judge, answer: Answer, inputs: dict[str, str], means: Means) -> Finding:
    """Return the share of the answer's statements that the contexts support, with every verdict.

    An answer that states nothing (a refusal) has nothing to check: `not_applicable`. Without any context
    no statement is supported.
    """
    split = await ask_model(
        judge,
        means,
        render_prompt(
            judge, judge.prompt or "", inputs, STATEMENTS_FORM, StatementsReply, secret=means.secret
        ),
    )
    # A model that repeats itself has made one statement, not several.
    texts = dict.fromkeys(item.statement.strip() for item in split.value.statements)
    statements = dict(enumerate((text for text in texts if text), 1))
    if not statements:
        spent = add_costs([split])
        return Finding(
            score=None,
            status="not_applicable",
            rationale="the answer states nothing that could be checked",
            usage=spent.usage,
            cost_usd=spent.cost_usd,
        )
    if not answer.contexts:
        verdicts = [
            Verdict(id=n, statement=text, supported=False, reason=NO_CONTEXT)
            for n, text in statements.items()
        ]
        return _finding(verdicts, [split])
    return await _verify(judge, inputs, statements, means, [split])


async def _verify(
    judge: Judge, inputs: dict[str, str], statements: dict[int, str], means: Means, replies: list[Reply]
) -> Finding:
    found: dict[int, StatementVerdict] = {}
    for _attempt in range(2):
        missing = {n: text for n, text in statements.items() if n not in found}
        shown = inputs | {"statements": "\n".join(f"{n}. {text}" for n, text in missing.items())}
        prompt = render_prompt(
            judge, judge.verify or "", shown, VERDICTS_FORM, VerdictsReply, secret=means.secret
        )
        replies.append(await ask_model(judge, means, prompt))
        found |= _one_each(replies[-1].value.verdicts, missing)
        if len(found) == len(statements):
            break
    else:
        open_ids = ", ".join(str(n) for n in statements if n not in found)
        raise unparsable(f"no single verdict for statement {open_ids} of {len(statements)}", replies)
    verdicts = [
        Verdict(id=n, statement=text, supported=found[n].supported, reason=found[n].reason)
        for n, text in statements.items()
    ]
    return _finding(verdicts, replies)


def _one_each(verdicts: list[StatementVerdict], asked: Mapping[int, str]) -> dict[int, StatementVerdict]:
    """Return the verdicts on statements that were asked about, without those that contradict themselves."""
    said: dict[int, set[bool]] = {}
    for verdict in verdicts:
        said.setdefault(verdict.id, set()).add(verdict.supported)
    return {verdict.id: verdict for verdict in verdicts if verdict.id in asked and len(said[verdict.id]) == 1}


def _finding(verdicts: list[Verdict], replies: list[Reply]) -> Finding:
    n_supported = sum(verdict.supported for verdict in verdicts)
    spent = add_costs(replies)
    return Finding(
        score=n_supported / len(verdicts),
        rationale=f"{n_supported} of {len(verdicts)} statements are supported by the contexts",
        verdicts=verdicts,
        usage=spent.usage,
        cost_usd=spent.cost_usd,
    )
