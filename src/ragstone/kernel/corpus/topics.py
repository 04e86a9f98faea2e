"""Texts -> topics: which of them belong together, and the terms that tell each group from the others.

Without an embedder texts are compared by TF-IDF over search terms, brought down to a few dimensions.
Groups are those of spherical k-means, seeded.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.corpus.tokens import function_words, search_terms, tokenize
from ragstone.kernel.embedding.model import Embed, Vectors
from ragstone.kernel.errors import ConfigError, DataError
from ragstone.kernel.files.language import detect_languages

RESTARTS = 8
MOST_ROUNDS = 100
MOST_GROUPS = 100  # that are chosen: of more nobody reads the names
GROWTH = 1.25  # between one number of groups that is tried and the next
FEWEST_EACH = 3  # members that a group has on average, at least, where the number of groups is chosen

Labels = NDArray[np.int64]
"""(n,): the group of each vector, from 0; -1 for a vector of zeros, which points nowhere."""


def group_vectors(vectors: Vectors, n_groups: int, seed: int) -> Labels:
    """Return the group of each vector: the best of RESTARTS runs of spherical k-means from k-means++ starts.

    vectors: (n, d), each of length 1 or 0. Groups are numbered by size, the largest first; of equal ones
    that of the earliest vector. There are fewer than n_groups where fewer vectors differ. (Dhillon and Modha
    2001, Machine Learning 42:143; Arthur and Vassilvitskii 2007, SODA.)
    """
    filled = np.flatnonzero(np.any(vectors != 0, axis=1))
    labels = np.full(len(vectors), -1, dtype=np.int64)
    points = vectors[filled]
    n_groups = min(n_groups, len(np.unique(points, axis=0)))
    if not n_groups:
        return labels
    draw = np.random.default_rng(seed)
    runs = [_k_means(points, _starts(points, n_groups, draw)) for _ in range(RESTARTS)]
    labels[filled] = _by_size(max(runs, key=lambda run: run[1])[0])
    return labels


def choose_n_groups(vectors: Vectors, seed: int) -> int:
    """Return the number of groups, 2 to MOST_GROUPS, at which vectors are most clearly nearer to their own.

    That is where the mean silhouette is highest, taken from the groups' centres (Rousseeuw 1987; simplified
    as in Hruschka et al. 2004); the tried numbers grow by GROWTH. Fewer than two vectors that differ: 1.
    """
    points = vectors[np.any(vectors != 0, axis=1)]
    most = min(max(2, len(points) // FEWEST_EACH), MOST_GROUPS, len(np.unique(points, axis=0)))
    tried, n = [], 2.0
    while round(n) <= most:
        tried.append(round(n))
        n = max(n * GROWTH, n + 1)
    return max(
        tried, key=lambda n_groups: silhouette(points, group_vectors(points, n_groups, seed)), default=1
    )


def silhouette(points: Vectors, labels: Labels) -> float:
    """Return the mean over the points of (b - a) / max(a, b), from -1 to 1.

    a: cosine distance to the centre of the own group, b: to the nearest other. Groups of one count 0.
    """
    centres = _centres(points, labels, int(labels.max()) + 1)
    distances = 1 - points @ centres.T
    rows = np.arange(len(points))
    own = distances[rows, labels]
    distances[rows, labels] = np.inf
    other = distances.min(axis=1)
    values = (other - own) / np.maximum(np.maximum(own, other), 1e-9)
    values[np.bincount(labels)[labels] == 1] = 0
    return float(values.mean())


def _starts(points: Vectors, n_groups: int, draw: np.random.Generator) -> Vectors:
    """Return centres by k-means++: each is drawn in proportion to the distance from those before it."""
    chosen = [int(draw.integers(len(points)))]
    nearest = 1 - points @ points[chosen[0]]
    while len(chosen) < n_groups:
        weights = np.maximum(nearest.astype(np.float64), 0)
        weights[chosen] = 0
        weights = weights if weights.sum() > 0 else np.ones(len(points))
        chosen.append(int(draw.choice(len(points), p=weights / weights.sum())))
        nearest = np.minimum(nearest, 1 - points @ points[chosen[-1]])
    return points[chosen]


def _k_means(points: Vectors, centres: Vectors) -> tuple[Labels, float]:
    """Return the groups that nothing moves between any more, and the sum of similarities to the centres."""
    labels = np.full(len(points), -1, dtype=np.int64)
    for _ in range(MOST_ROUNDS):
        similarities = points @ centres.T
        moved = similarities.argmax(axis=1)
        best = similarities[np.arange(len(points)), moved]
        for empty in np.setdiff1d(np.arange(len(centres)), moved):  # it takes the point that fits worst
            worst = int(best.argmin())
            moved[worst], best[worst] = empty, 1.0
        if np.array_equal(moved, labels):
            break
        labels = moved
        centres = _centres(points, labels, len(centres))
    return labels, float(best.sum())


def _centres(points: Vectors, labels: Labels, n_groups: int) -> Vectors:
    order = np.argsort(labels, kind="stable")
    firsts = np.searchsorted(labels[order], np.arange(n_groups))
    sums: Vectors = np.add.reduceat(points[order], firsts, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    lengths[lengths == 0] = 1
    centres: Vectors = (sums / lengths).astype(np.float32)
    return centres


def _by_size(labels: Labels) -> Labels:
    """Return the labels numbered anew: the largest group first, of equal ones the one that comes first."""
    groups, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    ranked = groups[np.lexsort((first, -sizes))]
    number = np.empty(int(groups.max()) + 1, dtype=np.int64)
    number[ranked] = np.arange(len(ranked))
    return number[labels]


DIMENSIONS = 50
MOST_SHARED = 0.5  # of the texts: a term in more of them tells nothing apart
OVERSAMPLED = 10  # dimensions of the random start beyond those that are kept
ROUNDS = 4
SMALLEST = 1e-9  # length of a vector that is not taken for zero
BLOCK = 2**22  # cells of a product that are held at once


def lexical_vectors(texts: Sequence[str], seed: int) -> Vectors:
    """Return (n, d) vectors of length 1, d at most DIMENSIONS; zeros for a text that shares no term.

    Latent semantic analysis (Deerwester et al. 1990): log-weighted TF-IDF over the terms of search that two
    texts share and not more than half, then the largest singular vectors (randomised: Halko et al. 2011).
    On xquad, paragraphs by article, mean adjusted Rand index over ten languages: all terms 0.58, 150
    dimensions 0.49, 100: 0.53, 50: 0.70; with whole words in place of search terms 0.62.
    """
    matrix, turned = _weighted([Counter(search_terms(text)) for text in texts])
    n, n_terms = len(matrix.starts) - 1, len(turned.starts) - 1
    width = min(DIMENSIONS, n, n_terms)
    if not width:
        return np.zeros((n, 0), dtype=np.float32)
    draw = np.random.default_rng(seed)
    basis = draw.standard_normal((n_terms, min(width + OVERSAMPLED, n, n_terms)))
    for _ in range(ROUNDS):
        left, _ = np.linalg.qr(_times(matrix, basis))
        basis, _ = np.linalg.qr(_times(turned, left))
    left, singular, _ = np.linalg.svd(_times(matrix, basis), full_matrices=False)
    vectors = left[:, :width] * singular[:width]
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.where(lengths > SMALLEST, vectors / np.maximum(lengths, SMALLEST), 0).astype(np.float32)


class _Sparse(msgspec.Struct, frozen=True):
    """Row i holds `values[starts[i]:starts[i + 1]]`, in the columns of the same slice of `columns`."""

    starts: NDArray[np.int64]
    columns: NDArray[np.int64]
    values: NDArray[np.float64]


def _weighted(counts: Sequence[Counter[str]]) -> tuple[_Sparse, _Sparse]:
    """Return the TF-IDF matrix, texts by terms, and the same turned; rows of texts have length 1 or 0."""
    n = len(counts)
    shared = Counter(term for count in counts for term in count)
    terms = (term for term, n_texts in shared.items() if 2 <= n_texts <= max(2, MOST_SHARED * n))
    column = {term: at for at, term in enumerate(terms)}
    rows, columns, values = [], [], []
    for row, count in enumerate(counts):
        known = [(column[term], times) for term, times in count.items() if term in column]
        rows += [row] * len(known)
        columns += [at for at, _ in known]
        values += [times for _, times in known]
    row_of, column_of = np.array(rows, dtype=np.int64), np.array(columns, dtype=np.int64)
    n_texts = np.bincount(column_of, minlength=len(column))
    weights = (1 + np.log(np.array(values, dtype=np.float64))) * np.log(1 + n / n_texts[column_of])
    lengths = np.sqrt(np.bincount(row_of, weights**2, minlength=n))
    weights = weights / lengths[row_of]
    order = np.argsort(column_of, kind="stable")
    return (
        _Sparse(_row_starts(row_of, n), column_of, weights),
        _Sparse(_row_starts(column_of[order], len(column)), row_of[order], weights[order]),
    )


def _row_starts(sorted_rows: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    return np.searchsorted(sorted_rows, np.arange(n_rows + 1)).astype(np.int64)


def _times(matrix: _Sparse, dense: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return matrix @ dense, in blocks of rows."""
    n_rows = len(matrix.starts) - 1
    product = np.zeros((n_rows, dense.shape[1]))
    filled = np.flatnonzero(np.diff(matrix.starts))
    most = max(1, BLOCK // dense.shape[1])
    first = 0
    while first < len(filled):
        begin = matrix.starts[filled[first]]
        last = max(first + 1, int(np.searchsorted(matrix.starts[filled + 1], begin + most, side="right")))
        end = matrix.starts[filled[last - 1] + 1]
        cells = dense[matrix.columns[begin:end]] * matrix.values[begin:end, None]
        product[filled[first:last]] = np.add.reduceat(
            cells, matrix.starts[filled[first:last]] - begin, axis=0
        )
        first = last
    return product


FEWEST_DIMENSIONS = 10
FEWEST_OF_LANGUAGE = 10  # texts, for their mean to be the language's
CHOOSING_DIMENSIONS = 20
SHORTEST = 3  # letters of a word that names a topic
NAMED_BY = 50  # texts of a topic that it is named by
HEAD = 2000  # characters of a text that its topic is named by
TELLING = 300  # of these that its language is told by
TERMS = 10  # of a topic
IN_NAME = 3

# Scripts without spaces between words: runs of so many characters stand for words.
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff]")
_EDGES = re.compile(
    r"^[\s!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u205e\u3001-\u3020\u060c\u061b\u061f\u0964]+"
    r"|[\s!-/:-@\[-`{-~\u00a1-\u00bf\u2010-\u205e\u3001-\u3020\u060c\u061b\u061f\u06d4\u0964]+$"
)
_HAN = re.compile("[\u3040-\u30ff\u3400-\u9fff]")
_RUNS_OF_HAN = (2, 3, 4)
_RUNS_OF_OTHERS = (3, 5)  # Thai, Lao, Khmer, Myanmar


