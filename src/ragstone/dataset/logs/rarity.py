"""How unlike the others each text is."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from ragstone.corpus.tokens import search_terms
from ragstone.embedding.model import Embed

NEIGHBOURS = 5
MOST_COMPARED = 10_000  # texts that neighbours are looked for among; of more, as many at random
MOST_SHARED = 0.2  # of the texts: a term in more of them tells nothing apart
FEW = 10  # texts that may always share a term
BLOCK = 2**24  # similarities that are held at once

Similarities = NDArray[np.float32]


def rarities(texts: Sequence[str], *, embed: Embed | None = None, seed: int = 0) -> NDArray[np.float64]:
    """Return for each text its mean cosine distance to the NEIGHBOURS texts nearest to it, from 0 to 1.

    By an embedder's vectors, else by TF-IDF over the terms of search, all of them: a word that no other text
    has makes a text rare, which it would not in fewer dimensions. Of more than MOST_COMPARED texts the
    neighbours are looked for among so many of them, drawn with the seed, so distances are a little larger in
    large logs, for all alike.
    """
    n = len(texts)
    found = np.ones(n)
    if n < 2:
        return found
    among = np.arange(n)
    if n > MOST_COMPARED:
        among = np.sort(np.random.default_rng(seed).choice(n, MOST_COMPARED, replace=False))
    place = np.full(n, -1)
    place[among] = np.arange(len(among))
    k = min(NEIGHBOURS, len(among) - 1)
    begin = 0
    for similarities in _by_vectors(texts, among, embed) if embed else _by_terms(texts, among):
        here = place[begin : begin + len(similarities)]
        rows = np.flatnonzero(here >= 0)
        similarities[rows, here[rows]] = -np.inf  # nothing is its own neighbour
        nearest = np.partition(similarities, len(among) - k, axis=1)[:, len(among) - k :]
        found[begin : begin + len(similarities)] = 1 - nearest.mean(axis=1, dtype=np.float64)
        begin += len(similarities)
    return np.clip(np.round(found, 6), 0.0, 1.0)


def _by_vectors(texts: Sequence[str], among: NDArray[np.int64], embed: Embed) -> Iterator[Similarities]:
    """Yield the similarities of the texts, in blocks of rows, to those among which neighbours are."""
    vectors = embed(texts, "passage")
    others = np.ascontiguousarray(vectors[among].T)
    step = max(1, BLOCK // len(among))
    for begin in range(0, len(texts), step):
        yield vectors[begin : begin + step] @ others


def _by_terms(texts: Sequence[str], among: NDArray[np.int64]) -> Iterator[Similarities]:
    """Yield the same by TF-IDF, a row at a time; terms are counted again so that not all are held."""
    n_texts = Counter(term for text in texts for term in set(search_terms(text)))
    most = max(FEW, MOST_SHARED * len(texts))
    idf = {term: float(np.log(1 + len(texts) / n)) for term, n in n_texts.items() if n <= most}
    listed: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, number in enumerate(among.tolist()):
        for term, weight in _weighted(texts[number], idf).items():
            listed[term].append((place, weight))
    postings = {
        term: (np.array([place for place, _ in some]), np.array([weight for _, weight in some]))
        for term, some in listed.items()
    }
    for text in texts:
        terms = [(term, weight) for term, weight in _weighted(text, idf).items() if term in postings]
        if not terms:
            yield np.zeros((1, len(among)), dtype=np.float32)
            continue
        places = np.concatenate([postings[term][0] for term, _ in terms])
        products = np.concatenate([postings[term][1] * weight for term, weight in terms])
        yield np.bincount(places, products, minlength=len(among)).astype(np.float32)[None, :]


def _weighted(text: str, idf: Mapping[str, float]) -> dict[str, float]:
    """Return the weights of a text's terms, of length 1 together."""
    counts = Counter(term for term in search_terms(text) if term in idf)
    weights = {term: (1 + float(np.log(n))) * idf[term] for term, n in counts.items()}
    length = sum(weight**2 for weight in weights.values()) ** 0.5
    return {term: weight / length for term, weight in weights.items()}
