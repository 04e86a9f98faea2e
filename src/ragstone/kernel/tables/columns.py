"""Rows in the columns of other tools -> rows in ours: the field of each name, and the shape of its values.

The names stand in names.py, those that are only near in nearness.py. The first that is present wins; a column
that is not used goes to `metadata`.
"""

import ast
import functools
import logging
import math
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from contextvars import ContextVar
from typing import Any

import msgspec

from ragstone.kernel.records import Answer, Context, count_of, figure_of
from ragstone.kernel.tables._nearness import near_field
from ragstone.kernel.tables._yes_no import as_yes_no
from ragstone.kernel.tables.calls import as_steps
from ragstone.kernel.tables.names import ALIASES, CONTEXT_TEXT, REFERENCE, accepted_names, fields_of, fold

LOG = logging.getLogger(__name__)


class ColumnChoice(msgspec.Struct, frozen=True, kw_only=True):
    """How a user wants files to be read.

    columns: field -> column. worksheet: of a workbook. words: a label that is a word -> its score. lenient: a
    column that a file lacks was meant for another one. where: a filter of the answers in traces, see
    interchange/trace_filter.py.
    """

    columns: Mapping[str, str] = {}
    worksheet: str | None = None
    words: Mapping[str, float] = {}
    lenient: bool = False
    where: str | None = None


CHOICE: ContextVar[ColumnChoice] = ContextVar("columns", default=ColumnChoice())  # noqa: B039 - it is frozen
"""The choice that holds for every file that a command reads: set by the command line alone, where the option
`--column` is one for all files. Functions take it as a parameter."""


class ColumnPlan(msgspec.Struct, frozen=True):
    """Which columns hold which field; the first with a value wins. guesses: near names -> field."""

    fields: dict[str, tuple[str, ...]]
    guesses: dict[str, str] = {}

    def spare(self, raw: Mapping[str, Any]) -> list[str]:
        """Return the columns of a row that no field is read from."""
        used = {column for columns in self.fields.values() for column in columns}
        return [name for name in raw if name and name not in used]


_fields_held = functools.cache(lambda row_type: frozenset(fields_of(row_type)))


@functools.cache
def known_columns(row_type: type) -> dict[str, tuple[str, int]]:
    """Return every column name that is understood, folded, with its field and its place among the names."""
    fields = dict.fromkeys((*fields_of(row_type), *ALIASES.get(row_type, ())))
    return {
        fold(name): (field, rank)
        for field in reversed(fields)
        for rank, name in reversed([*enumerate(accepted_names(row_type, field))])
    }


def field_of(column: str, row_type: type) -> str | None:
    """Return the field that a column is read as, by its name alone; None for an unknown one."""
    field, _ = known_columns(row_type).get(fold(column), (None, 0))
    if field is None or column == field:
        return field
    # `Tags` of a sheet of an office is no object of ours, `tags` is.
    is_ours = SHAPES.get(field) in (as_object, as_steps, as_usage) or field in ("kind", "error")
    return None if is_ours else field


def plan_columns(
    raw: Mapping[str, Any], row_type: type, chosen: Mapping[str, str] | None = None, *, near: bool = False
) -> ColumnPlan:
    """Return what each column of a row is read as. chosen: field -> column, before all names.

    near: a near name is taken for a field that no column has by a known name; of two near ones, none.
    """
    if not chosen and raw.keys() <= _fields_held(row_type):  # a row of ours
        return ColumnPlan({column: (column,) for column in raw})
    meant = {field: find_column(column, raw) for field, column in (chosen or {}).items()}
    chosen = {field: column for field, column in meant.items() if column is not None}
    by_field: dict[str, list[tuple[int, bool, int, str]]] = {}
    for at, column in enumerate(raw):
        field = field_of(column, row_type)
        if field is not None and column not in chosen.values():
            rank = known_columns(row_type)[fold(column)][1]
            is_other = column not in accepted_names(row_type, field)
            by_field.setdefault(field, []).append((rank, is_other, at, column))
    fields = {field: tuple(column for *_, column in sorted(columns)) for field, columns in by_field.items()}
    if row_type is Answer and "answer" in fields.keys() | chosen.keys() and "reference" not in fields:
        right = tuple(
            name
            for name in raw
            if name not in chosen.values()
            and fold(name) in _ANSWERS
            and isinstance(_squad_texts(raw[name]), list)
        )
        fields |= {"reference": right} if right else {}
    if "reference" in chosen or any(
        fold(column) in _BESIDE_ANSWERS and not (fold(column) == "system" and _is_prompt(raw[column]))
        for column in raw
    ):
        # Beside references, though this row has none, or a system, `answer` is what a system said.
        expected = tuple(name for name in fields.pop("reference", ()) if fold(name) != "answer")
        fields |= {"reference": expected} if expected else {}
    plan = ColumnPlan(fields | {field: (column, *fields.get(field, ())) for field, column in chosen.items()})
    return _with_guesses(plan, raw, row_type) if near else plan


