"""Rows in the columns of other tools -> rows in ours: the field of each name, and the shape of its values.

The names stand in names.py. The first that is present wins; a column that is not used goes to `metadata`.
"""

import ast
import functools
import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from ragstone.records import Context
from ragstone.tables.names import CONTEXT_TEXT, accepted_names, fields_of

YES = {"true", "yes", "correct", "right", "1", "pass", "passed"}
NO = {"false", "no", "incorrect", "wrong", "0", "fail", "failed"}


class Spot(NamedTuple):
    """Where a column goes: the field, and the function that gives its value our shape."""

    field: str
    shape: Callable[[Any], Any] | None


@functools.cache
def columns_of(row_type: type) -> dict[str, Spot]:
    """Return every column name that is understood and where it goes; no name goes to two fields."""
    return {
        name: Spot(field, SHAPES.get(field))
        for field in fields_of(row_type)
        for name in accepted_names(row_type, field)
    }


def to_canonical(raw: Mapping[str, Any], row_type: type) -> dict[str, Any]:
    """Return the row with our field names and value shapes; unused columns are gathered in `metadata`.

    Absent, null, NaN and (in lists) empty values are left out, so that the next alias has its turn.
    Raises ValueError or TypeError for a value that cannot be understood.
    """
    columns = columns_of(row_type)
    row: dict[str, Any] = {}
    rest: dict[str, Any] = {}
    for name, value in raw.items():
        if value is None or value != value:  # NaN differs from itself
            continue
        spot = columns.get(name)
        if spot is None:
            rest[name] = value
            continue
        field, shape = spot
        if name != field and _has_better(raw, row_type, field, name):
            shaped = None
        else:
            shaped = value if shape is None else shape(value)
        if shaped is not None:
            row[field] = shaped
        elif name != field and value != "":
            rest[name] = value
    if rest:
        row["metadata"] = {**row.get("metadata", {}), **rest}
    return row


def _has_better(raw: Mapping[str, Any], row_type: type, field: str, column: str) -> bool:
    """Return whether a name that goes before this column's holds a value for the field."""
    shape = SHAPES.get(field, _as_it_is)
    for name in accepted_names(row_type, field):
        if name == column:
            return False
        value = raw.get(name)
        if value is not None and value == value and shape(value) is not None:
            return True
    return False


def _as_it_is(value: Any) -> Any:
    return value


def as_id(value: Any) -> str | None:
    """Ids are text; whole numbers are accepted from tools that count rows."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise TypeError(f"an id must be text or a whole number, not {value!r}")
    return str(value) or None


def as_text(value: Any) -> str | None:
    """Text stays; a number from a CSV reader or a Parquet column becomes text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, int | float) else value


def as_list(value: Any) -> list[Any]:
    """A list stays, text of a list is decoded, anything else becomes a list of one."""
    if isinstance(value, str):
        listed = _decode_list(value.strip()) if value.lstrip().startswith("[") else None
        return [value] if listed is None else listed
    if isinstance(value, Mapping):
        return [value]
    return list(value) if isinstance(value, Iterable) else [value]


def _decode_list(text: str) -> list[Any] | None:
    """Return the list that a flat format carried as JSON, or as Python writes it (pandas does)."""
    try:
        decoded = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        try:
            with warnings.catch_warnings(action="ignore"):  # of odd escapes in what is no list at all
                decoded = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return None
        # Written back it must be the same: NumPy's "['a' 'b']" means two texts, and Python reads one.
        decoded = decoded if repr(decoded) == text else None
    return decoded if isinstance(decoded, list) else None


def as_reference(value: Any) -> str | list[str] | None:
    """One right answer as text, several as a list; SQuAD's `{"text": [...]}` is understood."""
    if isinstance(value, Mapping):
        value = value.get("text", [])
    texts = [text for text in (as_text(item) for item in as_list(value)) if text]
    return texts[0] if len(texts) == 1 else texts or None


def as_ids(value: Any) -> list[str] | None:
    """Document ids as a list of text."""
    return [str(item) for item in as_list(value)] or None


CONTEXT_FIELDS = frozenset(fields_of(Context))


def as_contexts(value: Any) -> list[dict[str, Any]] | None:
    """Contexts as objects with `text`; plain texts and the objects of other tools are accepted.

    An empty list stays an empty list: the system retrieved nothing, which is not the same as unknown.
    """
    if value == "":
        return None
    contexts: list[dict[str, Any]] = []
    for item in as_list(value):
        if isinstance(item, dict) and item.keys() <= CONTEXT_FIELDS and isinstance(item.get("text"), str):
            contexts.append(_with_text_ids(item))
        elif isinstance(item, Mapping):
            text = next((item[name] for name in CONTEXT_TEXT if isinstance(item.get(name), str)), None)
            if text is None:
                raise TypeError(f"a context needs one of {', '.join(CONTEXT_TEXT)}; it has {', '.join(item)}")
            kept = {name: item[name] for name in CONTEXT_FIELDS - {"text"} if item.get(name) is not None}
            contexts.append(_with_text_ids({**kept, "text": text}))
        elif item is not None:
            contexts.append({"text": as_text(item)})
    return contexts


def _with_text_ids(context: dict[str, Any]) -> dict[str, Any]:
    numbers = [name for name in ("id", "document_id") if isinstance(context.get(name), int)]
    return context | {name: as_id(context[name]) for name in numbers} if numbers else context


def as_number(value: Any) -> float:
    """A score as a number; true/false, yes/no and right/wrong become 1 and 0."""
    if isinstance(value, str):
        word = value.strip().casefold()
        if word in YES or word in NO:
            return float(word in YES)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{value!r} is no number and no yes or no") from None
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is no finite number")
    return number


def as_flag(value: Any) -> bool:
    """True or false, from a flag, a number or a word."""
    if isinstance(value, bool):
        return value
    word = str(value).strip().casefold()
    if word not in YES | NO:
        raise ValueError(f"{value!r} is neither true nor false")
    return word in YES


def as_object(value: Any) -> Any:
    """A mapping or list that a flat format carried as JSON text."""
    if not isinstance(value, str):
        return value
    if not value:
        return None
    try:
        return msgspec.json.decode(value)
    except (msgspec.DecodeError, RecursionError):
        raise ValueError(f"expected JSON, got {value[:60]!r}") from None


def as_count(value: Any) -> Any:
    """An offset or version: digits in a flat format become a whole number."""
    return int(value) if isinstance(value, str) and value.strip().isdigit() else value


SHAPES: dict[str, Callable[[Any], Any]] = {
    "id": as_id,
    "question_id": as_id,
    "document_id": as_id,
    "question": as_text,
    "answer": as_text,
    "text": as_text,
    "title": as_text,
    "reference": as_reference,
    "document_ids": as_ids,
    "contexts": as_contexts,
    "score": as_number,
    "latency_s": as_number,
    "cost_usd": as_number,
    "answerable": as_flag,
    "start": as_count,
    "end": as_count,
    "prompt_version": as_count,
    "evidence": as_object,
    "items": as_object,
    "tags": as_object,
    "scores": as_object,
    "scale": as_object,
    "verdicts": as_object,
    "usage": as_object,
    "metadata": as_object,
}
