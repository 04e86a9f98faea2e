"""A TOML text with a value set, added or taken out: all else of it, comments too, stays as it was written.

Ragstone reads TOML with a library that does not write it, and a writer would lose comments. So values are
found in the text by a scan, and replaced there. What a change did is read back and compared: a change that
did anything else is refused.
"""

import copy
import itertools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from ragstone.features.improve._judge_text import toml_key, toml_value
from ragstone.kernel.config import parse_toml
from ragstone.kernel.errors import ConfigError

Place = tuple[str | int, ...]
"""Where a value is: keys, and numbers of an array's tables, such as ("criteria", 0, "weight")."""

KEY = re.compile(r"[A-Za-z0-9_-]+|\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'")
BLANK = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
SPACE = re.compile(r"[ \t]*")
DOT = re.compile(r"[ \t]*\.[ \t]*")
BARE = re.compile(r"[^,\]}#\n]*")
TEXTS = (
    re.compile(r'"""(?:[^\\"]|\\[\s\S]|"(?!""))*"""(?:"{0,2})'),
    re.compile(r"'''[\s\S]*?'''(?:'{0,2})"),
    re.compile(r'"(?:[^"\\\n]|\\.)*"'),
    re.compile(r"'[^'\n]*'"),
)


class Entry(NamedTuple):
    """A key with its value. begin: of the key; start, end: of the value; header: of the table that it is in.

    place: of the value. header: the offset where its table's header begins, -1 above the first one.
    """

    place: Place
    begin: int
    start: int
    end: int
    header: int


class Header(NamedTuple):
    """The header of a table. begin: of it; end: of its line."""

    place: Place
    begin: int
    end: int


def entries_of(text: str) -> tuple[list[Entry], list[Header]]:
    """Return the keys and the headers of a TOML text, in their order. The text must be valid TOML."""
    entries: list[Entry] = []
    headers: list[Header] = []
    n_of: dict[Place, int] = {}
    prefix: Place = ()
    at = _after(BLANK, text, 1 if text.startswith("\ufeff") else 0)
    while at < len(text):
        begin = at
        if text[at] == "[":
            array = text.startswith("[[", at)
            names, at = _names(text, _after(SPACE, text, at + 1 + array))
            at = _after(SPACE, text, at) + 1 + array
            path = (*_within(names[:-1], n_of), names[-1])
            if array:
                n_of[path] = n_of.get(path, -1) + 1
                path = (*path, n_of[path])
            else:
                path = _within(names, n_of)
            prefix = path
            headers.append(Header(path, begin, _line_end(text, at)))
        else:
            names, at = _names(text, at)
            start = _after(SPACE, text, _after(SPACE, text, at) + 1)
            at = _value_end(text, start)
            header = headers[-1].begin if headers else -1
            entries.append(Entry((*prefix, *names), begin, start, at, header))
        at = _after(BLANK, text, at)
    return entries, headers


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at


def _names(text: str, at: int) -> tuple[tuple[str, ...], int]:
    """Return the parts of a dotted key, and where it ends."""
    names = []
    while match := KEY.match(text, at):
        word = match[0]
        names.append(str(parse_toml(f"x = {word}", Path("key"))["x"]) if word[0] in "\"'" else word)
        at = match.end()
        dot = DOT.match(text, at)
        if dot is None:
            break
        at = dot.end()
    if not names:
        raise ConfigError("a key was expected")  # never of valid TOML
    return tuple(names), at


def _within(names: tuple[str, ...], n_of: Mapping[Place, int]) -> Place:
    """Return the place of a table's name, in the last table of each array on the way."""
    path: Place = ()
    for name in names:
        path = (*path, name)
        if path in n_of:
            path = (*path, n_of[path])
    return path


def _value_end(text: str, at: int) -> int:
    for pattern in TEXTS:
        if match := pattern.match(text, at):
            return match.end()
    if text[at : at + 1] not in ("[", "{"):
        bare = BARE.match(text, at)
        return at + len(bare[0].rstrip() if bare else "")
    closing = {"[": "]", "{": "}"}[text[at]]
    at = _after(BLANK, text, at + 1)
    while at < len(text) and text[at] != closing:
        if closing == "}":
            at = _after(SPACE, text, _names(text, at)[1]) + 1
            at = _after(BLANK, text, at)
        at = _after(BLANK, text, _value_end(text, at))
        if text[at : at + 1] == ",":
            at = _after(BLANK, text, at + 1)
    return at + 1


def _line_end(text: str, at: int) -> int:
    """Return where the line that holds an offset ends, its line break included."""
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def with_value(text: str, path: Place, value: object, file: Path) -> str:
    """Return the text with a value set, or with None taken out. Raises ConfigError where that cannot be done.

    A value that is the same leaves the text as it is. file: named in errors.
    """
    before = parse_toml(text, file)
    wanted = _applied(before, path, value)
    if wanted == before:
        return text
    for changed in _candidates(text, path, value, wanted):
        try:
            if parse_toml(changed, file) == wanted:
                return changed
        except ConfigError:
            continue
    raise ConfigError(
        f"{file}: {'.'.join(map(str, path))} cannot be changed by its field. Change it in the file's text."
    )


