"""A judge against cheap baselines, answer by answer, and its verdict in words."""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np

from ragstone.kernel.agreement.card import Baseline, HumanAgreement, SystemRanking, grade_name
from ragstone.kernel.agreement.comparison import GradeComparison
from ragstone.kernel.agreement.pairing import Key
from ragstone.kernel.records import Status
from ragstone.kernel.statistics import (
    Clusters,
    Estimate,
    Floats,
    cluster_codes,
    exact_matches,
    mcnemar_p,
    mean_estimate,
)

Hits = Mapping[Key, float]
"""Answer -> 1 if a judge gave the human grade, else 0."""


def constant_baseline(
    comparison: GradeComparison, clusters: Clusters, metric: str, *, seed: int, resamples: int
) -> Baseline | None:
    """Return the rival that always gives the most frequent human grade (the lowest of several).

    Its grade is taken from the same labels, which favours it a little. None if grades cannot be compared.
    """
    if not comparison.categories:
        return None
    grades, counts = np.unique(comparison.human, return_counts=True)
    grade = float(grades[counts.argmax()])
    return _baseline(
        f"always answering '{grade_name(metric, grade, comparison.categories)}'",
        exact_matches(comparison.human, comparison.judge),
        exact_matches(comparison.human, np.full_like(comparison.human, grade)),
        clusters,
        seed=seed,
        resamples=resamples,
    )


def best_rival(
    own: Hits, rivals: Sequence[tuple[str, Hits]], clusters: Mapping[Key, str], *, seed: int, resamples: int
) -> Baseline | None:
    """Return the rival with the highest exact agreement on the answers that it shares with the judge.

    own: the judge's hits. rivals: name and hits of each. clusters: of the judge's answers. Of equal rivals
    the first; picking the best on the same labels favours it a little. None if no answer is shared.
    """
    best: tuple[float, str, Floats, list[Key]] | None = None
    for name, hits in rivals:
        keys = [key for key in own if key in hits]
        theirs = np.array([hits[key] for key in keys])
        if keys and (best is None or theirs.mean() > best[0]):
            best = float(theirs.mean()), name, theirs, keys
    if best is None:
        return None
    _, name, theirs, keys = best
    judge = np.array([own[key] for key in keys])
    return _baseline(name, judge, theirs, [clusters[key] for key in keys], seed=seed, resamples=resamples)


def _baseline(
    name: str, judge: Floats, rival: Floats, clusters: Clusters, *, seed: int, resamples: int
) -> Baseline | None:
    agreement = mean_estimate(rival, clusters, seed=seed, resamples=resamples)
    difference = mean_estimate(judge - rival, clusters, seed=seed, resamples=resamples, proportion=False)
    if agreement is None or difference is None:
        return None
    return Baseline(
        name=name,
        n=len(judge),
        exact_agreement=agreement,
        judge=float(judge.mean()),
        difference=difference,
        better=_better(difference, judge - rival, clusters),
    )


def _better(difference: Estimate, differences: Floats, clusters: Clusters) -> bool | None:
    """Return whether the interval of the difference lies above 0.

    Where every answer tells the same of the two there is no interval: then McNemar's exact test decides, with
    each cluster counted once, at the same level.
    """
    if not differences.any():
        return False
    if difference.low is None or difference.high is None:
        n = len(np.unique(cluster_codes(clusters, len(differences))))
        return None if mcnemar_p(n, 0) > 1 - difference.level else bool(difference.value > 0)
    if difference.low <= 0 <= difference.high:
        return None
    return difference.low > 0


def better_than_all(baselines: Sequence[Baseline]) -> bool | None:
    """Return whether the judge beats every baseline; None if that cannot be told, or there is none."""
    answers = [baseline.better for baseline in baselines]
    if False in answers:
        return False
    return None if None in answers or not answers else True


def verdict(
    agreement: Mapping[str, Estimate],
    baselines: Sequence[Baseline],
    humans: HumanAgreement | None,
    yes: str | None,
    ranking: SystemRanking | None = None,
) -> str:
    """Return whether the judge is worth having, and the numbers that say so.

    baselines: those that it was compared with; empty where grades could not be compared, and then the
    verdict speaks of the order of the answers only. yes: what grade 1 is called if grades are 0 and 1.
    """
    if "exact agreement" not in agreement:
        leaning = _leaning(agreement.get("signed error"), yes)
        sentences = [_on_order(agreement.get("Spearman")), leaning, _order(ranking), _people(humans)]
        return " ".join(text for text in sentences if text)
    exact = agreement["exact agreement"]
    sentences = [f"{_headline(baselines)}: it agrees with people on {_share(exact)} of {exact.n:,} answers"]
    sentences[0] += "".join(f", {_rival(baseline)}" for baseline in baselines) + "."
    sentences += [_leaning(agreement.get("signed error"), yes), _order(ranking), _people(humans)]
    return " ".join(text for text in sentences if text)


def nothing_scored(statuses: Mapping[Status, int], n_tuned: int = 0) -> str:
    """Return the verdict on a judge none of whose judgements can be compared."""
    others = ", ".join(f"{n:,} {status}" for status, n in statuses.items())
    if n_tuned and not others:
        others = f"{n_tuned:,} left out: the judge was tuned on them"
    return f"Cannot tell: not one labelled answer has a score to compare ({others or 'all tied'})."


