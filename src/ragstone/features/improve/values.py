"""Developing a judge on people's labels: a part to work with, a part that stays closed, what a change did."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from ragstone.kernel.agreement.card import ReportCard
from ragstone.kernel.agreement.comparison import (
    GradeComparison,
    MeasuredJudge,
    choose_measure,
    worths,
)
from ragstone.kernel.agreement.grading import measured_card
from ragstone.kernel.agreement.pairing import Human, Key, human_scores, is_tuned
from ragstone.kernel.config import AgreementMeasure
from ragstone.kernel.errors import DataError, plural
from ragstone.kernel.records import Answer, Judgement, Label, Status
from ragstone.kernel.statistics import Estimate, mean_estimate
from ragstone.kernel.statistics.paired import PairedTest, paired_tests

Move = Literal["worse", "lost", "better", "gained", "neither"]
"""Nearer to people's label or farther from it; scored by one of the two only; as near as before."""


class VerdictChange(msgspec.Struct, frozen=True, kw_only=True):
    """An answer of which draft and version before do not say the same.

    before, after: their scores as they gave them, None where there is none and the status says why. human:
    people's grade, on the judge's scale where labels were mapped; grades: of each annotator. move: what
    became of it; `neither` also where scores and labels have no unit in common.
    """

    question_id: str
    system: str
    human: float
    grades: list[float]
    before: float | None
    after: float | None
    before_status: Status
    after_status: Status
    move: Move
    question: str | None = None
    answer: str | None = None
    reference: str | None = None
    before_reason: str | None = None
    after_reason: str | None = None
    human_reasons: list[str] = []


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """A version of a judge on the dev part. value: its agreement on the answers that both have scored."""

    judge: str
    version: int
    digest: str
    card: ReportCard
    value: Estimate | None = None

    @property
    def statuses(self) -> dict[Status, int]:
        """Of its judgements of labelled answers."""
        return self.card.statuses


class Development(msgspec.Struct, frozen=True, kw_only=True):
    """A draft of a judge beside the version before, on the dev part of a labelled set.

    labels: the set's name. n_answers: labelled answers of the dev part, n_questions: questions in it; n_test:
    labelled answers of the part that stays closed; n_neither: those that are in no part, because their
    question ties both. before: None for a judge that has none. measure: what agreement is compared by,
    see agreement.comparison; test: of the difference, draft minus before, over the n answers that both
    have scored; None where nothing can be compared. changes: the ones that got worse first.
    tuned_on: digests of the questions of the dev part, for the file of a version that is frozen.
    """

    labels: str
    n_answers: int
    n_questions: int
    n_test: int
    n_neither: int
    before: Version | None
    after: Version
    n: int
    measure: AgreementMeasure | None
    test: PairedTest | None
    changes: list[VerdictChange]
    notes: list[str]
    tuned_on: list[str] = []

    @property
    def verdict(self) -> Literal["better", "worse", "cannot tell"]:
        """Whether the draft agrees better with people than the version before."""
        return self.test.verdict if self.test else "cannot tell"

    def count(self, *moves: Move) -> int:
        """Return how many changes are of these kinds."""
        return sum(change.move in moves for change in self.changes)


SEVERAL = 3
CAUTION = (
    "Caution: after {n} looks this number may be too good. Changing a judge after a look, or "
    "keeping the version that looked best, fits it to the test part a little each time (adaptive "
    "overfitting; Dwork et al. 2015, The reusable holdout, Science 349). Labels of new answers "
    "give a number that nothing was fitted to."
)


class LookRecord(msgspec.Struct, frozen=True, kw_only=True):
    """One look: who saw how well which judge does on which questions.

    at: date and time, UTC, ISO 8601. digest: of the judge. questions: digests of the questions of the test
    part that was looked at, so that another name of the same labels does not begin anew.
    """

    at: str
    who: str
    labels: str
    judge: str
    version: int
    digest: str
    model: str
    questions: list[str]


def looks_at(looks: Iterable[LookRecord], questions: Iterable[str]) -> list[LookRecord]:
    """Return the looks, in their order, at a test part that shares a question with these."""
    wanted = set(questions)
    return [look for look in looks if wanted.intersection(look.questions)]


def look_notes(number: int, looks: Sequence[LookRecord], n_answers: int) -> list[str]:
    """Return what stands with every card of the test part; number: of this look, from 1."""
    look = looks[number - 1]
    judges = len({(record.judge, record.digest) for record in looks[:number]})
    others = "" if judges == 1 else f", at {judges} different judges or versions"
    text = (
        f"Look {number} at this test part ({look.labels}, {plural(n_answers, 'labelled answer')}){others}; "
        f"by {look.who}, {look.at[:10]}."
    )
    return [text, *([CAUTION.format(n=number)] if number >= SEVERAL else [])]


LONGEST = 2000  # characters of a text that are kept with a change
ORDER: tuple[Move, ...] = ("worse", "lost", "better", "gained", "neither")


