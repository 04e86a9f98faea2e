"""`module:function` -> what it names; and a call of it that ends in time, whatever the function does."""

import asyncio
import contextvars
import functools
import hashlib
import importlib
import importlib.util
import inspect
import sys
import threading
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import ModuleType

from ragstone.kernel.errors import ConfigError

Function = Callable[..., object]


class _Unruly(Exception):
    """What a callable raised, where no future carries it (StopIteration) or it ends the loop (SystemExit)."""

    def __init__(self, mistake: BaseException) -> None:
        self.mistake = mistake


def names_function(name: str) -> bool:
    """Return whether a name is one of a Python function: `module:function` or `path/to/file.py:function`."""
    before, colon, after = name.partition("@")[0].rpartition(":")
    return bool(colon and before and after) and ".toml" not in name


def load_object(call: str, folder: Path, where: str) -> tuple[object, ModuleType]:
    """Return what `module:name` or `file.py:name` names, and its module; both are looked for in the folder.

    Raises ConfigError where it cannot be imported or is not there.
    """
    module_name, _, path = call.rpartition(":")
    if not module_name or not path:
        raise ConfigError(f"{where}: call = {call!r}: write it as module:function, e.g. my_app.rag:answer.")
    here = _look_in(folder)
    try:
        if module_name.endswith(".py"):
            module = _module_of_file(Path(folder, Path(module_name).expanduser()), where)
        else:
            module = importlib.import_module(module_name)
    except ConfigError:
        raise
    except (Exception, SystemExit) as mistake:  # noqa: BLE001 - a module may raise anything
        raise ConfigError(
            f"{where}: {module_name} cannot be imported: {raised(mistake)}. It is looked for in {here}, and "
            "where this Python finds its packages."
        ) from None
    named: object = module
    for part in path.split("."):
        named = getattr(named, part, None)
    if named is None:
        raise ConfigError(f"{where}: the module {module_name} has no {path!r}. Check call = {call!r}.")
    return named, module


def _look_in(folder: Path) -> str:
    """Let modules be found in a folder, for good: they may import their neighbours when they are called."""
    here = str(folder.resolve())
    if here not in sys.path:
        sys.path.insert(0, here)
    return here


def _module_of_file(file: Path, where: str) -> ModuleType:
    """Return the module that a file holds, read anew where the file has changed. Raises what it raises."""
    file = file.resolve()
    if not file.is_file():
        raise ConfigError(f"{where}: {file}: no such file. Check the path.")
    digest = hashlib.blake2b(str(file).encode() + file.read_bytes(), digest_size=8).hexdigest()
    name = f"ragstone_file_{digest}"
    if name not in sys.modules:
        _look_in(file.parent)
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]


def module_holding(function: Function) -> tuple[str, ModuleType | None]:
    """Return `module:name` of a callable, and the module with a file that has it under this name.

    None for any other: a lambda, a method, what a function returns, what a notebook defines.
    """
    qualified = getattr(function, "__qualname__", type(function).__qualname__)
    module = sys.modules.get(getattr(function, "__module__", None) or type(function).__module__)
    named: object = module
    for part in qualified.split("."):
        named = getattr(named, part, None)
    known = module is not None and named is function and getattr(module, "__file__", None)
    return f"{module.__name__ if module else '?'}:{qualified}", module if known else None


def module_digest(module: ModuleType) -> str:
    """Return the digest of a module's file; of one without a file, of its name."""
    file = getattr(module, "__file__", None)
    content = Path(file).read_bytes() if file else module.__name__.encode()
    return hashlib.blake2b(content, digest_size=8).hexdigest()


async def call_within(
    timeout_s: float, function: Function, argument: object
) -> tuple[object, BaseException | None] | None:
    """Return what a callable returns and what it raises; None where it does neither in time.

    One that hangs in a thread goes on there, for a thread cannot be ended; it does not keep the process.
    """
    running = asyncio.ensure_future(call(function, argument))
    try:
        await asyncio.wait({running}, timeout=timeout_s)
    finally:
        if not running.done():
            running.cancel()
    return ended(running) if running.done() else None


def ended(running: asyncio.Future[object]) -> tuple[object, BaseException | None]:
    """Return what a call of `call` that has ended returned, and what it raised."""
    mistake = asyncio.CancelledError() if running.cancelled() else running.exception()
    if mistake is None:
        return running.result(), None
    return None, mistake.mistake if isinstance(mistake, _Unruly) else mistake


async def call(function: Function, /, *arguments: object, **named: object) -> object:
    """Return what a callable returns: in the event loop where it is async, else in a thread of its own."""
    try:
        called = functools.partial(function, *arguments, **named)
        returned = called() if is_async(function) else await _in_thread(called)
        return await returned if inspect.isawaitable(returned) else returned
    except SystemExit as mistake:
        raise _Unruly(mistake) from None


def is_async(function: Function) -> bool:
    """Return whether a callable, or what an object is called through, is a coroutine function."""
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object may be called through a coroutine
    )


async def _in_thread(function: Function) -> object:
    """Return what a function returns in a thread of its own, which ends with the process."""
    landed: Future[object] = Future()
    context = contextvars.copy_context()

    def work() -> None:
        try:
            landed.set_result(context.run(function))
        except StopIteration as mistake:
            landed.set_exception(_Unruly(mistake))
        except BaseException as mistake:  # noqa: BLE001 - it is raised where the result is waited for
            landed.set_exception(mistake)

    landed.set_running_or_notify_cancel()
    threading.Thread(target=work, name="ragstone-function", daemon=True).start()
    return await asyncio.wrap_future(landed)


def raised(mistake: BaseException, file: str = "") -> str:
    """Return an exception in one line: its kind, its message, and the line that raised it.

    file: the last line in this file is meant where there is one, and not one of a library that it calls.
    """
    mistake = mistake.mistake if isinstance(mistake, _Unruly) else mistake
    message = " ".join("".join(traceback.format_exception_only(mistake)).split())[:400]
    frames = traceback.extract_tb(mistake.__traceback__)
    if not frames:
        return message
    last = next((frame for frame in reversed(frames) if frame.filename == file), frames[-1])
    return f"{message} ({Path(last.filename).name}, line {last.lineno}, in {last.name}: {last.line})"
