"""Sentences grouped where the meaning changes from one to the next."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ragstone.corpus.sentences import sentence_spans
from ragstone.corpus.splitting import Span, pack, split_recursively
from ragstone.embedding.model import Embed, NotEmbedded
from ragstone.records import Document

DEFAULT_PERCENTILE = 20.0
WINDOW = 2  # sentences
BATCH = 1024  # windows that are embedded in one call, or one document's

Waiting = tuple[Document, list[Span], list[str]]


def split_by_meaning(
    documents: Iterable[Document], size: int, percentile: float, embed: Embed
) -> Iterator[tuple[Document, Iterable[Span]]]:
    """Yield each document with its spans: sentences grouped by meaning, none longer than `size`.

    Between every two sentences the window that ends there is compared with the one that begins there (their
    vectors' cosine). A cut is made where that similarity is below `percentile` of the document's; a
    group that is still longer than `size` is cut at its least similar place, again and again, and a sentence
    that is longer by itself is cut recursively.

    Where `embed` raises NotEmbedded, as in a forecast, sentences are packed to the size instead.

    The idea of a percentile of neighbouring windows' similarities is Greg Kamradt's ("5 levels of text
    splitting", 2024); windows that share no sentence are TextTiling's (Hearst 1997, CL 23:33).
    """
    waiting: list[Waiting] = []
    n_windows = 0
    for document in documents:
        sentences = sentence_spans(document.text, document.lang)
        windows = _windows(document.text, sentences)
        waiting.append((document, sentences, windows))
        n_windows += len(windows)
        if n_windows >= BATCH:
            yield from _groups(waiting, size, percentile, embed)
            waiting, n_windows = [], 0
    yield from _groups(waiting, size, percentile, embed)


def _windows(text: str, sentences: Sequence[Span]) -> list[str]:
    """Return the window of sentences that begins at each sentence; none where there is nothing to compare."""
    if len(sentences) < 2:
        return []
    last = len(sentences) - 1
    # Before the first sentence and behind the last there is less than a window.
    ends = [sentences[min(at + WINDOW - 1, last)][1] for at in range(-WINDOW + 1, last + 1)]
    starts = [sentences[max(at, 0)][0] for at in range(-WINDOW + 1, last + 1)]
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _groups(
    waiting: Sequence[Waiting], size: int, percentile: float, embed: Embed
) -> Iterator[tuple[Document, Iterable[Span]]]:
    texts = [window for _, _, windows in waiting for window in windows]
    try:
        vectors = embed(texts, "passage") if texts else np.zeros((0, 0), dtype=np.float32)
    except NotEmbedded:  # a forecast: chunks of about this size are all that the stages after it need
        for document, sentences, _ in waiting:
            yield document, pack(document.text, sentences, size, 0)
        return
    first = 0
    for document, sentences, windows in waiting:
        own = vectors[first : first + len(windows)]
        first += len(windows)
        # The window that ends with sentence i begins WINDOW - 1 before it, and stands that much further up.
        n = len(sentences)
        before, after = own[: n - 1], own[WINDOW : WINDOW + n - 1]
        similarities = np.einsum("ij,ij->i", before, after) if windows else np.zeros(0, dtype=np.float32)
        yield document, list(_spans(document.text, sentences, similarities, size, percentile))


def _spans(
    text: str, sentences: Sequence[Span], similarities: NDArray[np.float32], size: int, percentile: float
) -> Iterator[Span]:
    threshold = np.percentile(similarities, percentile) if len(similarities) else 0.0
    cuts = [at + 1 for at, similarity in enumerate(similarities) if similarity < threshold]
    todo = list(pairwise([0, *cuts, len(sentences)]))[::-1]  # runs of sentences, the first on top
    while todo:
        first, last = todo.pop()
        span = sentences[first][0], sentences[last - 1][1]
        if span[1] - span[0] <= size:
            yield span
        elif last - first == 1:
            yield from split_recursively(text, span, size, 0)
        else:
            weakest = first + 1 + int(np.argmin(similarities[first : last - 1]))
            todo += [(weakest, last), (first, weakest)]
