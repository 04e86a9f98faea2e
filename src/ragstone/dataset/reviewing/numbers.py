"""A review in numbers: what people decided, and how far the critics agree with them."""

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from ragstone.dataset.certifying.critic_verdicts import FILTER, share_of
from ragstone.dataset.certifying.review_numbers import CriticAgreement, ReviewNumbers
from ragstone.dataset.reviewing.applying import Item
from ragstone.dataset.reviewing.decision import OF_THE_TEXT, REJECTIONS, Reason
from ragstone.dataset.reviewing.standing import changed_fields

CRITICISED = "criticise"  # the step at which critics reject; other losses are none of theirs


class _Judged(msgspec.Struct, frozen=True):
    """A decided question: whether critics let it pass, whether people kept it, and as it was."""

    passed: bool
    kept: bool
    as_it_was: bool


def review_numbers(items: Sequence[Item], threshold: int) -> ReviewNumbers:
    """Return the numbers of a review. threshold: the lowest score with which a question passes a critic."""
    decided = [item for item in items if item.outcome is not None]
    outcomes = Counter(item.outcome for item in decided)
    reasons: Counter[Reason] = Counter(
        item.stack[-1].reason for item in decided if item.outcome == "rejected" and item.stack[-1].reason
    )
    changed = Counter(name for item in decided if item.in_set for name in changed_fields(item.stack))
    return ReviewNumbers(
        n=len(items),
        n_accepted=outcomes["accepted"],
        n_edited=outcomes["edited"],
        n_rejected=outcomes["rejected"],
        n_undecided=len(items) - len(decided),
        n_look=sum(item.look is not None for item in items),
        n_rescued=sum(item.lost is not None and item.in_set for item in decided),
        n_moved=sum(item.moved for item in items),
        people=_people(items),
        reasons={reason: reasons[reason] for reason in REJECTIONS if reasons[reason]},
        changed=dict(changed.most_common()),
        critics=_critics(decided, threshold),
    )


def as_it_was(item: Item) -> bool:
    """Say whether people kept a question as the build had made it; tags may have been changed."""
    return item.outcome in ("accepted", "edited") and not set(OF_THE_TEXT) & set(changed_fields(item.stack))


def _people(items: Iterable[Item]) -> dict[str, int]:
    """Return how many questions each person had the last word on, most first."""
    found = Counter(item.stack[-1].person for item in items if item.stack)
    return {name: found[name] for name in sorted(found, key=lambda name: (-found[name], name))}


def _critics(decided: Sequence[Item], threshold: int) -> list[CriticAgreement]:
    """Return the agreement of all critics together, then of each; none where no critic was asked."""
    together = [
        _Judged(item.lost is None, bool(item.in_set), as_it_was(item))
        for item in decided
        if item.given.scores and (item.lost is None or item.lost.get("step") == CRITICISED)
    ]
    names = list(dict.fromkeys(name for item in decided for name in item.given.scores or {}))
    each = {
        name: [
            _Judged((item.given.scores or {})[name] >= threshold, bool(item.in_set), as_it_was(item))
            for item in decided
            if name in (item.given.scores or {})
        ]
        for name in names
    }
    return [_agreement(name, judged) for name, judged in {FILTER: together, **each}.items() if judged]


def _agreement(critic: str, judged: Sequence[_Judged]) -> CriticAgreement:
    passed = [one for one in judged if one.passed]
    failed = [one for one in judged if not one.passed]
    right = sum(one.as_it_was for one in passed)
    kept = sum(one.kept for one in passed)
    missed = sum(one.as_it_was for one in failed)
    return CriticAgreement(
        critic=critic,
        n_passed=len(passed),
        n_passed_as_it_was=right,
        n_passed_kept=kept,
        n_failed=len(failed),
        n_failed_as_it_was=missed,
        precision=share_of(right, len(passed)),
        kept=share_of(kept, len(passed)),
        missed=share_of(missed, len(failed)),
    )
