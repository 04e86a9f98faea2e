"""Answers that people labelled twice: how many grades changed, under changed instructions or the same."""

from collections.abc import Iterable, Sequence

import msgspec

from ragstone.kernel.agreement.labels import USUAL
from ragstone.kernel.agreement.pairing import Key, human_scores
from ragstone.kernel.agreement.policies import one_policy, policy_of
from ragstone.kernel.errors import DataError, takes_rows
from ragstone.kernel.records import Label
from ragstone.kernel.statistics import Estimate, mean_estimate


class Flips(msgspec.Struct, frozen=True, kw_only=True):
    """How many answers got another grade when they were labelled again under one policy.

    policy: of the second labels; earlier: of the first; None where labels name none. n: answers with both,
    whose grades can be compared; n_flipped: those with another one. share: n_flipped / n, with its interval
    over questions. n_left_out: answers with both on which annotators tied.
    """

    policy: str | None
    earlier: str | None
    n: int
    n_flipped: int
    share: Estimate
    n_left_out: int

    @property
    def same_text(self) -> bool | None:
        """Whether both were given under the same instructions; None where one names none."""
        return self.policy == self.earlier if self.policy and self.earlier else None


@takes_rows(earlier=Label, again=Label)
def flips_of(earlier: Iterable[Label], again: Iterable[Label], metric: str) -> list[Flips]:
    """Return how many answers flipped, for each policy of the second labels, in their order.

    An annotator's second grade is held against their own first one; where no annotator gave both, the
    medians are compared. Raises DataError where no answer has both, and for first labels of two policies.
    """
    before, after = list(earlier), list(again)
    rows = [label for label in after if label.metric in (None, metric)]
    policy = one_policy(before, metric)
    results = []
    for name in dict.fromkeys(map(policy_of, rows)):
        flips = _flips(before, [row for row in rows if policy_of(row) == name], metric, (policy, name))
        results += [flips] if flips else []
    if not results:
        raise DataError(
            f"no answer has labels of {metric!r} in both files: give the first labels, and the later labels "
            "of the same answers."
        )
    return results


def flips_in(earlier: Sequence[Label], again: Sequence[Label]) -> dict[str, list[Flips]]:
    """Return flips_of each metric that the second labels name; of correctness where they name none."""
    named = [metric for metric in dict.fromkeys(label.metric for label in again) if metric]
    return {metric: flips_of(earlier, again, metric) for metric in named or [USUAL]}


def _flips(
    before: Sequence[Label], after: Sequence[Label], metric: str, policies: tuple[str | None, str | None]
) -> Flips | None:
    first, second = _by_answer(before, metric), _by_answer(after, metric)
    flipped: list[float] = []
    clusters: list[str] = []
    left_out = 0
    for key in [key for key in second if key in first]:
        names = {row.annotator for row in first[key]} & {row.annotator for row in second[key]}
        grades = [
            human_scores(
                [row for row in rows[key] if not names or row.annotator in names], metric, again=True
            )[key]
            for rows in (first, second)
        ]
        if grades[0].score is None or grades[1].score is None:
            left_out += 1
            continue
        flipped.append(float(grades[0].score != grades[1].score))
        clusters.append(grades[0].cluster)
    share = mean_estimate(flipped, clusters)
    if share is None:
        return None
    earlier, policy = policies
    return Flips(
        policy=policy,
        earlier=earlier,
        n=len(flipped),
        n_flipped=int(sum(flipped)),
        share=share,
        n_left_out=left_out,
    )


def _by_answer(labels: Iterable[Label], metric: str) -> dict[Key, list[Label]]:
    of: dict[Key, list[Label]] = {}
    for label in labels:
        if label.metric in (None, metric):
            of.setdefault((label.question_id, label.system), []).append(label)
    return of
