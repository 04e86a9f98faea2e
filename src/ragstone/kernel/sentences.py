"""Sentences that interpret numbers: each has its condition in a table, and is said only from there."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

F = TypeVar("F")
TABLES = "*_sentence_table.py"  # files of the folders that interpret numbers; their SENTENCES are the table


class Sentence(msgspec.Struct, Generic[F], frozen=True, kw_only=True, eq=False):
    """A sentence, and when it may be said of the facts F.

    code: what it is known by, kebab-case. text: with the names of its numbers in braces. when: the condition
    in plain English; holds: the same, computed. needs: name -> what it is, with its unit; the names of
    `text`. fills: the facts -> these numbers as they are shown; called only where the condition holds.
    never_beside: codes of sentences that one text may not say together with it.
    """

    code: str
    text: str
    when: str
    holds: Callable[[F], bool]
    needs: Mapping[str, str] = {}
    fills: Callable[[F], Mapping[str, str]] = lambda _: {}
    never_beside: tuple[str, ...] = ()


def others(codes: Sequence[str], own: str) -> tuple[str, ...]:
    """Return the other codes of a group of which one text says one sentence alone, for `never_beside`."""
    return tuple(code for code in codes if code != own)


def say(facts: F, *sentences: Sentence[F]) -> str:
    """Return the first of the sentences whose condition holds; empty where none does."""
    spoken = next((sentence for sentence in sentences if sentence.holds(facts)), None)
    return spoken.text.format_map(spoken.fills(facts)) if spoken else ""


def tables(package: str = "ragstone") -> Iterator[tuple[str, tuple[Sentence[Any], ...]]]:
    """Yield the name of each folder that interprets numbers, and a table of it, in the order of names."""
    spec = find_spec(package)
    for root in (spec.submodule_search_locations or ()) if spec else ():
        for path in sorted(Path(root).rglob(TABLES)):
            folder = ".".join(path.parent.relative_to(root).parts)
            yield folder, import_module(f"{package}.{folder}.{path.stem}").SENTENCES
