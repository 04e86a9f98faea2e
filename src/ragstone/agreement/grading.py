"""Judgements and labels -> one report card for each judge: the room's way in."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ragstone.agreement.baselines import Hits, best_rival, constant_baseline
from ragstone.agreement.card import Baseline, HumanAgreement, ReportCard, SystemBias, grade_name
from ragstone.agreement.comparison import YES_NO, Comparison
from ragstone.agreement.estimates import agreement_estimates
from ragstone.agreement.humans import human_agreement
from ragstone.agreement.measured import NO_MODEL, JudgeId, Measured, by_judge, hits, measure
from ragstone.agreement.pairing import Pairs, human_scores
from ragstone.agreement.verdict import better_than_all, nothing_scored, one_grade_only, verdict
from ragstone.errors import DataError
from ragstone.records import Judgement, Label
from ragstone.statistics import RESAMPLES, Estimate, contingency_table, mean_estimate

FEW_CLUSTERS = 20


def report_cards(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    mapping: Mapping[float, float] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[ReportCard]:
    """Return a report card for each judge that labels speak of, in order of first appearance.

    mapping: label value -> judge score, for labels on another scale. threshold: the score from which on a
    judge says 1, for labels of 0 and 1 and a wider scale: one for all judges, or judge -> its own; judges
    that say 0 or 1 do not need it. A judge that cannot be compared grade by grade gets rank correlation
    and a note that says why.
    Raises DataError if nothing can be paired, for an answer judged or labelled twice, for a label that the
    mapping lacks, and if the labels lie off the scale of every judge.
    """
    labels, rows_of = list(labels), by_judge(judgements)
    humans = {metric: human_scores(labels, metric, mapping) for metric in {j.metric for j in rows_of}}

    def measured_in(metric: str, judge: JudgeId) -> Measured:
        cut = threshold.get(judge.judge) if isinstance(threshold, Mapping) else threshold
        return measure(judge, rows_of[judge], humans[metric], mapped=mapping is not None, threshold=cut)

    everyone = [measured_in(judge.metric, judge) for judge in rows_of]
    measured = [one for one in everyone if one.pairs.statuses or one.pairs.n_tied]
    _check(measured, [rows[0] for rows in rows_of.values()], labels)
    free = [judge for judge in rows_of if judge.model == NO_MODEL]
    paid = {one.judge.metric for one in measured if one.judge.model != NO_MODEL}
    metrics = {one.judge.metric for one in measured}
    rivals = {m: [(judge.judge, hits(measured_in(m, judge))) for judge in free] for m in paid}
    people = {m: human_agreement(humans[m].values(), seed=seed, resamples=resamples) for m in metrics}
    return [
        report_card(
            one,
            [] if one.judge.model == NO_MODEL else rivals[one.judge.metric],
            people[one.judge.metric],
            seed=seed,
            resamples=resamples,
        )
        for one in measured
    ]


def _check(measured: Sequence[Measured], judgements: Sequence[Judgement], labels: Sequence[Label]) -> None:
    """Raise DataError if no judge can be measured, or the labels lie off the scale of every one."""
    if not judgements or not labels:
        raise DataError(f"no {'labels' if judgements else 'judgements'} to compare: is this the right file?")
    if not measured:
        judged, labelled = _examples(judgements), _examples(labels)
        raise DataError(
            f"no label speaks of an answer that was judged. Judgements: {judged}. Labels: {labelled}. Use "
            "the same question ids and systems in both files, and in the labels the judge's metric or none."
        )
    compared = [(one.judge, one.comparison) for one in measured if one.comparison]
    if compared and all(comparison.off_scale for _, comparison in compared):
        judge, comparison = compared[0]
        raise DataError(f"judge {judge.judge!r}, metric {judge.metric!r}: {comparison.notes[0]}")


def _examples(rows: Sequence[Judgement] | Sequence[Label]) -> str:
    return "; ".join(
        f"question {row.question_id!r}, system {row.system!r}, metric {row.metric!r}" for row in rows[:2]
    )


def report_card(
    one: Measured,
    rivals: Sequence[tuple[str, Hits]],
    people: HumanAgreement | None,
    *,
    seed: int,
    resamples: int,
) -> ReportCard:
    """Return the report card of one judge.

    rivals: name and hits of the judges that ask no model, if this one asks one.
    people: how well annotators agree in this metric.
    """
    judge, pairs, comparison = one.judge, one.pairs, one.comparison
    agreement: dict[str, Estimate] = {}
    constant = no_model = None
    by_system: list[SystemBias] = []
    if comparison:
        agreement = agreement_estimates(comparison, pairs.clusters, seed=seed, resamples=resamples)
        constant = constant_baseline(comparison, pairs.clusters, judge.metric, seed=seed, resamples=resamples)
        by_system = _by_system(comparison, pairs, seed=seed, resamples=resamples)
        clusters = dict(zip(pairs.keys, pairs.clusters, strict=True))
        no_model = best_rival(hits(one), rivals, clusters, seed=seed, resamples=resamples)
    baselines = [baseline for baseline in (constant, no_model) if baseline]
    better, words = _conclusion(one, agreement, baselines, people)
    return ReportCard(
        judge=judge.judge,
        metric=judge.metric,
        model=judge.model,
        prompt_version=judge.prompt_version,
        n=len(pairs.keys),
        statuses=pairs.statuses,
        n_unlabelled=pairs.n_unlabelled,
        n_tied=pairs.n_tied,
        n_unjudged=pairs.n_unjudged,
        scale=one.scale,
        threshold=comparison.threshold if comparison else None,
        agreement=agreement,
        categories=comparison.categories if comparison else [],
        confusion=_confusion(comparison),
        constant=constant,
        no_model=no_model,
        humans=people,
        by_system=by_system,
        better_than_baseline=better,
        verdict=words,
        notes=_notes(comparison, pairs, agreement),
    )


def _conclusion(
    one: Measured,
    agreement: Mapping[str, Estimate],
    baselines: Sequence[Baseline],
    people: HumanAgreement | None,
) -> tuple[bool | None, str]:
    """Return whether the judge beats its baselines, and the verdict."""
    if one.comparison is None:
        return None, nothing_scored(one.pairs.statuses)
    human = one.comparison.human
    if "exact agreement" in agreement and human.min() == human.max():
        return None, one_grade_only(grade_name(one.judge.metric, float(human[0])), agreement)
    yes = grade_name(one.judge.metric, 1.0) if one.comparison.categories == [*YES_NO] else None
    return better_than_all(baselines), verdict(agreement, baselines, people, yes)


def _by_system(comparison: Comparison, pairs: Pairs, *, seed: int, resamples: int) -> list[SystemBias]:
    """Return the judge's bias for each system, in order of first appearance; empty without a common unit."""
    if not comparison.same_unit:
        return []
    places: dict[str, list[int]] = {}
    for place, system in enumerate(pairs.systems):
        places.setdefault(system, []).append(place)
    found = []
    for system, at in places.items():
        judge, human = comparison.judge[at], comparison.human[at]
        clusters = [pairs.clusters[place] for place in at]
        bias = mean_estimate(judge - human, clusters, seed=seed, resamples=resamples)
        if bias:
            judge_mean, human_mean = float(np.mean(judge)), float(np.mean(human))
            found.append(SystemBias(system=system, n=len(at), judge=judge_mean, human=human_mean, bias=bias))
    return found


def _confusion(comparison: Comparison | None) -> list[list[int]]:
    if comparison is None or not comparison.categories:
        return []
    table = contingency_table(comparison.human, comparison.judge, comparison.categories)
    return [[int(n) for n in row] for row in table]


def _notes(comparison: Comparison | None, pairs: Pairs, agreement: Mapping[str, Estimate]) -> list[str]:
    if comparison is None:
        return []
    notes = list(comparison.notes)
    if comparison.categories and "kappa" not in agreement:
        notes.append("Kappa is undefined: people and the judge gave one and the same grade throughout.")
    if "Spearman" not in agreement:
        notes.append("Spearman is undefined: people or the judge gave one grade throughout.")
    n_clusters = len(set(pairs.clusters))
    if n_clusters < FEW_CLUSTERS:
        notes.append(f"Only {n_clusters} different questions: intervals from so few are too narrow.")
    return notes
