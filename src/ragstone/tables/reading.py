"""Files of rows -> rows: JSONL, JSON, CSV, TSV and Parquet by their ending, streamed."""

import contextlib
import csv
import functools
import gzip
import hashlib
import io
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, AnyStr, BinaryIO, TypeVar, cast

import msgspec

from ragstone.errors import DataError, MissingExtra
from ragstone.records import Answer, Chunk, Document, Judgement, Label, Question, Ranking
from ragstone.tables.cells import csv_reader, unguarded
from ragstone.tables.columns import to_canonical
from ragstone.tables.folders import LOG_NAMES, is_saved, logged_files, read_logged, read_saved
from ragstone.tables.interchange.recognise import answers_in, is_result
from ragstone.tables.names import accepted_names
from ragstone.tables.shards import shards_of
from ragstone.tables.storage import Place, below, exists, local_path, open_bytes, told, url_of

RowT = TypeVar("RowT", Document, Chunk, Question, Ranking, Answer, Judgement, Label)

SHOWN_ERRORS = 10
# Bytes or characters, also of a cell: longer ones are no row, and would fill memory.
MOST_OF_A_LINE = 64 << 20

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


def read_rows(path: Place, row_type: type[RowT]) -> Iterator[RowT]:
    """Yield the rows of a file in file order.

    Other tools' column names are understood (see names.py) and unknown columns are kept in `metadata`;
    answers are also found in the results and traces of other tools (see interchange/). A folder is one of
    `save_to_disk` of Hugging Face's `datasets`, or the log of an assistant: its exchanges are answers, its
    feedback is labels; any other is a folder of shards, Parquet or JSONL, read one after the other by name. A
    file or a folder of shards may be given by URL (`s3://bucket/answers/`, see storage.py).
    A row of answers or labels without an id gets one made from its question's text, so that the same
    question has the same id in every file.

    Raises DataError when the file is missing, empty or of an unknown kind, and for bad rows: after the
    first bad row no more are yielded, and up to ten of them are reported together, by file and line.
    """
    path = Path(path) if url_of(path) else local_path(path)
    shown = url_of(path) or path
    problems: list[str] = []
    n_rows = 0
    keys: set[int] = set()
    names: Counter[str] = Counter()
    rows = _raw_rows(path, row_type)
    for line, raw in answers_in(rows, str(shown)) if row_type is Answer else rows:
        n_rows += 1
        try:
            row = _convert(raw, row_type, names, n_rows)
            _check_unique(row, row_type, keys)
        except (ValueError, TypeError) as mistake:
            problems.append(f"{shown}:{line}: {mistake}")
            if len(problems) == SHOWN_ERRORS:
                problems.append("(and perhaps more: only the first ten are shown)")
                break
            continue
        if not problems:
            yield row
    if problems:
        raise DataError("\n".join(problems))
    if not n_rows:
        raise DataError(f"{shown}: the file holds no rows. Check that the step that wrote it has finished.")


def parse_row(raw: dict[str, Any], row_type: type[RowT]) -> RowT:
    """Return one row from a dict in anybody's column names, as read_rows does for a file.

    Raises DataError naming the field.
    """
    try:
        return _convert(raw, row_type, Counter(), 1)
    except (ValueError, TypeError) as mistake:
        raise DataError(f"row {raw!r}: {mistake}") from None


