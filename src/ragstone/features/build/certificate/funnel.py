"""What became of the candidates: how many each step lost, what critics said, what is known by heart."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from ragstone.features.build.built import Built
from ragstone.kernel.dataset.candidate import REASONS, Candidate, Loss, Step
from ragstone.kernel.dataset.certificate import (
    FILTER,
    ClosedBookRate,
    CriticMeasured,
    CriticScores,
    CriticVerdict,
    DroppedExample,
    Funnel,
    Grade,
    Lost,
)
from ragstone.kernel.records import STATUSES
from ragstone.kernel.statistics import Estimate, difference_interval, wilson_interval


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


CATCHES = 0.8  # the least share of defects that a good critic rejects
REJECTS = 0.2  # the greatest share of sound questions that a good critic rejects
SCALE = (1, 2, 3, 4, 5)


def verdicts_of(measured: Sequence[CriticMeasured]) -> list[CriticVerdict]:
    """Return a verdict on each critic, that on all of them together first; none where none was planted."""
    overall = {one.critic: one for one in measured if one.kind is None}
    return [
        _verdict(overall[name], [one for one in measured if one.critic == name and one.kind is not None])
        for name in sorted(overall, key=lambda name: name != FILTER)
    ]


def scores_of(candidates: Sequence[Candidate], threshold: int) -> list[CriticScores]:
    """Return the distribution of each critic's scores, over all candidates that have one."""
    found: dict[str, Counter[int]] = {}
    for one in candidates:
        for critic, score in (one.question.scores or {}).items():
            found.setdefault(critic, Counter())[round(score)] += 1
    return [
        CriticScores(
            critic=critic,
            counts=[counts[grade] for grade in SCALE],
            n=counts.total(),
            n_below=sum(n for grade, n in counts.items() if grade < threshold),
        )
        for critic, counts in found.items()
    ]


def share_of(n: int, of: int) -> Estimate | None:
    """Return n / of with Wilson's interval, None of nothing."""
    if not of:
        return None
    low, high = wilson_interval(n, of)
    return Estimate(value=n / of, low=low, high=high, n=of, method="wilson")


def _verdict(measured: CriticMeasured, kinds: list[CriticMeasured]) -> CriticVerdict:
    grade = _grade(measured, kinds)
    return CriticVerdict(
        critic=measured.critic,
        grade=grade,
        words=_words(measured, kinds, grade),
        measured=measured,
        kinds=kinds,
        rejection=share_of(measured.n_rejected, measured.n_sound),
    )


def _grade(one: CriticMeasured, kinds: Sequence[CriticMeasured]) -> Grade | None:
    if not one.n_defects or not one.n_sound:
        return None
    shared_out = 1 - 0.05 / max(1, len(kinds))
    if not (_better(one, one, 0.95) or any(_better(kind, one, shared_out) for kind in kinds)):
        return "chance"
    caught, rejected = one.n_caught / one.n_defects, one.n_rejected / one.n_sound
    return "good" if caught >= CATCHES and rejected <= REJECTS else "partial"


def _better(on: CriticMeasured, sound: CriticMeasured, level: float) -> bool:
    """Return whether defects are surely rejected more often than sound questions."""
    if not on.n_defects:
        return False
    caught, rejected = (on.n_caught, on.n_defects), (sound.n_rejected, sound.n_sound)
    return difference_interval(caught, rejected, level)[0] > 0


def _words(one: CriticMeasured, kinds: list[CriticMeasured], grade: Grade | None) -> str:
    if grade is None:
        return "measured on no defect, or on no sound question: nobody knows"
    counts = (
        f"catches {one.n_caught} of {one.n_defects} planted defects and rejects {one.n_rejected} of "
        f"{one.n_sound} sound questions"
    )
    missed = [kind for kind in kinds if kind.n_defects and kind.n_caught / kind.n_defects < 0.5]
    if grade == "chance":
        caught, rejected = one.n_caught / one.n_defects, one.n_rejected / one.n_sound
        told = "no better than chance" if caught <= rejected else "not shown to be better than chance"
        return f"{told}: {counts}"
    if not missed:
        return counts
    names = ", ".join(
        f"{(kind.kind or '').replace('_', ' ')} {kind.n_caught} of {kind.n_defects}" for kind in missed
    )
    return f"{counts}; it misses most of: {names}"


ItemT = TypeVar("ItemT")

EXAMPLES = 3  # of each reason


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
    n_counting = sum((candidate.question.tags or {}).get("fact") != "false" for candidate in accepted)
    return max(0, (wanted or 0) - n_counting)


def losses_of(candidates: Sequence[Candidate]) -> list[Lost]:
    """Return the losses of candidates by reason, in the order of REASONS."""
    found: dict[str, list[DroppedExample]] = {reason: [] for reason in REASONS}
    for one in candidates:
        if one.loss:
            example = DroppedExample(
                id=one.question.id, question=one.question.question, detail=one.loss.detail
            )
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


def _status(loss: Loss) -> str:
    """Return the status that the detail of a failed call begins with: `timeout: no reply in 60 s`."""
    word = (loss.detail or "").replace(":", " ").split(maxsplit=1)[:1]
    return word[0] if word and word[0] in STATUSES else "error"
