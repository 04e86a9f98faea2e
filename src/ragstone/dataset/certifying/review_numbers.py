"""The numbers of a review, as a certificate holds them."""

import msgspec

from ragstone.statistics import Estimate


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
