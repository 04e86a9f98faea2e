"""Rows of runs as a table: which columns there are, what the cells hold, and menus of the list as a filter.

The rows are those of the joined table (`FinishedRun.table`), made for the questions of a page alone; `export`
makes them block by block.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Judgement, Question
from ragstone.kernel.runs.causes import Caused
from ragstone.kernel.runs.embedded import ColumnView
from ragstone.kernel.runs.filtering import ANYWHERE, FLIPS, flipped_questions
from ragstone.kernel.runs.joined_rows import JudgeKey, joined
from ragstone.kernel.runs.run import Run
from ragstone.kernel.runs.run_rows import by_question
from ragstone.kernel.runs.summary import RunSummary
from ragstone.kernel.serve.rows.asking import RowFilter, RowIndex
from ragstone.kernel.tables.where import Kind, name_in_filter, value_in_filter
from ragstone.workbench.opened_rows import rows_at
from ragstone.workbench.row_pairs import AnswerPlace, AnswerPlaces, answers_in, table_columns

RUN = "run"
RATIONALE = "_rationale"
USUAL_JUDGES = 4
BLOCK = 2000  # questions whose rows are read at once for an export


class TableRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of a table. id: as pages address it. causes: by question id, where blame has looked."""

    id: str
    rows: RowIndex
    summary: RunSummary
    causes: Mapping[str, list[Caused]] = {}

    @property
    def name(self) -> str:
        """The name of its folder."""
        return self.id.partition("/")[2]


class TableColumn(msgspec.Struct, frozen=True):
    """A column that can be shown. kind: of its cells; sorts: whether rows can be sorted by it."""

    name: str
    kind: Kind
    sorts: bool = True


def columns_of_table(runs: Sequence[TableRun]) -> list[TableColumn]:
    """Return the columns that rows of these runs have, the run first where there are several."""
    kinds = table_columns([run.rows for run in runs])
    judges = {name for run in runs for name in run.rows.own[1]}
    columns = [TableColumn(RUN, "text", sorts=False)] if len(runs) > 1 and RUN not in kinds else []
    for name, kind in kinds.items():
        if kind == "search":
            continue
        columns.append(TableColumn(name, kind, sorts=name not in ("notes", "note_tags")))
        judge = name.removesuffix("_status")
        if judge != name and judge in judges:
            columns.append(TableColumn(f"{judge}{RATIONALE}", "text", sorts=False))
    return columns


def usual_columns(runs: Sequence[TableRun]) -> list[str]:
    """Return the columns that are shown unless others are chosen."""
    known = {column.name for column in columns_of_table(runs)}
    judges: dict[str, bool] = {}
    systems: set[str] = set()
    for run in runs:
        for name, key in run.rows.own[1].items():
            judges[name] = judges.get(name, False) or key[2] != "none"
        systems |= {
            system for (system,) in run.rows.con.execute("SELECT DISTINCT system FROM pairs").fetchall()
        }
    by_model = [name for name, asks in judges.items() if asks] or [*judges]
    wanted = ["question", RUN, *(["system"] if len(systems) > 1 else []), "answer", *by_model[:USUAL_JUDGES]]
    return [name for name in [*wanted, "cause", "notes"] if name in known]


def table_page(
    runs: Sequence[TableRun], chosen: RowFilter, *, first: int, most: int
) -> tuple[AnswerPlaces, list[dict[str, Any]]]:
    """Return a page of answers, and their rows as in the joined table, each with `run` and `flips`.

    Raises DataError, see answers_in.
    """
    places = answers_in([run.rows for run in runs], chosen, first=first, most=most)
    return places, [*_rows_of(runs, places.rows)]


