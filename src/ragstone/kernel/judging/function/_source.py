"""The digest of a function: of its own source, and of what it uses of its own file."""

import functools
import hashlib
import inspect
import re
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType

PLAIN = (str, int, float, bool, bytes, type(None))


def digest_of_source(function: object) -> str:
    """Return the digest of all that a function, or a metric, is made of, as far as its own file has it.

    That is its source, its defaults, the plain values that it closes over or was made with, and, of what it
    uses by name, functions and classes of the same file and plain values. What it imports does not count.
    """
    digest = hashlib.blake2b(digest_size=8)
    for part in _parts(function, set()):
        digest.update(part.encode("utf-8", "surrogatepass") + b"\0")
    return digest.hexdigest()


def _parts(thing: object, seen: set[int]) -> Iterator[str]:
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, functools.partial):
        yield from _parts(thing.func, seen)
        yield _plain_text((thing.args, thing.keywords))
        return
    inner = inspect.unwrap(thing) if callable(thing) else thing
    if not isinstance(inner, FunctionType):
        kind = thing if isinstance(thing, type) else type(thing)
        yield f"{kind.__module__}.{kind.__qualname__} {_source(kind)}"
        yield _plain_text(getattr(thing, "__dict__", {}) if kind is not thing else {})
        return
    yield _source(inner)
    held = inspect.getclosurevars(inner).nonlocals
    yield _plain_text((inner.__defaults__, inner.__kwdefaults__, held))
    for name in sorted(_names(inner.__code__)):
        used = inner.__globals__.get(name)
        if isinstance(used, FunctionType | type):
            if used.__module__ == inner.__module__:
                yield from _parts(used, seen)
        else:
            yield f"{name} {_plain_text(used)}"


def _source(thing: FunctionType | type) -> str:
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):  # typed into an interpreter, or written in C
        code = getattr(thing, "__code__", None)
        return code.co_code.hex() + _plain_text(code.co_consts) if code else ""


def _names(code: CodeType) -> set[str]:
    """Return the names that code looks up, that of functions within it too."""
    inner = [_names(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*inner)


def _plain_text(value: object) -> str:
    """Return a plain value, or what is plain of several, as a text that is the same in every process."""
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, re.Pattern):
        return f"{value.pattern!r} {value.flags}"
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{key!r}: {_plain_text(part)}" for key, part in value.items())) + "}"
    if isinstance(value, tuple | list):
        return "[" + ", ".join(map(_plain_text, value)) + "]"
    if isinstance(value, set | frozenset):
        return "{" + ", ".join(sorted(map(_plain_text, value))) + "}"
    return ""