# Columns that beside a prediction hold right answers, as in SQuAD and Natural Questions.
_ANSWERS = ("answers", "answers.text", "answerstext")
_BESIDE_ANSWERS = {"system", "reference", *map(fold, REFERENCE)}


def _squad_texts(value: object) -> object:
    """Return the texts of SQuAD's `{"text": [...], "answer_start": [...]}`, also as text; else the value."""
    if isinstance(value, str) and value.lstrip().startswith(("{", "[")):
        decoded = _decoded(value.strip())
        value = value if decoded is None else decoded
    return value.get("text", []) if isinstance(value, Mapping) else value


def _with_guesses(plan: ColumnPlan, raw: Mapping[str, Any], row_type: type) -> ColumnPlan:
    near: dict[str, list[str]] = {}
    for column in plan.spare(raw):
        field = near_field(column, row_type)
        if field is not None and field not in plan.fields and _could_be(raw[column], field):
            near.setdefault(field, []).append(column)
    guesses = {columns[0]: field for field, columns in near.items() if len(columns) == 1}
    return ColumnPlan(plan.fields | {field: (column,) for column, field in guesses.items()}, guesses)


def guess_columns(
    raw: Mapping[str, Any], row_type: type, chosen: Mapping[str, str], where: object, known: set[str]
) -> dict[str, str]:
    """Return field -> column of the near names of a row, and warn of those not told of yet (`known`)."""
    plan = plan_columns(raw, row_type, chosen, near=True)
    warn_of_guesses(plan, where, known)
    return {field: column for column, field in plan.guesses.items()}


def warn_of_guesses(plan: ColumnPlan, where: object, known: set[str]) -> None:
    """Warn of near names that were taken, each column once. where: the file. known: what was told of it."""
    guesses = {column: field for column, field in plan.guesses.items() if column not in known}
    if not guesses:
        return
    known |= guesses.keys()
    using = ", ".join(f"`{column}` as the {field}" for column, field in guesses.items())
    field = next(iter(guesses.values())) if len(guesses) == 1 else "FIELD"
    LOG.warning("%s: using column %s. Change it with --column %s=NAME.", where, using, field)


LONGEST_NAME = 100  # characters: a longer text names no system
_SENTENCE = re.compile(r"(?:\S+\s+){3,}\S+[.!?]|.*[。！？؟।]", re.DOTALL)


def _is_prompt(value: object) -> bool:
    """Say whether a text is a system's prompt: long, of several lines, or a sentence of four words."""
    if not isinstance(value, str):
        return False
    text = value.strip()
    return len(text) > LONGEST_NAME or "\n" in text or _SENTENCE.fullmatch(text) is not None


def warn_of_prompts(plan: ColumnPlan, raw: Mapping[str, Any], where: object, known: set[str]) -> None:
    """Warn where a system's prompt is in the column of its name; once. where, known: see warn_of_guesses."""
    columns = [column for column in plan.fields.get("system", ()) if _is_prompt(raw.get(column))]
    if columns and columns[0] not in known:
        known.add(columns[0])
        LOG.warning(
            "%s: column `%s` holds prompts or other texts, and each text counts as a system. For another "
            "column, use --column system=NAME.",
            where,
            columns[0],
        )


def find_column(column: str, there: Collection[str]) -> str | None:
    """Return the column that a user means: so spelled, else in another case, else a path into objects."""
    if column in there:
        return column
    same = [name for name in there if fold(name) == fold(column)]
    return same[0] if len(same) == 1 else column if column.partition(".")[0] in there else None


def value_at(row: Mapping[str, Any], column: str) -> Any:
    """Return the value of a column, else of a path into objects (`output.text`); None where there is none."""
    if column in row:
        return row[column]
    first, _, rest = column.partition(".")
    inner = row.get(first)
    return value_at(inner, rest) if rest and isinstance(inner, Mapping) else None


def _could_be(value: object, field: str) -> bool:
    """Say whether the value of a near column can be one of the field. Of a blank one nothing is known."""
    if is_absent(value) or value == "":
        return True
    if field == "contexts":
        return not isinstance(value, str) or len(value) >= PASSAGE
    return field == "score" or isinstance(value, str | list)


def is_absent(value: object) -> bool:
    """Say whether there is no value: null, and NaN, NaT and NA of data frames."""
    if value is None:
        return True
    try:
        return bool(value != value)  # NaN differs from itself
    except (TypeError, ValueError):  # pandas.NA says neither yes nor no
        return type(value).__name__ == "NAType"


PASSAGE = 20  # characters: a shorter text is the name of a source, and not what stands there
NULL_ANSWER = "the sheet has no answer here (null)"


_PRESENT = (str, int, bool, list, dict)  # of whose values none is absent, which is quicker to see


