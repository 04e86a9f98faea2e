"""Results of a retriever elsewhere -> places in the documents of our corpus, so that they can be measured."""

import math
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from ragstone.records import Chunk, Document, RankingItem


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One result as a retriever elsewhere returned it."""

    document_id: str
    chunk_id: str | None = None
    text: str | None = None
    score: float | None = None


class Corpus:
    """What the results are placed in: ids of documents, their texts where there are any, chunks by id."""

    def __init__(self, chunks: Sequence[Chunk], documents: Mapping[str, Document]) -> None:
        self.chunks = {chunk.id: chunk for chunk in chunks}
        self.documents = documents
        self.ids = {chunk.document_id for chunk in chunks} | set(documents)


def place_items(found: Sequence[Found], corpus: Corpus) -> list[RankingItem]:
    """Return the results as items, in their order, each of them once.

    A text that stands in its document gets `start` and `end`: it is looked for as it is, then with any white
    space for each gap. Any other text is kept in the item. Scores are the retriever's where each result has
    one and they do not rise (distances do), else 1 / place.
    """
    items: list[RankingItem] = []
    seen: set[RankingItem] = set()
    for one in found:
        item = _placed(one, corpus)
        if (place := msgspec.structs.replace(item, score=0.0)) not in seen:
            seen.add(place)
            items.append(item)
    scores = [item.score for item in items]
    falling = all(math.isfinite(score) for score in scores) and scores == sorted(scores, reverse=True)
    if falling and all(one.score is not None for one in found):
        return items
    return [msgspec.structs.replace(item, score=1 / place) for place, item in enumerate(items, 1)]


def _placed(found: Found, corpus: Corpus) -> RankingItem:
    item = RankingItem(
        document_id=found.document_id,
        chunk_id=found.chunk_id,
        score=0.0 if found.score is None else found.score,
    )
    if found.text is None:
        chunk = corpus.chunks.get(found.chunk_id or "")
        if chunk is None or chunk.document_id != found.document_id:
            return item
        return msgspec.structs.replace(item, start=chunk.start, end=chunk.end)
    document = corpus.documents.get(found.document_id)
    span = None if document is None else locate(found.text, document.text)
    if span is None:
        return msgspec.structs.replace(item, text=found.text)
    return msgspec.structs.replace(item, start=span[0], end=span[1])


def locate(text: str, within: str) -> tuple[int, int] | None:
    """Return where a text stands in another, the first time; None where it does not."""
    text = text.strip()
    start = within.find(text)
    if start >= 0:
        return start, start + len(text)
    found = _spaced(text).search(within)
    return found.span() if found else None


@lru_cache(maxsize=4096)
def _spaced(text: str) -> re.Pattern[str]:
    return re.compile(r"\s+".join(map(re.escape, text.split())))
