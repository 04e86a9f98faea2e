"""What readers of foreign sets yield: questions of rows in anybody's columns, documents, grades, remarks."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from ragstone.kernel.errors import ConfigError, DataError, nearest
from ragstone.kernel.records import Document, Question
from ragstone.kernel.tables.columns import SHAPES, as_list, as_text, field_of, to_canonical
from ragstone.kernel.tables.names import LANGUAGE_CODE, accepted_names


class ImportOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How sources are read.

    columns: field -> column (see `check_columns`), of tables and topics. split: of a BEIR
    folder; None: `test`, else the only one. limit: the first so many questions; documents are all read.
    """

    columns: Mapping[str, str] = {}
    split: str | None = None
    limit: int | None = None


class Source(msgspec.Struct, frozen=True):
    """A file or folder, and the name that ids which it does not give begin with."""

    path: Path
    name: str


class Grades(msgspec.Struct, frozen=True):
    """What qrels say of a question: document id -> grade; above 0 is relevant."""

    question_id: str
    grades: dict[str, int]


class Remark(msgspec.Struct, frozen=True):
    """What became of a row that was not simply imported.

    kind: `skipped`, it gave nothing; `changed`, it is not as it stands in the file; `left_out`, on purpose
    and as documented. place: file and line, or what else finds it. reason: the same words for the same
    reason, so that rows are counted by it; begins with a small letter.
    """

    kind: Literal["skipped", "changed", "left_out"]
    place: str
    reason: str


Found = Question | Document | Grades | Remark
Reader = Callable[[Source, ImportOptions], Iterator[Found]]


class LeftOut(ValueError):
    """A row is not imported, on purpose; the message is the reason."""


def skipped(location: str, reason: str) -> Remark:
    """Return the remark on a row that gave nothing."""
    return Remark("skipped", location, reason)


def left_out(location: str, reason: str) -> Remark:
    """Return the remark on a row that is not wanted."""
    return Remark("left_out", location, reason)


def changed(location: str, reason: str) -> Remark:
    """Return the remark on a row that is not imported as it stands."""
    return Remark("changed", location, reason)


CONTEXTS = "contexts"
TAGS = "tags."
FIELDS = (
    *("id", "question", "reference", CONTEXTS, "document_ids", "evidence", "answerable", "kind", "lang"),
    f"{TAGS}NAME",
)
NO_QUESTION = "it has no question (name its column with --column question=COLUMN)"
EMPTY_QUESTION = "its question is empty"
NOT_A_TEXT = "its question is not a text but a conversation or an object"

_TYPES = {field.name: field.type for field in msgspec.structs.fields(Question)}

Cells = dict[str, Any]


class RowQuestion(NamedTuple):
    """A question without an id of its own (`id` is empty) or with it, its contexts, and what did not fit."""

    question: Question
    contexts: list[str]
    misfits: list[str]


def parse_columns(written: Iterable[str]) -> dict[str, str]:
    """Return field -> column of `FIELD=COLUMN`s; `COLUMN=tags.NAME` is read as `tags.NAME=COLUMN`.

    Raises ConfigError for what is neither, an unknown field, and a field that two columns are given for.
    """
    columns: dict[str, str] = {}
    for pair in written:
        field, equals, column = pair.partition("=")
        if column.startswith(TAGS) and not _is_field(field):
            field, column = column, field
        if not (equals and field and column):
            raise ConfigError(f"--column {pair}: write FIELD=COLUMN, e.g. --column question=Frage")
        if field in columns:
            raise ConfigError(
                f"--column {pair}: {field} is read from {columns[field]!r} already. Give one column for each "
                "field."
            )
        columns[field] = column
    check_fields(columns)
    return columns


def check_fields(columns: Mapping[str, str]) -> None:
    """Raise ConfigError for a field that there is not."""
    for field in columns:
        if not _is_field(field):
            raise ConfigError(f"--column: there is no field {field!r}. {nearest(field, FIELDS)}")


def _is_field(name: str) -> bool:
    return name in FIELDS[:-1] or (name.startswith(TAGS) and len(name) > len(TAGS))


