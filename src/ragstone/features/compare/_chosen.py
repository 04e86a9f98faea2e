"""Comparing on the questions that a filter chose, and what a choice by results leaves to say."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from ragstone.features.compare.matching import JudgedRun
from ragstone.features.compare.values import ChosenQuestions, Comparison, Gate, MetricComparison
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Answer, Judgement, Ranking
from ragstone.kernel.runs.filtering import filter_columns
from ragstone.kernel.runs.joined_rows import joined, rows_where
from ragstone.kernel.runs.run_rows import read_run_rows
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.where import Kind, columns_asked

OF_QUESTIONS = {"question_id", "question", "reference", "kind", "lang", "answerable", "system"}
"""Columns that hold no result of a system, beside tags."""
KeyedT = TypeVar("KeyedT", Answer, Judgement, Ranking)


def choose_questions(folders: tuple[Path, Path], where: str) -> tuple[ChosenQuestions, frozenset[str]]:
    """Return what a filter chooses of the questions of two runs, those of which it leaves a row in either.

    Raises DataError for a filter that does not parse, or that leaves nothing; else as read_run_rows does.
    """
    runs = [read_run_rows(folder) for folder in folders]
    left, kinds, tags = rows_where(runs, where)
    ids = frozenset(row["question_id"] for rows in left for row in rows)
    if not ids:
        raise DataError(f"The filter {where!r} leaves no question of either run. Change it.")
    every = [(row["question_id"], row["tags"] or {}) for run in runs for row in joined(run)]
    shared = _shared_tags(every)
    own = OF_QUESTIONS | {name for name, key in tags.items() if key in shared}
    by_results = [name for name in columns_asked(where, kinds) if name not in own]
    n_before = len({question_id for question_id, _ in every})
    return ChosenQuestions(where=where, n=len(ids), of=n_before, by_results=by_results), ids


def chosen_before(sides: Sequence[JudgedRun]) -> str:
    """Return the filters by which answers of runs were chosen before they were judged; empty if none were.

    Raises DataError for one that asks for more than what a question says of itself.
    """
    chosen = [(side.name, side.chosen) for side in sides if side.chosen]
    kinds = _question_columns(sides) if chosen else {}
    for name, answers in chosen:
        try:
            columns_asked(answers.where, kinds)
        except DataError:
            raise DataError(
                f"{name} holds only answers chosen from {answers.of} ({answers.where}), and not by their "
                "questions alone, so they look better or worse for that reason (regression to the mean). "
                "Compare complete runs."
            ) from None
    return "; ".join(dict.fromkeys(answers.where for _, answers in chosen))


def _question_columns(sides: Sequence[JudgedRun]) -> dict[str, Kind]:
    """Return what a filter may ask of questions alone, with the tags that are the same for every system."""
    own = {row.id: row.tags or {} for side in sides for row in side.questions}
    rows = [
        (row.question_id, {**own.get(row.question_id, {}), **(row.tags or {})})
        for side in sides
        for row in side.answers
    ]
    columns = filter_columns((), _shared_tags(rows), blamed=False, several=False, noted=False)
    named = OF_QUESTIONS | {*columns.tags.values()}
    return {name: kind for name, kind in columns.kinds.items() if name in named}


def _shared_tags(rows: Sequence[tuple[str, Mapping[str, str]]]) -> set[str]:
    """Return the tags that are the same for every system, and so are of the question, and no result.

    rows: question id and tags of each answer.
    """
    values: dict[tuple[str, str], str | None] = {}
    return {
        tag
        for tag in {tag for _, tags in rows for tag in tags}
        if all(values.setdefault((name, tag), tags.get(tag)) == tags.get(tag) for name, tags in rows)
    }


def only_chosen(side: JudgedRun, ids: frozenset[str]) -> JudgedRun:
    """Return a run with the rows of these questions alone."""

    def chosen(rows: Iterable[KeyedT]) -> list[KeyedT]:
        return [row for row in rows if row.question_id in ids]

    return msgspec.structs.replace(
        side,
        judgements=chosen(side.judgements),
        answers=chosen(side.answers),
        rankings=chosen(side.rankings),
        questions=[row for row in side.questions if row.id in ids],
    )


def without_verdict(comparison: Comparison) -> Comparison:
    """Return a comparison that keeps means and flips, and nothing that would be a claim about the systems."""
    metrics = [_bare(metric) for metric in comparison.metrics]
    gated = [
        msgspec.structs.replace(
            metric, outcome="cannot tell", because="the questions were chosen by results of the systems"
        )
        for metric in comparison.gate.metrics
    ]
    return msgspec.structs.replace(
        comparison,
        metrics=metrics,
        retrieval=[],
        spent=[],
        components=msgspec.UNSET,
        gate=Gate(outcome="cannot tell", margin=comparison.gate.margin, metrics=gated),
    )


def _bare(metric: MetricComparison) -> MetricComparison:
    def mean(estimate: Estimate) -> Estimate:
        return msgspec.structs.replace(estimate, low=None, high=None)

    a, b = (msgspec.structs.replace(side, mean=mean(side.mean)) for side in (metric.a, metric.b))
    return msgspec.structs.replace(
        metric,
        a=a,
        b=b,
        difference=mean(metric.difference),
        within=None,
        p=1.0,
        p_holm=1.0,
        verdict="cannot tell",
        loses_more=False,
        by_application=False,
        outlook=None,
        overlap=None,
        corrected=None,
        length=None,
        label_cost=None,
    )
