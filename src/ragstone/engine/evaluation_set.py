"""What `ragstone build` gives back."""

from pathlib import Path

import msgspec

from ragstone.dataset import Built
from ragstone.dataset.certificate import Certificate
from ragstone.records import Question
from ragstone.report import Calls


class EvaluationSet(msgspec.Struct, frozen=True, kw_only=True):
    """An evaluation set: its accepted questions, in the order of their documents, and what is known of it.

    built: every candidate, the lost ones among them. files: those that were written. calls: what was asked
    of models now, and what came from the ledger.
    """

    questions: list[Question]
    certificate: Certificate
    built: Built
    calls: Calls
    files: list[Path] = []

    @property
    def is_whole(self) -> bool:
        """Whether as many questions as were wanted are there, and every call gave a usable reply."""
        wanted = self.built.declared.count
        return not self.built.failed and len(self.questions) >= (wanted or 1)
