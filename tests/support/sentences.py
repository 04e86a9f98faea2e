"""Which sentences of the table a text says: src/ragstone/kernel/sentences.py."""

import re
from functools import cache
from string import Formatter
from typing import Any

from ragstone.kernel.sentences import Sentence, tables

FIELD = r"(?:(?!\. [A-Z`]).)*?"  # a number or a name, never the end of a sentence and the next one


@cache
def every() -> dict[str, Sentence[Any]]:
    """Return the whole table by code. Raises ValueError for a code that is there twice."""
    found: dict[str, Sentence[Any]] = {}
    for _, table in tables():
        for sentence in table:
            if sentence.code in found:
                raise ValueError(f"two sentences have the code {sentence.code}")
            found[sentence.code] = sentence
    return found


@cache
def pattern(code: str) -> re.Pattern[str]:
    """Return what a text of this sentence looks like."""
    parts = Formatter().parse(every()[code].text)
    source = "".join(re.escape(fixed) + (FIELD if name is not None else "") for fixed, name, _, _ in parts)
    return re.compile(source.replace(r"\ ", r"\s+"), re.DOTALL)


@cache
def alone(code: str) -> re.Pattern[str]:
    """Return what a text of this sentence up to the end of its last word looks like."""
    return re.compile(f"(?:{pattern(code).pattern})(?=\\s|$)", re.DOTALL)


def said(text: str) -> list[str]:
    """Return the codes of the sentences that a text consists of, in order.

    Raises AssertionError where a part of it is none of the table's. Where two fit, the one that takes the
    most fixed letters is meant.
    """
    codes: list[str] = []
    rest = text.strip()
    while rest:
        plain = " ".join(rest.split())
        fits = [  # few texts have the fixed parts of a sentence, so few patterns are tried
            (sum(map(len, fixed_parts(code))), code, match.end())
            for code in every()
            if may_hold(code, plain) and (match := alone(code).match(rest))
        ]
        assert fits, f"the table has no sentence for: {rest}"
        _, code, end = max(fits)
        codes.append(code)
        rest = rest[end:].strip()
    return codes


def forbidden(codes: list[str]) -> list[tuple[str, str]]:
    """Return the pairs of these that must not be said together."""
    return [(a, b) for a in codes for b in codes if b in every()[a].never_beside]


@cache
def fixed_parts(code: str) -> tuple[str, ...]:
    """Return what a sentence says between its numbers and names."""
    return tuple(part for part, _, _, _ in Formatter().parse(every()[code].text))


@cache
def longest_part(code: str) -> str:
    """Return the longest of these."""
    return max(fixed_parts(code), key=len)


def may_hold(code: str, text: str) -> bool:
    """Return whether a text has the fixed parts of a sentence in order, which is soon said."""
    if longest_part(code) not in text:
        return False
    at = 0
    for part in fixed_parts(code):
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def said_somewhere(code: str, texts: list[str]) -> bool:
    """Return whether any of these texts, with plain spaces between its words, holds the sentence."""
    return any(pattern(code).search(text) for text in texts if may_hold(code, text))


def codes_in(text: str) -> set[str]:
    """Return which sentences a text holds somewhere; of two that overlap the one with more fixed letters."""
    matches = []
    for code in every():
        if may_hold(code, text):
            fixed = sum(map(len, fixed_parts(code)))
            matches += [(fixed, *match.span(), code) for match in pattern(code).finditer(text)]
    taken = bytearray(len(text))
    codes = set()
    for _, start, end, code in sorted(matches, reverse=True):
        if taken.find(1, start, end) < 0:
            taken[start:end] = b"\1" * (end - start)
            codes.add(code)
    return codes
