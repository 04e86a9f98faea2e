"""What became of the candidates: how many each step lost, what critics said, what is known by heart."""

from collections import Counter
from collections.abc import Sequence
from typing import TypeVar

from ragstone.features.build._built import Built
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
    tagged = [(candidate, (candidate.question.tags or {}).get("closed_book")) for candidate in candidates]
    known = [candidate for candidate, tag in tagged if tag == "known"]
    n_asked = len(known) + sum(tag == "unknown" for _, tag in tagged)
    n_failed = sum(
        tag is None and "closed_book" in (candidate.question.metadata or {}) for candidate, tag in tagged
    )
    if not n_asked + n_failed:
        return None
    notes = [(candidate.question.metadata or {}).get("closed_book") for candidate in known]
    return ClosedBookRate(
        n_asked=n_asked,
        n_known=len(known),
        n_guessable=sum(isinstance(note, dict) and note.get("guessable") is True for note in notes),
        n_failed=n_failed,
        n_accepted_known=sum(candidate.loss is None for candidate in known),
        rate=share_of(len(known), n_asked),
    )


CATCHES = 0.8  # the least share of defects that a good critic rejects
REJECTS = 0.2  # the greatest share of sound questions that a good critic rejects
SCALE = (1, 2, 3, 4, 5)


def verdicts_of(measured: Sequence[CriticMeasured]) -> list[CriticVerdict]:
    """Return a verdict on each critic, that on all of them together first; none where none was planted."""
    overall = {row.critic: row for row in measured if row.kind is None}
    return [
        _verdict(overall[name], [row for row in measured if row.critic == name and row.kind is not None])
        for name in sorted(overall, key=lambda name: name != FILTER)
    ]


def scores_of(candidates: Sequence[Candidate], threshold: int) -> list[CriticScores]:
    """Return the distribution of each critic's scores, over all candidates that have one."""
    by_critic: dict[str, Counter[int]] = {}
    for candidate in candidates:
        for critic, score in (candidate.question.scores or {}).items():
            by_critic.setdefault(critic, Counter())[round(score)] += 1
    return [
        CriticScores(
            critic=critic,
            counts=[counts[grade] for grade in SCALE],
            n=counts.total(),
            n_below=sum(n for grade, n in counts.items() if grade < threshold),
        )
        for critic, counts in by_critic.items()
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
        words=_verdict_text(measured, kinds, grade),
        measured=measured,
        kinds=kinds,
        rejection=share_of(measured.n_rejected, measured.n_sound),
    )


def _grade(row: CriticMeasured, kinds: Sequence[CriticMeasured]) -> Grade | None:
    if not row.n_defects or not row.n_sound:
        return None
    shared_out = 1 - 0.05 / max(1, len(kinds))
    if not (_better(row, row, 0.95) or any(_better(kind, row, shared_out) for kind in kinds)):
        return "chance"
    caught, rejected = row.n_caught / row.n_defects, row.n_rejected / row.n_sound
    return "good" if caught >= CATCHES and rejected <= REJECTS else "partial"


def _better(on: CriticMeasured, sound: CriticMeasured, level: float) -> bool:
    """Return whether defects are surely rejected more often than sound questions."""
    if not on.n_defects:
        return False
    caught, rejected = (on.n_caught, on.n_defects), (sound.n_rejected, sound.n_sound)
    return difference_interval(caught, rejected, level)[0] > 0


def _verdict_text(row: CriticMeasured, kinds: list[CriticMeasured], grade: Grade | None) -> str:
    if grade is None:
        return "measured on no defect or on no sound question, so it is unknown how good it is"
    counts = (
        f"catches {row.n_caught} of {row.n_defects} planted defects and rejects {row.n_rejected} of "
        f"{row.n_sound} sound questions"
    )
    missed = [kind for kind in kinds if kind.n_defects and kind.n_caught / kind.n_defects < 0.5]
    if grade == "chance":
        caught, rejected = row.n_caught / row.n_defects, row.n_rejected / row.n_sound
        verdict = "no better than chance" if caught <= rejected else "not shown to be better than chance"
        return f"{verdict}: {counts}"
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
    accepted = [candidate for candidate in built.candidates if candidate.loss is None]
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
    return [items[at * len(items) // n] for at in range(n)]


def n_short(wanted: int | None, accepted: Sequence[Candidate]) -> int:
    """Return how many fewer were accepted than wanted; of facts the true ones count."""
    n_counting = sum((candidate.question.tags or {}).get("fact") != "false" for candidate in accepted)
    return max(0, (wanted or 0) - n_counting)


def losses_of(candidates: Sequence[Candidate]) -> list[Lost]:
    """Return the losses of candidates by reason, in the order of REASONS."""
    by_reason: dict[str, list[DroppedExample]] = {reason: [] for reason in REASONS}
    for candidate in candidates:
        if candidate.loss:
            example = DroppedExample(
                id=candidate.question.id, question=candidate.question.question, detail=candidate.loss.detail
            )
            by_reason[candidate.loss.reason].append(example)
    return [
        Lost(
            reason=reason,
            step=REASONS[reason][0],
            words=REASONS[reason][1],
            n=len(examples),
            examples=spread(examples, EXAMPLES),
        )
        for reason, examples in by_reason.items()
        if examples
    ]


def _status(loss: Loss) -> str:
    """Return the status that the detail of a failed call begins with: `timeout: no reply in 60 s`."""
    word = (loss.detail or "").replace(":", " ").split(maxsplit=1)[:1]
    return word[0] if word and word[0] in STATUSES else "error"
