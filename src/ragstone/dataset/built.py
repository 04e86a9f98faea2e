"""What a build has made, before it becomes files and a certificate."""

from typing import Literal

import msgspec

from ragstone.config import BuildSection
from ragstone.dataset.candidate import Candidate, Loss, Passage
from ragstone.records import Usage
from ragstone.statistics import Estimate

Defect = Literal["wrong_answer", "wrong_document", "dangling_reference", "trivial"]


class CriticMeasured(msgspec.Struct, frozen=True, kw_only=True):
    """How well a critic tells planted defects from the questions that they were made of.

    critic: its name, or `filter` for all critics together. kind: the kind of defect, None for all kinds.
    n_defects, n_caught: planted and rejected; n_sound, n_rejected: the questions that the defects were made
    of, and how many of those were rejected too. recall: caught / defects; precision: caught / (caught +
    rejected), both with Wilson's interval, None where the denominator is zero. n_failed: without a usable
    score, in neither count.
    """

    critic: str
    kind: Defect | None = None
    n_defects: int
    n_caught: int
    n_sound: int
    n_rejected: int
    n_failed: int = 0
    recall: Estimate | None = None
    precision: Estimate | None = None


class Built(msgspec.Struct, frozen=True, kw_only=True):
    """What a build has made, of which documents, and what was lost on the way.

    models: role (`writer`, `critic`) -> model. document_ids: all that were given; empty: those without text;
    split: those longer than a passage. n_asked: questions (facts) that the model was asked for. candidates:
    in the order of their documents, the lost ones among them. failed: calls that gave no candidate at all.
    critics: measured on planted defects. usage and cost_usd: of all calls, as the ledger has them; cost_usd
    is None where a price is unknown.
    """

    kind: Literal["questions", "facts"]
    declared: BuildSection
    seed: int
    models: dict[str, str]
    document_ids: list[str]
    empty: list[str]
    split: list[str]
    passages: list[Passage]
    n_asked: int
    candidates: list[Candidate]
    failed: list[Loss]
    critics: list[CriticMeasured]
    usage: Usage
    cost_usd: float | None
