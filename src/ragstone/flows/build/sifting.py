"""What a question must pass: the checks, the critics, the closed book."""

import functools

import msgspec

from ragstone.config import BuildSection
from ragstone.dataset.build_files import give_ids
from ragstone.dataset.candidate import Candidate
from ragstone.dataset.checks import check_candidate
from ragstone.dataset.closed_book import ask_closed_book, drop_known
from ragstone.dataset.critique import critique
from ragstone.dataset.repeats import mark_repeats
from ragstone.engine.session import Session
from ragstone.judging.critic import Critic
from ragstone.llm import Ask
from ragstone.llm.madeup import WORDS

MADE_UP = WORDS[:40]  # of a reply made up that may be cut short


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """What the steps of a build need.

    write and criticise: ask the models. forecasting: replies are made up, and lose no candidate.
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


async def sift_questions(candidates: list[Candidate], start: int, tools: Tools) -> list[Candidate]:
    """Return the candidates from `start` on with ids, checked, criticised, asked with the book closed."""
    session = tools.session
    new = [check_candidate(candidate) for candidate in candidates[start:]]
    new = _foreseen(mark_repeats(give_ids([*candidates[:start], *new]))[start:], tools)
    new = await session.each("criticise", functools.partial(criticise_candidate, tools=tools), new)
    new = _foreseen(new, tools)
    if tools.declared.closed_book != "off":
        new = await session.each("closed book", functools.partial(_closed_book, tools=tools), new)
    return _foreseen(new, tools)


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


def _foreseen(candidates: list[Candidate], tools: Tools) -> list[Candidate]:
    """Return the candidates; in a forecast those made up differ, and no reply made up loses any."""
    return [_sound(one) for one in candidates] if tools.forecasting else candidates


def _sound(candidate: Candidate) -> Candidate:
    question, loss = candidate.question, candidate.loss
    if WORDS in question.question:
        question = msgspec.structs.replace(question, question=f"{WORDS} {question.id}")
        return msgspec.structs.replace(candidate, question=question, loss=None)
    if loss is not None and MADE_UP in (loss.detail or ""):  # the question is real, who judged it is not
        return msgspec.structs.replace(candidate, loss=None)
    return candidate
