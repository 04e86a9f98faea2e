"""Files of rows, data frames and dicts -> rows, streamed; in anybody's columns."""

import logging
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from ragstone.kernel.errors import ColumnsError, ConfigError, DataError, checks_arguments, nearest, plural
from ragstone.kernel.files.sheet import SECOND, FileTable
from ragstone.kernel.records import Answer, Chunk, Document, Judgement, Label, Question, Ranking
from ragstone.kernel.tables._shards import shards_of
from ragstone.kernel.tables.columns import (
    CHOICE,
    NULL_ANSWER,
    ColumnChoice,
    ColumnPlan,
    UnknownWord,
    as_number,
    find_column,
    plan_columns,
    to_canonical,
    warn_of_guesses,
    warn_of_prompts,
)
from ragstone.kernel.tables.folders import LOG_NAMES, is_saved, logged_files, read_logged, read_saved
from ragstone.kernel.tables.formats import FLAT, READERS, ending_of, read_questions, read_xlsx, reader_of
from ragstone.kernel.tables.interchange.recognise import rows_of_tools
from ragstone.kernel.tables.interchange.trace_filter import TRACE_COLUMNS
from ragstone.kernel.tables.labels import (
    check_people,
    note_metric,
    note_unit,
    with_label_score,
    words_error,
)
from ragstone.kernel.tables.names import ALIASES, accepted_names, fields_of, question_key
from ragstone.kernel.tables.proposals import could_hold
from ragstone.kernel.tables.storage import Place, below, exists, local_path, told, url_of
from ragstone.kernel.tables.where import bound

LOG = logging.getLogger(__name__)
RowT = TypeVar("RowT", Document, Chunk, Question, Ranking, Answer, Judgement, Label)

SHOWN_ERRORS = 10

# What makes a row one of a kind. Labels repeat on purpose: several annotators, and the same one again.
IDENTITY: dict[type, tuple[str, ...]] = {
    Document: ("id",),
    Chunk: ("id",),
    Question: ("id",),
    Ranking: ("question_id", "retriever"),
    Answer: ("question_id", "system"),
    Judgement: ("question_id", "system", "judge", "metric", "model"),
    Label: (),
}
MADE_IDS: dict[type, str] = {Answer: "question_id", Label: "question_id", Question: "id"}
"""The id that is made from the question's text where a row has none."""


@checks_arguments
def read_rows(
    path: Place,
    row_type: type[RowT],
    *,
    columns: Mapping[str, str] | None = None,
    worksheet: str | None = None,
    words: Mapping[str, float] | None = None,
    where: str | None = None,
) -> Iterator[RowT]:
    """Yield the rows of a file in file order.

    Other tools' column names are understood (see names.py) and unknown columns are kept in `metadata`;
    answers are also found in the results and traces of other tools (see interchange/). A name that is only
    near a known one is taken where no other column fits, and a warning (logging) says so. columns: field ->
    column, before all names; one with dots reaches into objects (`output.text`). worksheet: of a workbook
    in which several fit. words: a label that is a word -> its score. where: of traces only those that this
    filter leaves, such as `service = farm and failed`. A folder is one of
    `save_to_disk` of Hugging Face's `datasets`, or the log of an assistant: its exchanges are answers, its
    feedback is labels; any other is a folder of shards, Parquet or JSONL, read one after the other by name. A
    file or a folder of shards may be given by URL (`s3://bucket/answers/`, see storage.py).
    A question, answer or label without an id gets one made from its question's text, so that the same
    question has the same id in every file. An answer that is null is a row with an `error`.

    Raises DataError when the file is missing, empty or of an unknown kind, and for bad rows: after the
    first bad row no more are yielded, and up to ten of them are reported together, by file and line.
    ColumnsError, a DataError, where a field that must be there has no column, and for words without a score.
    ConfigError for a field in `columns` that there is not.
    """
    path = Path(path) if url_of(path) else local_path(path)
    choice = _choice(row_type, columns, worksheet, words, where)
    source = str(url_of(path) or path)
    reader = _RowReader(row_type, source, choice, flat=ending_of(path) in FLAT)
    problems: list[str] = []
    nulls: list[int] = []
    rows = _raw_rows(path, row_type, choice)
    for line, raw in _rows_of_tools(rows, source, row_type, choice, filtered=where is not None):
        try:
            row = reader.row(raw)
        except (ValueError, TypeError) as mistake:
            problems.append(f"{source}:{line}: {mistake}")
            if len(problems) == SHOWN_ERRORS and not reader.words:
                problems.append("(and perhaps more: only the first ten are shown)")
                break
            continue
        if isinstance(row, Answer) and row.error == NULL_ANSWER and raw.get("error") is None:
            nulls.append(line)
        if not problems:
            yield row
    if problems:
        reader.check_words(len(problems))
        raise DataError("\n".join(problems))
    if not reader.n_rows:
        raise DataError(
            f"{source}: the file holds no rows. Check that the step that wrote it has finished."
            if choice.where is None
            else f"{source}: no trace matches {choice.where!r}. Write another filter."
        )
    reader.check_end()
    if nulls:
        LOG.warning(
            "%s:%d: the answer is null%s: counted as a failure of the application. If it is not one, fill in "
            "the answer or delete the row.",
            source,
            nulls[0],
            f", the first of {len(nulls):,}" if len(nulls) > 1 else "",
        )


