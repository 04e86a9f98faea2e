"""A file of crops in DuckDB: its columns, which crop a name means, and the rows that fit a filter."""

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ragstone.kernel.corpus.tokens import tokenize, word_terms
from ragstone.kernel.errors import ConfigError, DataError, MissingExtra
from ragstone_assistant.tools.plain_text import line

if TYPE_CHECKING:
    import duckdb

READERS = {".csv": "read_csv", ".tsv": "read_csv", ".parquet": "read_parquet"}
NUMBERS = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT|INTEGER|UINTEGER|DOUBLE|FLOAT|DECIMAL\b.*")
NAME_COLUMNS = ("crop", "name")
OTHER_NAMES = ("name_", "names_", "other_names", "synonyms")
SOURCE_COLUMNS = ("source", "sources")
NOTE_COLUMNS = ("note", "notes")
BETWEEN = "|"  # between the names, or the values, of one cell
MOST_VALUES = 60  # of a column of text that can be filtered by: one with more is prose, or a name
LONGEST_VALUE = 60

Value = str | int | float | Decimal | bool | None
Row = dict[str, Value]


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a file. crop: that of the crops' names. others: those of their names in other languages.

    numbers: column -> its least and largest value. choices: column of text -> its values. notes: columns that
    are told, but not filtered by.
    """

    crop: str
    others: list[str]
    numbers: dict[str, tuple[float, float]]
    choices: dict[str, list[str]]
    notes: list[str]
    source: str | None

    def told(self) -> list[str]:
        """Return the columns that say something about a crop, without its names and the sources."""
        return [*self.choices, *self.numbers, *self.notes]


class Condition(msgspec.Struct, frozen=True):
    """A number of a column is at least and at most so much; None: no matter."""

    column: str
    at_least: float | None = None
    at_most: float | None = None


class CropFile:
    """An opened file: its rows are held in memory, and nothing else can be read through it."""

    def __init__(self, connection: "duckdb.DuckDBPyConnection", columns: Columns) -> None:
        self._connection, self._lock = connection, threading.Lock()
        self.columns = columns
        names = [columns.crop, *columns.others]
        self._crops: dict[str, list[str]] = {}
        self._named: dict[tuple[str, str], str] = {}  # crop and column -> its first name there
        for crop, *others in self._rows(f"SELECT {_listed(names)} FROM crops"):
            for column, cell in zip(names, (crop, *others), strict=True):
                first = str(cell or "").split(BETWEEN)[0].strip()
                self._named.setdefault((str(crop), column), first)
                for name in str(cell or "").split(BETWEEN):
                    crops = self._crops.setdefault(folded(name), [])
                    if name.strip() and crop not in crops:
                        crops.append(str(crop))
        self._crops.pop("", None)

    def crops_called(self, name: str) -> list[str]:
        """Return the crops that a name in any of the file's languages means; none where nothing fits.

        "wheat" means "spring wheat" and "winter wheat", "tomatoes" means "tomato".
        """
        wanted = folded(name)
        if wanted in self._crops:
            return self._crops[wanted]
        words = set(wanted.split())
        within = [crops for known, crops in self._crops.items() if words and words <= set(known.split())]
        if not within:
            terms = _terms(wanted)
            within = [crops for known, crops in self._crops.items() if terms and _terms(known) == terms]
        return list(dict.fromkeys(crop for crops in within for crop in crops))

    def name_in(self, crop: str, lang: str) -> str:
        """Return a crop's first name in a language, from the column that ends with its code; else its own."""
        columns = (name for name in self.columns.others if name.casefold().endswith(f"_{lang}"))
        found = (self._named.get((crop, column), "") for column in columns) if lang != "en" else iter(())
        return next((name for name in found if name), crop)

    def names(self) -> list[str]:
        """Return all names of all crops, folded."""
        return list(self._crops)

    def select(
        self,
        crops: Sequence[str] | None,
        choices: Mapping[str, str],
        conditions: Sequence[Condition],
        most: int,
    ) -> tuple[list[Row], int]:
        """Return the first `most` rows that fit, in the file's order, and how many fit in all.

        crops: their names; None: all. choices: column -> value. Values are bound, never written into SQL;
        names of columns are the file's own. A row without a number fits no condition on it.
        """
        parts: list[str] = []
        values: list[object] = []
        if crops is not None:
            parts.append(f"list_contains(?, {quoted(self.columns.crop)})")
            values.append(list(crops))
        for column, value in choices.items():
            parts.append(f"list_contains(string_split({quoted(column)}, '{BETWEEN}'), ?)")
            values.append(value)
        for one in conditions:
            for sign, bound in ((">=", one.at_least), ("<=", one.at_most)):
                if bound is not None:
                    parts.append(f"{quoted(one.column)} {sign} ?")
                    values.append(bound)
        where = " AND ".join(parts) or "true"
        source = [self.columns.source] if self.columns.source else []
        names = [self.columns.crop, *self.columns.told(), *source]
        query = f"SELECT count(*) OVER (), {_listed(names)} FROM crops WHERE {where} ORDER BY rowid LIMIT ?"
        rows = self._rows(query, [*values, most])
        found = [{name: _known(cell) for name, cell in zip(names, row[1:], strict=True)} for row in rows]
        return found, int(str(rows[0][0])) if rows else 0

    def _rows(self, query: str, values: Sequence[object] = ()) -> list[tuple[Value, ...]]:
        import duckdb

        with self._lock:  # a connection serves one thread at a time
            try:
                return self._connection.execute(query, values).fetchall()
            except duckdb.Error as mistake:
                raise DataError(f"the table of crops cannot be asked this ({line(str(mistake))})") from None


