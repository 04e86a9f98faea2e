"""What a development run holds: the version before, the draft, every verdict that changed between them."""

from typing import Literal

import msgspec

from ragstone.agreement.card import ReportCard
from ragstone.config import AgreementMeasure
from ragstone.records import Status
from ragstone.statistics import Estimate
from ragstone.statistics.paired import PairedTest

Move = Literal["worse", "lost", "better", "gained", "neither"]
"""Nearer to people's label or farther from it; scored by one of the two only; as near as before."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
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
    see agreement.bench.footing; test: of the difference, draft minus before, over the n answers that both
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
    changes: list[Change]
    notes: list[str]
    tuned_on: list[str] = []

    @property
    def verdict(self) -> Literal["better", "worse", "cannot tell"]:
        """Whether the draft agrees better with people than the version before."""
        return self.test.verdict if self.test else "cannot tell"

    def count(self, *moves: Move) -> int:
        """Return how many changes are of these kinds."""
        return sum(change.move in moves for change in self.changes)