def to_canonical(raw: Mapping[str, Any], row_type: type, plan: ColumnPlan | None = None) -> dict[str, Any]:
    """Return the row with our field names and value shapes; unused columns are gathered in `metadata`.

    Absent, null, NaN and (in lists) empty values are left out, so that the next alias has its turn. An answer
    that is null is the application's failure: it is empty, and `error` says so.
    Raises ValueError or TypeError for a value that cannot be understood.
    """
    plan = plan or plan_columns(raw, row_type)
    row: dict[str, Any] = {}
    passed: set[str] = set()
    for field, columns in plan.fields.items():
        shape = SHAPES.get(field)
        for column in columns:
            value = raw[column] if column in raw else value_at(raw, column)
            if type(value) not in _PRESENT and is_absent(value):
                continue
            shaped = value if shape is None else shape(value)
            if shaped is None:
                continue
            if field not in row:
                row[field] = shaped
                passed.add(column)
            break
        passed.update([column for column in columns if column == field or raw.get(column) == ""])
    left = raw.keys() - passed
    rest = (
        {name: value for name, value in raw.items() if name in left and not is_absent(value)} if left else {}
    )
    if row_type is Answer and "answer" not in row and ("answer" in plan.fields or "error" in row):
        row |= {"answer": "", "error": row.get("error") or NULL_ANSWER}
    for field in row.keys() - _fields_held(row_type):  # what a label is found by, and does not hold
        rest = {field: row.pop(field), **rest}
    if rest:
        row["metadata"] = {**row.get("metadata", {}), **rest}
    return row


def as_id(value: Any) -> str | None:
    """Ids are text; whole numbers are accepted from tools that count rows."""
    if isinstance(value, float) and value.is_integer():  # of a column in which others are absent
        value = int(value)
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
        decoded = _decoded(value.strip()) if value.lstrip().startswith("[") else None
        return decoded if isinstance(decoded, list) else [value]
    if isinstance(value, Mapping):
        return [value]
    return list(value) if isinstance(value, Iterable) else [value]


def _decoded(text: str) -> list[Any] | dict[str, Any] | None:
    """Return the list or object that a flat format carried as JSON, or as Python writes it (pandas does)."""
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
    return decoded if isinstance(decoded, list | dict) else None


def as_reference(value: Any) -> str | list[str] | None:
    """One right answer as text, several as a list; SQuAD's `{"text": [...]}` is understood."""
    texts = [text for text in (as_text(item) for item in as_list(_squad_texts(value))) if text]
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
            fields = {name: item[name] for name in CONTEXT_FIELDS - {"text"} if item.get(name) is not None}
            contexts.append(_with_text_ids({**fields, "text": text}))
        elif item is not None:
            contexts.append({"text": as_text(item)})
    return contexts


def _with_text_ids(context: dict[str, Any]) -> dict[str, Any]:
    numbers = [name for name in ("id", "document_id") if isinstance(context.get(name), int)]
    return context | {name: as_id(context[name]) for name in numbers} if numbers else context


_SHARE = re.compile(r"([-+]?[\d.,]+)\s*%")
# Three digits after a comma may be thousands, but not behind a zero or nothing: `0,125` is no 125.
_COMMA = re.compile(r"[-+]?(?:\d*,(?:\d{1,2}|\d{4,})|0*,\d{3})")


class UnknownWord(ValueError):
    """A label is a word, and nobody has said what it stands for."""

    def __init__(self, word: str) -> None:
        super().__init__(f"{word!r} is neither a number nor yes or no")
        self.word = word


def as_number(value: Any) -> float:
    """A score as a number: yes/no and right/wrong become 1 and 0, `50 %` 0.5; `0,5` is read as in Europe.

    Raises ValueError; of a word UnknownWord.
    """
    unit = 1.0
    written = value
    if isinstance(value, str):
        word = value.strip().casefold()
        right = as_yes_no(word)
        if right is not None:
            return float(right)
        share = _SHARE.fullmatch(word)
        written, unit = (share[1], 100.0) if share else (word, 1.0)
        written = written.replace(",", ".") if _COMMA.fullmatch(written) else written
    try:
        number = float(written) / unit
    except (TypeError, ValueError, OverflowError):
        if isinstance(value, str):
            raise UnknownWord(value.strip()) from None
        raise ValueError(f"{value!r} is neither a number nor yes or no") from None
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not a finite number")
    return number


def as_flag(value: Any) -> bool:
    """True or false, from a flag, a number or a word."""
    if isinstance(value, bool):
        return value
    flag = as_yes_no(str(value))
    if flag is None:
        raise ValueError(f"{value!r} is neither true nor false")
    return flag


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


def as_figure(value: Any) -> float | None:
    """Seconds or US dollars; absent where they cannot be either. Raises ValueError for words."""
    try:
        return figure_of(as_number(value) if isinstance(value, str) else value)
    except UnknownWord:
        raise
    except ValueError:  # a text of a number that is not finite
        return None


def as_usage(value: Any) -> dict[str, int] | None:
    """The tokens of an answer, as far as they are counts; absent where it is no object of them."""
    try:
        usage = as_object(value)
    except ValueError:
        return None
    if not isinstance(usage, Mapping):
        return None
    counts = {str(name): count_of(count) for name, count in usage.items()}
    return {name: count for name, count in counts.items() if count is not None}


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
    "turns": as_object,
    "steps": as_steps,
    "score": as_number,
    "latency_s": as_figure,
    "cost_usd": as_figure,
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
    "usage": as_usage,
    "metadata": as_object,
}
