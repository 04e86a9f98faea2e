"""What the user of a conversation said, beside the calls that were expected -> whether these fit it."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, islice
from typing import Any

import msgspec

from ragstone.kernel.corpus.tokens import function_words, tokenize
from ragstone.kernel.judging.trajectory import ExpectedCall
from ragstone.kernel.records import Answer, Step, Turn

LEAST_TURNS = 2  # messages of the user: a single question may leave to the agent what it means
_LONG = re.compile(r"[a-z0-9]{5,}")
STEM = 5  # letters by which words are taken for forms of one
FEWEST_DIGITS = 5  # of a number that tells one thing from another
_DIGITS = re.compile(r"\d{5,}")
COMPARED = 100  # calls of a tool that an expected call is compared with
SHOWN = 120  # characters of an answer, a message, a call or a result within a sentence
LONGEST = 20_000  # characters of a result that is read as a table


class Conversation:
    """What was said and what the tools brought, of an answer with several messages of the user.

    before: how many of the user's messages come before each step, where the turns hold the calls.
    """

    def __init__(self, turns: Sequence[Turn], steps: Sequence[Step]) -> None:
        self._said = [turn.content for turn in turns if turn.role == "user"]
        others = (turn.content for turn in turns if turn.role != "user")
        self._others = [*others, *(text for step in steps for text in _texts(step.arguments))]
        self._results = [step.result for step in steps if step.result]
        self._recorded = all(step.result is not None or step.error is not None for step in steps)
        self._seen: set[str] | None = None
        said = accumulate(turn.role == "user" for turn in turns)
        before = [n for turn, n in zip(turns, said, strict=True) for _ in turn.tool_calls or ()]
        self._before = before if len(before) == len(steps) else [len(self._said)] * len(steps)

    def unknown(self, call: ExpectedCall) -> str | None:
        """Return an identifier of an expected call that nobody said or used and no tool brought.

        None where all are known, or where results are missing from the record. An identifier is a text of at
        least five letters and digits with a digit in it.
        """
        if not self._recorded:
            return None
        if self._seen is None:
            said = (*self._said, *self._results, *self._others)
            words = {word for text in said for word in _identifiers(text)}
            self._seen = words | {digits for word in words for digits in _DIGITS.findall(word)}
        texts = [text for text in _texts(call.arguments or {}) if "." not in text]
        wanted = (word for text in texts for word in _identifiers(text))
        return next((word for word in wanted if {word, *_DIGITS.findall(word)}.isdisjoint(self._seen)), None)

    def fits(self, call: ExpectedCall, step: Step, at: int) -> str | None:
        """Return, in words, how the user's messages fit a call that was made and not the expected one.

        at: its place among the steps. The last message before it that has a word of one call and not of the
        other decides: by the values of the calls, and if no message has any of these, by the tables of
        results that the values are in. If all that was called was expected too, the user must have named
        nothing of what is missing.
        """
        for describe in (lambda value: {*_words(value)}, self._described):
            wanted, made = _differing(call.arguments or {}, step.arguments, describe)
            said = reversed(self._said[: self._before[at]])
            message = next((text for text in said if {*_words(text)} & (wanted ^ made)), None)
            if message is not None:
                if made.isdisjoint(_words(message)) or not wanted.isdisjoint(_words(message)):
                    return None
                return f"the user's last words that tell the two apart fit its call: “{short(message)}”"
        if made or not wanted or self._named(wanted):
            return None
        # Else the user may have named it in other words, or in another language than the tables.
        has = {word for text in _texts(step.arguments) for word in self._described(text) or ()}
        return "no message of the user has a word of what this call lacks" if self._named(has) else None

    def _named(self, words: set[str]) -> bool:
        return any(not words.isdisjoint(_words(text)) for text in self._said)

    def asked_later(self, call: ExpectedCall, other: Step, at: int) -> bool:
        """Return whether the user first named what an expected call has and another has not after that one.

        at: the place of the other call among the steps.
        """
        shared = {word for text in _texts(other.arguments) for word in _words(text)}
        own = {word for text in _texts(call.arguments or {}) for word in _words(text)} - shared
        first = next((n for n, text in enumerate(self._said) if not own.isdisjoint(_words(text))), None)
        return first is not None and first >= self._before[at]

    def _described(self, value: str) -> set[str] | None:
        if not _identifiers(value):
            return {*_words(value)}
        table = self._tables.get(value)
        return None if table is None else {*_words(f"{value} {table}")}

    @cached_property
    def _tables(self) -> dict[str, str]:
        """Return value -> the words of the smallest table in a result that has it, as a value or as a key."""
        smallest: dict[str, str] = {}
        for result in self._results:
            try:
                decoded = msgspec.json.decode(result) if len(result) <= LONGEST else None
            except (msgspec.DecodeError, RecursionError):
                continue
            for value, table in _tables_in(decoded):
                if value not in smallest or len(table) < len(smallest[value]):
                    smallest[value] = table
        return smallest


def short(text: str) -> str:
    """Return a text on one line, cut where it is long, without the full stop at its end."""
    plain = " ".join(text.split()).rstrip(".。")
    return plain if len(plain) <= SHOWN else plain[:SHOWN].rstrip() + "…"


def _differing(
    expected: Mapping[str, Any], made: Mapping[str, Any], describe: Callable[[str], set[str] | None]
) -> tuple[set[str], set[str]]:
    """Return the words of expected values that a call lacks, and of those that it has instead.

    None of an argument if one of these values cannot be described: its words would be missing.
    """
    lacking: set[str] = set()
    instead: set[str] = set()
    for name, value in expected.items():
        values, others = {*_texts(value)}, {*_texts(made.get(name))}
        sides = [[describe(text) for text in side] for side in (values - others, others - values)]
        if any(words is None for side in sides for words in side):
            continue
        wanted, used, both = (
            {word for words in side for word in words or ()}
            for side in (*sides, map(describe, values & others))
        )
        lacking |= wanted - used - both
        instead |= used - wanted - both
    return lacking - instead, instead - lacking


def conversation_with(answer: Answer) -> Conversation | None:
    """Return the conversation of an answer; None where the user said less than LEAST_TURNS messages."""
    turns = answer.turns or []
    if sum(turn.role == "user" for turn in turns) < LEAST_TURNS:
        return None
    return Conversation(turns, answer.steps or [])


def most_alike(call: ExpectedCall, steps: Mapping[int, Step]) -> int | None:
    """Return the place of the call of the same tool with most of the expected values; None without one."""
    wanted = {(name, text) for name, value in (call.arguments or {}).items() for text in _texts(value)}

    def common(at: int) -> int:
        made = steps[at].arguments
        return sum((name, text) in wanted for name in made for text in _texts(made[name]))

    places = islice((at for at in steps if steps[at].tool == call.tool), COMPARED)
    return max(places, key=common, default=None)


def _identifiers(text: str) -> list[str]:
    return [word for word in _LONG.findall(text.casefold()) if not word.isalpha()]


def _tables_in(decoded: object) -> Iterator[tuple[str, str]]:
    """Return the values and keys of tables within tables, each with the words beside it, lists left out."""
    if isinstance(decoded, list):
        for item in decoded:
            yield from _tables_in(item)
    if not isinstance(decoded, Mapping):
        return
    beside = " ".join(_texts(decoded, lists=False))
    for key, value in decoded.items():
        if isinstance(value, Mapping):
            yield str(key), " ".join(_texts(value, lists=False))
        elif not isinstance(value, list):
            yield str(value), beside
        yield from _tables_in(value)


def _texts(value: object, *, lists: bool = True) -> Iterator[str]:
    """Return the single values within a value as texts."""
    if isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item, lists=lists)
    elif isinstance(value, list | tuple):
        for item in value if lists else ():
            yield from _texts(item)
    elif value is not None:
        yield str(value)


def _words(text: str) -> Iterator[str]:
    """Return what words mean something; of numbers only those that can be identifiers."""
    for word in tokenize(text):
        if word in function_words() or (word.isdecimal() and len(word) < FEWEST_DIGITS):
            continue
        yield word[:STEM] if word.isalpha() else word
