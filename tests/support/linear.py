"""Patterns of the package, hostile texts made from them, and whether a call's time grows faster than linear.

`patterns()` finds every regular expression of the package by itself. `hostile()` makes texts from one's
parse tree: repeats of what its parts match, whole and broken off. `grow()` times a call on such texts.
"""

import ast
import functools
import gc
import importlib
import re
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from re import _constants as sre  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from types import FrameType, ModuleType
from typing import Any, NamedTuple

from tests.support import house

SIZES = (8_192, 32_768, 131_072)
FLOOR_S = 0.004  # below it a time at the first size is noise
LIMIT_S = 1.0  # where the work of slowness() takes WORK_S; longer where it takes longer
WORK_S = 0.006
GROWTH = 1.3  # times the growth of the text
FUNCTIONS = {
    "compile": 1,
    "search": 2,
    "match": 2,
    "fullmatch": 2,
    "finditer": 2,
    "findall": 2,
    "split": 3,
    "sub": 4,
}
ENDINGS = ("", "!", "\n", "Z@ z")
_NAMES_RE = re.compile(r"\bre\s*\.")  # of a module without it no tree is needed
PALETTE = "a1 \n.Z_-@:/,([{<>\"'|`#=&\u00e9\u0905\u4e2d\u0663\x00\x80"


class Found(NamedTuple):
    """A pattern: where it stands (`module:line`), the function around it, and the methods called on it."""

    place: str
    function: str | None
    pattern: re.Pattern[Any] | None  # None where it is built of what only the function knows
    methods: frozenset[str]  # "?" where it is handed on


class Growth(NamedTuple):
    """CPU seconds at each of SIZES as far as measured, and why it fails (None: it holds)."""

    seconds: tuple[float, ...]
    fault: str | None


# ---- every pattern of the package


@cache
def modules() -> tuple[ModuleType, ...]:
    """Import and return every module of both packages."""
    return tuple(importlib.import_module(name) for name in house.modules() if not name.endswith("__main__"))


@cache
def patterns() -> tuple[Found, ...]:
    """Return every call of `re` in the package with its pattern, evaluated in its module's names."""
    found = []
    for module in modules():
        path = Path(str(module.__file__))
        if not _NAMES_RE.search(path.read_text(encoding="utf-8")):
            continue
        for call, function, target in _calls(house.tree_of(path), None, {}):
            methods = {call.func.attr}
            if call.func.attr == "compile":
                methods = {"?"} if target is None else _methods(target, module)
            place = f"{module.__name__.removeprefix('ragstone.')}:{call.lineno}"
            found.append(Found(place, function, _evaluated(call, module), frozenset(methods)))
    return tuple(found)


def _methods(name: str, owner: ModuleType) -> set[str]:
    """Return the methods called on a module's name, there and where it is imported."""
    pattern = getattr(owner, name)
    users = [module for module in modules() if vars(module).get(name) is pattern]
    return {method for module in users for method in _uses(Path(str(module.__file__))).get(name, ())} or {"?"}


