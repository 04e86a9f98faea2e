"""Kind `statements`: a text is taken apart, and each statement gets a verdict; or each context gets one.

Against contexts (`judge_statements`): the score is supported / statements made, never / verdicts that came
back (compare FActScore, Min et al. 2023, and RAGAS, Es et al. 2023). A statement without a verdict, or with
two that disagree, is asked about once more; if it is still open the row is `unparsable`, never inflated.

Both ways (`judge_claims`): precision is the share of the answer's statements that the reference supports,
recall the share of the reference's that the answer supports, and the score their harmonic mean (F1), as in
RAGChecker (Ru et al. 2024, arXiv:2408.08067).

On contexts alone (`judge_contexts`): the score is the share of contexts that are of use for the question
(compare the context precision of RAGAS, Es et al. 2023, and of ARES, Saad-Falcon et al. 2024); their order
does not count.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Literal

import msgspec

from ragstone.kernel.judging._applicability import BY_DEFINITION, NOTHING_STATED
from ragstone.kernel.judging.citation_marks import cited_statements
from ragstone.kernel.judging.contexts import (
    ContextPassage,
    VerdictReply,
    batches,
    cut_contexts,
    cut_text,
    numbered_lines,
    one_verdict_each,
    room,
    share_of,
    show,
    take_best,
    take_next,
    verdicts_form,
    verdicts_reply,
)
from ragstone.kernel.judging.fields import ZERO_TO_ONE, Input, PromptedJudge, Scale
from ragstone.kernel.judging.finding import CriterionOutcome, Finding, JudgeContext, add_costs
from ragstone.kernel.judging.inputs import texts_of
from ragstone.kernel.judging.lexical import no_refusal, token_f1
from ragstone.kernel.judging.render import render_prompt
from ragstone.kernel.llm import Reply
from ragstone.kernel.llm.stub_reply import ASSUMPTION
from ragstone.kernel.records import Answer, Verdict, references


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One atomic statement, numbered from 1."""

    id: int
    statement: str


class StatementsReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer, taken apart."""

    statements: list[Statement]


STATEMENTS_FORM = '{"nonce": the code, "statements": [{"id": 1, "statement": "..."}, {"id": 2, ...}, ...]}'

Numbers = tuple[int, ...] | None

A_DECISION = 60  # statements in one request to a decision model: laya takes 64 questions
PART = 2_000  # characters taken apart in one call: the statements of more may not fit the reply


async def take_apart(
    judge: PromptedJudge, inputs: Mapping[str, str], taken: Input, context: JudgeContext, replies: list[Reply]
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
            secret=context.secret,
        )
        replies.append(await context.ask(prompt))
        # A model that repeats itself has made one statement, not several.
        made |= dict.fromkeys(item.statement.strip() for item in replies[-1].value.statements)
    return [text for text in made if text]


async def check_statements(
    judge: PromptedJudge,
    verify: str,
    inputs: Mapping[str, str],
    context: JudgeContext,
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
    supports it. Of one that no call supports, the first reason is kept. A decision model gives each a
    probability, the verdict's score; of several calls the highest. Raises CallFailed.
    """
    cited = against == "contexts"
    settled: dict[int, Verdict] = {}
    decider = context.decider if context.decides(context.model) else None
    for batch in batches(statements, A_DECISION) if decider else batches(statements):
        most = room(judge, context, texts, [verify, *batch.values(), inputs.get("question", "")])
        still, left = batch, cut_contexts(texts, most)
        while still and left:
            passages, left = await take_best(left, "\n".join(still.values()), most)
            numbers = tuple(sorted({passage.number for passage in passages})) if cited else None

            async def ask(
                numbered: Mapping[int, str],
                text: str = show(passages, numbered=cited),
                numbers: Numbers = numbers,
            ) -> Reply:
                prompt = render_prompt(
                    judge,
                    verify,
                    {**inputs, against: text, "statements": numbered_lines(numbered)},
                    verdicts_form(cited=cited),
                    verdicts_reply(tuple(numbered), numbers),
                    held_to=verdicts_reply(None, () if cited else None),
                    secret=context.secret,
                )
                return await context.ask(prompt)

            if decider is not None:
                named = {
                    name: text
                    for name, text in inputs.items()
                    if name == "question" or f"{{{name}}}" in verify
                }
                shown = {**named, against: show(passages, numbered=cited)}
                verdicts = await decider.each(verify, shown, still, context, replies)
            else:
                verdicts = await one_verdict_each(still, ask, replies)
            for number, verdict in verdicts.items():
                before = settled.get(number)
                better = before is not None and (verdict.score or 0.0) > (before.score or 0.0)
                if verdict.verdict or before is None or better:
                    is_shown = verdict.verdict and verdict.context in (numbers or ())
                    settled[number] = Verdict(
                        id=number,
                        statement=still[number],
                        supported=verdict.verdict,
                        reason=verdict.reason.strip(),
                        context=verdict.context if is_shown else None,  # any other is as good as none
                        score=verdict.score,
                    )
            still = {number: text for number, text in still.items() if not verdicts[number].verdict}
    return [settled[number] for number in statements]


