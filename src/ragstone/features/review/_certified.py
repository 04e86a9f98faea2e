"""The certificate of a set that people have reviewed: its numbers counted anew, and what people said."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from ragstone.features.build import recount, share_of
from ragstone.features.review.applying import LOST, ReviewedQuestion, TextOf
from ragstone.features.review.decisions import OF_THE_TEXT, changed_fields
from ragstone.kernel.dataset.candidate import (
    REASONS,
    REJECTIONS,
    Candidate,
    Loss,
    Reason,
    SourcePassage,
    tempting_evidence,
)
from ragstone.kernel.dataset.certificate import (
    FILTER,
    Certificate,
    CriticAgreement,
    ReviewNumbers,
)
from ragstone.kernel.records import Evidence, Question

CRITICISED = "criticise"  # the step at which critics reject; other losses are none of theirs


class _DecidedQuestion(msgspec.Struct, frozen=True):
    """A decided question: whether critics let it pass, whether people kept it, and as it was."""

    passed: bool
    kept: bool
    as_it_was: bool


def review_numbers(items: Sequence[ReviewedQuestion], threshold: int) -> ReviewNumbers:
    """Return the numbers of a review. threshold: the lowest score with which a question passes a critic."""
    decided = [item for item in items if item.outcome is not None]
    outcomes = Counter(item.outcome for item in decided)
    reasons: Counter[Reason] = Counter(
        item.stack[-1].reason for item in decided if item.outcome == "rejected" and item.stack[-1].reason
    )
    changed = Counter(name for item in decided if item.in_set for name in changed_fields(item.stack))
    people = Counter(item.stack[-1].person for item in items if item.stack)
    return ReviewNumbers(
        n=len(items),
        n_accepted=outcomes["accepted"],
        n_edited=outcomes["edited"],
        n_rejected=outcomes["rejected"],
        n_undecided=len(items) - len(decided),
        n_look=sum(item.look is not None for item in items),
        n_rescued=sum(item.lost is not None and item.in_set for item in decided),
        n_moved=sum(item.moved for item in items),
        people={name: people[name] for name in sorted(people, key=lambda name: (-people[name], name))},
        reasons={reason: reasons[reason] for reason in REJECTIONS if reasons[reason]},
        changed=dict(changed.most_common()),
        critics=_critics(decided, threshold),
    )


def as_it_was(item: ReviewedQuestion) -> bool:
    """Say whether people kept a question as the build had made it; tags may have been changed."""
    return item.outcome in ("accepted", "edited") and not set(OF_THE_TEXT) & set(changed_fields(item.stack))


def _critics(decided: Sequence[ReviewedQuestion], threshold: int) -> list[CriticAgreement]:
    """Return the agreement of all critics together, then of each; none where no critic was asked."""
    together = [
        _DecidedQuestion(item.lost is None, bool(item.in_set), as_it_was(item))
        for item in decided
        if item.given.scores and (item.lost is None or item.lost.get("step") == CRITICISED)
    ]
    names = list(dict.fromkeys(name for item in decided for name in item.given.scores or {}))
    each = {
        name: [
            _DecidedQuestion((item.given.scores or {})[name] >= threshold, bool(item.in_set), as_it_was(item))
            for item in decided
            if name in (item.given.scores or {})
        ]
        for name in names
    }
    return [_agreement(name, judged) for name, judged in {FILTER: together, **each}.items() if judged]


def _agreement(critic: str, judged: Sequence[_DecidedQuestion]) -> CriticAgreement:
    passed = [question for question in judged if question.passed]
    failed = [question for question in judged if not question.passed]
    right = sum(question.as_it_was for question in passed)
    n_kept = sum(question.kept for question in passed)
    missed = sum(question.as_it_was for question in failed)
    return CriticAgreement(
        critic=critic,
        n_passed=len(passed),
        n_passed_as_it_was=right,
        n_passed_kept=n_kept,
        n_failed=len(failed),
        n_failed_as_it_was=missed,
        precision=share_of(right, len(passed)),
        kept=share_of(n_kept, len(passed)),
        missed=share_of(missed, len(failed)),
    )


AROUND = 800  # characters shown before and after the evidence


def recertify(
    certificate: Certificate, items: Sequence[ReviewedQuestion], text_of: TextOf | None = None
) -> Certificate:
    """Return the certificate of a reviewed set.

    certificate: of the set as it was built. The steps, what is covered, the cautions and the digests are
    counted anew; what the build asked, cost, and found out about its critics stays. text_of: documents, to
    tell where the evidence stands in them.
    """
    numbers = review_numbers(items, certificate.declared.threshold)
    return msgspec.structs.replace(recount(certificate, candidates_of(items, text_of)), review=numbers)


def candidates_of(items: Sequence[ReviewedQuestion], text_of: TextOf | None = None) -> list[Candidate]:
    """Return the questions of a review as candidates, those that people rejected lost."""
    return [
        Candidate(question=item.question, passages=_passages(item.question, text_of), loss=_loss(item))
        for item in items
    ]


def _loss(item: ReviewedQuestion) -> Loss | None:
    lost = (item.question.metadata or {}).get(LOST)
    if item.in_set or not isinstance(lost, dict):
        return None
    reason, detail = lost.get("reason"), lost.get("detail")
    if reason not in REASONS:  # of another version of Ragstone
        return Loss(reason="rejected", detail=f"{reason}: {detail}")
    return Loss(reason=reason, detail=detail)


def _passages(question: Question, text_of: TextOf | None) -> tuple[SourcePassage, ...]:
    """Return the parts of the documents that hold the evidence, or their beginnings where there is none."""
    spans = [*(question.evidence or ()), *tempting_evidence(question)]
    names = dict.fromkeys([*(span.document_id for span in spans), *(question.document_ids or ())])
    passages = []
    for name in names:
        text = text_of(name) if text_of is not None else None
        if text:
            passages.append(
                _passage(name, text, [span for span in spans if span.document_id == name], question)
            )
    return tuple(passages)


def _passage(name: str, text: str, spans: Sequence[Evidence], question: Question) -> SourcePassage:
    start = max(0, min((span.start for span in spans), default=0) - AROUND)
    end = min(len(text), max((span.end for span in spans), default=AROUND) + AROUND)
    return SourcePassage(
        document_id=name,
        start=start,
        end=end,
        text=text[start:end],
        lang=question.lang,
        topic=(question.tags or {}).get("topic"),
        document_length=len(text),
    )
