"""What a build leaves, and what is noted on a candidate on the way."""

from typing import Literal

import msgspec

from ragstone.kernel.config import BuildSection
from ragstone.kernel.dataset.candidate import Candidate, Loss, SourcePassage
from ragstone.kernel.dataset.certificate import CriticMeasured
from ragstone.kernel.llm import CallFailed
from ragstone.kernel.records import Usage


def call_failed(failure: CallFailed) -> Loss:
    """Return the loss of a call that gave no usable reply; the certificate counts it by the status."""
    return Loss(reason="call_failed", detail=f"{failure.status}: {failure}")


def noted(candidate: Candidate, **notes: object) -> Candidate:
    """Return the candidate with these entries in its question's metadata."""
    question = candidate.question
    metadata = {**(question.metadata or {}), **notes}
    return msgspec.structs.replace(candidate, question=msgspec.structs.replace(question, metadata=metadata))


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one request to a model for questions or facts.

    candidates: without ids, the lost ones among them; behind those of the first call stand those that were
    asked for in place of questions in the wrong language. failed: that a call, the first or the second, gave
    nothing usable. n_asked: questions asked for; a model may give fewer; n_cut: given beyond them, left out.
    """

    candidates: list[Candidate]
    failed: Loss | None = None
    n_asked: int = 0
    n_cut: int = 0


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
    passages: list[SourcePassage]
    n_asked: int
    candidates: list[Candidate]
    failed: list[Loss]
    critics: list[CriticMeasured]
    usage: Usage
    cost_usd: float | None
