"""`[assistant] tools = ["module:function"]`: a Python function as a tool, or a function that makes one."""

import asyncio
import inspect
import re
import types
from collections.abc import AsyncIterator, Callable, Container, Iterable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from ragstone.kernel.config.python_function import call_within, load_object
from ragstone.kernel.config.section import Seconds
from ragstone.kernel.errors import ConfigError
from ragstone_assistant.tool import Observation, Situation, Tool, ToolSetup
from ragstone_assistant.tools.plain_text import bounded, doing_of, failed

# `name: text`, `name (int): text` and `- name: text`, as Google's style and plain prose write them.
ARGUMENT = re.compile(r"\s*+(?:[-*]\s++)?+`?+(\w++)`?+\s*+(?:\([^)]*+\)\s*+)?+:\s++(\S.*+)")
HEADING = re.compile(r"\s*(Args|Arguments|Parameters|Returns|Return|Raises|Yields|Examples?|Notes?)\s*:\s*$")
MOST_SUMMARY = 600


class Described(msgspec.Struct, frozen=True):
    """summary: the first paragraph. arguments: name -> text. examples: the lines under "Examples:"."""

    summary: str
    arguments: dict[str, str]
    examples: tuple[str, ...]


def described_by(docstring: str, names: Container[str]) -> Described:
    """Return what a docstring says; names: of the arguments, of which not all need be described."""
    lines = docstring.strip().splitlines()
    summary: list[str] = []
    for line in lines:
        if not line.strip() or HEADING.fullmatch(line) or _argument(line, names):
            break
        summary.append(line.strip())
    examples = tuple(line.strip().lstrip("-* ") for line in _under_examples(lines))
    return Described(" ".join(summary)[:MOST_SUMMARY], _arguments(lines, names), examples)


def _argument(line: str, names: Container[str]) -> re.Match[str] | None:
    match = ARGUMENT.fullmatch(line)
    return match if match and match[1] in names else None


def _arguments(lines: list[str], names: Container[str]) -> dict[str, str]:
    """Return the text of each argument; lines after it belong to it until a blank line or the next."""
    texts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        match = _argument(line, names)
        if match:
            current = texts.setdefault(match[1], [])
            current.append(match[2].strip())
        elif not line.strip() or HEADING.fullmatch(line):
            current = None
        elif current is not None:
            current.append(line.strip())
    return {name: " ".join(parts) for name, parts in texts.items()}


def _under_examples(lines: list[str]) -> Iterator[str]:
    within = False
    for line in lines:
        heading = HEADING.fullmatch(line)
        if heading:
            within = heading[1].startswith("Example")
        elif within and line.strip():
            yield line


TIMEOUT_S: Seconds = 30
PLAIN = (str, int, float, bool)
TYPES = "str, int, float, bool, Literal, list of these, or one of these or None"


@asynccontextmanager
async def open_tool(call: str, setup: ToolSetup) -> AsyncIterator[Tool]:
    """Give the tool that `module:function` names, to the end of the block.

    A function whose one parameter is annotated as ToolSetup makes the tool: it returns the tool, or an async
    context manager of it. It is called in a thread, since it may read files. Any other function is the tool
    itself, see function_tool. Raises ConfigError as function_tool does and for options of a function that
    takes none, and whatever the function that makes a tool raises.
    """
    root = Path(setup.settings.root)
    function, _ = load_object(call, root, f"[assistant] tools: {call!r}")
    if not _makes_tool(function):
        if setup.name in setup.settings.assistant.options:
            raise ConfigError(f"{setup.table}: the function {call!r} takes no options. Delete this table.")
        yield await function_tool(call, root)
        return
    assert callable(function)
    made: Tool | AbstractAsyncContextManager[Tool] = await asyncio.to_thread(function, setup)
    if isinstance(made, Tool):
        yield made
    elif isinstance(made, AbstractAsyncContextManager):
        async with made as tool:
            yield tool
    else:
        raise ConfigError(
            f"[assistant] tools: {call!r} returned a {type(made).__name__}. Return a Tool, which "
            "ragstone_assistant.tool defines."
        )


def _makes_tool(function: object) -> bool:
    """Say whether a function takes a ToolSetup, and nothing else."""
    if not inspect.isfunction(function):
        return False
    annotations = [parameter.annotation for parameter in inspect.signature(function).parameters.values()]
    return annotations in ([ToolSetup], [ToolSetup.__name__])


