"""Calls in rounds, until as many candidates are accepted as are wanted, and what each has to pass."""

import functools
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

import msgspec

from ragstone.features.build._built import Built, Written
from ragstone.features.build._critic import Critic
from ragstone.features.build._critique import ask_closed_book, critique, drop_known
from ragstone.features.build._fact_writing import write_facts
from ragstone.features.build._falsifying import Falsified, falsify_fact
from ragstone.features.build._losses import check_candidate, lose, mark_repeats
from ragstone.features.build._plan import Cut
from ragstone.features.build.files import give_ids
from ragstone.kernel.config import BuildSection
from ragstone.kernel.dataset.candidate import Candidate, Loss
from ragstone.kernel.dataset.certificate import CriticMeasured
from ragstone.kernel.engine.session import Session
from ragstone.kernel.judging.finding import no_model
from ragstone.kernel.llm import Ask

LEAST_RATE = 0.1  # of candidates accepted: with fewer, a round would ask for more than it is likely to need
ALL_ALIKE = 30  # drafts lost, every one and for one reason: more of them would be lost for it too
ALL_LOST = 100  # drafts lost, every one: of more no more than 3 in 100 would be kept, whatever the reasons


class WritingTask(msgspec.Struct, frozen=True):
    """One call for n candidates, to be made."""

    n: int
    write: Callable[[], Awaitable[Written]]


class WrittenCandidates(msgspec.Struct, frozen=True, kw_only=True):
    """What there is so far: candidates, calls that gave none, and how many candidates were asked for."""

    candidates: list[Candidate] = []
    failed: list[Loss] = []
    n_asked: int = 0


Sift = Callable[[list[Candidate], int], Awaitable[list[Candidate]]]
"""All candidates so far, and where the new ones begin -> the new ones, those that do not pass lost."""


async def fill(
    made: WrittenCandidates, tasks: Sequence[WritingTask], wanted: int | None, session: Session, sift: Sift
) -> WrittenCandidates:
    """Return what there is with the candidates of these tasks, of whom `wanted` are accepted at most.

    wanted: None does all tasks; else they are done in rounds until so many are accepted. Those accepted
    beyond it are lost as `beyond_count`. No round begins once `all_lost` says that it would be for nothing.
    """
    before = made
    left = list(tasks)
    while left:
        n_accepted = count_accepted(made) - count_accepted(before)
        if (wanted is not None and n_accepted >= wanted) or all_lost(made):
            break
        n_needed = sum(task.n for task in left) if wanted is None else wanted - n_accepted
        batch, left = _take(left, n_needed, n_accepted, made.n_asked - before.n_asked)
        made = await _extend(made, batch, session, sift)
    return made if wanted is None else _without_excess(made, len(before.candidates), wanted)


def count_accepted(made: WrittenCandidates) -> int:
    """Return how many candidates are not lost."""
    return sum(candidate.loss is None for candidate in made.candidates)


def all_lost(made: WrittenCandidates) -> bool:
    """Say whether nothing was kept of 30 drafts or more that were lost for one reason, or of 100 for any."""
    losses = [*(candidate.loss for candidate in made.candidates), *made.failed]
    reasons = {loss.reason if loss else None for loss in losses}
    return None not in reasons and len(losses) >= (ALL_ALIKE if len(reasons) == 1 else ALL_LOST)


async def _extend(
    made: WrittenCandidates, tasks: Sequence[WritingTask], session: Session, sift: Sift
) -> WrittenCandidates:
    """Return what there is with what these calls bring."""

    async def write(task: WritingTask) -> Written:
        return await task.write()

    came = await session.each("write", write, tasks)
    candidates = [*made.candidates, *(candidate for some in came for candidate in some.candidates)]
    n_before = len(made.candidates)
    return WrittenCandidates(
        candidates=[*made.candidates, *await sift(candidates, n_before)],
        failed=[*made.failed, *(some.failed for some in came if some.failed is not None)],
        n_asked=made.n_asked + sum(task.n for task in tasks),
    )


