"""People's labels of a bench's answers -> differences of cells that no taste of the judge moves."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from pathlib import Path

import msgspec

from ragstone.features.bench.answerers._measuring import METRICS
from ragstone.features.bench.answerers._planning import AnswerGrid
from ragstone.features.bench.answerers._values import CellTest
from ragstone.kernel.agreement.corrected import corrected_means
from ragstone.kernel.agreement.corrected_difference import corrected_difference
from ragstone.kernel.agreement.pairing import human_scores
from ragstone.kernel.errors import ConfigError, DataError, plural
from ragstone.kernel.judging import Judge
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.statistics import Estimate, mean_estimate
from ragstone.kernel.statistics.families import as_family
from ragstone.kernel.tables import read_rows

SHOWN = 4  # names in a message


class CellLabels(msgspec.Struct, frozen=True, kw_only=True):
    """People's labels of the cells. file: its name. n_elsewhere: labels of what is no cell here.

    threshold: judge -> score from which on it says 1, for labels of 0 and 1 (`[agree] thresholds`).
    """

    file: str
    of_cell: dict[str, list[Label]]
    n_elsewhere: int = 0
    threshold: Mapping[str, float] = {}


def read_labels(
    path: Path,
    grid: AnswerGrid,
    questions: Collection[str],
    judges: Sequence[Judge],
    threshold: Mapping[str, float],
) -> CellLabels:
    """Return the labels of the cells, before anything is asked. questions: ids of those that are asked.

    Raises ConfigError where no judge measures what labels correct, and DataError for a file without a
    question whose answers by two cells of one condition are labelled.
    """
    metrics = METRICS["correct"]
    if not any(metric in metrics for judge in judges for metric in judge.metrics):
        raise ConfigError(
            "[bench.answerers] labels: they correct a judge of correctness, and [judge] names none. Add one, "
            "e.g. correctness, or leave labels out."
        )
    cells = [cell.name for cell in grid.cells]
    rows = list(read_rows(path, Label))
    mine = [row for row in rows if row.system in cells]
    if not mine:
        raise DataError(
            f"{path}: no label is for a cell of this bench. The labels are for "
            f"{_listed(row.system for row in rows)}; the cells are {_listed(cells)}. Give the cell as "
            "system."
        )
    graded = [row for row in mine if row.metric in (None, *metrics)]
    if not graded:
        raise DataError(
            f"{path}: the labels are for {_listed(row.metric for row in mine)}, but places are by "
            f"{' or '.join(metrics)}. Label that, or leave metric out of the labels."
        )
    of_cell: dict[str, list[Label]] = {}
    for row in graded:
        of_cell.setdefault(row.system, []).append(row)
    ids = {name: {row.question_id for row in of} & set(questions) for name, of in of_cell.items()}
    condition = {cell.name: cell.condition for cell in grid.cells}
    if not any(ids.values()):
        raise DataError(
            f"{path}: no label is for a question that is asked here. The labels are for questions such as "
            f"{graded[0].question_id!r}. Give the ids that [questions] path has."
        )
    if len(ids) == 1:
        raise DataError(
            f"{path}: the labels are for {next(iter(ids))} alone. A difference needs labels of what two "
            "cells answered to the same questions."
        )
    if not any(ids[a] & ids[b] for a, b in combinations(ids, 2) if condition[a] == condition[b]):
        raise DataError(
            f"{path}: no question has labels of two cells of one condition. Label what both of them answered "
            "to the same questions."
        )
    return CellLabels(file=path.name, of_cell=of_cell, n_elsewhere=len(rows) - len(mine), threshold=threshold)


def _listed(names: object) -> str:
    """Return the different names, the first few, and how many more there are."""
    known = sorted({str(name) for name in names})  # type: ignore[attr-defined] # an iterable
    more = f" and {plural(len(known) - SHOWN, 'other')}" if len(known) > SHOWN else ""
    return ", ".join(known[:SHOWN]) + more


def correct_tests(
    tests: Sequence[CellTest],
    judged: Mapping[str, Sequence[Judgement]],
    labels: CellLabels,
    clusters: Mapping[str, str],
) -> list[CellTest]:
    """Return the tests with the judge's error taken out, Holm's correction over all; none where no pair of
    cells has labels of both answers to a question.

    judged: cell -> its judgements by the judge that the tests are of. A pair without labels of both says
    nothing: its p is 1, and its difference is the judge's.
    """
    corrected = []
    for test in tests:
        by_labels = corrected_difference(
            judged[test.second],
            judged[test.first],
            (labels.of_cell.get(test.second, []), labels.of_cell.get(test.first, [])),
            threshold=labels.threshold,
            clusters=clusters,
        )
        corrected.append(
            msgspec.structs.replace(
                test,
                difference=by_labels.corrected if by_labels else test.difference,
                p=1.0 if by_labels is None or by_labels.p is None else by_labels.p,
                test="prediction-powered",
                judged=test.difference,
                n_labelled=by_labels.n_labelled if by_labels else 0,
                flattery=by_labels.flattery if by_labels else None,
            )
        )
    return as_family(corrected) if any(test.n_labelled for test in corrected) else []


def by_people(names: Sequence[str], tests: Sequence[CellTest]) -> dict[str, float | None]:
    """Return how much better than the others people find each, on average; None of one without labels."""
    gains: dict[str, list[float]] = {name: [] for name in names}
    for test in tests:
        if test.n_labelled and {test.first, test.second} <= gains.keys():
            gains[test.first].append(test.difference.value)
            gains[test.second].append(-test.difference.value)
    return {name: sum(of) / len(of) if of else None for name, of in gains.items()}


def last_without(gain: float | None) -> tuple[bool, float]:
    """Return what a gain is sorted by: the largest first, none last, what differs by rounding alike."""
    return gain is None, -round(gain or 0.0, 12)


def people_would_give(
    judged: Sequence[Judgement], labels: CellLabels, name: str, clusters: Mapping[str, str], *, seed: int
) -> Estimate | None:
    """Return the mean that people would give a cell's answers, in the labels' unit; None without labels."""
    mine = labels.of_cell.get(name, [])
    metric = next((row.metric for row in judged), None)
    if not mine or metric is None:
        return None
    means = corrected_means(judged, mine, threshold=labels.threshold, clusters=clusters, seed=seed)
    if means:
        return means[0].corrected
    scored = {row.question_id for row in judged if row.score is not None}
    scores = {
        question: human.score
        for (question, _), human in human_scores(mine, metric).items()
        if question in scored and human.score is not None
    }
    shared = [clusters.get(question, question) for question in scores]
    return mean_estimate(list(scores.values()), shared, seed=seed, proportion=set(scores.values()) <= {0, 1})
