"""The first places of a ranking, fused with the similarity of their vectors: no other chunk is embedded.

An index of all vectors pays where many questions are asked of a corpus. Where it would take hours, words
choose what is worth embedding. What they do not find stays unfound: it is no help for questions in another
language than the chunks.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from itertools import chain

import msgspec

from ragstone.kernel.config import ShortlistSettings
from ragstone.kernel.embedding.model import Embed, NotEmbedded, TextRefused
from ragstone.kernel.files.language import base_language
from ragstone.kernel.records import Chunk, Question, Ranking, RankingItem
from ragstone.kernel.retrieval._dense import with_its_document
from ragstone.kernel.retrieval.deps import RetrieverDeps, Search, chunk_tags
from ragstone.kernel.retrieval.fusion import FUSED_DEPTH, MEANING, WORDS, score_fusion
from ragstone.kernel.retrieval.passages import indexed_text, searched_text


def shortlist(
    name: str,
    declared: ShortlistSettings,
    first: Search,
    chunks: Sequence[Chunk],
    deps: RetrieverDeps,
    *,
    by_our_words: bool = True,
) -> Search:
    """Return the search that fuses what `first` finds with the cosine similarity of its first `candidates`.

    It fuses as `hybrid` does; a place that is not embedded counts as the least similar. The texts of one call
    are embedded together, each once. The embedder's store keeps them, so that the next question finds them
    there, and so does `hybrid`. In a forecast the order of `first` stays. by_our_words: `first` finds chunks
    by their words. Then, where the language of a question is one of no chunk, as far as both are known (en-GB
    is en, nb is no), its ranking's metadata has it as `lang_of_no_chunk`.

    Raises what the embedder raises, and DataError for a result without a text.
    """
    embed = deps.open_embedder(declared.embedder or deps.embedder)
    by_id = {chunk.id: chunk for chunk in chunks}
    langs = _langs(chunks) if by_our_words else set()

    async def search(questions: Sequence[Question], k: int) -> list[Ranking]:
        depth = max(k, declared.candidates, FUSED_DEPTH)
        rankings = await first(questions, depth)
        proposed = [
            [
                searched_text(item, by_id, deps.documents, name)
                for item in ranking.items[: declared.candidates]
            ]
            for ranking in rankings
        ]
        queries = [question.question for question in questions]
        try:
            similar = await asyncio.to_thread(_similarities, embed, queries, proposed)
        except TextRefused as refusal:
            texts = [indexed_text(chunk) for chunk in chunks]
            raise with_its_document(refusal, chunks, texts) from None
        fused = []
        for at, (question, ranking) in enumerate(zip(questions, rankings, strict=True)):
            items = ranking.items if similar is None else _fused(ranking.items, similar[at], depth)
            metadata = dict(ranking.metadata or {})
            if question.lang and langs and base_language(question.lang) not in langs:
                metadata["lang_of_no_chunk"] = question.lang
            fused.append(msgspec.structs.replace(ranking, items=items[:k], metadata=metadata or None))
        return fused

    return search


def _langs(chunks: Sequence[Chunk]) -> set[str]:
    """Return the languages of the chunks; none where that of any chunk is not known."""
    of_chunks = [chunk_tags(chunk, "lang") for chunk in chunks]
    return {base_language(lang) for langs in of_chunks for lang in langs} if all(of_chunks) else set()


def _similarities(
    embed: Embed, queries: Sequence[str], proposed: Sequence[Sequence[str]]
) -> list[list[float]] | None:
    """Return the cosine of each question with each of its texts; None in a forecast, which hears of all."""
    passages = {text: at for at, text in enumerate(dict.fromkeys(chain.from_iterable(proposed)))}
    numbers = {text: at for at, text in enumerate(dict.fromkeys(queries))}
    if not passages:
        return [[] for _ in queries]
    of_passages = of_queries = None
    with contextlib.suppress(NotEmbedded):
        of_passages = embed(list(passages), "passage")
    with contextlib.suppress(NotEmbedded):
        of_queries = embed(list(numbers), "query")
    if of_passages is None or of_queries is None:
        return None
    return [
        (of_passages[[passages[text] for text in texts]] @ of_queries[numbers[query]]).tolist()
        for query, texts in zip(queries, proposed, strict=True)
    ]


def _fused(items: Sequence[RankingItem], similar: Sequence[float], depth: int) -> list[RankingItem]:
    by_words = [(at, item.score) for at, item in enumerate(items)]
    by_meaning = list(enumerate(similar))
    scores = score_fusion([by_words, by_meaning], [WORDS, MEANING], [depth, len(by_meaning)])
    return [msgspec.structs.replace(items[at], score=score) for at, score in scores]
