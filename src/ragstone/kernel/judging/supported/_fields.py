"""Contexts that are records: JSON, a Python dict, or lines of `key: value`.

What is yes, no or empty in a record is said by no words: "OutdoorSeating: false" holds the words of the
sentence that it denies.
"""

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from ragstone.kernel.judging.matching import word_weight, words

FieldValue = Literal["yes", "no", "empty"]
VALUES: dict[str, FieldValue] = {
    "true": "yes",
    "yes": "yes",
    "false": "no",
    "no": "no",
    "null": "empty",
    "none": "empty",
    "n/a": "empty",
}
LONGEST_RECORD = 1_000_000  # characters
PIECES = re.compile(r"(?<=[a-z])(?=[A-Z])|[_\-]")  # of a key: OutdoorSeating, outdoor_seating
LINE = re.compile(
    r"(?m)^[ \t]*[\"']?([^\W\d][^\"'\n:{}]{0,40})[\"']?[ \t]*:[ \t]*[\"']?([\w/]{2,5})[\"']?,?[ \t]*$"
)
TOKEN = re.compile(r"[^\W_]+(?:['’]t)?|[,;.:!?]")
COMMON = 0.35  # a key's words of this weight or less ("good for groups") need not be there
STEM = 5  # letters by which a word of a key is known in another form
REACH = 6  # words from a negation to what it denies
BEHIND = 3


class RecordField(NamedTuple):
    """A field of a record that is yes, no or empty: the words of its key and of the key above."""

    key: tuple[str, ...]
    parent: tuple[str, ...]
    value: FieldValue

    @property
    def said(self) -> str:
        """The field in words: `outdoor seating: no`."""
        return f"{' '.join(self.key)}: {self.value}"


def read_record(text: str) -> tuple[str, list[RecordField], str]:
    """Return a context as text, its fields that are yes, no or empty, and its values as text.

    Text that is no record comes back as it is. Of a record the keys stand before their values, but those of
    empty fields are left out: nothing is said of them.
    """
    record = _parsed(text.strip())
    if record is None:
        lines = [(match[1].strip(), VALUES.get(match[2].lower())) for match in LINE.finditer(text)]
        fields = [RecordField(_key_words(key), (), value) for key, value in lines if value]
        rest = LINE.sub(lambda match: "" if VALUES.get(match[2].lower()) == "empty" else match[0], text)
        prose = LINE.sub(lambda match: "" if match[2].lower() in VALUES else match[0], text)
        return (rest, fields, prose) if fields else (text, [], text)
    leaves = list(_leaves(record, ()))
    pieces: list[str] = []
    fields = []
    values: list[str] = []
    flags = [path for path, leaf in leaves if path and _value(leaf)]
    first = Counter(key[0] for path in flags if len(key := _key_words(path[-1])) > 1)
    for path, leaf in leaves:
        value = _value(leaf)
        if value is None or not path:
            values.append(str(leaf))
            pieces.append(PIECES.sub(" ", " ".join(path[-2:])) + f": {leaf}" if path else str(leaf))
            continue
        # RestaurantsTakeOut, RestaurantsReservations: what several keys begin with says nothing.
        key = tuple(word for word in _key_words(path[-1]) if first[word] < 2)
        if key:
            fields.append(RecordField(key, _key_words(path[-2]) if len(path) > 1 else (), value))
        if value != "empty":
            pieces.append(PIECES.sub(" ", " ".join(path)))
    return ".\n".join(pieces), fields, "\n".join(values)


def contradicted_fields(
    sentence: str, fields: Sequence[RecordField], prose: frozenset[str], negations: frozenset[str]
) -> list[RecordField]:
    """Return the fields that a sentence contradicts, or that it speaks of though they are empty.

    prose: the words of the record's other values; a key that is among them must be named with the key above
    it ("street parking", not "State Street"). negations: words of the sentence's language.
    """
    tokens = [piece.replace("’", "'") for piece in TOKEN.findall(sentence.casefold())]
    contradicted = []
    for field in fields:
        span = _place(field.key, tokens)
        if span is None:
            continue
        is_ambiguous = prose.issuperset(field.key)
        if is_ambiguous and not any(_alike(word, piece) for word in field.parent for piece in tokens):
            continue
        if field.value == "empty" or (field.value == "no") != _is_denied(tokens, *span, negations):
            contradicted.append(field)
    return contradicted


def _is_denied(tokens: Sequence[str], start: int, end: int, negations: frozenset[str]) -> bool:
    """Say whether a negation stands before tokens in the same clause, or just behind them."""
    for piece in reversed(tokens[max(0, start - REACH) : start]):
        if piece in ".;:!?":
            break
        if piece in negations or piece.endswith("n't"):
            return True
    behind = tokens[end : end + BEHIND]
    if any(piece in ".;:!?," for piece in behind):
        return False
    return any((piece in negations and piece != "no") or piece.endswith("n't") for piece in behind)


def _parsed(text: str) -> Any:  # noqa: ANN401 - a record is of any shape
    if not (text[:1] in ("{", "[") and text[-1:] in ("}", "]") and len(text) <= LONGEST_RECORD):
        return None
    for parse in (json.loads, ast.literal_eval):
        try:
            record = parse(text)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return record if isinstance(record, dict | list) else None
    return None


def _leaves(record: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:  # noqa: ANN401
    if isinstance(record, dict):
        for key, value in record.items():
            yield from _leaves(value, (*path, str(key)))
    elif isinstance(record, list | tuple):
        for value in record:
            yield from _leaves(value, path)
    else:
        yield path, record


def _value(leaf: object) -> FieldValue | None:
    if leaf is None or leaf == "":
        return "empty"
    return VALUES.get(str(leaf).strip().lower()) if isinstance(leaf, bool | str) else None


def _key_words(key: str) -> tuple[str, ...]:
    return words(PIECES.sub(" ", key))


def _alike(word: str, piece: str) -> bool:
    stem = max(STEM, len(word) - 2)
    return piece == word or (
        len(word) >= STEM and piece[:stem] == word[:stem] and abs(len(piece) - len(word)) <= BEHIND
    )


def _place(key: Sequence[str], tokens: Sequence[str]) -> tuple[int, int] | None:
    """Return where the words of a key stand, from the first to behind the last; written as one, too."""
    joined = "".join(key)
    for at, piece in enumerate(tokens):
        if _alike(joined, piece):
            return at, at + 1
        if "".join(tokens[at : at + 2]) == joined:
            return at, at + 2
    wanted = [word for word in key if word_weight(word) > COMMON] or key
    places = [next((at for at, piece in enumerate(tokens) if _alike(word, piece)), -1) for word in wanted]
    if min(places) < 0 or max(places) - min(places) > REACH:
        return None
    return min(places), max(places) + 1
