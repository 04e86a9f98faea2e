"""Configurations measured on the same questions -> the best, those not distinguishable from it, the rest."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.features.bench.retrievers._values import (
    Configuration,
    Differing,
    FailedConfiguration,
    FoundByConfiguration,
    Leaderboard,
    Standing,
    Timing,
)
from ragstone.features.bench.retrievers.paired import PairedComparison, best_and_indistinguishable
from ragstone.kernel.config.bench import BATCH
from ragstone.kernel.errors import DataError
from ragstone.kernel.records import Question, Ranking
from ragstone.kernel.retrieval.evaluate import batches_of, mean_measures, measures_by_group
from ragstone.kernel.retrieval.query_measures import QueryMeasures
from ragstone.kernel.retrieval.relevance import relevant_documents
from ragstone.kernel.retrieval.summary import ScoreQuality
from ragstone.kernel.runs.order_plots import ranks_of
from ragstone.kernel.statistics.paired import place_of

SHOWN_QUESTIONS = 20


class MeasuredConfiguration(msgspec.Struct, frozen=True, kw_only=True):
    """What a configuration found: its measures at each k, its rankings at the largest, and its times."""

    configuration: Configuration
    by_k: dict[int, QueryMeasures]
    rankings: list[Ranking]
    timing: Timing
    file: str
    scores: ScoreQuality | None = None


def make_leaderboard(
    cells: Sequence[MeasuredConfiguration],
    failed: Sequence[FailedConfiguration],
    questions: Sequence[Question],
    measure: str,
    *,
    why: str,
    seed: int = 0,
    batch: int = BATCH,
) -> Leaderboard:
    """Return the leaderboard of measured configurations, ordered by `measure` (without its k).

    A configuration that has no value of the measure (its results do not say where they stand) joins those
    that failed, with the reason. batch: questions in one. Raises DataError if none is left, with the reasons.
    """
    first_k = next(iter(cells[0].by_k)) if cells else 0
    label = label_of(measure, first_k)
    able = [cell for cell in cells if label in cell.by_k[first_k].values]
    without = [
        FailedConfiguration(configuration=cell.configuration, reason=f"its results give no {measure}")
        for cell in cells
        if cell not in able
    ]
    everything = [*failed, *without]
    if not able:
        reasons = "; ".join(f"{lost.configuration.name}: {lost.reason}" for lost in everything)
        raise DataError(f"no configuration could be measured. {reasons}")
    by_name = {cell.configuration.name: cell for cell in able}
    queries = {name: cell.by_k[first_k] for name, cell in by_name.items()}
    leaders = best_and_indistinguishable(queries, label, seed=seed)
    compared = {row.second: row for row in leaders.comparisons}
    values = [of_name.values[label] for of_name in queries.values()]
    common, every = set(values[0]).intersection(*values), set().union(*values)
    first = queries[next(iter(queries))]
    return Leaderboard(
        measure=label,
        why=why,
        ks=list(able[0].by_k),
        n_questions=len(common),
        n_unlabelled=first.n_unlabelled,
        n_unanswerable=first.n_unanswerable,
        n_left_out=len(every - common),
        family=leaders.comparisons[0].family if leaders.comparisons else 0,
        standings=[
            _standing(number, by_name[name], compared.get(name), questions, label, seed, batch=batch)
            for number, name in enumerate(leaders.means, 1)
        ],
        failed=everything,
        ranks=ranks_of({name: of.values[label] for name, of in queries.items()}, first.documents, seed=seed)
        or msgspec.UNSET,
        differing=_differing(able, [q for q in questions if q.id in common], label, first_k),
    )


def label_of(measure: str, k: int) -> str:
    """Return what measures at k are called in QueryMeasures of rankings of k places."""
    return measure if measure in ("mrr", "map") else f"{measure}@{k}"


def _standing(
    number: int,
    cell: MeasuredConfiguration,
    comparison: PairedComparison | None,
    questions: Sequence[Question],
    label: str,
    seed: int,
    *,
    batch: int,
) -> Standing:
    queries = next(iter(cell.by_k.values()))
    lead = msgspec.structs.replace(queries, values={label: queries.values[label]})
    by_lang, by_tag = measures_by_group(lead, questions, seed=seed)
    batches = batches_of(queries, questions, batch)
    return Standing(
        place=number,
        configuration=cell.configuration,
        verdict=place_of(comparison.verdict if comparison else None),
        comparison=comparison,
        measures={str(k): mean_measures(of_k, seed=seed).measures for k, of_k in cell.by_k.items()},
        by_lang={lang: group.measures[label] for lang, group in by_lang.items() if group.measures},
        by_tag={
            tag: {value: group.measures[label] for value, group in values.items() if group.measures}
            for tag, values in by_tag.items()
        },
        timing=cell.timing,
        rankings=cell.file,
        n_tied=queries.n_tied,
        scores=cell.scores,
        batches={name: mean_measures(queries, ids, seed=seed) for name, ids in batches.items()}
        if len(batches) > 1
        else {},
    )


def _differing(
    cells: Sequence[MeasuredConfiguration], questions: Sequence[Question], label: str, first_k: int
) -> list[Differing]:
    """Return the questions whose values spread most, those with any spread; in file order where equal."""
    if len(cells) < 2:
        return []
    rows = [[cell.by_k[first_k].values[label][question.id] for cell in cells] for question in questions]
    spreads = np.round(np.std(np.array(rows), axis=1), 9)
    order = np.argsort(-spreads, kind="stable")[:SHOWN_QUESTIONS]
    first = [
        {ranking.question_id: ranking.items[0].document_id for ranking in cell.rankings if ranking.items}
        for cell in cells
    ]
    return [
        _differing_question(questions[at], rows[at], float(spreads[at]), cells, first)
        for at in order.tolist()
        if spreads[at] > 0
    ]


def _differing_question(
    question: Question,
    values: Sequence[float],
    spread: float,
    cells: Sequence[MeasuredConfiguration],
    first: Sequence[Mapping[str, str]],
) -> Differing:
    deepest = max(cells[0].by_k)
    return Differing(
        question_id=question.id,
        question=question.question,
        lang=question.lang,
        relevant=relevant_documents(question),
        spread=spread,
        found=[
            FoundByConfiguration(
                name=cell.configuration.name,
                value=value,
                rank=cell.by_k[deepest].first_ranks.get(question.id),
                first=top.get(question.id),
            )
            for cell, value, top in zip(cells, values, first, strict=True)
        ],
    )
