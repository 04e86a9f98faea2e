"""The certificate of an evaluation set, as a value: how it was built, and what can be said of it."""

import hashlib
from collections.abc import Iterable
from typing import Literal

import msgspec

from ragstone.kernel.config import BuildSection
from ragstone.kernel.dataset.candidate import Step
from ragstone.kernel.records import Question, Usage
from ragstone.kernel.statistics import Estimate
from ragstone.kernel.tables.shown import Displayed


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """The questions of one topic (language, style, ...): how many were written, how many accepted."""

    value: str
    n_accepted: int
    n_written: int


class Five(msgspec.Struct, frozen=True, kw_only=True):
    """The least, the quartiles and the greatest of n numbers."""

    n: int
    least: float
    lower: float
    middle: float
    upper: float
    greatest: float


class Positions(msgspec.Struct, frozen=True, kw_only=True):
    """Where the evidence is in its document, by fifths of the places where it could stand.

    n_whole: evidence that is the whole document, in no fifth. crowded: the fifth (1 to 5) whose share is
    more than 30 % even at the lower end of its 95 % interval; None where there is none.
    """

    fifths: list[int]
    n_whole: int
    crowded: int | None


class Coverage(msgspec.Struct, frozen=True, kw_only=True):
    """What the accepted questions cover.

    n_covered: documents that hold the answer of one of them. per_document: questions of a covered document;
    most: the document with the most of them. groups: by `kind` (answerable, negative; of facts true,
    false), `style`, `level`, `persona`, `change`, `topic`, `lang`, each value with what was written of it,
    most accepted first. found: how the quoted evidence was found (exact, spaced, fuzzy). question_lengths
    and answer_lengths: words; characters where a script has no spaces between words.
    """

    n_covered: int
    per_document: Five | None
    most: tuple[str, int] | None
    groups: dict[str, list[Group]]
    positions: Positions
    found: dict[str, int]
    question_lengths: Five | None
    answer_lengths: Five | None


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


class ClosedBookRate(msgspec.Struct, frozen=True, kw_only=True):
    """Questions that the model was asked without any document, and how many of them it knew.

    n_guessable: known, and with so few answers possible that a guess may do. n_failed: could not be asked, in
    neither count. n_accepted_known: known, and accepted all the same.
    """

    n_asked: int
    n_known: int
    n_guessable: int
    n_failed: int
    n_accepted_known: int
    rate: Estimate | None


Grade = Literal["good", "partial", "chance"]


FILTER = "filter"  # the name under which all critics together are measured


class CriticScores(msgspec.Struct, frozen=True, kw_only=True):
    """How many candidates a critic gave 1, 2, 3, 4 and 5; n_below: less than the threshold."""

    critic: str
    counts: list[int]
    n: int
    n_below: int


class CriticVerdict(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be thought of a critic, or of all together (`filter`).

    measured: on defects of all kinds; kinds: of each kind. rejection: rejected of the sound questions, with
    Wilson's interval. grade and words: see above; None where it was measured on no defect or no sound
    question.
    """

    critic: str
    grade: Grade | None
    words: str
    measured: CriticMeasured
    kinds: list[CriticMeasured]
    rejection: Estimate | None


class DroppedExample(msgspec.Struct, frozen=True, kw_only=True):
    """A lost question, and what exactly was found."""

    id: str
    question: str
    detail: str | None = None


class Lost(msgspec.Struct, frozen=True, kw_only=True):
    """How many were lost for a reason of REASONS, its words, and some of them, from all documents."""

    reason: str
    step: Step
    words: str
    n: int
    examples: list[DroppedExample]


class Funnel(msgspec.Struct, frozen=True, kw_only=True):
    """The counts from documents to accepted questions: n_written = n_accepted + the sum of the losses.

    n_documents: given, n_empty of them without text, n_split longer than a passage. n_asked: what the model
    was asked for. failed_calls: calls that gave no candidate at all, by status; `error` where none is named.
    losses: in the order of REASONS. n_wanted: None where no number was declared; n_short: how many fewer; of
    facts the true ones count, for each false one is the sibling of one of them.
    """

    n_documents: int
    n_empty: int
    n_split: int
    n_passages: int
    n_asked: int
    failed_calls: dict[str, int]
    n_written: int
    losses: list[Lost]
    n_accepted: int
    n_wanted: int | None
    n_short: int


DIGITS = 16  # hexadecimal, of a shortened digest


def digest(content: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(content).hexdigest()


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
    return digest("\n".join(digests).encode()), [whole[:DIGITS] for whole in digests]
