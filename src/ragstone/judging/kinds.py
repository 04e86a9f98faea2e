"""How each kind of judge comes to its finding on one answer."""

import functools

from ragstone.errors import ConfigError
from ragstone.judging.combined.cascade import judge_by_cascade
from ragstone.judging.combined.jury import judge_by_jury
from ragstone.judging.finding import NOTHING_TO_COMPARE, Finding, FindingOf, Means, lacks
from ragstone.judging.judge import Judge, Kind
from ragstone.judging.lexical import BESIDE_QUESTION, MEASURES, OF_ANSWER, OF_QUESTION, alternatives
from ragstone.judging.one_call import judge_in_one_call
from ragstone.judging.samples import judge_in_samples
from ragstone.judging.statements.claims import judge_claims
from ragstone.judging.statements.contexts import judge_parts
from ragstone.judging.statements.supported import judge_statements
from ragstone.judging.statements.useful import judge_contexts
from ragstone.judging.token import judge_by_token
from ragstone.records import Answer, references


async def judge_lexically(judge: Judge, answer: Answer, inputs: dict[str, str], _means: Means) -> Finding:
    """Return the measure of the answer: against the best of its references, its contexts, its question."""
    name = judge.measure or ""
    if name in OF_ANSWER:
        return Finding(score=OF_ANSWER[name](answer.answer))
    if name in OF_QUESTION:
        found = OF_QUESTION[name](answer.answer, inputs["question"])
        if found is None:
            return Finding(score=None, status="not_applicable", rationale="the answer is too short to tell")
        return Finding(score=found)
    if "contexts" in inputs:
        return Finding(score=MEASURES[name](answer.answer, inputs["contexts"]))
    given = alternatives(references(answer), judge.separator)
    if not given:
        return Finding(score=None, status="not_applicable", rationale=NOTHING_TO_COMPARE)
    if name in BESIDE_QUESTION:
        return Finding(
            score=max(BESIDE_QUESTION[name](answer.answer, text, inputs["question"]) for text in given)
        )
    return Finding(score=max(MEASURES[name](answer.answer, text) for text in given))


async def judge_similarity(_judge: Judge, answer: Answer, _inputs: dict[str, str], means: Means) -> Finding:
    """Return the cosine similarity of the answer and the nearest reference, in [-1, 1]."""
    embed, given = means.embed, references(answer)
    if embed is None:
        raise ValueError("a judge of kind embedding needs an embedder")
    if not given or not answer.answer.strip():
        why = NOTHING_TO_COMPARE if not given else lacks("answer")
        return Finding(score=None, status="not_applicable", rationale=why)
    said, *wanted = await embed([answer.answer, *given], "passage")
    return Finding(score=round(max(float(one @ said) for one in wanted), 6))


async def judge_alone(judge: Judge, _answer: Answer, _inputs: dict[str, str], _means: Means) -> Finding:
    """Raise ConfigError: a pairwise judge has no second answer to compare with here, see pairwise.py."""
    raise ConfigError(
        f"judge {judge.name!r} compares two answers to a question, and was given one. Judge a sheet in which "
        "at least two systems answer the same questions, or choose a judge of single answers."
    )


async def judge_verdicts(judge: Judge, answer: Answer, inputs: dict[str, str], means: Means) -> Finding:
    """Return the finding of a judge of kind `statements`: by the contexts, both ways, or on the contexts."""
    one = (
        judge_contexts if judge.checks_contexts else judge_claims if judge.checks_claims else judge_statements
    )
    return await one(judge, answer, inputs, means)


KINDS: dict[Kind, FindingOf] = {
    "rubric": judge_in_one_call,
    "percentage": judge_in_one_call,
    "classify": judge_in_one_call,
    "boolean": judge_in_one_call,
    "statements": judge_verdicts,
    "lexical": judge_lexically,
    "embedding": judge_similarity,
    "pairwise": judge_alone,
    "jury": judge_by_jury,
    "cascade": judge_by_cascade,
}


async def find(judge: Judge, answer: Answer, inputs: dict[str, str], means: Means) -> Finding:
    """Return what a judge finds, in the way that its file asks for: by one token, in several samples.

    inputs: see gather_inputs. Raises CallFailed where a call that it needs fails.
    """
    one = judge_by_token if judge.reply == "token" else KINDS[judge.kind]
    if judge.kind == "boolean" and "contexts" in inputs:
        one = functools.partial(judge_parts, judge_one=one)
    if judge.samples > 1:
        return await judge_in_samples(one, judge, answer, inputs, means)
    return await one(judge, answer, inputs, means)
