"""A judge's verdicts and a second opinion -> the points of one system: kept, lost, or doubted."""

from collections import Counter
from collections.abc import Iterable, Mapping
from types import MappingProxyType

import msgspec

from ragstone.agreement.pairing import human_scores, pair
from ragstone.errors import DataError
from ragstone.judging import MetricSummary
from ragstone.records import Answer, Judgement, Label, Question

NO_VERDICT = "not judged"


class Point(msgspec.Struct, frozen=True, kw_only=True):
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
    """The points of one system by the judge of `lead`. left_out: questions not counted, by the reason."""

    lead: MetricSummary
    counted: list[Point]
    left_out: dict[str, int]


def is_right(score: float, scale: tuple[float, float] | None) -> bool:
    """Return whether a score is at or above the middle of its scale."""
    return score >= (sum(scale) / 2 if scale else 0.5)


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
    counted: list[Point] = []
    left_out: Counter[str] = Counter()
    for answer in answers:
        if answer.system != lead.system:
            continue
        name, verdict = answer.question_id, verdicts.get(answer.question_id)
        if not answerable(answer, questions.get(name)):
            if name in refused:
                counted.append(Point(question_id=name, lost=not refused[name], answerable=False))
            else:
                left_out["app_error" if answer.error else NO_VERDICT] += 1
        elif verdict is None or verdict.score is None:
            left_out[verdict.status if verdict else NO_VERDICT] += 1
        else:
            lost = not is_right(verdict.score, verdict.scale)
            counted.append(Point(question_id=name, lost=lost, second=second.get(name)))
    return Points(lead=lead, counted=counted, left_out=dict(left_out.most_common()))


def answerable(answer: Answer, question: Question | None) -> bool:
    """Return whether the corpus holds what the question asks for, as far as anybody has said."""
    said = answer.answerable if question is None or question.answerable is None else question.answerable
    return said is not False


def second_by_people(
    labels: Iterable[Label], judgements: Iterable[Judgement], lead: MetricSummary
) -> dict[str, bool]:
    """Return question id -> whether people say that the system's answer is right, where they say.

    Labels that are all 0 or 1 say no or yes; others are grades on the judge's scale. Of several annotators
    the median counts, and a tie says nothing. Raises DataError if no label speaks of an answer that this
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
            f"none of the labels is of an answer of this run that {lead.judge} judged ({lead.metric}). Give "
            "labels of its own answers: the same question_id and system, and no other metric."
        )
    grades = {label for human in humans.values() for label in human.grades}
    scale = (0.0, 1.0) if grades <= {0.0, 1.0} else lead.scale
    off = [grade for grade in grades if scale and not scale[0] <= grade <= scale[1]]
    if scale and off:
        raise DataError(
            f"a label says {min(off):g}, and {lead.judge} grades from {scale[0]:g} to {scale[1]:g}. Give "
            "grades on that scale, or 0 for wrong and 1 for right throughout."
        )
    return {
        row.question_id: is_right(human.score, scale)
        for row, human in zip(pairs.rows, pairs.humans, strict=True)
        if row.system == lead.system and human.score is not None
    }
