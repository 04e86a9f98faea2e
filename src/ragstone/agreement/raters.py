"""Every value that each answer was given: what alpha is computed from, with and without the judge."""

import msgspec

from ragstone.agreement.comparison import Comparison
from ragstone.agreement.pairing import Pairs


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
        return [[*given, score] for given, score in zip(self.people, self.judge, strict=True)]

    @property
    def known(self) -> list[float]:
        """Every value that anybody gave, ascending."""
        return sorted({value for given in self.together for value in given})


def raters_of(pairs: Pairs, comparison: Comparison) -> Raters | None:
    """Return who gave what; None where no answer has two annotators, and the pairs say it all."""
    people = [human.grades for human in pairs.humans] + [human.grades for _, human in pairs.tied]
    if all(len(given) == 1 for given in people):
        return None
    cut = comparison.threshold
    tied = [row.score for row, _ in pairs.tied if row.score is not None]
    return Raters(
        people=people,
        judge=comparison.judge.tolist() + [score if cut is None else float(score >= cut) for score in tied],
        clusters=pairs.clusters + [human.cluster for _, human in pairs.tied],
    )
