"""Judgements of a draft and of the version before, beside people's labels -> what changed, and which way."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from ragstone.agreement.bench.footing import choose_measure, worths
from ragstone.agreement.card import ReportCard
from ragstone.agreement.comparison import Comparison
from ragstone.agreement.developing.development import Change, Move
from ragstone.agreement.grading import report_card
from ragstone.agreement.measured import JudgeId, Measured, measure
from ragstone.agreement.pairing import Human, Key, human_scores, is_tuned
from ragstone.config import AgreementMeasure
from ragstone.errors import DataError
from ragstone.records import Answer, Judgement, Label
from ragstone.statistics import RESAMPLES, Estimate, mean_estimate
from ragstone.statistics.paired import PairedTest, paired_tests

LONGEST = 2000  # characters of a text that are kept with a change
ORDER: tuple[Move, ...] = ("worse", "lost", "better", "gained", "neither")


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """How labels meet scores: see agreement.report_cards."""

    threshold: float | None = None
    mapping: dict[float, float] | None = None


class Judged(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A version's judgements of the labelled answers in the metric of its score, measured, and its card."""

    rows: dict[Key, Judgement]
    measured: Measured
    card: ReportCard


class Moved(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Two versions on the answers that both have scored. values: of before and after, if they have one."""

    n: int = 0
    measure: AgreementMeasure | None = None
    values: tuple[Estimate | None, Estimate | None] = (None, None)
    test: PairedTest | None = None
    notes: list[str] = []


def humans_of(labels: Sequence[Label], metric: str, scale: Scale) -> dict[Key, Human]:
    """Return what people say of each answer in a metric. Raises DataError if no label speaks of it."""
    found = human_scores(labels, metric, scale.mapping)
    if not found:
        known = ", ".join(sorted({str(label.metric) for label in labels})) or "nothing"
        raise DataError(
            f"no label speaks of {metric!r}: they speak of {known}. Give the judge the metric of the labels, "
            f'e.g. metric = "{next((label.metric for label in labels if label.metric), "correctness")}".'
        )
    return found


def judged_version(
    rows: Sequence[Judgement], metric: str, humans: Mapping[Key, Human], scale: Scale, *, seed: int
) -> Judged:
    """Return one version's judgements, measured on people's grades. metric: of its score."""
    mine = [row for row in rows if row.metric == metric]
    first = mine[0]
    one = JudgeId(first.judge, metric, first.model, first.prompt_version)
    found = measure(one, mine, humans, mapped=scale.mapping is not None, threshold=scale.threshold)
    card = report_card(found, [], None, seed=seed, resamples=RESAMPLES)
    return Judged(rows={(row.question_id, row.system): row for row in mine}, measured=found, card=card)


def compare_versions(before: Judged, after: Judged, *, seed: int) -> Moved:
    """Return whether agreement moved, by the first measure that means something for both."""
    places = [{key: at for at, key in enumerate(one.measured.pairs.keys)} for one in (before, after)]
    keys = [key for key in after.measured.pairs.keys if key in places[0]]
    if not keys:
        return Moved()
    of_key = dict(zip(after.measured.pairs.keys, after.measured.pairs.clusters, strict=True))
    clusters = [of_key[key] for key in keys]
    rows = [
        _at(one.measured.comparison, [place[key] for key in keys])
        for one, place in zip((before, after), places, strict=True)
    ]
    by, _why = choose_measure(rows, None)
    found = [worths(row, by) for row in rows]
    columns = [column for column in found if column is not None]
    values = tuple(
        None if column is None else mean_estimate(column, clusters, seed=seed, proportion=by[0] == "e")
        for column in found
    )
    test = None
    if len(columns) == 2:
        test = paired_tests(np.stack(columns[::-1], axis=1), [(0, 1)], clusters, seed=seed)[0]
    notes = (
        []
        if test
        else ["One of the two gave one and the same score throughout: the order cannot be compared."]
    )
    return Moved(n=len(keys), measure=by, values=(values[0], values[1]), test=test, notes=notes)


def _at(comparison: Comparison | None, places: list[int]) -> Comparison:
    """Return some of the rows of a comparison."""
    if comparison is None:
        raise ValueError("rows that were compared have a comparison")
    return msgspec.structs.replace(
        comparison,
        human=comparison.human[places],
        judge=comparison.judge[places],
        raw=comparison.raw[places],
    )


def changes_between(
    before: Judged, after: Judged, humans: Mapping[Key, Human], answers: Mapping[Key, Answer]
) -> list[Change]:
    """Return the labelled answers of which the two do not say the same, those that got worse first.

    With a threshold, or grades, two scores are the same if they are cut, or graded, the same. Answers on
    which annotators tie are left out, and those on whose question one of the two was tuned.
    """
    graded = [_graded(one) for one in (before, after)]
    same_unit = all(
        one.measured.comparison is not None and one.measured.comparison.same_unit for one in (before, after)
    )
    found = []
    for key, row in after.rows.items():
        human, old = humans.get(key), before.rows.get(key)
        if human is None or human.score is None or old is None or is_tuned(row) or is_tuned(old):
            continue
        scores = graded[0].get(key, old.score), graded[1].get(key, row.score)
        if scores[0] != scores[1]:
            move = _move(scores[0], scores[1], human.score if same_unit else None)
            found.append(_change(key, old, row, human, move, answer=answers.get(key)))
    return sorted(found, key=lambda change: ORDER.index(change.move))


def _graded(one: Judged) -> dict[Key, float]:
    """Return the scores as they are compared: cut where there is a threshold."""
    comparison = one.measured.comparison
    if comparison is None:
        return {}
    return dict(zip(one.measured.pairs.keys, comparison.judge.tolist(), strict=True))


def _move(before: float | None, after: float | None, human: float | None) -> Move:
    """Return which way a verdict went; human: None where scores and labels have no unit in common."""
    if before is None:
        return "gained"
    if after is None:
        return "lost"
    if human is None or abs(before - human) == abs(after - human):
        return "neither"
    return "better" if abs(after - human) < abs(before - human) else "worse"


def _change(
    key: Key, old: Judgement, new: Judgement, human: Human, move: Move, *, answer: Answer | None
) -> Change:
    reference = None if answer is None else answer.reference
    return Change(
        question_id=key[0],
        system=key[1],
        human=float(human.score or 0.0),
        grades=human.grades,
        before=old.score,
        after=new.score,
        before_status=old.status,
        after_status=new.status,
        move=move,
        question=_cut(answer.question) if answer else None,
        answer=_cut(answer.answer) if answer else None,
        reference=_cut(" / ".join(reference) if isinstance(reference, list) else reference),
        before_reason=_cut(old.error or old.rationale),
        after_reason=_cut(new.error or new.rationale),
        human_reasons=[_cut(label.rationale) or "" for label in human.labels if label.rationale],
    )


def _cut(text: str | None) -> str | None:
    return text if text is None or len(text) <= LONGEST else text[:LONGEST].rstrip() + "…"
