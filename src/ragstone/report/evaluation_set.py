"""What `ragstone build` gives back."""

from pathlib import Path

import msgspec

from ragstone.dataset.built import Built
from ragstone.dataset.certifying.certificate import Certificate
from ragstone.dataset.split import Side
from ragstone.records import Question
from ragstone.report.summary import Calls
from ragstone.tables.shown import Displayed


class EvaluationSet(msgspec.Struct, Displayed, frozen=True, kw_only=True):
    """An evaluation set: its accepted questions, in the order of their documents, and what is known of it.

    built: every candidate, the lost ones among them. sides: question id -> `dev` or `test`, where a share is
    set apart. files: those that were written. calls: what was asked of models now, and what came from the
    ledger.
    """

    questions: list[Question]
    certificate: Certificate
    built: Built
    calls: Calls
    sides: dict[str, Side] = {}
    files: list[Path] = []

    @property
    def is_whole(self) -> bool:
        """Whether there are as many questions as wanted, or some of each document, and no call failed."""
        if self.calls.failed or self.built.failed or not self.questions:
            return False
        if self.built.declared.count is not None:
            return not self.certificate.funnel.n_short
        asked_about = {name for question in self.questions for name in question.document_ids or ()}
        return asked_about >= set(self.built.document_ids)
