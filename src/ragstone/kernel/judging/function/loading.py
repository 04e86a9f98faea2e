"""A call such as `module:function` -> the function, and what it takes by name: parts of a row, and tools."""

import hashlib
import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeVar

import msgspec

from ragstone.kernel.config.python_function import Function, is_async, load_object, module_holding
from ragstone.kernel.errors import ConfigError
from ragstone.kernel.judging.function._adapters import adapted
from ragstone.kernel.judging.function._declaring import ATTRIBUTE, NAME, Declared, declared_by
from ragstone.kernel.judging.function._source import digest_of_source

FunctionT = TypeVar("FunctionT", bound=Function)
TOOLS = ("ask", "retriever", "embedder")
GIVEN = "<given>"  # in place of a module, for a function that none has under its name


def judge_function(
    *,
    scale: tuple[float, float] | None = None,
    best: Literal["highest", "lowest"] | None = None,
    labels: Mapping[str, float] | None = None,
    name: str | None = None,
    version: int = 1,
    metric: str | None = None,
    timeout_s: float | None = None,
    at_once: int = 1,
) -> Callable[[FunctionT], FunctionT]:
    """Return a decorator that declares what a function is as a judge; the function stays as it is.

    scale: the lowest and the highest score (default: 0 and 1). best: which end is the good one (default: the
    highest). labels: label -> score, for a function that returns labels. name: default that of the function.
    version: give the next number when what it does changes outside its file. metric: what it measures
    (default: its name). timeout_s: seconds for one row, without those in which it waits for a model (default:
    60). at_once: how many threads may call it at one time; a coroutine function is called for many rows at
    once anyway. A metric of another tool, given in place of a function, becomes one. Raises ConfigError for
    values that no judge can have.
    """
    declaration = {
        "name": name,
        "scale": scale,
        "best": best,
        "labels": None if labels is None else dict(labels),
        "metric": metric,
        "timeout_s": timeout_s,
    }

    def declare(function: FunctionT) -> FunctionT:
        target = adapted(function) or function
        chosen = {key: value for key, value in declaration.items() if value is not None}
        declared = msgspec.structs.replace(declared_by(target), version=version, at_once=at_once, **chosen)
        setattr(target, ATTRIBUTE, declared)
        return target  # type: ignore[return-value] # a metric becomes a function

    Declared(version=version, at_once=at_once, **declaration)  # type: ignore[arg-type] # wrong values are told here
    return declare


class LoadedFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function that judges, with what it takes by name.

    required, optional: parts of a row, without and with a default. tools: those of TOOLS that it takes.
    is_async: whether it runs in the event loop. digest: changes when its source does. file, place: where it
    stands; place is words for messages.
    """

    function: Function
    declared: Declared
    required: tuple[str, ...]
    optional: tuple[str, ...]
    tools: frozenset[str]
    is_async: bool
    name: str
    digest: str
    file: str
    place: str


# What was found is kept for the process: a judge is data, and its function is looked up for every row. A
# function that no module has under its name has no other home.
_given: dict[str, Function] = {}
_loaded: dict[tuple[str, str], LoadedFunction] = {}


def call_of(function: Function) -> str:
    """Return the call by which a function that is given as such is found again in this process.

    It is `module:function` where a module has it under its name, so that workers of a cluster find it too.
    """
    name, module = module_holding(function)
    if module is not None and module.__name__ != "__main__":
        return name
    known = next((call for call, held in _given.items() if held is function), None)
    if known is None:
        known = f"{GIVEN}:{name.rpartition(':')[2]}#{len(_given) + 1}"
        _given[known] = function
    return known


def load_function(call: str, folder: str, digest: str = "") -> LoadedFunction:
    """Return what a call names, with what it takes. folder: where modules and files are looked for.

    digest: of an earlier load. Raises ConfigError where it cannot be had, is not what it was then, or cannot
    be given the parts of a row by name.
    """
    known = _loaded.get((call, digest))
    if known is not None:
        return known
    where = f"judge {call.partition(':')[2] if call.startswith(GIVEN) else call}"
    if not call.startswith(GIVEN):
        function, _module = load_object(call, Path(folder), where)
    elif call in _given:
        function = _given[call]
    else:
        raise ConfigError(
            f"{where}: it was given as a function, but workers of a cluster find functions by name. Put it "
            "into a module that they can import, and name it module:function."
        )
    loaded = _read(function, where)
    if digest and loaded.digest != digest:
        raise ConfigError(
            f"{where}: its source here differs from that of the process that started the run. Copy the file."
        )
    _loaded[call, loaded.digest] = loaded
    return loaded


def _read(thing: object, where: str) -> LoadedFunction:
    """Return what a function or a metric takes. Raises ConfigError for one that cannot be called by name."""
    metric = adapted(thing)
    function = metric or thing
    if not callable(function):
        raise ConfigError(f"{where}: it is not a function but a {type(thing).__name__}.")
    declared = declared_by(function)
    required, optional = _parts_taken(function, where)
    inner = inspect.unwrap(function)
    code = getattr(inner, "__code__", None) or getattr(type(inner).__call__, "__code__", None)
    file = code.co_filename if code and not declared.source else ""
    name = declared.name or _plain_name(function)
    if not NAME.fullmatch(name):
        raise ConfigError(
            f"{where}: it has no name that a judge can have. Give it one: @ragstone.judge_function(name=...)"
        )
    identity = "\0".join(
        [digest_of_source(thing if metric else function), str(declared.version), declared.source]
    )
    return LoadedFunction(
        function=function,
        declared=declared,
        required=tuple(parameter for parameter in required if parameter not in TOOLS),
        optional=tuple(parameter for parameter in optional if parameter not in TOOLS),
        tools=frozenset(TOOLS).intersection((*required, *optional)),
        is_async=is_async(function),
        name=name,
        digest=hashlib.blake2b(identity.encode(), digest_size=8).hexdigest(),
        file=file,
        place=f"{name} ({Path(file).name}, line {code.co_firstlineno})" if code and file else name,
    )


def _parts_taken(function: Function, where: str) -> tuple[list[str], list[str]]:
    """Return the names of the parameters without and with a default. Raises ConfigError for others."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (ValueError, TypeError):
        raise ConfigError(
            f"{where}: Python does not report its parameters. Write a function around it: def f(answer): ..."
        ) from None
    named = [
        parameter
        for parameter in parameters
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    nameless = [parameter.name for parameter in named if parameter.kind is parameter.POSITIONAL_ONLY]
    if nameless:
        raise ConfigError(
            f"{where}: nobody can give its parameter {nameless[0]!r} by name, but a judge is given the parts "
            "of a row by name. Remove the `/`."
        )
    if not named:
        raise ConfigError(
            f"{where}: it takes nothing by name. Name what it reads of a row, such as def f(question, "
            "answer), or take the complete row: def f(row)."
        )
    required = [parameter.name for parameter in named if parameter.default is parameter.empty]
    return required, [parameter.name for parameter in named if parameter.default is not parameter.empty]


def _plain_name(function: Function) -> str:
    """Return the name of a function as judges are named; of a lambda there is none."""
    name = getattr(function, "__name__", type(function).__name__)
    spaced = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return re.sub(r"[^\w<>]+", "_", spaced, flags=re.ASCII).strip("_").lower()
