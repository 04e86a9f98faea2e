"""Documents -> chunks that are exact slices of them."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.corpus.headings import (
    JOINER,
    DocumentSection,
    document_headings,
    is_markdown,
    merge_sections,
    path_of,
    sections_of,
)
from ragstone.kernel.corpus.sentences import Span, sentence_spans
from ragstone.kernel.corpus.splitting import pack, split_by_length, split_recursively
from ragstone.kernel.embedding.model import Embed, NotEmbedded
from ragstone.kernel.errors import ConfigError, explaining, nearest, takes_rows
from ragstone.kernel.records import Chunk, Document, Metadata

DEFAULT_PERCENTILE = 20.0
WINDOW = 2  # sentences
BATCH = 1024  # sentences that are embedded in one call, or one document's

Waiting = tuple[Document, list[Span]]


def split_by_meaning(
    documents: Iterable[Document], size: int, percentile: float, embed: Embed
) -> Iterator[tuple[Document, Iterable[Span]]]:
    """Yield each document with its spans: sentences grouped by meaning, none longer than `size`.

    Between every two sentences the WINDOW sentences before are compared with those after (their vectors'
    cosine; a window's vector is the sum of its sentences', each times the root of its length). A cut is made
    where that similarity is below `percentile` of the document's; a group that is still longer than `size` is
    cut at its least similar place, again and again, and a sentence that is longer by itself is cut
    recursively.

    Where `embed` raises NotEmbedded, as in a forecast, sentences are packed to the size instead.

    The idea of a percentile of neighbouring windows' similarities is Greg Kamradt's ("5 levels of text
    splitting", 2024); windows that share no sentence are TextTiling's (Hearst 1997, CL 23:33).
    """
    waiting: list[Waiting] = []
    n_sentences = 0
    for document in documents:
        sentences = sentence_spans(document.text, document.lang)
        waiting.append((document, sentences))
        n_sentences += len(sentences) if len(sentences) > 1 else 0
        if n_sentences >= BATCH:
            yield from _groups(waiting, size, percentile, embed)
            waiting, n_sentences = [], 0
    yield from _groups(waiting, size, percentile, embed)


def _groups(
    waiting: Sequence[Waiting], size: int, percentile: float, embed: Embed
) -> Iterator[tuple[Document, Iterable[Span]]]:
    # A document of one sentence has nothing to compare.
    compared = [(document.text, sentences) for document, sentences in waiting if len(sentences) > 1]
    texts = [text[start:end] for text, sentences in compared for start, end in sentences]
    try:
        vectors = embed(texts, "passage") if texts else np.zeros((0, 0), dtype=np.float32)
    except NotEmbedded:  # a forecast: chunks of about this size are all that the stages after it need
        for document, sentences in waiting:
            yield document, pack(document.text, sentences, size, 0)
        return
    first = 0
    for document, sentences in waiting:
        similarities = np.zeros(0, dtype=np.float32)
        if len(sentences) > 1:
            own = vectors[first : first + len(sentences)]
            first += len(sentences)
            similarities = _similarities(own, np.diff(sentences).astype(np.float32))
        yield document, list(_spans(document.text, sentences, similarities, size, percentile))


def _similarities(vectors: NDArray[np.float32], lengths: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return how much the window before each place between two sentences is like the one after it, (n - 1,).

    vectors: (n, d), of sentences; lengths: (n, 1), in characters. One vector a sentence costs half of what
    one a window does, and tells borders about as well: docs/decisions/0101.
    """
    n = len(vectors)
    sums = np.zeros((n + 1, vectors.shape[1]), dtype=np.float64)
    np.cumsum(vectors * np.sqrt(lengths), axis=0, out=sums[1:])
    places = np.arange(1, n)
    before = sums[places] - sums[np.maximum(places - WINDOW, 0)]
    after = sums[np.minimum(places + WINDOW, n)] - sums[places]
    norms = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    norms[norms == 0] = 1
    similarities: NDArray[np.float32] = (np.einsum("ij,ij->i", before, after) / norms).astype(np.float32)
    return similarities


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


DEFAULT_SIZE = 1200  # characters: about 300 tokens of English
TINY = 6  # sections shorter than a sixth of the size are joined to a neighbour


class CutSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How documents are cut: sizes in characters; `embed` and `percentile` for the method that needs them."""

    size: int
    overlap: int
    embed: Embed | None
    percentile: float


Chunker = Callable[[Iterable[Document], CutSettings], Iterator[tuple[Document, Iterable[Span]]]]
"""Documents -> each with its spans in order; none of them is blank. It may look ahead in the documents."""


@takes_rows(documents=Document)
def chunk_documents(
    documents: Iterable[Document],
    method: str = "recursive",
    size: int = DEFAULT_SIZE,
    overlap: int = 0,
    *,
    embed: Embed | None = None,
    percentile: float = DEFAULT_PERCENTILE,
) -> Iterator[Chunk]:
    """Yield the chunks of each document in order: `chunk.text == document.text[start:end]`, always.

    method: a key of CHUNKERS. size: the most characters (code points) of a chunk, which every method but
    `whole` keeps. overlap: the most that a chunk repeats of the one before; less than size; `whole` and
    `semantic` repeat nothing. embed: for `semantic`, which needs one; percentile: see there.

    Ids are `document#0`, `document#1`, ... In the metadata, as far as the document has them: `title`, `lang`,
    `topic`, `tags`, `page` (its first, from 1) and `headings`, the path "Guide > Sowing" of the headings that
    the whole chunk stands under. A blank document gives no chunk.

    Raises ConfigError for an unknown method, for numbers that cannot be, and for `semantic` without an
    embedder; DataError for a document that holds half a surrogate pair.
    """
    if method not in CHUNKERS:
        raise ConfigError(f"unknown chunk method {method!r}. {nearest(method, CHUNKERS)}")
    if not 0 <= overlap < size:
        raise ConfigError(
            f"chunks of size {size} with overlap {overlap}: overlap must be from 0 to size - 1."
        )
    if not 0 <= percentile <= 100:
        raise ConfigError(f"percentile {percentile}: it must be from 0 to 100.")
    if method == "semantic" and embed is None:
        raise ConfigError(
            "chunks of method 'semantic' need an embedder: give chunk_documents one as `embed`, e.g. "
            "ragstone.kernel.embedding.opening.open_embedder('packaged'), or choose the method 'sentence'."
        )
    cut = CutSettings(size=size, overlap=overlap, embed=embed, percentile=percentile)
    return _chunks(CHUNKERS[method](_readable(documents), cut))


def _readable(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield the documents that hold text. Raises DataError for one that UTF-8 cannot write."""
    for document in documents:
        with explaining(
            f"document {document.id!r} is not valid text", "Repair its text.", UnicodeEncodeError
        ):
            document.text.encode()
        if document.text.strip():
            yield document


def _chunks(cut_documents: Iterable[tuple[Document, Iterable[Span]]]) -> Iterator[Chunk]:
    for document, spans in cut_documents:
        inherited = _inherited(document)
        try:
            starts = msgspec.convert((document.metadata or {}).get("page_starts") or [], list[int])
        except msgspec.ValidationError:  # a column of the user's
            starts = []
        headings = document_headings(document)
        sections = sections_of(document.text, headings) if headings else []
        for number, (start, end) in enumerate(spans):
            metadata = inherited | _place((start, end), starts, sections)
            yield Chunk(
                id=f"{document.id}#{number}",
                document_id=document.id,
                text=document.text[start:end],
                start=start,
                end=end,
                metadata=metadata or None,
            )


def _inherited(document: Document) -> Metadata:
    """Return what every chunk has of its document."""
    own = document.metadata or {}
    fields = {
        "title": document.title,
        "lang": document.lang,
        "topic": own.get("topic"),
        "tags": own.get("tags"),
    }
    return {key: value for key, value in fields.items() if value}


def _place(span: Span, page_starts: list[int], sections: list[DocumentSection]) -> Metadata:
    metadata: Metadata = {}
    if page_starts:
        metadata["page"] = max(1, bisect_right(page_starts, span[0]))
    path = path_of(span, sections)
    if path:
        metadata["headings"] = JOINER.join(path)
    return metadata


def whole(document: Document, _cut: CutSettings) -> Iterable[Span]:
    """Return one span, the whole document, whatever its length."""
    return [(0, len(document.text))]


def fixed(document: Document, cut: CutSettings) -> Iterable[Span]:
    """Yield spans of the same length, whatever they cut through but a character and its marks."""
    return split_by_length(document.text, cut.size, cut.overlap)


def recursive(document: Document, cut: CutSettings) -> Iterable[Span]:
    """Yield spans that end at the highest boundary that fits: blank lines, lines, sentences, words.

    A Markdown file (by the ending of its source) is cut at its headings and blocks first.
    """
    everything = (0, len(document.text))
    return split_recursively(document.text, everything, cut.size, cut.overlap, markdown=is_markdown(document))


def sentence(document: Document, cut: CutSettings) -> Iterable[Span]:
    """Yield as many whole sentences as fit; they overlap by whole sentences. A longer one is cut."""
    return pack(document.text, sentence_spans(document.text, document.lang), cut.size, cut.overlap)


def heading(document: Document, cut: CutSettings) -> Iterable[Span]:
    """Yield sections, those longer than the size cut as by `recursive`, tiny ones joined to a neighbour.

    A document without headings is one section.
    """
    text = document.text
    sections = sections_of(text, document_headings(document))
    for span in merge_sections(text, sections, cut.size, max(1, cut.size // TINY)):
        yield from split_recursively(text, span, cut.size, cut.overlap, markdown=is_markdown(document))


def semantic(documents: Iterable[Document], cut: CutSettings) -> Iterator[tuple[Document, Iterable[Span]]]:
    """Yield sentences grouped where the meaning changes, see split_by_meaning."""
    assert cut.embed is not None
    return split_by_meaning(documents, cut.size, cut.percentile, cut.embed)


def _one_by_one(spans: Callable[[Document, CutSettings], Iterable[Span]]) -> Chunker:
    """Return the chunker that cuts each document by itself."""

    def chunker(documents: Iterable[Document], cut: CutSettings) -> Iterator[tuple[Document, Iterable[Span]]]:
        return ((document, spans(document, cut)) for document in documents)

    return chunker


CHUNKERS: dict[str, Chunker] = {
    "whole": _one_by_one(whole),
    "fixed": _one_by_one(fixed),
    "recursive": _one_by_one(recursive),
    "sentence": _one_by_one(sentence),
    "heading": _one_by_one(heading),
    "semantic": semantic,
}
