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


def same_documents(documents: Sequence[Document], copies: str | None = None) -> dict[str, str]:
    """Return document id -> id of the document that it counts as: of copies, and of dropped duplicates.

    copies: the key of copies_of, if there is one. Documents that ingest dropped stand in the kept one's
    metadata (`duplicates`); a question that names them is answered by it. Raises DataError as copies_of does.
    """
    same = copies_of(documents, copies) if copies and documents else {}
    for document in documents:
        for name in dropped_duplicates(document):
            same[name] = same.get(document.id, document.id)
    return same


def dropped_duplicates(document: Document) -> list[str]:
    """Return the ids of the documents that ingest dropped, because this one says the same."""
    names = (document.metadata or {}).get("duplicates")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def distinct_documents(
    ranking: Ranking, same: Same | None = None
) -> tuple[dict[str, int], list[RankingItem]]:
    """Return document id -> its place, and the first item of each, best first; places count from 1.

    A document that comes several times, as chunks or as copies, stands where it comes first, and those
    behind it move up.
    """
    names = [item.document_id for item in ranking.items]
    if same:
        names = [same.get(name, name) for name in names]
    places = dict(zip(names, range(1, len(names) + 1), strict=True))
    if len(places) == len(names):
        return places, ranking.items
    first = dict(zip(reversed(names), reversed(ranking.items), strict=True))
    distinct = list(dict.fromkeys(names))
    return {name: place for place, name in enumerate(distinct, 1)}, [first[name] for name in distinct]
