"""The first places of a ranking in a new order, by a model of the door or by a cross-encoder.

A question whose call fails, or whose reply is of no use after one re-ask, keeps its first order; its
ranking's `metadata` then holds `reranked: false` and the `reason`, one of the statuses.
"""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.config import HybridSettings, RerankSettings, RetrieverSettings
from ragstone.errors import DataError
from ragstone.llm import CallFailed
from ragstone.records import Chunk, Question, Ranking, RankingItem
from ragstone.retrieval.crossencoder import PREFIX, order_by_cross_encoder
from ragstone.retrieval.listwise import order_by_model
from ragstone.retrieval.means import Search, SearchMeans
from ragstone.retrieval.passages import chunk_of, indexed_text, text_of


async def rerank(
    name: str, declared: RerankSettings, first: Search, chunks: Sequence[Chunk], means: SearchMeans
) -> Search:
    """Return the search whose first `depth` places are those of `first` in the order that `by` gives them.

    Places after them follow in their first order. Scores are 1 / place. Raises ModelError where the model
    cannot be had, MissingExtra without the package of a cross-encoder, DataError for a result without a text.
    """
    by_id = {chunk.id: chunk for chunk in chunks}
    if declared.by.startswith(PREFIX):
        reorder = await order_by_cross_encoder(declared.by.removeprefix(PREFIX), offline=means.offline)
    else:
        reorder = await order_by_model(declared.by, means)

    async def search(questions: Sequence[Question], k: int) -> list[Ranking]:
        rankings = await first(questions, max(k, declared.depth))
        by_question = {ranking.question_id: ranking for ranking in rankings}

        async def work(question: Question) -> Ranking:
            ranking = by_question[question.id]
            texts = [_passage(item, by_id, means, name) for item in ranking.items[: declared.depth]]
            metadata = dict(ranking.metadata or {})
            order: Sequence[int] = range(len(texts))
            try:
                if len(texts) > 1:
                    order, noted = await reorder(question.question, texts)
                    metadata |= noted
            except CallFailed as failure:
                metadata |= {"reranked": False, "reason": failure.status}
            items = [ranking.items[at] for at in order] + ranking.items[declared.depth :]
            return msgspec.structs.replace(ranking, items=_placed(items[:k]), metadata=metadata or None)

        return await means.each(f"rerank {name}", work, questions)

    return search


def _placed(items: Sequence[RankingItem]) -> list[RankingItem]:
    return [msgspec.structs.replace(item, score=1 / place) for place, item in enumerate(items, 1)]


def _passage(item: RankingItem, chunks: Mapping[str, Chunk], means: SearchMeans, name: str) -> str:
    """Return what the reranker reads of an item: a chunk's title with its text."""
    chunk = chunk_of(item, chunks)
    text = indexed_text(chunk) if chunk else text_of(item, chunks, means.documents)
    if text is None:
        raise DataError(
            f"[retrievers] {name}: there is no text of document {item.document_id!r} to rerank by. Give the "
            "documents, or name the JSONPath of its `text`."
        )
    return text


def asks_a_model(name: str, retrievers: Mapping[str, RetrieverSettings]) -> bool:
    """Return whether a retriever, or one that it is made from, asks a model of the door."""
    match retrievers.get(name):
        case RerankSettings() as declared:
            return not declared.by.startswith(PREFIX) or asks_a_model(declared.of, _without(name, retrievers))
        case HybridSettings() as declared:
            return any(asks_a_model(part, _without(name, retrievers)) for part in declared.of)
        case _:
            return False


def _without(name: str, retrievers: Mapping[str, RetrieverSettings]) -> dict[str, RetrieverSettings]:
    """Return the others, so that one that is made from itself ends here; building it says what is wrong."""
    return {other: declared for other, declared in retrievers.items() if other != name}
