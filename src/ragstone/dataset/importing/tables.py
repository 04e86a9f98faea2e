"""Tables of questions: our own, of a spreadsheet, and those that other tools export."""

from collections.abc import Callable, Iterator, Mapping

import msgspec

from ragstone.dataset.importing.found import Found, ImportOptions, LeftOut, Source, changed, left_out, skipped
from ragstone.dataset.importing.mapping import (
    Asked,
    Cells,
    asked,
    check_columns,
    document_from_context,
    document_of,
    value_at,
)
from ragstone.dataset.importing.sheets import open_sheet
from ragstone.records import Document

Prepare = Callable[[Cells], Cells]


def read_table(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield the questions of a CSV, TSV, JSONL, JSON or Parquet file; its contexts as documents."""
    yield from read_prepared(source, options, {})


def read_prepared(
    source: Source,
    options: ImportOptions,
    columns: Mapping[str, str],
    prepare: Prepare = lambda row: row,
) -> Iterator[Found]:
    """Yield the questions of a table in a tool's columns, and their contexts as documents, each once.

    columns: field -> column, unless the options name another for the field. prepare: gives a row its usual
    shape. A question that names its documents has a corpus already: its contexts stay in `metadata`.
    """
    known: set[str] = set()
    for place, row in asked_rows(source, options, columns, prepare):
        if not isinstance(row, Asked):
            yield row
            continue
        question, contexts, misfits = row
        for misfit in misfits:
            yield changed(place, misfit)
        if contexts and question.document_ids:
            notes = {**(question.metadata or {}), "contexts": contexts}
            question = msgspec.structs.replace(question, metadata=notes)
        elif contexts:
            documents = [document_from_context(text) for text in contexts]
            ids = list(dict.fromkeys(document.id for document in documents))
            yield from _new(documents, known)
            question = msgspec.structs.replace(question, document_ids=ids)
        yield question


def asked_rows(
    source: Source,
    options: ImportOptions,
    columns: Mapping[str, str],
    prepare: Prepare = lambda row: row,
) -> Iterator[tuple[str, Asked | Found]]:
    """Yield what each row of a table asks, or the remark on why it asks nothing, with the row's place.

    Raises DataError where a column that the options name is in no row.
    """
    sheet = open_sheet(source.path)
    seen = dict.fromkeys(sheet.columns or ())
    if sheet.columns is not None:
        check_columns(options.columns, seen, source.path)
    usual = {field: column for field, column in columns.items() if field not in options.columns}
    for number, row in sheet.rows:
        place = sheet.place(number)
        if isinstance(row, str):
            yield place, skipped(place, row)
            continue
        if sheet.columns is None:
            seen.update(dict.fromkeys(row))
        try:
            given = {column: value_at(row, column) for column in options.columns.values()}
            prepared = {**prepare(row), **given}
            wanted = {field: column for field, column in usual.items() if column in prepared}
            yield place, asked(prepared, {**wanted, **options.columns})
        except LeftOut as reason:
            yield place, left_out(place, str(reason))
        except ValueError as mistake:
            yield place, skipped(place, str(mistake))
    check_columns(options.columns, seen, source.path)


def _new(documents: list[Document], known: set[str]) -> Iterator[Document]:
    for document in documents:
        if document.id not in known:
            known.add(document.id)
            yield document


def read_documents(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield the documents of a table, as `ragstone ingest` writes them or in the names of other tools."""
    sheet = open_sheet(source.path)
    for number, row in sheet.rows:
        try:
            yield (document_of(row) if isinstance(row, dict) else skipped(sheet.place(number), row))
        except ValueError as mistake:
            yield skipped(sheet.place(number), str(mistake))