def export_rows(
    runs: Sequence[TableRun], chosen: RowFilter, columns: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Return all rows that a filter leaves, with these columns, in its order; a block in memory at a time.

    Raises DataError at once for a filter or an order that there is not.
    """
    places = answers_in([run.rows for run in runs], chosen).rows

    def rows() -> Iterator[dict[str, Any]]:
        for start in range(0, len(places), BLOCK):
            for row in _rows_of(runs, places[start : start + BLOCK]):
                yield {name: row.get(name) for name in columns}

    return rows()


def _rows_of(runs: Sequence[TableRun], places: Sequence[AnswerPlace]) -> Iterator[dict[str, Any]]:
    of_run: dict[int, list[AnswerPlace]] = {}
    for answer_place in places:
        of_run.setdefault(answer_place.run, []).append(answer_place)
    rows = {
        number: _joined_rows(runs[number], {answer_place.place for answer_place in ours})
        for number, ours in of_run.items()
    }
    for answer_place in places:
        yield rows[answer_place.run][answer_place.place, answer_place.system] | {
            RUN: runs[answer_place.run].name
        }


def _joined_rows(run: TableRun, places: Iterable[int]) -> dict[tuple[int, str], dict[str, Any]]:
    """Return the rows of some questions by place and system. Raises DataError for files that change."""
    index, wanted = run.rows, sorted(places)
    filters, judges = index.own
    ids = dict(
        index.con.execute(
            "SELECT id, place FROM lines WHERE place IN (SELECT unnest(?))", [wanted]
        ).fetchall()
    )
    content = Run(
        summary=run.summary,
        manifest=None,
        questions={row.id: row for row in _read(index, wanted, "questions", Question)},
        rankings={},
        answers=by_question(_read(index, wanted, "answers", Answer)),
        judgements=by_question(_read(index, wanted, "judgements", Judgement)),
        chunks={},
        titles={},
        evidence={},
        causes={name: run.causes[name] for name in ids if name in run.causes},
        notes=[note for note in run.rows.notes if note.question_id in ids],
    )
    names: dict[JudgeKey, str] = {key: name for name, key in judges.items()}
    ranks = {
        (at, system): None if rank is None or rank != rank else int(rank)
        for at, system, rank in index.con.execute(
            "SELECT place, system, found_rank FROM pairs WHERE place IN (SELECT unnest(?))", [wanted]
        ).fetchall()
    }
    flipped = flipped_questions(content.judgements) if FLIPS in filters.kinds else set[str]()
    rows = {}
    for row in joined(content, names):
        at = ids[row["question_id"]]
        tags = {filters.tags[key]: value for key, value in (row["tags"] or {}).items() if key in filters.tags}
        rows[at, row["system"]] = (
            row | tags | {"found_rank": ranks.get((at, row["system"])), FLIPS: row["question_id"] in flipped}
        )
    return rows


def _read(index: RowIndex, places: list[int], kind: str, row_type: type[Any]) -> list[Any]:
    return rows_at(index, places, kind, row_type) if kind in index.files() else []


RANKS = {"found": "> 0", "first": "= 1", "missed": "= 0", "unknown": "= none"}


def as_filter(
    chosen: RowFilter, columns: Sequence[ColumnView], names: Mapping[JudgeKey, str], tags: Mapping[str, str]
) -> RowFilter:
    """Return a choice from the menus of the list of questions as a filter of rows.

    columns: of the run's index; names: of its judges; tags: key -> name in filters. The menus choose
    questions, a filter the answers to them. Raises DataError for a choice that a filter cannot say.
    """
    judged = [columns[at] for at in chosen.judges_among(columns)]
    parts = [chosen.where.strip(), *(f"{ANYWHERE} ~ {value_in_filter(word)}" for word in chosen.text.split())]
    by_name = [(names[column.judge, column.metric, column.model], column) for column in judged]
    tests = {test for name, column in by_name if (test := _result(chosen, column, name))}
    if tests and chosen.judge is not None and len({column.system for column in columns}) > 1:
        parts += [*tests, f"system = {value_in_filter(judged[0].system)}"]
    elif len(tests) > 1:
        parts.append(f"({' or '.join(f'({test})' if ' and ' in test else test for test in sorted(tests))})")
    else:
        parts += tests
    parts += _of_question(chosen, tags)
    order = {"rank": "found_rank", "lowest": "file", "highest": "file"}.get(chosen.order, chosen.order)
    if by_name and chosen.order in ("lowest", "highest"):
        order = f"{'-' if chosen.order == 'highest' else ''}{by_name[0][0]}"
    return RowFilter(where=" and ".join(filter(None, parts)), order=order)


def _of_question(chosen: RowFilter, tags: Mapping[str, str]) -> list[str]:
    """Return what the menus ask of a question, whichever judge is chosen."""
    parts = []
    if chosen.found != "any":
        if chosen.found not in RANKS:
            raise DataError(f"found cannot be {chosen.found!r}. Choose one of: {', '.join(RANKS)}.")
        parts.append(f"found_rank {RANKS[chosen.found]}")
    if chosen.tag:
        name = "lang" if chosen.tag == "lang" and "lang" not in tags else tags.get(chosen.tag, chosen.tag)
        parts.append(f"{name_in_filter(name)} = {value_in_filter(chosen.value)}")
    if chosen.cause != "any":
        parts.append(f"cause = {value_in_filter(chosen.cause)}")
    return parts


def _result(chosen: RowFilter, column: ColumnView, judge: str) -> str:
    """Return what a result and the ends of a score are for one judge; empty for any."""
    tests = []
    name, status = name_in_filter(judge), name_in_filter(f"{judge}_status")
    middle = None if column.low is None or column.high is None else (column.low + column.high) / 2
    if chosen.result in ("low", "high"):
        if middle is None:
            raise DataError(f"The scale of {name} is not known, so low and high mean nothing: give a score.")
        tests.append(f"{name} {'<' if chosen.result == 'low' else '>='} {middle:g}")
    elif chosen.result == "unscored":
        tests += [f"{status} != scored", f"{status} != none"]
    elif chosen.result == "absent":
        tests.append(f"{status} = none")
    elif chosen.result.startswith("is-"):
        tests.append(f"{status} = {chosen.result.removeprefix('is-')}")
    tests += [f"{name} >= {chosen.low!r}"] if chosen.low is not None else []
    tests += [f"{name} <= {chosen.high!r}"] if chosen.high is not None else []
    return " and ".join(tests)
