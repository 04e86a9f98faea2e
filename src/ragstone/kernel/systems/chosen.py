"""Which application is meant: one of `[systems]`, a prompt of the built-in one, or a function."""

from pathlib import Path

import msgspec

from ragstone.kernel.config import (
    ExtractiveSystem,
    PythonSystem,
    RagSystem,
    RetrieveSection,
    Settings,
    SheetSystem,
    SystemSettings,
    choose,
    sampling_of,
)
from ragstone.kernel.config.python_function import Function
from ragstone.kernel.errors import ConfigError, nearest
from ragstone.kernel.systems.function import Callee, callee_of
from ragstone.kernel.systems.prompting import prompt_names

SHIPPED_SYSTEMS: dict[str, SystemSettings] = {"extractive": ExtractiveSystem()}
"""Those that need no declaration; one of `[systems]` with the same name goes before."""


def named_systems(settings: Settings) -> dict[str, SystemSettings]:
    """Return the systems that have a name: those that ship, and those of `[systems]`, which go before."""
    return SHIPPED_SYSTEMS | settings.systems


def is_system(name: str, settings: Settings) -> bool:
    """Return whether a name is one of named_systems, or a `module:function`."""
    return name in named_systems(settings) or (":" in name and not name.endswith(".toml"))


def system_of(name: str, settings: Settings) -> SystemSettings:
    """Return the settings of a system. Raises ConfigError for a name that is none."""
    known = named_systems(settings)
    if name in known:
        return known[name]
    if is_system(name, settings):
        return PythonSystem(call=name)
    missing = " in [systems]" if settings.systems else ": ragstone.toml has no table [systems]"
    raise ConfigError(
        f"unknown system {name!r}{missing}. {nearest(name, known)} A Python function is named "
        "module:function."
    )


def check_prompt(name: str, settings: Settings) -> None:
    """Raise ConfigError for a name that is no system and no prompt of the built-in application either."""
    known = [*prompt_names(), *named_systems(settings)]
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


def check_repeats(settings: Settings) -> None:
    """Raise ConfigError where `[answer]` repeats what answers the same each time."""
    name, repeats = settings.answer.system, settings.answer.repeats or 1
    if repeats == 1:
        return
    declared = None if name is None else system_of(name, settings)
    if isinstance(declared, ExtractiveSystem):
        raise ConfigError(
            f"system {name}, repeats = {repeats}: it quotes the same sentence each time, so repeats add "
            "nothing. Leave repeats out."
        )
    if isinstance(declared, SheetSystem) or settings.answer.sheet is not None:
        whose = "[answer] sheet" if name is None else f"system {name}"
        raise ConfigError(
            f"{whose}, repeats = {repeats}: an answer sheet cannot be asked again. Add further answers as "
            "separate rows, whose system is NAME@repeat=2, and leave repeats out."
        )


def searches(settings: Settings) -> bool:
    """Return whether the system of `[answer]` answers from what is retrieved from the declared documents."""
    name = settings.answer.system
    return asks_built_in(settings) or (
        name is not None and isinstance(system_of(name, settings), ExtractiveSystem)
    )


def with_system(settings: Settings) -> Settings:
    """Return the settings in which the system of `[answer]`, where it retrieves, is spelled out.

    So the rank measures of a run are those of the retriever that its answers come from.
    """
    name = settings.answer.system
    if name is None:
        return settings
    declared = system_of(name, settings)
    if not isinstance(declared, RagSystem | ExtractiveSystem):
        return settings
    settings = msgspec.structs.replace(settings, retrieve=retrieve_for(declared, settings.retrieve))
    if isinstance(declared, ExtractiveSystem):
        return settings
    answer = settings.answer
    return msgspec.structs.replace(
        settings,
        answer=msgspec.structs.replace(
            answer,
            model=declared.model or answer.model or settings.run.model,
            prompt=declared.prompt or answer.prompt,
            **msgspec.structs.asdict(sampling_of(declared, answer)),
        ),
    )


def retrieve_for(declared: RagSystem | ExtractiveSystem, retrieve: RetrieveSection) -> RetrieveSection:
    """Return `[retrieve]` with what a system names itself."""
    return msgspec.structs.replace(
        retrieve, retriever=declared.retriever or retrieve.retriever, k=declared.k or retrieve.k
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


def answered_by(settings: Settings, system: str) -> Settings:
    """Return the settings in which this answers: a system, or the built-in application with this prompt.

    system: one of `[systems]`, `module:function`, a prompt's name, or the path of one.
    Raises ConfigError for a name that is none of them.
    """
    if is_system(system, settings):
        return chosen_system(settings, system)[0]
    check_prompt(system, settings)
    prompt = str(Path(system).absolute()) if system.endswith(".toml") else system
    return chosen_system(choose(settings, "answer", prompt=prompt), None, built_in=True)[0]
