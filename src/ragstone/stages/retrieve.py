"""Stage: questions and chunks -> rankings."""

from collections.abc import AsyncIterator, Iterable, Sequence

from ragstone.config import RetrieveSection
from ragstone.engine.mapping import on_cluster
from ragstone.engine.rounds import in_rounds
from ragstone.engine.session import Session
from ragstone.records import Chunk, Document, Question, Ranking
from ragstone.retrieval.rerank import asks_a_model
from ragstone.retrieval.search import build_search
from ragstone.stages.retriever_deps import retriever_deps
from ragstone.stages.search_work import rank_on_cluster


async def rank_questions(
    questions: Sequence[Question],
    chunks: Sequence[Chunk],
    session: Session,
    *,
    documents: Iterable[Document] = (),
    declared: RetrieveSection | None = None,
) -> list[Ranking]:
    """Return the rankings that `[retrieve]` declares, one a question, in order.

    documents: those of the chunks, where a retriever elsewhere returns texts to be found in them. declared:
    in place of `[retrieve]`; its filter and its embedder stay.
    """
    declared = declared or session.settings.retrieve
    if on_cluster(session):
        return await rank_on_cluster(questions, chunks, session, documents, declared)
    search = await build_search(declared.retriever, chunks, retriever_deps(session, documents))
    if not asks_a_model(declared.retriever, session.settings.retrievers):
        return await search(questions, declared.k)

    async def rows() -> AsyncIterator[Ranking]:
        for ranking in await search(questions, declared.k):
            yield ranking

    return [ranking async for ranking in in_rounds(rows, session, asking=rows)]