async def function_tool(call: str, root: Path, timeout_s: float = TIMEOUT_S) -> Tool:
    """Return the tool that a function is; `call` is `module:function`, and root is looked in too.

    Its name is the function's, its description the docstring's first paragraph; lines `name: text` of the
    docstring describe the arguments, those under "Examples:" are what users say that needs it. It runs in the
    event loop where it is async, else in a thread. What it returns becomes text, cut at telling.MOST
    characters; what it raises, or that it takes longer than timeout_s, is an observation that failed. One
    that hangs in a thread goes on there.

    Raises ConfigError for what cannot be imported, has no docstring, or has arguments that a model cannot
    be told how to write.
    """
    where = f"[assistant] tools: {call!r}"
    function, _ = load_object(call, root, where)
    if not callable(function):
        raise ConfigError(f"{where} is not a function, but a {type(function).__name__}.")
    name = str(getattr(function, "__name__", None) or call.rpartition(":")[2].rpartition(".")[2])
    parameters = _parameters(function, where)
    described = described_by(inspect.getdoc(function) or "", parameters)
    if not described.summary:
        raise ConfigError(
            f"{where} has no docstring. Write in it what the function does: the model reads it."
        )
    caller = _with_arguments(function)

    async def observe(arguments: msgspec.Struct, _situation: Situation) -> Observation:
        ended = await call_within(timeout_s, caller, msgspec.structs.asdict(arguments))
        if ended is None:
            return failed(f"{name} did not return within {timeout_s:g} s.")
        returned, mistake = ended
        if mistake is not None:
            # What it says without where it was raised; its kind, where it says nothing.
            why = " ".join(str(mistake).split())[:400] or type(mistake).__name__
            return failed(f"{name} failed: {why}")
        return _observation(name, returned)

    return Tool(
        name=name,
        description=described.summary,
        arguments=_arguments_type(function, parameters, described, where),
        call=observe,
        examples=described.examples,
        doing=doing_of(name),
    )


def _with_arguments(function: Callable[..., object]) -> Callable[[dict[str, Any]], object]:
    """Return a function of one value that calls the other with its items by name; async where that is."""
    if inspect.iscoroutinefunction(function):

        async def called_async(arguments: dict[str, Any]) -> object:
            return await function(**arguments)

        return called_async

    def called(arguments: dict[str, Any]) -> object:
        return function(**arguments)

    return called


def _parameters(function: Callable[..., object], where: str) -> dict[str, inspect.Parameter]:
    """Return the parameters. Raises ConfigError for some that cannot be given by name."""
    try:
        parameters = dict(inspect.signature(function).parameters)
    except (ValueError, TypeError):
        raise ConfigError(
            f"{where} has no signature that can be read. Wrap it in your own function."
        ) from None
    for name, parameter in parameters.items():
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ConfigError(
                f"{where}: {parameter} cannot be given by name. Name every argument: no *args, **kwargs "
                "or `/`."
            )
        if name.startswith("_"):
            raise ConfigError(
                f"{where}: the argument {name} begins with an underscore. Give it another name."
            )
    return parameters


def _arguments_type(
    function: Callable[..., object],
    parameters: dict[str, inspect.Parameter],
    described: Described,
    where: str,
) -> type[msgspec.Struct]:
    hints = _hints(function, where)
    fields: list[Any] = []
    for name, parameter in parameters.items():
        if name not in hints:
            raise ConfigError(
                f"{where}: the argument {name} has no type. Write e.g. `{name}: str`. Known: {TYPES}."
            )
        if not _can_be_told(hints[name]):
            type_text = inspect.formatannotation(hints[name])
            raise ConfigError(f"{where}: the argument {name} is of type {type_text}. Known: {TYPES}.")
        hint: Any = hints[name]
        has_default = parameter.default is not parameter.empty
        if has_default and parameter.default is None:
            hint = hint | None
        if name in described.arguments:
            hint = Annotated[hint, msgspec.Meta(description=described.arguments[name])]
        default = parameter.default
        if isinstance(default, list):  # made anew for each call
            default = msgspec.field(default_factory=partial(list, list(default)))
        fields.append((name, hint, default) if has_default else (name, hint))
    title = "".join(part.title() for part in getattr(function, "__name__", "tool").split("_"))
    return msgspec.defstruct(
        f"{title}Arguments",
        fields,
        namespace={"__doc__": described.summary},
        frozen=True,
        kw_only=True,
        forbid_unknown_fields=True,
    )


def _hints(function: Callable[..., object], where: str) -> dict[str, Any]:
    described = function if inspect.isroutine(function) else type(function).__call__
    try:
        return get_type_hints(described, include_extras=True)
    except (NameError, TypeError, AttributeError, SyntaxError) as mistake:
        raise ConfigError(f"{where}: its types cannot be read ({mistake}).") from None


def _can_be_told(hint: object) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _can_be_told(inner[0])
    if origin is Literal:
        return all(isinstance(value, str | int) for value in inner)
    if origin is list:
        return _can_be_told(inner[0])
    if origin in (Union, types.UnionType):
        return all(
            _can_be_told(inner_hint) for inner_hint in inner if inner_hint is not type(None)
        ) and _together(inner)
    return hint in PLAIN


def _together(hints: Iterable[object]) -> bool:
    """Return whether a value's own type says which of these it is: of lists there may be one, say."""
    try:
        msgspec.json.Decoder(Union[tuple(hints)])  # noqa: UP007 - it is made from a list
    except TypeError:
        return False
    return True


def _observation(name: str, returned: object) -> Observation:
    if returned is None:
        return Observation(text=f"{name} returned nothing.")
    if isinstance(returned, str):
        return Observation(text=bounded(returned) or f"{name} returned an empty text.")
    try:
        text = msgspec.json.encode(returned, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError) as mistake:
        return failed(f"{name} returned something that cannot be written as text ({mistake}).")
    return Observation(text=bounded(text))
