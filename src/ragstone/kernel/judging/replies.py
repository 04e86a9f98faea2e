"""The forms of reply that judges ask for. The reason comes before the score in each."""

import functools
from collections.abc import Sequence
from typing import Annotated, Any

import msgspec

MOST_REASON = 600  # characters of a reason, told to the model: a longer one is no reason to lose the score
REASON = Annotated[str, msgspec.Meta(extra_json_schema={"maxLength": MOST_REASON})]


class Field(msgspec.Struct, frozen=True):
    """A field of a reply: its name, its type, and what it is to hold, in words for the model."""

    name: str
    type: Any
    words: str


def reply_form(fields: Sequence[Field]) -> str:
    """Return the form of a reply in words; its first field is the nonce."""
    said = ", ".join(f'"{field.name}": {field.words}' for field in fields)
    return f'{{"nonce": the code, {said}}}'


def reply_type(name: str, fields: Sequence[Field]) -> type[msgspec.Struct]:
    """Return the type of a reply that has these fields and no others; the same one for the same fields."""
    return _struct(name, tuple((field.name, field.type) for field in fields))


@functools.lru_cache(maxsize=256)
def _struct(name: str, fields: tuple[tuple[str, Any], ...]) -> type[msgspec.Struct]:
    return msgspec.defstruct(name, fields, frozen=True, forbid_unknown_fields=True)


class Statement(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One atomic statement, numbered from 1."""

    id: int
    statement: str


class StatementsReply(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer, taken apart."""

    statements: list[Statement]


STATEMENTS_FORM = '{"nonce": the code, "statements": [{"id": 1, "statement": "..."}, {"id": 2, ...}, ...]}'
