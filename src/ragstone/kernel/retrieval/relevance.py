"""Which documents hold the answer to a question, and which of them count as the same, as translations do."""

from collections.abc import Iterable, Mapping, Sequence

from ragstone.kernel.errors import DataError, takes_rows
from ragstone.kernel.records import Document, Question, Ranking, RankingItem


def relevant_documents(question: Question) -> list[str]:
    """Return the documents that a question names, or else that its evidence stands in, each once."""
    return question.document_ids or list(dict.fromkeys(span.document_id for span in question.evidence or ()))


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


@takes_rows(documents=Document)
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
    return {name: rank for rank, name in enumerate(distinct, 1)}, [first[name] for name in distinct]


def missing_documents(questions: Iterable[Question], documents: Iterable[Document]) -> dict[str, list[str]]:
    """Return question id -> those of its relevant documents that the corpus lacks; complete ones left out.

    Such documents can never be found, so every measure of these questions is too low. A document that was
    dropped as a duplicate is not missing: the one that was kept stands for it. Unanswerable questions are
    left out: no document is right for them, whatever they name.
    """
    return _lacking([question for question in questions if question.answerable is not False], documents)


def _lacking(questions: Iterable[Question], documents: Iterable[Document]) -> dict[str, list[str]]:
    known = {name for document in documents for name in (document.id, *dropped_duplicates(document))}
    missing = {q.id: [name for name in relevant_documents(q) if name not in known] for q in questions}
    return {question_id: names for question_id, names in missing.items() if names}


def check_ids_meet(questions: Iterable[Question], documents: Iterable[Document]) -> None:
    """Raise DataError where questions name documents and the corpus has not a single one of them.

    Every measure would be 0, which says nothing of a retriever: the ids are of another corpus, or of another
    way of reading it.
    """
    listed, there = list(questions), list(documents)
    named = [name for question in listed for name in relevant_documents(question)]
    lacking = _lacking(listed, there)
    if there and named and len(named) == sum(map(len, lacking.values())):
        raise DataError(
            f"none of the documents that questions name is in the corpus: they name {named[0]!r}, its ids "
            f"are like {there[0].id!r}. Give the documents that the questions were made from."
        )
