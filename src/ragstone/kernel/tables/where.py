"""A filter in words -> what it asks of a row: `correctness < 50 and topic = "maize" and not error ~ "50"`.

Its names are those of columns, so that the same filter works on a table in Python, in an export and in the
workbench. What a filter says is read once, by `bound`; who asks a database writes its tree in SQL.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Literal, NoReturn, TypeVar

import msgspec

from ragstone.kernel.errors import DataError, nearest

Kind = Literal["number", "text", "yes_no", "search", "time"]
Sign = Literal["=", "!=", "<", "<=", ">", ">=", "~", "in"]

SIGNS: dict[Kind, tuple[Sign, ...]] = {
    "number": ("=", "!=", "<", "<=", ">", ">=", "in"),
    "text": ("=", "!=", "~", "in"),
    "yes_no": ("=", "!="),
    "search": ("~",),
    "time": ("=", "!=", "<", "<=", ">", ">="),
}
TAKES: dict[Kind, str] = {
    "number": "holds numbers: compare it by = != < <= > >= or in (1, 2) with a number, such as 0.5",
    "text": 'holds text: compare it by = or !=, by ~ for "contains", or by in ("a", "b")',
    "yes_no": "is true or false: write it alone, or compare it by = or != with true or false",
    "search": 'is all texts of a row: search them by ~ with a text, such as "maize"',
    "time": "is a time in UTC: compare it by = != < <= > >= with a day, such as 2026-11-23, or with "
    "2026-11-23T14:30",
}
NONE = "none"  # what a cell without a value is compared with
MOST_CHARACTERS = 2000
MOST_PARTS = 100

TOKENS = re.compile(
    r"""(?P<sign><=|>=|!=|==|[=<>~])
      | (?P<mark>[(),])
      | "(?P<double>(?:[^"]|"")*)" | '(?P<single>(?:[^']|'')*)' | `(?P<quoted>[^`]+)`
      | (?P<word>[^\s()"'`=<>!~,]+)
      | (?P<wrong>\S)
    """,
    re.VERBOSE,
)

QUOTES = {"double": '"', "single": "'"}  # kind of token -> its mark, which stands doubled within it

TIME = re.compile(r"(\d{4}-\d\d-\d\d)(?:t(\d\d)(?::(\d\d)(?::(\d\d))?)?)?z?")
LENGTHS_S = (86_400.0, 3_600.0, 60.0, 1.0)  # of a day, an hour, a minute and a second

BARE = re.compile(r"[^\s()\"'`=<>!~,]+")  # a name that needs no `…`


class ColumnTest(msgspec.Struct, frozen=True, kw_only=True):
    """A column beside values of its kind, one of them unless the sign is `in`; None is for `none`."""

    column: str
    kind: Kind
    sign: Sign
    values: tuple[str | float | bool | None, ...]


class Combination(msgspec.Struct, frozen=True):
    """Conditions of which all, or any, must hold."""

    every: bool
    parts: "tuple[Condition, ...]"


class Negation(msgspec.Struct, frozen=True):
    """A condition that must not hold."""

    part: "Condition"


Condition = ColumnTest | Combination | Negation


def bound(text: str, columns: Mapping[str, Kind]) -> Condition:
    """Return what a filter asks of rows with these columns, by name -> kind.

    `and` binds closer than `or`. A time is as long as it is written: a day for a day. Names, words and texts
    are compared without regard to case. A cell without a value equals `none` alone, and is neither more nor
    less than anything. Raises DataError with the place where the filter cannot be read, and what it takes
    there.
    """
    if len(text) > MOST_CHARACTERS:
        raise DataError(f"The filter has {len(text):,} characters: use at most {MOST_CHARACTERS:,}.")
    return _Parser(text, columns).whole()


def conditions_in(text: str, columns: Mapping[str, Kind]) -> list[str]:
    """Return the conditions of a filter that must all hold, each as it is written; none of an empty filter.

    Joined by `and` they are the filter again. One that `or` joins is one condition, in brackets. Raises
    DataError, as bound does.
    """
    if not text.strip():
        return []
    bound(text, columns)
    return _Parser(text, columns).conditions() or [f"({text.strip()})"]


def columns_asked(text: str, columns: Mapping[str, Kind]) -> list[str]:
    """Return the columns that a filter asks for, each once, in its order. Raises DataError, as bound does."""
    named: dict[str, None] = {}

    def walk(condition: Condition) -> None:
        match condition:
            case Combination(_, parts):
                for part in parts:
                    walk(part)
            case Negation(part):
                walk(part)
            case ColumnTest():
                named[condition.column] = None

    walk(bound(text, columns))
    return [*named]


def name_in_filter(name: str) -> str:
    """Return the name of a column as a filter takes it."""
    is_word = BARE.fullmatch(name) and name.lower() not in ("and", "or", "not", "in")
    return name if is_word else f"`{name}`"


def value_in_filter(value: str) -> str:
    """Return a text as a filter takes it, in quotes; a quote within is doubled where both kinds are."""
    mark = next((mark for mark in QUOTES.values() if mark not in value), '"')
    return f"{mark}{value.replace(mark, 2 * mark)}{mark}"


def holds(condition: Condition, row: Mapping[str, Any]) -> bool:
    """Return whether a row meets a condition. row: value by column, None for none."""
    match condition:
        case Combination(every, parts):
            return (all if every else any)(holds(part, row) for part in parts)
        case Negation(part):
            return not holds(part, row)
        case ColumnTest():
            return _compares(condition, row.get(condition.column))


def _compares(condition: ColumnTest, cell: Any) -> bool:
    if condition.kind in ("text", "search") and cell is not None:
        texts = [folded(each) for each in (cell if isinstance(cell, list) else [cell])]
        asked = [None if value is None else folded(str(value)) for value in condition.values]
        match condition.sign:
            case "~":
                return any(str(asked[0]) in each for each in texts)
            case "!=":
                return asked[0] not in texts
            case _:
                return any(value in texts for value in asked)
    first = condition.values[0]
    if condition.sign in ("=", "in"):
        return cell in condition.values
    if condition.sign == "!=":
        return bool(cell != first)
    return cell is not None and first is not None and ORDERS[condition.sign](cell, first)


ORDERS: dict[str, Callable[[Any, Any], bool]] = {
    "<": lambda cell, value: cell < value,
    "<=": lambda cell, value: cell <= value,
    ">": lambda cell, value: cell > value,
    ">=": lambda cell, value: cell >= value,
    "~": lambda _cell, _value: False,
}


def folded(text: str) -> str:
    """Return a text as filters and searches compare it."""
    return (text if text.isascii() else unicodedata.normalize("NFKC", text)).lower()


class _FilterToken(msgspec.Struct, frozen=True):
    """A token of a filter. kind: the group of TOKENS, `end` for the end. at: its place, from 0.

    start: where it begins with its quotes.
    """

    kind: str
    text: str
    at: int
    start: int

    def is_word(self, *words: str) -> bool:
        """Return whether it is one of the words, which are not in quotes."""
        return self.kind == "word" and self.text.lower() in words


def _unquoted(kind: str, text: str) -> str:
    mark = QUOTES.get(kind)
    return text.replace(2 * mark, mark) if mark else text


PartT = TypeVar("PartT")


class _Parser:
    """One pass from the first token to the last."""

    def __init__(self, text: str, columns: Mapping[str, Kind]) -> None:
        self.text = text
        self.columns = columns
        self.named = {folded(name): name for name in columns}
        self.tokens = [
            _FilterToken(kind, _unquoted(kind, match[kind]), match.start(kind), match.start())
            for match in TOKENS.finditer(text)
            if (kind := match.lastgroup)
        ]
        self.tokens.append(_FilterToken("end", "", len(text), len(text)))
        self.place = 0
        self.n_parts = 0

    @property
    def token(self) -> _FilterToken:
        return self.tokens[self.place]

    def next(self) -> _FilterToken:
        token = self.token
        self.place += token.kind != "end"
        return token

    def whole(self) -> Condition:
        if self.token.kind == "end":
            raise DataError("The filter is empty: write one such as correctness < 50.")
        condition = self.any_of()
        if self.token.kind != "end":
            self.refuse(self.token, "'and', 'or' or its end")
        return condition

    def conditions(self) -> list[str]:
        """Return the texts of the conditions that `and` joins; none where `or` joins them."""
        texts = []
        while self.token.kind != "end":
            start = self.token.start
            self.one()
            texts.append(self.text[start : self.token.start].strip())
            if self.next().is_word("or"):
                return []
        return texts

    def any_of(self) -> Condition:
        return self.chain("or", self.all_of)

    def all_of(self) -> Condition:
        return self.chain("and", self.one)

    def chain(self, word: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self.token.is_word(word):
            self.next()
            parts.append(part())
        return parts[0] if len(parts) == 1 else Combination(word == "and", tuple(parts))

    def one(self) -> Condition:
        self.n_parts += 1
        if self.n_parts > MOST_PARTS:
            raise DataError(f"The filter has more than {MOST_PARTS} conditions: write fewer.")
        token = self.next()
        if token.is_word("not"):
            return Negation(self.one())
        if token.text == "(" and token.kind == "mark":
            condition = self.any_of()
            self.mark(")")
            return condition
        if token.kind not in ("word", "quoted"):
            self.refuse(token, "the name of a column, 'not' or '('")
        return self.compared(token)

    def compared(self, token: _FilterToken) -> Condition:
        name = self.named.get(folded(token.text))
        if name is None:
            hint = nearest(token.text, [*map(name_in_filter, self.columns)])
            raise DataError(f"{self.where(token)}there is no column {token.text!r}. {hint}")
        kind = self.columns[name]
        if self.token.is_word("in"):
            self.next()
            return ColumnTest(
                column=name, kind=kind, sign=self.sign("in", kind, name), values=self.listed(kind, name)
            )
        if self.token.kind != "sign":
            if kind == "yes_no":
                return ColumnTest(column=name, kind=kind, sign="=", values=(True,))
            self.refuse(self.token, f"= != < <= > >= ~ or 'in' after {name}")
        sign = self.sign(self.token.text.replace("==", "="), kind, name)
        self.next()
        if kind == "time":
            return self.timed(name, sign)
        return ColumnTest(column=name, kind=kind, sign=sign, values=(self.value(kind, name, sign),))

    def sign(self, text: str, kind: Kind, name: str) -> Sign:
        for sign in SIGNS[kind]:
            if sign == text:
                return sign
        raise DataError(f"{self.where(self.token)}{name} {TAKES[kind]}.")

    def timed(self, name: str, sign: Sign) -> Condition:
        """Return a comparison with a time that is a day, an hour, a minute or a second, as it is written."""
        token = self.next()
        if token.is_word(NONE) and sign in ("=", "!="):
            return ColumnTest(column=name, kind="time", sign=sign, values=(None,))
        match = TIME.fullmatch(token.text.lower()) if token.kind in ("word", "double", "single") else None
        try:
            if match is None:
                raise ValueError
            day, *parts = match.groups()
            clock = ":".join([part or "00" for part in parts])
            start = datetime.fromisoformat(f"{day}T{clock}").replace(tzinfo=UTC).timestamp()
        except ValueError:
            raise DataError(
                f"{self.where(token)}{token.text!r} does not fit. {name} {TAKES['time']}."
            ) from None
        end = start + LENGTHS_S[sum(part is not None for part in parts)]

        def test(sign: Sign, value: float) -> ColumnTest:
            return ColumnTest(column=name, kind="time", sign=sign, values=(value,))

        if sign in ("=", "!="):
            within = Combination(True, (test(">=", start), test("<", end)))
            return within if sign == "=" else Negation(within)
        return {"<": test("<", start), "<=": test("<", end), ">": test(">=", end), ">=": test(">=", start)}[
            sign
        ]

    def listed(self, kind: Kind, name: str) -> tuple[str | float | bool | None, ...]:
        self.mark("(")
        values = [self.value(kind, name, "in")]
        while self.token.text == "," and self.token.kind == "mark":
            self.next()
            values.append(self.value(kind, name, "in"))
        self.mark(")")
        return tuple(values)

    def value(self, kind: Kind, name: str, sign: Sign) -> str | float | bool | None:
        token = self.next()
        if token.kind not in ("word", "double", "single"):
            self.refuse(token, f"a value after {name} {sign}")
        if token.is_word(NONE) and sign in ("=", "!=", "in"):
            return None
        if kind in ("text", "search"):
            return token.text
        value: float | bool | None = None
        if kind == "yes_no":
            value = {"true": True, "false": False}.get(token.text.lower())
        elif re.fullmatch(r"[+-]?(?:\d++(?:\.\d*+)?|\.\d++)(?:e[+-]?\d{1,3})?", token.text.lower()):
            value = float(token.text)
        if value is None or value in (float("inf"), float("-inf")):
            raise DataError(f"{self.where(token)}{token.text!r} does not fit. {name} {TAKES[kind]}.")
        return value

    def mark(self, mark: str) -> None:
        token = self.next()
        if token.kind != "mark" or token.text != mark:
            self.refuse(token, repr(mark))

    def where(self, token: _FilterToken) -> str:
        return f"The filter, at character {token.at + 1}: "

    def refuse(self, token: _FilterToken, wanted: str) -> NoReturn:
        found = f"there is {token.text!r}" if token.kind != "end" else "it ends"
        raise DataError(f"{self.where(token)}{found} where it needs {wanted}.")
