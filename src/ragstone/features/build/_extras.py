"""Questions besides: those that need two documents or three, and those that no document answers."""

import functools
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from itertools import combinations
from typing import Annotated

import msgspec
import numpy as np
from numpy.random import Generator

from ragstone.features.build._built import Written, call_failed, noted
from ragstone.features.build._chains import (
    MOST_CHAINS,
    Chain,
    are_related,
    chain_passages,
    names_link,
    suffices_alone,
)
from ragstone.features.build._critique import ask_closed_book, drop_known, find_answer
from ragstone.features.build._fact_writing import tidy
from ragstone.features.build._filling import (
    WritingTask,
    WritingTools,
    WrittenCandidates,
    fill,
    sift_questions,
)
from ragstone.features.build._losses import lose
from ragstone.features.build._styles import DialogueTurn, load_style
from ragstone.features.build._writing import DRAWN_AT, IN_LANGUAGE, STERN, write_questions
from ragstone.kernel.dataset.candidate import Candidate, SourcePassage
from ragstone.kernel.dataset.evidence import find_evidence
from ragstone.kernel.dataset.languages import language_name, speaks
from ragstone.kernel.files.language import detect_language
from ragstone.kernel.llm import MATERIAL, Ask, CallFailed, Prompt, fenced_prompt, row_nonce
from ragstone.kernel.records import Chunk, Question
from ragstone.kernel.retrieval.search import build_search

SearchPassages = Callable[[str], Awaitable[list[SourcePassage]]]


async def pair_passages(
    passages: Sequence[SourcePassage], search: SearchPassages, n: int, rng: Generator
) -> list[tuple[SourcePassage, SourcePassage]]:
    """Return up to n pairs of related passages, the two of a pair from different documents.

    Related is what `search` finds by the text of the first: the nearest that is no near duplicate. No pair
    comes twice, in either order, and no passage in more than MOST_CHAINS. Fewer than n where there are no
    more; in an order that depends on rng alone.
    """
    pairs: dict[frozenset[tuple[str, int]], tuple[SourcePassage, SourcePassage]] = {}
    used: Counter[tuple[str, int]] = Counter()
    # Round by round, so that all passages have had their turn before one has its second.
    for most in range(1, MOST_CHAINS + 1):
        for at in rng.permutation(len(passages)):
            first = passages[at]
            if len(pairs) >= n:
                return list(pairs.values())
            if used[_key(first)] >= most:
                continue
            for other in await search(first.text):
                key = frozenset((_key(first), _key(other)))
                if used[_key(other)] < most and key not in pairs and are_related(first, other):
                    pairs[key] = (first, other)
                    used.update(key)
                    break
    return list(pairs.values())


async def needs_all(
    candidate: Candidate, *, ask: Ask, secret: bytes, settle: Callable[[Candidate], Candidate] = lambda c: c
) -> Candidate:
    """Return the candidate, lost as `single_hop` where it is answered with one of its passages left out.

    A call for each passage that is left out, until one finds the answer all the same. A call that fails loses
    it as `not_criticised`. One that is lost already, or was written from one passage, is returned as it is.
    settle: what becomes of it after each call. The reasons are in metadata `hops`, by the documents shown.
    """
    if candidate.loss is not None or len(candidate.passages) < 2:
        return candidate
    reasons: dict[str, str] = {}
    for shown in combinations(candidate.passages, len(candidate.passages) - 1):
        try:
            answer = await find_answer(candidate.question.question, shown, ask=ask, secret=secret)
        except CallFailed as failure:
            return lose(candidate, "not_criticised", f"needs_all: {failure.status}, {failure}")
        names = ", ".join(passage.document_id for passage in shown)
        reasons[names] = answer.reason.strip()
        candidate = noted(candidate, hops=reasons)
        if answer.answered:
            candidate = settle(lose(candidate, "single_hop", f"{names} alone: {answer.reason.strip()}"))
        if candidate.loss is not None:
            break
    return candidate


def _key(passage: SourcePassage) -> tuple[str, int]:
    return passage.document_id, passage.start


VERSION = 1  # of the wording below; a change of it is a new one
NEAREST = 5  # passages that are looked at for an answer, the question's own among them
MOST_BYTES = 15_000  # of these passages: some 5,000 tokens in any script, so that a context of 8,192 does
MAX_TOKENS = 400
SHOWN = 200  # characters of a quotation that is not in the text