def parse_rows(rows: Iterable[RowT | dict[str, Any]], row_type: type[RowT]) -> list[RowT]:
    """Return rows of values, or of dicts in anybody's column names, as read_rows does for a file.

    rows: a list or anything that yields them, a data set of Hugging Face's `datasets` and ragas and a data
    frame of pandas or Polars among it.
    Raises DataError naming the row, also for a second one with the same identity.
    """
    wanted = f"{row_type.__name__} values or dicts"
    rows = _listed(rows)
    if isinstance(rows, str | bytes | Path | dict) or not isinstance(rows, Iterable):
        raise DataError(
            f"expected a list of rows ({wanted}), got {type(rows).__name__}. A file is read by "
            f"ragstone.read_rows(path, ragstone.{row_type.__name__})."
        )
    names: Counter[str] = Counter()
    keys: set[int] = set()
    parsed = []
    numbered: Iterable[tuple[int, Any]] = enumerate(rows, 1)
    for number, raw in answers_in(numbered, "the rows") if row_type is Answer else numbered:
        if not isinstance(raw, row_type | dict):
            raise DataError(f"row {number}: expected {wanted}, got {type(raw).__name__}: {raw!r}")
        try:
            row = _convert(raw, row_type, names, number) if isinstance(raw, dict) else raw
            _check_unique(row, row_type, keys)
        except (ValueError, TypeError) as mistake:
            shown = f" {raw!r}" if isinstance(raw, dict) else ""
            raise DataError(f"row {number}{shown}: {mistake}") from None
        parsed.append(row)
    return parsed


def _listed(rows: Any) -> Any:
    """Return the rows of a data set or a data frame as dicts, and anything else as it is given."""
    if isinstance(rows, list):
        return rows
    for name, given in (("to_list", ()), ("to_dicts", ()), ("to_dict", ("records",))):
        method = getattr(rows, name, None)
        if callable(method):
            return method(*given)
    return rows


def _convert(raw: Any, row_type: type[RowT], names: Counter[str], number: int) -> RowT:
    if isinstance(raw, msgspec.DecodeError):
        raise ValueError(f"not valid JSON ({raw}). Each line must be one whole JSON object.")
    if isinstance(raw, ValueError):
        raise raw
    if not isinstance(raw, dict):
        raise TypeError(f"expected a JSON object, got {type(raw).__name__}")
    row = to_canonical(raw, row_type)
    if row_type in (Answer, Label) and "question_id" not in row:
        row["question_id"] = _made_id(row, names, number)
    try:
        return msgspec.convert(row, row_type, strict=True)
    except msgspec.ValidationError as mistake:
        raise ValueError(_explain(str(mistake), raw, row_type)) from None


def _made_id(row: dict[str, Any], names: Counter[str], number: int) -> str:
    """Return an id for a row that has none, the same wherever the question's text is the same."""
    question = row.get("question") or row.get("metadata", {}).get("question")
    if not isinstance(question, str):
        return f"row-{number}"
    name = question_key(question)
    names[f"{name}\n{row.get('system')}"] += 1
    seen = names[f"{name}\n{row.get('system')}"]
    return name if seen == 1 else f"{name}-{seen}"


def question_key(question: str) -> str:
    """Return the id of a question that has none, the same wherever its text is the same."""
    return "q-" + hashlib.blake2b(question.encode(), digest_size=6).hexdigest()


def _check_unique(row: RowT, row_type: type, keys: set[int]) -> None:
    identity = IDENTITY[row_type]
    if not identity:
        return
    values = tuple([getattr(row, name) for name in identity])
    key = hash(values)
    if key in keys:
        shown = ", ".join(f"{name} {value!r}" for name, value in zip(identity, values, strict=True))
        raise ValueError(f"a second row with {shown}. Each may appear once: rename or delete one of them.")
    keys.add(key)


def _explain(mistake: str, raw: dict[str, Any], row_type: type) -> str:
    """Return msgspec's message, with the names that a missing field could have had."""
    prefix = "Object missing required field `"
    if not mistake.startswith(prefix) or " - at " in mistake:
        return mistake
    field = mistake[len(prefix) :].rstrip("`")
    names = ", ".join(accepted_names(row_type, field))
    return (
        f"field {field!r} is missing or empty. It is read from any of these columns: {names}. "
        f"This row has: {', '.join(raw) or 'nothing'}."
    )


