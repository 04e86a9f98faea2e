"""The messages of errors in the sources of the installed package, and which of them a pasted text is.

They are read from the sources when a text is looked up, so no index can be out of date: see
docs/decisions/0083.
"""

import ast
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from itertools import product
from math import log
from pathlib import Path

import msgspec

PACKAGES = ("ragstone", "ragstone_assistant")
HOLE = "\0"  # where a name or a number of the user's is filled in
MOST_FORMS = 32  # of one message; the alternatives of a longer one are holes
SHORTEST = 12  # letters of its own that a message is recognised by
ENOUGH = 0.6  # of a message's words, weighted by how rare they are, that a text has to share with it
PLAIN = {"Unreadable", "LeftOut", "UnknownWord", "ValueError", "TypeError", "ReplyError", "BadRequest"}
"""Errors that are none of RagstoneError's, and whose message becomes one's: with a file, a line, a key."""

DEFINITIONS = re.compile(r"^(?=(?:async def |def |class |[A-Za-z_]\w*(?::[^\n=]+)? =\s))", re.MULTILINE)
DEFINED = re.compile(r"(?:async def |def |class )?([A-Za-z_]\w*)")


class MessageTemplate(msgspec.Struct, frozen=True):
    """A message that an error may have. text: with a zero character where something is filled in.

    error: the name of its class. module: where it is written.
    """

    text: str
    error: str
    module: str

    @property
    def shown(self) -> str:
        """The message with `…` where something is filled in."""
        return re.sub(f"{HOLE}+", "…", self.text)


def find_messages(text: str, most: int = 3) -> list[MessageTemplate]:
    """Return the messages that a pasted text may be, the most likely first; none where it is none of ours.

    Those whose own words all are in it, in their order, lead, the longest first. Where there is none, those
    that share most of their rarer words with it.
    """
    pasted = plain_text(text)
    whole = [
        (message.n_letters, message.message)
        for message in _known()
        if message.n_letters >= SHORTEST and has_in_order(pasted, message.parts)
    ]
    if whole:
        longest = max(n_letters for n_letters, _ in whole)
        ranked = sorted(whole, key=lambda match: -match[0])
        return [message for n_letters, message in ranked if n_letters >= longest / 2][:most]
    words = _words(pasted)
    rarity = _rarity()
    shares = []
    for known in _known():
        total = sum(rarity[word] for word in known.words)
        share = sum(rarity[word] for word in known.words & words) / total if len(known.words) > 3 else 0
        if share >= ENOUGH:
            shares.append((share, known.message))
    return [message for _, message in sorted(shares, key=lambda match: -match[0])][:most]


class _Known(msgspec.Struct, frozen=True):
    """A message as it is looked for. parts: what stands between its holes."""

    message: MessageTemplate
    parts: tuple[str, ...]
    n_letters: int
    words: frozenset[str]


@cache
def _known() -> tuple[_Known, ...]:
    known = []
    for message in every_message():
        plain = plain_text(message.text)
        parts = tuple(part for part in (part.strip() for part in plain.split(HOLE)) if part)
        n_letters = sum(map(str.isalpha, plain))
        known.append(_Known(message, parts, n_letters, _words(plain)))
    return tuple(known)


@cache
def _rarity() -> dict[str, float]:
    """Return each word of messages -> how much it tells: the fewer messages have it, the more."""
    known = _known()
    counts = Counter(word for each in known for word in each.words)
    return {word: log(1 + len(known) / n) for word, n in counts.items()}


def plain_text(text: str) -> str:
    """Return a text as it is compared: without case, line breaks, and the name of a class before it."""
    joined = re.sub(r"\s+", " ", text.replace("\u2026", HOLE)).strip()
    return re.sub(r"^(?:ragstone(?:\.\w+)*|\w+Error|Error): ", "", joined).casefold()


def _words(plain: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"[\w\[\]-]+", plain) if any(map(str.isalpha, word)))


def has_in_order(text: str, parts: Iterable[str]) -> bool:
    """Return whether a text has all parts, in their order."""
    at = 0
    for part in parts:
        at = text.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return True


@cache
def every_message() -> tuple[MessageTemplate, ...]:
    """Return the messages of all errors in the sources, module after module; none where there are none."""
    texts = dict(_sources())
    errors = _error_names(texts.values()) | PLAIN
    makes_errors = re.compile(rf"\braise |\bexplaining\(|\b(?:{'|'.join(sorted(errors))})\(").search
    found = (
        message
        for module, text in texts.items()
        if makes_errors(text)
        for message in _Module(module, text, errors).messages(makes_errors)
    )
    return tuple(dict.fromkeys(found))


def _sources() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        spec = find_spec(package)
        for root in (spec.submodule_search_locations or ()) if spec else ():
            for path in sorted(Path(root).rglob("*.py")):
                parts = path.relative_to(Path(root).parent).with_suffix("").parts
                yield ".".join(parts).removesuffix(".__init__"), path.read_text(encoding="utf-8")


def _error_names(texts: Iterable[str]) -> set[str]:
    """Return the names of RagstoneError and of all classes under it."""
    bases = {
        name: set(of.split(", "))
        for text in texts
        for name, of in re.findall(r"^class (\w+)\((.+)\):", text, re.MULTILINE)
    }
    names = {"RagstoneError"}
    while more := {name for name, of in bases.items() if of & names} - names:
        names |= more
    return names


