"""Calls in rounds until enough candidates are accepted: each is written, checked, criticised."""

import functools
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from ragstone.config import BuildSection
from ragstone.dataset import Candidate, Loss
from ragstone.dataset.candidate import lose
from ragstone.dataset.checks import check_candidate
from ragstone.dataset.closed_book import ask_closed_book, drop_known
from ragstone.dataset.critique import critique
from ragstone.dataset.repeats import mark_repeats
from ragstone.dataset.writing import Written
from ragstone.engine.build_files import give_ids
from ragstone.engine.session import Session
from ragstone.judging.critic import Critic
from ragstone.llm import Ask
from ragstone.llm.madeup import WORDS

LEAST_RATE = 0.1  # of questions accepted: with fewer, a round would ask for more than it is likely to need


class Task(msgspec.Struct, frozen=True):
    """One call for n questions, to be made."""

    n: int
    write: Callable[[], Awaitable[Written]]


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """What the steps of a build need.

    write and criticise: ask the models. forecasting: replies are made up, and lose no
    candidate.
    """

    session: Session
    declared: BuildSection
    write: Ask
    criticise: Ask
    models: dict[str, str]
    secret: bytes
    critics: list[Critic]
    seed: int
    forecasting: bool


class Made(msgspec.Struct, frozen=True, kw_only=True):
    """What there is so far: candidates, calls that gave none, and how many questions were asked for."""

    candidates: list[Candidate] = []
    failed: list[Loss] = []
    n_asked: int = 0


async def fill(made: Made, tasks: Sequence[Task], wanted: int | None, tools: Tools) -> Made:
    """Return what there is with the candidates of these tasks, of whom `wanted` are accepted at most.

    wanted: None does all tasks; else they are done in rounds until so many are accepted. Those accepted
    beyond it are lost as `beyond_count`.
    """
    before = made
    left = list(tasks)
    while left:
        n_accepted = count_accepted(made) - count_accepted(before)
        if wanted is not None and n_accepted >= wanted:
            break
        n_needed = sum(task.n for task in left) if wanted is None else wanted - n_accepted
        batch, left = _take(left, n_needed, n_accepted, made.n_asked - before.n_asked)
        made = await _extend(made, batch, tools)
    return made if wanted is None else _without_excess(made, len(before.candidates), wanted)


def count_accepted(made: Made) -> int:
    """Return how many candidates are not lost."""
    return sum(candidate.loss is None for candidate in made.candidates)


async def _extend(made: Made, tasks: Sequence[Task], tools: Tools) -> Made:
    """Return what there is with what these calls bring: checked, criticised, asked with the book closed."""
    session, declared = tools.session, tools.declared
    written = await session.each("write", _write, tasks)
    n_before = len(made.candidates)
    fresh = [check_candidate(one) for some in written for one in some.candidates]
    fresh = mark_repeats(give_ids([*made.candidates, *fresh]))[n_before:]
    fresh = _foreseen(fresh, tools)
    fresh = await session.each("criticise", functools.partial(criticise_candidate, tools=tools), fresh)
    fresh = _foreseen(fresh, tools)
    if declared.closed_book != "off":
        fresh = await session.each("closed book", functools.partial(_closed_book, tools=tools), fresh)
    fresh = _foreseen(fresh, tools)
    return Made(
        candidates=[*made.candidates, *fresh],
        failed=[*made.failed, *(some.failed for some in written if some.failed is not None)],
        n_asked=made.n_asked + sum(task.n for task in tasks),
    )


async def _write(task: Task) -> Written:
    return await task.write()


def _take(
    tasks: Sequence[Task], n_needed: int, n_accepted: int, n_asked: int
) -> tuple[list[Task], list[Task]]:
    """Return the calls of the next round, and those that are left.

    So many are taken that, at the rate of acceptance so far, what is needed comes of them.
    """
    rate = max(LEAST_RATE, n_accepted / n_asked) if n_asked else 1.0
    n_asked_now, at = 0, 0
    while at < len(tasks) and n_asked_now < n_needed / rate:
        n_asked_now += tasks[at].n
        at += 1
    return list(tasks[:at]), list(tasks[at:])


async def criticise_candidate(candidate: Candidate, tools: Tools) -> Candidate:
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


async def _closed_book(candidate: Candidate, tools: Tools) -> Candidate:
    if candidate.loss is not None or candidate.question.answerable is False:
        return candidate
    asked = await ask_closed_book(candidate, ask=tools.write, secret=tools.secret)
    return drop_known(asked) if tools.declared.closed_book == "drop" else asked


def _without_excess(made: Made, start: int, wanted: int) -> Made:
    """Return what there is with those of the candidates from `start` on lost that are more than wanted."""
    n_accepted = 0
    kept = list(made.candidates[:start])
    for candidate in made.candidates[start:]:
        n_accepted += candidate.loss is None
        kept.append(lose(candidate, "beyond_count") if n_accepted > wanted else candidate)
    return msgspec.structs.replace(made, candidates=kept)


def _foreseen(candidates: list[Candidate], tools: Tools) -> list[Candidate]:
    """Return the candidates; in a forecast those made up differ from each other, and none is lost."""
    if not tools.forecasting:
        return candidates
    return [_sound(one) if WORDS in one.question.question else one for one in candidates]


def _sound(candidate: Candidate) -> Candidate:
    question = msgspec.structs.replace(candidate.question, question=f"{WORDS} {candidate.question.id}")
    return msgspec.structs.replace(candidate, question=question, loss=None)