def _raw_rows(path: Path, row_type: type) -> Iterator[tuple[int, Any]]:
    """Yield (line number, decoded object or DecodeError) for every row of a file; of shards, row number."""
    url = url_of(path)
    if url:
        with told(url, "read"):  # the network may go away in the middle
            yield from _rows_at(path, url)
        return
    if is_saved(path):
        yield from read_saved(path)
        return
    if path.is_dir():
        files = logged_files(path, row_type)
        yield from read_logged(files) if files else _read_shards(path)
        return
    if not path.is_file():
        raise DataError(f"{path}: no such file. Check the spelling and the folder that you are in.")
    reader = _reader_of(path)
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty. Check that the step that wrote it has finished.")
    yield from reader(path)


def _rows_at(path: Path, url: str) -> Iterator[tuple[int, Any]]:
    """Yield the rows of a file at a URL, or of the shards below it."""
    if _ending(path) in READERS and exists(url):
        yield from _reader_of(path)(path)
    else:
        yield from _read_shards(path)


def _read_shards(folder: Path) -> Iterator[tuple[int, Any]]:
    """Yield the rows of the shards of a folder, numbered through all of them."""
    number = 0
    names = [] if _is_mixed(folder) else shards_of(url_of(folder) or folder)
    if not names:
        what = "There are no shards below it either" if url_of(folder) else "It is a folder without shards"
        raise DataError(
            f"{url_of(folder) or folder}: no such file. {what} (.parquet, .jsonl, .jsonl.gz): name a file."
        )
    for name in names:
        place = Path(below(folder, name))
        for line, raw in _reader_of(place)(place):
            number += 1
            yield number, _in_shard(raw, name, line)


def _is_mixed(folder: Path) -> bool:
    """Return whether a folder is a run, a project or a log, whose files hold rows of many kinds."""
    if url_of(folder):
        return False
    logged = (logged_files(folder, kind) for kind in LOG_NAMES)
    return any((folder / name).is_file() for name in ("manifest.json", "ragstone.toml")) or any(logged)


def _in_shard(raw: Any, name: str, line: int) -> Any:
    """Return a row, or what is wrong with it with the shard and the line where it stands."""
    return msgspec.DecodeError(f"{name}, line {line}: {raw}") if isinstance(raw, msgspec.DecodeError) else raw


def _reader_of(path: Path) -> Callable[[Path], Iterable[tuple[int, Any]]]:
    """Return the reader for the ending of a name. Raises DataError where there is none."""
    reader = READERS.get(_ending(path))
    if reader is None:
        raise DataError(
            f"{url_of(path) or path}: cannot tell the format from {path.suffix!r}. Use one of: "
            f"{' '.join(READERS)}."
        )
    return reader


def _ending(path: Path) -> str:
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() + suffix if suffix == ".gz" else suffix