def _rows_of_tools(
    rows: Iterable[tuple[int, Any]], where: str, row_type: type, choice: ColumnChoice, *, filtered: bool
) -> Iterable[tuple[int, Any]]:
    """Return what rows_of_tools gives, with the filter of a caller, which holds for this file alone."""
    if not filtered:
        return rows_of_tools(rows, where, row_type, choice.words)
    before = CHOICE.set(msgspec.structs.replace(CHOICE.get(), where=choice.where))
    try:
        return list(rows_of_tools(rows, where, row_type, choice.words))  # traces are in memory anyway
    finally:
        CHOICE.reset(before)


def _choice(
    row_type: type,
    columns: Mapping[str, str] | None,
    worksheet: str | None = None,
    words: Mapping[str, float] | None = None,
    where: str | None = None,
) -> ColumnChoice:
    """Return how a file is to be read: as the parameters say, else as the command line does."""
    ambient = CHOICE.get()
    if where is not None:
        bound(where, TRACE_COLUMNS)
    known = {*fields_of(row_type), *ALIASES[row_type]}
    for field in columns or ():
        if field not in known:
            raise ConfigError(
                f"columns: {row_type.__name__.lower()}s have no field {field!r}. {nearest(field, known)}"
            )
    usual = {field: column for field, column in ambient.columns.items() if field in known}
    return ColumnChoice(
        columns=usual if columns is None else columns,
        worksheet=worksheet or ambient.worksheet,
        words={word.casefold(): score for word, score in (words or ambient.words).items()},
        lenient=columns is None,
        where=ambient.where if where is None else where,
    )


def parse_row(raw: dict[str, Any], row_type: type[RowT]) -> RowT:
    """Return one row from a dict in anybody's column names, as read_rows does for a file.

    Raises DataError naming the field.
    """
    try:
        return _RowReader(row_type, None, ColumnChoice()).row(raw)
    except (ValueError, TypeError) as mistake:
        raise DataError(f"row {raw!r}: {mistake}") from None


def parse_rows(
    rows: Iterable[RowT | dict[str, Any]],
    row_type: type[RowT],
    *,
    columns: Mapping[str, str] | None = None,
) -> list[RowT]:
    """Return rows of values, or of dicts in anybody's column names, as read_rows does for a file.

    rows: a list or anything that yields them, a data set of Hugging Face's `datasets` and ragas and a data
    frame of pandas or Polars among it. columns: field -> column, as for read_rows.
    Raises DataError naming the row, also for a second one with the same identity; ColumnsError and
    ConfigError as read_rows does.
    """
    wanted = f"{row_type.__name__} values or dicts"
    rows = _listed(rows)
    if isinstance(rows, str | bytes | Path | dict) or not isinstance(rows, Iterable):
        raise DataError(
            f"expected a list of rows ({wanted}), got {type(rows).__name__}. To read a file: "
            f"ragstone.read_rows(path, ragstone.{row_type.__name__})."
        )
    choice = _choice(row_type, columns or {})
    reader = _RowReader(row_type, "the rows", choice)
    parsed = []
    numbered: Iterable[tuple[int, Any]] = enumerate(rows, 1)
    for number, raw in rows_of_tools(numbered, "the rows", row_type, choice.words):
        if isinstance(raw, ValueError):
            raise DataError(f"row {number}: {raw}")
        if not isinstance(raw, row_type | dict):
            raise DataError(f"row {number}: expected {wanted}, got {type(raw).__name__}: {raw!r}")
        try:
            parsed.append(reader.row(raw))
        except (ValueError, TypeError) as mistake:
            values = f" {raw!r}" if isinstance(raw, dict) else ""
            raise DataError(f"row {number}{values}: {mistake}") from None
    if parsed:
        reader.check_end()
    return parsed