def group_texts(
    texts: Sequence[str],
    n_topics: int | None = None,
    *,
    embed: Embed | None = None,
    langs: Sequence[str | None] | None = None,
    seed: int = 0,
) -> Labels:
    """Return the topic of each text, from 0, the largest first; -1 for one that shares no term with another.

    n_topics: how many; None chooses (see choose_n_groups). embed: groups by an embedder's vectors, which
    brings together texts of several languages, if `langs` says which text is in which; without one by the
    terms that texts share. On xquad's English, Hindi and Chinese together, the packaged embedder's vectors
    have an adjusted Rand index against the articles of 0.17; without the mean of each language 0.68, and in
    the strongest 36 dimensions of those 0.73.

    The vectors have as many dimensions as there are topics, as in spectral clustering
    (Ng, Jordan and Weiss 2002), from FEWEST_DIMENSIONS to DIMENSIONS; CHOOSING_DIMENSIONS while their number
    is chosen. On paragraphs of xquad and squad2 that groups them by article better than any fixed number.

    Raises DataError without texts, ConfigError for a number of topics that cannot be.
    """
    if not texts:
        raise DataError("there are no texts to group. Check that the documents hold text.")
    if n_topics is not None and not 1 <= n_topics <= len(texts):
        raise ConfigError(f"{n_topics} topics of {len(texts)} texts: ask for 1 to {len(texts)}.")
    if embed is None:
        vectors = lexical_vectors(texts, seed)
    else:
        # Without what all of one language share, turned so that the strongest directions come first.
        centred = without_language(embed(texts, "passage"), langs or [None] * len(texts))
        _, directions = np.linalg.eigh(centred.T @ centred)
        vectors = (centred @ directions[:, ::-1]).astype(np.float32)
    n_topics = n_topics or choose_n_groups(_narrowed(vectors, CHOOSING_DIMENSIONS), seed)
    return group_vectors(
        _narrowed(vectors, min(max(n_topics, FEWEST_DIMENSIONS), DIMENSIONS)), n_topics, seed
    )


