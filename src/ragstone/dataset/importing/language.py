"""The languages of imported rows that do not say theirs."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from ragstone.corpus.language import detect_languages
from ragstone.dataset.importing.found import Found
from ragstone.dataset.languages import speaks
from ragstone.records import Document, Question

BATCH = 1024  # rows whose languages are detected together


def with_languages(rows: Iterable[Found]) -> Iterator[Found]:
    """Yield the rows, questions and documents without a language with the one that is detected.

    A question that is too short to tell has its document's language, where it can be in it and that document
    came before.
    """
    batch: list[Found] = []
    languages: dict[str, str] = {}
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            yield from _detected(batch, languages)
            batch = []
    yield from _detected(batch, languages)


def _detected(batch: list[Found], languages: dict[str, str]) -> Iterator[Found]:
    """Yield the rows of a batch. languages: those of the documents so far; those of the batch are added."""
    unknown = [
        (n, row.question if isinstance(row, Question) else row.text)
        for n, row in enumerate(batch)
        if isinstance(row, Question | Document) and row.lang is None
    ]
    found = detect_languages([text for _, text in unknown])
    for (number, _), lang in zip(unknown, found, strict=True):
        batch[number] = msgspec.structs.replace(batch[number], lang=lang)
    for row in batch:
        if isinstance(row, Document) and row.lang:
            languages[row.id] = row.lang
        if isinstance(row, Question) and row.lang is None:
            yield msgspec.structs.replace(row, lang=_of_documents(row, languages))
        else:
            yield row


def _of_documents(question: Question, languages: Mapping[str, str]) -> str | None:
    """Return the language that all documents of a question are in, if the question may be in it too."""
    tempting = (question.metadata or {}).get("tempting")
    names = question.document_ids or ([tempting["document_id"]] if isinstance(tempting, dict) else [])
    found = {languages.get(name) for name in names}
    lang = found.pop() if len(found) == 1 else None
    return lang if lang and speaks(question.question, lang) else None
