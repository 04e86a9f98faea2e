"""Kind `statements`, both ways: the answer's against the reference, the reference's against the answer.

Precision is the share of the answer's statements that the reference supports, recall the share of the
reference's that the answer supports, and the score their harmonic mean (F1), as in RAGChecker (Ru et al.
2024, arXiv:2408.08067).
"""

import msgspec

from ragstone.judging.fields import PromptedJudge
from ragstone.judging.finding import Finding, JudgeContext, Part, add_costs
from ragstone.judging.lexical import token_f1
from ragstone.judging.statements.atomic import check_statements, take_apart
from ragstone.judging.statements.supported import NOTHING_STATED, nothing_to_check
from ragstone.judging.statements.verdicts import share_of
from ragstone.llm import Reply
from ragstone.records import Answer, Verdict, references

CLAIM_PARTS = ("claim_precision", "claim_recall")
NOT_STATED = NOTHING_STATED.format(text="answer")
UNANSWERABLE = "the question cannot be answered, so no reference states a claim"


async def judge_claims(
    judge: PromptedJudge, verify: str, answer: Answer, inputs: dict[str, str], means: JudgeContext
) -> Finding:
    """Return the F1 of claims, with precision and recall as parts, and every verdict.

    Of several references the one counts whose words are nearest to the answer's (token F1). An answer that
    states nothing has no precision; its recall and score are 0. Without a claim in the reference (the
    question cannot be answered, or the reference states nothing) the judge does not apply.
    """
    given = references(answer)
    if not given:
        return nothing_to_check(UNANSWERABLE, [])
    inputs = inputs | {"reference": max(given, key=lambda text: token_f1(answer.answer, text))}
    # The reference is taken apart, and the answer read, by the very same prompts: each in the other's place.
    swapped = inputs | {"answer": inputs["reference"], "reference": inputs["answer"]}
    replies: list[Reply] = []
    wanted = await take_apart(judge, swapped, "answer", means, replies)
    if not wanted:
        return nothing_to_check(NOTHING_STATED.format(text="reference"), replies)
    made = await take_apart(judge, inputs, "answer", means, replies)
    of_answer = await _check(judge, verify, inputs, means, replies, dict(enumerate(made, 1)))
    if made:
        of_reference = await _check(
            judge, verify, swapped, means, replies, dict(enumerate(wanted, len(made) + 1))
        )
    else:
        of_reference = [
            Verdict(id=n, statement=text, supported=False, reason=NOT_STATED)
            for n, text in enumerate(wanted, 1)
        ]
    sides = {"answer": of_answer, "reference": of_reference}
    spent = add_costs(replies)
    parts = [
        _share(metric, *side) for metric, side in zip(CLAIM_PARTS, sides.items(), strict=True) if side[1]
    ]
    said = [part.rationale for part in parts if part.rationale]
    return Finding(
        score=_f1(*(part.score for part in parts)) if len(parts) > 1 else 0.0,
        rationale="; ".join(said if made else [NOT_STATED, *said]),
        verdicts=[msgspec.structs.replace(one, of=side) for side, ones in sides.items() for one in ones],
        usage=spent.usage,
        cost_usd=spent.cost_usd,
        parts=tuple(parts),
    )


async def _check(
    judge: PromptedJudge,
    verify: str,
    inputs: dict[str, str],
    means: JudgeContext,
    replies: list[Reply],
    statements: dict[int, str],
) -> list[Verdict]:
    """Return the verdicts on statements against what stands as the reference."""
    texts = [inputs["reference"]]
    return await check_statements(
        judge, verify, inputs, means, replies, statements=statements, against="reference", texts=texts
    )


def _share(metric: str, side: str, verdicts: list[Verdict]) -> Part:
    """Return the share of one side's statements that the other supports."""
    other = {"answer": "reference", "reference": "answer"}[side]
    n_supported = sum(one.supported for one in verdicts)
    return Part(
        metric=metric,
        score=n_supported / len(verdicts),
        rationale=f"the {other} supports {share_of(n_supported, len(verdicts), 'statement')} of the {side}",
    )


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