NO_CONTEXT = "nothing was retrieved that could support it"


def own_sentences(text: str, answer: Answer) -> list[str]:
    """Return the sentences of a text that state something, each once, in their order; no model is asked.

    Marks of citations, headings, questions and refusals are left out, and so is what has fewer than three
    words, unless nothing else is there.
    """
    cut = [statement.text for statement in cited_statements(text, answer.contexts or [])]
    stated = [sentence for sentence in cut or [" ".join(text.split())] if sentence and no_refusal(sentence)]
    return list(dict.fromkeys(stated))


async def judge_statements(
    judge: PromptedJudge,
    verify: str,
    answer: Answer,
    inputs: dict[str, str],
    context: JudgeContext,
    *,
    by_sentence: bool = False,
) -> Finding:
    """Return the share of the answer's statements that the contexts support, with every verdict.

    by_sentence: its sentences are the statements. By a decision model the share is the mean of their
    probabilities. An answer that states nothing (a refusal) has nothing to check: `not_applicable`; without
    any context either, the metadata hold the score that the method gives by definition. Without any context
    no statement is supported. A judge whose prompt names the reference in place of the answer takes it apart.
    """
    replies: list[Reply] = []
    taken: Input = "answer" if "answer" in inputs else "reference"
    cut = (
        own_sentences(inputs[taken], answer)
        if by_sentence
        else await take_apart(judge, inputs, taken, context, replies)
    )
    statements = dict(enumerate(cut, 1))
    contexts = texts_of(answer.contexts)
    retrieved = any(text.strip() for text in contexts)
    if not statements:
        why = NOTHING_STATED if retrieved else BY_DEFINITION
        return nothing_to_check(why.format(text=taken), replies, by_definition=not retrieved)
    if retrieved:
        verdicts = await check_statements(
            judge, verify, inputs, context, replies, statements=statements, against="contexts", texts=contexts
        )
    else:
        verdicts = [
            Verdict(id=n, statement=text, supported=False, reason=NO_CONTEXT)
            for n, text in statements.items()
        ]
    n_supported = sum(verdict.supported for verdict in verdicts)
    chances = [verdict.score for verdict in verdicts if verdict.score is not None]
    spent = add_costs(replies)
    return Finding(
        score=round(sum(chances) / len(chances), 6) if chances else n_supported / len(verdicts),
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


CLAIM_PARTS = ("claim_precision", "claim_recall")
NOT_STATED = NOTHING_STATED.format(text="answer")
UNANSWERABLE = "the question cannot be answered, so no reference states a claim"


async def judge_claims(
    judge: PromptedJudge, verify: str, answer: Answer, inputs: dict[str, str], context: JudgeContext
) -> Finding:
    """Return the F1 of claims, with precision and recall as parts, and every verdict.

    Of several references the one counts whose words are nearest to the answer's (token F1). An answer that
    states nothing has no precision; its recall and score are 0. Without a claim in the reference (the
    question cannot be answered, or the reference states nothing) the judge does not apply.
    """
    texts = references(answer)
    if not texts:
        return nothing_to_check(UNANSWERABLE, [])
    inputs = inputs | {"reference": max(texts, key=lambda text: token_f1(answer.answer, text))}
    # The reference is taken apart, and the answer read, by the very same prompts: each in the other's place.
    swapped = inputs | {"answer": inputs["reference"], "reference": inputs["answer"]}
    replies: list[Reply] = []
    wanted = await take_apart(judge, swapped, "answer", context, replies)
    if not wanted:
        return nothing_to_check(NOTHING_STATED.format(text="reference"), replies)
    made = await take_apart(judge, inputs, "answer", context, replies)
    of_answer = await _check(judge, verify, inputs, context, replies, dict(enumerate(made, 1)))
    if made:
        of_reference = await _check(
            judge, verify, swapped, context, replies, dict(enumerate(wanted, len(made) + 1))
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
    reasons = [part.rationale for part in parts if part.rationale]
    return Finding(
        score=harmonic_mean(*(part.score for part in parts)) if len(parts) > 1 else 0.0,
        rationale="; ".join(reasons if made else [NOT_STATED, *reasons]),
        verdicts=[
            msgspec.structs.replace(verdict, of=side)
            for side, verdicts in sides.items()
            for verdict in verdicts
        ],
        usage=spent.usage,
        cost_usd=spent.cost_usd,
        parts=tuple(parts),
    )


async def _check(
    judge: PromptedJudge,
    verify: str,
    inputs: dict[str, str],
    context: JudgeContext,
    replies: list[Reply],
    statements: dict[int, str],
) -> list[Verdict]:
    """Return the verdicts on statements against what stands as the reference."""
    texts = [inputs["reference"]]
    return await check_statements(
        judge, verify, inputs, context, replies, statements=statements, against="reference", texts=texts
    )


def _share(metric: str, side: str, verdicts: list[Verdict]) -> CriterionOutcome:
    """Return the share of one side's statements that the other supports."""
    other = {"answer": "reference", "reference": "answer"}[side]
    n_supported = sum(verdict.supported for verdict in verdicts)
    return CriterionOutcome(
        metric=metric,
        score=n_supported / len(verdicts),
        rationale=f"the {other} supports {share_of(n_supported, len(verdicts), 'statement')} of the {side}",
    )


def harmonic_mean(precision: float, recall: float) -> float:
    """Return the F1 of precision and recall, 0 where both are 0."""
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


FIELD = "useful"
GLIMPSE = 160  # characters of a context that stand in its verdict
BLANK = "the context is empty"
NOTHING_RETRIEVED = "nothing was retrieved, so there is nothing to be of use"


async def judge_contexts(
    judge: PromptedJudge, answer: Answer, inputs: dict[str, str], context: JudgeContext
) -> Finding:
    """Return the share of the contexts that are of use, with a verdict on each.

    A context too long for one call is shown part by part, and is of use if any part is. A blank one is of
    none. Where nothing was retrieved the judge does not apply.
    """
    texts = texts_of(answer.contexts)
    if not texts:
        return nothing_to_check(NOTHING_RETRIEVED, [])
    beside = [text for name, text in inputs.items() if name != "contexts"]
    most = room(judge, context, texts, beside)
    left = cut_contexts(texts, most)
    replies: list[Reply] = []
    verdicts = {n: _use_verdict(n, text, useful=False, reason=BLANK) for n, text in enumerate(texts, 1)}
    answered: set[int] = set()
    while left:
        passages, left = take_next(left, most)
        for number, reply in (await _ask(judge, inputs, context, replies, passages)).items():
            if reply.verdict or number not in answered:
                verdicts[number] = _use_verdict(
                    number, texts[number - 1], useful=reply.verdict, reason=reply.reason.strip()
                )
            answered.add(number)
        left = [own for own in left if not verdicts[own.number].supported]
    n_useful = sum(verdict.supported for verdict in verdicts.values())
    spent = add_costs(replies)
    return Finding(
        score=n_useful / len(texts),
        rationale=f"of use for the question: {share_of(n_useful, len(texts), 'context')}",
        verdicts=list(verdicts.values()),
        usage=spent.usage,
        cost_usd=spent.cost_usd,
    )


async def _ask(
    judge: PromptedJudge,
    inputs: dict[str, str],
    context: JudgeContext,
    replies: list[Reply],
    passages: Sequence[ContextPassage],
) -> dict[int, VerdictReply]:
    """Return the verdict on each context of which something is shown, by its number."""
    numbers = dict.fromkeys(passage.number for passage in passages)

    async def ask(numbered: Mapping[int, str]) -> Reply:
        text = show(passage for passage in passages if passage.number in numbered)
        prompt = render_prompt(
            judge,
            judge.prompt,
            inputs | {"contexts": text},
            verdicts_form(name=FIELD),
            verdicts_reply(tuple(numbered), name=FIELD),
            held_to=verdicts_reply(None, name=FIELD),
            secret=context.secret,
        )
        return await context.ask(prompt)

    return await one_verdict_each(dict.fromkeys(numbers, ""), ask, replies, what="context")


def _use_verdict(number: int, text: str, *, useful: bool, reason: str) -> Verdict:
    flat = " ".join(text.split())
    glimpse = flat if len(flat) <= GLIMPSE else flat[:GLIMPSE].rstrip() + "…"
    return Verdict(
        id=number, statement=glimpse, supported=useful, reason=reason, context=number, of="contexts"
    )


# Statements or contexts that a fake verdict speaks of: a judge passes over those that are not there.
FAKED = 4


class StatementsJudge(PromptedJudge, frozen=True, kw_only=True, tag="statements"):
    """A judge that checks statements against contexts, answer and reference both ways, or contexts alone.

    verify: the second prompt, by which statements are checked. empty: what becomes of an answer that states
    nothing where nothing was retrieved either: it does not apply, or gets 1 as the method was published.
    split: by whom the answer is taken apart: the model, or by ourselves, at its sentences.
    """

    verify: str | None = None
    empty: Literal["not_applicable", "one"] = "not_applicable"
    split: Literal["model", "sentences"] = "model"

    fixed_scale: ClassVar[Scale | None] = ZERO_TO_ONE
    assumption: ClassVar[str | None] = ASSUMPTION

    @property
    def checks_claims(self) -> bool:
        """Whether it takes apart answer and reference, and checks each against the other."""
        return "contexts" not in self.inputs

    @property
    def checks_contexts(self) -> bool:
        """Whether it gives a verdict on each context, and not on statements of a text."""
        return not {"answer", "reference"}.intersection(self.inputs)

    @property
    def needs_words(self) -> str | None:
        """Why a decision model cannot be asked by it, and what can be done; None where it can."""
        if self.split == "sentences":
            return None
        if self.checks_claims or self.checks_contexts:
            return super().needs_words
        return "Name a model that writes, or use @split=sentences, which cuts the answer at its sentences."

    @property
    def metrics(self) -> list[str]:
        """The metrics of its judgements: its score's, then both directions of a judge of claims."""
        return [self.measures, *(CLAIM_PARTS if self.checks_claims else ())]

    def verdict(self, score: bool | int | float | str, reason: str) -> tuple[str, dict[str, object]]:
        """Return the field of the reply that holds the score, and a whole reply with this score."""
        of_answer = "answer" in self.inputs
        named = {"context": 1} if of_answer and "contexts" in self.inputs else {}
        field = {"supported" if of_answer else FIELD: bool(score)}
        return "score", {
            "verdicts": [{"id": n, "reason": reason, **named, **field} for n in range(1, FAKED + 1)]
        }

    def _texts_beside(self) -> list[str]:
        return [self.verify or ""]

    def _own_problems(self) -> Iterator[tuple[str, str]]:
        if self.checks_contexts and self.verify:
            yield (
                "verify",
                "a judge of contexts alone has no verify: its prompt asks for the verdict on each context.",
            )
        if not self.checks_contexts and not self.verify:
            yield "verify", "a judge of kind statements needs a verify."
        if self.split == "sentences" and (self.checks_claims or self.checks_contexts):
            yield (
                "split",
                "split is for a judge that checks an answer's statements against contexts. Take it out.",
            )
        if self.empty == "one" and (self.checks_claims or self.checks_contexts):
            yield (
                "empty",
                "empty is for a judge that checks an answer's statements against contexts. Take it out.",
            )
        if self.checks_claims and not {"answer", "reference"}.issubset(self.inputs):
            yield (
                "inputs",
                "a judge of kind statements checks against contexts, or answer and reference against each "
                "other: add what it checks by to inputs.",
            )
        if self.verify and "{statements}" not in self.verify:
            yield (
                "verify",
                "verify does not name {statements}. Write {statements} where it says what to check.",
            )

    async def find_once(self, answer: Answer, inputs: dict[str, str], context: JudgeContext) -> Finding:
        """Return the share of statements that are supported, or of contexts that are of use."""
        if self.checks_contexts:
            return await judge_contexts(self, answer, inputs, context)
        if self.checks_claims:
            return self.settled(await judge_claims(self, self.verify or "", answer, inputs, context))
        by_sentence = self.split == "sentences"
        return self.settled(
            await judge_statements(self, self.verify or "", answer, inputs, context, by_sentence=by_sentence)
        )

    def settled(self, finding: Finding) -> Finding:
        """Return a finding with the score that the method gives by definition, where the file asks for it."""
        if self.empty == "one" and (finding.metadata or {}).get("by_definition"):
            return msgspec.structs.replace(finding, score=1.0, status="scored")
        return finding
