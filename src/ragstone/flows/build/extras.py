"""Questions besides: those that need two documents, and those that no document answers."""

import functools
from collections.abc import Awaitable, Callable, Sequence

import msgspec
import numpy as np

from ragstone.dataset.candidate import Passage
from ragstone.dataset.hops import needs_both, pair_passages
from ragstone.dataset.negatives import write_negative
from ragstone.dataset.styles import Turn, load_style
from ragstone.dataset.writing import Written, write_questions
from ragstone.flows.build.filling import Made, Task, fill
from ragstone.flows.build.sifting import Tools, sift_questions
from ragstone.records import Chunk, Question
from ragstone.retrieval.search import build_search

TRIES = 3  # calls for each question that is wanted: many near misses turn out to be answerable
NEAREST = 5  # passages that are looked at for an answer to a negative

SearchPassages = Callable[[str], Awaitable[list[Passage]]]


async def add_extras(made: Made, passages: Sequence[Passage], tools: Tools) -> Made:
    """Return what there is with the multi-hop questions and the negatives that are wanted."""
    declared = tools.declared
    if not passages or not (declared.multi_hop or declared.negatives):
        return made
    search = await search_passages(passages)
    sift = functools.partial(sift_questions, tools=tools)
    if declared.multi_hop:
        rng = np.random.default_rng([tools.seed, 1])
        pairs = await pair_passages(passages, search, TRIES * declared.multi_hop, rng)
        turn = Turn(style=load_style("multi_hop"))
        tasks = [Task(1, functools.partial(_write_hop, pair, turn, tools)) for pair in pairs]
        made = await fill(made, tasks, declared.multi_hop, tools.session, sift)
    if declared.negatives:
        rng = np.random.default_rng([tools.seed, 2])
        order = rng.permutation(len(passages))[: TRIES * declared.negatives]
        tasks = [Task(1, functools.partial(_write_negative, passages[at], search, tools)) for at in order]
        made = await fill(made, tasks, declared.negatives, tools.session, sift)
    return made


async def search_passages(passages: Sequence[Passage]) -> SearchPassages:
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

    async def nearest(text: str) -> list[Passage]:
        (ranking,) = await search([Question(id="nearest", question=text)], NEAREST)
        return [passages[int(item.chunk_id)] for item in ranking.items if item.chunk_id is not None]

    return nearest


async def _write_hop(pair: tuple[Passage, Passage], turn: Turn, tools: Tools) -> Written:
    """Return a question over two passages; one that a single passage answers is lost."""
    written = await write_questions(
        pair, turn, 1, audience=tools.declared.audience, ask=tools.write, secret=tools.secret
    )
    candidates = [
        await needs_both(one, ask=tools.criticise, secret=tools.secret) if one.loss is None else one
        for one in written.candidates
    ]
    return msgspec.structs.replace(written, candidates=candidates)


async def _write_negative(passage: Passage, search: SearchPassages, tools: Tools) -> Written:
    return await write_negative(
        passage,
        search,
        audience=tools.declared.audience,
        ask=tools.write,
        check=tools.criticise,
        secret=tools.secret,
    )
