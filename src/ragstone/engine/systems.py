"""The applications of `[systems]`, bound to a session: a name -> what answers a question."""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from ragstone.config import (
    ChatSystem,
    HttpSystem,
    ModelSettings,
    PythonSystem,
    RagSystem,
    Settings,
    SystemSettings,
    sampling_of,
)
from ragstone.engine.session import Session
from ragstone.errors import ConfigError, nearest
from ragstone.llm import Door, Message, Prompt
from ragstone.records import Answer, Question
from ragstone.systems import (
    Said,
    answer_by,
    callee_of,
    function_prompt,
    http_prompt,
    load_callee,
    open_function,
    open_http_system,
    prompt_names,
    read_said,
)
from ragstone.systems.function import Callee, Function

Asked = ChatSystem | HttpSystem | PythonSystem


class System(NamedTuple):
    """An application that is asked: what answers a question, and the door that its calls pass."""

    answer: Callable[[Question], Awaitable[Answer]]
    door: Door


def is_system(name: str, settings: Settings) -> bool:
    """Return whether a name is one of `[systems]`, or a `module:function`."""
    return name in settings.systems or (":" in name and not name.endswith(".toml"))


def system_of(name: str, settings: Settings) -> SystemSettings:
    """Return the settings of a system. Raises ConfigError for a name that is none."""
    if name in settings.systems:
        return settings.systems[name]
    if is_system(name, settings):
        return PythonSystem(call=name)
    if not settings.systems:
        raise ConfigError(f"unknown system {name!r}: ragstone.toml has no table [systems].")
    raise ConfigError(
        f"unknown system {name!r} in [systems]. {nearest(name, settings.systems)} A Python function is named "
        "module:function."
    )


def check_prompt(name: str, settings: Settings) -> None:
    """Raise ConfigError for a name that is no system and no prompt of the built-in application either."""
    known = [*prompt_names(), *settings.systems]
    if name not in known and not name.endswith(".toml"):
        raise ConfigError(
            f"unknown system {name!r}: give a name of [systems], module:function, or a prompt of the built-in"
            f" application. {nearest(name, known)}"
        )


def asks_built_in(settings: Settings) -> bool:
    """Return whether `[answer]` declares the built-in RAG, by a name of `[systems]` or without one."""
    name = settings.answer.system
    if name is None:
        return settings.answer.sheet is None
    return isinstance(system_of(name, settings), RagSystem)


def with_system(settings: Settings) -> Settings:
    """Return the settings in which the system of `[answer]`, where it is the built-in RAG, is spelled out.

    So the rank measures of a run are those of the retriever that its answers come from.
    """
    name = settings.answer.system
    if name is None:
        return settings
    declared = system_of(name, settings)
    if not isinstance(declared, RagSystem):
        return settings
    retrieve, answer = settings.retrieve, settings.answer
    return msgspec.structs.replace(
        settings,
        retrieve=msgspec.structs.replace(
            retrieve, retriever=declared.retriever or retrieve.retriever, k=declared.k or retrieve.k
        ),
        answer=msgspec.structs.replace(
            answer,
            model=declared.model or answer.model or settings.run.model,
            prompt=declared.prompt or answer.prompt,
            **msgspec.structs.asdict(sampling_of(declared, answer)),
        ),
    )


def chosen_system(
    settings: Settings, system: str | Function | None, *, built_in: bool = False
) -> tuple[Settings, dict[str, Callee]]:
    """Return settings whose `[answer] system` is the one given, and what is known of a callable, by its name.

    built_in: whether, without one, the built-in application is meant though `[answer]` names another.
    Raises ConfigError for an unknown name.
    """
    name, callables = settings.answer.system, dict[str, Callee]()
    if isinstance(system, str):
        system_of(system, settings)
        name = system
    elif system is not None:
        name, callee = callee_of(system)
        callables = {name: callee}
    elif built_in:
        name = None
    answer = msgspec.structs.replace(settings.answer, system=name)
    return msgspec.structs.replace(settings, answer=answer), callables


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
    ask = await session.ask(declared.model)
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

    return System(answer, await session.door(declared.model))


async def _open_http(name: str, declared: HttpSystem, session: Session) -> System:
    limits = ModelSettings(
        max_concurrency=declared.max_concurrency,
        requests_per_minute=declared.requests_per_minute,
        price_usd_per_million=declared.price_usd_per_million,
    )
    ask = await session.ask_service(door_of(name), open_http_system(name, declared), limits)

    async def answer(question: Question) -> Answer:
        return await answer_by(
            ask,
            http_prompt(declared, question),
            question,
            system=name,
            read=lambda reply: read_said(reply, question, tells_contexts=declared.contexts is not None),
        )

    return System(answer, await session.door(door_of(name)))


async def _open_python(name: str, declared: PythonSystem, session: Session) -> System:
    callee = session.callables.get(name)
    if callee is None:
        where = f"[systems.{name}]" if name in session.settings.systems else "system"
        callee = await load_callee(declared.call, session.settings.path("."), where)
    limits = ModelSettings(
        max_concurrency=declared.max_concurrency, price_usd_per_million=declared.price_usd_per_million
    )
    ask = await session.ask_service(door_of(name), open_function(name, callee, declared), limits)

    async def answer(question: Question) -> Answer:
        return await answer_by(
            ask,
            function_prompt(callee, question, declared.version),
            question,
            system=name,
            read=lambda reply: read_said(reply, question, tells_contexts=True),
        )

    return System(answer, await session.door(door_of(name)))


def door_of(name: str) -> str:
    """Return the name of a system's door, which no model has."""
    return f"system {name}"