class Scale(msgspec.Struct, frozen=True, kw_only=True):
    """How labels meet scores: see agreement.report_cards. words: a label that is a word -> its score."""

    threshold: float | None = None
    mapping: dict[float, float] | None = None
    words: dict[str, float] = {}


class JudgedVersion(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """A version's judgements of the labelled answers in the metric of its score, measured, and its card."""

    rows: dict[Key, Judgement]
    measured: MeasuredJudge
    card: ReportCard


class Moved(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Two versions on the answers that both have scored. values: of before and after, if they have one."""

    n: int = 0
    measure: AgreementMeasure | None = None
    values: tuple[Estimate | None, Estimate | None] = (None, None)
    test: PairedTest | None = None
    notes: list[str] = []


def humans_of(labels: Sequence[Label], metric: str, scale: Scale) -> dict[Key, Human]:
    """Return what people say of each answer in a metric. Raises DataError if no label is for it."""
    humans = human_scores(labels, metric, scale.mapping)
    if not humans:
        known = ", ".join(sorted({str(label.metric) for label in labels})) or "nothing"
        raise DataError(
            f"no label is for {metric!r}: the labels are for {known}. Give the judge the metric of the "
            "labels, "
            f'e.g. metric = "{next((label.metric for label in labels if label.metric), "correctness")}".'
        )
    return humans


def judged_version(
    rows: Sequence[Judgement], metric: str, humans: Mapping[Key, Human], scale: Scale, *, seed: int
) -> JudgedVersion:
    """Return one version's judgements, measured on people's grades. metric: of its score."""
    mine = [row for row in rows if row.metric == metric]
    measured, card = measured_card(
        mine, humans, mapped=scale.mapping is not None, threshold=scale.threshold, seed=seed
    )
    return JudgedVersion(
        rows={(row.question_id, row.system): row for row in mine}, measured=measured, card=card
    )


def compare_versions(before: JudgedVersion, after: JudgedVersion, *, seed: int) -> Moved:
    """Return whether agreement moved, by the first measure that means something for both."""
    places = [{key: at for at, key in enumerate(version.measured.pairs.keys)} for version in (before, after)]
    keys = [key for key in after.measured.pairs.keys if key in places[0]]
    if not keys:
        return Moved()
    of_key = dict(zip(after.measured.pairs.keys, after.measured.pairs.clusters, strict=True))
    clusters = [of_key[key] for key in keys]
    rows = [
        _at(version.measured.comparison, [place_of[key] for key in keys])
        for version, place_of in zip((before, after), places, strict=True)
    ]
    by, _why = choose_measure(rows, None)
    both_worths = [worths(row, by) for row in rows]
    columns = [column for column in both_worths if column is not None]
    values = tuple(
        None if column is None else mean_estimate(column, clusters, seed=seed, proportion=by[0] == "e")
        for column in both_worths
    )
    test = None
    if len(columns) == 2:
        test = paired_tests(np.stack(columns[::-1], axis=1), [(0, 1)], clusters, seed=seed)[0]
    notes = (
        [] if test else ["One of the two gave the same score every time, so the order cannot be compared."]
    )
    return Moved(n=len(keys), measure=by, values=(values[0], values[1]), test=test, notes=notes)


def _at(comparison: GradeComparison | None, places: list[int]) -> GradeComparison:
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
    before: JudgedVersion, after: JudgedVersion, humans: Mapping[Key, Human], answers: Mapping[Key, Answer]
) -> list[VerdictChange]:
    """Return the labelled answers of which the two do not say the same, those that got worse first.

    With a threshold, or grades, two scores are the same if they are cut, or graded, the same. Answers on
    which annotators tie are left out, and those on whose question one of the two was tuned.
    """
    graded = [_graded(version) for version in (before, after)]
    same_unit = all(
        version.measured.comparison is not None and version.measured.comparison.same_unit
        for version in (before, after)
    )
    changes = []
    for key, row in after.rows.items():
        human, old = humans.get(key), before.rows.get(key)
        if human is None or human.score is None or old is None or is_tuned(row) or is_tuned(old):
            continue
        scores = graded[0].get(key, old.score), graded[1].get(key, row.score)
        if scores[0] != scores[1]:
            move = _move(scores[0], scores[1], human.score if same_unit else None)
            changes.append(_change(key, old, row, human, move, answer=answers.get(key)))
    return sorted(changes, key=lambda change: ORDER.index(change.move))


def _graded(version: JudgedVersion) -> dict[Key, float]:
    """Return the scores as they are compared: cut where there is a threshold."""
    comparison = version.measured.comparison
    if comparison is None:
        return {}
    return dict(zip(version.measured.pairs.keys, comparison.judge.tolist(), strict=True))


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
) -> VerdictChange:
    if human.score is None:
        raise ValueError(f"{key}: annotators tied, so no verdict on it can be compared")
    reference = None if answer is None else answer.reference
    return VerdictChange(
        question_id=key[0],
        system=key[1],
        human=human.score,
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
