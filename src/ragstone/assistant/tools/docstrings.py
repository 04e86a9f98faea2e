"""A function's docstring -> what it does, what its arguments are, what users say that needs it."""

import re
from collections.abc import Container, Iterator

import msgspec

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
    found = ARGUMENT.fullmatch(line)
    return found if found and found[1] in names else None


def _arguments(lines: list[str], names: Container[str]) -> dict[str, str]:
    """Return the text of each argument; lines after it belong to it until a blank line or the next."""
    texts: dict[str, list[str]] = {}
    current: list[str] | None = None
    for line in lines:
        found = _argument(line, names)
        if found:
            current = texts.setdefault(found[1], [])
            current.append(found[2].strip())
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
