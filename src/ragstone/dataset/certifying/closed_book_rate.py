"""How many questions the model answers without any document."""

from collections.abc import Sequence

import msgspec

from ragstone.dataset.candidate import Candidate
from ragstone.dataset.certifying.critic_verdicts import share_of
from ragstone.statistics import Estimate


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


def closed_book_rate(candidates: Sequence[Candidate]) -> ClosedBookRate | None:
    """Return the rate over the candidates that were asked, None where none was."""
    told = [(one, (one.question.tags or {}).get("closed_book")) for one in candidates]
    known = [one for one, said in told if said == "known"]
    n_asked = len(known) + sum(said == "unknown" for _, said in told)
    n_failed = sum(said is None and "closed_book" in (one.question.metadata or {}) for one, said in told)
    if not n_asked + n_failed:
        return None
    return ClosedBookRate(
        n_asked=n_asked,
        n_known=len(known),
        n_guessable=sum(_note(one).get("guessable") is True for one in known),
        n_failed=n_failed,
        n_accepted_known=sum(one.loss is None for one in known),
        rate=share_of(len(known), n_asked),
    )


def _note(candidate: Candidate) -> dict[str, object]:
    note = (candidate.question.metadata or {}).get("closed_book")
    return note if isinstance(note, dict) else {}
