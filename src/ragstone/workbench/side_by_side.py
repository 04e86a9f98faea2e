"""The indexes of several runs -> a table of their answers: a row a question, a column a system of a run.

Of each index only ids and one score a question are held; texts are read for the questions of one page.
"""

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from ragstone.kernel.document.numbers import one_line
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging.repeated import lowest_is_best
from ragstone.kernel.records import STATUS_WORDS, Answer, Judgement, Verdict
from ragstone.kernel.runs.embedded import ColumnView, LineView
from ragstone.kernel.runs.joining import preview
from ragstone.kernel.serve.rows.asking import RowIndex
from ragstone.workbench.opened_rows import rows_at

SIDE_ROWS = 20  # questions on a page
MOST_COLUMNS = 12
LONGEST_TEXT = 8_000  # characters of an answer; the row itself has the rest
WORDS = {str(status): words for status, words in STATUS_WORDS.items()}
PASSES, FAILS, NO_SCORE = 1, 0, -1


class SideFilter(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked for. metric: `judge|metric`, empty for the first that all have; at: a page, from 1.

    system: a part of the names of the systems that are shown. flips: only questions that pass in one column
    and fail in another one.
    """

    metric: str = ""
    text: str = ""
    system: str = ""
    flips: bool = False
    at: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 1


class SideColumn(msgspec.Struct, frozen=True, kw_only=True):
    """A system of a run, and the judge whose scores count here. run: its place among the chosen.

    scored_by: the number of that judge among the columns of the run's index, None where it scored nothing
    here; model: that it asked. n_passed, n_failed: scored questions, those of the middle of the scale or
    above and the others.
    """

    run: int
    system: str
    scored_by: int | None
    model: str | None
    n_passed: int = 0
    n_failed: int = 0


class SideScore(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge said, as a chip shows it.

    low: on the bad side of the middle of its scale; on_scale: whether that is known.
    """

    judge: str
    words: str
    low: bool
    scored: bool
    on_scale: bool
    rationale: str | None = None
    verdicts: list[Verdict] = []


class SideCell(msgspec.Struct, frozen=True, kw_only=True):
    """A system's answer to a question. text: None where it gave none; short: its beginning.

    is_cut: the row has more than the text. asked: the question, where this run words it otherwise. scores:
    the chosen judge's first, the only one with its reasons.
    """

    text: str | None
    short: str = ""
    is_cut: bool = False
    error: str | None = None
    asked: str | None = None
    scores: list[SideScore] = []


class SideRow(msgspec.Struct, frozen=True, kw_only=True):
    """A question. first: the place of the first run that has it. cells: None where a run lacks it."""

    id: str
    question: str | None
    first: int
    flips: bool
    cells: list[SideCell | None]


class SidePage(msgspec.Struct, frozen=True, kw_only=True):
    """A page of rows. n: questions that fit; of: all; n_flips: of all; n_left_out: columns without room.

    lowest: whether the judge that counts gives its lowest score to the best.
    """

    columns: list[SideColumn]
    rows: list[SideRow]
    n: int
    of: int
    n_flips: int
    at: int
    n_pages: int
    n_left_out: int
    lowest: bool = False


class _Places(msgspec.Struct, frozen=True):
    """The questions of a run. places: number in the table -> place in the run, -1 for none."""

    index: RowIndex
    judges: Sequence[ColumnView]
    places: NDArray[np.int64]


def metrics_of(judges: Sequence[Sequence[ColumnView]]) -> list[tuple[str, str]]:
    """Return the (judge, metric) of some runs: those of most runs first, then those that ask a model."""
    runs_with: dict[tuple[str, str], set[int]] = {}
    asks: set[tuple[str, str]] = set()
    for at, columns in enumerate(judges):
        for column in columns:
            runs_with.setdefault((column.judge, column.metric), set()).add(at)
            asks |= {(column.judge, column.metric)} if column.model != "none" else set()
    return sorted(runs_with, key=lambda name: (-len(runs_with[name]), name not in asks))


def side_page(
    indexes: Sequence[RowIndex],
    judges: Sequence[Sequence[ColumnView]],
    chosen: SideFilter,
) -> SidePage:
    """Return a page of the answers of several runs side by side.

    indexes, judges: of each run its index, and the columns of that in their order. Raises DataError for a
    metric that no run has.
    """
    metric = _metric(metrics_of(judges), chosen.metric)
    every = [column for at, own in enumerate(judges) for column in _columns(at, own, metric, chosen.system)]
    columns = every[:MOST_COLUMNS]
    ids, runs = _joined(indexes, judges)
    passed = np.full((len(ids), len(columns)), NO_SCORE, dtype=np.int8)
    for at, column in enumerate(columns):
        if column.scored_by is not None:
            passed[:, at] = _passed(runs[column.run], column.scored_by)
    flips = (passed == PASSES).any(axis=1) & (passed == FAILS).any(axis=1)
    fits = _found(runs, len(ids), chosen.text) & (flips if chosen.flips else True)
    places = np.flatnonzero(fits)
    n_pages = max(1, -(-len(places) // SIDE_ROWS))
    at_page = min(chosen.at, n_pages)
    on_page = places[(at_page - 1) * SIDE_ROWS : at_page * SIDE_ROWS]
    return SidePage(
        columns=[
            msgspec.structs.replace(
                column,
                n_passed=int((passed[:, at] == PASSES).sum()),
                n_failed=int((passed[:, at] == FAILS).sum()),
            )
            for at, column in enumerate(columns)
        ],
        rows=_rows(ids, runs, columns, on_page, flips),
        n=len(places),
        of=len(ids),
        n_flips=int(flips.sum()),
        at=at_page,
        n_pages=n_pages,
        lowest=metric is not None and lowest_is_best(metric[0]),
        n_left_out=len(every) - len(columns),
    )


def _metric(offered: Sequence[tuple[str, str]], name: str) -> tuple[str, str] | None:
    if not name:
        return offered[0] if offered else None
    judge, _, metric = name.rpartition("|")
    if (judge, metric) not in offered:
        names = ", ".join(f"{judge_name}|{other}" for judge_name, other in offered) or "none at all"
        raise DataError(f"None of these runs was judged by {name!r}. They have: {names}.")
    return judge, metric


def _columns(
    at: int, judges: Sequence[ColumnView], metric: tuple[str, str] | None, system: str
) -> list[SideColumn]:
    """Return the columns of a run: one for each system, of several models of the judge one for each."""
    columns = []
    for name in dict.fromkeys(judge.system for judge in judges):
        if system.strip().casefold() not in name.casefold():
            continue
        scoring: list[tuple[int | None, str | None]] = [
            (number, judge.model)
            for number, judge in enumerate(judges)
            if (judge.system, judge.judge, judge.metric) == (name, *(metric or ("", "")))
        ]
        columns += [
            SideColumn(run=at, system=name, scored_by=number, model=model)
            for number, model in scoring or [(None, None)]
        ]
    return columns


def _joined(
    indexes: Sequence[RowIndex], judges: Sequence[Sequence[ColumnView]]
) -> tuple[list[str], list[_Places]]:
    """Return the ids of all questions, those of the first run first, and where each run has them."""
    numbers: dict[str, int] = {}
    own = []
    for index in indexes:
        ids = [name for (name,) in index.con.execute("SELECT id FROM lines ORDER BY place").fetchall()]
        own.append(np.array([numbers.setdefault(name, len(numbers)) for name in ids], dtype=np.int64))
    runs = []
    for index, columns, known in zip(indexes, judges, own, strict=True):
        places = np.full(len(numbers), -1, dtype=np.int64)
        places[known] = np.arange(len(known))
        runs.append(_Places(index, columns, places))
    return list(numbers), runs


def _passed(run: _Places, column: int) -> NDArray[np.int8]:
    """Return for each question whether this judge passes it: PASSES, FAILS or NO_SCORE."""
    places, passed = run.index.passed(column, lowest=lowest_is_best(run.judges[column].judge))
    own = np.full(int(run.places.max(initial=-1)) + 2, NO_SCORE, dtype=np.int8)  # the last one is for -1
    own[np.asarray(places)] = np.asarray(passed)
    taken: NDArray[np.int8] = own[run.places]
    return taken


def _found(runs: Sequence[_Places], n: int, text: str) -> NDArray[np.bool_]:
    """Return which questions hold every word in one run: in question, reference or answer."""
    if not text.strip():
        return np.ones(n, dtype=np.bool_)
    fits = np.zeros(n, dtype=np.bool_)
    for run in runs:
        own = np.zeros(int(run.places.max(initial=-1)) + 2, dtype=np.bool_)
        own[run.index.places_holding(text)] = True
        fits |= own[run.places]
    return fits


class _Read(msgspec.Struct, frozen=True):
    """What a page shows of a run, by question, and by system where there are several."""

    lines: Mapping[str, LineView]
    answers: Mapping[tuple[str, str], Answer]
    judgements: Mapping[tuple[str, str, str, str, str], Judgement]


def _rows(
    ids: Sequence[str],
    runs: Sequence[_Places],
    columns: Sequence[SideColumn],
    numbers: NDArray[np.int64],
    flips: NDArray[np.bool_],
) -> list[SideRow]:
    used = {column.run for column in columns}
    read = {at: _read(run, numbers) for at, run in enumerate(runs) if at in used}
    rows = []
    for number in numbers:
        name = ids[number]
        first = next(at for at, run in enumerate(runs) if run.places[number] >= 0)
        question = next((own.lines[name].question for own in read.values() if name in own.lines), None)
        cells = [_cell(name, question, column, runs[column.run], read[column.run]) for column in columns]
        rows.append(SideRow(id=name, question=question, first=first, flips=bool(flips[number]), cells=cells))
    return rows


def _read(run: _Places, numbers: NDArray[np.int64]) -> _Read:
    places = [int(at) for at in run.places[numbers] if at >= 0]
    lines = run.index.lines_at(places, len(run.judges))
    answers = rows_at(run.index, places, "answers", Answer)
    judgements = rows_at(run.index, places, "judgements", Judgement)
    return _Read(
        {line.id: line for line in lines},
        {(row.question_id, row.system): row for row in answers},
        {(row.question_id, row.system, row.judge, row.metric, row.model): row for row in judgements},
    )


def _cell(name: str, question: str | None, column: SideColumn, run: _Places, read: _Read) -> SideCell | None:
    line = read.lines.get(name)
    if line is None:
        return None
    numbers = [at for at, judge in enumerate(run.judges) if judge.system == column.system]
    numbers.sort(key=lambda at: at != column.scored_by)
    scores = [_score(line, run.judges[at], at, read, whole=at == column.scored_by) for at in numbers]
    answer = read.answers.get((name, column.system))
    text = answer.answer if answer else None
    return SideCell(
        text=text and text[:LONGEST_TEXT],
        short=preview(text or "") or "",
        is_cut=len(text or "") > LONGEST_TEXT,
        error=answer.error if answer else None,
        asked=line.question if line.question != question else None,
        scores=[score for score in scores if score],
    )


def _score(line: LineView, judge: ColumnView, at: int, read: _Read, *, whole: bool) -> SideScore | None:
    """Return what a judge said of a line, None where it said nothing. whole: with its reasons."""
    cell = line.cells[at]
    if cell is None:
        return None
    row = read.judgements.get((line.id, judge.system, judge.judge, judge.metric, judge.model))
    scored = not isinstance(cell, str)
    middle = None if judge.low is None or judge.high is None else (judge.low + judge.high) / 2
    text = WORDS[cell] if isinstance(cell, str) else f"{cell:.4g}"
    if row and row.label:
        text = f"{one_line(row.label, 40)} ({text})"
    return SideScore(
        judge=judge.judge if judge.judge == judge.metric else f"{judge.judge}: {judge.metric}",
        words=text,
        # The good side of the middle, and the middle itself, are no low score.
        low=scored
        and middle is not None
        and (float(cell) > middle if lowest_is_best(judge.judge) else float(cell) < middle),
        scored=scored,
        on_scale=middle is not None,
        rationale=(row.rationale or row.error) if row and whole else None,
        verdicts=list(row.verdicts or ()) if row and whole else [],
    )