def check_columns(columns: Mapping[str, str], there: Iterable[str], path: object) -> None:
    """Raise DataError where a chosen column is not there, naming those that are."""
    names = set(there)
    for field, column in columns.items():
        if column not in names and column.split(".")[0] not in names:
            listing = ", ".join(map(repr, dict.fromkeys(there))) or "none"
            raise DataError(
                f"{path}: it has no column {column!r} to read {field} from. Its columns are: {listing}."
            )


def question_of(row: Cells, columns: Mapping[str, str]) -> RowQuestion:
    """Return the question of a row. Names of columns are understood in any case, see tables/names.py.

    columns: field -> column, before all other names. What does not fit an optional field stays in `metadata`,
    as unknown columns do, and is named in `misfits`.

    Raises ValueError where there is no question, and for an id that is none.
    """
    chosen = {field: row.get(column) for field, column in columns.items()}
    used = set(columns.values())
    rest = {name: value for name, value in row.items() if name not in used}
    metadata = {name: rest.pop(name) for name in list(rest) if name in chosen}
    contexts = as_texts(chosen.pop(CONTEXTS, None))
    tags = {
        field.removeprefix(TAGS): text
        for field, value in chosen.items()
        if field.startswith(TAGS) and isinstance(text := as_text(value), str) and text.strip()
    }
    merged = {**rest, **{field: value for field, value in chosen.items() if not field.startswith(TAGS)}}
    unfit = [name for name, value in merged.items() if not _fits(name, value)]
    metadata |= {name: merged.pop(name) for name in unfit}
    try:
        made = to_canonical(merged, Question)
    except (TypeError, ValueError) as mistake:
        raise ValueError(str(mistake)) from None
    metadata = {name: value for name, value in metadata.items() if value not in (None, "")}
    if metadata:
        made["metadata"] = {**made.get("metadata", {}), **metadata}
    if tags:
        made["tags"] = {**made.get("tags", {}), **tags}
    return RowQuestion(
        _converted(made), contexts, [f"its {name!r} does not fit: kept in metadata" for name in unfit]
    )


def found_in(row: Cells, columns: Mapping[str, str], location: str) -> Iterator[Found]:
    """Yield the question of a row, after what of it was changed; or that the row is skipped."""
    try:
        made = question_of(row, columns)
    except ValueError as mistake:
        yield skipped(location, str(mistake))
        return
    for misfit in made.misfits:
        yield changed(location, misfit)
    yield made.question


def are_understood(columns: Iterable[str], field: str) -> bool:
    """Return whether any of these columns is understood as that of a field of questions."""
    return any(field_of(column, Question) == field for column in columns)


def _converted(made: Cells) -> Question:
    text = made.get("question")
    if text is None or (isinstance(text, str) and not text.strip()):
        raise ValueError(NO_QUESTION)
    if not isinstance(text, str):
        raise ValueError(NOT_A_TEXT)
    try:
        return msgspec.convert({"id": "", **made}, Question)
    except msgspec.ValidationError as mistake:
        raise ValueError(str(mistake)) from None


def as_texts(value: object) -> list[str]:
    """Return the texts of a list, in whatever form it came; those that are blank are left out."""
    texts = [] if value is None or value == "" else [as_text(item) for item in as_list(value)]
    return [text for text in texts if isinstance(text, str) and text.strip()]


def _fits(name: str, value: object) -> bool:
    """Say whether a column's value can be that of the optional field that it is read as; absent ones fit."""
    field = field_of(name, Question)
    if field is None or field in ("id", "question") or value is None or value == "" or value != value:
        return True
    if field == "lang":
        return isinstance(value, str) and bool(LANGUAGE_CODE.fullmatch(value))
    try:
        shape = SHAPES.get(field)
        shaped = shape(value) if shape else value
        msgspec.convert(shaped, _TYPES[field])
    except (TypeError, ValueError):
        return False
    return shaped is not None or not value or field != "reference"


def document_of(row: Cells) -> Document:
    """Return the document of a row in anybody's columns. Raises ValueError."""
    try:
        made = to_canonical(row, Document)
        return msgspec.convert({name: made[name] for name in made if made[name] or name == "text"}, Document)
    except (TypeError, ValueError):
        names = ", ".join(accepted_names(Document, "text"))
        raise ValueError(f"it is not a document: it needs an id and a text ({names})") from None


def document_from_context(text: str) -> Document:
    """Return a context as a document, whose id is the same wherever the text is."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
    return Document(id=f"context-{digest}", text=text)
