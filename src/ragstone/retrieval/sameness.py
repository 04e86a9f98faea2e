"""Copies of one document, as translations are: which documents are the same."""

from collections.abc import Iterable, Mapping, Sequence

from ragstone.errors import DataError
from ragstone.records import Document, Ranking, RankingItem

Same = Mapping[str, str]
"""Document id -> id of the document that it is a copy of. A document that is not in it is its own."""


def copies_of(documents: Iterable[Document], key: str) -> dict[str, str]:
    """Return document id -> id of the first document with the same value under `key` of its metadata.

    Documents without that key are the same as no other, and are not in the result. Raises DataError if no
    document has it, or if a value is neither text nor a whole number.
    """
    first: dict[str | int, str] = {}
    same: dict[str, str] = {}
    for document in documents:
        value = (document.metadata or {}).get(key)
        if value is None:
            continue
        if not isinstance(value, str | int):
            raise DataError(f"document {document.id!r}: {key} is {value!r}. Give text or a whole number.")
        same[document.id] = first.setdefault(value, document.id)
    if not same:
        raise DataError(
            f"no document has {key!r} in its metadata. Name the field that copies of a document share."
        )
    return same


def distinct_documents(ranking: Ranking, same: Same | None = None) -> tuple[list[str], list[RankingItem]]:
    """Return the documents of a ranking, each once, and the first item of each, best first."""
    documents = [item.document_id for item in ranking.items]
    if same:
        documents = [same.get(name, name) for name in documents]
    if len(set(documents)) == len(documents):
        return documents, ranking.items
    first: dict[str, RankingItem] = {}
    for name, item in zip(documents, ranking.items, strict=True):
        first.setdefault(name, item)
    return list(first), list(first.values())


def canonical(names: Sequence[str], same: Same | None) -> list[str]:
    """Return the documents that these are copies of, each once, in the same order."""
    return list(dict.fromkeys((same or {}).get(name, name) for name in names))