def one_grade_only(grade: str, agreement: Mapping[str, Estimate]) -> str:
    """Return the verdict where people gave every answer the same grade."""
    exact = agreement["exact agreement"]
    return (
        f"Cannot tell: every label is '{grade}', and such labels cannot tell a judge from a constant answer. "
        f"It agrees with people on {_share(exact)} of {exact.n:,} answers."
    )


def _headline(baselines: Sequence[Baseline]) -> str:
    beaten = [baseline.name for baseline in baselines if baseline.better]
    worse = [baseline.name for baseline in baselines if baseline.better is False]
    open_ = [baseline.name for baseline in baselines if baseline.better is None]
    if worse:
        return f"No better than {' and '.join(worse)}"
    if not open_:
        return f"Better than {' and than '.join(beaten)}"
    untold = f"annot tell whether it is better than {' or '.join(open_)}"
    return f"Better than {' and '.join(beaten)}, but c{untold}" if beaten else f"C{untold}"


def _rival(baseline: Baseline) -> str:
    """Return the rival's agreement and the paired difference, in points of percent."""
    gap = baseline.difference
    text = f"{baseline.name} on {_percent(baseline.exact_agreement.value)}"
    if gap.low is None or gap.high is None:
        return text
    low, high = _points(gap.low), _points(gap.high)
    return f"{text} (difference {_points(gap.value)} points, {gap.level * 100:g} % interval {low} to {high})"


def _share(estimate: Estimate) -> str:
    value = _percent(estimate.value)
    if estimate.low is None or estimate.high is None:
        return value
    low, high = _percent(estimate.low), _percent(estimate.high)
    return f"{value} ({estimate.level * 100:g} % interval {low} to {high})"


def _leaning(error: Estimate | None, yes: str | None) -> str:
    if error is None or error.low is None or error.high is None or error.low <= 0 <= error.high:
        return ""
    lenient = error.value > 0
    word = "Lenient" if lenient else "Harsh"
    if yes:
        often = "more" if lenient else "less"
        return f"{word}: it says '{yes}' {often} often than people, by {100 * abs(error.value):.1f} points."
    side = "above" if lenient else "below"
    return f"{word}: its grades lie {abs(error.value):.2f} {side} people's on average."


def _order(ranking: SystemRanking | None) -> str:
    """Return what becomes of people's order: a pair that the judge ties is neither kept nor reversed."""
    if ranking is None:
        return ""
    n, n_reversed = len(ranking.by_people), len(ranking.reversals)
    everyone = "both systems" if n == 2 else f"all {n} systems"
    if _all_tied(ranking.tied_by_judge, n):
        return f"It gives {everyone} the same mean, so it ranks none."
    if _all_tied(ranking.tied_by_people, n):
        return f"People give {everyone} the same mean, so there is no order to compare."
    told_apart = {*combinations(sorted(ranking.by_people), 2)} - _pairs(ranking.tied_by_people)
    n_tied = len(told_apart & _pairs(ranking.tied_by_judge))
    if not n_reversed and not n_tied and not ranking.tied_by_people:
        return f"It puts the {n} systems in people's order."
    pairs = f"{len(told_apart)} pair{'s' * (len(told_apart) > 1)} of systems"
    pairs += " that people tell apart" if ranking.tied_by_people else ""
    if not n_reversed and not n_tied:
        return f"It keeps people's order in {'all ' * (len(told_apart) > 1)}{pairs}."
    turned = [f"reverses people's order in {n_reversed}"] if n_reversed else []
    tied = [f"gives the same mean to both systems in {n_tied}"] if n_tied else []
    first, *second = [*turned, *tied]
    return f"It {first} of {pairs}{''.join(f', and {other}' for other in second)}."


def _all_tied(groups: Sequence[Sequence[str]], n: int) -> bool:
    return any(len(group) == n for group in groups)


def _pairs(groups: Sequence[Sequence[str]]) -> set[tuple[str, str]]:
    return {(a, b) for group in groups for a, b in combinations(sorted(group), 2)}


def _people(humans: HumanAgreement | None) -> str:
    if humans is None:
        return ""
    return (
        f"People agree with each other on {_share(humans.exact_agreement)} of {humans.n_answers:,} answers."
    )


def _on_order(spearman: Estimate | None) -> str:
    cannot = "Cannot tell how often it agrees with people, see the notes"
    if spearman is None:
        return f"{cannot}; its scores or the labels are all the same."
    if spearman.low is None or spearman.high is None:
        return f"{cannot}; rank correlation with people {_signed(spearman.value)}."
    rank = f"Spearman {_signed(spearman.value)}, {spearman.level * 100:g} % interval "
    rank += f"{_signed(spearman.low)} to {_signed(spearman.high)}"
    if spearman.low > 0:
        return f"{cannot}; its scores rise with people's ({rank})."
    if spearman.high < 0:
        return f"{cannot}; its scores fall where people's rise ({rank})."
    return f"{cannot}; nor whether its scores rise with people's at all ({rank})."


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")
