"""The certificate of a set that people have reviewed: its numbers counted anew, and what people said."""

from collections.abc import Sequence

import msgspec

from ragstone.dataset.candidate import REASONS, Candidate, Loss, Passage
from ragstone.dataset.certifying.cautions import cautions_of, remarks_about
from ragstone.dataset.certifying.certificate import Certificate, digests_of
from ragstone.dataset.certifying.closed_book_rate import closed_book_rate
from ragstone.dataset.certifying.coverage import coverage_of
from ragstone.dataset.certifying.critic_verdicts import share_of
from ragstone.dataset.certifying.funnel import Funnel, losses_of, n_of, n_short
from ragstone.dataset.reviewing.anchoring import TextOf
from ragstone.dataset.reviewing.applying import LOST, Item
from ragstone.dataset.reviewing.numbers import review_numbers
from ragstone.records import Evidence, Question

AROUND = 800  # characters shown before and after the evidence


def recertify(certificate: Certificate, items: Sequence[Item], text_of: TextOf | None = None) -> Certificate:
    """Return the certificate of a reviewed set.

    certificate: of the set as it was built. The steps, what is covered, the cautions and the digests are
    counted anew; what the build asked, cost, and found out about its critics stays. text_of: documents, to
    tell where the evidence stands in them.
    """
    candidates = candidates_of(items, text_of)
    accepted = [one.question for one in candidates if one.loss is None]
    funnel = _funnel(certificate.funnel, candidates)
    coverage, known = coverage_of(candidates), closed_book_rate(candidates)
    numbers = review_numbers(items, certificate.declared.threshold)
    kind, declared = certificate.kind, certificate.declared
    whole, digests = digests_of(accepted)
    repeats = n_of(funnel, "duplicate", "near_duplicate")
    return msgspec.structs.replace(
        certificate,
        questions_digest=whole,
        question_digests=digests,
        funnel=funnel,
        coverage=coverage,
        near_duplicates=share_of(repeats, funnel.n_written),
        closed_book=known,
        cautions=cautions_of(kind, declared, funnel, coverage, known, certificate.critics),
        remarks=remarks_about(kind, declared, funnel, coverage),
        review=numbers,
    )


def candidates_of(items: Sequence[Item], text_of: TextOf | None = None) -> list[Candidate]:
    """Return the questions of a review as candidates, those that people rejected lost."""
    return [
        Candidate(question=item.question, passages=_passages(item.question, text_of), loss=_loss(item))
        for item in items
    ]


def _funnel(built: Funnel, candidates: Sequence[Candidate]) -> Funnel:
    """Return the funnel of a build with the losses as they are now."""
    accepted = [one for one in candidates if one.loss is None]
    return msgspec.structs.replace(
        built,
        n_written=len(candidates),
        losses=losses_of(candidates),
        n_accepted=len(accepted),
        n_short=n_short(built.n_wanted, accepted),
    )


def _loss(item: Item) -> Loss | None:
    lost = (item.question.metadata or {}).get(LOST)
    if item.in_set or not isinstance(lost, dict):
        return None
    reason, detail = lost.get("reason"), lost.get("detail")
    if reason not in REASONS:  # of another version of Ragstone
        return Loss(reason="rejected", detail=f"{reason}: {detail}")
    return Loss(reason=reason, detail=detail)


def _passages(question: Question, text_of: TextOf | None) -> tuple[Passage, ...]:
    """Return the parts of the documents that hold the evidence, or their beginnings where there is none."""
    spans = [*(question.evidence or ()), *_tempting(question)]
    names = dict.fromkeys([*(span.document_id for span in spans), *(question.document_ids or ())])
    found = []
    for name in names:
        text = text_of(name) if text_of is not None else None
        if text:
            found.append(_passage(name, text, [span for span in spans if span.document_id == name], question))
    return tuple(found)


def _passage(name: str, text: str, spans: Sequence[Evidence], question: Question) -> Passage:
    start = max(0, min((span.start for span in spans), default=0) - AROUND)
    end = min(len(text), max((span.end for span in spans), default=AROUND) + AROUND)
    return Passage(
        document_id=name,
        start=start,
        end=end,
        text=text[start:end],
        lang=question.lang,
        topic=(question.tags or {}).get("topic"),
        document_length=len(text),
    )


def _tempting(question: Question) -> list[Evidence]:
    span = (question.metadata or {}).get("tempting")
    return [msgspec.convert(span, Evidence)] if isinstance(span, dict) else []
