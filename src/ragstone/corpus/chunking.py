"""Documents -> chunks that are exact slices of them."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePath

from ragstone.errors import ConfigError, DataError, nearest
from ragstone.records import Chunk, Document

Span = tuple[int, int]
"""Start and end in code points, as in `text[start:end]`."""

Chunker = Callable[[Document, int, int], Iterable[Span]]
"""Document, size and overlap in characters -> spans in order; none of them is blank."""

DEFAULT_SIZE = 1200  # characters: about 300 tokens of English
MARKDOWN = frozenset({".md", ".markdown"})


def chunk_documents(
    documents: Iterable[Document], method: str = "recursive", size: int = DEFAULT_SIZE, overlap: int = 0
) -> Iterator[Chunk]:
    """Yield the chunks of each document in order: `chunk.text == document.text[start:end]`, always.

    method: a key of CHUNKERS. size: the most characters (code points) of a chunk. overlap: the most that a
    chunk repeats of the one before; less than size. Ids are `document#0`, `document#1`, ...; the document's
    title is in `metadata["title"]`, and search finds the chunk by it. A blank document gives no chunk.

    Raises ConfigError for an unknown method and for sizes that cannot be; DataError for a document that
    holds half a surrogate pair.
    """
    if method not in CHUNKERS:
        raise ConfigError(f"unknown chunk method {method!r}. {nearest(method, CHUNKERS)}")
    if not 0 <= overlap < size:
        raise ConfigError(
            f"chunks of size {size} with overlap {overlap}: overlap must be from 0 to size - 1."
        )
    return _chunks(documents, CHUNKERS[method], size, overlap)


def _chunks(documents: Iterable[Document], spans: Chunker, size: int, overlap: int) -> Iterator[Chunk]:
    for document in documents:
        if not document.text.strip():
            continue
        metadata = {"title": document.title} if document.title else None
        for number, (start, end) in enumerate(spans(document, size, overlap)):
            yield Chunk(
                id=f"{document.id}#{number}",
                document_id=document.id,
                text=document.text[start:end],
                start=start,
                end=end,
                metadata=metadata,
            )


def whole(document: Document, size: int, overlap: int) -> Iterable[Span]:  # noqa: ARG001 - a Chunker
    """Return one span, the whole document, whatever its length."""
    return [(0, len(document.text))]


def recursive(document: Document, size: int, overlap: int) -> Iterable[Span]:
    """Yield spans that end at the highest boundary that fits: blank lines, lines, sentences, words.

    Below words they end between user-perceived characters (an accent stays with its letter) where these
    fit the size. Boundaries are Unicode's (UAX 29), so every script has them. A Markdown file (by the
    ending of its source) is cut at its headings and blocks first. White space around a chunk is left out.
    """
    from semantic_text_splitter import MarkdownSplitter, TextSplitter

    is_markdown = PurePath(document.source or "").suffix.lower() in MARKDOWN
    splitter = (MarkdownSplitter if is_markdown else TextSplitter)(size, overlap)
    try:
        found = splitter.chunk_indices(document.text)
    except UnicodeEncodeError as mistake:
        raise DataError(f"document {document.id!r} is no valid text ({mistake}). Repair its text.") from None
    # Python counts more characters as blank than the splitter (U+001C to U+001F).
    return ((start, start + len(text)) for start, text in found if text.strip())


CHUNKERS: dict[str, Chunker] = {"whole": whole, "recursive": recursive}
