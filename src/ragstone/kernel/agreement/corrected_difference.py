"""The difference of two systems that people would see: a judge's, corrected by labels of both's answers."""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from ragstone.kernel.agreement.comparison import (
    JudgeId,
    MeasuredJudge,
    Threshold,
    measure,
    threshold_of,
)
from ragstone.kernel.agreement.corrected import bounds_of_people, shares_of
from ragstone.kernel.agreement.corrected_mean import FEW_LABELS
from ragstone.kernel.agreement.pairing import Human, human_scores, inclusion_of, is_tuned
from ragstone.kernel.agreement.policies import mixed_policy_note, one_policy, without_voluntary
from ragstone.kernel.decimals import scale_text
from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.judging.conversation import cluster_of
from ragstone.kernel.records import Judgement, Label
from ragstone.kernel.statistics import Estimate, Floats
from ragstone.kernel.statistics.ppi_difference import prediction_powered_difference

SIDES = ("A", "B")
Both = tuple[Sequence[Label], Sequence[Label]]
Draw = tuple[str, float] | None
"""A queue and the chance with which it drew; None of draws in which all had the same chance."""


class LabelledDifferences(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """B minus A by one judge, question by question: of those with labels of both answers, and of the others.

    human, judge: (n,), of the labelled questions, whose ids are `ids`; others: (m,), the judge's of the
    rest. clusters: n + m. shares: as of SystemScores. scale: the lowest and the highest grade of people,
    whose unit human has. same_unit: so has the judge. threshold: what its scores were cut at. n_tied,
    n_single: questions left out because annotators tied, and those with a label of one of the two answers,
    which count as not labelled. policies: a note where some labels name their instructions. errors: (n, 2),
    judge minus people, of A's answers and of B's.
    """

    human: Floats
    judge: Floats
    others: Floats
    ids: list[str]
    clusters: list[str]
    shares: Floats | None
    scale: tuple[float, float]
    same_unit: bool
    threshold: float | None
    n_tied: int
    n_single: int
    errors: Floats
    policies: list[str] = []

    def corrected(self) -> "CorrectedDifference":
        """Return what the labels make of the judge's differences."""
        width = self.scale[1] - self.scale[0]
        powered = prediction_powered_difference(
            self.human,
            self.judge,
            self.others,
            self.clusters,
            width=width,
            shares=self.shares,
        )
        n = self.human.size
        return CorrectedDifference(
            corrected=powered.corrected,
            human=powered.human,
            p=powered.p,
            p_holm=powered.p,
            scale=self.scale,
            same_unit=self.same_unit,
            threshold=self.threshold,
            n_labelled=n,
            n_rows=len(self.clusters),
            n_differ=int(np.count_nonzero(self.human)),
            flattery=_flattery(self, width) if self.same_unit else None,
            weight=powered.weight,
            worth=powered.worth,
            to_halve=powered.to_halve,
            to_decide=powered.to_decide,
            notes=_notes(self, is_known=powered.corrected.low is not None),
        )


class CorrectedDifference(msgspec.Struct, frozen=True, kw_only=True):
    """What people would say of B against A: a judge's difference, its error taken out by labels of pairs.

    corrected: prediction-powered, from judge and labels; human: from the labels alone; both in the unit of
    people's `scale`. p: of a true difference of 0, that of corrected; p_holm: after Holm's correction,
    where several are tested together. n_labelled: questions with a label of both answers; n_rows: all that
    corrected speaks of; n_differ: labelled questions whose two answers people score otherwise. flattery:
    how much more the judge gives B than A beyond what people give, None in another unit. weight, worth,
    to_halve, to_decide: as of PoweredDifference, in labelled pairs. notes: what to know before relying on
    it.
    """

    corrected: Estimate
    human: Estimate
    p: float | None
    p_holm: float | None = None
    scale: tuple[float, float]
    same_unit: bool
    threshold: float | None
    n_labelled: int
    n_rows: int
    n_differ: int
    flattery: Estimate | None
    weight: float
    worth: float
    to_halve: int | None
    to_decide: int | None
    notes: list[str] = []


def corrected_difference(
    a: Iterable[Judgement],
    b: Iterable[Judgement],
    labels: Both,
    *,
    mapping: Mapping[float, float] | None = None,
    threshold: Threshold = None,
    clusters: Mapping[str, str] | None = None,
) -> CorrectedDifference | None:
    """Return the difference of two systems that people would see; None where no question has labels of both.

    a, b, labels, mapping, threshold, clusters: see labelled_differences.
    """
    differences = labelled_differences(a, b, labels, mapping=mapping, threshold=threshold, clusters=clusters)
    return None if differences is None else differences.corrected()


def labelled_differences(
    a: Iterable[Judgement],
    b: Iterable[Judgement],
    labels: Both,
    *,
    mapping: Mapping[float, float] | None = None,
    threshold: Threshold = None,
    clusters: Mapping[str, str] | None = None,
) -> LabelledDifferences | None:
    """Return the differences of the questions that one judge has scored in both systems.

    a, b: judgements of one judge, of one system each. labels: those of A's answers and those of B's, of any
    metric; they must be of a random sample of the questions, drawn with equal chances or with those that
    stand as `inclusion` in the metadata of both labels of a pair. mapping, threshold: as of
    corrected_means. clusters: question id -> what it shares with others. None where no question has a label
    of both answers. Raises DataError as report_cards does, and for a pair whose answers were drawn apart,
    with chances of their own.
    """
    sides = [
        {row.question_id: msgspec.structs.replace(row, system=side) for row in rows}
        for side, rows in zip(SIDES, (a, b), strict=True)
    ]
    rows = [row for side in sides for row in side.values()]
    if not rows:
        return None
    judge = JudgeId(rows[0].judge, rows[0].metric, rows[0].model, rows[0].prompt_version)
    one_policy([*labels[0], *labels[1]], judge.metric)
    humans = {
        (name, side): human
        for side, of_side in zip(SIDES, labels, strict=True)
        for (name, _), human in human_scores(without_voluntary(of_side), judge.metric, mapping).items()
    }
    cut = threshold_of(judge, threshold, rows)
    measured = measure(judge, rows, humans, mapped=mapping is not None, threshold=cut)
    if measured.comparison is None:
        return None
    scale = bounds_of_people(measured, measured.comparison, mapped=mapping is not None)
    if scale is None or scale[0] == scale[1]:
        return None
    return _differences(measured, sides, clusters or {}, scale)


def _differences(
    measured: MeasuredJudge,
    sides: Sequence[Mapping[str, Judgement]],
    clusters: Mapping[str, str],
    scale: tuple[float, float],
) -> LabelledDifferences | None:
    comparison, pairs = measured.comparison, measured.pairs
    assert comparison is not None, "there are pairs"
    both = _scored_twice(sides)
    at = {key: position for position, key in enumerate(pairs.keys)}
    n_labels = {name: sum((name, side) in pairs.labelled for side in SIDES) for name in both}
    labelled = [name for name in both if all((name, side) in at for side in SIDES)]
    if not labelled:
        return None
    others = [name for name in both if n_labels[name] < len(SIDES)]
    firsts, seconds = ([at[name, side] for name in labelled] for side in SIDES)
    cut = comparison.threshold
    scores = np.array([both[name] for name in others], dtype=np.float64).reshape(-1, len(SIDES))
    return LabelledDifferences(
        human=comparison.human[seconds] - comparison.human[firsts],
        judge=comparison.judge[seconds] - comparison.judge[firsts],
        others=np.diff(scores if cut is None else (scores >= cut).astype(np.float64))[:, 0],
        ids=labelled,
        clusters=[cluster_of(sides[0][name], clusters) for name in [*labelled, *others]],
        shares=shares_of([_drawn(*(pairs.humans[at[name, side]] for side in SIDES)) for name in labelled]),
        scale=scale,
        same_unit=comparison.same_unit,
        threshold=cut,
        n_tied=len(both) - len(labelled) - len(others),
        n_single=sum(n_labels[name] == 1 for name in others),
        policies=mixed_policy_note(
            label for name in labelled for side in SIDES for label in pairs.humans[at[name, side]].labels
        ),
        errors=np.column_stack([comparison.judge[of] - comparison.human[of] for of in (firsts, seconds)]),
    )


def _scored_twice(sides: Sequence[Mapping[str, Judgement]]) -> dict[str, tuple[float, float]]:
    """Return both scores of each question that has them and that the judge was not made with."""
    scores: dict[str, tuple[float, float]] = {}
    for name, first in sides[0].items():
        second = sides[1].get(name)
        if second is None or first.score is None or second.score is None:
            continue
        if not (is_tuned(first) or is_tuned(second)):
            scores[name] = (first.score, second.score)
    return scores


def _drawn(first: Human, second: Human) -> Human:
    """Return what says with which chance a pair was drawn: the labels of the draws that hold both answers."""
    common = {*map(_draw, first.labels)} & {*map(_draw, second.labels)}
    if not common:
        label = first.labels[0]
        raise DataError(
            f"question {label.question_id!r}: its two answers were drawn separately, with different chances "
            "(`inclusion`), so the chance of the pair is unknown. Label pairs drawn by `ragstone label A B "
            "--compare`."
        )
    return msgspec.structs.replace(first, labels=[label for label in first.labels if _draw(label) in common])


def _draw(label: Label) -> Draw:
    chance = inclusion_of(label)
    return None if chance is None else (str((label.metadata or {}).get("queue", "")), chance)


def _flattery(differences: LabelledDifferences, width: float) -> Estimate:
    """Return how much the judge's differences exceed people's; no judge helps there."""
    n = differences.human.size
    return prediction_powered_difference(
        differences.judge - differences.human,
        np.zeros(n),
        [],
        differences.clusters[:n],
        width=width,
        shares=differences.shares,
    ).human


def _notes(differences: LabelledDifferences, *, is_known: bool) -> list[str]:
    notes = [*differences.policies]
    if is_known and differences.human.size < FEW_LABELS:
        notes.append(f"Only {plural(differences.human.size, 'labelled pair')}, so the interval is rough.")
    if differences.shares is not None and len(np.unique(differences.shares)) > 1:
        notes.append(
            "The labelled pairs were drawn with unequal chances; the corrected difference accounts for that."
        )
    if differences.n_single:
        notes.append(
            f"{plural(differences.n_single, 'question')} with a label of only one of the two answers: not "
            "counted as labelled."
        )
    if differences.n_tied:
        notes.append(f"{plural(differences.n_tied, 'question')} on which annotators tied: left out.")
    if not differences.same_unit:
        notes.append(
            f"The labels go from {scale_text(*differences.scale)}, and nothing says that they are in the "
            "judge's unit: the corrected difference is in the labels'. Use a mapping (--map) to place them "
            "on the judge's scale."
        )
    return notes