def without_language(vectors: Vectors, langs: Sequence[str | None]) -> NDArray[np.float64]:
    """Return the vectors without what all of one language share: each less the mean of its language.

    A language with fewer than FEWEST_OF_LANGUAGE texts is taken together with the others of that kind.
    """
    n_texts = Counter(langs)
    kinds = np.array([lang if n_texts[lang] >= FEWEST_OF_LANGUAGE and lang else "" for lang in langs])
    centred = vectors.astype(np.float64)
    for kind in set(kinds.tolist()):
        centred[kinds == kind] -= centred[kinds == kind].mean(axis=0)
    return centred


def _narrowed(vectors: Vectors, dimensions: int) -> Vectors:
    """Return the vectors in their first dimensions, which are the strongest, with length 1 or 0."""
    narrow = vectors[:, :dimensions]
    lengths = np.linalg.norm(narrow, axis=1, keepdims=True)
    unit: Vectors = np.where(lengths > 1e-6, narrow / np.maximum(lengths, 1e-6), 0).astype(np.float32)
    return unit


def topic_terms(texts: Sequence[str], labels: Labels) -> list[list[str]]:
    """Return up to TERMS distinguishing terms of each topic, the most telling first, as people write them.

    A term counts by how often the topic's texts use it (log), how many of them do, and how few texts of all
    do (log, squared): class-based TF-IDF, after Grootendorst 2022 (arXiv:2203.05794). Words that all topics
    share weigh nothing; function words of the text's language, or of the topic's, are none, for in a few
    short questions they are as rare as others. Of words with the same beginning the best one is taken.
    Looked at are the first HEAD characters of NAMED_BY texts a topic, evenly spaced.
    """
    n_topics = int(labels.max(initial=-1)) + 1
    members = [np.flatnonzero(labels == topic).tolist() for topic in range(n_topics)]
    members = [some[:: -(-len(some) // NAMED_BY)] if some else [] for some in members]
    spellings: dict[str, Counter[str]] = {}
    counts = [_term_counts([texts[at][:HEAD] for at in some], spellings) for some in members]
    n_texts = Counter(term for some in counts for text_counts in some for term in text_counts)
    n_looked_at = sum(map(len, counts))
    topics = []
    for some in counts:
        scores: dict[str, float] = defaultdict(float)
        uses = Counter(term for text_counts in some for term in text_counts)
        for text_counts in some:
            for term, times in text_counts.items():
                if uses[term] > 1 or len(some) == 1:
                    rarity = math.log(n_looked_at / n_texts[term])
                    scores[term] += round(math.log1p(times) * uses[term] / len(some) * rarity**2, 9)
        telling = [term for term, score in scores.items() if score > 0]
        ranked = sorted(telling, key=lambda term: (-scores[term], -len(term), term))
        topics.append(
            [spellings[term].most_common(1)[0][0] if term in spellings else term for term in _apart(ranked)]
        )
    return topics


def topic_names(terms: Sequence[Sequence[str]]) -> list[str]:
    """Return a name for each topic: its first terms. A topic without one is called by its number."""
    return unique_names([", ".join(some[:IN_NAME]) or f"topic {n}" for n, some in enumerate(terms, 1)])


def unique_names(names: Sequence[str]) -> list[str]:
    """Return the names, later ones that are taken already with a number behind them."""
    taken: Counter[str] = Counter()
    unique = []
    for name in names:
        taken[name.casefold()] += 1
        n = taken[name.casefold()]
        unique.append(name if n == 1 else f"{name} ({n})")
    return unique


def _apart(ranked: Sequence[str]) -> Iterator[str]:
    """Yield the best terms that are not forms or parts of one before."""
    chosen: list[str] = []
    for term in ranked:
        if len(chosen) == TERMS:
            return
        if any(_alike(term, other) for other in chosen):
            continue
        chosen.append(term)
        yield term


def _alike(term: str, other: str) -> bool:
    if _UNSPACED.match(term) and _UNSPACED.match(other):
        return any(term[at : at + 2] in other for at in range(len(term) - 1))
    shorter = min(len(term), len(other), 5)
    return term[:shorter] == other[:shorter]


def _term_counts(texts: Sequence[str], spellings: dict[str, Counter[str]]) -> list[Counter[str]]:
    """Return how often each text of a topic holds each term that could name it; add how words are written."""
    # A short question seldom shows its language; those of its topic together do.
    beginnings = [text[:TELLING] for text in texts]
    whole, *each = detect_languages(["\n".join(beginnings), *beginnings])
    counts = []
    for text, lang in zip(texts, each, strict=True):
        known = tuple(sorted({code for code in (whole, lang) if code}))
        counts.append(_terms_in(text, function_words(known), spellings))
    return counts


def _terms_in(text: str, light: frozenset[str], spellings: dict[str, Counter[str]]) -> Counter[str]:
    """Return how often a text holds each term that could name a topic, none of them a light word."""
    counts: Counter[str] = Counter()
    for piece in text.split():
        run: list[str] = []
        tokens = tokenize(piece)
        for token in [*tokens, ""]:
            if token and _UNSPACED.match(token):
                run.append(token)
                continue
            counts.update(_runs_of(run))
            run = []
            if len(token) >= SHORTEST and not token.isdigit() and token not in light:
                counts[token] += 1
                spellings.setdefault(token, Counter())[_written(token, piece, len(tokens))] += 1
    return counts


def _written(token: str, piece: str, n_tokens: int) -> str:
    """Return how a token is written in the piece that holds it."""
    if n_tokens == 1:
        return _EDGES.sub("", piece)
    folded = piece.casefold()
    at = folded.find(token) if len(folded) == len(piece) else -1
    return piece[at : at + len(token)] if at >= 0 else token


def _runs_of(characters: Sequence[str]) -> Iterator[str]:
    if not characters:
        return
    for length in _RUNS_OF_HAN if _HAN.match(characters[0]) else _RUNS_OF_OTHERS:
        for at in range(len(characters) - length + 1):
            yield "".join(characters[at : at + length])
