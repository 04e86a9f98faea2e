"""Questions and the corpus -> the passages that contexts of every condition are taken from."""

from collections.abc import Collection, Sequence

from ragstone.config import Condition
from ragstone.engine.session import Session
from ragstone.experiments.conditions import DISTRACTED, RETRIEVED, Passages, search_depth
from ragstone.records import Chunk, Question, Ranking
from ragstone.retrieval.sameness import same_documents
from ragstone.retrieval.search import build_search
from ragstone.stages.corpus import ChunkedCorpus
from ragstone.stages.retrieve import rank_questions


async def gather_passages(
    questions: Sequence[Question],
    corpus: ChunkedCorpus,
    conditions: Collection[Condition],
    session: Session,
    *,
    n_distractors: int = 3,
) -> Passages:
    """Return what contexts_under needs for these questions and conditions.

    The retriever of `[retrieve]` and BM25 search only where a condition needs them. Raises DataError for a
    corpus without chunks where one does, and what rank_questions raises.
    """
    settings = session.settings
    same = same_documents(corpus.documents, settings.documents.copies)
    retrieved: list[Ranking] = []
    if set(conditions) & set(RETRIEVED):
        retrieved = await rank_questions(questions, corpus.chunks, session, documents=corpus.documents)
    lexical: list[Ranking] = []
    if set(conditions) & set(DISTRACTED):
        search = await build_search("bm25", corpus.chunks, session.search_means(corpus.documents))
        lexical = await search(questions, search_depth(questions, corpus.chunks, same, n_distractors))
    chunks_of: dict[str, list[Chunk]] = {}
    for chunk in corpus.chunks:
        chunks_of.setdefault(chunk.document_id, []).append(chunk)
    return Passages(
        documents={document.id: document for document in corpus.documents},
        chunks={chunk.id: chunk for chunk in corpus.chunks},
        chunks_of=chunks_of,
        retrieved={ranking.question_id: ranking for ranking in retrieved},
        lexical={ranking.question_id: ranking for ranking in lexical},
        same=same,
        n_distractors=n_distractors,
        seed=settings.run.seed,
    )