def _nodes(tree: ast.AST) -> list[ast.AST]:
    """Return the nodes of a tree in the order of `ast.walk`, which takes longer."""
    nodes = [tree]
    for node in nodes:
        for field in node._fields:
            child = getattr(node, field)
            if type(child) is list:
                nodes += [each for each in child if isinstance(each, ast.AST)]
            elif isinstance(child, ast.AST) and not isinstance(child, ast.expr_context):
                nodes.append(child)
    return nodes


class _Module:
    """The messages of one module: texts are followed through its names and functions.

    Only what makes errors is parsed, definition by definition: of all sources that is a fifth.
    """

    def __init__(self, name: str, text: str, errors: set[str]) -> None:
        self._name, self._errors = name, errors
        self._source = text
        self._definitions = {
            named[1]: part for part in DEFINITIONS.split(text) if (named := DEFINED.match(part))
        }
        self._values: dict[str, list[ast.expr]] = {}
        self._functions: dict[str, ast.AST] = {}

    def messages(self, makes_errors: Callable[[str], object]) -> Iterator[MessageTemplate]:
        """Yield the messages, in the order of the source. makes_errors: says whether a text may make one."""
        for name in [name for name, part in self._definitions.items() if makes_errors(part)]:
            raised, calls = self._read(name)
            for call in calls:
                yield from self._of_call(call, is_raised=id(call) in raised)

    def _read(self, name: str) -> tuple[set[int], list[ast.Call]]:
        """Return the exceptions that a definition raises and its calls; its values and functions are kept."""
        part = self._definitions.pop(name, "")
        try:
            tree = ast.parse(part)
        except SyntaxError:  # a text in it has lines that begin like a definition
            tree = ast.parse(self._source)
            self._definitions.clear()
        raised: set[int] = set()
        calls: list[ast.Call] = []
        for node in _nodes(tree):
            if isinstance(node, ast.Call):
                calls.append(node)
            elif isinstance(node, ast.Raise):
                raised.add(id(node.exc))
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self._values.setdefault(target.id, []).append(node.value)
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self._functions[node.name] = node
        return raised, calls

    def _of_call(self, node: ast.Call, *, is_raised: bool) -> Iterator[MessageTemplate]:
        name: str = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
        if name == "explaining":
            yield from self._explained(node)
        elif name == "MissingExtra":
            for text in self._texts(node.args[0]) if node.args else ():
                whole = f"{text} needs an optional package. Install it with: pip install 'ragstone[{HOLE}]'"
                yield MessageTemplate(whole, name, self._name)
        elif name in self._errors or (is_raised and name.islower()):
            error = name if name in self._errors else "RagstoneError"
            for argument in (*node.args[:2], *(key.value for key in node.keywords if key.arg == "message")):
                for text in self._texts(argument):
                    if " " in text.strip(f" {HOLE}"):
                        yield MessageTemplate(text, error, self._name)

    def _explained(self, node: ast.Call) -> Iterator[MessageTemplate]:
        """Yield the messages of `with explaining(what, fix)`."""
        kinds = [
            key.value.id for key in node.keywords if isinstance(key.value, ast.Name) and key.arg == "error"
        ]
        what = self._texts(node.args[0]) if node.args else []
        fixes = self._texts(node.args[1]) if len(node.args) > 1 else [""]
        for begins, fix in product(what, fixes):
            yield MessageTemplate(
                f"{begins} ({HOLE}). {fix}".rstrip(), (kinds or ["DataError"])[0], self._name
            )

    def _texts(self, node: ast.expr, depth: int = 0) -> list[str]:
        """Return the texts that an expression may be, at most MOST_FORMS; a hole for what is not known."""
        match node:
            case ast.Constant(value=str(text)):
                return [text]
            case ast.JoinedStr(values=values):
                return self._joined([self._texts(value, depth) for value in values])
            case ast.FormattedValue(value=value):
                return self._texts(value, depth + 1)
            case ast.BinOp(op=ast.Add(), left=left, right=right):
                return self._joined([self._texts(left, depth), self._texts(right, depth)])
            case ast.IfExp(body=body, orelse=orelse):
                return [*self._texts(body, depth), *self._texts(orelse, depth)]
            case ast.Name(id=name) if depth < 4:
                self._read_once(name, self._values)
                return self._either(self._values.get(name, []), depth)
            case ast.Call(func=ast.Name(id=name)) if depth < 4:
                self._read_once(name, self._functions)
                inner = _nodes(self._functions[name]) if name in self._functions else ()
                returned = (node.value for node in inner if isinstance(node, ast.Return))
                return self._either([value for value in returned if value], depth)
            case ast.Call(func=ast.Attribute(value=value, attr="format" | "rstrip" | "strip")):
                return [re.sub(r"{\w*(?:![rs])?}", HOLE, text) for text in self._texts(value, depth)]
        return [HOLE]

    def _read_once(self, name: str, known: Container[str]) -> None:
        if name not in known and name in self._definitions:
            self._read(name)

    def _either(self, nodes: Iterable[ast.expr], depth: int) -> list[str]:
        texts = list(dict.fromkeys(text for node in nodes for text in self._texts(node, depth + 1)))
        return texts if 0 < len(texts) <= MOST_FORMS // 4 else [HOLE]

    def _joined(self, parts: list[list[str]]) -> list[str]:
        n_forms = 1
        for at, texts in enumerate(parts):
            n_forms *= len(texts)
            if n_forms > MOST_FORMS:
                parts[at] = [HOLE]
                n_forms //= len(texts)
        return ["".join(form) for form in product(*parts)]
