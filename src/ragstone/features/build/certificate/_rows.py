"""The candidates of a build -> the blocks of JSON that the certificate's page embeds.

The page's script (template/certificate.js) reads exactly these fields.
"""

from collections.abc import Mapping, Sequence

import msgspec

from ragstone.features.build.certificate.funnel import spread
from ragstone.kernel.dataset.candidate import REASONS, Candidate, tempting_evidence
from ragstone.kernel.dataset.candidate import SourcePassage as Source
from ragstone.kernel.dataset.placing import SOURCES
from ragstone.kernel.document.html import script_json
from ragstone.kernel.records import references

MOST_ACCEPTED = 1000  # that the page shows
MOST_LOST = 200  # of each reason
DETAILS_A_BLOCK = 200
LONGEST = 8000  # characters of a passage
# Of a question's metadata: shown in another way, or of no use to a reader.
NOT_NOTES = {"rationales", "evidence_found", "quote", "lost", "tempting", "critics", SOURCES}


class CertificateLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A candidate in the list. lost: key of its reason."""

    id: str
    question: str
    preview: str | None = None
    lost: str | None = None
    lang: str | None = None
    style: str | None = None
    scores: dict[str, float] | None = None


class PassageShown(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A passage, once however many questions were written from it."""

    document: str
    text: str
    title: str | None = None


class CertificateDetail(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What an opened candidate shows.

    passages: (number in the table of passages, spans of evidence in code points of its text).
    """

    references: list[str]
    passages: list[tuple[int, list[tuple[int, int]]]]
    rationales: dict[str, str]
    tags: dict[str, str]
    notes: dict[str, str]
    answerable: bool | None = None
    found: str | None = None
    detail: str | None = None


class Embedded(msgspec.Struct, frozen=True, kw_only=True):
    """The blocks, from script_json, and how many of how many candidates they show."""

    index: bytes
    details: list[bytes]
    passages: bytes
    n_accepted: int
    n_lost: int


def embed_candidates(candidates: Sequence[Candidate], threshold: int) -> Embedded:
    """Return the candidates as the page embeds them; of many, so many, from first to last document."""
    chosen = _chosen(candidates)
    passages: dict[Source, int] = {}
    details = [_detail(candidate, passages) for candidate in chosen]
    index = {
        "lines": [_line(candidate) for candidate in chosen],
        "reasons": {reason: text for reason, (_step, text) in REASONS.items()},
        "threshold": threshold,
        "details_a_block": DETAILS_A_BLOCK,
    }
    return Embedded(
        index=script_json(index),
        details=[
            script_json(details[at : at + DETAILS_A_BLOCK]) for at in range(0, len(details), DETAILS_A_BLOCK)
        ],
        passages=script_json(
            [
                PassageShown(document=passage.document_id, text=passage.text[:LONGEST], title=passage.title)
                for passage in passages
            ]
        ),
        n_accepted=sum(candidate.loss is None for candidate in chosen),
        n_lost=sum(candidate.loss is not None for candidate in chosen),
    )


def _chosen(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return those that are shown, in their order."""
    places: dict[str, list[int]] = {}
    for at, candidate in enumerate(candidates):
        places.setdefault(candidate.loss.reason if candidate.loss else "", []).append(at)
    chosen = [
        at
        for reason, numbers in places.items()
        for at in spread(numbers, MOST_LOST if reason else MOST_ACCEPTED)
    ]
    return [candidates[at] for at in sorted(chosen)]


def _line(candidate: Candidate) -> CertificateLine:
    question = candidate.question
    return CertificateLine(
        id=question.id,
        question=question.question,
        preview=next(iter(references(question)), None),
        lost=candidate.loss.reason if candidate.loss else None,
        lang=question.lang,
        style=(question.tags or {}).get("style"),
        scores=question.scores,
    )


def _detail(candidate: Candidate, passages: dict[Source, int]) -> CertificateDetail:
    question, metadata = candidate.question, candidate.question.metadata or {}
    rationales = metadata.get("rationales")
    how = metadata.get("evidence_found")
    return CertificateDetail(
        references=references(question),
        passages=[
            (passages.setdefault(passage, len(passages)), _spans(candidate, passage))
            for passage in candidate.passages
        ],
        rationales=_strings(rationales) if isinstance(rationales, dict) else {},
        tags=question.tags or {},
        notes=_strings({name: value for name, value in metadata.items() if name not in NOT_NOTES}),
        answerable=question.answerable,
        found=how if isinstance(how, str) else None,
        detail=candidate.loss.detail if candidate.loss else None,
    )


def _spans(candidate: Candidate, passage: Source) -> list[tuple[int, int]]:
    """Return where the evidence stands in a passage (of an unanswerable question, what tempts), in order."""
    inside = [
        (max(span.start, passage.start) - passage.start, min(span.end, passage.end) - passage.start)
        for span in [*(candidate.question.evidence or []), *tempting_evidence(candidate.question)]
        if span.document_id == passage.document_id
    ]
    return sorted((start, end) for start, end in inside if start < end)


def _strings(values: Mapping[str, object]) -> dict[str, str]:
    return {name: _string(value) for name, value in values.items()}


def _string(value: object) -> str:
    """Return a value of metadata as text: an object as `answer: 1876 · correct: yes`."""
    if isinstance(value, dict):
        return " · ".join(f"{name}: {_string(each)}" for name, each in value.items())
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
