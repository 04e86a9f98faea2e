"""A judge's verdicts and a second opinion -> points kept, lost or doubted, and each component's share."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import get_args

import msgspec
import numpy as np

from ragstone.kernel.agreement.pairing import human_scores, pair
from ragstone.kernel.errors import DataError
from ragstone.kernel.judging import MetricSummary
from ragstone.kernel.records import Answer, Judgement, Label, Question
from ragstone.kernel.runs.breakdown import is_right
from ragstone.kernel.runs.causes import (
    Caused,
    ChangePrice,
    Component,
    ComponentShare,
    Largest,
    Returned,
    SystemBlame,
)
from ragstone.kernel.statistics import mean_estimates
from ragstone.kernel.statistics.paired import holm, paired_tests

NO_VERDICT = "not judged"
COMPONENTS: tuple[Component, ...] = get_args(Component)
WITHOUT_TOOLS = tuple(name for name in COMPONENTS if name != "tools")


class CountedPoint(msgspec.Struct, frozen=True, kw_only=True):
    """One counted question. lost: as the judge says. second: whether the second opinion gives the point."""

    question_id: str
    lost: bool
    answerable: bool = True
    second: bool | None = None

    @property
    def doubted(self) -> bool:
        """Whether judge and second opinion disagree, either way."""
        return self.second is not None and self.second == self.lost


class Points(msgspec.Struct, frozen=True, kw_only=True):
    """The points of one system by the judge of `lead`.

    left_out: questions not counted, by the reason. components: those that may answer for a point, the tools
    among them where an answer of the system carries steps.
    """

    lead: MetricSummary
    counted: list[CountedPoint]
    left_out: dict[str, int]
    components: Sequence[Component] = WITHOUT_TOOLS


def points_of(
    lead: MetricSummary,
    answers: Iterable[Answer],
    judgements: Iterable[Judgement],
    questions: Mapping[str, Question],
    refused: Mapping[str, bool],
    second: Mapping[str, bool] = MappingProxyType({}),
) -> Points:
    """Return the points of one system.

    An answerable question is kept where its score is at or above the middle of the judge's scale. One that
    the corpus cannot answer is kept where the answer refuses; no second opinion is taken of that. questions:
    by id. refused: question id -> whether the system's answer refuses, where that was told. second: question
    id -> whether a second opinion says the answer is right.
    """
    verdicts = {
        row.question_id: row
        for row in judgements
        if (row.system, row.judge, row.metric, row.model)
        == (lead.system, lead.judge, lead.metric, lead.model)
    }
    counted: list[CountedPoint] = []
    left_out: Counter[str] = Counter()
    components: Sequence[Component] = WITHOUT_TOOLS
    for answer in answers:
        if answer.system != lead.system:
            continue
        if answer.steps:
            components = COMPONENTS
        name, verdict = answer.question_id, verdicts.get(answer.question_id)
        if not answerable(answer, questions.get(name)):
            if name in refused:
                counted.append(CountedPoint(question_id=name, lost=not refused[name], answerable=False))
            else:
                left_out["app_error" if answer.error else NO_VERDICT] += 1
        elif verdict is None or verdict.score is None:
            left_out[verdict.status if verdict else NO_VERDICT] += 1
        else:
            lost = not is_right(verdict.score, verdict.scale)
            counted.append(CountedPoint(question_id=name, lost=lost, second=second.get(name)))
    return Points(lead=lead, counted=counted, left_out=dict(left_out.most_common()), components=components)


def answerable(answer: Answer, question: Question | None) -> bool:
    """Return whether the corpus holds what the question asks for, as far as anybody has said."""
    is_answerable = (
        answer.answerable if question is None or question.answerable is None else question.answerable
    )
    return is_answerable is not False


def second_by_people(
    labels: Iterable[Label], judgements: Iterable[Judgement], lead: MetricSummary
) -> dict[str, bool]:
    """Return question id -> whether people say that the system's answer is right, where they say.

    Labels that are all 0 or 1 say no or yes; others are grades on the judge's scale. Of several annotators
    the median counts, and a tie says nothing. Raises DataError if no label is for an answer that this
    judge judged, and for a grade that is not on the scale.
    """
    judged = [
        row
        for row in judgements
        if (row.judge, row.metric, row.model) == (lead.judge, lead.metric, lead.model)
    ]
    humans = human_scores(labels, lead.metric)
    pairs = pair(judged, humans)
    if not pairs.labelled:
        raise DataError(
            f"no label is for an answer of this run that {lead.judge} judged ({lead.metric}). Give labels "
            "of this run's answers: the same question_id and system, and no other metric."
        )
    grades = {label for human in humans.values() for label in human.grades}
    scale = (0.0, 1.0) if grades <= {0.0, 1.0} else lead.scale
    off = [grade for grade in grades if scale and not scale[0] <= grade <= scale[1]]
    if scale and off:
        raise DataError(
            f"a label says {min(off):g}, and {lead.judge} grades from {scale[0]:g} to {scale[1]:g}. Give "
            "grades on that scale, or only 0 for wrong and 1 for right."
        )
    return {
        row.question_id: is_right(human.score, scale)
        for row, human in zip(pairs.rows, pairs.humans, strict=True)
        if row.system == lead.system and human.score is not None
    }


ALPHA = 0.05
Pair = tuple[Component, Component]


def share_out(
    points: Points,
    caused: Iterable[Caused],
    clusters: Mapping[str, str],
    *,
    second: str | None = None,
    returned: Returned | None = None,
    notes: Sequence[str] = (),
    prices: Sequence[ChangePrice] = (),
    seed: int = 0,
) -> SystemBlame:
    """Return one system's blame.

    caused: one row for each lost point of these. clusters: question id -> what it shares with others.
    """
    lead, caused_rows = points.lead, list(caused)
    of_question = {row.question_id: row for row in caused_rows}
    counted, doubted = points.counted, [point for point in points.counted if point.second is not None]
    shares = _shares(counted, of_question, clusters, seed)
    measured = _shares(doubted, of_question, clusters, seed)
    shares = [
        measured[at] if share.component == "judge" else share
        for at, share in enumerate(shares)
        if share.component in points.components
    ]
    return SystemBlame(
        system=lead.system,
        judge=lead.judge,
        metric=lead.metric,
        model=lead.model,
        n_counted=len(counted),
        n_lost=sum(point.lost for point in counted),
        left_out=points.left_out,
        shares=shares,
        causes=dict(Counter(row.cause for row in caused_rows).most_common()),
        second=second,
        n_second=len(doubted),
        n_hidden=sum(point.second is False and not point.lost for point in counted),
        n_unanswerable=sum(not point.answerable for point in counted),
        largest=_largest(shares, counted, of_question, clusters, seed),
        returned=returned,
        notes=list(notes),
        prices=list(prices),
    )


def _shares(
    points: Sequence[CountedPoint], caused: Mapping[str, Caused], clusters: Mapping[str, str], seed: int
) -> list[ComponentShare]:
    """Return the shares of these points, in the order of COMPONENTS."""
    of = [caused[point.question_id].component if point.question_id in caused else None for point in points]
    columns: dict[str, list[float]] = {
        name: [float(component == name) for component in of] for name in COMPONENTS
    }
    groups = [clusters.get(point.question_id, point.question_id) for point in points]
    estimates = mean_estimates(columns, groups, seed=seed)
    return [
        ComponentShare(component=name, n=of.count(name), share=estimates.get(name)) for name in COMPONENTS
    ]


def _largest(
    shares: Sequence[ComponentShare],
    points: Sequence[CountedPoint],
    caused: Mapping[str, Caused],
    clusters: Mapping[str, str],
    seed: int,
) -> Largest | None:
    """Return the test of the two largest; None if no component answers for a point."""
    measured = [row for row in shares if row.share is not None and row.component != "cannot tell"]
    ordered = sorted(measured, key=lambda row: -row.share.value if row.share else 0.0)
    if len(ordered) < 2 or not ordered[0].n:
        return None
    first, second = ordered[0].component, ordered[1].component
    pairs = list(combinations([row.component for row in ordered], 2))
    # Questions without a second opinion say nothing of the judge.
    doubted = [point for point in points if point.second is not None]
    alone = _p_values([pair for pair in pairs if "judge" not in pair], points, caused, clusters, seed)
    beside = _p_values([pair for pair in pairs if "judge" in pair], doubted, caused, clusters, seed)
    tests = alone | beside
    p_holm = float(holm(np.array([tests[pair] for pair in pairs]))[pairs.index((first, second))])
    return Largest(
        first=first,
        second=second,
        verdict="largest" if p_holm <= ALPHA else "cannot tell",
        p_holm=p_holm,
        n=len(doubted if "judge" in (first, second) else points),
    )


def _p_values(
    pairs: Sequence[Pair],
    points: Sequence[CountedPoint],
    caused: Mapping[str, Caused],
    clusters: Mapping[str, str],
    seed: int,
) -> dict[Pair, float]:
    """Return the p-value of each pair, the points that nobody could assign counted with its second."""
    if not pairs:
        return {}
    names = [point.question_id for point in points]
    of = [caused[name].component if name in caused else None for name in names]
    own = [[float(component == name) for name in COMPONENTS] for component in of]
    most = [[float(component in (name, "cannot tell")) for name in COMPONENTS] for component in of]
    columns = np.array([[*row, *others] for row, others in zip(own, most, strict=True)])
    places = [
        (COMPONENTS.index(first), len(COMPONENTS) + COMPONENTS.index(second)) for first, second in pairs
    ]
    tests = paired_tests(columns, places, [clusters.get(name, name) for name in names], seed=seed)
    return {pair: test.p for pair, test in zip(pairs, tests, strict=True)}