def _calls(
    tree: ast.AST, function: str | None, named: dict[int, str]
) -> Iterator[tuple[Any, str | None, str | None]]:
    """Yield each call of `re` with the function that it stands in and the name that it is given."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Assign) and function is None:
            names, values = node.targets[0], node.value
            pairs = (
                zip(names.elts, values.elts, strict=False)
                if isinstance(names, ast.Tuple) and isinstance(values, ast.Tuple)
                else [(names, values)]
            )
            named = named | {id(value): name.id for name, value in pairs if isinstance(name, ast.Name)}
        if isinstance(node, ast.Call) and _is_of_re(node.func):
            yield node, function, named.get(id(node))
        inner = node.name if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else function
        yield from _calls(node, inner, named)


def _is_of_re(called: ast.expr) -> bool:
    of = called.value if isinstance(called, ast.Attribute) and called.attr in FUNCTIONS else None
    return isinstance(of, ast.Name) and of.id == "re"


@cache
def _uses(path: Path) -> dict[str, set[str]]:
    """Return for each name of a module how it is used: the methods called on it, "?" for any other use."""
    nodes = house.nodes_of(path)
    called = {id(node.value): node.attr for node in nodes if isinstance(node, ast.Attribute)}
    uses: dict[str, set[str]] = {}
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            uses.setdefault(node.id, set()).add(called.get(id(node), "?"))
    return uses


def _evaluated(call: ast.Call, module: ModuleType) -> re.Pattern[Any] | None:
    place = FUNCTIONS[call.func.attr]  # type: ignore[attr-defined]
    flags = [word.value for word in call.keywords if word.arg == "flags"] + call.args[place : place + 1]
    try:
        values = [eval(ast.unparse(part), dict(vars(module))) for part in [call.args[0], *flags]]
    except NameError:
        return None
    return re.compile(*values)


# ---- hostile texts of a pattern


def hostile(pattern: re.Pattern[Any], most: int) -> list[tuple[str, str, str]]:
    """Return at most `most` texts as (beginning, what is repeated, ending), made from a pattern's parts."""
    written = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = _parser.parse(written, pattern.flags & ~re.UNICODE & ~re.DEBUG)
    pieces = _pieces(tree)[:40]
    chars = sorted(_chars(tree), key=lambda char: (char not in PALETTE, char))[:14]
    beginnings = ["".join(pieces[:end]) for end in range(1, len(pieces) + 1)]
    runs = ["".join(pieces[start : start + n]) for n in (1, 2, 3) for start in range(len(pieces))]
    first = [("", unit, end) for unit in [*chars, *beginnings[-1:]] for end in ENDINGS]
    first += [("", unit, "!") for unit in beginnings[:12]]
    more = [("", unit, end) for unit in [*beginnings, *runs] for end in ENDINGS]
    more += [("", a + b, end) for a, b in product(chars[:9], repeat=2) if a != b for end in ENDINGS]
    for begin, piece in zip(["", *beginnings], [*pieces, ""], strict=False):
        more += [(begin, unit, end) for unit in (piece, *chars[:6]) for end in ENDINGS[:3]]
    texts = [one for one in dict.fromkeys([*first, *more]) if one[1]]
    step = max(1, -(-(len(texts) - len(first)) // max(1, most - len(first))))
    return [*texts[: len(first)], *texts[len(first) :: step]][: max(most, len(first))]


def text_of(parts: tuple[str, str, str], size: int) -> str:
    begin, unit, end = parts
    return begin + unit * max(1, (size - len(begin) - len(end)) // len(unit)) + end


def _chars(tree: Iterable[tuple[object, Any]]) -> set[str]:
    """Return characters that the parts of a pattern match: a few of each class, each literal."""
    chars: set[str] = set()
    for op, value in tree:
        if op is sre.LITERAL:
            chars.add(chr(value))
        elif op in (sre.IN, sre.ANY, sre.NOT_LITERAL):
            chars.update(_members(op, value)[:4])
        else:
            for part in _parts(value):
                chars |= _chars(part)
    return chars


def _pieces(tree: Iterable[tuple[object, Any]]) -> list[str]:
    """Return the pieces of the shortest text that a pattern takes, each repeat taken once at least."""
    pieces: list[str] = []
    for op, value in tree:
        if op is sre.LITERAL:
            pieces.append(chr(value))
        elif op in (sre.IN, sre.ANY, sre.NOT_LITERAL):
            pieces.append(_members(op, value)[0])
        elif op in (sre.MAX_REPEAT, sre.MIN_REPEAT, sre.POSSESSIVE_REPEAT):
            pieces.append("".join(_pieces(value[2])) * max(1, min(value[0], 20)))
        elif op in (sre.ASSERT, sre.SUBPATTERN, sre.ATOMIC_GROUP, sre.BRANCH):
            inner = _parts(value)
            pieces += _pieces(inner[len(inner) // 2])
    return pieces


def _parts(value: object) -> list[Any]:
    """Return the patterns within the argument of an operation."""
    if isinstance(value, _parser.SubPattern):
        return [value]
    return [part for one in value for part in _parts(one)] if isinstance(value, tuple | list) else []


def _members(op: object, value: object) -> str:
    """Return a few characters of a class, at least one."""
    items: Any = value if op is sre.IN else [(op, value)]
    own = [chr(code) for kind, code in items if kind is sre.LITERAL]
    own += [chr(code[0]) for kind, code in items if kind is sre.RANGE]
    sieve = re.compile(_parser.SubPattern and "." if op is sre.ANY else _class(items), re.DOTALL)
    fitting = [char for char in [*PALETTE, *own] if sieve.fullmatch(char)]
    return "".join([*fitting[:2], *own[:2], *fitting[2:]]) if fitting else "a"


def _class(items: Iterable[tuple[Any, Any]]) -> str:
    """Write a class of characters anew, for the parser keeps no text."""
    names = {
        sre.CATEGORY_DIGIT: r"\d", sre.CATEGORY_NOT_DIGIT: r"\D", sre.CATEGORY_SPACE: r"\s",
        sre.CATEGORY_NOT_SPACE: r"\S", sre.CATEGORY_WORD: r"\w", sre.CATEGORY_NOT_WORD: r"\W",
    }  # fmt: skip
    written, negated = "", False
    for kind, value in items:
        if kind in (sre.NEGATE, sre.NOT_LITERAL):
            negated = True
        if kind in (sre.LITERAL, sre.NOT_LITERAL):
            written += re.escape(chr(value))
        elif kind is sre.RANGE:
            written += f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}"
        elif kind is sre.CATEGORY:
            written += names[value]
    return f"[{'^' * negated}{written}]"


# ---- time


class TooLong(BaseException):  # nothing that is timed may catch it
    pass


def seconds_of(call: Callable[[Any], object], text: object, limit_s: float = LIMIT_S) -> float:
    """Return the CPU seconds of one call, `inf` where they pass the limit."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise TooLong

    forget()
    before = signal.signal(signal.SIGVTALRM, stop)
    gc.disable()  # a collection walks through all modules that are loaded
    began = time.thread_time()
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, limit_s)
        call(text)
    except TooLong:
        return float("inf")
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
        gc.enable()
    return time.thread_time() - began


def slowness() -> float:
    """Return how many times longer this machine takes now than the one that LIMIT_S is of, 1 at least."""
    began, n = time.thread_time(), 0
    for step in range(100_000):
        n = (n * 31 + step) & 0xFFFF
    return max(1.0, (time.thread_time() - began) / WORK_S)


def grow(
    call: Callable[[Any], object], make: Callable[[int], Any], growth: float = GROWTH, takes: int = 8
) -> Growth:
    """Time a call on texts of SIZES; it fails where it grows faster than `growth` x linear or passes LIMIT_S.

    It is taken anew only while it looks guilty, beside the first size, so that both have the same load; what
    counts is the best of `takes`. Before the last size it may look twice as guilty.
    """
    first, limit_s = make(SIZES[0]), LIMIT_S
    seconds: list[float] = []
    for size in SIZES:
        if size == SIZES[1] and seconds[0] < FLOOR_S:
            continue  # it spares the last size to what is slow, and this is not
        text = make(size)
        slack = growth if size == SIZES[-1] else 2 * growth
        for _ in range(takes):
            took = seconds_of(call, text, limit_s * 1.5)
            base = max(seconds[0], FLOOR_S) if seconds else limit_s
            allowed = min(limit_s, slack * base * size / SIZES[0]) if seconds else limit_s
            slow_s = LIMIT_S * slowness() if took > limit_s else limit_s
            if took <= allowed or (took == float("inf") and slow_s <= limit_s):
                break
            limit_s = max(limit_s, slow_s)
            if seconds:
                seconds[0] = seconds_of(call, first)
        seconds.append(took)
        if took > allowed:
            why = f"{took:.3f} s at {size // 1024} KB, allowed {allowed:.3f}"
            return Growth(tuple(seconds), why)
    return Growth(tuple(seconds), None)


def worst(
    call: Callable[[Any], object],
    texts: Sequence[tuple[str, str, str]],
    n: int,
    as_bytes: bool = False,
    growth: float = GROWTH,
    takes: int = 8,
) -> Iterator[tuple[tuple[str, str, str], Growth]]:
    """Yield the growth on the `n` texts that are slowest at 2 KB."""

    def make(parts: tuple[str, str, str], size: int) -> str | bytes:
        text = text_of(parts, size)
        return text.encode("utf-8", "surrogatepass") if as_bytes else text

    slowest = sorted(texts, key=lambda parts: -seconds_of(call, make(parts, 2048), 0.1))[:n]
    for parts in slowest:
        yield parts, grow(call, functools.partial(make, parts), growth, takes)


def call_of(found: Found) -> Callable[[Any], object]:
    """Return how a pattern is used: matched at the beginning, or looked for all along the text."""
    pattern = found.pattern
    assert pattern is not None
    if found.methods <= {"match", "fullmatch"}:
        ways = [getattr(pattern, method) for method in sorted(found.methods)]
        return lambda text: [way(text) for way in ways]
    return lambda text: deque(pattern.finditer(text), maxlen=0)  # a loop of ours would be most of the time


@cache
def _remembering() -> tuple[Any, ...]:
    """Return the functions of the package that keep the last results: a text timed twice must cost twice."""
    found = (value for module in modules() for value in vars(module).values())
    kept = (one for one in found if hasattr(one, "cache_parameters"))
    return tuple({one for one in kept if one.cache_parameters()["maxsize"] is not None})


def forget() -> None:
    for function in _remembering():
        function.cache_clear()
