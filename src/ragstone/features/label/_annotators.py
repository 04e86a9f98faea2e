"""How well annotators agree, and the answers on which they differ."""

from collections.abc import Iterable, Sequence
from itertools import combinations

import msgspec
import numpy as np

from ragstone.kernel.agreement.pairing import Key, human_scores, is_adjudicated
from ragstone.kernel.records import Label
from ragstone.kernel.statistics import (
    MAX_GRADES,
    Estimate,
    alpha_estimates,
    exact_matches,
    kappa_estimate,
    mean_estimate,
    usual_kappa,
)

PAGE_RESAMPLES = 2000  # a page is loaded often, and its intervals need no third digit


class PairAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """Two annotators on the answers that both have labelled.

    n: those answers. exact: the share with the same grade. kappa: Cohen's; unweighted for two grades, with
    quadratic weights for more (on the grades' real distances), None where it is undefined or grades are too
    many to count. kind: its name.
    """

    first: str
    second: str
    n: int
    exact: Estimate
    kappa: Estimate | None
    kind: str


class AnnotatorAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How well annotators agree: pairs, in the order of their names, and Krippendorff's alpha of them all.

    n_answers: answers with labels of two annotators or more. n_differing: those of them on which not all gave
    the same grade. alpha: by name; for more than two grades nominal, ordinal and interval.
    """

    n_answers: int
    n_differing: int
    pairs: list[PairAgreement]
    alpha: dict[str, Estimate]


def annotator_agreement(
    labels: Iterable[Label],
    metric: str,
    grades: Sequence[float] = (),
    *,
    seed: int = 0,
    resamples: int = PAGE_RESAMPLES,
) -> AnnotatorAgreement:
    """Return the agreement between annotators in a metric; adjudicators' labels are no annotator's.

    grades: of the scale, [] for those that were given. Intervals are clustered by question.
    """
    humans = human_scores((label for label in labels if not is_adjudicated(label)), metric, again=True)
    several = [human for human in humans.values() if len(human.grades) > 1]
    by_pair: dict[tuple[str, str], list[tuple[float, float, str]]] = {}
    for human in several:
        named = sorted((row.annotator or "", row.score) for row in human.labels)
        for (a, of_a), (b, of_b) in combinations(named, 2):
            by_pair.setdefault((a, b), []).append((of_a, of_b, human.cluster))
    known = sorted({*grades, *(grade for human in several for grade in human.grades)})
    clusters = [human.cluster for human in several]
    alphas = (
        alpha_estimates([human.grades for human in several], known, clusters, seed=seed, resamples=resamples)
        if several
        else {}
    )
    return AnnotatorAgreement(
        n_answers=len(several),
        n_differing=sum(len(set(human.grades)) > 1 for human in several),
        pairs=[
            _pair(names, rows, known, seed=seed, resamples=resamples)
            for names, rows in sorted(by_pair.items())
        ],
        alpha={name: alpha for name, alpha in alphas.items() if alpha},
    )


def _pair(
    names: tuple[str, str],
    rows: Sequence[tuple[float, float, str]],
    grades: Sequence[float],
    *,
    seed: int,
    resamples: int,
) -> PairAgreement:
    first, second = np.array([a for a, _, _ in rows]), np.array([b for _, b, _ in rows])
    clusters = [cluster for _, _, cluster in rows]
    exact = mean_estimate(exact_matches(first, second), clusters, seed=seed, resamples=resamples)
    assert exact is not None, "there are rows"
    kind, kappa = usual_kappa(grades), None
    if len(grades) <= MAX_GRADES:
        kappa = kappa_estimate(first, second, grades, clusters, kind=kind, seed=seed, resamples=resamples)
    return PairAgreement(first=names[0], second=names[1], n=len(rows), exact=exact, kappa=kappa, kind=kind)


def differing(labels: Iterable[Label], metric: str) -> dict[Key, list[Label]]:
    """Return the answers on which annotators gave different grades, with their labels and an adjudicator's.

    In the order of the labels; an adjudicator's label is the last of its answer.
    """
    of: dict[Key, list[Label]] = {}
    for label in labels:
        if label.metric in (None, metric):
            of.setdefault((label.question_id, label.system), []).append(label)
    return {
        key: sorted(rows, key=is_adjudicated)
        for key, rows in of.items()
        if len({row.score for row in rows if not is_adjudicated(row)}) > 1
    }
