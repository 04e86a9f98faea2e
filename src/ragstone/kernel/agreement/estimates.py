"""Every measure of agreement that the comparison allows, each with an interval over whole clusters."""

from collections.abc import Collection

import msgspec

from ragstone.kernel.agreement.comparison import GradeComparison
from ragstone.kernel.agreement.pairing import GradePairs
from ragstone.kernel.statistics import Clusters, Estimate, alpha_estimates, rater_estimates


class Raters(msgspec.Struct, frozen=True):
    """The answers that a judge has scored and people have graded, also those on which people are tied.

    people: the grades of each answer, one or more. judge: its score, cut where the comparison is.
    clusters: what it shares with others.
    """

    people: list[list[float]]
    judge: list[float]
    clusters: list[str]

    @property
    def together(self) -> list[list[float]]:
        """The values of each answer, people's and the judge's last."""
        return [[*grades, score] for grades, score in zip(self.people, self.judge, strict=True)]

    @property
    def known(self) -> list[float]:
        """Every value that anybody gave, ascending."""
        return sorted({value for values in self.together for value in values})


def raters_of(pairs: GradePairs, comparison: GradeComparison) -> Raters | None:
    """Return who gave what; None where no answer has two annotators, and the pairs say it all."""
    people = [human.grades for human in pairs.humans] + [human.grades for _, human in pairs.tied]
    if all(len(grades) == 1 for grades in people):
        return None
    cut = comparison.threshold
    tied = [row.score for row, _ in pairs.tied if row.score is not None]
    return Raters(
        people=people,
        judge=comparison.judge.tolist() + [score if cut is None else float(score >= cut) for score in tied],
        clusters=pairs.clusters + [human.cluster for _, human in pairs.tied],
    )


def agreement_estimates(
    comparison: GradeComparison,
    clusters: Clusters,
    raters: Raters | None = None,
    *,
    only: Collection[str] | None = None,
    seed: int,
    resamples: int,
) -> dict[str, Estimate]:
    """Return the measures by name, the most telling first, as rater_estimates does.

    only: names of the measures that are wanted, where not all are.
    raters: what each annotator gave, where that is more than comparison.human; alpha is of these answers,
    people's with the judge as one more rater.
    """
    return rater_estimates(
        comparison.human,
        comparison.judge,
        clusters,
        grades=comparison.categories,
        scores=comparison.raw,
        same_unit=comparison.same_unit,
        alphas=alphas_of(raters, judge=True, seed=seed, resamples=resamples)
        if raters and comparison.same_unit
        else None,
        only=only,
        seed=seed,
        resamples=resamples,
    )


def alphas_of(raters: Raters, *, judge: bool, seed: int, resamples: int) -> dict[str, Estimate | None]:
    """Return Krippendorff's alpha of the answers, one for each kind of distance.

    judge: with the judge as one more rater, else of people alone. Both have the same kinds, which follow
    from the values of all.
    """
    ratings = raters.together if judge else raters.people
    return alpha_estimates(ratings, raters.known, raters.clusters, seed=seed, resamples=resamples)
