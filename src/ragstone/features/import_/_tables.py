"""Tables of questions: our own, those of spreadsheets, and what other evaluation tools export.

ragas: `Testset.to_csv`, `to_jsonl` (and the columns of its version 0.1). deepeval: `save_as` of an
`EvaluationDataset`, JSON and CSV, where contexts are joined by `|`. Phoenix: examples of its REST interface,
and its CSV, whose columns begin with `input_`, `output_` and `metadata_`. Langfuse: dataset items of its
interface and export.
"""

from collections.abc import Callable, Iterator, Mapping, Set
from pathlib import Path

import msgspec

from ragstone.features.import_._rows import (
    EMPTY_QUESTION,
    NO_QUESTION,
    Cells,
    Found,
    ImportOptions,
    LeftOut,
    RowQuestion,
    Source,
    are_understood,
    changed,
    check_columns,
    document_from_context,
    document_of,
    left_out,
    question_of,
    skipped,
)
from ragstone.features.import_._sheets import open_sheet
from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables.columns import PASSAGE, guess_columns, value_at
from ragstone.kernel.tables.formats import read_questions
from ragstone.kernel.tables.names import accepted_names, fold

_FIELDS = frozenset(Question.__struct_fields__)
Prepare = Callable[[Cells], Cells]


def read_table(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield the questions of a CSV, TSV, JSONL, JSON or Parquet file; its contexts as documents.

    A name that is only near a known one is taken where no other column fits, as `read_rows` does; it is told.
    """
    yield from read_prepared(source, options, {}, guess=True)


def read_prepared(
    source: Source,
    options: ImportOptions,
    columns: Mapping[str, str],
    prepare: Prepare = lambda row: row,
    *,
    guess: bool = False,
) -> Iterator[Found]:
    """Yield the questions of a table in a tool's columns, and their contexts as documents, each once.

    columns: field -> column, unless the options name another for the field. prepare: gives a row its usual
    shape. guess: near names are taken. A question that names its documents has a corpus already: its
    contexts stay in `metadata`. A column that says that it holds the document's text (see DOCUMENT) makes
    that document, under the id named beside.
    """
    known: dict[str, int] = {}
    for location, row in asked_rows(source, options, columns, prepare, guess=guess):
        if not isinstance(row, RowQuestion):
            yield row
            continue
        question, contexts, misfits = row
        for misfit in misfits:
            yield changed(location, misfit)
        if contexts and question.document_ids:
            notes = {**(question.metadata or {}), "contexts": contexts}
            question = msgspec.structs.replace(question, metadata=notes)
        elif contexts:
            documents = [document_from_context(text) for text in contexts]
            ids = list(dict.fromkeys(document.id for document in documents))
            yield from _new(documents, known)
            question = msgspec.structs.replace(question, document_ids=ids)
        else:
            document, question = _with_document(question)
            if document is None:
                pass
            elif known.get(document.id, hash(document.text)) == hash(document.text):
                yield from _new([document], known)
            else:
                yield changed(
                    location, f"an earlier row has another text for {document.id!r}: the earlier one is kept"
                )
        yield question


def asked_rows(
    source: Source,
    options: ImportOptions,
    columns: Mapping[str, str],
    prepare: Prepare = lambda row: row,
    *,
    guess: bool = False,
) -> Iterator[tuple[str, RowQuestion | Found]]:
    """Yield what each row of a table asks, or the remark on why it asks nothing, with the row's place.

    guess: near names are taken, and told.

    Raises DataError where a column that the options name is in no row.
    """
    sheet = open_sheet(source.path, options.columns)
    seen = dict.fromkeys(sheet.columns or ())
    if sheet.columns is not None:
        check_columns(options.columns, seen, source.path)
    usual = {field: column for field, column in columns.items() if field not in options.columns}
    near = _NearNames(source.path, options.columns) if guess else None
    has_column = "question" in options.columns or are_understood(sheet.columns or (), "question")
    for number, row in sheet.rows:
        location = sheet.place(number)
        if isinstance(row, str):
            yield location, skipped(location, row)
            continue
        if sheet.columns is None:
            seen.update(dict.fromkeys(row))
        try:
            values = {column: value_at(row, column) for column in options.columns.values()}
            prepared = {**prepare(row), **values}
            wanted = {field: column for field, column in usual.items() if column in prepared}
            wanted |= near.columns_of(prepared) if near else {}
            yield location, question_of(prepared, {**wanted, **options.columns})
            has_column = True  # a row that asks shows that the column is understood
        except LeftOut as mistake:
            yield location, left_out(location, str(mistake))
        except ValueError as mistake:
            reason = str(mistake)
            if reason == NO_QUESTION and (has_column or are_understood(row, "question")):
                reason = EMPTY_QUESTION
            yield location, skipped(location, reason)
    check_columns(options.columns, seen, source.path)


class _NearNames:
    """The near names of one file, by the columns of a row; each is told once."""

    def __init__(self, path: Path, chosen: Mapping[str, str]) -> None:
        self._path, self._chosen = path, chosen
        self._known: dict[tuple[str, ...], dict[str, str]] = {}
        self._told: set[str] = set()

    def columns_of(self, row: Cells) -> dict[str, str]:
        """Return field -> column of the near names of a row. The first row with its columns decides."""
        names = tuple(row)
        if names not in self._known:
            chosen = {field: column for field, column in self._chosen.items() if field in _FIELDS}
            self._known[names] = guess_columns(row, Question, chosen, self._path, self._told)
        return self._known[names]


def _new(documents: list[Document], known: dict[str, int]) -> Iterator[Document]:
    """Yield the documents that are not known yet. known: id -> hash of the text; they are added."""
    for document in documents:
        if document.id not in known:
            known[document.id] = hash(document.text)
            yield document


DOCUMENT: Mapping[str, tuple[str, ...]] = {
    "text": (
        *("document_extracted", "document_text", "document_content", "document_body", "document"),
        *("doc_text", "doc_content", "doc_body"),
    ),
    "title": ("document_title", "doc_title"),
    "source": ("document_path", "document_url", "document_source", "doc_path", "doc_url", "doc_source"),
}
"""Columns of a table of questions that speak of the document of each."""


def _with_document(question: Question) -> tuple[Document | None, Question]:
    """Return the document that a row holds beside its question, and the question, which names it then."""
    folded = {fold(name): name for name in question.metadata or {}}
    columns = {
        field: next((column for name in names if (column := folded.get(fold(name)))), None)
        for field, names in DOCUMENT.items()
    }
    notes = dict(question.metadata or {})
    values = {field: notes[column] for field, column in columns.items() if column is not None}
    text, ids = values.get("text"), question.document_ids or []
    if not isinstance(text, str) or len(ids) > 1:
        return None, question
    if len(text.strip()) < (PASSAGE if fold(columns["text"] or "") == "document" else 1):  # its name, perhaps
        return None, question
    del notes[columns["text"] or ""]
    document = document_from_context(text)
    document = msgspec.structs.replace(
        document,
        id=ids[0] if ids else document.id,
        **{field: values[field] for field in ("title", "source") if isinstance(values.get(field), str)},
    )
    return document, msgspec.structs.replace(question, document_ids=[document.id], metadata=notes or None)


def read_lines(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield the questions of a text that has one a line."""
    for _, row in read_questions(source.path):
        yield Question(id="", question=row["question"])


def read_documents(source: Source, _options: ImportOptions) -> Iterator[Found]:
    """Yield the documents of a table, as `ragstone ingest` writes them or in the names of other tools."""
    sheet = open_sheet(source.path)
    for number, row in sheet.rows:
        try:
            yield (document_of(row) if isinstance(row, dict) else skipped(sheet.place(number), row))
        except ValueError as mistake:
            yield skipped(sheet.place(number), str(mistake))


_QUESTION = accepted_names(Question, "question")
_REFERENCE = (*accepted_names(Question, "reference"), "output", "response")
ARCHIVED = "it is archived"


def is_ragas(names: Set[str]) -> bool:
    """Say whether columns are those of a test set of ragas."""
    new = "user_input" in names and bool(names & {"reference_contexts", "synthesizer_name"})
    return new or {"question", "evolution_type"} <= names


def read_ragas(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield the questions of a test set of ragas; its reference contexts are documents."""

    def prepare(row: Cells) -> Cells:
        old = "reference_contexts" not in row and "contexts" in row
        return {("reference_contexts" if old and name == "contexts" else name): row[name] for name in row}

    columns = {
        "contexts": "reference_contexts",
        "tags.synthesizer": "synthesizer_name",
        "tags.evolution": "evolution_type",
    }
    yield from read_prepared(source, options, columns, prepare)


def is_deepeval(names: Set[str]) -> bool:
    """Say whether columns are those of deepeval's goldens."""
    return {"input", "expected_output"} <= names and bool(
        names & {"actual_output", "retrieval_context", "source_file", "context"}
    )


def read_deepeval(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield deepeval's goldens as questions; their contexts are documents."""

    def prepare(row: Cells) -> Cells:
        context = row.get("context")
        if isinstance(context, str) and not context.lstrip().startswith("["):
            return {**row, "context": context.split("|")}
        return row

    yield from read_prepared(source, options, {"contexts": "context"}, prepare)


def is_phoenix(names: Set[str]) -> bool:
    """Say whether columns are those of a data set of Phoenix."""
    flat = "example_id" in names and any(name.startswith("input_") for name in names)
    return flat or {"input", "output", "metadata"} <= names


def read_phoenix(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield the examples of a data set of Phoenix as questions; `output` is the reference."""

    def prepare(row: Cells) -> Cells:
        nested: Cells = {}  # as the interface gives it: `input_question` of CSV in the object `input`
        for name, value in row.items():
            part, underscore, key = name.partition("_")
            if underscore and part in ("input", "output", "metadata") and part not in row:
                nested.setdefault(part, {})[key] = value
            else:
                nested[name] = value
        row = nested
        return {
            **row,
            "input": _text(row.get("input"), _QUESTION),
            "output": _text(row.get("output"), _REFERENCE),
        }

    yield from read_prepared(source, options, {"question": "input", "reference": "output"}, prepare)


def is_langfuse(names: Set[str]) -> bool:
    """Say whether columns are those of the items of a data set of Langfuse."""
    return (
        "input" in names
        and bool(names & {"expectedOutput", "expected_output"})
        and bool(names & {"sourceTraceId", "source_trace_id", "datasetId", "dataset_id", "datasetName"})
    )


def read_langfuse(source: Source, options: ImportOptions) -> Iterator[Found]:
    """Yield the items of a data set of Langfuse as questions; archived ones are passed over."""

    def prepare(row: Cells) -> Cells:
        if str(row.get("status")).upper() == "ARCHIVED":
            raise LeftOut(ARCHIVED)
        name = "expectedOutput" if "expectedOutput" in row else "expected_output"
        return {**row, "input": _text(row.get("input"), _QUESTION), name: _text(row.get(name), _REFERENCE)}

    yield from read_prepared(source, options, {"question": "input", "reference": "expectedOutput"}, prepare)


def _text(value: object, names: tuple[str, ...]) -> object:
    """Return the text of a value that tools keep as an object; the value itself where none stands out.

    It is the one under the first name that is known, else the only one; of a conversation the one message
    of the user.
    """
    if isinstance(value, str) and value.lstrip()[:1] in ('"', "{", "["):
        try:
            value = msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    if isinstance(value, Mapping) and isinstance(value.get("messages"), list):
        value = value["messages"]
    if isinstance(value, list):
        contents = [
            item.get("content") for item in value if isinstance(item, Mapping) and item.get("role") == "user"
        ]
        return contents[0] if len(contents) == 1 else value
    if not isinstance(value, Mapping):
        return value
    known = [value[name] for name in names if isinstance(value.get(name), str)]
    texts = known or [item for item in value.values() if isinstance(item, str)]
    return texts[0] if known or len(texts) == 1 else value
