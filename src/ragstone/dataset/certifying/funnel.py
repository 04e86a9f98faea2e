"""What came in, what was written, what was lost at each step and why, and what is left."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

import msgspec

from ragstone.dataset.built import Built
from ragstone.dataset.candidate import REASONS, Candidate, Loss, Step
from ragstone.records import STATUSES

ItemT = TypeVar("ItemT")

EXAMPLES = 3  # of each reason


class Example(msgspec.Struct, frozen=True, kw_only=True):
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
    examples: list[Example]


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


def funnel_of(built: Built) -> Funnel:
    """Return the funnel of a build."""
    accepted = [one for one in built.candidates if one.loss is None]
    statuses = Counter(map(_status, built.failed))
    wanted = built.declared.count
    return Funnel(
        n_documents=len(built.document_ids),
        n_empty=len(built.empty),
        n_split=len(built.split),
        n_passages=len(built.passages),
        n_asked=built.n_asked,
        failed_calls={status: statuses[status] for status in STATUSES if statuses[status]},
        n_written=len(built.candidates),
        losses=losses_of(built.candidates),
        n_accepted=len(accepted),
        n_wanted=wanted,
        n_short=n_short(wanted, accepted),
    )


def n_lost(funnel: Funnel, step: Step | None = None) -> int:
    """Return how many candidates were lost, at one step or in all."""
    return sum(lost.n for lost in funnel.losses if step in (None, lost.step))


def n_of(funnel: Funnel, *reasons: str) -> int:
    """Return how many candidates were lost for these reasons."""
    return sum(lost.n for lost in funnel.losses if lost.reason in reasons)


def spread(items: Sequence[ItemT], n: int) -> list[ItemT]:
    """Return at most n of the items, evenly from first to last."""
    if len(items) <= n:
        return list(items)
    return [items[place * len(items) // n] for place in range(n)]


def n_short(wanted: int | None, accepted: Sequence[Candidate]) -> int:
    """Return how many fewer were accepted than wanted; of facts the true ones count."""
    return max(0, (wanted or 0) - sum(map(_counts, accepted)))


def losses_of(candidates: Sequence[Candidate]) -> list[Lost]:
    """Return the losses of candidates by reason, in the order of REASONS."""
    found: dict[str, list[Example]] = {reason: [] for reason in REASONS}
    for one in candidates:
        if one.loss:
            example = Example(id=one.question.id, question=one.question.question, detail=one.loss.detail)
            found[one.loss.reason].append(example)
    return [
        Lost(
            reason=reason,
            step=REASONS[reason][0],
            words=REASONS[reason][1],
            n=len(examples),
            examples=spread(examples, EXAMPLES),
        )
        for reason, examples in found.items()
        if examples
    ]


def _counts(candidate: Candidate) -> bool:
    return (candidate.question.tags or {}).get("fact") != "false"


def _status(loss: Loss) -> str:
    """Return the status that the detail of a failed call begins with: `timeout: no reply in 60 s`."""
    word = (loss.detail or "").replace(":", " ").split(maxsplit=1)[:1]
    return word[0] if word and word[0] in STATUSES else "error"
