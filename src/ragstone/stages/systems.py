"""The applications of `[systems]`, bound to a session: a name -> what answers a question."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

from ragstone.config import (
    ChatSystem,
    HttpSystem,
    ModelSettings,
    PythonSystem,
)
from ragstone.engine.session import Session
from ragstone.llm import Door, Message, Prompt
from ragstone.records import Answer, Question
from ragstone.systems.function import function_prompt, load_callee, open_function
from ragstone.systems.http import http_prompt, open_http_system
from ragstone.systems.said import Said, answer_by, read_said

Asked = ChatSystem | HttpSystem | PythonSystem


class System(NamedTuple):
    """An application that is asked: what answers a question, and the door that its calls pass."""

    answer: Callable[[Question], Awaitable[Answer]]
    door: Door


async def open_system(name: str, declared: Asked, session: Session) -> System:
    """Return the application, ready to be asked. Raises ConfigError and ModelError where it cannot be."""
    match declared:
        case ChatSystem():
            system = await _open_chat(name, declared, session)
        case HttpSystem():
            system = await _open_http(name, declared, session)
        case PythonSystem():
            system = await _open_python(name, declared, session)
    version = f"@{declared.version}" if declared.version else ""
    session.systems[name] = system.door.endpoint.identity + version
    return system


async def _open_chat(name: str, declared: ChatSystem, session: Session) -> System:
    ask = await session.models.ask(declared.model)
    before = (Message("system", declared.instructions),) if declared.instructions else ()

    async def answer(question: Question) -> Answer:
        prompt = Prompt(
            messages=(*before, Message("user", question.question)),
            max_tokens=declared.max_tokens,
            temperature=declared.temperature,
            default_temperature=None,
            top_p=declared.top_p,
            version=declared.version,
        )
        return await answer_by(ask, prompt, question, system=name, read=lambda reply: Said(answer=reply.text))

    return System(answer, await session.models.door(declared.model))


async def _open_http(name: str, declared: HttpSystem, session: Session) -> System:
    limits = ModelSettings(
        max_concurrency=declared.max_concurrency,
        requests_per_minute=declared.requests_per_minute,
        price_usd_per_million=declared.price_usd_per_million,
    )
    ask = await session.models.ask_service(door_of(name), open_http_system(name, declared), limits)

    async def answer(question: Question) -> Answer:
        return await answer_by(
            ask,
            http_prompt(declared, question),
            question,
            system=name,
            read=lambda reply: read_said(reply, question, tells_contexts=declared.contexts is not None),
        )

    return System(answer, await session.models.door(door_of(name)))


async def _open_python(name: str, declared: PythonSystem, session: Session) -> System:
    callee = session.callables.get(name)
    if callee is None:
        where = f"[systems.{name}]" if name in session.settings.systems else "system"
        callee = await load_callee(declared.call, session.settings.path("."), where)
    limits = ModelSettings(
        max_concurrency=declared.max_concurrency, price_usd_per_million=declared.price_usd_per_million
    )
    ask = await session.models.ask_service(door_of(name), open_function(name, callee, declared), limits)

    async def answer(question: Question) -> Answer:
        return await answer_by(
            ask,
            function_prompt(callee, question, declared.version),
            question,
            system=name,
            read=lambda reply: read_said(reply, question, tells_contexts=True),
        )

    return System(answer, await session.models.door(door_of(name)))


def door_of(name: str) -> str:
    """Return the name of a system's door, which no model has."""
    return f"system {name}"
