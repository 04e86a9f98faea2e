"""What a call can show of contexts, nothing left out; exactly one verdict on each numbered thing of it."""

import functools
import itertools
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any

import msgspec

from ragstone.kernel.corpus.sentences import sentence_spans
from ragstone.kernel.corpus.splitting import pack
from ragstone.kernel.errors import plural
from ragstone.kernel.judging.fields import PromptedJudge
from ragstone.kernel.judging.finding import Finding, FindingOf, JudgeContext, add_costs, unparsable
from ragstone.kernel.judging.inputs import texts_of
from ragstone.kernel.llm import Reply
from ragstone.kernel.records import Answer, Usage
from ragstone.kernel.retrieval.bm25 import rank_by_bm25

A_CALL = 15  # verdicts in one reply: more may not fit its limit, and small models lose count
MOST_REASON = 300  # characters, told to the model: a longer reason is no reason to lose a verdict

AskAbout = Callable[[Mapping[int, str]], Awaitable[Reply]]
"""Asks about some numbered things; the reply's value has `verdicts`."""


class VerdictReply(msgspec.Struct, frozen=True):
    """One verdict. context: the number that it names as its evidence, 0 for none.

    score: the probability of a yes, by a decision model.
    """

    id: int
    reason: str
    verdict: bool
    context: int = 0
    score: float | None = None


def batches(numbered: Mapping[int, str], most: int = A_CALL) -> Iterator[dict[int, str]]:
    """Yield the things by as many as one call asks about."""
    rest = iter(numbered.items())
    while batch := dict(islice(rest, most)):
        yield batch


async def one_verdict_each(
    numbered: Mapping[int, str], ask: AskAbout, replies: list[Reply], *, what: str = "statement"
) -> dict[int, VerdictReply]:
    """Return exactly one verdict on each of the things, by number; `replies` gains what was said.

    One without a verdict, or with two that disagree, is asked about once more; verdicts on numbers that
    were not asked about are passed over. what: one of the things is called in the error. Raises CallFailed
    (unparsable) if one is still open.
    """
    settled: dict[int, VerdictReply] = {}
    for _attempt in range(2):
        missing = {number: text for number, text in numbered.items() if number not in settled}
        reply = await ask(missing)
        replies.append(reply)
        verdicts = [
            msgspec.convert(verdict, VerdictReply, from_attributes=True) for verdict in reply.value.verdicts
        ]
        settled |= _undisputed(verdicts, missing)
        if len(settled) == len(numbered):
            return settled
    open_ids = ", ".join(str(number) for number in numbered if number not in settled)
    raise unparsable(f"no single verdict for {what} {open_ids} of {len(numbered)} in one call", replies)


def _undisputed(verdicts: list[VerdictReply], numbered: Mapping[int, str]) -> dict[int, VerdictReply]:
    """Return the verdicts on what was asked about, without those that contradict each other."""
    by_number: dict[int, set[bool]] = {}
    for verdict in verdicts:
        by_number.setdefault(verdict.id, set()).add(verdict.verdict)
    return {
        verdict.id: verdict
        for verdict in verdicts
        if verdict.id in numbered and len(by_number[verdict.id]) == 1
    }


def numbered_lines(numbered: Mapping[int, str]) -> str:
    """Return the things as a call shows them. Each stands in one line, so that none can pose as two."""
    return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in numbered.items())


def share_of(n: int, n_all: int, thing: str) -> str:
    """Return `2 of 3 statements`."""
    return f"{n} of {plural(n_all, thing)}"


