"""The files of a run -> one DuckDB file: a line a question, its scores, and where its rows stand.

The files are read once, from the first line to the last, a megabyte at once, and what is found is written
before more is read: memory does not grow with a run, but for its ids. Texts of documents, contexts and
reasons are not kept, but the places where they stand, so that a question is opened by reading its rows alone.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isnan
from pathlib import Path
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from ragstone.kernel.errors import optional_package
from ragstone.kernel.records import STATUSES, Ranking, Status, Usage, alternatives
from ragstone.kernel.retrieval.query_measures import ranked_documents
from ragstone.kernel.runs.blamed import read_blame, read_causes
from ragstone.kernel.runs.joining import first_rank, preview
from ragstone.kernel.serve.rows.files import KINDS, RunFiles, as_lines, decoded
from ragstone.kernel.tables.where import folded

if TYPE_CHECKING:
    import duckdb


Table = dict[str, Any]  # name of a column -> array
ColumnKey = tuple[str, str, str, str]  # system, judge, metric, model


class _RowId(msgspec.Struct, gc=False):
    id: str
    document_id: str | None = None


class _Given(msgspec.Struct, gc=False):
    id: str | None = None
    document_id: str | None = None


class _IndexedText(msgspec.Struct, gc=False):
    """What a line needs of a question, or of an answer that carries its question."""

    question: str | None = None
    reference: str | list[str] | None = None
    tags: dict[str, str] | None = None
    answerable: bool | None = None


class _Question(_IndexedText, gc=False, kw_only=True):
    id: str
    document_ids: list[str] | None = None
    kind: str = "open"
    lang: str | None = None


class _IndexedAnswer(_IndexedText, gc=False, kw_only=True):
    question_id: str
    system: str
    answer: str
    contexts: list[_Given] | None = None
    error: str | None = None
    latency_s: float | None = None
    cost_usd: float | None = None
    usage: Usage | None = None


class _IndexedJudgement(msgspec.Struct, gc=False):
    question_id: str
    system: str
    judge: str
    metric: str
    model: str
    status: Status
    score: float | None = None
    scale: tuple[float, float] | None = None


ROW_TYPES: dict[
    str, type[Any]
] = {  # in an order in which the rows of each kind find what they need of the others
    "documents": _RowId,
    "chunks": _RowId,
    "questions": _Question,
    "answers": _IndexedAnswer,
    "judgements": _IndexedJudgement,
    "rankings": Ranking,
}
CODES: dict[Status, int] = {status: code for code, status in enumerate(STATUSES)}
"""Status -> how an index has it: a number is stored in a tenth of the time of a text."""
NUMBERS = ("answerable", "found_rank", "latency_s", "input_tokens", "output_tokens", "cost_usd")
CAUSE_TEXTS = ("cause", "component", "because")
TAG = "tag."
SEARCHED = ""  # the name of what a search looks through besides ids and answers, and no filter asks for
KIND_CODES = {kind: code for code, kind in enumerate(KINDS)}
FIRST_ROWS = 500  # of a file of another format, where the first ones are wanted
OF_SYSTEM = "\1"  # that of what a further system says of the question, where no row of the question does
MOST_IDS = 20_000  # that are written at once
BATCH_CHARACTERS, BATCH_ROWS = 6_000_000, 60_000  # that are kept before they are written: of texts, of files
NONE = "\0"  # for no text: of a column that begins with many None, DuckDB does not tell that it has texts
NAN = float("nan")

# What of the line of a question is known from the rows that were read so far.
QUESTION, TAGS, REFERENCE, ANSWER = 1, 2, 4, 8
SHARED = QUESTION | TAGS | REFERENCE
WHOLE = SHARED | ANSWER
HAS_ROW = 16
# Where the first relevant document is among the contexts of a question's answers, besides the ranks.
NO_CONTEXTS, UNKNOWN = -2, -1

# What is written while files are read: temporary tables, which are moved to the disk where they are large.
STAGED = {
    "all_texts": "place INTEGER, system VARCHAR, name VARCHAR, value VARCHAR",
    "all_groups": "place INTEGER, name VARCHAR, value VARCHAR",
    "asked": "place INTEGER, question VARCHAR, tags VARCHAR, lang VARCHAR",
    "previews": "place INTEGER, preview VARCHAR",
    "added": "place INTEGER, question VARCHAR, tags VARCHAR",
    "numbers": f"place INTEGER, of_system INTEGER, {', '.join(f'{name} DOUBLE' for name in NUMBERS)}, "
    "by_ranking BOOLEAN",
    "scores": "place INTEGER, col SMALLINT, status UTINYINT, score DOUBLE",
    "all_spans": "place INTEGER, kind UTINYINT, start BIGINT, size BIGINT",
    "all_named": "id VARCHAR, kind UTINYINT, start BIGINT, size BIGINT",
    "of_systems": "of_system INTEGER, system VARCHAR, value VARCHAR",
    "only_rank": "place INTEGER, rank DOUBLE",
    "ids": "place INTEGER, id VARCHAR, value VARCHAR, found INTEGER",
    "all_causes": "place INTEGER, cause VARCHAR",
    "all_columns": "col SMALLINT, system VARCHAR, judge VARCHAR, metric VARCHAR, model VARCHAR, low DOUBLE, "
    "high DOUBLE",
    "all_sources": "kind VARCHAR, path VARCHAR",
}
INDEX = {
    "lines": """SELECT place, id, coalesce(a.question, b.question) question, preview,
        coalesce(a.tags, b.tags) tags, lang, found
        FROM ids LEFT JOIN asked a USING (place) LEFT JOIN previews USING (place) LEFT JOIN (
            SELECT place, any_value(question) question, any_value(tags) tags FROM added GROUP BY place
        ) b USING (place) ORDER BY place""",
    "pairs": """SELECT place, system, answerable,
        CASE WHEN by_ranking THEN rank ELSE found_rank END AS found_rank, latency_s,
        input_tokens, output_tokens, cost_usd
        FROM numbers JOIN of_systems USING (of_system) LEFT JOIN only_rank USING (place)""",
    "cells": """SELECT place, col, status, score,
        CASE WHEN high > low THEN (score - low) / (high - low) ELSE score END AS share
        FROM scores JOIN all_columns USING (col)""",
    "texts": """FROM all_texts UNION ALL SELECT place, NULL, 'question_id', value FROM ids
        UNION ALL SELECT place, system, 'system', value FROM numbers JOIN of_systems USING (of_system)""",
    "groups": "FROM all_groups",
    "causes": "FROM all_causes",
    "columns": "FROM all_columns",
    "spans": "FROM all_spans",
    "named": "FROM all_named",
    "sources": "FROM all_sources",
}


class HowFar(NamedTuple):
    """How much of the files of a run has been read, in bytes."""

    n_read: int
    of: int


def make_index(files: RunFiles, target: Path) -> Iterator[HowFar]:
    """Write the index of these files in place of an earlier one, whole or not at all; yield how far it is.

    Raises DataError for what is no row and where there is no room, MissingExtra without DuckDB.
    """
    unfinished = target.with_suffix(".partial")
    unfinished.unlink(missing_ok=True)
    con = connect(unfinished, read_only=False)
    con.execute(
        "SET force_compression = 'uncompressed'"
    )  # it is written in half the time, and is twice as large
    try:
        yield from _IndexWriter(files, con, target.parent).write()
    finally:
        con.close()
    unfinished.replace(target)


def first_rows(files: RunFiles, folder: Path, most_bytes: int = 400_000) -> "duckdb.DuckDBPyConnection":
    """Return an index, in memory, of the first rows of each file: what can be shown before all are read.

    Its first lines are those of the whole index, with what is known so far of each: judgements may be
    missing. folder: for files of other formats, of which the first rows are copied.
    """
    con = connect(None, read_only=False)
    try:
        for _ in _IndexWriter(files, con, folder, most_bytes).write():
            pass
    except BaseException:
        con.close()
        raise
    return con


def connect(path: Path | None, *, read_only: bool = True) -> "duckdb.DuckDBPyConnection":
    """Return a connection to an index, which reaches no other file and no network. path: None for memory."""
    with optional_package("the workbench", "serve"):
        import duckdb
    config: dict[str, str | bool | int | float | list[str]] = {
        "threads": 2 if read_only else 1,  # at many small inserts, two would wait for one another
        "memory_limit": "200MB" if read_only else "80MB",
        "enable_external_access": False,
        "autoload_known_extensions": False,
    }
    return duckdb.connect(str(path or ":memory:"), read_only=read_only, config=config)


class _IndexWriter:
    """One pass over the files.

    Kept for all questions: their ids, and some bytes for what later rows have to add. most_bytes: that are
    read of each file; None for all.
    """

    def __init__(
        self,
        files: RunFiles,
        con: "duckdb.DuckDBPyConnection",
        folder: Path,
        most_bytes: int | None = None,
    ) -> None:
        self.files, self.con, self.folder, self.most_bytes = files, con, folder, most_bytes
        whole = most_bytes is None
        self.paths = {
            kind: as_lines(path, kind, folder, most_rows=None if whole else FIRST_ROWS)
            for kind, path in files.paths.items()
        }
        self.size = sum(path.stat().st_size for path in self.paths.values())
        self.n_read = self.n_rows = 0
        self.staged: dict[str, list[Table]] = {name: [] for name in ("all_named", "all_spans", "scores")}
        self.texts = _Texts()
        self.groups: list[tuple[int, str, str]] = []
        self.asked: list[tuple[int, str, str, str]] = []
        self.previews: list[tuple[int, str]] = []
        self.added: list[tuple[int, str, str]] = []
        self.numbers: list[tuple[float, ...]] = []
        self.causes = read_causes(files.folder) if whole and read_blame(files.folder) else {}
        self.of_chunk: dict[str, str] = {}
        # Of each question, by its place. of_row: what its own row has, be it empty, and whether it has one.
        self.places: dict[str, int] = {}
        self.known = bytearray()
        self.answerable = array("d")
        self.found = array("i")
        self.of_row = bytearray()
        self.relevant: dict[int, frozenset[str]] = {}
        self.langs: dict[int, str] = {}
        self.ranked: dict[int, list[int | None]] = {}
        # Of each judge, by its number; of each system, by its number: the questions that it has a row for.
        self.columns: dict[ColumnKey, int] = {}
        self.scales: list[tuple[float, float] | None] = []
        self.systems: dict[str, int] = {}
        self.answered: list[bytearray] = []

    def write(self) -> Iterator[HowFar]:
        """Read every file, in an order in which each finds what it needs of the others."""
        for name, columns in STAGED.items():
            self.con.execute(f"CREATE TEMP TABLE {name} ({columns})")
        take: dict[str, Callable[[list[Any], Table], None]] = {
            "documents": self._name,
            "chunks": self._name,
            "questions": self._ask,
            "answers": self._answer,
            "judgements": self._judge,
            "rankings": self._rank,
        }
        for kind, row_type in ROW_TYPES.items():
            if kind not in self.paths:
                continue
            for rows, start, size in decoded(self.paths[kind], row_type, self.most_bytes):
                codes = np.full(len(rows), KIND_CODES[kind], np.uint8)
                take[kind](rows, {"kind": codes, "start": start, "size": size})
                self.n_read += int(size.sum())
                self.n_rows += len(rows)
                if self.texts.n_characters > BATCH_CHARACTERS or self.n_rows > BATCH_ROWS:
                    self._flush()
                yield HowFar(min(self.n_read, self.size), self.size)
        self._finish()
        yield HowFar(self.size, self.size)

    def _places(self, ids: list[str], lines: Table) -> list[int]:
        """Return the place of each question, those seen for the first time after all others."""
        known = self.places
        places = [known.setdefault(name, len(known)) for name in ids]
        n_new = len(known) - len(self.known)
        if n_new:
            self.known.extend(bytes(n_new))
            self.of_row.extend(bytes(n_new))
            self.answerable.extend([NAN] * n_new)
            self.found.extend([NO_CONTEXTS] * n_new)
            for marks in self.answered:
                marks.extend(bytes(n_new))
        self.staged["all_spans"].append({"place": np.array(places, dtype=np.int32), **lines})
        return places

    def _name(self, rows: list[_RowId], lines: Table) -> None:
        """Take documents, or chunks, which have a document."""
        self.staged["all_named"].append({"id": np.array([row.id for row in rows], dtype=object), **lines})
        self.of_chunk.update((row.id, intern(row.document_id)) for row in rows if row.document_id is not None)

    def _ask(self, questions: list[_Question], lines: Table) -> None:
        """Take questions; of several with one id, the last one counts."""
        places = self._places([row.id for row in questions], lines)
        rows = dict(zip(places, questions, strict=True))
        if again := [at for at in rows if self.of_row[at]]:
            self._forget(again)
        self.texts.add_all(rows, None, "kind", [folded(row.kind) for row in rows.values()])
        for at, row in rows.items():
            self.of_row[at] = HAS_ROW | _fields_of(row)
            if row.answerable is not None:
                self.answerable[at] = row.answerable
            if row.document_ids and row.answerable is not False:
                self.relevant[at] = frozenset(map(intern, row.document_ids))
            if row.lang is not None:
                self.langs[at] = intern(row.lang)
                self.texts.add(at, None, "lang", folded(row.lang))
                self.texts.add(at, None, SEARCHED, f"lang\n{folded(row.lang)}")
                self.groups.append((at, "lang", row.lang))
            self._share(at, None, row, 0)
            fields = self._tell(at, None, row)
            if fields or row.lang is not None:
                tags = msgspec.json.encode(row.tags).decode() if fields & TAGS else NONE
                lang = NONE if row.lang is None else row.lang
                self.asked.append((at, row.question or NONE, tags, lang))

    def _forget(self, places: list[int]) -> None:
        """Take back what earlier rows told of questions."""
        self._flush()
        for name in ("all_texts", "all_groups", "asked"):
            self.con.execute(f"DELETE FROM {name} WHERE place IN (SELECT unnest(?))", [places])  # noqa: S608
        for at in places:
            self.known[at] = self.of_row[at] = 0
            self.answerable[at] = NAN
            self.relevant.pop(at, None)
            self.langs.pop(at, None)

    def _share(self, at: int, system: str | None, row: _IndexedText, of_row: int) -> None:
        """Take what filters ask of the fields that a question and its answers share, but those in of_row."""
        add = self.texts.add
        if row.question is not None and not of_row & QUESTION:
            add(at, system, "question", folded(row.question))
        if row.reference is not None and not of_row & REFERENCE:
            for text in row.reference if isinstance(row.reference, list) else [row.reference]:
                add(at, system, "reference", folded(text))
        if row.tags is not None and not of_row & TAGS:
            for key, text in row.tags.items():
                add(at, system, intern(TAG + key), folded(text))

    def _tell(self, at: int, system: str | None, row: _IndexedText) -> int:
        """Take the groups and what a search looks through of what a row is the first to tell; return it."""
        known, fields, texts = self.known[at], 0, list[str]()
        if row.question and not known & QUESTION:
            fields |= QUESTION
            texts.append(row.question)
        if row.tags and not known & TAGS:
            fields |= TAGS
            of_question = self.langs.get(at)
            for name, value in row.tags.items():
                texts += (name, value)
                if name != "lang" or value != of_question:
                    self.groups.append((at, name, value))
        if not known & REFERENCE and (references := alternatives(row.reference)):
            fields |= REFERENCE
            texts += references
        if fields:
            self.known[at] = known | fields
            self.texts.add(at, system, SEARCHED, folded("\n".join(texts)))
        return fields

    def _answer(self, answers: list[_IndexedAnswer], lines: Table) -> None:
        places = self._places([row.question_id for row in answers], lines)
        for at, row in zip(places, answers, strict=True):
            fields = self._preview(at, row) if self.known[at] != WHOLE else 0
            rank = None
            if row.contexts is not None:
                rank = self._first_rank(at, row.contexts)
                self.found[at] = _worse(self.found[at], rank)
            of_system = self._system(row.system)
            marks = self.answered[of_system]
            if marks[at]:
                continue  # of several answers of one system, filters ask the first one
            marks[at] = 1
            answerable = self.answerable[at]
            if isnan(answerable) and row.answerable is not None:
                answerable = float(row.answerable)
            usage, is_bare = row.usage, row.contexts is None
            n_input, n_output = (usage.input, usage.output) if usage else (None, None)
            numbers = (rank, row.latency_s, n_input, n_output, row.cost_usd)
            self.numbers.append(
                (at, of_system, answerable, *[NAN if each is None else each for each in numbers], is_bare)
            )
            self.texts.add(at, row.system, "answer", folded(row.answer))
            if row.error is not None:
                self.texts.add(at, row.system, "error", folded(row.error))
            if (of_row := self.of_row[at]) & SHARED != SHARED:
                self._share(at, row.system, row, of_row)
                self._search(at, row, of_row | fields)

    def _search(self, at: int, row: _IndexedAnswer, but: int) -> None:
        """Take what a filter of any text looks through in what an answer says of its question."""
        texts = [row.question] if row.question and not but & QUESTION else []
        texts += alternatives(row.reference) if not but & REFERENCE else []
        texts += [part for pair in (row.tags or {}).items() for part in pair] if not but & TAGS else []
        if texts:
            self.texts.add(at, row.system, OF_SYSTEM, folded("\n".join(texts)))

    def _preview(self, at: int, row: _IndexedAnswer) -> int:
        """Take what this answer is the first to give to the line of its question; return what that is."""
        if fields := self._tell(at, row.system, row):
            tags = msgspec.json.encode(row.tags).decode() if fields & TAGS else NONE
            self.added.append((at, (fields & QUESTION and row.question) or NONE, tags))
        if not self.known[at] & ANSWER:
            self.known[at] |= ANSWER
            self.previews.append((at, preview(row.answer or row.error or "") or NONE))
        return fields

    def _first_rank(self, at: int, contexts: list[_Given]) -> int | None:
        """Return the rank of the first relevant document of contexts; 0 for none, None if nobody can tell."""
        relevant = self.relevant.get(at)
        if not relevant:
            return None
        documents = [each.document_id or self.of_chunk.get(each.id or "") for each in contexts]
        return first_rank(documents, relevant)

    def _system(self, name: str) -> int:
        number = self.systems.get(name)
        if number is None:
            number = self.systems[name] = len(self.answered)
            self.answered.append(bytearray(len(self.known)))
        return number

    def _judge(self, rows: list[_IndexedJudgement], lines: Table) -> None:
        places = self._places([row.question_id for row in rows], lines)
        columns = np.array([self._column(row) for row in rows], dtype=np.int16)
        at = np.array(places, dtype=np.int32)
        score = [NAN if row.score is None else row.score for row in rows]
        self.staged["scores"].append(
            {
                "place": at,
                "col": columns,
                "status": np.array([CODES[row.status] for row in rows], dtype=np.uint8),
                "score": np.array(score, dtype=np.float64),
            }
        )
        of_column = np.array([self._system(system) for system, *_ in self.columns], dtype=np.int32)
        for number in np.unique(of_column[columns]).tolist():
            marks = np.frombuffer(self.answered[number], dtype=np.uint8)
            judged = at[of_column[columns] == number]
            marks[judged] |= 2

    def _column(self, row: _IndexedJudgement) -> int:
        key = (row.system, row.judge, row.metric, row.model)
        column = self.columns.get(key)
        if column is None:
            column = self.columns[key] = len(self.columns)
            self.scales.append(None)
        if row.scale is not None and self.scales[column] is None:
            self.scales[column] = row.scale
        return column

    def _rank(self, rankings: list[Ranking], lines: Table) -> None:
        """Take the rankings of questions that were asked or judged."""
        places = [self.places.get(row.question_id, -1) for row in rankings]
        self.staged["all_spans"].append({"place": np.array(places, dtype=np.int32), **lines})
        for at, ranking in zip(places, rankings, strict=True):
            if at >= 0:
                rank = first_rank(ranked_documents(ranking), self.relevant.get(at, frozenset()))
                self.ranked.setdefault(at, []).append(rank)

    def _flush(self) -> None:
        """Write what was found since the last time."""
        self.n_rows = 0
        self.texts.write(self.con)
        for name, rows in (
            ("all_groups", self.groups),
            ("asked", self.asked),
            ("previews", self.previews),
            ("added", self.added),
        ):
            if rows:
                self._insert(name, [_column(cells) for cells in zip(*rows, strict=True)])
                rows.clear()
        if self.numbers:
            self._insert("numbers", list(np.array(self.numbers, dtype=np.float64).T.copy()))
            self.numbers.clear()
        for name, tables in self.staged.items():
            if tables:
                self._insert(name, [np.concatenate([table[each] for table in tables]) for each in tables[0]])
                tables.clear()

    def _insert(self, name: str, columns: Sequence[Any]) -> None:
        table = {f"c{at}": column for at, column in enumerate(columns)}
        texts = [f"nullif({each}, chr(0))" if table[each].dtype == object else each for each in table]
        self.con.register("given", table)
        self.con.execute(f"INSERT INTO {name} SELECT {', '.join(texts)} FROM given")  # noqa: S608 - our names
        self.con.unregister("given")

    def _finish(self) -> None:
        """Make what needs all rows, and the tables of the index."""
        for number, marks in enumerate(self.answered):  # the pairs that were judged, and not answered
            for at in np.flatnonzero(np.frombuffer(marks, dtype=np.uint8) == 2).tolist():
                none = (NAN,) * (len(NUMBERS) - 1)
                self.numbers.append((at, number, self.answerable[at], *none, True))
        self._flush()
        alone = [(at, ranks[0]) for at, ranks in self.ranked.items() if len(ranks) == 1]
        ends = [scale or (NAN, NAN) for scale in self.scales]
        small: dict[str, list[tuple[Any, ...]]] = {
            "of_systems": [(number, name, folded(name)) for name, number in self.systems.items()],
            "only_rank": [(at, NAN if rank is None else rank) for at, rank in alone],
            "all_causes": self._caused(),
            "all_columns": [(col, *key, *ends[col]) for key, col in self.columns.items()],
            "all_sources": [(kind, str(path)) for kind, path in self.paths.items()],
        }
        for name, rows in small.items():
            if rows:
                self._insert(name, [_column(cells) for cells in zip(*rows, strict=True)])
        ids = list(self.places)
        for first in range(0, len(ids), MOST_IDS):
            names = ids[first : first + MOST_IDS]
            found = [self._found(at) for at in range(first, first + len(names))]
            places = range(first, first + len(names))
            folded_names = [folded(name) for name in names]
            self._insert("ids", [_column(places), _column(names), _column(folded_names), _column(found)])
        self._flush()
        self.con.begin()  # the disk is waited for once, not for each table
        for name, query in INDEX.items():
            self.con.execute(f"CREATE TABLE {name} AS {query}")
        self.con.commit()
        for name in STAGED:
            self.con.execute(f"DROP TABLE {name}")

    def _caused(self) -> list[tuple[int, str]]:
        """Return why points were lost: place of a question, and cause. What filters ask of it is written."""
        causes: list[tuple[int, str]] = []
        for question_id, of_question in self.causes.items():
            at = self.places.get(question_id)
            if at is None:
                continue
            causes += [(at, cause) for cause in dict.fromkeys(each.cause for each in of_question)]
            for system, each in {each.system: each for each in reversed(of_question)}.items():
                number = self.systems.get(system)
                if number is not None and self.answered[number][at]:
                    for name in CAUSE_TEXTS:
                        self.texts.add(at, system, name, folded(getattr(each, name)))
        return causes

    def _found(self, at: int) -> int:
        """Return the worst rank of the first relevant document: 0 where it is missing, -1 if unknown."""
        if self.found[at] != NO_CONTEXTS:
            return self.found[at]
        worst = UNKNOWN
        for rank in self.ranked.get(at, ()):
            worst = _worse(worst, rank)
        return worst


class _Texts:
    """Rows of the table `texts` that are not written yet. Names and systems are numbered: both are few."""

    def __init__(self) -> None:
        self.numbers: dict[str | None, int] = {}
        self.places, self.systems, self.names = array("i"), array("i"), array("i")
        self.values: list[str] = []
        self.n_characters = 0

    def add(self, at: int, system: str | None, name: str, value: str) -> None:
        numbers = self.numbers
        self.places.append(at)
        self.systems.append(numbers.setdefault(system, len(numbers)))
        self.names.append(numbers.setdefault(name, len(numbers)))
        self.values.append(value)
        self.n_characters += len(value)

    def add_all(self, places: Iterable[int], system: str | None, name: str, values: list[str]) -> None:
        numbers = self.numbers
        self.places.extend(places)
        self.systems.extend([numbers.setdefault(system, len(numbers))] * len(values))
        self.names.extend([numbers.setdefault(name, len(numbers))] * len(values))
        self.values += values

    def write(self, con: "duckdb.DuckDBPyConnection") -> None:
        """Write the rows, and begin anew."""
        if not self.values:
            return
        table = {
            "place": np.array(self.places, dtype=np.int32),
            "system": np.array(self.systems, dtype=np.int32) + 1,
            "name": np.array(self.names, dtype=np.int32) + 1,
            "value": np.array(self.values, dtype=object),
        }
        con.register("given", table)
        con.execute(
            "INSERT INTO all_texts SELECT place, ($of::VARCHAR[])[system], ($of::VARCHAR[])[name], value "
            "FROM given",
            {"of": list(self.numbers)},
        )
        con.unregister("given")
        for numbers in (self.places, self.systems, self.names):
            del numbers[:]
        self.values, self.n_characters = [], 0


def _column(cells: Sequence[str] | Sequence[float]) -> Any:  # noqa: ANN401 - an array
    return np.array(cells, dtype=object if isinstance(cells[0], str) else np.float64)


def _worse(worst: int, rank: int | None) -> int:
    """Return the worse of two ranks, of which 0 is none."""
    if rank is None:
        return max(worst, UNKNOWN)
    return rank if worst < 0 else 0 if 0 in (worst, rank) else max(worst, rank)


def _fields_of(row: _IndexedText) -> int:
    """Return which of the fields that a question and its answers share are in this row, be they empty."""
    return (
        (row.question is not None) * QUESTION
        | (row.tags is not None) * TAGS
        | (row.reference is not None) * REFERENCE
    )