def _listed(rows: Any) -> Any:
    """Return the rows of a data set or a data frame as dicts, and anything else as it is given."""
    if isinstance(rows, list):
        return rows
    for name, arguments in (("to_list", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        method = getattr(rows, name, None)
        if callable(method):
            return [
                {str(name): _plain(value) for name, value in row.items()} if isinstance(row, Mapping) else row
                for row in method(*arguments)
            ]
    return rows


def _plain(value: Any) -> Any:
    """Return a cell of a data frame without NumPy's types: an array as a list, a number as Python's."""
    if type(value).__module__ == "numpy":
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return {name: _plain(item) for name, item in value.items()} if isinstance(value, dict) else value


class _RowReader(Generic[RowT]):
    """Makes rows of what stands in one file; knows its columns, which may differ by row, and ids so far."""

    def __init__(
        self, row_type: type[RowT], where: str | None, choice: ColumnChoice, *, flat: bool = False
    ) -> None:
        """where: the file, for messages; None for one row alone, whose columns are not guessed.

        flat: the file's format has no null.
        """
        self.n_rows = 0
        self.words: Counter[str] = Counter()
        self._row_type: type[RowT] = row_type
        self._where, self._choice, self._flat = where, choice, flat
        self._n_made = 0
        self._plans: dict[tuple[str, ...], ColumnPlan] = {}
        self._guessed: set[str] = set()
        self._found: set[str] = set()
        self._names: Counter[str] = Counter()
        self._keys: set[int] = set()

    def row(self, raw: Any) -> RowT:
        """Return a row. Raises ValueError, TypeError, ColumnsError."""
        self.n_rows += 1
        row = raw if isinstance(raw, self._row_type) else self._converted(raw)
        self._check_unique(row)
        self._n_made += 1
        return row

    def check_end(self) -> None:
        """Tell how many rows repeat a question. Raises ColumnsError for a column that is in no row."""
        for field, column in self._choice.columns.items():
            if field not in self._found and not self._choice.lenient:
                raise self._no_column(field, column)
        n_repeats = sum(n - 1 for n in self._names.values())
        if n_repeats:
            one = "s" if n_repeats == 1 else ""
            LOG.warning(
                "%s: %s of %s %s no id: each counts as a separate question (its id ends in -2, -3, …). If "
                "they are unintended, delete them.",
                self._where,
                f"{n_repeats:,}",
                plural(self.n_rows, "row"),
                f"repeat{one} an earlier question and {'has' if one else 'have'}",
            )

    def check_words(self, n_problems: int) -> None:
        """Raise ColumnsError if all that was wrong is that labels are words."""
        if self.words and self.words.total() == n_problems:
            raise words_error(str(self._where), self.words, self._choice.words)

    def _converted(self, raw: Any) -> RowT:
        if isinstance(raw, msgspec.DecodeError):
            raise ValueError(f"not valid JSON ({raw}). Each line must be one complete JSON object.")
        if isinstance(raw, ValueError):
            raise raw
        if not isinstance(raw, dict):
            raise TypeError(f"expected a JSON object, got {type(raw).__name__}")
        plan = self._plans.get(tuple(raw)) or self._planned(raw)
        if self._flat and self._row_type is Answer:
            raw |= {name: "" for name in plan.fields.get("answer", ()) if raw[name] is None}
        row = to_canonical(self._scored(raw, plan) if self._row_type is Label else raw, self._row_type, plan)
        own_id = MADE_IDS.get(self._row_type)
        if own_id is not None and own_id not in row:
            row[own_id] = self._made_id(row)
        if self._row_type is Label:
            note_unit(row, raw, plan)
        if self._row_type is Label and "metric" not in row:
            note_metric(row, raw, plan, chosen="score" in self._choice.columns)
        try:
            made: RowT = msgspec.convert(row, self._row_type, strict=True)
        except msgspec.ValidationError as mistake:
            raise ValueError(_explain(str(mistake), raw, self._row_type)) from None
        return made

    def _planned(self, raw: dict[str, Any]) -> ColumnPlan:
        """Return the plan for rows of these columns, and tell what was guessed. Raises ColumnsError."""
        plan = plan_columns(raw, self._row_type, self._choice.columns, near=self._where is not None)
        if self._where is None:
            return plan
        if self._row_type is Label and "score" not in self._choice.columns:
            check_people(self._where, raw)
        if self._row_type is Label and "score" not in plan.fields:
            plan = with_label_score(plan, raw)
        self._found |= {
            name for name, column_name in self._choice.columns.items() if find_column(column_name, raw)
        }
        self._check_twice(plan, raw)
        if not self._n_made and self._row_type is Judgement:
            self._check_judged(raw)
        if not self._n_made and self._row_type in (*MADE_IDS, Document):  # the others are files of ours
            self._check_there(plan, raw)
        if plan.guesses:
            warn_of_guesses(plan, self._where, self._guessed)
        warn_of_prompts(plan, raw, self._where, self._guessed)
        self._plans[tuple(raw)] = plan
        return plan

    def _check_judged(self, raw: Mapping[str, Any]) -> None:
        """Raise ColumnsError where the first row is of an answer sheet or a file of labels instead."""
        if "answer" in raw and "judge" not in raw and "status" not in raw:
            raise ColumnsError(
                f"{self._where}: these rows are answers, not judgements. Judge them first: `ragstone judge "
                "FILE --judge NAME -o judgements.jsonl`."
            )
        if "score" in raw and "judge" not in raw and "status" not in raw:
            raise ColumnsError(
                f"{self._where}: its rows have scores but no `judge`, like labels. Judgements are what "
                "`ragstone judge` writes; labels are the second file of `ragstone agree JUDGEMENTS LABELS`."
            )

    def _check_twice(self, plan: ColumnPlan, raw: dict[str, Any]) -> None:
        """Raise ColumnsError where two columns have the name of one that is read."""
        for field, columns in plan.fields.items():
            second = f"{columns[0]}{SECOND}"
            if second in raw and field not in self._choice.columns:
                options = ["--column", f"{field}={second}"]
                raise ColumnsError(
                    f"{self._where}: two columns are named {columns[0]!r}. Rename the one that is not the "
                    f"{field}, or take the second: {shlex.join(options)}.",
                    options,
                )

    def _check_there(self, plan: ColumnPlan, raw: dict[str, Any]) -> None:
        """Raise ColumnsError where the first row has no column for a field that must be there."""
        made = MADE_IDS.get(self._row_type)
        for field in msgspec.structs.fields(self._row_type):
            if not field.required or field.name == made or field.name in plan.fields:
                continue
            if field.name == "answer" and "error" in plan.fields:
                continue
            if field.name in self._choice.columns:
                raise self._no_column(field.name, self._choice.columns[field.name], raw)
            raise self._unfit(field.name, plan, raw)

    def _unfit(self, field: str, plan: ColumnPlan, raw: dict[str, Any]) -> ColumnsError:
        names = ", ".join(accepted_names(self._row_type, field))
        likely = could_hold(field, {name: [raw[name]] for name in plan.spare(raw)})
        hint, options = f"Say which one does: --column {field}=COLUMN", []
        if len(likely) == 1:
            ((column, reason),) = likely.items()
            options = ["--column", f"{field}={column}"]
            hint = f"Say which one does: {shlex.join(options)} ({reason})"
        elif likely:
            hint += f" ({' or '.join(map(repr, likely))}?)"
        elif not plan.spare(raw):
            hint = f"Add a column {field!r}"
        there = ", ".join(map(repr, raw)) or "none"
        return ColumnsError(
            f"{self._where}: no column holds the {field}. {hint}. Its columns: {there}. It is read from "
            f"any of these: {names}.",
            options,
        )

    def _no_column(self, field: str, column: str, raw: Mapping[str, Any] | None = None) -> ColumnsError:
        there = list(dict.fromkeys(raw or (name for names in self._plans for name in names)))
        return ColumnsError(
            f"{self._where}: it has no column {column!r} to read {field} from. {nearest(column, there)}"
        )

    def _scored(self, raw: dict[str, Any], plan: ColumnPlan) -> dict[str, Any]:
        """Return a row of a label with the score that its word stands for. Raises UnknownWord."""
        for column in plan.fields.get("score", ()):
            value = raw.get(column)
            known = self._choice.words.get(value.strip().casefold()) if isinstance(value, str) else None
            if known is not None:
                return raw | {column: known}
            if isinstance(value, str):
                try:
                    as_number(value)
                except UnknownWord as mistake:
                    self.words[mistake.word] += 1
                    raise
        return raw

    def _made_id(self, row: dict[str, Any]) -> str:
        """Return an id for a row that has none, the same wherever the question's text is the same."""
        question = row.get("question") or row.get("metadata", {}).get("question")
        if not isinstance(question, str):
            return f"row-{self.n_rows}"
        name = question_key(question)
        key = f"{name}\n{row.get('system')}\n{row.get('annotator')}"
        self._names[key] += 1
        return name if self._names[key] == 1 else f"{name}-{self._names[key]}"

    def _check_unique(self, row: RowT) -> None:
        identity = IDENTITY[self._row_type]
        if not identity:
            return
        values = tuple([getattr(row, name) for name in identity])
        key = hash(values)
        if key in self._keys:
            named = ", ".join(f"{name} {value!r}" for name, value in zip(identity, values, strict=True))
            raise ValueError(
                f"a second row with {named}. Each may appear once: rename or delete one of them."
            )
        self._keys.add(key)


def _explain(mistake: str, raw: dict[str, Any], row_type: type) -> str:
    """Return msgspec's message, with the names that a missing field could have had."""
    prefix = "Object missing required field `"
    if not mistake.startswith(prefix) or " - at " in mistake:
        return mistake
    field = mistake[len(prefix) :].rstrip("`")
    names = accepted_names(row_type, field)
    columns = "any of these columns" if len(names) > 1 else "the column"
    return (
        f"field {field!r} is missing or empty. It is read from {columns}: {', '.join(names)}. "
        f"This row has: {', '.join(raw) or 'nothing'}."
    )


def _raw_rows(path: Path, row_type: type, choice: ColumnChoice) -> Iterator[tuple[int, Any]]:
    """Yield (line number, decoded object or DecodeError) for every row of a file; of shards, row number."""
    url = url_of(path)
    if url:
        with told(url, "read"):  # the network may go away in the middle
            is_file = ending_of(path) in READERS and exists(url)
            yield from reader_of(path)(path) if is_file else _read_shards(path)
        return
    if is_saved(path):
        yield from read_saved(path)
        return
    if path.is_dir():
        files = logged_files(path, row_type)
        yield from read_logged(files) if files else _read_shards(path)
        return
    if not path.is_file():
        there = [file.name for file in path.parent.iterdir()] if path.parent.is_dir() else []
        close = get_close_matches(path.name, there, n=1, cutoff=0.75)
        check = "Check the spelling and the folder that you are in."
        hint = f"Did you mean {path.with_name(close[0])}?" if close else check
        raise DataError(f"{path}: no such file. {hint}")
    reader = read_questions if path.suffix.lower() == ".txt" else reader_of(path)
    if reader is read_questions and row_type is not Question:
        raise ColumnsError(
            f"{path}: a .txt is read as questions, one per line, but {row_type.__name__.lower()}s are needed "
            f"here. {_INSTEAD.get(row_type, _AS_ROWS)}"
        )
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty. Check that the step that wrote it has finished.")
    if reader is read_xlsx:
        yield from read_xlsx(path, lambda tables: _choose_worksheet(tables, path, row_type, choice))
    else:
        yield from reader(path)


_AS_ROWS = "Save them as .csv or .jsonl."
_INSTEAD: dict[type, str] = {
    Document: "Make documents of it: ragstone ingest FILE -o documents.jsonl.",
    Answer: "Ask them first (ragstone answer --questions FILE), or save the answers as .csv or .jsonl.",
}


_LOOKED_AT = 100  # rows of a file without a header that tell which columns it has


def columns_in(path: Path) -> list[str]:
    """Return the columns of a local file, by its first rows; of a workbook those of all its sheets."""
    if ending_of(path) == ".xlsx":
        columns: list[str] = []

        def first(tables: list[FileTable]) -> FileTable:
            columns.extend(name for table in tables for name in table.columns)
            return tables[0]

        next(read_xlsx(path, first), None)
        return list(dict.fromkeys(columns))
    rows = islice(reader_of(path)(path), _LOOKED_AT)
    return list(dict.fromkeys(name for _, row in rows if isinstance(row, dict) for name in row))


def read_worksheet(path: Path, row_type: type, columns: Mapping[str, str]) -> Iterator[tuple[int, Any]]:
    """Yield (row number, cells by their columns) of the worksheet of a workbook that holds such rows.

    columns: field -> column. Raises ColumnsError where several worksheets could be meant.
    """
    choice = ColumnChoice(columns=columns, worksheet=CHOICE.get().worksheet)
    return read_xlsx(path, lambda tables: _choose_worksheet(tables, path, row_type, choice))


def _choose_worksheet(tables: list[FileTable], path: Path, row_type: type, choice: ColumnChoice) -> FileTable:
    """Return the worksheet that is named, else the only one that has what rows of the type must have."""
    names = [table.name for table in tables]
    if choice.worksheet is not None:
        for table in tables:
            if table.name.casefold() == choice.worksheet.casefold():
                return table
        raise ColumnsError(
            f"{path}: it has no worksheet {choice.worksheet!r}. {nearest(choice.worksheet, names)}"
        )
    if len(tables) == 1:
        return tables[0]
    fit = [table for table in tables if _holds(table, row_type, choice)]
    if len(fit) == 1:
        LOG.warning("%s: using worksheet `%s`. Change it with --worksheet NAME.", path, fit[0].name)
        return fit[0]
    option = ["--worksheet", (fit or tables)[0].name]
    raise ColumnsError(
        f"{path}: it has {len(tables)} worksheets. Name one of them: {shlex.join(option)}. They are: "
        f"{', '.join(map(repr, names))}.",
        option,
    )


def _holds(table: FileTable, row_type: type, choice: ColumnChoice) -> bool:
    """Say whether a worksheet has a column for each field that rows of the type must have."""
    first = dict.fromkeys(table.columns) | (table.rows[0][1] if table.rows else {})
    plan = plan_columns(first, row_type, choice.columns, near=True)
    needed = {field.name for field in msgspec.structs.fields(row_type) if field.required}
    return needed - {MADE_IDS.get(row_type, "")} <= plan.fields.keys()


def _read_shards(folder: Path) -> Iterator[tuple[int, Any]]:
    """Yield the rows of the shards of a folder, numbered through all of them."""
    number = 0
    # A run, a project or a log has files that hold rows of many kinds.
    is_mixed = url_of(folder) is None and (
        any((folder / name).is_file() for name in ("manifest.json", "ragstone.toml"))
        or any(logged_files(folder, kind) for kind in LOG_NAMES)
    )
    names = [] if is_mixed else shards_of(url_of(folder) or folder)
    if not names:
        what = "There are no shards below it either" if url_of(folder) else "It is a folder without shards"
        raise DataError(
            f"{url_of(folder) or folder}: no such file. {what} (.parquet, .jsonl, .jsonl.gz): name a file."
        )
    for name in names:
        shard = Path(below(folder, name))
        for line, raw in reader_of(shard)(shard):
            number += 1
            if isinstance(raw, msgspec.DecodeError | ValueError):  # said with the shard where it is wrong
                raw = type(raw)(f"{name}, line {line}: {raw}")
            yield number, raw
