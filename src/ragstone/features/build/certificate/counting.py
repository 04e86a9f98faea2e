"""Candidates -> the certificate of the set: how it was built, and what can be said of it."""

import hashlib
from collections import Counter
from collections.abc import Sequence

import msgspec

from ragstone.features.build._built import Built
from ragstone.features.build.certificate._cautions import cautions_of, remarks_about
from ragstone.features.build.certificate._coverage import coverage_of
from ragstone.features.build.certificate.funnel import (
    closed_book_rate,
    funnel_of,
    losses_of,
    n_of,
    n_short,
    scores_of,
    share_of,
    verdicts_of,
)
from ragstone.kernel.dataset.candidate import Candidate
from ragstone.kernel.dataset.certificate import Certificate, digests_of
from ragstone.kernel.document.numbers import count
from ragstone.kernel.errors import plural
from ragstone.kernel.version import __version__

HOP_REASONS = {
    "single_hop": "answered with a document left out",
    "known_by_heart": "answered by the model without any document",
    "names_link": "named what links their documents",
}
"""Reasons of a loss that are about hops; of the others only the number is told."""


def certify(built: Built) -> Certificate:
    """Return the certificate of a build; one without questions, or without documents, has one as well."""
    passages = [[passage.document_id, passage.start, passage.end, passage.text] for passage in built.passages]
    uncounted = Certificate(
        kind=built.kind,
        version=__version__,
        seed=built.seed,
        declared=built.declared,
        models=built.models,
        documents_digest=hashlib.sha256(msgspec.json.encode([built.document_ids, passages])).hexdigest(),
        questions_digest="",
        funnel=funnel_of(built),
        coverage=coverage_of(()),
        near_duplicates=None,
        closed_book=None,
        scores=scores_of(built.candidates, built.declared.threshold),
        critics=verdicts_of(built.critics),
        usage=built.usage,
        cost_usd=built.cost_usd,
        cautions=[],
        remarks=[],
        question_digests=[],
    )
    return recount(uncounted, built.candidates)


def recount(certificate: Certificate, candidates: Sequence[Candidate]) -> Certificate:
    """Return a certificate with what is counted of candidates: steps, coverage, cautions, digests.

    What the build asked, what it cost, and what it found out about its critics stays.
    """
    accepted = [candidate for candidate in candidates if candidate.loss is None]
    funnel = msgspec.structs.replace(
        certificate.funnel,
        n_written=len(candidates),
        losses=losses_of(candidates),
        n_accepted=len(accepted),
        n_short=n_short(certificate.funnel.n_wanted, accepted),
    )
    coverage, known = coverage_of(candidates), closed_book_rate(candidates)
    kind, declared = certificate.kind, certificate.declared
    questions_digest, question_digests = digests_of(candidate.question for candidate in accepted)
    repeats = n_of(funnel, "duplicate", "near_duplicate")
    return msgspec.structs.replace(
        certificate,
        questions_digest=questions_digest,
        question_digests=question_digests,
        funnel=funnel,
        coverage=coverage,
        near_duplicates=share_of(repeats, funnel.n_written),
        closed_book=known,
        cautions=cautions_of(kind, declared, funnel, coverage, known, certificate.critics),
        remarks=[*remarks_about(kind, declared, funnel, coverage), *hop_remarks(candidates)],
    )


def hop_remarks(candidates: Sequence[Candidate]) -> list[str]:
    """Return how many of the multi-hop questions were kept and why others were lost; none without any."""
    hops = [candidate for candidate in candidates if (candidate.question.tags or {}).get("hops")]
    if not hops:
        return []
    losses = Counter(candidate.loss.reason for candidate in hops if candidate.loss)
    n_kept = len(hops) - losses.total()
    reasons = [f"{count(losses[reason])} {words}" for reason, words in HOP_REASONS.items() if losses[reason]]
    n_other = losses.total() - sum(losses[reason] for reason in HOP_REASONS)
    reasons += [f"{count(n_other)} for other reasons"] if n_other else []
    lost = f" Lost: {', '.join(reasons)}." if reasons else ""
    verdict = (
        " That the kept ones need every document is what the critics' model said: read them before you rely "
        "on it."
        if n_kept
        else ""
    )
    return [f"{plural(len(hops), 'multi-hop question')} written, {count(n_kept)} kept.{lost}{verdict}"]
