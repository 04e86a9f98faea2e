"""The certificate of an evaluation set: how it was built, and what can be said of it."""

import hashlib
from collections.abc import Iterable

import msgspec

from ragstone.kernel.config import BuildSection
from ragstone.kernel.dataset.candidate import Built
from ragstone.kernel.dataset.certifying.cautions import cautions_of, remarks_about
from ragstone.kernel.dataset.certifying.coverage import Coverage, coverage_of
from ragstone.kernel.dataset.certifying.funnel import (
    ClosedBookRate,
    CriticScores,
    CriticVerdict,
    Funnel,
    closed_book_rate,
    funnel_of,
    n_of,
    scores_of,
    share_of,
    verdicts_of,
)
from ragstone.kernel.records import Question, Usage
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.shown import Displayed
from ragstone.kernel.version import __version__

DIGITS = 16  # hexadecimal, of a shortened digest


def digest(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


def short_digest(values: object) -> str:
    """Return the first 16 digits of the SHA-256 of values as JSON."""
    return digest(msgspec.json.encode(values, order="sorted"))[:DIGITS]


class CriticAgreement(msgspec.Struct, frozen=True, kw_only=True):
    """How far a critic, or all together (`filter`), agrees with people, over the questions that they decided.

    n_passed: that the critic let pass; of them people kept n_passed_as_it_was as they were (tags aside), and
    n_passed_kept with those that they mended. n_failed: that it rejected; people kept n_failed_as_it_was of
    them as they were. precision: of what it let pass, the share that was right as it was; kept: with those
    that were mended; missed: of what it rejected, the share that was right. All with Wilson's 95 % interval,
    None of nothing. They speak of the whole set only if what people decided on is a random part of it.
    """

    critic: str
    n_passed: int
    n_passed_as_it_was: int
    n_passed_kept: int
    n_failed: int
    n_failed_as_it_was: int
    precision: Estimate | None
    kept: Estimate | None
    missed: Estimate | None


class ReviewNumbers(msgspec.Struct, frozen=True, kw_only=True):
    """What people made of an evaluation set.

    n: questions that could be reviewed, the lost ones among them = accepted + edited + rejected + undecided.
    n_look: of the undecided, those that were decided before their text or document changed. n_rescued: of the
    accepted and edited, those that the build had lost. n_moved: whose evidence was found elsewhere in its
    document. people: person -> questions on which they had the last word. reasons: of rejections; changed:
    fields that edits changed. critics: all together first; empty where no critic was asked.
    """

    n: int
    n_accepted: int
    n_edited: int
    n_rejected: int
    n_undecided: int
    n_look: int
    n_rescued: int
    n_moved: int
    people: dict[str, int]
    reasons: dict[str, int]
    changed: dict[str, int]
    critics: list[CriticAgreement]


# What a question asks and what is right; tags, scores and metadata may be added later.
CERTIFIED = ("id", "question", "reference", "evidence", "document_ids", "answerable", "kind", "lang")


class Certificate(msgspec.Struct, Displayed, frozen=True, kw_only=True, omit_defaults=True):
    """An evaluation set in numbers. The same build gives the same bytes: nothing here is of the clock.

    declared: how the set was to be made. models: role -> model. documents_digest: SHA-256 of the ids and of
    the passages. questions_digest: SHA-256 of the accepted questions, of their fields CERTIFIED;
    question_digests: the same of each, shortened, in order, so that a part of the set is known again.
    near_duplicates: repeats among what was written. closed_book: None where nobody asked. scores: of all
    candidates that a critic scored. critics: measured on planted defects, empty where none was planted.
    cost_usd: None where a price is unknown. cautions: what a reader must know before trusting the set, the
    gravest first; remarks: what is good to know. review: what people said of it; absent where none did.
    """

    kind: str
    version: str
    seed: int
    declared: BuildSection
    models: dict[str, str]
    documents_digest: str
    questions_digest: str
    funnel: Funnel
    coverage: Coverage
    near_duplicates: Estimate | None
    closed_book: ClosedBookRate | None
    scores: list[CriticScores]
    critics: list[CriticVerdict]
    usage: Usage
    cost_usd: float | None
    cautions: list[str]
    remarks: list[str]
    question_digests: list[str]
    review: ReviewNumbers | None = None


def certify(built: Built) -> Certificate:
    """Return the certificate of a build; one without questions, or without documents, has one as well."""
    accepted = [one.question for one in built.candidates if one.loss is None]
    funnel, coverage = funnel_of(built), coverage_of(built.candidates)
    known, critics = closed_book_rate(built.candidates), verdicts_of(built.critics)
    whole, digests = digests_of(accepted)
    repeats = n_of(funnel, "duplicate", "near_duplicate")
    return Certificate(
        kind=built.kind,
        version=__version__,
        seed=built.seed,
        declared=built.declared,
        models=built.models,
        documents_digest=_documents_digest(built),
        questions_digest=whole,
        funnel=funnel,
        coverage=coverage,
        near_duplicates=share_of(repeats, funnel.n_written),
        closed_book=known,
        scores=scores_of(built.candidates, built.declared.threshold),
        critics=critics,
        usage=built.usage,
        cost_usd=built.cost_usd,
        cautions=cautions_of(built.kind, built.declared, funnel, coverage, known, critics),
        remarks=remarks_about(built.kind, built.declared, funnel, coverage),
        question_digests=digests,
    )


class Fit(msgspec.Struct, frozen=True, kw_only=True):
    """How far a certificate speaks of these questions.

    n: of them; n_certified: are as the certificate knows them; of: it knows so many. first: whether they are
    the first of those, in order.
    """

    n: int
    n_certified: int
    of: int
    first: bool


def fit(certificate: Certificate, questions: Iterable[Question]) -> Fit:
    """Return how far a certificate speaks of questions, in the order of their file."""
    _, digests = digests_of(questions)
    known = set(certificate.question_digests)
    return Fit(
        n=len(digests),
        n_certified=sum(digest in known for digest in digests),
        of=len(certificate.question_digests),
        first=digests == certificate.question_digests[: len(digests)],
    )


def question_digest(question: Question) -> str:
    """Return the SHA-256 of what a question asks and what is right, in hexadecimal."""
    values = {name: getattr(question, name) for name in CERTIFIED}
    if isinstance(question.reference, str):
        values["reference"] = [question.reference]  # as a file of columns has it
    return digest(msgspec.json.encode(values, order="sorted"))


def digests_of(questions: Iterable[Question]) -> tuple[str, list[str]]:
    """Return the digest of questions in this order, and that of each, shortened."""
    digests = [question_digest(question) for question in questions]
    return digest("\n".join(digests).encode()), [one[:DIGITS] for one in digests]


def _documents_digest(built: Built) -> str:
    rows = [[one.document_id, one.start, one.end, one.text] for one in built.passages]
    return digest(msgspec.json.encode([built.document_ids, rows]))
