"""A review of an evaluation set in plain sentences."""

from ragstone.dataset.certifying.review_numbers import CriticAgreement, ReviewNumbers
from ragstone.dataset.reviewing.decisions import REJECTIONS
from ragstone.report.wording import count, interval, number, plural
from ragstone.statistics import Estimate


def review_sentences(numbers: ReviewNumbers) -> list[str]:
    """Return what people decided, what is left to do, and how far the critics agree with them."""
    return [_decided(numbers), *_rejected(numbers), *_changed(numbers), *_left(numbers), *_critics(numbers)]


def _decided(numbers: ReviewNumbers) -> str:
    n_decided = numbers.n - numbers.n_undecided
    counts = {"accepted": numbers.n_accepted, "edited": numbers.n_edited, "rejected": numbers.n_rejected}
    told = ", ".join(f"{count(n)} {what}" for what, n in counts.items())
    rescued = f"; {count(numbers.n_rescued)} of those kept had been lost" if numbers.n_rescued else ""
    people = (
        plural(len(numbers.people), "person") if len(numbers.people) == 1 else f"{len(numbers.people)} people"
    )
    return f"{people} decided on {count(n_decided)} of {plural(numbers.n, 'question')}: {told}{rescued}."


def _rejected(numbers: ReviewNumbers) -> list[str]:
    if not numbers.reasons:
        return []
    told = "; ".join(f"{count(n)} {REJECTIONS[name]}" for name, n in numbers.reasons.items())  # type: ignore[index]
    return [f"Rejected, and why: {told}."]


def _changed(numbers: ReviewNumbers) -> list[str]:
    if not numbers.changed:
        return []
    told = ", ".join(f"{name} of {count(n)}" for name, n in numbers.changed.items())
    return [f"Edits changed {told}."]


def _left(numbers: ReviewNumbers) -> list[str]:
    said = []
    if numbers.n_moved:
        said.append(f"The evidence of {count(numbers.n_moved)} was found elsewhere in its document.")
    if numbers.n_look:
        said.append(
            f"{plural(numbers.n_look, 'question')} must be looked at again: text or document have changed "
            "since they were decided on. `metadata.review.look` says what."
        )
    return said


def _critics(numbers: ReviewNumbers) -> list[str]:
    together = next(iter(numbers.critics), None)
    if together is None:
        return []
    said = [*_passed(together), *_failed(together)]
    if numbers.n_undecided:
        said.append("These shares hold for the whole set if what people looked at is a random part of it.")
    return said


def _passed(one: CriticAgreement) -> list[str]:
    if one.precision is None:
        return []
    mended = one.n_passed_kept - one.n_passed_as_it_was
    kept = f"; {count(mended)} more were kept when mended" if mended else ""
    return [
        f"Of {count(one.n_passed)} that the critics let pass, people found {count(one.n_passed_as_it_was)} "
        f"right as they were ({_share(one.precision)}){kept}."
    ]


def _failed(one: CriticAgreement) -> list[str]:
    if one.missed is None:
        return []
    return [
        f"Of {count(one.n_failed)} that the critics rejected, people found {count(one.n_failed_as_it_was)} "
        f"right as they were ({_share(one.missed)})."
    ]


def _share(estimate: Estimate) -> str:
    return f"{number(estimate.value)}, 95 % interval {interval(estimate)}"
