"""Passages for a query, out of the documents of the settings: for judges in Python that look things up."""

import asyncio

from ragstone.kernel.engine.session import Session
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.finding import Retrieve
from ragstone.kernel.records import Context, Question
from ragstone.kernel.retrieval.search import build_search
from ragstone.kernel.stages.corpus import corpus_on
from ragstone.kernel.stages.retrieve import retriever_deps
from ragstone.kernel.systems.rag import contexts_of


def open_retriever(session: Session) -> Retrieve:
    """Return what looks passages up as `[documents]`, `[chunk]` and `[retrieve]` declare.

    The documents are read and indexed at the first query. Raises ConfigError then if none are declared.
    """
    opening: list[asyncio.Task[Retrieve]] = []

    async def retrieve(query: str, k: int | None) -> list[Context]:
        if not opening:
            opening.append(asyncio.ensure_future(_retriever(session)))
        return await (await asyncio.shield(opening[0]))(query, k)

    return retrieve


async def _retriever(session: Session) -> Retrieve:
    declared = session.settings.retrieve
    corpus = await corpus_on(session)
    if not corpus.chunks:
        raise ConfigError(
            "a judge takes `retriever`, but there are no documents to search. Name them as paths in "
            "[documents] of ragstone.toml."
        )
    search = await build_search(declared.retriever, corpus.chunks, retriever_deps(session, corpus.documents))
    chunks = {chunk.id: chunk for chunk in corpus.chunks}
    documents = {document.id: document for document in corpus.documents}

    async def retrieve(query: str, k: int | None) -> list[Context]:
        [ranking] = await search([Question(id="query", question=query)], k or declared.k)
        return contexts_of(ranking, chunks, documents)

    return retrieve
