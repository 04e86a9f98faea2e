"""Which application is meant: one of `[systems]`, a prompt of the built-in one, or a function."""

import msgspec

from ragstone.config import (
    PythonSystem,
    RagSystem,
    Settings,
    SystemSettings,
    sampling_of,
)
from ragstone.errors import ConfigError, nearest
from ragstone.systems.function import Callee, Function, callee_of
from ragstone.systems.prompting import prompt_names


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