def _take(
    tasks: Sequence[WritingTask], n_needed: int, n_accepted: int, n_asked: int
) -> tuple[list[WritingTask], list[WritingTask]]:
    """Return the calls of the next round, and those that are left.

    So many are taken that, at the rate of acceptance so far, what is needed comes of them. While none was
    accepted, they are no more than show whether all are lost.
    """
    rate = max(LEAST_RATE, n_accepted / n_asked) if n_asked else 1.0
    most = n_needed / rate
    if not n_accepted:
        most = min(most, next((n - n_asked for n in (ALL_ALIKE, ALL_LOST) if n_asked < n), ALL_ALIKE))
    n_asked_now, at = 0, 0
    while at < len(tasks) and n_asked_now < most:
        n_asked_now += tasks[at].n
        at += 1
    return list(tasks[:at]), list(tasks[at:])


def _without_excess(made: WrittenCandidates, start: int, wanted: int) -> WrittenCandidates:
    """Return what there is with those of the candidates from `start` on lost that are more than wanted."""
    n_accepted = 0
    candidates = list(made.candidates[:start])
    for candidate in made.candidates[start:]:
        n_accepted += candidate.loss is None
        candidates.append(lose(candidate, "beyond_count") if n_accepted > wanted else candidate)
    return msgspec.structs.replace(made, candidates=candidates)


class BuildSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of a build that a forecast replaces, see forecasting.py.

    settle: what becomes of a candidate after each step.
    """

    write_facts: Callable[..., Awaitable[Written]] = write_facts
    falsify: Callable[..., Awaitable[Falsified]] = falsify_fact
    settle: Callable[[Candidate], Candidate] = lambda candidate: candidate


STEPS = BuildSteps()


class WritingTools(msgspec.Struct, frozen=True, kw_only=True):
    """What the steps of a build need. write and criticise: ask the models."""

    session: Session
    declared: BuildSection
    write: Ask
    criticise: Ask = no_model
    models: dict[str, str]
    secret: bytes
    critics: list[Critic] = []
    seed: int
    steps: BuildSteps = STEPS


def built_of(
    kind: Literal["questions", "facts"],
    made: WrittenCandidates,
    cut: Cut,
    document_ids: list[str],
    tools: WritingTools,
    *,
    critics: Sequence[CriticMeasured] = (),
) -> Built:
    """Return what a build has made, with what was asked for it so far."""
    calls = tools.session.calls()
    return Built(
        kind=kind,
        declared=tools.declared,
        seed=tools.seed,
        models=tools.models,
        document_ids=document_ids,
        empty=cut.empty,
        split=cut.split,
        passages=cut.passages,
        n_asked=made.n_asked,
        candidates=made.candidates,
        failed=made.failed,
        critics=list(critics),
        usage=calls.usage,
        cost_usd=calls.cost_usd,
    )


async def sift_questions(candidates: list[Candidate], start: int, tools: WritingTools) -> list[Candidate]:
    """Return the candidates from `start` on with ids, checked, criticised, asked with the book closed."""
    session, settle = tools.session, tools.steps.settle

    async def close_book(candidate: Candidate) -> Candidate:
        if candidate.loss is not None or candidate.question.answerable is False:
            return candidate
        answered = await ask_closed_book(candidate, ask=tools.write, secret=tools.secret)
        return drop_known(answered) if tools.declared.closed_book == "drop" else answered

    new = [check_candidate(candidate) for candidate in candidates[start:]]
    new = list(map(settle, mark_repeats(give_ids([*candidates[:start], *new]))[start:]))
    new = await session.each("criticise", functools.partial(criticise_candidate, tools=tools), new)
    new = list(map(settle, new))
    if tools.declared.closed_book != "off":
        new = await session.each("closed book", close_book, new)
    return list(map(settle, new))


async def criticise_candidate(candidate: Candidate, tools: WritingTools) -> Candidate:
    """Return the candidate with its critics' scores; one that is lost already is not asked about."""
    declared = tools.declared
    return await critique(
        candidate,
        tools.critics,
        audience=declared.audience,
        threshold=declared.threshold,
        ask=tools.criticise,
        secret=tools.secret,
        one_call=declared.one_call,
    )