TASK = (
    "You write trick questions for a test of a search engine: <passage> seems to answer them and does not, "
    "so the right reply is that the documents do not tell. Those who ask: {audience}.\n\n"
    "Choose something that <passage> tells of, and a detail of it that somebody would want to know and that "
    "<passage> leaves out: a number, date, place, name, reason or condition. First write into missing which "
    "detail that is. Then copy into quote the words of <passage> that a careless reader would take for the "
    "answer, exactly as they stand there, at most two sentences or five lines of code. Then write a question "
    "for the missing detail. It says by name what it is about, makes sense to somebody who has not seen "
    "<passage>, and never mentions a passage, a text or a document. Then write into wrong_answer, in a few "
    "words, what the careless reader would reply."
)
FORM = '{"nonce": the code, "missing": "...", "quote": "...", "question": "...", "wrong_answer": "..."}'

# Told to the model and not demanded of it: see writing.py.
Short = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 300})]
Long = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": 500})]


class NegativeReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the passage leaves out, what may be taken for it, the question, and the wrong answer."""

    missing: Short
    quote: Long
    question: Short
    wrong_answer: Short


async def write_negative(
    passage: SourcePassage,
    search: SearchPassages,
    *,
    audience: str,
    ask: Ask,
    secret: bytes,
    check: Ask | None = None,
    sample: int = 0,
) -> Written:
    """Return one question that no passage answers, lost where that is not so, or not known.

    search: a text -> the nearest passages of the corpus. check: asks the model that looks for an answer in
    them; without it the writer does. The question has `answerable` False, no reference, evidence or
    document_ids, and the tag style = negative; metadata `tempting` {document_id, start, end} is the span that
    may be taken for an answer, `wrong_answer` the answer that it tempts to, `missing` what is not told.

    Lost as `no_evidence` where the tempting words do not stand in the passage, `answerable` where a passage
    answers it, `not_criticised` where the call that looks for an answer failed. One in another language than
    its passage's is lost as `wrong_language` and asked for once more: then there are two candidates.
    """
    candidates: list[Candidate] = []
    for stern in (False, True):
        try:
            candidate = await _write(passage, audience, ask, secret, sample, stern=stern)
        except CallFailed as failure:
            return Written(candidates=candidates, failed=call_failed(failure), n_asked=1)
        candidates.append(candidate)
        if candidate.loss is None or candidate.loss.reason != "wrong_language":
            break
    if candidates[-1].loss is None:
        candidates[-1] = await check_negative(candidates[-1], search, ask=check or ask, secret=secret)
    return Written(candidates=candidates, n_asked=1)


async def check_negative(
    candidate: Candidate, search: SearchPassages, *, ask: Ask, secret: bytes
) -> Candidate:
    """Return the candidate, lost where its passage or the nearest others answer it, or the call failed."""
    question = candidate.question.question
    own = candidate.passages
    others = [passage for passage in await search(question) if passage not in own]
    try:
        answer = await find_answer(question, _fitting([*own, *others]), ask=ask, secret=secret)
    except CallFailed as failure:
        return lose(candidate, "not_criticised", f"answerable: {failure.status}, {failure}")
    candidate = noted(candidate, unanswered=answer.reason.strip())
    return lose(candidate, "answerable", answer.reason.strip()) if answer.answered else candidate


def write_prompt(passage: SourcePassage, audience: str, secret: bytes, sample: int, *, stern: bool) -> Prompt:
    """Return the call that asks for one negative; stern: once more, after one in another language."""
    task = TASK.format(audience=audience)
    if passage.lang:
        in_language = STERN if stern else IN_LANGUAGE
        task += "\n\n" + in_language.format(language=language_name(passage.lang))
    inputs = ({"title": passage.title} if passage.title else {}) | {"passage": passage.text}
    return fenced_prompt(
        f"{task}\n\n{MATERIAL}",
        inputs,
        form=FORM,
        reply=NegativeReply,
        nonce=row_nonce(secret, ["negative", str(VERSION), task, *inputs.values()]),
        max_tokens=MAX_TOKENS,
        sample=sample,
        temperature=DRAWN_AT if sample else None,
    )


async def _write(
    passage: SourcePassage, audience: str, ask: Ask, secret: bytes, sample: int, *, stern: bool
) -> Candidate:
    """Return what the model wrote, lost if its quotation or its language is wrong. Raises CallFailed."""
    reply = await ask(write_prompt(passage, audience, secret, sample, stern=stern))
    draft: NegativeReply = reply.value
    match = find_evidence(draft.quote, passage.text)
    text = tidy(draft.question)
    in_language = speaks(text, passage.lang)
    metadata: dict[str, object] = {
        "missing": tidy(draft.missing),
        "quote": draft.quote,
        "wrong_answer": tidy(draft.wrong_answer),
    }
    if match:
        start, end = passage.start + match.start, passage.start + match.end
        metadata["tempting"] = {"document_id": passage.document_id, "start": start, "end": end}
    question = Question(
        id="",
        question=text,
        answerable=False,
        lang=passage.lang if in_language and passage.lang else detect_language(text),
        tags={"style": "negative"} | ({"topic": passage.topic} if passage.topic else {}),
        metadata=metadata,
    )
    candidate = Candidate(question=question, passages=(passage,))
    if not in_language:
        seen = detect_language(text)
        return lose(candidate, "wrong_language", f"{seen or 'unclear'} in place of {passage.lang}")
    return candidate if match else lose(candidate, "no_evidence", draft.quote[:SHOWN])


def _fitting(passages: Sequence[SourcePassage]) -> list[SourcePassage]:
    """Return the first of the passages, as many as are looked at and have room in a call."""
    fitting = list(passages[:1])
    n_bytes = len(passages[0].text.encode())
    for passage in passages[1:NEAREST]:
        n_bytes += len(passage.text.encode())
        if n_bytes > MOST_BYTES:
            break
        fitting.append(passage)
    return fitting


TRIES = 3  # calls for each question that is wanted: many near misses turn out to be answerable


async def add_extras(
    made: WrittenCandidates, passages: Sequence[SourcePassage], tools: WritingTools
) -> WrittenCandidates:
    """Return what there is with the multi-hop questions and the negatives that are wanted."""
    declared = tools.declared
    if not passages or not (declared.multi_hop or declared.negatives):
        return made
    search = await search_passages(passages)
    sift = functools.partial(sift_questions, tools=tools)
    if declared.multi_hop:
        rng, n = np.random.default_rng([tools.seed, 1]), TRIES * declared.multi_hop
        chains = chain_passages(passages, declared.hops, n, rng)
        if len(chains) < n and declared.hops == 2:  # what no name links may be near each other
            pairs = await pair_passages(passages, search, n - len(chains), rng)
            linked = {chain.passages for chain in chains} | {chain.passages[::-1] for chain in chains}
            chains += [Chain(passages=pair) for pair in pairs if pair not in linked]
        turn = DialogueTurn(style=load_style("multi_hop"))
        tasks = [WritingTask(1, functools.partial(_write_hop, chain, turn, tools)) for chain in chains]
        made = await fill(made, tasks, declared.multi_hop, tools.session, sift)
    if declared.negatives:
        rng = np.random.default_rng([tools.seed, 2])
        order = rng.permutation(len(passages))[: TRIES * declared.negatives]
        tasks = [
            WritingTask(1, functools.partial(_write_negative, passages[at], search, tools)) for at in order
        ]
        made = await fill(made, tasks, declared.negatives, tools.session, sift)
    return made


async def search_passages(passages: Sequence[SourcePassage]) -> SearchPassages:
    """Return a search by BM25 over passages: a text -> the nearest, best first."""
    chunks = [
        Chunk(
            id=str(number),
            document_id=passage.document_id,
            text=passage.text,
            start=passage.start,
            end=passage.end,
            metadata={"title": passage.title} if passage.title else None,
        )
        for number, passage in enumerate(passages)
    ]
    search = await build_search("bm25", chunks)

    async def nearest(text: str) -> list[SourcePassage]:
        (ranking,) = await search([Question(id="nearest", question=text)], NEAREST)
        return [passages[int(item.chunk_id)] for item in ranking.items if item.chunk_id is not None]

    return nearest


async def _write_hop(chain: Chain, turn: DialogueTurn, tools: WritingTools) -> Written:
    """Return a question along a chain, lost where it names a link or one passage suffices."""
    written = await write_questions(
        chain.passages,
        turn,
        1,
        audience=tools.declared.audience,
        ask=tools.write,
        secret=tools.secret,
        links=chain.links,
    )
    settle, candidates = tools.steps.settle, []
    for candidate in map(settle, written.candidates):
        if candidate.loss is None and (named := names_link(candidate.question.question, chain.links)):
            candidate = lose(candidate, "names_link", named)
        if candidate.loss is None and (alone := suffices_alone(candidate.question, candidate.passages)):
            detail = (
                f"{alone.document_id} alone has every word of question and answer that the documents have"
            )
            candidate = lose(candidate, "single_hop", detail)
        candidate = await needs_all(candidate, ask=tools.criticise, secret=tools.secret, settle=settle)
        if candidate.loss is None:
            candidate = drop_known(await ask_closed_book(candidate, ask=tools.write, secret=tools.secret))
        candidates.append(settle(candidate))
    return msgspec.structs.replace(written, candidates=candidates)


async def _write_negative(passage: SourcePassage, search: SearchPassages, tools: WritingTools) -> Written:
    return await write_negative(
        passage,
        search,
        audience=tools.declared.audience,
        ask=tools.write,
        check=tools.criticise,
        secret=tools.secret,
    )
