"""Which tool wrote a file of results, by what stands in its first row."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import import_module
from itertools import chain
from typing import Any

from ragstone.kernel.tables.interchange.marks import (
    is_conversation,
    is_deepeval,
    is_inspect,
    is_langfuse,
    is_openinference,
    is_promptfoo,
    is_ragas,
    is_run,
    is_table,
)

Numbered = tuple[int, Any]
"""A line, or the number of a row, and what stands there: an object, or the error in place of one."""

Reader = Callable[[Iterable[Numbered], str], Iterator[Numbered]]

# What a first row must be like, and what then reads them all, `module:function` of this folder. The first
# that fits is taken. Most files are of no tool, so a reader is imported when a row of its tool is there.
FORMATS: tuple[tuple[Callable[[Mapping[str, Any]], bool], str], ...] = (
    (is_promptfoo, "promptfoo:read_promptfoo"),
    (is_table, "promptfoo:refuse_table"),
    (is_openinference, "openinference:read_openinference"),
    (is_langfuse, "langfuse:read_langfuse"),
    (is_run, "runs:read_runs"),
    (is_deepeval, "samples:read_deepeval"),
    (is_inspect, "samples:read_inspect"),
    (is_ragas, "samples:read_ragas"),
    (is_conversation, "conversations:read_conversations"),
)


def is_result(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is, by itself, what a tool has found, whatever lists there are in it."""
    return any(fits(raw) for fits, _ in FORMATS)


def is_trace(raw: Mapping[str, Any]) -> bool:
    """Say whether an object is part of a trace: a span or a batch of them, a trace, an observation, a run."""
    return is_openinference(raw) or is_langfuse(raw) or is_run(raw)


def answers_in(rows: Iterable[Numbered], where: str) -> Iterator[Numbered]:
    """Yield the rows of an answer sheet that results of another tool hold; any other rows as they are.

    where: the file, for messages. Raises DataError for a file of a known tool in which nothing was asked.
    """
    every = iter(rows)
    before: list[Numbered] = []
    for number, raw in every:
        before.append((number, raw))
        if isinstance(raw, dict):
            read = next((read for fits, read in FORMATS if fits(raw)), None)
            together = chain(before, every)
            yield from _reader(read)(together, where) if read else together
            return
    yield from before


def _reader(place: str) -> Reader:
    module, _, name = place.partition(":")
    found: Reader = getattr(import_module(f"{__package__}.{module}"), name)
    return found