def open_crop_file(path: Path, where: str = "crops") -> CropFile:
    """Return the file, read as a whole.

    where: what errors begin with. Raises MissingExtra without DuckDB; ConfigError for a file that is missing, of another kind, without rows
    or without a column of text.
    """
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("The table of crops", "assistant") from None
    reader = READERS.get(path.suffix.casefold())
    if reader is None:
        raise ConfigError(f"{where}: {path} is no table. Give a .csv, .tsv or .parquet file.")
    if not path.is_file():
        raise ConfigError(f"{where}: {path} is not there. Give the path of a table of crops.")
    connection = duckdb.connect(":memory:")
    try:
        options = ", header = true, sample_size = -1" if reader == "read_csv" else ""
        query = f"CREATE TABLE crops AS SELECT * FROM {reader}(?{options})"
        connection.execute(query, [str(path)])
        kinds = {name: kind for name, kind, *_ in connection.execute("DESCRIBE crops").fetchall()}
        for name in (name for name, kind in kinds.items() if kind in ("DOUBLE", "FLOAT")):
            # Files of numbers write NaN for what is not known; DuckDB takes it for more than all others.
            unknown = f"{quoted(name)} = NULL WHERE NOT isfinite({quoted(name)})"
            connection.execute(f"UPDATE crops SET {unknown}")
        # The table is held; no query shall reach a file or the network.
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        return CropFile(connection, _columns(connection, kinds, f"{where}: {path}"))
    except duckdb.Error as mistake:
        why = " ".join(str(mistake).split())[:300]
        raise ConfigError(f"{where}: {path} cannot be read as a table ({why}).") from None


def quoted(column: str) -> str:
    """Return a column's name as SQL writes it."""
    return '"' + column.replace('"', '""') + '"'


def folded(name: str) -> str:
    """Return a name as it is compared: its words, without case and punctuation."""
    return " ".join(tokenize(name))


def _terms(name: str) -> list[str]:
    """Return a word's beginnings, which its inflected forms share (see search_terms); of short words, all."""
    return [word_terms(word)[-1] for word in name.split()]


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(quoted, columns))


def _columns(connection: "duckdb.DuckDBPyConnection", kinds: Mapping[str, str], named: str) -> Columns:
    texts = [name for name, kind in kinds.items() if kind == "VARCHAR"]
    crop = next((name for name in texts if name.casefold() in NAME_COLUMNS), texts[0] if texts else None)
    n_rows = connection.execute("SELECT count(*) FROM crops").fetchall()[0][0]
    if crop is None or not n_rows:
        raise ConfigError(f"{named} must have rows, and a column of text with the crops' names, `crop`.")
    others = [name for name in texts if name != crop and name.casefold().startswith(OTHER_NAMES)]
    source = next((name for name in texts if name.casefold() in SOURCE_COLUMNS), None)
    numbers, choices, notes = {}, {}, []
    for name, kind in kinds.items():
        if name in (crop, source, *others):
            continue
        query = f"SELECT DISTINCT {quoted(name)} FROM crops"
        values = [
            value for row in connection.execute(query).fetchall() if (value := _known(row[0])) is not None
        ]
        parts = sorted(set(_parts(values)))
        if NUMBERS.fullmatch(kind) and values:
            numbers[name] = (float(min(values)), float(max(values)))
        elif kind == "VARCHAR" and name.casefold() not in NOTE_COLUMNS and _can_be_chosen(parts):
            choices[name] = parts
        elif values:
            notes.append(name)
    return Columns(crop=crop, others=others, numbers=numbers, choices=choices, notes=notes, source=source)


def _known(cell: Value) -> Value:
    """Return a cell's value; None for what is not there."""
    return cell.strip() or None if isinstance(cell, str) else cell


def _parts(values: Sequence[Value]) -> Iterator[str]:
    for value in values:
        yield from (part.strip() for part in str(value).split(BETWEEN) if part.strip())


def _can_be_chosen(values: Sequence[str]) -> bool:
    return 1 < len(values) <= MOST_VALUES and max(map(len, values)) <= LONGEST_VALUE