def read_jsonl(
    path: Path, decode: Callable[[bytes], object] = msgspec.json.decode
) -> Iterator[tuple[int, Any]]:
    """Yield (line number, decoded object or DecodeError) for every line that is not blank."""
    with _unpacked(path) as file:
        for number, line in enumerate(_short_lines(file.readline, path), 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if line.isspace():
                continue
            try:
                yield number, decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
                yield number, msgspec.DecodeError(str(mistake))


@contextlib.contextmanager
def _unpacked(path: Path) -> Iterator[BinaryIO]:
    """Give the content of a file, unpacked. Raises DataError for what is packed and was cut off."""
    with open_bytes(path) as file:
        if path.suffix.lower() != ".gz" and not _is_gzip(file):
            yield file
            return
        try:
            with gzip.GzipFile(fileobj=file) as unpacked:
                yield cast(BinaryIO, unpacked)
        except (EOFError, gzip.BadGzipFile, zlib.error) as mistake:
            raise DataError(
                f"{url_of(path) or path}: cannot be unpacked ({mistake}). Copy the file again, or make it "
                "anew."
            ) from None


def _is_gzip(file: BinaryIO) -> bool:
    begins = file.read(2)
    file.seek(0)
    return begins == b"\x1f\x8b"


def _short_lines(read: Callable[[int], AnyStr], path: Path) -> Iterator[AnyStr]:
    """Yield the lines that `read` gives. Raises DataError for one that is too long."""
    number = 0
    while line := read(MOST_OF_A_LINE):
        number += 1
        if len(line) == MOST_OF_A_LINE:
            raise DataError(_too_long(path, number))
        yield line


def _too_long(path: Path, line: int) -> str:
    return (
        f"{url_of(path) or path}:{line}: longer than {MOST_OF_A_LINE >> 20} MB, which no row is. Look "
        "whether the lines of this file end, and whether its name has the right ending."
    )


def _read_json(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        with _unpacked(path) as file:
            rows = msgspec.json.decode(file.read().removeprefix(b"\xef\xbb\xbf"))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as mistake:
        raise DataError(
            f"{path}: not valid JSON ({mistake}). For one object a line, name it .jsonl."
        ) from None
    if isinstance(rows, dict) and is_result(rows):
        rows = [rows]
    if isinstance(rows, dict):  # {"data": [...]} and the like: the one list that it holds
        lists = [value for value in rows.values() if isinstance(value, list)]
        rows = lists[0] if len(lists) == 1 else [rows]
    if not isinstance(rows, list):
        raise DataError(f"{path}: expected a list of objects.")
    yield from enumerate(rows, 1)


# CSV has no null. An empty cell means absent, but for the one text that may well be empty: an answer.
MAY_BE_EMPTY = frozenset(accepted_names(Answer, "answer"))


def read_csv(path: Path, *, delimiter: str | None = None, strict: bool = True) -> Iterator[tuple[int, Any]]:
    """Yield (line number, cells by their columns); a ValueError in place of a row with too many cells.

    strict: a broken quote makes the file unreadable; else it is read as it stands.
    """
    with _unpacked(path) as packed, io.TextIOWrapper(packed, encoding="utf-8-sig", newline="") as file:
        try:
            head = file.read(65536)
            file.seek(0)
            reader = csv_reader(
                _short_lines(file.readline, path),
                head,
                delimiter=delimiter,
                strict=strict,
                most=MOST_OF_A_LINE,
            )
            names = next(reader, [])
            for row in reader:
                if len(row) > len(names):
                    yield reader.line_num, ValueError("more cells than the header has columns.")
                elif row:
                    cells = unguarded(dict(zip(names, row, strict=False)))
                    # A column without a name is the index that pandas writes.
                    yield (
                        reader.line_num,
                        {
                            name: cell
                            for name, cell in cells.items()
                            if name and (cell or name in MAY_BE_EMPTY)
                        },
                    )
        except (csv.Error, UnicodeDecodeError) as mistake:
            if "field larger" in str(mistake):
                raise DataError(_too_long(path, reader.line_num)) from None
            raise DataError(f"{path}: cannot be read as CSV in UTF-8 ({mistake}).") from None


def _read_parquet(path: Path) -> Iterator[tuple[int, Any]]:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtra(f"reading {path}", "parquet") from None
    try:
        file = pq.ParquetFile(path if url_of(path) is None else open_bytes(path))
    except (pa.ArrowInvalid, OSError) as mistake:
        shown = url_of(path) or path
        raise DataError(
            f"{shown}: cannot be read as Parquet ({mistake}). Copy the file again, or make it anew."
        ) from None
    number = 0
    with file:
        for batch in file.iter_batches(batch_size=1024):
            for row in batch.to_pylist():
                number += 1
                yield number, row


READERS: dict[str, Callable[[Path], Iterable[tuple[int, Any]]]] = {
    ".jsonl": read_jsonl,
    ".jsonl.gz": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": _read_json,
    ".csv": read_csv,
    ".tsv": functools.partial(read_csv, delimiter="\t"),
    ".parquet": _read_parquet,
}
