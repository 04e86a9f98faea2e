"""What people would say of all answers: a judge's means, corrected by labels of a random sample of them."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.agreement.comparison import (
    GradeComparison,
    JudgeId,
    MeasuredJudge,
    by_judge,
    check_thresholds,
    measure,
    threshold_of,
)
from ragstone.kernel.agreement.corrected_mean import FEW_LABELS, CorrectedMean, sentence_of
from ragstone.kernel.agreement.pairing import Human, human_scores, inclusion_of, is_tuned
from ragstone.kernel.agreement.policies import labels_under, mixed_policy_note, without_voluntary
from ragstone.kernel.errors import plural, takes_rows
from ragstone.kernel.judging.conversation import cluster_of
from ragstone.kernel.judging.summary import is_category
from ragstone.kernel.judging.tuned import made_with
from ragstone.kernel.records import YES_NO, Judgement, Label, split_repeat
from ragstone.kernel.statistics import RESAMPLES, Floats, is_yes_no, mean_estimate, prediction_powered_mean
from ragstone.kernel.tables import Rows

Bounds = tuple[float, float] | None


class SystemScores(msgspec.Struct, frozen=True, eq=False):
    """The scores of one system by one judge: human and judge of labelled answers, judge alone of others.

    clusters: of the labelled answers, then of the others. shares: of the labelled answers in a mean, where
    they were drawn with unequal chances.
    """

    human: Floats
    judge: Floats
    others: Floats
    clusters: list[str]
    shares: Floats | None = None


@takes_rows(judgements=Judgement, labels=Label)
def corrected_means(
    judgements: Iterable[Judgement],
    labels: Iterable[Label],
    *,
    mapping: Mapping[float, float] | None = None,
    threshold: float | Mapping[str, float] | None = None,
    clusters: Mapping[str, str] | None = None,
    policy: str | None = None,
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> Rows[CorrectedMean]:
    """Return the corrected means, of each judge and system with some answers that have a label and others.

    The labels of a system must be of a random sample of its answers, drawn with equal chances or with those
    that are given as `inclusion` in their metadata; the means account for them. Labels of answers that
    users chose themselves (`voluntary`) do not count. They are paired with
    judgements, and mapping, threshold and policy are understood, as in report_cards. The mean speaks of the
    answers that the judge has scored; labels of others are left out. So are, labelled or not, answers to
    questions that the judge was tuned on, and answers on which annotators tied. clusters: question id -> what
    it shares with other questions, such as their document; without it a question stands for itself. None of a
    judge whose scores only number its labels (see judging.summary.is_category). Raises DataError as
    report_cards does for labels that cannot be paired, policies, thresholds and mappings; no label at all
    gives no means.
    """
    labels, rows_of = without_voluntary(labels_under(labels, policy)), by_judge(judgements)
    check_thresholds(threshold, rows_of)
    humans = {metric: human_scores(labels, metric, mapping) for metric in {judge.metric for judge in rows_of}}
    every: Rows[CorrectedMean] = Rows((), CorrectedMean)
    for judge, rows in rows_of.items():
        if any(map(is_category, rows)):
            continue
        cut = threshold_of(judge, threshold, rows)
        measured = measure(judge, rows, humans[judge.metric], mapped=mapping is not None, threshold=cut)
        if measured.comparison is None:
            continue
        bounds = bounds_of_people(measured, measured.comparison, mapped=mapping is not None)
        means = [
            _mean(judge, system, scores, measured.comparison, bounds, seed=seed, resamples=resamples)
            for system, scores in _by_system(measured, measured.comparison, rows, clusters or {}).items()
            if scores.human.size and scores.others.size
        ]
        every += [
            msgspec.structs.replace(
                mean, sentence=sentence_of(mean), notes=_notes(mean, measured, rows, first=number == 0)
            )
            for number, mean in enumerate(means)
        ]
    return every


def bounds_of_people(judge: MeasuredJudge, comparison: GradeComparison, *, mapped: bool) -> Bounds:
    """Return the lowest and the highest grade that people can give, None if nobody knows."""
    human, scale = comparison.human, judge.scale
    if not mapped and is_yes_no(human):
        return YES_NO
    if scale and scale[0] <= human.min() and human.max() <= scale[1]:
        return scale
    return (float(human.min()), float(human.max())) if human.min() < human.max() else None


def _by_system(
    judge: MeasuredJudge, comparison: GradeComparison, rows: Sequence[Judgement], clusters: Mapping[str, str]
) -> dict[str, SystemScores]:
    """Return the scores of each system, repeats of its answers with it, in the order of the judgements."""
    pairs, cut = judge.pairs, comparison.threshold
    places: dict[str, list[int]] = {split_repeat(row.system)[0]: [] for row in rows}
    shared: dict[str, str] = {}  # question id -> what its answers, labelled or not, have in common
    for position, (name, system) in enumerate(pairs.keys):
        places[split_repeat(system)[0]].append(position)
        shared[name] = clusters.get(name, pairs.clusters[position])
    others: dict[str, list[tuple[str, float]]] = {system: [] for system in places}
    for row in rows:
        known = (row.question_id, row.system) in pairs.labelled
        if row.score is not None and not known and not is_tuned(row):
            cluster = shared.get(row.question_id) or cluster_of(row, clusters)
            score = row.score if cut is None else float(row.score >= cut)
            others[split_repeat(row.system)[0]].append((cluster, score))
    return {
        system: SystemScores(
            human=comparison.human[at],
            judge=comparison.judge[at],
            others=np.array([score for _, score in others[system]], dtype=np.float64),
            clusters=[shared[pairs.keys[position][0]] for position in at]
            + [cluster for cluster, _ in others[system]],
            shares=shares_of([pairs.humans[position] for position in at]),
        )
        for system, at in places.items()
    }


def n_drawn_unequally(humans: Sequence[Human]) -> int:
    """Return how many of these answers say with which chance they were drawn; 0 where it is one for all."""
    chances = [{inclusion_of(label) for label in human.labels} for human in humans]
    return sum(own != {None} for own in chances) if len(set().union(*chances)) > 1 else 0


def shares_of(humans: Sequence[Human]) -> Floats | None:
    """Return what part each labelled answer has in a mean over all, None where all were drawn with one
    chance.

    In the sample of one draw it goes with 1 / chance. Of several draws (labels without a chance are one,
    those of each `queue` another) each gets the weight of as many answers as it is worth, (sum of parts)² /
    sum of parts²; that depends on the chances alone, so any draw still speaks for all answers.
    """
    draws: dict[str | None, dict[int, float]] = {}
    for at, human in enumerate(humans):
        for label in human.labels:
            chance = inclusion_of(label)
            queue = None if chance is None else str((label.metadata or {}).get("queue", ""))
            draws.setdefault(queue, {})[at] = 1.0 if chance is None else 1 / chance
    if draws.keys() <= {None}:
        return None
    shares = np.zeros(len(humans))
    for parts in draws.values():
        odds = np.array([*parts.values()])
        shares[[*parts]] += odds / odds.sum() * (odds.sum() ** 2 / (odds @ odds))
    return np.asarray(shares / shares.sum())


def _mean(
    judge: JudgeId,
    system: str,
    scores: SystemScores,
    comparison: GradeComparison,
    bounds: Bounds,
    *,
    seed: int,
    resamples: int,
) -> CorrectedMean:
    """Return the mean, without its words."""
    every = np.concatenate([scores.judge, scores.others])
    yes_no = comparison.categories == [*YES_NO]  # else a scale on which all happen to be 0 or 1
    raw = mean_estimate(every, scores.clusters, seed=seed, resamples=resamples, proportion=yes_no)
    assert raw is not None, "there are rows"
    estimate = prediction_powered_mean(
        scores.human, scores.judge, scores.others, scores.clusters, shares=scores.shares, bounds=bounds
    )
    return CorrectedMean(
        judge=judge.judge,
        metric=judge.metric,
        model=judge.model,
        prompt_version=judge.prompt_version,
        system=system,
        raw=raw,
        corrected=estimate.corrected,
        human=estimate.human,
        same_unit=comparison.same_unit,
        threshold=comparison.threshold,
        n_labelled=scores.human.size,
        n_rows=every.size,
        weight=estimate.weight,
        worth=estimate.worth,
        to_halve=estimate.to_halve,
        sentence="",
        notes=[],
    )


def _notes(mean: CorrectedMean, judge: MeasuredJudge, rows: Sequence[Judgement], *, first: bool) -> list[str]:
    """Return what to know before trusting a mean; first: of its judge, so that it speaks for all of them."""
    notes, whose = [], f"{mean.judge} of {mean.system}"
    if mean.n_labelled < FEW_LABELS:
        labels = plural(mean.n_labelled, "label")
        notes.append(f"{whose}: only {labels}, so the interval is rough.")
    pairs = list(zip(judge.pairs.keys, judge.pairs.humans, strict=True))
    if n_drawn_unequally([human for (_, name), human in pairs if split_repeat(name)[0] == mean.system]):
        notes.append(
            f"{whose}: the labelled answers were drawn with unequal chances; the corrected mean and the "
            "mean of the labels alone account for that."
        )
    notes += [
        f"{whose}: {note}"
        for note in mixed_policy_note(
            label
            for (_, name), human in pairs
            if split_repeat(name)[0] == mean.system
            for label in human.labels
        )
    ]
    ours = [row for row in rows if split_repeat(row.system)[0] == mean.system]
    tuned = sum(map(is_tuned, ours))
    labelled = [
        row for row in ours if (row.question_id, row.system) in judge.pairs.labelled and not is_tuned(row)
    ]
    failed = sum(row.score is None for row in labelled)
    reasons = {
        ("labelled answer", "that the judge could not score"): failed,
        ("answer", "on which annotators tied"): len(labelled) - failed - mean.n_labelled,
        ("answer", made_with()): tuned,
    }
    left_out = [f"{plural(n, noun)} {reason}" for (noun, reason), n in reasons.items() if n]
    if left_out:
        notes.append(f"{whose}, left out: {', '.join(left_out)}.")
    named = {split_repeat(system)[0] for _, system in judge.pairs.labelled}
    systems = dict.fromkeys(split_repeat(row.system)[0] for row in rows)
    bare = [system for system in systems if system not in named]
    if first and bare:
        notes.append(
            f"There are no labels for {', '.join(bare)}: what {mean.judge} gives there is not corrected, "
            "because it may err differently on another system's answers."
        )
    return notes
