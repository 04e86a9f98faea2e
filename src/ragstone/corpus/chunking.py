"""Documents -> chunks that are exact slices of them."""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator

import msgspec

from ragstone.corpus.headings import (
    JOINER,
    Section,
    document_headings,
    is_markdown,
    merge_sections,
    path_of,
    sections_of,
)
from ragstone.corpus.semantic import DEFAULT_PERCENTILE, split_by_meaning
from ragstone.corpus.sentences import sentence_spans
from ragstone.corpus.splitting import Span, pack, split_by_length, split_recursively
from ragstone.embedding.model import Embed
from ragstone.errors import ConfigError, DataError, nearest
from ragstone.records import Chunk, Document, Metadata

DEFAULT_SIZE = 1200  # characters: about 300 tokens of English
TINY = 6  # sections shorter than a sixth of the size are joined to a neighbour


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """How documents are cut: sizes in characters; `embed` and `percentile` for the method that needs them."""

    size: int
    overlap: int
    embed: Embed | None
    percentile: float


Chunker = Callable[[Iterable[Document], Cut], Iterator[tuple[Document, Iterable[Span]]]]
"""Documents -> each with its spans in order; none of them is blank. It may look ahead in the documents."""


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
            "ragstone.embedding.opening.open_embedder('packaged'), or choose the method 'sentence'."
        )
    cut = Cut(size=size, overlap=overlap, embed=embed, percentile=percentile)
    return _chunks(CHUNKERS[method](_readable(documents), cut))


def _readable(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield the documents that hold text. Raises DataError for one that UTF-8 cannot write."""
    for document in documents:
        try:
            document.text.encode()
        except UnicodeEncodeError as mistake:
            raise DataError(
                f"document {document.id!r} is no valid text ({mistake}). Repair its text."
            ) from None
        if document.text.strip():
            yield document


def _chunks(found: Iterable[tuple[Document, Iterable[Span]]]) -> Iterator[Chunk]:
    for document, spans in found:
        inherited = _inherited(document)
        starts = _page_starts(document)
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
    found = {
        "title": document.title,
        "lang": document.lang,
        "topic": own.get("topic"),
        "tags": own.get("tags"),
    }
    return {key: value for key, value in found.items() if value}


def _page_starts(document: Document) -> list[int]:
    try:
        return msgspec.convert((document.metadata or {}).get("page_starts") or [], list[int])
    except msgspec.ValidationError:  # a column of the user's
        return []


def _place(span: Span, page_starts: list[int], sections: list[Section]) -> Metadata:
    place: Metadata = {}
    if page_starts:
        place["page"] = max(1, bisect_right(page_starts, span[0]))
    path = path_of(span, sections)
    if path:
        place["headings"] = JOINER.join(path)
    return place


def whole(document: Document, _cut: Cut) -> Iterable[Span]:
    """Return one span, the whole document, whatever its length."""
    return [(0, len(document.text))]


def fixed(document: Document, cut: Cut) -> Iterable[Span]:
    """Yield spans of the same length, whatever they cut through but a character and its marks."""
    return split_by_length(document.text, cut.size, cut.overlap)


def recursive(document: Document, cut: Cut) -> Iterable[Span]:
    """Yield spans that end at the highest boundary that fits: blank lines, lines, sentences, words.

    A Markdown file (by the ending of its source) is cut at its headings and blocks first.
    """
    everything = (0, len(document.text))
    return split_recursively(document.text, everything, cut.size, cut.overlap, markdown=is_markdown(document))


def sentence(document: Document, cut: Cut) -> Iterable[Span]:
    """Yield as many whole sentences as fit; they overlap by whole sentences. A longer one is cut."""
    return pack(document.text, sentence_spans(document.text, document.lang), cut.size, cut.overlap)


def heading(document: Document, cut: Cut) -> Iterable[Span]:
    """Yield sections, those longer than the size cut as by `recursive`, tiny ones joined to a neighbour.

    A document without headings is one section.
    """
    text = document.text
    sections = sections_of(text, document_headings(document))
    for span in merge_sections(text, sections, cut.size, max(1, cut.size // TINY)):
        yield from split_recursively(text, span, cut.size, cut.overlap, markdown=is_markdown(document))


def semantic(documents: Iterable[Document], cut: Cut) -> Iterator[tuple[Document, Iterable[Span]]]:
    """Yield sentences grouped where the meaning changes, see split_by_meaning."""
    assert cut.embed is not None
    return split_by_meaning(documents, cut.size, cut.percentile, cut.embed)


def _one_by_one(spans: Callable[[Document, Cut], Iterable[Span]]) -> Chunker:
    """Return the chunker that cuts each document by itself."""

    def chunker(documents: Iterable[Document], cut: Cut) -> Iterator[tuple[Document, Iterable[Span]]]:
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