@functools.lru_cache(maxsize=256)
def verdicts_reply(
    ids: tuple[int, ...] | None, contexts: tuple[int, ...] | None = None, name: str = "supported"
) -> type[msgspec.Struct]:
    """Return the form of a reply with a verdict on each of these ids, in a field of this name.

    ids: None for any, which is what models are held to (see Prompt.held_to). contexts: the numbers of which
    one is named as evidence, or 0; None asks for none. A reply that departs from ids, numbers and how many
    there are is read all the same, for one_verdict_each knows what to do with it.
    """
    number = int if ids is None else Annotated[int, msgspec.Meta(extra_json_schema={"enum": list(ids)})]
    fields: list[tuple[str, Any] | tuple[str, Any, Any]] = [
        ("id", number),
        ("reason", Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": MOST_REASON})]),
    ]
    if contexts is not None:
        of_row = msgspec.Meta(extra_json_schema={} if ids is None else {"enum": [0, *contexts]})
        context_number = Annotated[int, of_row]
        fields.append(("context", context_number, 0))
    renamed = {} if name == "verdict" else {"verdict": name}
    verdict = msgspec.defstruct(
        "StatementVerdict",
        [*fields, ("verdict", bool)],
        rename=renamed,
        kw_only=True,
        frozen=True,
        forbid_unknown_fields=True,
    )
    fewest, most = (1, A_CALL) if ids is None else (len(ids), len(ids))
    count = msgspec.Meta(extra_json_schema={"minItems": fewest, "maxItems": most})
    return msgspec.defstruct(
        "VerdictsReply",
        [("verdicts", Annotated[list[verdict], count])],  # type: ignore[valid-type]
        frozen=True,
        forbid_unknown_fields=True,
    )


def verdicts_form(*, cited: bool = False, name: str = "supported") -> str:
    """Return the form of such a reply in words."""
    context = '"context": the number of the passage that supports it, or 0, ' if cited else ""
    return (
        '{"nonce": the code, "verdicts": [{"id": 1, "reason": one short sentence, '
        f'{context}"{name}": true or false}}, ...]}}'
    )


# Of contexts in one call, in bytes of UTF-8: some 3,000 tokens of English. Larger windows exist, yet small
# models overlook what stands in the middle of a long prompt (Liu et al. 2023), and a call costs little more.
MOST_BYTES = 12_000
LEAST_BYTES = 1_000  # where the other texts leave less, the endpoint itself says that they are too long
BYTES_A_TOKEN = 3  # or more, in most scripts
FRAME_TOKENS = 300  # what a prompt holds beside its texts: the form of the reply, tags, codes
PARTS = 4  # of a call's room: parts of long contexts are so short that the best of several fit in one call
LABEL = 10  # characters of a passage's number and of the gap after it


class ContextPassage(msgspec.Struct, frozen=True):
    """A context or a part of one. number: of the context, from 1. start: where it begins, in characters."""

    number: int
    start: int
    text: str


def room(
    judge: PromptedJudge,
    context: JudgeContext,
    contexts: Sequence[str],
    beside: Iterable[str] = (),
    *,
    most_bytes: int | None = MOST_BYTES,
) -> int:
    """Return how many characters of these contexts a call can show.

    beside: the other texts in it, but for the judge's prompt. most_bytes: None allows all that the model's
    window leaves; where the window is not known, MOST_BYTES hold all the same.
    """
    n_bytes = sum(len(text.encode("utf-8", "surrogatepass")) for text in contexts)
    n_characters = sum(map(len, contexts))
    if context.context_tokens is None:
        left = MOST_BYTES
    else:
        taken = sum(len(text.encode("utf-8", "surrogatepass")) for text in [judge.prompt, *beside])
        tokens = context.context_tokens(context.model) - judge.max_tokens - FRAME_TOKENS
        left = tokens * BYTES_A_TOKEN - taken
    allowed = max(LEAST_BYTES, left if most_bytes is None else min(left, most_bytes))
    return allowed * n_characters // n_bytes if n_bytes else allowed


def cut_text(text: str, most: int) -> list[str]:
    """Return the parts of a text, none longer than `most` characters, which joined are the text again.

    A cut stands where a sentence ends, if one does; white space belongs to the part before it.
    """
    if len(text) <= most:
        return [text]
    starts = [start for start, _ in pack(text, sentence_spans(text), most, 0)]
    edges = [0, *starts[1:], len(text)]
    return [
        text[at : min(at + most, end)]
        for start, end in itertools.pairwise(edges)
        for at in range(start, end, most)
    ]


def cut_contexts(texts: Sequence[str], most: int) -> list[ContextPassage]:
    """Return the contexts as passages that fit a call of `most` characters; a blank one gives none."""
    passages: list[ContextPassage] = []
    for number, text in enumerate(texts, 1):
        start, fits = 0, len(text) + LABEL <= most
        for part in cut_text(text, len(text) if fits else most // PARTS - LABEL) if text.strip() else []:
            passages.append(ContextPassage(number, start, part))
            start += len(part)
    return passages


def show(passages: Iterable[ContextPassage], *, numbered: bool = True) -> str:
    """Return the passages as a call shows them: in their own order, each under its context's number."""
    blocks: list[str] = []
    end = (0, 0)
    for passage in sorted(passages, key=lambda passage: (passage.number, passage.start)):
        if end == (passage.number, passage.start):
            blocks[-1] += passage.text
        else:
            blocks.append(f"[{passage.number}] {passage.text}" if numbered else passage.text)
        end = (passage.number, passage.start + len(passage.text))
    return "\n\n".join(blocks)


async def take_best(
    passages: Sequence[ContextPassage], wanted: str, most: int
) -> tuple[list[ContextPassage], list[ContextPassage]]:
    """Return the passages for the next call, and those left for later ones.

    Where not all fit, those that have most in common with `wanted` (BM25) come first.
    """
    if _size(passages) <= most:
        return list(passages), []
    [hits] = await rank_by_bm25([passage.text for passage in passages])([wanted], len(passages), None)
    order = dict.fromkeys([*(at for at, _ in hits), *range(len(passages))])
    taken: list[ContextPassage] = []
    for at in order:
        if _size([*taken, passages[at]]) <= most or not taken:
            taken.append(passages[at])
    return taken, [passage for passage in passages if passage not in taken]


def take_next(
    passages: Sequence[ContextPassage], most: int
) -> tuple[list[ContextPassage], list[ContextPassage]]:
    """Return as many passages as one call can show and give verdicts on, in their order, and those left."""
    n = 1
    while n < min(len(passages), A_CALL) and _size(passages[: n + 1]) <= most:
        n += 1
    return list(passages[:n]), list(passages[n:])


def _size(passages: Sequence[ContextPassage]) -> int:
    return sum(len(passage.text) + LABEL for passage in passages)


async def judge_parts(
    judge: PromptedJudge, answer: Answer, inputs: dict[str, str], context: JudgeContext, find: FindingOf
) -> Finding:
    """Return the finding of a yes/no judge that reads contexts, which may be more than one call can show.

    A judge of the contexts alone says no where there are none. Contexts that fit the model's window are
    judged in one call. Others are shown part by part, those first that have most in common with the
    question: yes if any part by itself gives a yes, so what only several parts together would give is not
    seen; the metadata then hold `context_parts`, the number of calls made.
    """
    texts = texts_of(answer.contexts)
    beside = [text for name, text in inputs.items() if name != "contexts"]
    most = room(judge, context, texts, beside, most_bytes=None)
    left = cut_contexts(texts, most)
    if not left and "answer" not in inputs:
        return Finding(score=0.0, rationale="nothing was retrieved", usage=Usage(calls=0), cost_usd=0.0)
    findings: list[Finding] = []
    while left or not findings:
        passages, left = await take_best(left, " ".join(beside), most)
        findings.append(await find(answer, inputs | {"contexts": show(passages)}, context))
        if findings[-1].score and findings[-1].score > 0.5:
            break
    if len(findings) == 1 and not left:
        return findings[0]
    return _highest(findings)


def _highest(findings: Sequence[Finding]) -> Finding:
    """Return the finding with the highest score, the first of equals, with what all of them took."""
    best = max(findings, key=lambda finding: -1.0 if finding.score is None else finding.score)
    spent = add_costs(findings)
    return msgspec.structs.replace(
        best,
        usage=spent.usage,
        cost_usd=spent.cost_usd,
        metadata=(best.metadata or {}) | {"context_parts": len(findings)},
    )