def _applied(values: dict[str, Any], path: Place, value: object) -> dict[str, Any]:
    """Return plain values with one of them set, or taken out; tables on the way are made."""
    changed = copy.deepcopy(values)
    inner: Any = changed
    for step, following in itertools.pairwise(path):
        if isinstance(inner, dict):
            inner = inner.setdefault(str(step), [] if isinstance(following, int) else {})
        elif isinstance(step, int) and step < len(inner):
            inner = inner[step]
        else:
            raise ConfigError(f"there is no {'.'.join(map(str, path))}.")
    last: Any = path[-1]
    if isinstance(inner, list):
        if not isinstance(last, int) or not 0 <= last <= len(inner):
            raise ConfigError(f"there is no {'.'.join(map(str, path))}.")
        inner[last : last + 1] = [] if value is None else [copy.deepcopy(value)]
    elif value is None:
        inner.pop(last, None)
    else:
        inner[last] = copy.deepcopy(value)
    if value is None and len(path) == 2 and isinstance(path[1], int) and changed.get(str(path[0])) == []:
        del changed[str(path[0])]  # the last table of a list
    return changed


def _candidates(text: str, path: Place, value: object, wanted: dict[str, Any]) -> Iterator[str]:
    """Yield texts that may hold the change, the least change first."""
    entries, headers = entries_of(text)
    own = next((entry for entry in entries if entry.place == path), None)
    if own and value is not None:
        yield text[: own.start] + toml_value(value) + text[own.end :]
    elif own:
        yield text[: own.begin] + text[_line_end(text, own.end) :]
    if isinstance(value, dict):
        yield _with_table(text, path, value, entries, headers)
    elif value is not None:
        yield from _with_key(text, path, value, entries, headers)
    elif section := [header for header in headers if header.place == path]:
        yield _without_table(text, section[0], path, entries, headers)
    # A value within an inline table or array: the whole of that is written anew.
    for length in range(len(path) - 1, 0, -1):
        outer = next((entry for entry in entries if entry.place == path[:length]), None)
        if outer:
            inner: Any = wanted
            for step in path[:length]:
                inner = inner[step]
            yield text[: outer.start] + toml_value(inner) + text[outer.end :]


def _with_key(
    text: str, path: Place, value: object, entries: list[Entry], headers: list[Header]
) -> Iterator[str]:
    """Yield the text with a new key behind the last one of its table."""
    parent, line = path[:-1], f"{toml_key(str(path[-1]))} = {toml_value(value)}\n"
    header = next((each for each in headers if each.place == parent), None)
    start = -1 if header is None else header.begin
    if header is None and parent:
        yield f"{_ended(text)}\n[{'.'.join(toml_key(str(step)) for step in parent)}]\n{line}"
        return
    before = [entry.end for entry in entries if entry.header == start]
    at = _line_end(text, max(before)) if before else header.end if header else 0
    yield (_ended(text[:at]) if at else "") + line + text[at:]


def _with_table(
    text: str, path: Place, value: Mapping[str, object], entries: list[Entry], headers: list[Header]
) -> str:
    """Return the text with another table of an array, behind the last one."""
    name = ".".join(toml_key(step) for step in path if isinstance(step, str))
    lines = "".join(f"{toml_key(key)} = {toml_value(inner)}\n" for key, inner in value.items())
    before = [header for header in headers if header.place[: len(path) - 1] == path[:-1]]
    ends = [_line_end(text, entry.end) for entry in entries if before and entry.header == before[-1].begin]
    at = max(ends, default=before[-1].end) if before else len(text)
    return f"{_ended(text[:at])}\n[[{name}]]\n{lines}{text[at:]}"


def _without_table(
    text: str, section: Header, path: Place, entries: list[Entry], headers: list[Header]
) -> str:
    """Return the text without a table and those within it; what is written between it and the next stays."""
    own = [header for header in headers if header.place[: len(path)] == path]
    ends = [header.end for header in own]
    ends += [_line_end(text, entry.end) for entry in entries if entry.place[: len(path)] == path]
    return text[: section.begin] + text[max(ends) :]


def _ended(text: str) -> str:
    """Return a text whose last line is ended."""
    return text if not text or text.endswith("\n") else f"{text}\n"


def place_on(text: str, line: int) -> Place | None:
    """Return what is set on a line of a valid TOML text, counted from 1; None for another line."""
    try:
        entries, headers = entries_of(text)
    except ConfigError:
        return None
    for entry in entries:
        if text.count("\n", 0, entry.begin) < line <= text.count("\n", 0, entry.end) + 1:
            return entry.place
    return next((header.place for header in headers if text.count("\n", 0, header.begin) + 1 == line), None)
